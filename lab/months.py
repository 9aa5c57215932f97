"""Accuracy watched: scores by engine, family and month of each commit, and an alarm.

    python -m lab.months               compare this folder's figures with the last kept commit
    python -m lab.months --write       and keep their scores under the present commit
    python -m lab.months COMMIT ...    keep those of earlier commits, oldest first

Exit code 1 where a group got worse. The figures are those of data/generated/accuracy_points.csv,
which `python -m lab.ledger` writes.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from advisor.catalog.accuracy_points import POINTS, AccuracyPoint, accuracy_points
from advisor.catalog.csv_tables import read
from advisor.catalog.records import csv_text
from advisor.errors import InputError
from advisor.evidence.accuracy import months
from advisor.evidence.accuracy.fresh import constants_digest
from advisor.evidence.accuracy.months import TABLE, Alarm, Group, MonthScore
from advisor.formatting import percent
from lab import write
from lab.repository import commit, committed

KEPT = 6  # commits that are kept
MOVED = 0.005  # smallest change of an error that a table of what moved has [share]


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m lab.months", description=__doc__)
    parser.add_argument("commits", nargs="*", help="earlier commits to keep, oldest first")
    parser.add_argument("--write", action="store_true", help="keep the present scores")
    args = parser.parse_args(words)
    try:
        if args.commits:
            every = [score for earlier in args.commits for score in scores_at(earlier)]
            return write({TABLE: table((*_kept(), *every))})
        return _watched(keep=args.write)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _watched(*, keep: bool) -> int:
    """Compare with the last kept commit; the exit code says whether a group got worse."""
    now = list(present())
    before = previous(_kept(), now)
    after = {score.group: score for score in now}
    worse = list(months.alarms(before, after))
    sys.stdout.write(f"{markdown(before, after, worse)}\n")
    if keep:
        write({TABLE: table((*_kept(), *now))})
    if worse:
        return 1
    return 0


def previous(kept: Sequence[MonthScore], now: Sequence[MonthScore]) -> Mapping[Group, MonthScore]:
    """Scores of the last kept commit that is not the present one; empty for none."""
    present_commits = {score.commit for score in now}
    others = [score for score in kept if score.commit not in present_commits]
    return months.last_two(others)[1]


def present(points: Iterable[AccuracyPoint] | None = None) -> Iterator[MonthScore]:
    """Scores of some figures under the present commit, of this folder's without any."""
    name, day = commit("HEAD")
    if points is None:
        points = accuracy_points()
    return months.month_scores(points, commit=name, day=day, constants=constants_digest())


def table_with(points: Iterable[AccuracyPoint]) -> str:
    """Text of the table with the scores of some figures under the present commit."""
    return table((*_kept(), *present(points)))


def scores_at(earlier: str) -> Iterator[MonthScore]:
    """Scores of an earlier commit's figures."""
    name, day = commit(earlier)
    with TemporaryDirectory() as folder:
        path = Path(folder) / POINTS.name
        path.write_text(committed(POINTS, name), encoding="utf-8")
        points = read(path, AccuracyPoint)
    return months.month_scores(points, commit=name, day=day, constants="")


def table(scores: Sequence[MonthScore]) -> str:
    """Text of the table with the last commits, a commit's later scores in place of its former."""
    commits = months.by_commit(scores)
    last = list(commits)[-KEPT:]
    return csv_text(score for name in last for score in commits[name].values())


def markdown(
    before: Mapping[Group, MonthScore], after: Mapping[Group, MonthScore], worse: Sequence[Alarm]
) -> str:
    """What moved, and the alarms, in Markdown."""
    if not before:
        return "No earlier commit is kept to compare with."
    heads = ("engine", "family", "month", "figures", "error before", "error now", "in range")
    rows = [
        (
            *group,
            f"{score.rows}",
            percent(before[group].error, 1),
            percent(score.error, 1),
            f"{percent(before[group].held)} to {percent(score.held)}",
        )
        for group, score in after.items()
        if group in before and abs(score.error - before[group].error) >= MOVED
    ]
    lines = [f"- {alarm.sentence}" for alarm in worse] or ["No group got worse."]
    if rows:
        every = (heads, ["---"] * len(heads), *rows)
        lines += ["", *(f"| {' | '.join(row)} |" for row in every)]
    return "\n".join((f"## Accuracy: {len(worse)} alarms", "", *lines))


def _kept() -> Sequence[MonthScore]:
    if TABLE.exists():
        return read(TABLE, MonthScore)
    return ()


if __name__ == "__main__":
    sys.exit(main())
