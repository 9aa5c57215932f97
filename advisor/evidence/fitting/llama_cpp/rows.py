"""Published rows of llama.cpp and its forks side by side, timed by the cost model itself."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import DATA
from advisor.cost_model.timing import StepTime
from advisor.errors import AdvisorError
from advisor.evidence.fitting.llama_cpp.alike import Alike, ConstantColumns, by_shape
from advisor.evidence.fitting.llama_cpp.timed_row import GENERATED, READ, TimedRow
from advisor.evidence.published import row as sources
from advisor.evidence.published.engines import engine
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import (
    FASTEST,
    SLOWEST,
    Bound,
    PublishedRow,
    doubtful,
    published_rows,
)
from advisor.model.model import Floats
from advisor.runtimes import MLX

FILES = (
    DATA / "measurements" / "llama_cpp.csv",
    DATA / "measurements" / "llama_cpp_more.csv",
    DATA / "measurements" / "llama_cpp_2026.csv",
)
"""Files of published rows."""
FRAMEWORKS = DATA / "measurements" / "frameworks_more.csv"
"""File whose rows of MLX are added: MLX places and reads a model as llama.cpp does, with its own
kernels, so only the factors of its build differ."""
FITTED = ("resident", "cpu", "moe_offload", "partial")
"""Categories whose speeds are fitted."""
BY_ROWS = "split mode row"
"""Note of runs with `-sm row`, llama.cpp's deprecated division of single matrices over GPUs, which
no runtime of the advisor has."""


MOSTLY_WAITING = re.compile(r"given threads|mostly overhead")
"""Note of prompts whose speed tells of something else than reading them."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """All rows that are fitted together; arrays have shape (rows,)."""

    timed: tuple[TimedRow, ...]  # rows
    groups: tuple[str, ...]  # group of each row: source and hardware
    # values of the columns that constants may differ by, of each row
    scopes: tuple[Mapping[str, str], ...]
    seconds: Floats  # measured time [s]
    alike: tuple[Alike, ...]  # rows grouped by shape
    # rows that are left out because their speed is physically impossible
    doubted: tuple[TimedRow, ...] = ()

    @property
    def read(self) -> npt.NDArray[np.bool_]:
        """Mask of the rows that time a prompt."""
        return np.array([row.timed == READ for row in self.timed])

    def steps(self, values: Mapping[str, Floats]) -> Iterator[tuple[Alike, StepTime]]:
        """Predicted times, one group of rows of the same shape after the other.

        Args:
            values: fitted constants by name, each of shape (rows,).
        """
        for part in self.alike:
            constants = ConstantColumns({name: value[part.at] for name, value in values.items()})
            yield part, part.seconds(constants)

    def predicted(self, values: Mapping[str, Floats]) -> Floats:
        """Predicted time of each row [s]."""
        total = np.empty(len(self.timed))
        for part, time in self.steps(values):
            total[part.at] = time.total
        return total

    def bound(self, constants: Bound) -> Floats:
        """Predicted time of each row with equal constants for all [s]."""
        total = np.empty(len(self.timed))
        for part in self.alike:
            total[part.at] = part.seconds(constants).total
        return total


@cache
def published() -> tuple[PublishedRow, ...]:
    """Rows of `FILES`, then those of MLX."""
    own = (row for path in FILES for row in published_rows(path))
    apple = (row for row in published_rows(FRAMEWORKS) if engine(row.runtime, row.category) is MLX)
    return (*own, *apple)


def rows_of(table: Iterable[PublishedRow]) -> Rows:
    """Rows that can be fitted: first their tokens, then their prompts."""
    cases = [(row, case) for row in table if (case := _taught(row))]
    rows = side_by_side(list(_timed(cases)))
    doubts = doubtful(rows.seconds, rows.bound(FASTEST), rows.bound(SLOWEST))
    kept = [row for row, doubt in zip(rows.timed, doubts, strict=True) if not doubt]
    doubted = tuple(row for row, doubt in zip(rows.timed, doubts, strict=True) if doubt)
    return replace(side_by_side(kept), doubted=doubted)


def doubted_by_sources(table: Iterable[PublishedRow]) -> tuple[TimedRow, ...]:
    """Rows that their own sources doubt, timed like the others."""
    told = (PublishedRow({**row.cells, "doubtful": ""}) for row in table if row.doubtful)
    return tuple(_timed([(row, case) for row in told if (case := _taught(row))]))


def _timed(cases: Sequence[tuple[PublishedRow, Case]]) -> Iterator[TimedRow]:
    for what in (GENERATED, READ):
        for row, case in cases:
            seconds = _seconds(row, case, what)
            if seconds:
                yield TimedRow(row=row, case=case, timed=what, seconds=seconds)


def side_by_side(timed: Sequence[TimedRow]) -> Rows:
    """Rows with their cases stacked by shape."""
    return Rows(
        timed=tuple(timed),
        groups=tuple(sources.group_of(row.row) for row in timed),
        scopes=tuple(row.scope for row in timed),
        seconds=np.array([row.seconds for row in timed]),
        alike=tuple(by_shape(timed)),
    )


def _taught(row: PublishedRow) -> Case | None:
    """Machine, model and request of a row that can be fitted; None for others."""
    if row.category not in FITTED or row.doubtful or BY_ROWS in row.source_note:
        return None
    case = case_of(row)
    if case is None or not case.runtime.computes_in_ram or case.runtime.key != "llama.cpp":
        return None
    return case if _split_stated(row, case) else None


@lru_cache(maxsize=8192)
def case_of(row: PublishedRow) -> Case | None:
    """Machine, model and request of a row; None where it cannot be predicted."""
    try:
        return understood(row)
    except AdvisorError:
        return None


def _split_stated(row: PublishedRow, case: Case) -> bool:
    """Whether a row of a split model states its layers in RAM and its processor; else true."""
    if row.category != "partial":
        return True
    layers = case.settings.gpu_layers
    return layers is not None and bool(np.all(layers < case.model.layers)) and bool(row.cpu)


def stated_tps(row: PublishedRow, timed: str) -> float:
    """Published speed of the timed part, of all users together; 0 if missing [tokens/s]."""
    return (row.pp_tps if timed == READ else row.tg_tps or row.tg_tps_total) or 0.0


def _seconds(row: PublishedRow, case: Case, timed: str) -> float | None:
    """Time of a step, or of the prompts, of all users [s]; None where it was not measured.

    A sweep over the threads of generation times its prompts with another number of threads, and a
    server's first token of a short prompt is mostly overhead; these are left out.
    """
    speed = stated_tps(row, timed)
    if not speed or (timed == READ and MOSTLY_WAITING.search(row.source_note)):
        return None
    fresh = np.maximum(case.prompt.fresh, 1.0) if timed == READ else 1.0
    users = case.prompt.users if timed == READ else case.work.users
    return float(fresh * users) / speed
