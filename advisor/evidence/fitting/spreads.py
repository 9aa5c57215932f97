"""80 % ranges from what rows were predicted without their source.

Half widths, what they are wider by and how they lean are those with the best interval score: the
width of the ranges, and what lies outside of them five times over for each tenth that may (Gneiting
and Raftery 2007, equation 43). A row counts half by itself and half by its group, so that neither
sweeps nor single runs decide. Builds of `OWN_WIDTHS` get a width and a lean of their own
afterwards.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import (
    BY_TRAIT,
    ENOUGH,
    IN_DECODE,
    IN_PROMPT,
    LEAN,
    SPLIT,
    TRAITS,
    UNKNOWN,
    Circumstances,
)
from advisor.evidence.fitting.descent import Numbers, least
from advisor.evidence.fitting.llama_cpp_fit import APART, Fit, Problem
from advisor.evidence.fitting.llama_cpp_rows import READ, Alike, Rows
from advisor.evidence.published.sources import source_of
from advisor.model.model import Floats
from advisor.runtimes import MLX

COVERED = 0.8
AIMED = 0.82
"""Share of rows in hand that ranges hold, of which four in five are left on sources not in hand
(sources left out of this fit in turn, by eight folds)."""
SHRINKING = 2.0
"""What the square of a factor's logarithm costs, in groups: factors that few groups speak for stay
near 1."""
FEW = 3
"""Groups that a backend's or a build's own factor needs."""
ASSUMED = {
    **{("spread_unmeasured", part): 0.0 for part in (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)},
    (IN_DECODE, Route.PAGED): 0.6,
    (IN_PROMPT, Route.PAGED): 0.6,
    (IN_PROMPT, Route.STAGED): 0.6,
    ("spread_unmeasured", Route.STREAMED): 0.15,
    ("spread_unmeasured", Route.PAGED): 0.5,
    ("spread_unmeasured", Route.STAGED): 0.4,
}
"""Parts without rows of llama.cpp: published link and drive rates beside theory."""
OWN_WIDTHS = (*APART, MLX.build)
"""Builds whose ranges have a width and a lean of their own: LocalScore's machines are as their
owners left them, and few have timed MLX."""
GPU, CPU, GUESSED, LEAN_GPU, LEAN_CPU = "gpu", "cpu", "guessed", "lean gpu", "lean cpu"
"""Numbers sought: logarithms of half widths, the half width that a guessed RAM rate adds, leans."""
BACKEND, BUILD, BUILD_IN_RAM, TRAIT = "backend ", "build ", "build in RAM ", "by "
"""Beginnings of the names of factors' logarithms; a build has one for GPUs and one for RAM."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One constant of the ranges.

    Attributes:
        constant: as data/generated/efficiency.csv names it.
        scope: columns and values that it is for.
        value: half width as a logarithm, a factor on one, or a part of one.
        rows: behind it.
        factor: it multiplies others.
    """

    constant: str
    scope: Mapping[str, str]
    value: float
    rows: int
    factor: bool = False


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Rows beside what was predicted without their source; arrays of shape (rows,).

    Attributes:
        off: logarithms of measured speeds over predicted ones.
        groups: source and hardware.
        backends: the runtime's way to the GPU.
        builds: of the runtime.
        on_gpu: part of the time that GPUs and their link take; the processor takes the rest.
        traits: how far each of `uncertainty.TRAITS` holds.
        guessed: 1 where the RAM's rate is not known.
    """

    off: Floats
    groups: npt.NDArray[np.str_]
    backends: npt.NDArray[np.str_]
    builds: npt.NDArray[np.str_]
    on_gpu: Floats
    traits: Mapping[str, Floats]
    guessed: Floats

    def of(self, rows: Mask) -> "Errors":
        """Some of the rows."""
        return Errors(
            off=self.off[rows],
            groups=self.groups[rows],
            backends=self.backends[rows],
            builds=self.builds[rows],
            on_gpu=self.on_gpu[rows],
            traits={name: values[rows] for name, values in self.traits.items()},
            guessed=self.guessed[rows],
        )

    @cached_property
    def weights(self) -> Floats:
        """Half by row and half by group; they add up to the number of groups."""
        sizes = Counter(self.groups.tolist())
        by_group = np.array([1.0 / sizes[group] for group in self.groups.tolist()])
        return by_group / 2.0 + len(sizes) / len(self.off) / 2.0

    def groups_of(self, rows: Mask) -> int:
        """Groups among some rows."""
        return len(set(self.groups[rows].tolist()))


def spreads(task: Problem, fit: Fit) -> tuple[Spread, ...]:
    """Every constant of the ranges of llama.cpp."""
    every = errors(task, fit)
    read = task.rows.read
    fitted_ones = (*fitted(every.of(~read), IN_DECODE), *fitted(every.of(read), IN_PROMPT))
    assumed = (
        Spread(constant=constant, scope={"family": part}, value=value, rows=0)
        for (constant, part), value in ASSUMED.items()
    )
    return (*fitted_ones, *assumed)


def errors(task: Problem, fit: Fit) -> Errors:
    """All rows beside what was predicted without their source."""
    rows = task.rows
    share = np.ones(len(rows.timed))
    guessed = np.zeros(len(rows.timed))
    traits = {trait: np.zeros(len(rows.timed)) for trait in TRAITS if trait not in (SPLIT, UNKNOWN)}
    few = (other_sources(rows) < ENOUGH).astype(float)
    for part, time in rows.steps(task.values(fit.values)):
        run = circumstances_of(rows, part, few)
        share[part.at] = uncertainty.on_gpu(time, run)
        guessed[part.at] = run.unmeasured[Route.IN_PLACE]
        for trait, values in traits.items():
            values[part.at] = run.traits[trait]
    return Errors(
        off=np.log(fit.held_out / rows.seconds),
        groups=np.array(rows.groups),
        backends=np.array([names["backend"] for names in rows.scopes]),
        builds=np.array([names["build"] for names in rows.scopes]),
        on_gpu=share,
        traits=traits,
        guessed=guessed,
    )


def circumstances_of(rows: Rows, part: Alike, few: Floats) -> Circumstances:
    """What the ranges of rows of one shape are wider by.

    Args:
        rows: all.
        part: those of one shape.
        few: 1 where few sources have a GPU of the family, by row of all.
    """
    timed = [rows.timed[place] for place in part.at]
    read = [row.timed == READ for row in timed]
    works = [
        row.case.prompt if prompt else row.case.work
        for row, prompt in zip(timed, read, strict=True)
    ]
    depths = [
        float(work.cached + work.fresh / 2.0 if prompt else work.decode_depth)
        for work, prompt in zip(works, read, strict=True)
    ]
    ones = np.ones(len(timed))
    return Circumstances(
        on_gpu=bool(part.machine.gpus),
        traits={
            uncertainty.EXPERTS: np.array([float(row.case.model.has_experts) for row in timed]),
            uncertainty.DEEP: np.asarray(uncertainty.depth_reached(np.array(depths))),
            uncertainty.THIN: few[part.at] if part.machine.gpus else 0.0 * ones,
            uncertainty.SEVERAL: float(len(part.machine.gpus) > 1) * ones,
            uncertainty.TOGETHER: np.array([float(np.all(work.users > 1)) for work in works]),
        },
        unmeasured={str(Route.IN_PLACE): np.where(part.ram_stated, 0.0, 1.0)},
    )


def other_sources(rows: Rows) -> Floats:
    """Sources with a GPU of the same family beside each row's own, shape (rows,)."""
    known = sources(rows)
    own = (source_of(timed.row.source_url) for timed in rows.timed)
    pairs = zip(rows.scopes, own, strict=True)
    return np.array([len(known.get(names["gpu"], frozenset()) - {url}) for names, url in pairs])


def sources(rows: Rows) -> Mapping[str, frozenset[str]]:
    """Sources with a GPU of each family, but for those of builds that stand apart."""
    by_family: dict[str, set[str]] = {}
    for names, timed in zip(rows.scopes, rows.timed, strict=True):
        if names["gpu"] and names["build"] not in APART:
            by_family.setdefault(names["gpu"], set()).add(source_of(timed.row.source_url))
    return {family: frozenset(urls) for family, urls in by_family.items()}


def ends(off: Errors, numbers: Numbers) -> tuple[Floats, Floats]:
    """How far each row's range reaches below and above, as `uncertainty.margins` has it.

    Args:
        off: rows.
        numbers: as `fitted` seeks them.
    """
    backend = _factor(off.backends, numbers, BACKEND)
    own = backend * _factor(off.builds, numbers, BUILD) * np.exp(numbers[GPU])
    read = backend * _factor(off.builds, numbers, BUILD_IN_RAM) * np.exp(numbers[CPU])
    in_ram = np.hypot(read, off.guessed * numbers.get(GUESSED, 0.0))
    half = off.on_gpu * own + (1.0 - off.on_gpu) * in_ram
    for trait, reached in {**off.traits, SPLIT: uncertainty.divided(off.on_gpu)}.items():
        counts = reached * (off.on_gpu if trait in uncertainty.OF_GPUS else 1.0)
        half = half * np.exp(numbers.get(f"{TRAIT}{trait}", 0.0) * counts)
    lean = off.on_gpu * numbers[LEAN_GPU] + (1.0 - off.on_gpu) * numbers[LEAN_CPU]
    return half * (1.0 + lean), half * (1.0 - lean)


def _factor(names: npt.NDArray[np.str_], numbers: Numbers, beginning: str) -> Floats:
    """The factor of each row by its backend or build, shape (rows,)."""
    factor = np.ones(len(names))
    for name, value in numbers.items():
        if name.startswith(beginning):
            own = names == name.removeprefix(beginning)
            factor = factor * np.where(own, np.exp(value), 1.0)
    return factor


def held(off: Errors, below: Floats, above: Floats) -> float:
    """Share of rows in range, half by row and half by group."""
    inside = (off.off >= -below) & (off.off <= above)
    return float(np.average(inside, weights=off.weights))


MOST_LEAN = 0.8
MOST_WIDER = np.log(2.5)
"""Logarithm of the largest factor by which one trait widens a range."""
USUAL = 0.3
"""Half width from which the search starts, and that losses are counted in."""


def widths(off: Errors, constant: str) -> dict[str, float]:
    """The numbers with the best interval score, scaled until `AIMED` of the rows are held.

    What widens a range by distance from evidence (few sources, several GPUs, several users, deep
    context, RAM guessed) never narrows it.
    """
    start = {GPU: np.log(USUAL), CPU: np.log(USUAL), LEAN_GPU: 0.0, LEAN_CPU: 0.0}
    start |= {f"{TRAIT}{trait}": 0.0 for trait in (*off.traits, SPLIT)}
    start |= {f"{BACKEND}{name}": 0.0 for name in _named(off, off.backends) if name != "cpu"}
    limits = {LEAN_GPU: (-MOST_LEAN, MOST_LEAN), LEAN_CPU: (-MOST_LEAN, MOST_LEAN)}
    wider = (uncertainty.THIN, uncertainty.SEVERAL, uncertainty.TOGETHER, uncertainty.DEEP)
    limits |= {f"{TRAIT}{trait}": (0.0, MOST_WIDER) for trait in wider}
    if constant == IN_DECODE:
        start[GUESSED], limits[GUESSED] = USUAL, (0.0, np.inf)
    best = dict(least(lambda numbers: _score(off, numbers), start, limits))
    below, above = ends(off, best)
    scale = _scale(off, below, above)
    scaled = {name: best[name] + np.log(scale) for name in (GPU, CPU)}
    if GUESSED in best:
        scaled[GUESSED] = best[GUESSED] * scale
    return best | scaled


def _named(off: Errors, names: npt.NDArray[np.str_]) -> Iterator[str]:
    """Names that some groups have, in order."""
    for name in sorted(set(names.tolist())):
        if name and off.groups_of(names == name) >= FEW:
            yield name


def _score(off: Errors, numbers: Numbers) -> float:
    below, above = ends(off, numbers)
    outside = np.maximum(-off.off - below, 0.0) + np.maximum(off.off - above, 0.0)
    score = below + above + outside * 2.0 / (1.0 - COVERED)
    factors = sum(value**2 for name, value in numbers.items() if name.startswith((TRAIT, BACKEND)))
    return float(np.sum(off.weights * score)) / (2.0 * USUAL) + SHRINKING * factors


def _scale(off: Errors, below: Floats, above: Floats, aimed: float = AIMED) -> float:
    """The factor on all widths with which enough are held, by bisection."""
    low, high = 0.1, 10.0
    for _ in range(40):
        middle = (low + high) / 2.0
        enough = held(off, middle * below, middle * above) >= aimed
        low, high = (low, middle) if enough else (middle, high)
    return high


def fitted(off: Errors, constant: str) -> Iterable[Spread]:
    """Constants of the ranges of tokens or of prompts."""
    usual = np.isin(off.builds, OWN_WIDTHS, invert=True)
    numbers, count = widths(off.of(usual), constant), int(usual.sum())

    def spread(name: str, value: float, **scope: str) -> Spread:
        return Spread(constant=name, scope=scope, value=value, rows=count)

    for part in uncertainty.ON_GPU:
        yield spread(constant, float(np.exp(numbers[GPU])), family=str(part))
        yield spread(LEAN[constant], numbers[LEAN_GPU], family=str(part))
    yield spread(constant, float(np.exp(numbers[CPU])), family=str(Route.IN_PLACE))
    yield spread(LEAN[constant], numbers[LEAN_CPU], family=str(Route.IN_PLACE))
    if GUESSED in numbers:
        yield spread("spread_unmeasured", numbers[GUESSED], family=str(Route.IN_PLACE))
    backends = {name: value for name, value in numbers.items() if name.startswith(BACKEND)}
    for name, value in backends.items():
        factor = spread(constant, float(np.exp(value)), backend=name.removeprefix(BACKEND))
        yield replace(factor, factor=True)
    numbers[f"{TRAIT}{UNKNOWN}"] = max(backends.values(), default=0.0)
    for name, value in numbers.items():
        if name.startswith(TRAIT):
            trait = name.removeprefix(TRAIT)
            yield spread(BY_TRAIT[constant], float(np.exp(value)), family=trait)
    for build in OWN_WIDTHS:
        yield from _apart(off.of(off.builds == build), numbers, constant, build)


def _apart(off: Errors, numbers: Numbers, constant: str, build: str) -> Iterable[Spread]:
    """Factors and leans of a build that stands apart, everything else as for the others."""
    if not len(off.off):
        return
    names = (f"{BUILD}{build}", f"{BUILD_IN_RAM}{build}")
    limits = {LEAN_GPU: (-MOST_LEAN, MOST_LEAN), LEAN_CPU: (-MOST_LEAN, MOST_LEAN)}
    start = {**dict.fromkeys(names, 0.0), LEAN_GPU: 0.0, LEAN_CPU: 0.0}
    own = least(lambda tried: _score(off, {**numbers, **tried}), start, limits)
    below, above = ends(off, {**numbers, **own})
    gpu = off.on_gpu > 0.5
    for rows, name, lean, parts in (
        (gpu, names[0], own[LEAN_GPU], uncertainty.ON_GPU),
        (~gpu, names[1], own[LEAN_CPU], (Route.IN_PLACE,)),
    ):
        scale = _scale(off.of(rows), below[rows], above[rows], aimed=COVERED) if rows.any() else 1.0
        for part in parts:
            scope, count = {"family": str(part), "build": build}, int(rows.sum())
            value = float(np.exp(own[name]) * scale)
            yield Spread(constant=constant, scope=scope, value=value, rows=count, factor=True)
            yield Spread(constant=LEAN[constant], scope=scope, value=lean, rows=count)
