"""The judge of the panels: what a program answered, and whether a builder would sign it.

`tests/panel/README.md` says how an entry is read.
"""

import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from advisor.advice.advise import answer
from advisor.catalog.records import as_record
from advisor.cli.advise import option_answer
from advisor.cli.main import main
from advisor.cli.parser import parsed
from advisor.errors import AdvisorError
from advisor.request.command_line import from_args

Entry = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "panel"


def entries(name: str) -> Entry:
    """A file of questions, parsed by libyaml where PyYAML has it, ten times as quickly."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((FOLDER / name).read_text(), loader)


PANEL = entries("questions.yaml")
SLOW_READER = 4.0  # tokens/s: 175 words a minute at 1.4 tokens a word, rounded (README)
NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the program would have a buyer do."""

    kind: str
    name: str = ""
    usd: float = 0.0  # at once
    runtime: str = ""
    named: bool = False  # a free change or another model stands beside "nothing"


def advised(*words: str) -> tuple[Entry | None, str]:
    """Part of the JSON of `advise` that is judged, or what the command complained of.

    Its options are read as the command reads them; placements and options, which nobody judges
    here, are not written.
    """
    complaint = StringIO()
    try:
        with redirect_stderr(complaint):
            request = from_args(parsed(["advise", *words]))
    except SystemExit:  # argparse leaves by itself
        return None, complaint.getvalue().strip()
    try:
        advice = answer(request.nouns()).advice
    except AdvisorError as error:
        return None, f"advisor: {error}"
    safe = advice.choice.safe
    another = advice.another_model
    return {
        "safe_choice": safe and option_answer(safe),
        "another_model": another and as_record("another_model", another),
        "runtime": advice.chosen.name if advice.chosen else "",
        "verdict": advice.verdict,
    }, ""


def answer_of(printed: Entry) -> Answer:
    """The answer within the JSON of `advise`."""
    choice = printed["safe_choice"] or {"kind": "keep"}
    usd = choice.get("upfront_usd") or 0.0
    free_change = choice["kind"] == "change" and not usd
    model = printed.get("another_model")
    return Answer(
        kind=NOTHING if free_change or choice["kind"] == "keep" else choice["kind"],
        name=choice.get("name", ""),
        usd=usd,
        runtime=str(choice.get("runtime") or printed.get("runtime") or ""),
        named=free_change or bool(model and (model["decode_tps"] or 0) >= SLOW_READER),
    )


def expression(text: str) -> str:
    """A pattern's regular expression: names of families stand for theirs."""
    names = sorted(PANEL["families"], key=len, reverse=True)
    return re.sub(
        "|".join(map(re.escape, names)), lambda name: f"(?:{PANEL['families'][name[0]]})", text
    )


def holds(text: str, name: str) -> bool:
    return bool(re.search(expression(text), name, re.IGNORECASE))


def cards(name: str) -> int:
    """Cards that an option's name counts: "2x RTX 3090 + RTX 3060" is 3, one where none is said."""
    parts = [part for part in name.split(" + ") if holds("any card", part)]
    counts = [re.search(r"\b(\d+)\s?[x\u00d7]\s", part, re.IGNORECASE) for part in parts]
    return sum(int(count[1]) if count else 1 for count in counts) or 1


def matches(pattern: Entry, answer: Answer) -> bool:
    kinds = pattern.get("kind", answer.kind)
    checks = {
        "kind": answer.kind in ([kinds] if isinstance(kinds, str) else kinds),
        "of": holds(pattern.get("of", ""), answer.name),
        "except": not holds(pattern.get("except", "(?!)"), answer.name),
        "at_most": cards(answer.name) <= pattern.get("at_most", 0),
        "over": cards(answer.name) > pattern.get("over", 0),
        "paid": (answer.usd > 0) is pattern.get("paid"),
        "named": answer.named is pattern.get("named"),
        "runtime": holds(pattern.get("runtime", ""), answer.runtime),
    }
    return all(checks[key] for key in pattern)


def ruled_out(question: Entry) -> Iterator[tuple[Entry, str]]:
    """Patterns that no builder signs for a question, each with its reason."""
    names = [*PANEL["everywhere"], *PANEL["classes"][question["class"]]]
    rules = [{"rule": name} for name in names if name not in question.get("lifted", [])]
    for entry in [*rules, *question.get("ruled_out", [])]:
        if "rule" in entry:
            rule = PANEL["rules"][entry["rule"]]
        else:
            rule = entry
        yield rule["answer"], rule["because"]


def judge(question: Entry, answer: Answer) -> tuple[str, str]:
    """Verdict on an answer, and the reason where it is ruled out."""
    for pattern, because in ruled_out(question):
        if answer.kind != "refused" and matches(pattern, answer):
            return "ruled out", because
    if answer.usd > question.get("budget_usd", answer.usd):
        return "neutral", f"dearer than ${question['budget_usd']:,}"
    accepted = any(matches(pattern, answer) for pattern in question["accepted"])
    return ("accepted" if accepted else "neutral"), ""


def run(*arguments: str) -> tuple[Entry | None, str]:
    """A command's JSON, or what it complained of."""
    printed = StringIO()
    complaint = StringIO()
    with redirect_stdout(printed), redirect_stderr(complaint):
        try:
            code = main([*arguments, "--json"])
        except SystemExit as stop:  # argparse leaves by itself
            code = stop.code
    return (None if code else json.loads(printed.getvalue())), complaint.getvalue().strip()
