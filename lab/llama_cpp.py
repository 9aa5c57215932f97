"""Published speeds of llama.cpp and its forks, and their fit."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from advisor.catalog.constants import Constants, Names, Scope, names_of
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.measured_constants import effect_factors, software_of
from advisor.cost_model.processors import matrices, vectors
from advisor.cost_model.schedule import Schedule
from advisor.cost_model.uncertainty import joined_name
from advisor.errors import AdvisorError
from advisor.evidence.published.case import Case
from advisor.evidence.published.engines import engine
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.machine.from_catalog import SOLD_WITH_RAM
from advisor.machine.machine import Machine
from advisor.model.architecture import operators
from advisor.model.model import Floats
from advisor.runtimes import MLX
from lab.fit import (
    LLAMA_CPP,
    FitSettings,
    HeldOut,
    Parameter,
    Problem,
    counts,
    parameters,
    problem,
    solve,
)
from lab.folds import kept_folds, left_out_times
from lab.held_out import GENERATED, READ
from lab.published import group_of, published_rows, publisher_of, ram_in_theory, row_files
from lab.stack import Cases, Columns, Timed

# Doubtful rows: physically impossible speeds, by a rule that was fixed before any scoring.
#
# A speed is doubtful if a perfect program could not reach it on the stated machine, or if a program
# that wastes 95 % of the machine would be faster. Then something else ran than the row states:
# another card, pages from a drive, layers on the processor. Doubts of the sources themselves are in
# the column `doubtful`.

TABLE = Path(__file__).with_name("bounds.csv")


@dataclass(frozen=True, kw_only=True)
class BoundRow:
    """A constant that is no share; the fields are the columns of bounds.csv."""

    constant: str
    perfect: float  # of a perfect program
    wasteful: float  # of a program that wastes nearly everything
    note: str


WASTED = 0.05  # every share of a program that wastes nearly everything; of a perfect one it is 1
ROUNDED = 0.85
"""Smallest ratio of a row's time to the perfect time: datasheets round, boost clocks exceed them,
and RAM is overclocked."""


ROWS = read(TABLE, BoundRow)
FASTEST = Columns({row.constant: row.perfect for row in ROWS}, 1.0)
SLOWEST = Columns({row.constant: row.wasteful for row in ROWS}, WASTED)


# Published rows.

SOURCE = "python -m lab on data/measurements/llama_cpp*.csv"  # source of the constants
FILES = row_files("llama_cpp")
"""Files of published rows."""
OWN = DATA / "measurements" / "own.csv"
"""Our own runs; those of llama-bench on a GPU are fitted like published ones."""
MADE = " (synthetic)"  # remark of a model whose weights were made for the run
SHAPED_AS = {"MoE 30B-A3B": "Qwen3-30B-A3B", "MoE 7B-A1B": "OLMoE-1B-7B"}
"""Models whose layers such a model has; others are named after theirs."""
OURSELVES = "this project"
REPLY = 64  # length of their replies (benchmarks/engine_parts/cases.py) [tokens]
FRAMEWORKS = row_files("frameworks", since=1)
"""Files whose rows of MLX are added: MLX places and reads a model as llama.cpp does, with its own
kernels, so only the factors of its build differ."""
FITTED = ("resident", "cpu", "moe_offload", "partial")  # categories whose speeds are fitted
EXPECTED = Columns({name: own.start for name, own in parameters(LLAMA_CPP).items()}, 1.0)
"""Expected values of the constants, by which the effects of stated software are limited."""
BY_ROWS = "split mode row"
"""Note of runs with `-sm row`, llama.cpp's deprecated division of single matrices over GPUs, which
no runtime of the advisor has."""
MOSTLY_WAITING = re.compile(r"given threads|mostly overhead")
"""Note of prompts whose speed tells of something else than reading them."""
NOISE = {GENERATED: 0.12, READ: 0.2}
"""Standard deviation of usual rows around the model, of tokens and of prompts, as a logarithm; a
row at this distance weighs half. Two sources on one GPU, model and format differ by 12 % at the
median (`python -m advisor accuracy`)."""


@cache
def published() -> tuple[PublishedRow, ...]:
    """Rows of `FILES`, those of MLX, and our own."""
    own = (row for path in FILES for row in published_rows(path))
    others = (row for path in FRAMEWORKS for row in published_rows(path))
    apple = (row for row in others if engine(row.runtime, row.category) is MLX)
    return (*own, *apple, *_ours())


def _ours() -> Iterator[PublishedRow]:
    """Our own runs of llama-bench on a GPU; each timed a prompt as long as the depth of its reply.

    Made weights take as long as a real model's of the same shape.
    """
    for row in published_rows(OWN):
        if "llama-bench" in row.runtime and row.category in FITTED:
            name = row.model.removesuffix(MADE)
            yield PublishedRow(
                {
                    **row.cells,
                    "model": SHAPED_AS.get(name, name),
                    "publisher": OURSELVES,
                    "source_note": f"{row.source_note}; test=tg{REPLY}, pp of the whole context",
                }
            )


def rows_of(table: Iterable[PublishedRow]) -> Cases:
    """Rows that can be fitted: first their tokens, then their prompts."""
    rows = side_by_side(_timed(table))
    perfect, wasteful = (replace(rows, table=bound).predicted({}) for bound in (FASTEST, SLOWEST))
    doubts = (rows.seconds < ROUNDED * perfect) | (rows.seconds > wasteful)
    doubted = tuple(compress(rows.timed, doubts))
    return replace(side_by_side(tuple(compress(rows.timed, ~doubts))), doubted=doubted)


def side_by_side(timed: Sequence[Timed]) -> Cases:
    """Rows that are timed together."""
    return Cases(tuple(timed), Constants.fitted().bound(Scope(runtime="llama.cpp")))


def doubted_by_sources(table: Iterable[PublishedRow]) -> tuple[Timed, ...]:
    """Rows that their own sources doubt, timed like the others."""
    told = (PublishedRow({**row.cells, "doubtful": ""}) for row in table if row.doubtful)
    return tuple(_timed(told))


def _timed(table: Iterable[PublishedRow]) -> list[Timed]:
    cases = [(row, case) for row in table if (case := _taught(row))]
    parts = (_part(row, case, timed) for timed in (GENERATED, READ) for row, case in cases)
    return [part for part in parts if part is not None]


def _part(row: PublishedRow, case: Case, timed: str) -> Timed | None:
    """Timed part of a row, of all users together; None where it was not measured.

    A sweep over the threads of generation times its prompts with another number of threads, and a
    server's first token of a short prompt is mostly overhead; these are left out.
    """
    speed = stated_tps(row, timed)
    if not speed or (timed == READ and MOSTLY_WAITING.search(row.source_note)):
        return None
    if timed == READ:
        work = case.prompt
        fresh = np.maximum(work.fresh, 1.0)
    else:
        work = case.work
        fresh = 1.0
    return Timed(
        id=row.id,
        group=group_of(row),
        publisher=publisher_of(row),
        scope={**_scope(case), "ram": ram_said(row, case.machine)},
        machine=case.machine,
        ram_in_theory=ram_in_theory(row, case.machine.host.name),
        parts=tuple((1.0, part) for part in _schedules(case, timed)),
        seconds=float(fresh * work.users) / speed,
        noise=NOISE[timed],
        effects=effect_factors(software_of(case.model, case.machine, case.runtime), EXPECTED),  # type: ignore[arg-type]  # expected values stand for fitted ones
        row=row,
        case=case,
        timed=timed,
    )


def ram_said(row: PublishedRow, machine: Machine) -> str:
    """Whether a row's RAM is known, as parameters.csv says it: its rate or clock is stated, or its
    processor is sold with it.
    """
    if row.ram_bw_gbs or row.ram_mts or machine.host.segment in SOLD_WITH_RAM:
        return "stated"
    return "unstated"


def _schedules(case: Case, timed: str) -> Iterator[Schedule]:
    """Schedules that were timed together; of one with another after it, both."""
    following: Schedule | None
    if timed == READ:
        following = case.of_prompt.phases.prefill
    else:
        following = case.phases.decode
    while following is not None:
        yield replace(following, then=None)
        following = following.then


def _scope(case: Case) -> Mapping[str, str]:
    """Values of the columns that constants may differ by."""
    host = case.machine.host
    return {
        "family": case.machine.gpus[0].family if case.machine.gpus else "",
        "segment": host.segment,
        "vectors": vectors(host),
        "matrices": matrices(host),
        "decode_class": str(case.model.decode_class),
        "backend": case.backend or case.machine.interface,
        "build": case.runtime.build or case.build,
    }


def _taught(row: PublishedRow) -> Case | None:
    """Machine, model and request of a row that can be fitted; None for others."""
    if row.category not in FITTED or row.doubtful or BY_ROWS in row.source_note:
        return None
    case = case_of(row)
    if case is None or not case.runtime.computes_in_ram or case.runtime.key != "llama.cpp":
        return None
    split = row.category == "partial"
    if split and not (layers_stated(case) and row.cpu):
        return None
    return case


def layers_stated(case: Case) -> bool:
    """Whether a run states how many layers the GPU computes, fewer than all."""
    layers = case.settings.gpu_layers
    return layers is not None and bool(np.all(layers < case.model.layers))


@lru_cache(maxsize=8192)
def case_of(row: PublishedRow) -> Case | None:
    """Machine, model and request of a row; None where it cannot be predicted."""
    try:
        return understood(row)
    except AdvisorError:
        return None


def placed_case(row: PublishedRow) -> Case | None:
    """Case of a row whose model fits its machine; None for others."""
    case = case_of(row)
    try:
        return case if case and case.phases else None
    except AdvisorError:
        return None


def stated_tps(row: PublishedRow, timed: str) -> float:
    """Published speed of the timed part, of all users together; 0 if missing [tokens/s]."""
    return (row.pp_tps if timed == READ else row.tg_tps or row.tg_tps_total) or 0.0


class TableColumns:
    """Constants of the shipped table for rows of different scopes."""

    def __init__(self, rows: Sequence[Timed]) -> None:
        self._rows = rows

    def value(self, constant: str, family: Names = "") -> Floats:
        """Value of a constant in each row, shape (rows,)."""
        parameter = parameters(LLAMA_CPP).get(constant)
        families = names_of(family)
        each = zip(self._rows, families * (len(self._rows) // len(families)), strict=True)
        return np.array([self._of(row, constant, parameter, own) for row, own in each])

    def value_by_family(self, constant: str, family: Names) -> Floats:
        """Value of a constant between the GPUs of each row, shape (rows,)."""
        return self.value(constant, family)

    def _of(self, row: Timed, constant: str, parameter: Parameter | None, family: str) -> float:
        """Value of a constant in a row, under the software that its source states."""
        if parameter is not None and not parameter.in_scope(row.scope):
            return parameter.absent
        if parameter is not None:
            family = row.scope[parameter.family]
        columns = (row.scope[column] for column in ("decode_class", "backend", "build"))
        return _value_in(constant, family, *columns) * row.effects.get(constant, 1.0)


@cache
def _value_in(constant: str, family: str, decode_class: str, backend: str, build: str) -> float:
    scope = Scope(runtime="llama.cpp", decode_class=decode_class, backend=backend, build=build)
    return Constants.fitted().bound(scope).value(constant, family)


# Fit of these rows, and their predictions by fits that leave out their source.

GROUP_POWER = -0.6
"""Power of a row's weight: each row of a group of n weighs n^-0.6, so a group weighs n^0.4."""
PUBLISHER_POWER = -0.25
"""Power of a group's weight: each of m groups of a publisher weighs m^-0.25, since the groups of a
publisher share their ways of measuring."""
APART = {"llamafile": 0.15}
"""Factor on the weight of a row by its build. LocalScore's rows, a sixth of all, are of old kernels
on unprepared machines: they decide their own constants and hardly influence the others."""
LEAST_GROUPS = 3  # fewest groups of a scope with a factor of its own
SETTINGS = FitSettings(
    regime=LLAMA_CPP,
    far=1.0,
    farthest=0.4,
    rounds=40,
    close=5e-3,
    least_groups=LEAST_GROUPS,
    limited=False,
)
COMMON = 0.3
"""Largest share of the rows of an architecture that is left out whole: without the most common one,
full attention without experts, hardly any constant has a value."""
NEAR = 0.05
"""Largest change of any logarithm at which a fit to the rows before a month ends."""


@dataclass(frozen=True, kw_only=True)
class LlamaFit(HeldOut):
    """Fit, with predictions made without each row's publisher, and without its kinds of layers."""

    # time of each row by the fit without all models of its kinds of layers, where they are few
    # enough, else without its publisher, shape (rows,) [s]
    without_kinds: Floats


def task(rows: Cases) -> Problem:
    """Least-squares problem of rows."""
    return problem(rows, SETTINGS, row_weights(rows))


def solved(rows: Cases) -> LlamaFit:
    """Fit of rows, and their predictions by whole fits without them."""
    fit = solve(task(rows))
    predicted = left_out_times(fit, left_out_with(rows), kept=kept_folds())
    names = whole_architectures(rows)
    without = left_out_times(fit, names)
    unseen = np.where(np.array(names) == "", predicted, without)
    return LlamaFit(fit=fit, predicted=predicted, without_kinds=unseen)


def row_weights(rows: Cases) -> Floats:
    """Weight of each row by its group, its publisher and its build, shape (rows,)."""
    groups = [f"{row.group} {row.timed}" for row in rows.timed]
    by_publisher = pd.Series(groups).groupby(list(left_out_with(rows)))
    machines = by_publisher.transform("nunique").to_numpy(dtype=float)
    builds = np.array([APART.get(row.scope["build"], 1.0) for row in rows.timed])
    return np.asarray(counts(groups, GROUP_POWER) * machines**PUBLISHER_POWER * builds)


def left_out_with(rows: Cases) -> tuple[str, ...]:
    """Key of the rows left out together: the publisher, or for LocalScore, with its many rows, the
    group.
    """
    return tuple(row.group if row.scope["build"] in APART else row.publisher for row in rows.timed)


def kinds_of(row: Timed) -> str:
    """Kinds of layers of a row's model, as one name."""
    return joined_name(operators(row.case.model.architecture))


def whole_architectures(rows: Cases) -> tuple[str, ...]:
    """Kinds of layers of each row's model; empty where they are too common to be left out."""
    names = [kinds_of(row) for row in rows.timed]
    sizes = Counter(names)
    return tuple(name if sizes[name] < COMMON * len(names) else "" for name in names)
