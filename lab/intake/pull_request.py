"""Text of a pull request: rows beside what was predicted before, what was refused, who is new.

Words of senders stand in it as code without letters that Markdown reads, so that they cannot make
links, mentions or tables.
"""

import re
from collections.abc import Iterator, Sequence

from advisor import __version__
from advisor.evidence.accuracy.fresh import FreshScore, constants_digest
from advisor.formatting import percent
from advisor.units import number, range_of
from lab.intake.taken import Intake, TakenRun

MARKUP = re.compile(r"[|`<>\[\]\\\s]+")
LONGEST = 200  # letters of others' words
ROWS = (
    "sender",
    "machine",
    "model",
    "format",
    "runtime",
    "measured",
    "predicted before",
    "range",
    "ratio",
    "held",
    "sender's release",
)


def title(intake: Intake, month: str) -> str:
    """Title of the pull request."""
    senders = {run.sent.report.sender for run in intake.taken}
    rows = counted(len(intake.taken), "row")
    return f"Runs of {month}: {rows} of {counted(len(senders), 'sender')}"


def body(intake: Intake, scores: Sequence[FreshScore]) -> str:
    """Body of the pull request, in Markdown."""
    parts = (_rows(intake), _doubtful(intake), _refused(intake), _new(intake), _scores(scores))
    return "\n\n".join(filter(None, parts)) + "\n"


def counted(amount: int, noun: str) -> str:
    """An amount of a noun: "1 row", "3 rows"."""
    if amount == 1:
        return f"1 {noun}"
    return f"{amount:,} {noun}s"


def quoted(words: str) -> str:
    """Others' words as code, in a table's cell."""
    plain = MARKUP.sub(" ", words).strip()[:LONGEST]
    if not plain:
        return ""
    return f"`{plain}`"


def table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Table in Markdown."""
    lines = (heads, ["---"] * len(heads), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(intake: Intake) -> str:
    if not intake.taken:
        return "No report became a row."
    told = (
        f"Predicted by release {__version__} (constants {constants_digest()}) before anything saw "
        "these rows. Speeds are of each user's tokens [tokens/s]."
    )
    return f"{told}\n\n{table(ROWS, map(_row, intake.taken))}"


def _row(run: TakenRun) -> Sequence[str]:
    machine = run.case.machine
    kinds = machine.cards
    count = f"{len(machine.gpus)}x " if len(machine.gpus) > 1 else ""
    forecast = "" if run.forecast is None else number(run.forecast, 3)
    return (
        quoted(run.sent.report.sender),
        quoted(f"{count}{' + '.join(kinds) or machine.host.name}"),
        quoted(run.case.model.name),
        quoted(run.case.model.format),
        quoted(run.sent.row.runtime),
        number(run.measured, 3),
        number(run.predicted, 3),
        range_of(run.low, run.high, number),
        f"{run.measured / run.predicted:.2f}",
        "yes" if run.held else "no",
        forecast,
    )


def _doubtful(intake: Intake) -> str:
    doubted = [run for run in intake.taken if run.doubts]
    if not doubted:
        return ""
    lines = (f"- {quoted(run.sent.report.name)}: {'; '.join(run.doubts)}." for run in doubted)
    return "\n".join((f"## Doubtful, not for scoring: {len(doubted)}", "", *lines))


def _refused(intake: Intake) -> str:
    if not intake.refused:
        return ""
    lines = (f"- {quoted(each.report.name)}: {quoted(each.reason)}" for each in intake.refused)
    return "\n".join((f"## Refused: {len(intake.refused)}", "", *lines))


def _new(intake: Intake) -> str:
    every = {
        "Senders": intake.new_senders,
        "Cards and processors": intake.new_cards,
        "Models": intake.new_models,
    }
    lines = [f"- {what}: {', '.join(map(quoted, names))}" for what, names in every.items() if names]
    if not lines:
        return ""
    role = "Each new sender needs a role in `lab/publishers.csv` before the next fit."
    return "\n".join(("## New", "", *lines, "", role))


def _scores(scores: Sequence[FreshScore]) -> str:
    if not scores:
        return ""
    heads = ("family", "rows", "groups", "error", "in range", "width")
    rows = (
        (
            score.kind,
            f"{score.rows}",
            f"{score.groups}",
            percent(score.error, 1),
            percent(score.held),
            f"{score.width:.2f}",
        )
        for score in scores
    )
    return f"## Score, doubtful rows left out\n\n{table(heads, rows)}"
