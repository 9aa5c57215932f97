"""Saved reports, and their JSON file."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from advisor.catalog.records import checked
from advisor.errors import InputError
from advisor.reports.document import ReportDocument, from_json, to_json
from advisor.reports.from_advice import JudgedResult, MeasuredResult, judged


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """Saved report without its contents."""

    id: int  # number in this store; never reused after deletion
    name: str  # name given by the author
    created_at: datetime  # time of saving, in UTC
    notes: str  # notes of the author
    tags: tuple[str, ...]  # tags of the author, sorted
    author: str  # name of the author; may be empty
    app_version: str  # version of the program that made it
    summary: str  # verdict
    model: str  # name of the model; empty where unknown
    gpu: str  # name of the GPU; empty where unknown
    share: str  # secret part of its public link; empty for a private report
    share_until: datetime | None  # time at which the link ends; None for one without end
    deleted_at: datetime | None  # time of deletion; None for an existing report


@dataclass(frozen=True, kw_only=True)
class SavedReport(ReportHead):
    """Saved report with its contents."""

    document: ReportDocument  # the comparison
    results: tuple[MeasuredResult, ...] = ()  # measured results, oldest first

    @property
    def judged(self) -> tuple[JudgedResult, ...]:
        """Results with their predictions."""
        return tuple(judged(result, self.document) for result in self.results)


EVENTS = {
    "shared": "a link was made",
    "withdrawn": "the link was withdrawn",
    "opened": "opened by its link",
    "deleted": "deleted",
    "restored": "restored",
    "erased": "erased for good",
}
"""What can happen to a report, in words."""


@dataclass(frozen=True, kw_only=True)
class ReportEvent:
    """Event of a report."""

    report_id: int  # number of the report, which may be erased
    at: datetime  # time, in UTC
    who: str  # issuer and subject of a login; empty for the command line, or who had the link
    what: str  # a key of `EVENTS`

    @property
    def words(self) -> str:
        """Event in words."""
        return EVENTS[self.what]


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """Content of a report's JSON file, without its number and time of saving."""

    document: ReportDocument  # the comparison
    name: str = ""  # name; empty for the document's title
    notes: str = ""  # notes of the author
    tags: tuple[str, ...] = ()  # tags of the author
    author: str = ""  # name of the author
    results: tuple[MeasuredResult, ...] = ()  # measured results


def report_json(report: SavedReport) -> dict[str, Any]:
    """Report as JSON content; `read_report` restores all but `saved`."""
    return {
        **to_json(report.document),
        "saved": {"number": report.id, "at": report.created_at.isoformat()},
        "name": report.name,
        "notes": report.notes,
        "tags": list(report.tags),
        "author": report.author,
        "results": [asdict(result) for result in report.results],
    }


def read_report(data: object) -> ReportFile:
    """Report of JSON content, of this version or an older one.

    Raises:
        InputError: not a report, one of a newer format, or a field of the wrong shape; the message
            names the field.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"A report is a JSON object, not {type(data).__name__}.")
    whole = {**data, "document": from_json(data)}
    read: ReportFile = checked(ReportFile, whole, "report")
    return read


# Annotations of a report: name, notes, tags and author, checked and normalised.

LONGEST_NAME = 200
LONGEST_TAG = 40
LONGEST_NOTES = 20_000
MOST_TAGS = 20
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
Value = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EditConflict:
    """Field that another person changed during an edit."""

    field: str  # name of the field
    kept: Value  # the other person's value, which stays
    refused: Value  # the value that is not saved

    def __str__(self) -> str:
        return (
            f"Somebody else changed the {self.field} meanwhile, to {_shown(self.kept)}; that "
            f"stays. Yours was not kept: {_shown(self.refused)}."
        )


@dataclass(frozen=True, kw_only=True)
class AnnotatedReport:
    """Result of an edit."""

    head: ReportHead  # the report after the edit
    # fields not saved because another person had changed them
    conflicts: tuple[EditConflict, ...] = ()


def conflicts_of(
    wanted: Mapping[str, Value], now: ReportHead, seen: ReportHead | None
) -> tuple[EditConflict, ...]:
    """Fields that two people changed to different values, one of them in this edit.

    It is empty for a report that was not seen, which is overwritten in any case.
    """
    if seen is None:
        return ()
    return tuple(
        EditConflict(field=field, kept=getattr(now, field), refused=value)
        for field, value in wanted.items()
        if getattr(now, field) != getattr(seen, field)
        and value not in (getattr(now, field), getattr(seen, field))
    )


def clean_name(name: str) -> str:
    """Name of a report as saved: one line, without spaces around it."""
    text = name.strip()
    if not text:
        raise InputError("The report has no name; give it one, such as the model and the GPU.")
    if len(text) > LONGEST_NAME:
        raise InputError(f"The name has {len(text)} characters; at most {LONGEST_NAME} fit.")
    if any(_is_control(letter) for letter in text):
        raise InputError(f"The name {text!r} holds line breaks or control characters; use letters.")
    return text


def clean_author(author: str) -> str:
    """Author as saved: as a name, or empty."""
    if author.strip():
        return clean_name(author)
    return ""


def clean_notes(notes: str) -> str:
    """Notes as saved: several lines, without spaces around them."""
    text = notes.strip()
    if len(text) > LONGEST_NOTES:
        raise InputError(f"The notes have {len(text):,} characters; at most {LONGEST_NOTES:,} fit.")
    if any(_is_control(letter) and letter not in "\r\n\t" for letter in text):
        raise InputError("The notes hold control characters; use letters and line breaks.")
    return text


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as saved: sorted, each once, without spaces around them."""
    texts = sorted({" ".join(tag.split()) for tag in tags} - {""})
    if len(texts) > MOST_TAGS:
        raise InputError(f"The report has {len(texts)} tags; at most {MOST_TAGS} fit.")
    for tag in texts:
        if len(tag) > LONGEST_TAG:
            raise InputError(
                f"The tag {tag[:80]!r} has {len(tag)} characters; at most {LONGEST_TAG} fit."
            )
        if "," in tag or any(_is_control(letter) for letter in tag):
            raise InputError(f"The tag {tag!r} holds a comma or control characters; use letters.")
    return tuple(texts)


CLEANERS: Mapping[str, Callable[[Any], Value]] = {
    "name": clean_name,
    "notes": clean_notes,
    "tags": clean_tags,
}
"""Fields that can be changed after a report is saved, with what checks and normalises each."""


def _is_control(letter: str) -> bool:
    # Bidirectional overrides make a name read as another one.
    return unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} or letter in _OVERRIDES


def _shown(value: Value) -> str:
    if isinstance(value, str):
        text = value
    else:
        text = ", ".join(value)
    return repr(text if len(text) <= 200 else f"{text[:199]}…")
