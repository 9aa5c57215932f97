"""Fit of serving engines and its tables: data/generated/engine_kernels.csv, engine_left_out.csv."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA
from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, HOST_MEMORY, LAYERS, TOKEN
from advisor.cost_model.uncertainty import BY_TRAIT, IN_DECODE, IN_PROMPT, LEAN, SEVERAL, THIN
from advisor.machine.catalog import gpu_rows
from advisor.model.model import Floats
from lab import rounded, spreads
from lab.engines import PUBLISHED, EngineCase, published, simulated
from lab.fit import (
    DATE,
    SERVING_ENGINES,
    Fit,
    HeldOut,
    Parameter,
    Settings,
    fitted,
    fitted_row,
    limited,
    parameters,
    without_clusters,
)
from lab.frameworks import SERVING
from lab.spreads import COVERED, GPU, LEAN_GPU, TRAIT, Errors, widths
from lab.stack import Cases

# Order of the generations of GPUs in the constants of serving engines.
#
# Some generations have few measurements; a GPU that is at least as good in all figures of its
# datasheet must not be predicted slower.

Rows = dict[tuple[str, str, str], ConstantRow]
"""Rows by constant, engine and family; the latter two empty for all."""


def ordered_generations(rows: Rows) -> Rows:
    """Rows with an older generation bounded by the next: no larger share, no shorter start."""
    ordered = dict(rows)
    for name, engine in dict.fromkeys((name, engine) for name, engine, _ in rows):
        kernel = {key[2]: row for key, row in rows.items() if key[:2] == (name, engine)}
        if name.startswith(SUMS):
            kernel = _no_slower_than_through_the_host(
                _bounded(kernel, (*OLDER, ("Ada", "Ampere HBM")), max), rows
            )
        elif "_int4_" in name:
            kernel = _bounded(_bounded(kernel, INT4_NEWER, max), FAR_WIDER, _at_least_a_part)
        elif name.endswith("_share"):
            kernel = _bounded(kernel, (*OLDER, *_unmeasured(kernel)), min)
        else:
            kernel = _bounded(kernel, (*STARTS_OLDER, *OLDER, *_unmeasured(kernel)), max)
        ordered |= {(name, engine, family): row for family, row in kernel.items()}
    return ordered


Kernel = dict[str, ConstantRow]
"""Rows of one constant in one engine by family."""


def _bounded(
    kernel: Kernel, pairs: Iterable[tuple[str, str]], bound: Callable[[float, float], float]
) -> Kernel:
    """Rows with the second family of each pair bounded by the first, pair after pair."""
    bounded = dict(kernel)
    for first, second in pairs:
        if first in bounded and second in bounded:
            value = bound(bounded[second].value, bounded[first].value)
            bounded[second] = replace(bounded[second], value=value)
    return bounded


def _unmeasured(kernel: Kernel) -> Iterable[tuple[str, str]]:
    """Pairs for a generation that nobody measured in a kernel.

    A100s lack the kernels of Hopper alone (FlashMLA, native 8-bit floats), which is their next
    generation with HBM; without evidence they are not taken to be better than Ada, either.
    """
    own = kernel.get("Ampere HBM")
    if own is not None and own.kind == "assumed":
        yield "Ada", "Ampere HBM"


def _at_least_a_part(own: float, other: float) -> float:
    """Smallest share of B200's bandwidth with which it is not slower than an H200 with a given
    share.
    """
    return max(own, other * 4.8 / 8.0)


def _no_slower_than_through_the_host(kernel: Kernel, rows: Rows) -> Kernel:
    """Rows of all-reduces with access to other GPUs' memory, not slower than through the host's
    memory.

    1 / (share (1 + sharing f)) for f further cards, f large.
    """
    share, through = (
        rows[name, "", ""].value for name in ("peer_share", f"peer_share {HOST_MEMORY}")
    )
    most = rows[f"{SUMS} {HOST_MEMORY}", "", ""].value * share / through
    return {
        family: replace(row, value=rounded(min(row.value, most), 4))
        for family, row in kernel.items()
    }


SUMS = "peer_sharing"
"""Constant with the additional time of a long all-reduce for each further GPU."""
OLDER = (
    ("Blackwell", "Ada"), ("Ada", "Ampere"), ("Ampere", "Turing"), ("Hopper", "Ampere HBM"),
)  # fmt: skip
"""Pairs of a GPU generation and the one before, with GDDR and with HBM memory, newest first."""
STARTS_OLDER = (("Blackwell HBM", "Hopper"),)
"""Further pairs for the start of kernels alone: B200 has so much more bandwidth and peak than H200
that it may reach a smaller share of them."""
INT4_NEWER = (
    ("Turing", "Ampere"), ("Ampere", "Ada"), ("Ada", "Blackwell"), ("Ampere", "Ampere HBM"),
    ("Ampere HBM", "Hopper"), ("Ada", "Hopper"),
)  # fmt: skip
"""Pairs of a generation and the next for 4-bit integers, where the newer one is raised instead:
Marlin is measured on GeForce cards, Machete is newer, and the simulator's kernels on data-centre
GPUs are Triton's older ones (vllm-project/vllm pull request 14447 of March 2025)."""
FAR_WIDER = (("Hopper", "Blackwell HBM"),)
"""Pairs of a generation and a later one with at least 1.67 times its bandwidth."""


# 80 % ranges of serving engines, from published runs predicted without their publisher.
#
# Widths and widening factors are fitted as those of llama.cpp (`spreads.py`), but with
# their own count of publishers for each family of GPUs, 0 included: a GPU with few runs of
# llama.cpp may have many of serving engines, and the other way round. The simulator counts as one
# publisher. First tokens have too few publishers for more than one width.

PARTS = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
NOTES = {
    **spreads.NOTES,
    BY_TRAIT[IN_PROMPT]: "80 % range of runs like this: most behind it are of several GPUs",
    "sources": "publishers that measured a serving engine on a GPU of the family",
}


def publishers(cases: Cases[EngineCase]) -> Mapping[str, Set[str]]:
    """Publishers with a GPU of each family, with the simulator as one."""
    publishers = defaultdict[str, set[str]](set)
    for case in cases.timed:
        publishers[case.machine.gpus[0].family].add(case.publisher)
    return publishers


def traits(cases: Cases[EngineCase]) -> Mapping[str, Floats]:
    """Degree of each trait, of shape (cases,).

    The number of publishers does not include that of the case.
    """
    known = publishers(cases)
    others = [len(known[case.machine.gpus[0].family] - {case.publisher}) for case in cases.timed]
    names = cases.timed[0].traits
    stated = {name: np.array([case.traits[name] for case in cases.timed]) for name in names}
    return stated | {THIN: uncertainty.rarity(np.array(others))}


def spread_rows(done: HeldOut) -> Iterator[ConstantRow]:
    """Half widths, leans, traits' factors and publishers of every serving engine."""
    cases = done.fit.task.cases
    real = cases.column("evidence") == PUBLISHED
    first = np.array([case.first for case in cases.timed])
    off = np.log(done.predicted / cases.seconds)

    def rows(constant: str, value: float, family: str, count: int) -> Iterator[ConstantRow]:
        unit = "count" if constant == "sources" else "share"
        for key in SERVING:
            yield ConstantRow(
                constant=constant, runtime=key, family=family or None,
                value=rounded(value, 3), unit=unit, kind="fitted", rows=count or None,
                source=SOURCE, date=DATE, note=NOTES.get(constant, spreads.RANGE_NOTE),
            )  # fmt: skip

    tokens = real & ~first
    numbers, count = widths(_errors(cases, off, tokens), IN_DECODE), int(tokens.sum())
    for part in PARTS:
        yield from rows(IN_DECODE, float(np.exp(numbers[GPU])), str(part), count)
        yield from rows(LEAN[IN_DECODE], numbers[LEAN_GPU], str(part), count)
    for name in (*cases.timed[0].traits, THIN):
        factor = float(np.exp(numbers[f"{TRAIT}{name}"]))
        yield from rows(BY_TRAIT[IN_DECODE], factor, name, count)
    prompts = real & first
    half = float(np.quantile(np.abs(off[prompts]), COVERED))
    for part in PARTS:
        yield from rows(IN_PROMPT, half, str(part), int(prompts.sum()))
    yield from rows(BY_TRAIT[IN_PROMPT], 1.0, SEVERAL, int(prompts.sum()))
    yield from rows("sources", 0.0, "", 0)
    counts = dict.fromkeys((card.family for card in gpu_rows().values()), 0)
    counts |= {family: len(names) for family, names in publishers(cases).items()}
    for family, number in sorted(counts.items()):
        yield from rows("sources", float(number), family, number)


def _errors(cases: Cases[EngineCase], off: Floats, chosen: npt.NDArray[np.bool_]) -> Errors:
    """Errors of chosen cases, predicted without their publisher; all time is spent on GPUs."""
    none = np.full(len(off), "")
    every = Errors(
        off=off,
        new=off,
        kinds=none,
        groups=np.array(cases.groups),
        publishers=np.array([case.publisher for case in cases.timed]),
        backends=none,
        builds=none,
        on_gpu=np.ones(len(off)),
        traits=traits(cases),
        guessed=np.zeros(len(off)),
    )
    return every.of(chosen)


# Fit of all cases, published and simulated.

FAMILY, ENGINE, RELEASE = "family", "engine", "release"
SETTINGS = Settings(far=2.0, damping=0.9, farthest=0.5, rounds=10, close=0.03)
TABLE = DATA / "generated/engine_kernels.csv"
LEFT_OUT = DATA / "generated/engine_left_out.csv"
SOURCE = (
    "python -m lab on data/measurements/simulated_engines.csv, "
    "frameworks_more.csv, frameworks_2026.csv and offload_papers.csv"
)
SMALLEST = 0.03
"""Smallest logarithm of a factor that is written; smaller ones make no difference."""
FEWEST = 3
"""Fewest cases for a row of a family or engine; others use the row of all."""
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
    """Fit of all cases, each predicted without its publisher, simulated ones without their model
    and GPU alike.
    """
    cases = Cases((*simulated(), *published()))
    fit = fitted(cases, SERVING_ENGINES, SETTINGS)
    clusters = [
        case.publisher if case.evidence == PUBLISHED else case.group for case in cases.timed
    ]
    off = np.vecdot(fit.slopes, without_clusters(fit, clusters) - fit.logs)
    return HeldOut(fit=fit, predicted=np.exp(fit.here + off))


def constants() -> Iterator[ConstantRow]:
    """Rows of data/generated/engine_kernels.csv."""
    done = fitted_engines()
    yield from _constants(done.fit)
    yield from spread_rows(done)


def _constants(fit: Fit) -> Iterator[ConstantRow]:
    """Rows of each constant: for all, then for families and engines that differ."""
    rows: dict[tuple[str, str, str], ConstantRow] = {}
    for name, parameter in parameters(SERVING_ENGINES).items():
        if RELEASE in parameter.factors:
            yield from _releases(fit, parameter)
            continue
        families = _values(fit, name, FAMILY)
        if FAMILY in parameter.factors:
            families = sorted({*families, *chain.from_iterable(OLDER)})
        for engine in (*_values(fit, name, ENGINE), "") if parameter.width else ():
            for family in (*families, ""):
                rows[name, engine, family] = _row(fit, parameter, engine, family)
    ordered = ordered_formats(ordered_generations(rows))
    for row in ordered.values():
        yield from _shared(row, ordered)
    yield ConstantRow(
        constant="peer_sharing", family="NVLink", value=0.0, unit="ratio", kind="derived",
        source="each GPU has links of its own", date=DATE,
        note="time that each further GPU adds to a sum of long vectors",
    )  # fmt: skip


FORMAT_ORDER = (("f16", "fp8", 0.55), ("fp8", "nvfp4", 0.65))
"""A format, the next smaller one, and the smallest ratio of the smaller one's share of bandwidth to
its own. The smaller has about half the bytes, so fewer bits are not predicted slower."""
OWN_PEAK = {
    "fp8": ("Ada", "Hopper", "Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
    "nvfp4": ("Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
}  # fmt: skip
"""Generations that multiply a format natively, at twice the peak; others reach the same share of
the same peak as with more bits."""


def ordered_formats(rows: Rows) -> Rows:
    """Rows with shares raised so that fewer bits are not slower in the same part of the model."""
    ordered = dict(rows)
    for part in ("dense", "experts"):
        for more, less, share in FORMAT_ORDER:
            for kind in ("read_share", "flop_share", "tile"):
                for (name, engine, family), row in list(ordered.items()):
                    if name == f"{part}_{less}_{kind}":
                        larger = _nearest(ordered, f"{part}_{more}_{kind}", engine, family)
                        value = _ordered(kind, row.value, larger, share, family in OWN_PEAK[less])
                        ordered[name, engine, family] = replace(row, value=rounded(value, 4))
    return ordered


def _ordered(kind: str, value: float, larger: float, share: float, own_peak: bool) -> float:
    """Share of a format, raised so that it is not slower than the next larger format."""
    if kind == "tile":
        return min(value, larger)
    return max(value, larger * (share if kind == "read_share" or own_peak else 1.0))


def _nearest(rows: Rows, name: str, engine: str, family: str) -> float:
    """Value of a constant for an engine and family, as `Constants` looks it up."""
    keys = ((name, engine, family), (name, "", family), (name, engine, ""), (name, "", ""))
    return next(rows[key].value for key in keys if key in rows)


def _values(fit: Fit, name: str, column: str) -> list[str]:
    """Families or engines with a row of their own: different enough, on enough cases."""
    return sorted(
        scope[0][1]
        for (constant, scope), log, rows in zip(fit.task.terms, fit.logs, fit.rows, strict=True)
        if constant == name
        and scope
        and scope[0][0] == column
        and abs(log) >= SMALLEST
        and rows >= FEWEST
    )


def _row(fit: Fit, parameter: Parameter, engine: str, family: str) -> ConstantRow:
    name = parameter.name
    terms = ((name, ((ENGINE, engine),)), (name, ((FAMILY, family),)))
    at = [*(fit.at[term] for term in terms if term in fit.at), fit.at[name, ()]]
    value = float(limited(np.exp(fit.logs[at].sum()), parameter))
    rows = int(min(fit.rows[at]))
    spread = float(np.sqrt(np.sum(fit.spreads[at] ** 2)))
    constant, _, link = name.partition(" ")
    return fitted_row(
        SOURCE, constant, rounded(value, 4), parameter.unit, rows, parameter.note, spread,
        runtime=engine, family=family or link,
    )  # fmt: skip


def _shared(row: ConstantRow, rows: Rows) -> Iterable[ConstantRow]:
    """Rows of serving engines without their own, for constants that other runtimes also have."""
    if row.constant not in SHARED or row.runtime:
        return (row,)
    own = {engine for name, engine, _ in rows if name == row.constant}
    return tuple(replace(row, runtime=key) for key in SERVING if key not in own)


def _releases(fit: Fit, parameter: Parameter) -> Iterator[ConstantRow]:
    """Rows of releases: factor on the time of earlier years, 1 for today's."""
    yield ConstantRow(
        constant=parameter.name, value=1.0, unit="share", kind="derived", source="by definition",
        date=DATE, note=parameter.note,
    )  # fmt: skip
    for (name, scope), at in sorted(fit.at.items()):
        if name == parameter.name and scope:
            yield fitted_row(
                SOURCE, name, rounded(np.exp(fit.logs[at]), 4), FACTOR, int(fit.rows[at]),
                parameter.note, fit.spreads[at], build=scope[0][1],
            )  # fmt: skip


def left_out() -> Iterator[EngineLeftOutRow]:
    """Rows of data/generated/engine_left_out.csv."""
    done = fitted_engines()
    cases = done.fit.task.cases
    reached = traits(cases)
    for at, (case, predicted) in enumerate(zip(cases.timed, done.predicted.tolist(), strict=True)):
        yield EngineLeftOutRow(
            id=case.id,
            group=case.group,
            evidence=case.evidence,
            seconds=rounded(case.seconds, 5),
            predicted=rounded(predicted, 5),
            tokens=rounded(case.tokens, 5),
            experts=float(case.experts),
            **{name: rounded(values[at], 3) for name, values in reached.items()},
        )
