"""Published rows of llama.cpp and its forks, each predicted without its source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.uncertainty import Margins, Range
from advisor.errors import InputError
from advisor.evidence.accuracy.peer_facts import WHERE, answers, facts_of
from advisor.evidence.accuracy.point import AccuracyPoint, point_of
from advisor.evidence.accuracy.regimes import (
    DATASHEET,
    DEEP,
    GENERATION,
    PROMPT,
    STATED,
    regime_of,
)
from advisor.evidence.fitting.held_out import READ, kept, left_out
from advisor.evidence.fitting.llama_cpp_rows import (
    Rows,
    TimedRow,
    case_of,
    published,
    rows_of,
    tokens_per_second,
)
from advisor.evidence.published.machine import ram_in_theory
from advisor.evidence.published.predict import Case
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.sources import group_of


@dataclass(frozen=True, kw_only=True)
class LlamaCppRun:
    """One row of the files.

    Attributes:
        row: as it stands there.
        case: what it describes.
    """

    row: PublishedRow
    case: Case


@dataclass(frozen=True)
class Published:
    """The files, read once.

    Attributes:
        rows: all of them.
    """

    rows: tuple[PublishedRow, ...]

    @cached_property
    def runs(self) -> Mapping[str, LlamaCppRun]:
        """Rows that can be understood and are not doubtful, by their id."""
        runs = {}
        for row in self.rows:
            if row.doubtful:
                continue
            case = case_of(row)
            if case is not None:
                runs[row.id] = LlamaCppRun(row=row, case=case)
        return runs

    @cached_property
    def fitted(self) -> Rows:
        """Rows that constants are fitted to."""
        return rows_of(self.rows)


def read() -> Published:
    """The files as shipped."""
    return Published(published())


def points(published: Published) -> Iterable[AccuracyPoint]:
    """Every row that the last fit covered, what its source timed of all users together."""
    rows = published.fitted
    for timed, seconds in zip(rows.timed, rows.seconds, strict=True):
        if not kept(timed.timed, timed.row.id):
            continue
        (predicted,) = left_out(timed.timed, [timed.row.id])
        measured = tokens_per_second(timed.row, timed.timed)
        yield point_of(
            timed.row,
            regime=regime_of(traits(timed)),
            group=group_of(timed.row),
            measured=measured,
            predicted=measured * float(seconds / predicted),
            margins=_margins(timed),
            peers=_peers(timed),
        )


def _margins(timed: TimedRow) -> Margins:
    """How far the prediction of a row may be off, as an estimate says it."""
    case, prompt = timed.case, timed.timed == READ
    answer = estimate(
        case.model, case.machine, case.prompt if prompt else case.work, case.runtime,
        case.strategy, fitted_constants(), case.settings, backend=case.backend, build=case.build,
    )  # fmt: skip
    speed = answer.prefill if prompt else answer.decode
    if speed is None:
        raise InputError(answer.refusal)
    return margins_of(speed)


def margins_of(speed: Range) -> Margins:
    """The margins that a range was drawn with."""
    return Margins(
        below=float(np.log(speed.value / speed.low)), above=float(np.log(speed.high / speed.value))
    )


def _peers(timed: TimedRow) -> Mapping[str, float]:
    """What public formulas say of a row of a single sequence."""
    case, row = timed.case, timed.row
    if float(case.work.users) > 1 or row.category not in WHERE:
        return {}
    theory = ram_in_theory(row, case.machine.host.name)
    ram_peak = float(case.machine.host.bandwidth.value) if theory is None else theory
    facts = facts_of(case, row.category, ram_peak=ram_peak, prompt=timed.timed == READ)
    return answers(facts)


def traits(timed: TimedRow) -> Mapping[str, object]:
    """What a row is like, as `regimes.REGIMES` tells kinds of runs apart."""
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
