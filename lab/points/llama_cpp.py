"""Points of llama.cpp and its forks, each predicted without its source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.cost_model.measured_constants import doubt
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT, NEW, Margins, margins, on_gpu
from advisor.evidence.accuracy.regimes import DATASHEET, DEEP, GENERATION, PROMPT, STATED, regime_of
from advisor.evidence.published.machine import ram_in_theory
from advisor.evidence.published.predict import Case
from advisor.evidence.published.row import PublishedRow
from advisor.model import catalog
from advisor.model.model import Floats
from advisor.units import Array
from lab.held_out import READ, UNSEEN, left_out
from lab.llama_cpp import (
    Rows,
    TableColumns,
    TimedRow,
    case_of,
    doubted_by_sources,
    kinds_of,
    published,
    rows_of,
    side_by_side,
    stated_tps,
)
from lab.points.peer_facts import WHERE, answers, facts_of
from lab.points.point import point_of
from lab.row_errors import circumstances_of, other_evidence


@dataclass(frozen=True, kw_only=True)
class LlamaCppRun:
    """One published run."""

    row: PublishedRow  # its row
    case: Case  # machine, model and request of the row


def runs(rows: Iterable[PublishedRow]) -> tuple[LlamaCppRun, ...]:
    """Runs of rows that can be predicted and are not doubtful."""
    told = ((row, case_of(row)) for row in rows if not row.doubtful)
    return tuple(LlamaCppRun(row=row, case=case) for row, case in told if case is not None)


@cache
def fitted() -> Rows:
    """Rows that constants are fitted to."""
    return rows_of(published())


def points() -> Iterable[AccuracyPoint]:
    """Points of all rows in the last fit, with the speed of all users together."""
    rows = fitted()
    judged = by_table(rows)
    for timed, seconds, (_, ranges) in zip(rows.timed, rows.seconds, judged, strict=True):
        predicted = left_out().get((timed.timed, timed.row.id))
        if predicted is not None:
            yield _point(
                timed,
                regime_of(traits(timed)),
                float(seconds / predicted),
                ranges,
                peers=_peers(timed),
                first_seen=released(timed.case.model.architecture.name),
            )


def _point(
    timed: TimedRow, regime: str, faster: float, ranges: Margins, **others: Any
) -> AccuracyPoint:
    """Point of a row whose speed is predicted `faster` times as high as it was measured."""
    measured = stated_tps(timed.row, timed.timed)
    return point_of(
        timed.row, regime=regime, group=timed.group, measured=measured,
        predicted=measured * faster, margins=ranges, **others,
    )  # fmt: skip


def unseen() -> Iterable[AccuracyPoint]:
    """Points of tokens, predicted without any model of the same kinds of layers."""
    rows = fitted()
    judged = by_table(rows, unseen=True)
    for timed, seconds, (_, ranges) in zip(rows.timed, rows.seconds, judged, strict=True):
        predicted = left_out().get((UNSEEN, timed.row.id))
        if timed.timed != READ and predicted is not None:
            yield _point(timed, kinds_of(timed), float(seconds / predicted), ranges)


@cache
def released(name: str) -> str:
    """Month in which a model of the catalogue appeared; empty for others."""
    row = catalog.model_rows().get(name)
    return row.released if row else ""


def doubtful() -> Iterable[AccuracyPoint]:
    """Points of doubtful rows: doubted by their source, or physically impossible.

    Nothing is fitted to them, so the shipped constants predict them.
    """
    rows = side_by_side([*fitted().doubted, *doubted_by_sources(published())])
    for timed, seconds, (predicted, ranges) in zip(
        rows.timed, rows.seconds, by_table(rows), strict=True
    ):
        yield _point(timed, regime_of(traits(timed)), float(seconds) / predicted, ranges)


def by_table(rows: Rows, *, unseen: bool = False) -> tuple[tuple[float, Margins], ...]:
    """Predictions of rows by the shipped constants [s], with their 80 % margins.

    A row's own publisher does not count as evidence for its range; of an `unseen` model nobody's
    does.
    """
    total = np.empty(len(rows.timed))
    below, above = np.empty(len(rows.timed)), np.empty(len(rows.timed))
    few = dict(other_evidence(rows))
    if unseen:
        few[NEW] = np.ones(len(rows.timed))
    for part in rows.stacks:
        timed = [rows.timed[place] for place in part.at]
        constants = TableColumns(timed)
        time = part.time(constants)
        run = circumstances_of(rows, part, few)
        total[part.at] = time.total
        read = np.array([row.timed == READ for row in timed])
        own = [row.case.runtime.extra_uncertainty for row in timed]
        shape = [row.case.model.architecture.shape_uncertainty for row in timed]
        beside = np.hypot(np.hypot(own, shape), _doubts(timed, on_gpu(time, run)))
        for constant, chosen in ((IN_PROMPT, read), (IN_DECODE, ~read)):
            if chosen.any():
                ends = margins(time, run, constants, constant).wider(beside)  # type: ignore[arg-type]  # arrays stand for numbers
                below[part.at[chosen]] = np.asarray(ends.below)[chosen]
                above[part.at[chosen]] = np.asarray(ends.above)[chosen]
    return tuple(
        (float(seconds), Margins(below=low, above=high))
        for seconds, low, high in zip(total, below, above, strict=True)
    )


def _doubts(timed: Sequence[TimedRow], gpu: Array) -> Floats:
    """Half width that stated software adds to each row, by the GPUs' share of its time."""
    of_gpu, of_host = np.array(
        [
            doubt(row.case.machine, row.case.runtime, row.case.model, prompt=row.timed == READ)
            for row in timed
        ]
    ).T
    return np.asarray(of_gpu * gpu + of_host * (1.0 - gpu))


def _peers(timed: TimedRow) -> Mapping[str, float]:
    """Predictions of the public formulas for a row; none for several sequences."""
    case, row = timed.case, timed.row
    if float(case.work.users) > 1 or row.category not in WHERE:
        return {}
    theory = ram_in_theory(row, case.machine.host.name)
    ram_peak = float(case.machine.host.bandwidth.value) if theory is None else theory
    facts = facts_of(case, row.category, ram_peak=ram_peak, prompt=timed.timed == READ)
    return answers(facts)


def traits(timed: TimedRow) -> Mapping[str, object]:
    """Traits of a row, by which `regimes.REGIMES` are distinguished."""
    row, case = timed.row, timed.case
    return {
        "category": row.category,
        "timed": PROMPT if timed.timed == READ else GENERATION,
        "build": timed.scope["build"],
        "together": float(case.work.users) > 1,
        "deep": (row.context_depth or 0.0) >= DEEP,
        "experts": case.model.has_experts,
        "ram": STATED if row.ram_bw_gbs or row.ram_mts else DATASHEET,
    }
