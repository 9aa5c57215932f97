"""Scores on strangers' runs: groups by publisher and card, each predicted without its publisher.

A person who asks is none of those whose runs were fitted. So the error of a kind of run is the
median over publishers and cards, a single run counting as much as a sweep, and a range is judged by
how many of these groups it holds.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.scoring import PROMISED, groups

FEW_RUNS = 2
"""Most figures of a publisher who counts as one with a single run: its tokens and its prompt."""
IN_LLAMA_CPP = (
    "resident, dense", "resident, experts", "resident, deep context", "CPU alone, RAM stated",
    "CPU alone", "dense split", "dense split, RAM from its slowest row", "experts in RAM",
    "experts in RAM, RAM stated", "several users, CPU alone", "several users, resident",
)  # fmt: skip
"""Regimes of tokens in llama.cpp and its forks."""
ENGINES = ("serving engines", "MLX", "resident, other engines")
"""Regimes of tokens in other engines."""
Chosen = Callable[[AccuracyPoint], bool]


@dataclass(frozen=True, kw_only=True)
class StrangerScore:
    """Score of a kind of run over groups by publisher and card.

    Attributes:
        name: kind of run.
        groups: number of groups.
        publishers: number of publishers.
        rows: number of figures.
        error: median over groups of the median absolute relative error.
        held: mean over groups of the share within range.
        width: median over groups of the median of high over low.
        interval: mean over groups of the interval score of the logarithms: the width, plus
            2 / (1 - 0.8) times the distance of a figure outside the range.
    """

    name: str
    groups: int
    publishers: int
    rows: int
    error: float
    held: float
    width: float
    interval: float


def kinds(points: Sequence[AccuracyPoint]) -> dict[str, Chosen]:
    """Kinds of runs that are scored, by name."""
    runs = Counter(point.publisher for point in points)

    def ours(point: AccuracyPoint) -> bool:
        return point.regime in IN_LLAMA_CPP

    def year(point: AccuracyPoint, first: str, last: str) -> bool:
        return first <= point.date[:4] <= last

    return {
        "llama.cpp family, 2026": lambda point: ours(point) and year(point, "2026", "2026"),
        "other engines, 2026": lambda point: (
            point.regime in ENGINES and year(point, "2026", "2026")
        ),
        "publishers with a single run": lambda point: (
            ours(point) and runs[point.publisher] <= FEW_RUNS
        ),
        "llama.cpp family, 2024 and 2025": lambda point: (
            ours(point) and year(point, "2024", "2025")
        ),
        "experts in RAM, RAM stated": lambda point: point.regime == "experts in RAM, RAM stated",
        "experts in RAM": lambda point: point.regime.startswith("experts in RAM"),
        "prompt, resident": lambda point: point.regime == "prompt, resident",
        "prompt, deep context": lambda point: point.regime == "prompt, deep context",
        "prompt, experts in RAM": lambda point: point.regime == "prompt, experts in RAM",
        "prompt, CPU alone": lambda point: point.regime == "prompt, CPU alone",
        "all": lambda _: True,
    }


def stranger_scores(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores of `kinds`, without those that have no figure."""
    for name, chosen in kinds(points).items():
        if some := [point for point in points if chosen(point)]:
            yield stranger_score(name, some)


HALVES = (
    ("before 2025", "2000", "2025-01"), ("2025, first half", "2025-01", "2025-07"),
    ("2025, second half", "2025-07", "2026-01"), ("2026, to April", "2026-01", "2026-05"),
    ("2026, May to July", "2026-05", "2026-08"), ("2026, from August", "2026-08", "9999"),
)  # fmt: skip
"""Periods of the date of a run: name, first month, and the month after the last."""
AGES = (("younger than 3 months", 0, 3), ("3 to 12 months", 3, 12), ("older", 12, 1000))
"""Ages of a model's architecture on the day of a run: name, and months from and before."""


def by_date(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores of llama.cpp's family by the date of the run."""
    ours = [point for point in points if point.regime in IN_LLAMA_CPP]
    for name, first, before in HALVES:
        if some := [point for point in ours if first <= point.date[:7] < before]:
            yield stranger_score(name, some)


def by_age(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores of llama.cpp's family by the age of the model's architecture at the run."""
    ours = [point for point in points if point.regime in IN_LLAMA_CPP]
    for name, first, before in AGES:
        if some := [point for point in ours if first <= _months_old(point) < before]:
            yield stranger_score(name, some)


def newest(points: Iterable[AccuracyPoint]) -> str:
    """Month of the newest published figure."""
    return max(
        (point.date[:7] for point in points if point.published and point.date[:2] == "20"),
        default="",
    )


def _months_old(point: AccuracyPoint) -> float:
    """Months from the first appearance of a model's architecture to the run; below 0 if unknown."""
    seen, ran = MONTH.match(point.first_seen), MONTH.match(point.date)
    if seen is None or ran is None:
        return -1.0
    months = [int(match[1]) * 12 + int(match[2]) for match in (seen, ran)]
    return max(float(months[1] - months[0]), 0.0)


MONTH = re.compile(r"(20\d\d)-(\d\d)")


def stranger_score(name: str, points: Iterable[AccuracyPoint]) -> StrangerScore:
    """Score of some points under a name."""
    by_group = groups(points)
    every = [point for group in by_group for point in group]

    def of_groups(number: Callable[[AccuracyPoint], float]) -> list[float]:
        return [float(np.median([number(point) for point in group])) for group in by_group]

    return StrangerScore(
        name=name,
        groups=len(by_group),
        publishers=len({point.publisher for point in every}),
        rows=len(every),
        error=float(np.median(of_groups(lambda point: abs(point.error)))),
        held=float(np.mean([np.mean([point.held for point in group]) for group in by_group])),
        width=float(np.median(of_groups(lambda point: point.high / point.low))),
        interval=float(
            np.mean([np.mean([_interval(each) for each in group]) for group in by_group])
        ),
    )


def _interval(point: AccuracyPoint) -> float:
    """Interval score of a figure's logarithm (Gneiting and Raftery 2007, equation 43)."""
    below, above = float(point.margins.below), float(point.margins.above)
    off = float(np.log(point.measured / point.predicted))
    outside = max(-below - off, off - above, 0.0)
    return below + above + outside * 2.0 / (1.0 - PROMISED)
