"""Score of predictions with one known run: what a person gets who types one number.

    python -m lab.known ROWS.csv ...

Of each machine (publisher and card) with three timed runs or more one is drawn at random, with a
fixed seed, and the others are predicted with it and without it, as `predict --known` does. Printed
are the median over machines of the median error, the share of figures within range, the median
width (high / low), and the interval score of logarithms (Gneiting and Raftery 2007, equation 43).
A last line has, in place of the drawn run, the one of each machine that would narrow the others
most by its own account, before its speed is seen.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from advisor.errors import AdvisorError
from advisor.evidence.accuracy.scoring import PROMISED
from advisor.evidence.published.case import Case
from advisor.evidence.published.known import runs_of
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.machine.machine import KnownRun
from lab.published import published_rows, publisher_of

LEAST = 3  # fewest runs of a machine
DRAWS = 5  # known runs that are drawn of each machine


@dataclass(frozen=True, kw_only=True)
class TimedCase:
    """A row with its tokens' measured speed."""

    case: Case
    known: KnownRun  # the same as a known run

    def off(self, known: tuple[KnownRun, ...]) -> "JudgedRun":
        """Its prediction with known runs, beside the measured speed."""
        speed = self.case.on_known(known).estimate.decode
        if speed is None:
            return JudgedRun(error=math.inf, held=False, width=math.inf, interval=math.inf)
        off = math.log(self.known.measured / float(speed.value))
        below = math.log(float(speed.value) / float(speed.low))
        above = math.log(float(speed.high) / float(speed.value))
        outside = max(-below - off, off - above, 0.0)
        return JudgedRun(
            error=abs(math.expm1(-off)),
            held=outside == 0.0,
            width=math.exp(below + above),
            interval=below + above + outside * 2.0 / (1.0 - PROMISED),
        )


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """A prediction beside its measured speed."""

    error: float  # absolute relative error
    held: bool  # whether the measured speed lies within the range
    width: float  # high over low
    interval: float  # interval score of the logarithm


def machines(rows: Iterable[PublishedRow]) -> dict[tuple[str, str], list[TimedCase]]:
    """Timed rows by family of engines and machine."""
    by_machine: dict[tuple[str, str], list[TimedCase]] = {}
    for row in rows:
        timed = None if row.doubtful else _timed(row)
        if timed is not None:
            card = f"{publisher_of(row)} on {row.gpu or row.cpu}"
            by_machine.setdefault((timed.known.family, card), []).append(timed)
    return {key: each for key, each in by_machine.items() if len(each) >= LEAST}


def _timed(row: PublishedRow) -> TimedCase | None:
    """A row with its tokens' speed; None where it has none, or cannot be predicted."""
    try:
        case = understood(PublishedRow({**row.cells, "machine": "known"}))
        runs = runs_of(PublishedRow({**row.cells, "machine": "known", "pp_tps": ""}))
        return TimedCase(case=case, known=next(iter(runs)))
    except (AdvisorError, StopIteration):
        return None


def scored(
    timed: Sequence[TimedCase], draw: np.random.Generator
) -> Iterator[tuple[JudgedRun, JudgedRun]]:
    """Predictions of a machine's rows without a known run and with one, drawn `DRAWS` times."""
    for _ in range(DRAWS):
        first = timed[int(draw.integers(len(timed)))]
        for other in timed:
            if other is not first:
                yield other.off(()), other.off((first.known,))


def chosen(timed: Sequence[TimedCase]) -> Iterator[JudgedRun]:
    """Predictions of a machine's rows with the run that would narrow the others most."""
    first = min(timed, key=lambda each: _left(each, timed))
    for other in timed:
        if other is not first:
            yield other.off((first.known,))


def _left(first: TimedCase, timed: Sequence[TimedCase]) -> float:
    """Mean width that a run leaves of the others' ranges, in logarithms, if it is as predicted."""
    known = replace(first.known, measured=first.known.predicted)
    others = (each for each in timed if each is not first)
    return float(np.mean([math.log(each.off((known,)).width) for each in others]))


def main() -> int:
    """Print the scores of the given files; returns the exit code."""
    paths = [Path(name) for name in sys.argv[1:]]
    if not paths:
        sys.stderr.write("Name at least one file of rows: python -m lab.known ROWS.csv ...\n")
        return 2
    by_machine = machines(row for path in paths for row in published_rows(path))
    for family in sorted({family for family, _ in by_machine}):
        every = [each for (own, _), each in by_machine.items() if own == family]
        pairs = [list(scored(each, np.random.default_rng(0))) for each in every]
        for name, place in (("without", 0), ("with one known run", 1)):
            groups = [[pair[place] for pair in group] for group in pairs]
            sys.stdout.write(f"{family}, {len(groups)} machines, {name}: {_words(groups)}\n")
        told = [list(chosen(each)) for each in every]
        sys.stdout.write(f"{family}, with the run that tells most: {_words(told)}\n")
    return 0


def _words(groups: Sequence[Sequence[JudgedRun]]) -> str:
    error = np.median([np.median([each.error for each in group]) for group in groups])
    held = np.mean([np.mean([each.held for each in group]) for group in groups])
    width = np.median([np.median([each.width for each in group]) for group in groups])
    interval = np.mean([np.mean([each.interval for each in group]) for group in groups])
    return f"{error:.1%} off, {held:.0%} held, width {width:.2f}, interval score {interval:.2f}"


if __name__ == "__main__":
    sys.exit(main())
