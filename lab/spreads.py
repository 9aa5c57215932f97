"""80 % ranges, fitted to errors of predictions made without each row's publisher.

Their shape, half widths by part and widening factors, minimizes the interval score: the width of
the range, plus 2 / (1 - 0.8) times the distance of a row outside it (Gneiting and Raftery 2007,
equation 43), every publisher with the same weight. Their level is set by publishers by whom no
parameter was chosen (`roles.py`), so that a range holds 80 % of the rows of a group never seen:
conformal prediction by group (Dunn, Wasserman and Ramdas 2018; Lee, Barber and Willett 2023), each
group with the same weight, and one group more than there are outside. Too fast and too slow count
alike. The range of a model whose kinds of layers nobody timed together is that which holds as many
rows predicted without their whole architecture. Builds of `OWN_WIDTHS` then get a width of their
own.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import ON_GPU, FixedTime
from advisor.cost_model.uncertainty import Margins, joined_name
from advisor.model.architecture import operators
from advisor.model.model import Floats
from advisor.runtimes import IK_LLAMA_CPP, MLX
from lab import rounded
from lab.fit import fitted_row
from lab.held_out import READ
from lab.llama_cpp import APART, OWN, SOURCE, LlamaFit, left_out_with, whole_architectures
from lab.published import published_rows
from lab.roles import set_widths
from lab.stack import Cases, CaseStack

Mask = npt.NDArray[np.bool_]


UNNAMED: Any = np.str_()
NONE: Any = np.float64(0.0)
ALL: Any = np.float64(1.0)  # columns by which rows do not differ; they become arrays in `Errors.of`


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Errors of rows predicted without their source; arrays of shape (rows,)."""

    off: Floats  # log(measured speed / predicted speed), predicted without the publisher
    new: Floats = NONE  # the same, predicted without any model of the same kinds of layers
    # these kinds as one name; empty where they are too common to be left out
    kinds: npt.NDArray[np.str_] = UNNAMED
    groups: npt.NDArray[np.str_]  # group of each row: publisher and hardware
    # publisher of each row; for LocalScore, with its many people, the group
    publishers: npt.NDArray[np.str_]
    backends: npt.NDArray[np.str_] = UNNAMED  # backend of the runtime
    builds: npt.NDArray[np.str_] = UNNAMED  # build of the runtime
    on_gpu: Floats = ALL  # share of the time of GPUs and their link; the rest is the processor's
    of_cards: Floats = ALL  # share of the time of the GPUs' own work
    of_starts: Floats = NONE  # share of the time of starting their kernels
    traits: Mapping[str, Floats]  # degree to which each of `uncertainty.TRAITS` applies, 0 to 1
    guessed: Floats = NONE  # 1 where the RAM rate is not known, else 0

    def of(self, rows: Mask) -> "Errors":
        """Errors of some of the rows."""

        def some(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.broadcast_to(column, rows.shape)[rows]

        names = (field.name for field in fields(self) if field.name != "traits")
        traits = {name: some(values) for name, values in self.traits.items()}
        return Errors(traits=traits, **{name: some(getattr(self, name)) for name in names})

    @cached_property
    def weights(self) -> Floats:
        """Weights, with the number of publishers as sum: every publisher weighs the same, and of
        its machines each.
        """
        return equal_weights(self.publishers, self.groups)

    def groups_of(self, rows: Mask) -> int:
        """Number of groups among some rows."""
        return len(set(self.groups[rows].tolist()))


def equal_weights(publishers: npt.NDArray[np.str_], groups: npt.NDArray[np.str_]) -> Floats:
    """Weight of each row: 1 over the rows of its group and the groups of its publisher."""
    rows = pd.DataFrame({"publisher": publishers, "group": groups})
    sizes = rows.groupby("group")["group"].transform("size")
    machines = rows.groupby("publisher")["group"].transform("nunique")
    return np.asarray(1.0 / (sizes * machines))


def errors(done: LlamaFit, taught: Cases | None = None) -> Errors:
    """Errors of all rows, predicted by the fit without their publisher; where `taught` is given,
    only these rows' publishers count as evidence.
    """
    rows = done.fit.task.cases
    constants = done.fit.task.values(done.fit.logs)
    few = other_evidence(rows, taught)
    columns = defaultdict[str, Floats](lambda: np.ones(len(rows.timed)))
    for part in rows.stacks:
        run = circumstances_of(rows, part, few)
        time = part.time(rows.columns(constants, part))
        columns["on_gpu"][part.at] = uncertainty.on_gpu(time, run)
        columns["of_cards"][part.at] = uncertainty.of_cards(time, run)
        columns["of_starts"][part.at] = uncertainty.of_starts(time, run)
        columns["guessed"][part.at] = run.unmeasured[Route.IN_PLACE]
        for trait, degrees in run.traits.items():
            columns[trait][part.at] = degrees
    return Errors(
        off=np.log(done.predicted / rows.seconds),
        new=np.log(done.without_kinds / rows.seconds),
        kinds=np.array(whole_architectures(rows)),
        groups=np.array(rows.groups),
        publishers=np.array(left_out_with(rows)),
        backends=rows.column("backend"),
        builds=rows.column("build"),
        on_gpu=columns["on_gpu"],
        of_cards=columns["of_cards"],
        of_starts=columns["of_starts"],
        traits={trait: columns[trait] for trait in uncertainty.TRAITS if trait in columns},
        guessed=columns["guessed"],
    )


def circumstances_of(
    rows: Cases, part: CaseStack, few: Mapping[str, Floats]
) -> uncertainty.Circumstances:
    """Circumstances that widen the ranges of rows of the same shape."""
    read = rows.read[part.at]
    gpus = len(part.machine.gpus)
    timed = [rows.timed[place] for place in part.at]
    works = [row.case.prompt if row.timed == READ else row.case.work for row in timed]
    fresh = np.where(read, [float(work.fresh) for work in works], np.inf)
    degrees = {trait: values[part.at] for trait, values in few.items()}
    return uncertainty.Circumstances(
        on_gpu=bool(gpus),
        traits={
            **degrees,
            uncertainty.THIN: degrees[uncertainty.THIN] * bool(gpus),
            uncertainty.SEVERAL: np.full(len(timed), float(gpus > 1)),
            uncertainty.TOGETHER: np.array([float(np.all(work.users > 1)) for work in works]),
            uncertainty.SERVED: read * np.array([float(not work.bench) for work in works]),
            uncertainty.SHORT: np.asarray(uncertainty.shortness(fresh)),
        },
        unmeasured={str(Route.IN_PLACE): np.where(part.ram_stated, 0.0, 1.0)},
    )


def other_evidence(rows: Cases, taught: Cases | None = None) -> Mapping[str, Floats]:
    """Degrees of the traits that count publishers, without each row's own, of shape (rows,)."""
    counted = layer_publishers(taught or rows)
    by_family = sources(taught or rows)
    families, rare, unseen = np.zeros((3, len(rows.timed)))
    for place, (row, own) in enumerate(zip(rows.timed, left_out_with(rows), strict=True)):
        kinds = operators(row.case.model.architecture)
        backend = row.scope["backend"]
        by_kind = [counted.get((kind, backend), set()) for kind in kinds]
        families[place] = len(by_family.get(row.scope["family"], set()) - {row.publisher})
        rare[place] = min((len(names - {own}) for names in by_kind), default=0)
        unseen[place] = len(counted.get((joined_name(kinds), ""), set()) - {own})
    return {
        uncertainty.THIN: uncertainty.rarity(families),
        uncertainty.OPERATOR: uncertainty.rarity(rare),
        uncertainty.NEW: uncertainty.rarity(unseen),
    }


def layer_publishers(rows: Cases) -> Mapping[tuple[str, str], Set[str]]:
    """Publishers of each kind of layer by backend, and of kinds together on any backend ("")."""
    counted = defaultdict[tuple[str, str], set[str]](set)
    for row, publisher in zip(rows.timed, left_out_with(rows), strict=True):
        kinds = operators(row.case.model.architecture)
        for key in ((joined_name(kinds), ""), *((kind, row.scope["backend"]) for kind in kinds)):
            counted[key].add(publisher)
    return counted


def sources(rows: Cases) -> Mapping[str, Set[str]]:
    """Sources with a GPU of each family, without those of the builds in `APART`."""
    by_family = defaultdict[str, set[str]](set)
    for row in rows.timed:
        if row.scope["family"] and row.scope["build"] not in APART:
            by_family[row.scope["family"]].add(row.publisher)
    return by_family


# Coordinate descent: minimum of a function of a few numbers, deterministic and without gradients.
#
# Losses of ranges have a kink wherever a row enters or leaves a range, so gradients do not help.

Numbers = Mapping[str, float]

# first step tried, and the step below which the search ends
FIRST = 0.4
LAST = 0.004
ROUNDS = 80


def least(
    loss: Callable[[Numbers], float], start: Numbers, limits: Mapping[str, tuple[float, float]]
) -> Numbers:
    """Numbers with the smallest loss near the start.

    Each number in turn is moved by its step to either side; a step that lowers the loss grows, else
    it is halved.
    """
    here = dict(start)
    best = loss(here)
    steps = dict.fromkeys(here, FIRST)
    for _ in range(ROUNDS):
        for name in here:
            low, high = limits.get(name, (-np.inf, np.inf))
            for step in (steps[name], -steps[name]):
                there = {**here, name: float(np.clip(here[name] + step, low, high))}
                tried = loss(there)
                if tried < best:
                    here = there
                    best = tried
                    steps[name] *= 1.3
                    break
            else:
                steps[name] /= 2.0
        if max(steps.values()) < LAST:
            break
    return here


COVERED = 0.8
MANY_GROUPS = 12
"""Fewest publishers without another role by whom a level is set; with fewer all publishers set
it."""
SHRINKING = 2.0
"""Penalty on the square of a factor's logarithm, in groups; keeps factors with few groups near
1."""
UNMEASURED = (Route.RESIDENT, FixedTime.LAYERS, FixedTime.TOKEN, FixedTime.CROSSINGS)
FEW = 3  # fewest groups of a backend with a factor of its own
ASSUMED = {
    **{
        ("spread_unmeasured", part): 0.0
        for part in (Route.RESIDENT, FixedTime.LAYERS, FixedTime.TOKEN, FixedTime.CROSSINGS)
    },
    (Margins.IN_DECODE, Route.PAGED): 0.6,
    (Margins.IN_PROMPT, Route.PAGED): 0.6,
    (Margins.IN_PROMPT, Route.STAGED): 0.6,
    ("spread_unmeasured", Route.STREAMED): 0.15,
    ("spread_unmeasured", Route.PAGED): 0.5,
    ("spread_unmeasured", Route.STAGED): 0.4,
}
"""Half widths of parts without rows of llama.cpp, from published link and drive rates; assumed."""
OWN_WIDTHS = (*APART, MLX.build, IK_LLAMA_CPP.build)
"""Builds with a width of their own: LocalScore, on unprepared machines; MLX, with few measurements;
ik_llama.cpp, many of whose rows time a change under review."""
ON_GPUS = (IK_LLAMA_CPP.build,)
"""Those of them that have a width of their own on GPUs alone: ik_llama.cpp's errors on processors
are like llama.cpp's, and few rows of that time a prompt there."""
GPU = "gpu"
STARTS = "starts"
CPU = "cpu"
GUESSED = "guessed"
"""Names of the fitted numbers: logarithms of half widths of what GPUs move and compute, of starting
their kernels and of cores, and the extra half width of a guessed RAM rate."""
BACKEND = "backend "
BUILD = "build "
BUILD_IN_RAM = "build in RAM "
TRAIT = "by "
"""Prefixes of the names of factors' logarithms; a build has one for GPUs and one for RAM."""


OWN_TO_LLAMA_CPP = {"spread_by": 1.0, "spread_prompt_by": 1.0}
"""Constants of ranges that are fitted for llama.cpp and its forks, with their neutral values for
other runtimes: factors of 1."""
ENGINES_OF_LLAMA_CPP = ("llama.cpp", "ollama", "lm-studio")  # runtimes with the ranges of llama.cpp
OF_ALL = {
    "spread_by": (uncertainty.THIN, uncertainty.SEVERAL),
    "spread_prompt_by": (uncertainty.SEVERAL,),
}
"""Traits that widen the ranges of every runtime, by constant. A rare GPU widens first tokens of
llama.cpp alone: those of serving engines have widths of their own, set on the same rare cards."""
RANGE_NOTE = "80 % range, as the logarithm of a factor"
NOTES = {
    **dict.fromkeys(
        uncertainty.BY_TRAIT.values(), "80 % range of runs like this, as a factor on its half width"
    ),
}
"""Notes of the constants; others have `RANGE_NOTE`."""
_row = partial(fitted_row, SOURCE)


DIFFER = 0.3  # standard deviation of a publisher's error, as a logarithm
SHIFT = 0.1
"""Standard deviation of what publishers of a backend have in common: the median of n groups counts
n / (n + 9)."""
TODAY = ""  # build of today's kernels


@dataclass(frozen=True)
class Centre:
    """What strangers of a backend have in common."""

    slower: float  # factor on the GPUs' own part of a token's time
    groups: int  # groups that set it


NOWHERE = Centre(1.0, 0)


def centres(off: Errors) -> Mapping[str, Centre]:
    """Factor on the GPUs' own part of a token's time by backend: the median of the groups of
    publishers that set widths, on today's builds, held near 1 where they are few.
    """
    judges = set_widths(off.publishers.tolist()) & (off.builds == TODAY) & (off.on_gpu > 0.5)
    slow = pd.DataFrame({"backend": off.backends, "group": off.groups, "off": -off.off})[judges]
    by_backend: dict[str, Centre] = {}
    for backend, rows in slow.groupby("backend"):
        middle = rows.groupby("group").off.median()
        if len(middle) >= FEW:
            counts = len(middle) / (len(middle) + (DIFFER / SHIFT) ** 2)
            slower = float(np.exp(counts * middle.median()))
            by_backend[str(backend)] = Centre(slower, len(middle))
    return by_backend


def centred(done: LlamaFit) -> tuple[LlamaFit, Mapping[str, Centre]]:
    """Fit with its predictions of tokens centred on strangers, and the factors."""
    every = errors(done)
    tokens = ~done.fit.task.cases.read
    by_backend = centres(every.of(tokens))
    slower = np.array([by_backend.get(name, NOWHERE).slower for name in every.backends.tolist()])
    applies = tokens & (every.builds == TODAY)
    factor = np.where(applies, 1.0 + every.of_cards * (slower - 1.0), 1.0)
    return replace(
        done, predicted=done.predicted * factor, without_kinds=done.without_kinds * factor
    ), by_backend


def centre_rows(by_backend: Mapping[str, Centre], builds: Iterable[str]) -> Iterator[ConstantRow]:
    """Rows of the centres of today's builds; those of others stay where benches are."""
    note = "GPUs' own part of a token's time on strangers' machines beside that on benches'"
    yield _row("centre", 1.0, "ratio", 0, f"{note}: the same where nobody set it")
    others = sorted(set(builds) - {TODAY})
    for runtime in ENGINES_OF_LLAMA_CPP:
        for backend, centre in sorted(by_backend.items()):
            scope = {"runtime": runtime, "backend": backend}
            spread = DIFFER / math.sqrt(centre.groups + (DIFFER / SHIFT) ** 2)
            yield _row("centre", centre.slower, "ratio", centre.groups, note, spread, **scope)
            for build in others:
                yield _row("centre", 1.0, "ratio", 0, note, build=build, **scope)


def range_rows(done: LlamaFit) -> Iterator[ConstantRow]:
    """Rows of all constants of llama.cpp's ranges, with the evidence that they count."""
    for constant, neutral in OWN_TO_LLAMA_CPP.items():
        note = f"{NOTES[constant]}: the same for all where nothing is fitted"
        yield _row(constant, neutral, "share", 0, note)
    rows = done.fit.task.cases
    every = errors(done)
    yield from fitted(every.of(~rows.read), Margins.IN_DECODE)
    yield from fitted(every.of(rows.read), Margins.IN_PROMPT)
    for (constant, part), value in ASSUMED.items():
        yield from _rows(constant, value, 0, family=part)
    note = "sources that measured a GPU of the family"
    yield _row("sources", 0.0, "count", 0, note)
    for family, urls in sources(rows).items():
        yield _row("sources", float(len(urls)), "count", len(urls), note, family=family)
    yield from _publisher_rows(layer_publishers(rows))
    yield _timed_row()


def _rows(
    constant: str, value: float, count: int, unit: str = "share", **scope: str
) -> Iterator[ConstantRow]:
    """Rows of a constant of the ranges, one for each runtime that has its own."""
    own = constant in OWN_TO_LLAMA_CPP and scope.get("family") not in OF_ALL[constant]
    note = NOTES.get(constant, RANGE_NOTE)
    for runtime in ENGINES_OF_LLAMA_CPP if own else ("",):
        yield _row(constant, rounded(value, 3), unit, count, note, runtime=runtime, **scope)


NOBODY_COUNTED = 1000.0
"""Publishers of a kind of layer in runtimes for which none are counted: it widens no range."""


def _publisher_rows(counted: Mapping[tuple[str, str], Set[str]]) -> Iterator[ConstantRow]:
    note = "publishers who timed layers of a kind"
    yield _row(
        uncertainty.PUBLISHERS, NOBODY_COUNTED, "count", 0, f"{note}: not counted in other runtimes"
    )
    for runtime in ENGINES_OF_LLAMA_CPP:
        yield _row(uncertainty.PUBLISHERS, 0.0, "count", 0, note, runtime=runtime)
        for (kind, backend), names in sorted(counted.items()):
            words = f"publishers who timed {kind}" + (f" on {backend}" if backend else ", together")
            scope = {"family": kind, "runtime": runtime, "backend": backend}
            yield _row(
                uncertainty.PUBLISHERS, float(len(names)), "count", len(names), words, **scope
            )


def _timed_row() -> ConstantRow:
    """Half width of ranges on a machine where llama.cpp was timed, from the errors there."""
    runs = [row.cells for row in published_rows(OWN) if row.category == "cpu"]
    off = [math.log(float(run["predicted_tps"]) / float(run["tg_tps"])) for run in runs]
    value = rounded(np.quantile(np.abs(off), COVERED), 3)
    note = "80 % range where llama.cpp was timed, as the logarithm of a factor"
    source = f"python -m lab on data/measurements/{OWN.name}"
    return fitted_row(source, "spread_timed", value, "share", len(runs), note)


def half_widths(off: Errors, numbers: Numbers) -> Floats:
    """Half width of each row's range, by the formula of `uncertainty.half_width`."""
    backend = _factor(off.backends, numbers, BACKEND)
    on_gpu = backend * _factor(off.builds, numbers, BUILD)
    moving = on_gpu * np.exp(numbers[GPU])
    starting = on_gpu * np.exp(numbers.get(STARTS, numbers[GPU]))
    read = backend * _factor(off.builds, numbers, BUILD_IN_RAM) * np.exp(numbers[CPU])
    in_ram = np.hypot(read, off.guessed * numbers.get(GUESSED, 0.0))
    half = (
        (off.on_gpu - off.of_starts) * moving
        + off.of_starts * starting
        + (1.0 - off.on_gpu) * in_ram
    )
    traits = uncertainty.degrees(off.traits, off.on_gpu)
    factors = {trait: np.exp(numbers.get(f"{TRAIT}{trait}", 0.0)) for trait in traits}
    half = uncertainty.widened(half, factors, traits)
    return np.asarray(half)


def _factor(names: npt.NDArray[np.str_], numbers: Numbers, beginning: str) -> Floats:
    """Factor of each row by its backend or build, shape (rows,)."""
    factor = np.ones(len(names))
    for name, value in numbers.items():
        if name.startswith(beginning):
            own = names == name.removeprefix(beginning)
            factor = factor * np.where(own, np.exp(value), 1.0)
    return factor


WIDER = (
    uncertainty.THIN, uncertainty.SEVERAL, uncertainty.TOGETHER, uncertainty.OPERATOR,
    uncertainty.SERVED, uncertainty.SHORT,
)  # fmt: skip
"""Traits that widen a range and never narrow it."""
MOST_WIDER = np.log(2.5)
"""Logarithm of the largest factor by which one trait or build widens a range."""
USUAL = 0.3  # half width at the start of the search, and unit of the loss


def widths(off: Errors, constant: str) -> dict[str, float]:
    """Numbers with the best interval score, scaled to the level of strangers.

    Traits of runs with little evidence (few sources, several GPUs, several users, guessed RAM rate)
    may widen a range, never narrow it.
    """
    start = {name: float(np.log(USUAL)) for name in (GPU, STARTS, CPU)}
    start |= {
        f"{TRAIT}{trait}": 0.0
        for trait in (*off.traits, uncertainty.SPLIT)
        if trait != uncertainty.NEW
    }
    backends = sorted({*off.backends.tolist()} - {"", "cpu"})
    many = (name for name in backends if off.groups_of(off.backends == name) >= FEW)
    start |= {f"{BACKEND}{name}": 0.0 for name in many}
    limits: dict[str, tuple[float, float]]
    limits = {f"{TRAIT}{trait}": (0.0, MOST_WIDER) for trait in WIDER}
    if constant == Margins.IN_DECODE:
        start[GUESSED] = USUAL
        limits[GUESSED] = (0.0, np.inf)
    best = dict(least(lambda numbers: _score(off, numbers), start, limits))
    scale = level(off, half_widths(off, best))
    scaled = {name: best[name] + np.log(scale) for name in (GPU, STARTS, CPU)}
    if GUESSED in best:
        scaled[GUESSED] = best[GUESSED] * scale
    return best | scaled


def level(off: Errors, half: Floats) -> float:
    """Factor on half widths at which they hold `COVERED` of the rows of a group never seen, by the
    publishers that set widths, where they are `MANY_GROUPS`, else by all.

    The share of n groups is multiplied by n / (n + 1): the next one counts as if none of its rows
    were within range.
    """
    judges = set_widths(off.publishers.tolist())
    if len(set(off.publishers[judges].tolist())) < MANY_GROUPS:
        judges = np.ones(len(half), dtype=bool)
    own = off.of(judges)
    count = len(set(own.publishers.tolist()))
    aimed = min(COVERED * (count + 1.0) / count, 1.0)
    return _scale(own.off, half[judges], own.weights, aimed)


def _score(off: Errors, numbers: Numbers) -> float:
    half = half_widths(off, numbers)
    outside = np.maximum(np.abs(off.off) - half, 0.0)
    score = 2.0 * half + outside * 2.0 / (1.0 - COVERED)
    factors = sum(value**2 for name, value in numbers.items() if name.startswith((TRAIT, BACKEND)))
    return float(np.sum(off.weights * score)) / (2.0 * USUAL) + SHRINKING * factors


def _scale(
    off: Floats, half: Floats, weights: Floats, aimed: float, low: float = 0.1, high: float = 10.0
) -> float:
    """Smallest factor on half widths at which enough rows are within range, by bisection."""
    for _ in range(40):
        middle = (low + high) / 2.0
        enough = np.average(np.abs(off) <= middle * half, weights=weights) >= aimed
        low, high = (low, middle) if enough else (middle, high)
    return high


MOST_UNSEEN = 4.0  # largest factor on the range of a model of new kinds of layers


def unseen_factor(off: Errors, numbers: Numbers, aimed: float = COVERED) -> float:
    """Factor on the range of a model whose kinds of layers nobody timed together.

    The smallest that holds `aimed` of the rows predicted without their architecture;
    every architecture weighs the same.
    """
    new = off.of(off.kinds != "")
    if not len(new.off):
        return 1.0
    weights = equal_weights(new.kinds, np.char.add(np.char.add(new.kinds, " "), new.publishers))
    return _scale(new.new, half_widths(new, numbers), weights, aimed, 1.0, MOST_UNSEEN)


def fitted(off: Errors, constant: str) -> Iterator[ConstantRow]:
    """Rows of the constants of the ranges of tokens or prompts."""
    gpu = off.on_gpu > 0.5
    usual = np.isin(off.builds, OWN_WIDTHS, invert=True)
    usual |= np.isin(off.builds, ON_GPUS) & ~gpu
    numbers = dict(widths(off.of(usual), constant))
    count = int(usual.sum())
    numbers[f"{TRAIT}{uncertainty.NEW}"] = float(np.log(unseen_factor(off.of(usual), numbers)))
    parts: dict[str, str] = dict.fromkeys(ON_GPU, GPU)
    parts.update(dict.fromkeys(uncertainty.STARTS, STARTS))
    parts[Route.IN_PLACE] = CPU
    for part, half in parts.items():
        yield from _rows(constant, np.exp(numbers[half]), count, family=part)
    if GUESSED in numbers:
        yield from _rows("spread_unmeasured", numbers[GUESSED], count, family=Route.IN_PLACE)
    backends = {name: value for name, value in numbers.items() if name.startswith(BACKEND)}
    for name, value in backends.items():
        backend = name.removeprefix(BACKEND)
        yield from _rows(constant, np.exp(value), count, FACTOR, backend=backend)
    numbers[f"{TRAIT}{uncertainty.UNKNOWN}"] = max(backends.values(), default=0.0)
    for name, value in numbers.items():
        if name.startswith(TRAIT):
            trait = name.removeprefix(TRAIT)
            yield from _rows(uncertainty.BY_TRAIT[constant], np.exp(value), count, family=trait)
    for build in OWN_WIDTHS:
        rows = (off.builds == build) & (gpu | (build not in ON_GPUS))
        if rows.any():
            yield from _apart(off.of(rows), numbers, constant, build)


MANY = 10  # fewest groups of a build whose range may be narrower than that of others


def _apart(off: Errors, numbers: Numbers, constant: str, build: str) -> Iterator[ConstantRow]:
    """Factors of a build of `OWN_WIDTHS`, so that `COVERED` of its rows are within range; it shares
    all other constants.
    """
    gpu = off.on_gpu > 0.5
    sides: dict[str, tuple[Mask, Sequence[str]]]
    sides = {f"{BUILD}{build}": (gpu, ON_GPU)}
    if build not in ON_GPUS:
        sides[f"{BUILD_IN_RAM}{build}"] = ~gpu, (Route.IN_PLACE,)
    limits = {
        name: (-np.inf if off.groups_of(rows) >= MANY else 0.0, MOST_WIDER)
        for name, (rows, _) in sides.items()
    }
    timed = {name: rows for name, (rows, _) in sides.items() if rows.any()}
    best = least(lambda tried: _score(off, {**numbers, **tried}), dict.fromkeys(timed, 0.0), limits)
    own = {**dict.fromkeys(sides, 0.0), **best}
    half = half_widths(off, {**numbers, **own})
    for name, rows in timed.items():
        scale = level(off.of(rows), half[rows])
        own[name] = float(np.clip(own[name] + np.log(scale), *limits[name]))
    for name, (rows, parts) in sides.items():
        for part in parts:
            value = np.exp(own[name])
            yield from _rows(constant, value, int(rows.sum()), FACTOR, family=part, build=build)
