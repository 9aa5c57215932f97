"""`refresh`: tables renewed from their sources; `--check` changes nothing, `--undo` takes the last
renewal back.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from advisor.cli.command import Json, show
from advisor.errors import InputError
from advisor.formatting import harmless
from advisor.refresh import renewal
from advisor.refresh.dates import TableDate, table_dates
from advisor.refresh.renewal import RenewalResult

NAMED = 3  # most rows of a kind that are named


def run(args: argparse.Namespace) -> int:
    """Exit code of `refresh`: 0 where a table was renewed or looked at, 2 where none could be."""
    if args.check and args.undo:
        raise InputError("--check changes nothing and --undo does: give one of them.")
    tables = renewal.chosen(args.tables)
    if args.undo:
        return _show(args, [renewal.take_back(table) for table in tables])
    code = renew(args, tables, keep=not args.check)
    if args.check:
        return 0
    return code


def renew(args: argparse.Namespace, tables: Sequence[str], *, keep: bool) -> int:
    """Renew tables within `--seconds` each and show what was found; exit code 2 where none could be
    renewed.
    """
    if not 0 < args.seconds <= 3600:
        raise InputError(f"--seconds is {args.seconds:g}; allowed is 1 to 3,600.")
    today = datetime.now(UTC).date()
    outcomes = [renewal.renew(table, args.seconds, today, keep=keep) for table in tables]
    return _show(args, outcomes)


def _show(args: argparse.Namespace, outcomes: Sequence[RenewalResult]) -> int:
    """Print outcomes; exit code 2 where all of them failed."""
    dates = {date.table: date for date in table_dates(datetime.now(UTC).date())}
    answer = [{**asdict(dates[outcome.table]), **_found(outcome)} for outcome in outcomes]
    lines = [_text(dates[outcome.table], outcome) for outcome in outcomes]
    show(args, answer, lambda: "\n".join(lines))
    for outcome in outcomes:
        if outcome.failed:
            print(harmless(f"advisor: {outcome.table}: {outcome.failed}"), file=sys.stderr)
    if all(outcome.failed for outcome in outcomes):
        return 2
    return 0


def _found(outcome: RenewalResult) -> Json:
    """Record of what a renewal found."""
    return {
        "kept": outcome.kept,
        "taken_back": outcome.taken_back,
        "rows": outcome.rows,
        "new": list(outcome.new),
        "changed": list(outcome.changed),
        "left_out": list(outcome.left_out),
        "failed": outcome.failed or None,
    }


def _text(date: TableDate, outcome: RenewalResult) -> str:
    """Line on a table: its age, what a renewal found, and what is left out."""
    parts = [f"{date.table}: {age(date)}."]
    if outcome.taken_back:
        parts.append("The last renewal is taken back.")
    elif not outcome.failed:
        parts.append(_changes(outcome))
    if outcome.left_out:
        parts.append(f"Left out: {_some(outcome.left_out, '; ')}.")
    return " ".join(parts)


def _changes(outcome: RenewalResult) -> str:
    """Sentence on what is new and what changed."""
    kept = "kept" if outcome.kept else "found"
    told = [f"{_number(outcome.rows, 'row')} {kept}"]
    for rows, word in ((outcome.new, "new"), (outcome.changed, "changed")):
        if rows:
            told.append(f"{len(rows):,} {word} ({_some(rows, ', ')})")
    if not outcome.new and not outcome.changed:
        told.append("nothing new")
    return f"{'; '.join(told)}."


def age(date: TableDate) -> str:
    """Age of a table in words."""
    if date.days is None:
        return "none yet"
    where = "renewed here" if date.renewed else "as shipped"
    old = ", old" if date.old else ""
    return f"{date.what}, {where}, of {date.day} ({_number(date.days, 'day')}{old})"


def _number(count: int, noun: str) -> str:
    """Number of things: "1 row", "12 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _some(texts: Sequence[str], between: str) -> str:
    """First few of some texts, and how many more there are."""
    more = len(texts) - NAMED
    named = between.join(text.rstrip(".") for text in texts[:NAMED])
    if more > 0:
        return f"{named} and {more:,} more"
    return named
