"""Form of a run that people send: its fields, its text, and the values of a filled text.

The same fields stand in data/run_form.csv, in .github/ISSUE_TEMPLATE/run.yml, in what `runs share`
prints and in what `lab.intake` reads. A filled form is Markdown, as GitHub writes it: a heading of
level three for each field, its value below, `_No response_` for none, and a fence around output.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError

NO_RESPONSE = "_No response_"  # text of an empty field in GitHub's forms
HEADING = "### "
FENCE = "~~~"
CHECKED = "- [x] "
OPENED = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
OUTPUT = "output"
AGREE = "agree"
LONGEST_LINE = 300  # letters of a value of one line
LARGEST = 65_536  # letters of an issue, GitHub's limit


@dataclass(frozen=True, kw_only=True)
class FormField:
    """Field of the form, a row of data/run_form.csv."""

    field: str  # its id in the issue form
    label: str  # its heading
    kind: str  # "line" and "note" of one line, "output" of many, "agree" to be checked
    required: bool = False  # whether the issue form insists on it
    column: str  # column of a measurement file that takes it; empty for none
    words: str  # words of `source_note` that take it, with {} for the value; empty for none
    example: str
    help: str

    @property
    def is_number(self) -> bool:
        """Whether its value is a number, as its example is."""
        return self.example.replace(".", "").isdecimal()


@cache
def form_fields() -> Mapping[str, FormField]:
    """Fields by their ids, in the order of the form."""
    return {row.field: row for row in read(DATA / "run_form.csv", FormField)}


def form_text(values: Mapping[str, str]) -> str:
    """Text of a form with these values, by field; fields without one are left out."""
    return "\n\n".join(_sections(values))


def _sections(values: Mapping[str, str]) -> Iterator[str]:
    for row in form_fields().values():
        value = values.get(row.field, "")
        if row.kind == "agree":
            mark = CHECKED if value else "- [ ] "
            yield f"{HEADING}{row.label}\n\n{mark}{row.help}"
        elif value:
            shown = _fenced(value) if row.kind == "output" else " ".join(value.split())
            yield f"{HEADING}{row.label}\n\n{shown}"


def _fenced(text: str) -> str:
    """Text within a fence, whose lines cannot close it."""
    lines = (f"    {line}" if OPENED.match(f"{line}\n") else line for line in text.splitlines())
    return "\n".join((f"{FENCE}text", *lines, FENCE))


def is_form(text: str) -> bool:
    """Whether a text has a heading of the form."""
    lines = {line.strip() for line in text.splitlines()}
    return any(f"{HEADING}{row.label}" in lines for row in form_fields().values())


def form_values(text: str) -> dict[str, str]:
    """Values of a filled form by field, without empty ones.

    Output that is a form itself, as `runs share` prints it, fills fields that the outer form leaves
    empty.

    Raises:
        InputError: a text without any field, a field filled twice with different values, or a value
            that is too long.
    """
    if len(text) > LARGEST:
        raise InputError(f"The report has {len(text):,} letters; at most {LARGEST:,} are read.")
    values = _values(text)
    nested = _values(values.get(OUTPUT, ""))
    if OUTPUT in nested:
        values = {**nested, **{name: value for name, value in values.items() if name != OUTPUT}}
    if not values:
        raise InputError(
            "The report has none of the form's headings; send what `runs share` prints, or the "
            "filled form."
        )
    return values


def _values(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for row, lines in _parts(text):
        value = _value(row, lines)
        if value and values.setdefault(row.field, value) != value:
            raise InputError(f"{row.label} stands twice in the report, with different values.")
    return values


def _parts(text: str) -> Iterator[tuple[FormField, list[str]]]:
    """Fields with the lines below their headings; a heading within a fence is none."""
    by_label = {f"{HEADING}{row.label}": row for row in form_fields().values()}
    current: FormField | None = None
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = OPENED.match(f"{line}\n")
        if fence:
            if line.rstrip() == fence:  # an indented one is of what the fence holds
                fence = ""
        elif opened:
            fence = opened[1]
        row = None if fence else by_label.get(line.strip())
        if row is None:
            lines.append(line)
            continue
        if current is not None:
            yield current, lines
        current = row
        lines = []
    if current is not None:
        yield current, lines


def _value(row: FormField, lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    if text.strip() in ("", NO_RESPONSE):
        return ""
    if row.kind == "agree":
        if text.strip().casefold().startswith(CHECKED.strip().casefold()):
            return "yes"
        return ""
    if row.kind == "output":
        return _without_fence(text)
    line = " ".join(text.split())
    if len(line) > LONGEST_LINE:
        raise InputError(f"{row.label} has {len(line):,} letters; at most {LONGEST_LINE} are read.")
    if not line.isprintable():
        raise InputError(f"{row.label} holds letters that cannot be printed.")
    return line


def _without_fence(text: str) -> str:
    opened = OPENED.match(text)
    if opened is None:
        return text
    inside = text[opened.end() :]
    return inside.rstrip().removesuffix(opened[1]).rstrip("\n")
