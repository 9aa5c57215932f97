"""Answer to a command's request, and its six lines."""

import argparse
import shutil
from collections.abc import Iterator

from advisor.advice.advise import Answer, answer
from advisor.advice.brief import brief, is_typed, lines
from advisor.catalog.records import as_record
from advisor.cli import terminal
from advisor.cli.command import remark, show, tell


def answered_to(args: argparse.Namespace) -> Answer:
    """Answer to a command's request; notes on both are printed first."""
    nouns = args.request.nouns()
    tell(nouns.notes)
    answered = answer(nouns)
    told = {*nouns.notes, *nouns.machine.software_notes}
    remark(args, (caveat for caveat in answered.caveats if caveat not in told))
    return answered


MOST_LINES = 6  # of an answer in short, what is asked about (`--also`) aside


def print_brief(args: argparse.Namespace, answered: Answer) -> None:
    """Print an answer in short."""
    record = as_record("brief", brief(answered)) if args.json else {}
    show(args, record, lambda: "\n".join(_lines(answered)))


def _lines(answered: Answer) -> Iterator[str]:
    """Lines of the answer, cut to a terminal's width but for a command, the first in the colour of
    its tone; remarks where `MOST_LINES` leave room.
    """
    advice = answered.advice
    width = shutil.get_terminal_size((terminal.WIDTH, 24)).columns
    first, *rest = lines(brief(answered), advice.choice.reason)
    yield terminal.toned(terminal.cut(f"  {first}", width), advice.summary.judgement)
    yield from (
        f"  {line}" if is_typed(line) else terminal.cut(f"  {line}", width) for line in rest
    )
    room = MOST_LINES - len(rest) - 2
    remarks = [f"  {line}" for each in advice.summary.remarks for line in terminal.wrapped(each)]
    if len(remarks) <= room:
        yield from remarks
    for sentence in advice.summary.candidates:
        yield from (f"  {line}" for line in terminal.wrapped(sentence))
    counts = f"{len(advice.options)} options"
    if not answered.nouns.request.nowhere:
        counts = f"{len(advice.estimates)} placements and {counts}"
    yield f"  --all for {counts}"
