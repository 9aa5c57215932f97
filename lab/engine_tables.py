"""Fit of serving engines and its tables: data/generated/engine_kernels.csv, engine_left_out.csv."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from advisor.catalog.constants import ConstantRow
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import HOST_MEMORY, FixedTime
from advisor.cost_model.uncertainty import BY_TRAIT, Margins
from advisor.machine.catalog import GPUS
from advisor.model.model import Floats
from lab import rounded, spreads
from lab.engines import FILES, PUBLISHED, SIMULATED, published, simulated
from lab.fit import (
    DATE,
    SERVING_ENGINES,
    Fit,
    FitSettings,
    HeldOut,
    fitted,
    parameters,
)
from lab.folds import left_out_times
from lab.frameworks import SERVING
from lab.published import engine_publishers
from lab.spreads import GPU, TRAIT, Errors, level, widths
from lab.stack import Cases

# Order of the generations of GPUs in the constants of serving engines.
#
# Some generations have few measurements; a GPU that is at least as good in all figures of its
# datasheet must not be predicted slower.

Rows = dict[tuple[str, str, str], ConstantRow]
"""Rows by constant, engine and family; the latter two empty for all."""
SUMS = "peer_sharing"  # constant with the additional time of a long all-reduce for each further GPU
THROUGH_HOST = f" {HOST_MEMORY}"
"""End of the names of constants of GPUs without access to other GPUs' memory."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """Bound of a generation's constants; the fields are the columns of generations.csv."""

    of: str  # constants: "share", "int4", "sum", or "start" for all others
    family: str  # generation whose value is bounded
    bound: str  # "at least" or "at most"
    other: str  # generation whose value, times `share`, bounds it
    share: float
    assumed: bool  # whether the bound holds only where nobody measured the family
    why: str


ORDERS = read(Path(__file__).with_name("generations.csv"), Order)
"""Bounds in the order in which they are applied."""
ORDERED = {name for order in ORDERS if order.of == "share" for name in (order.family, order.other)}
"""Generations with values of their own in every constant that differs by them."""


def _kind(name: str) -> str:
    if name.startswith(SUMS):
        return "sum"
    if "_int4_" in name:
        return "int4"
    if name.endswith("_share"):
        return "share"
    return "start"


def ordered_generations(rows: Rows) -> Rows:
    """Rows with an older generation bounded by the next: no larger share, no shorter start."""
    ordered = dict(rows)
    for name, engine in dict.fromkeys((name, engine) for name, engine, _ in rows):
        for order in (order for order in ORDERS if order.of == _kind(name)):
            key = (name, engine, order.family)
            other = ordered.get((name, engine, order.other))
            row = ordered.get(key)
            if row and other and (row.kind == "assumed" or not order.assumed):
                if order.bound == "at least":
                    nearer = max
                else:
                    nearer = min
                value = nearer(row.value, other.value * order.share)
                ordered[key] = replace(row, value=value)
    for key in (key for key in rows if key[0].startswith(SUMS)):
        # Not slower than through the host's memory: 1 / (share (1 + sharing f)) for f further
        # cards, f large.
        share, through = (rows[f"peer_share{path}", "", ""].value for path in ("", THROUGH_HOST))
        most = rows[f"{SUMS}{THROUGH_HOST}", "", ""].value * share / through
        ordered[key] = replace(ordered[key], value=rounded(min(ordered[key].value, most), 4))
    return ordered


# 80 % ranges of serving engines, from published runs predicted without their publisher.
#
# Widths and widening factors are fitted as those of llama.cpp (`spreads.py`), but with
# their own count of publishers for each family of GPUs, 0 included: a GPU with few runs of
# llama.cpp may have many of serving engines, and the other way round. The simulator counts as one
# publisher. First tokens have too few publishers for more than one width.

PARTS = (Route.RESIDENT, FixedTime.LAYERS, FixedTime.TOKEN, FixedTime.CROSSINGS)
NOTES = {
    **spreads.NOTES,
    BY_TRAIT[Margins.IN_PROMPT]: "80 % range of runs like this: most behind it are of several GPUs",
    "engine_publishers": "publishers that timed the engine",
    "sources": "publishers that measured a serving engine on a GPU of the family",
}


def publishers(cases: Cases) -> Mapping[str, Set[str]]:
    """Publishers with a GPU of each family, with the simulator as one."""
    publishers = defaultdict[str, set[str]](set)
    for case in cases.timed:
        publishers[case.machine.gpus[0].family].add(case.publisher)
    return publishers


def traits(cases: Cases) -> Mapping[str, Floats]:
    """Degree of each trait, of shape (cases,).

    The number of publishers does not include that of the case.
    """
    known = publishers(cases)
    others = [len(known[case.machine.gpus[0].family] - {case.publisher}) for case in cases.timed]
    runs = [case.case for case in cases.timed]
    return {
        uncertainty.SEVERAL: np.array([float(len(run.machine.gpus) > 1) for run in runs]),
        uncertainty.TOGETHER: np.array([float(run.work.users > 1) for run in runs]),
        uncertainty.THIN: uncertainty.rarity(np.array(others)),
    }


def spread_rows(done: HeldOut) -> Iterator[ConstantRow]:
    """Half widths, traits' factors and publishers of every serving engine."""
    timed = engine_publishers(FILES)
    for key in SERVING:
        yield _spread_row(key, "engine_publishers", timed[key], "", timed[key])
    for constant, value, family, count in _ranges(done):
        for key in SERVING:
            yield _spread_row(key, constant, value, family, count)


def _spread_row(runtime: str, constant: str, value: float, family: str, count: int) -> ConstantRow:
    counts = constant in ("sources", "engine_publishers")
    return ConstantRow(
        constant=constant,
        runtime=runtime,
        family=family or None,
        value=rounded(value, 3),
        unit="count" if counts else "share",
        kind="fitted",
        rows=count or None,
        source=SOURCE,
        date=DATE,
        note=NOTES.get(constant, spreads.RANGE_NOTE),
    )


def _ranges(done: HeldOut) -> Iterator[tuple[str, float, str, int]]:
    """Constants of the ranges, each with its value, family and number of cases behind it."""
    cases = done.fit.task.cases
    real = cases.column("evidence") == PUBLISHED
    every = Errors(
        off=np.log(done.predicted / cases.seconds),
        groups=np.array(cases.groups),
        publishers=np.array([case.publisher for case in cases.timed]),
        traits=traits(cases),
    )
    tokens = every.of(real & ~cases.read)
    prompts = every.of(real & cases.read)
    numbers = widths(tokens, Margins.IN_DECODE)
    count = len(tokens.off)
    for part in PARTS:
        yield Margins.IN_DECODE, float(np.exp(numbers[GPU])), part, count
    for name in every.traits:
        yield BY_TRAIT[Margins.IN_DECODE], float(np.exp(numbers[f"{TRAIT}{name}"])), name, count
    half = level(prompts, np.ones(len(prompts.off)))
    for part in PARTS:
        yield Margins.IN_PROMPT, half, part, len(prompts.off)
    yield BY_TRAIT[Margins.IN_PROMPT], 1.0, uncertainty.SEVERAL, len(prompts.off)
    yield "sources", 0.0, "", 0
    counts = dict.fromkeys((card.family for card in GPUS.rows().values()), 0)
    counts |= {family: len(names) for family, names in publishers(cases).items()}
    for family, number in sorted(counts.items()):
        yield "sources", float(number), family, number


# Fit of all cases, published and simulated.

FAMILY = "family"
ENGINE = "engine"
RELEASE = "release"
EVIDENCE = "evidence"
SETTINGS = FitSettings(
    regime=SERVING_ENGINES, far=2.0, damping=0.9, farthest=0.5, rounds=10, close=0.03
)
TABLE = DATA / "generated/engine_kernels.csv"
LEFT_OUT = DATA / "generated/engine_left_out.csv"
SOURCE = (
    "python -m lab on data/measurements/simulated_engines.csv, "
    "frameworks_*.csv and offload_papers.csv"
)
SMALLEST = 0.03  # smallest logarithm of a factor that is written; smaller ones make no difference
FEWEST = 3  # fewest cases for a row of a family or engine; others use the row of all
SHARED = ("token", "all_reduce", "peer_share")
"""Constants that other runtimes have under the same name; rows here are for serving engines."""


@dataclass(frozen=True, kw_only=True)
class EngineLeftOutRow:
    """One case; fields as the columns of data/generated/engine_left_out.csv."""

    id: str  # id of its row, with the timed part where a row has several
    group: str  # publisher and GPU, or model and GPU of a simulated case
    evidence: str  # simulated or published
    seconds: float  # simulated or measured time [s]
    predicted: float  # time predicted by the fit without its publisher [s]
    tokens: float  # tokens of all users in that time [tokens]
    experts: float  # 1 for a model with routed experts
    several: float  # degree of the trait "several GPUs", 0 to 1 (`cost_model/uncertainty.py`)
    together: float  # degree of the trait "several users"
    thin: float  # degree of the trait "few publishers with a GPU of the family"


@cache
def fitted_engines() -> HeldOut:
    """Fit of all cases, each predicted without its fold of publishers, simulated ones without their
    model and GPU alike.
    """
    cases = Cases((*simulated(), *published()))
    fit = fitted(cases, SETTINGS)
    names = [case.group if case.publisher == SIMULATED else case.publisher for case in cases.timed]
    return HeldOut(fit=fit, predicted=left_out_times(fit, names))


def constants() -> Iterator[ConstantRow]:
    """Rows of data/generated/engine_kernels.csv."""
    done = fitted_engines()
    yield from _releases(done.fit)
    rows = ordered_formats(ordered_generations(_rows(done.fit)))
    for row in rows.values():
        own = {engine for name, engine, _ in rows if name == row.constant}
        if row.constant in SHARED and not row.runtime:
            yield from (replace(row, runtime=key) for key in SERVING if key not in own)
        else:
            yield row
    yield ConstantRow(
        constant="peer_sharing",
        family="NVLink",
        value=0.0,
        unit="ratio",
        kind="derived",
        source="each GPU has links of its own",
        date=DATE,
        note="time that each further GPU adds to a sum of long vectors",
    )
    yield from spread_rows(done)


def _rows(fit: Fit) -> Rows:
    """Rows of each constant: for all, then for families and engines that differ."""
    rows: Rows = {}
    for name, parameter in parameters(SERVING_ENGINES).items():
        if parameter.width and RELEASE not in parameter.factors:
            families = _values(fit, name, FAMILY)
            if FAMILY in parameter.factors:
                families = sorted({*families, *ORDERED})
            for engine, family in product((*_values(fit, name, ENGINE), ""), (*families, "")):
                rows[name, engine, family] = _row(fit, name, engine, family)
    return rows


def _releases(fit: Fit) -> Iterator[ConstantRow]:
    """Rows of releases: factor on the time of earlier years, 1 for today's."""
    name = "engine_release"
    yield ConstantRow(
        constant=name,
        value=1.0,
        unit="share",
        kind="derived",
        source="by definition",
        date=DATE,
        note=parameters(SERVING_ENGINES)[name].note,
    )
    for (constant, scope), at in sorted(fit.at.items()):
        if constant == name and scope:
            yield fit.row(SOURCE, [at], int(fit.rows[at]), build=scope[0][1])


FORMAT_ORDER = (("f16", "fp8", 0.55), ("fp8", "nvfp4", 0.65))
"""A format, the next smaller one, and the smallest ratio of the smaller one's share of bandwidth to
its own. The smaller has about half the bytes, so fewer bits are not predicted slower."""
OWN_PEAK = {
    "fp8": ("Ada", "Hopper", "Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
    "nvfp4": ("Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
}
"""Generations that multiply a format natively, at twice the peak; others reach the same share of
the same peak as with more bits."""


def ordered_formats(rows: Rows) -> Rows:
    """Rows with shares raised so that fewer bits are not slower in the same part of the model."""
    ordered = dict(rows)
    for part, (more, less, ratio), kind in product(
        ("dense", "experts"), FORMAT_ORDER, ("read_share", "flop_share", "tile")
    ):
        for (name, engine, family), row in list(ordered.items()):
            if name == f"{part}_{less}_{kind}":
                larger = _nearest(ordered, f"{part}_{more}_{kind}", engine, family)
                if kind == "read_share" or family in OWN_PEAK[less]:
                    share = ratio
                else:
                    share = 1.0
                if kind == "tile":
                    value = min(row.value, larger)
                else:
                    value = max(row.value, larger * share)
                ordered[name, engine, family] = replace(row, value=rounded(value, 4))
    return ordered


def _nearest(rows: Rows, name: str, engine: str, family: str) -> float:
    """Value of a constant for an engine and family, as `Constants` looks it up."""
    keys = ((name, engine, family), (name, "", family), (name, engine, ""), (name, "", ""))
    return next(rows[key].value for key in keys if key in rows)


def _values(fit: Fit, name: str, column: str) -> list[str]:
    """Families or engines with a row of their own: different enough, on enough cases."""
    factors = [
        (scope, at) for (constant, scope), at in fit.at.items() if constant == name and scope
    ]
    return sorted(
        scope[0][1]
        for scope, at in factors
        if scope[0][0] == column and abs(fit.logs[at]) >= SMALLEST and fit.rows[at] >= FEWEST
    )


def _row(fit: Fit, name: str, engine: str, family: str) -> ConstantRow:
    terms = (
        (name, ((ENGINE, engine),)),
        (name, ((FAMILY, family),)),
        (name, ((EVIDENCE, PUBLISHED),)),
    )
    at = [*(fit.at[term] for term in terms if term in fit.at), fit.at[name, ()]]
    spread = float(np.sqrt(np.sum(fit.spreads[at] ** 2)))
    link = name.partition(" ")[2]
    rows = int(min(fit.rows[at]))
    return fit.row(SOURCE, at, rows, spread, runtime=engine, family=family or link)


def left_out() -> Iterator[EngineLeftOutRow]:
    """Rows of data/generated/engine_left_out.csv."""
    done = fitted_engines()
    cases = done.fit.task.cases
    reached = traits(cases)
    for at, (case, predicted) in enumerate(zip(cases.timed, done.predicted.tolist(), strict=True)):
        yield EngineLeftOutRow(
            id=case.id,
            group=case.group,
            evidence=case.scope["evidence"],
            seconds=rounded(case.seconds, 5),
            predicted=rounded(predicted, 5),
            tokens=rounded(case.tokens, 5),
            experts=float(case.case.model.has_experts),
            **{name: rounded(values[at], 3) for name, values in reached.items()},
        )
