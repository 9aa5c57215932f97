"""The rows of data/measurements/llama_cpp.csv, each predicted without its group."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from advisor.catalog.constants import fitted_constants
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT
from advisor.evidence.accuracy.peer_facts import answers, facts_of
from advisor.evidence.accuracy.point import AccuracyPoint, point_of
from advisor.evidence.accuracy.regimes import DATASHEET, DEEP, GENERATION, PROMPT, STATED, regime_of
from advisor.evidence.fitting.held_out import GENERATED, READ, left_out
from advisor.evidence.fitting.llama_cpp_rows import (
    StackedRows,
    case_of,
    decoded,
    measured,
    prompted,
)
from advisor.evidence.fitting.spreads import half_widths
from advisor.evidence.published.predict import Case
from advisor.model.model import Floats

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class LlamaCppRun:
    """One row of the file.

    Attributes:
        row: as it stands there.
        case: what it describes.
    """

    row: Row
    case: Case


@dataclass(frozen=True)
class Published:
    """The file, read once.

    Attributes:
        rows: all of it.
    """

    rows: tuple[Row, ...]

    @cached_property
    def runs(self) -> Mapping[str, LlamaCppRun]:
        """Rows that can be understood and are not doubtful, by their id."""
        runs = {}
        for row in self.rows:
            if row["doubtful"] == "True":
                continue
            case = case_of(row)
            if case is not None:
                runs[row["id"]] = LlamaCppRun(row=row, case=case)
        return runs

    @cached_property
    def decode(self) -> StackedRows:
        """Rows whose generation is fitted."""
        return decoded(self.rows)

    @cached_property
    def prompt(self) -> StackedRows:
        """Rows whose prompt is fitted."""
        return prompted(self.rows)


def read() -> Published:
    """The file as shipped."""
    return Published(measured())


def points(published: Published) -> Iterable[AccuracyPoint]:
    """Every row that the fit covers."""
    yield from _points(published, published.decode, GENERATED)
    yield from _points(published, published.prompt, READ)


def _points(published: Published, stack: StackedRows, timed: str) -> Iterable[AccuracyPoint]:
    predicted = left_out(timed, stack.ids)
    widths = _half_widths(stack, predicted, timed)
    for index, name in enumerate(stack.ids):
        run, prompt = published.runs[name], timed == READ
        measured = float(run.row["pp_tps" if prompt else "tg_tps"])
        ram_peak = float(stack.ram[index])
        facts = facts_of(run.case, run.row["category"], ram_peak=ram_peak, prompt=prompt)
        yield point_of(
            run.row,
            regime=_regime(run.row, stack, index, timed),
            group=stack.groups[index],
            measured=measured,
            predicted=measured * float(stack.seconds[index] / predicted[index]),
            half_width=float(widths[index]),
            peers=answers(facts),
        )


def _half_widths(stack: StackedRows, predicted: Floats, timed: str) -> Floats:
    table = fitted_constants()
    if timed == READ:
        on_gpu = np.asarray(stack.on_gpu.layers) > 0
        ends = (table.value(IN_PROMPT, part) for part in ("resident", "in_place"))
        return np.asarray(np.where(on_gpu, *ends))
    return half_widths(
        stack,
        predicted,
        gpu=table.value(IN_DECODE, "resident"),
        thin=table.value("spread_thin"),
        cpu=table.value(IN_DECODE, "in_place"),
        more=table.value("spread_unmeasured", "in_place"),
    )


def _regime(row: Row, stack: StackedRows, index: int, timed: str) -> str:
    return regime_of(
        {
            "category": row["category"],
            "timed": PROMPT if timed == READ else GENERATION,
            "deep": float(row["context_depth"] or 0) >= DEEP,
            "experts": bool(np.asarray(stack.on_gpu.expert_layers)[index]),
            "ram": STATED if row["ram_bw_gbs"] or row["ram_mts"] else DATASHEET,
        }
    )
