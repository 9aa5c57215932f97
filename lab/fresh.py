"""Scores of rows that nothing was fitted to and nothing was chosen by: what a stranger meets.

    python -m lab.fresh ROWS.csv ...

Each row is predicted as `predict` does, by the shipped constants. The scores are added to
data/generated/fresh_scores.csv under their day and the digest of the constants, and the figures are
kept beside it. Rows that a fit has read afterwards judge nothing any more, so a set is scored once,
before it joins data/measurements/.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import csv_text
from advisor.cost_model.uncertainty import Margins
from advisor.errors import AdvisorError
from advisor.evidence.accuracy import regimes
from advisor.evidence.accuracy.fresh import (
    DRAFTED,
    LLAMA_CPP,
    OTHERS,
    PROMPTS,
    SCORES,
    WITHIN,
    FreshScore,
    constants_digest,
)
from advisor.evidence.accuracy.scoring import grouped, groups, stranger_score
from advisor.evidence.published.case import Case
from advisor.evidence.published.predict import answer
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.runtimes import MLX
from lab import engines, rounded, write
from lab.held_out import GENERATED, READ
from lab.llama_cpp import stated_tps
from lab.points import point_of
from lab.published import group_of, published_rows

POINTS = DATA / "generated/fresh_points.csv"
"""Figures of the last set, each beside its prediction."""


FAMILIES = (LLAMA_CPP, LLAMA_CPP + PROMPTS, OTHERS, OTHERS + PROMPTS, DRAFTED, DRAFTED + PROMPTS)
"""Families in the order of the table."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured speed beside its prediction, with the family that it belongs to."""

    family: str
    point: AccuracyPoint


def figures(rows: Iterable[PublishedRow]) -> Iterator[Figure]:
    """Figures of the rows that can be predicted; doubtful rows are left out."""
    for row in rows:
        if row.doubtful:
            continue
        try:
            case = understood(row)
            cells = answer(row)
        except AdvisorError:
            continue
        yield from _figures(row, case, cells)


def _figures(row: PublishedRow, case: Case, cells: dict[str, object]) -> Iterator[Figure]:
    """Figures of a row: its tokens, and its prompt where that was timed."""
    of_llama_cpp = case.runtime.computes_in_ram
    if of_llama_cpp and case.runtime is not MLX:
        family = LLAMA_CPP
    else:
        family = OTHERS
    if of_llama_cpp:
        speeds = _of_llama_cpp(row, cells)
    else:
        speeds = _of_engine(row, case, cells)
    for timed, measured, predicted in speeds:
        prompt = timed == READ
        name = DRAFTED if case.work.draft and not prompt else family
        if prompt:
            beside = ("pp_tps", "pp_low", "pp_high")
        else:
            beside = ("tg_tps", "tg_low", "tg_high")
        value, low, high = (float(str(cells[column])) for column in beside)
        yield Figure(
            family=name + PROMPTS * prompt,
            point=point_of(
                row,
                _traits(row, case, prompt=prompt),
                group=group_of(row),
                measured=measured,
                predicted=predicted,
                margins=Margins(below=math.log(value / low), above=math.log(high / value)),
            ),
        )


def _of_llama_cpp(
    row: PublishedRow, cells: dict[str, object]
) -> Iterator[tuple[str, float, float]]:
    """Timed part, measured and predicted speed of a row of llama.cpp's family [tokens/s]."""
    for timed, column in ((GENERATED, "tg_tps_total"), (READ, "pp_tps")):
        measured = stated_tps(row, timed)
        if measured:
            yield timed, measured, float(str(cells[column]))


def _of_engine(
    row: PublishedRow, case: Case, cells: dict[str, object]
) -> Iterator[tuple[str, float, float]]:
    """The same of another engine, whose time may hold prompts and tokens together."""
    users = float(case.work.users) * case.replicas
    if row.tg_tps and not row.tg_tps_total:
        yield GENERATED, row.tg_tps, float(str(cells["tg_tps"]))
    for prompts, steps, seconds in engines.timed(row, case):
        first = float(str(cells["ttft_s"]))
        token = 1.0 / float(str(cells["tg_tps"]))
        predicted = prompts * first + steps * token
        tokens = users * max(steps, 1.0)
        yield GENERATED if steps else READ, tokens / seconds, tokens / predicted


def _traits(row: PublishedRow, case: Case, *, prompt: bool) -> regimes.Traits:
    """Traits of a figure, by which `regimes.REGIMES` are distinguished."""
    own = case.runtime.computes_in_ram
    stated = bool(row.ram_bw_gbs or row.ram_mts)
    return {
        "category": row.category if own else "serving, published",
        "timed": regimes.PROMPT if prompt else regimes.GENERATION,
        "build": case.runtime.build or case.build,
        "together": float(case.work.users) > 1,
        "deep": (row.context_depth or 0.0) >= regimes.DEEP,
        "experts": case.model.has_experts,
        "ram": regimes.STATED if stated else regimes.DATASHEET,
        "batch_stated": True,
    }


def scores(every: Sequence[Figure], day: str, constants: str) -> Iterator[FreshScore]:
    """Scores by family, then by family and regime, then by family and year."""
    kinds: dict[str, list[AccuracyPoint]] = {}
    for figure in every:
        kinds.setdefault(figure.family, []).append(figure.point)
    ordered = {family: kinds[family] for family in FAMILIES if family in kinds}
    for family, points in ordered.items():
        yield score(family, points, day, constants)
    for family, points in ordered.items():
        parts = {
            **grouped(points, lambda point: point.regime),
            **grouped(points, lambda point: point.date[:4]),
        }
        for name, part in sorted(parts.items()):
            if name and len(parts) > 1:
                yield score(f"{family}{WITHIN}{name}", part, day, constants)


def score(kind: str, points: Sequence[AccuracyPoint], day: str, constants: str) -> FreshScore:
    """Score of some figures."""
    whole = stranger_score(kind, points)
    ratios = [np.median([np.log1p(point.error) for point in group]) for group in groups(points)]
    numbers = {
        "error": whole.error,
        "row_error": float(np.median(np.abs([point.error for point in points]))),
        "bias": float(np.exp(np.median(ratios))),
        "held": whole.held,
        "row_held": float(np.mean([point.held for point in points])),
        "width": whole.width,
        "interval": whole.interval,
    }
    return FreshScore(
        day=day,
        constants=constants,
        kind=kind,
        rows=whole.rows,
        groups=whole.groups,
        publishers=whole.publishers,
        **{name: rounded(number, 3) for name, number in numbers.items()},
    )


def main() -> int:
    """Score the rows of the given files; returns the exit code."""
    paths = [Path(name) for name in sys.argv[1:]]
    if not paths:
        sys.stderr.write("Name at least one file of rows: python -m lab.fresh ROWS.csv ...\n")
        return 2
    every = list(figures(row for path in paths for row in published_rows(path)))
    day = datetime.now(UTC).date().isoformat()
    own = list(scores(every, day, constants_digest()))
    earlier = read(SCORES, FreshScore) if SCORES.exists() else ()
    kept = [row for row in earlier if row.constants != own[0].constants]
    points = (figure.point for figure in every)
    return write({SCORES: csv_text([*kept, *own]), POINTS: csv_text(points)})


if __name__ == "__main__":
    sys.exit(main())
