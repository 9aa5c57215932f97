"""80 % ranges, fitted to errors of predictions made without each row's publisher.

Half widths, widening factors and leans minimize the interval score: the width of the range, plus
2 / (1 - 0.8) times the distance of a row outside it (Gneiting and Raftery 2007, equation 43).
Every publisher weighs the same, those with a single run included. The range of a model whose kinds
of layers nobody timed together is that which holds as many rows predicted without their whole
architecture. Builds of `OWN_WIDTHS` then get a width and a lean of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import BY_TRAIT, IN_DECODE, IN_PROMPT, LEAN, NEW, SPLIT, UNKNOWN
from advisor.model.model import Floats
from advisor.runtimes import IK_LLAMA_CPP, MLX
from lab.llama_cpp import APART, LlamaFit
from lab.row_errors import Errors, equal_weights, errors

# Coordinate descent: minimum of a function of a few numbers, deterministic and without gradients.
#
# Losses of ranges have a kink wherever a row enters or leaves a range, so gradients do not help.

Numbers = Mapping[str, float]

FIRST, LAST = 0.4, 0.004
"""First step tried, and the step below which the search ends."""
ROUNDS = 80


def least(
    loss: Callable[[Numbers], float], start: Numbers, limits: Mapping[str, tuple[float, float]]
) -> Numbers:
    """Numbers with the smallest loss near the start.

    Each number in turn is moved by its step to either side; a step that lowers the loss grows, else
    it is halved.
    """
    here = dict(start)
    best, steps = loss(here), dict.fromkeys(here, FIRST)
    for _ in range(ROUNDS):
        for name in here:
            low, high = limits.get(name, (-np.inf, np.inf))
            for step in (steps[name], -steps[name]):
                there = {**here, name: float(np.clip(here[name] + step, low, high))}
                tried = loss(there)
                if tried < best:
                    here, best = there, tried
                    steps[name] *= 1.3
                    break
            else:
                steps[name] /= 2.0
        if max(steps.values()) < LAST:
            break
    return here


COVERED = 0.8
AIMED = {IN_DECODE: 0.8, IN_PROMPT: 0.84}
"""Share of publishers' rows within range to which the widths are scaled: of publishers without whom
constants and widths were fitted (six folds) it leaves 78 and 77 %, without their cards, too, 78 and
74 %, without their cards and architectures 78 and 76 %."""
SHRINKING = 2.0
"""Penalty on the square of a factor's logarithm, in groups; keeps factors with few groups near
1."""
FEW = 3
"""Fewest groups of a backend or build with a factor of its own."""
ASSUMED = {
    **{("spread_unmeasured", part): 0.0 for part in (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)},
    (IN_DECODE, Route.PAGED): 0.6,
    (IN_PROMPT, Route.PAGED): 0.6,
    (IN_PROMPT, Route.STAGED): 0.6,
    ("spread_unmeasured", Route.STREAMED): 0.15,
    ("spread_unmeasured", Route.PAGED): 0.5,
    ("spread_unmeasured", Route.STAGED): 0.4,
}
"""Half widths of parts without rows of llama.cpp, from published link and drive rates; assumed."""
OWN_WIDTHS = (*APART, MLX.build, IK_LLAMA_CPP.build)
"""Builds with a width and a lean of their own: LocalScore, on unprepared machines; MLX, with few
measurements; ik_llama.cpp, many of whose rows time a change under review."""
ON_GPUS = (IK_LLAMA_CPP.build,)
"""Those of them that have a width of their own on GPUs alone: ik_llama.cpp's errors on processors
are like llama.cpp's, and few rows of that time a prompt there."""
GPU, CPU, GUESSED, LEAN_GPU, LEAN_CPU = "gpu", "cpu", "guessed", "lean gpu", "lean cpu"
"""Names of the fitted numbers: logarithms of half widths, extra half width of a guessed RAM rate,
leans."""
BACKEND, BUILD, BUILD_IN_RAM, TRAIT = "backend ", "build ", "build in RAM ", "by "
"""Prefixes of the names of factors' logarithms; a build has one for GPUs and one for RAM."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A constant of the ranges."""

    constant: str  # name in data/generated/efficiency.csv
    scope: Mapping[str, str]  # columns and values that it applies to
    value: float  # half width as a logarithm, factor on a half width, or lean
    rows: int  # number of rows behind it
    factor: bool = False  # whether it is a factor on other constants


def spreads(done: LlamaFit) -> tuple[Spread, ...]:
    """All constants of llama.cpp's ranges."""
    every = errors(done)
    read = done.rows.read
    fitted_ones = (*fitted(every.of(~read), IN_DECODE), *fitted(every.of(read), IN_PROMPT))
    assumed = (
        Spread(constant=constant, scope={"family": part}, value=value, rows=0)
        for (constant, part), value in ASSUMED.items()
    )
    return (*fitted_ones, *assumed)


def ends(off: Errors, numbers: Numbers) -> tuple[Floats, Floats]:
    """Margins of each row's range below and above, by the formula of `uncertainty.margins`."""
    backend = _factor(off.backends, numbers, BACKEND)
    own = backend * _factor(off.builds, numbers, BUILD) * np.exp(numbers[GPU])
    read = backend * _factor(off.builds, numbers, BUILD_IN_RAM) * np.exp(numbers[CPU])
    in_ram = np.hypot(read, off.guessed * numbers.get(GUESSED, 0.0))
    half = off.on_gpu * own + (1.0 - off.on_gpu) * in_ram
    traits = uncertainty.degrees(off.traits, off.on_gpu)
    factors = {trait: np.exp(numbers.get(f"{TRAIT}{trait}", 0.0)) for trait in traits}
    half = uncertainty.widened(half, factors, traits)
    lean = off.on_gpu * numbers[LEAN_GPU] + (1.0 - off.on_gpu) * numbers[LEAN_CPU]
    return half * (1.0 + lean), half * (1.0 - lean)


def _factor(names: npt.NDArray[np.str_], numbers: Numbers, beginning: str) -> Floats:
    """Factor of each row by its backend or build, shape (rows,)."""
    factor = np.ones(len(names))
    for name, value in numbers.items():
        if name.startswith(beginning):
            own = names == name.removeprefix(beginning)
            factor = factor * np.where(own, np.exp(value), 1.0)
    return factor


def held(off: Errors, below: Floats, above: Floats) -> float:
    """Share of rows within range, with equal weight for every publisher."""
    inside = (off.off >= -below) & (off.off <= above)
    return float(np.average(inside, weights=off.weights))


WIDER = (
    uncertainty.THIN, uncertainty.SEVERAL, uncertainty.TOGETHER, uncertainty.OPERATOR,
    uncertainty.SERVED, uncertainty.SHORT,
)  # fmt: skip
"""Traits that widen a range and never narrow it."""
MOST_LEAN = {IN_DECODE: 0.3, IN_PROMPT: 0.15}
"""Largest skew: the errors of curated runs lean more than those of strangers will, of prompts most:
ranges of publishers left out score best with these (1.20 for tokens, 1.26 with half of it; 1.40 for
prompts, 1.43 with twice of it)."""
MOST_WIDER = np.log(2.5)
"""Logarithm of the largest factor by which one trait or build widens a range."""
USUAL = 0.3
"""Half width at the start of the search, and unit of the loss."""


def widths(off: Errors, constant: str) -> dict[str, float]:
    """Numbers with the best interval score, scaled until `AIMED` of the rows are within range.

    Traits of runs with little evidence (few sources, several GPUs, several users, deep context,
    guessed RAM rate) may widen a range, never narrow it.
    """
    start = {GPU: np.log(USUAL), CPU: np.log(USUAL), LEAN_GPU: 0.0, LEAN_CPU: 0.0}
    start |= {f"{TRAIT}{trait}": 0.0 for trait in (*off.traits, SPLIT) if trait != NEW}
    start |= {f"{BACKEND}{name}": 0.0 for name in _named(off, off.backends) if name != "cpu"}
    most = MOST_LEAN[constant]
    limits = {LEAN_GPU: (-most, most), LEAN_CPU: (-most, most)}
    limits |= {f"{TRAIT}{trait}": (0.0, MOST_WIDER) for trait in WIDER}
    if constant == IN_DECODE:
        start[GUESSED], limits[GUESSED] = USUAL, (0.0, np.inf)
    best = dict(least(lambda numbers: _score(off, numbers), start, limits))
    below, above = ends(off, best)
    scale = _scale(off, below, above, AIMED[constant])
    scaled = {name: best[name] + np.log(scale) for name in (GPU, CPU)}
    if GUESSED in best:
        scaled[GUESSED] = best[GUESSED] * scale
    return best | scaled


def _named(off: Errors, names: npt.NDArray[np.str_]) -> Iterator[str]:
    """Names that occur in `FEW` groups or more, sorted."""
    for name in sorted(set(names.tolist())):
        if name and off.groups_of(names == name) >= FEW:
            yield name


def _score(off: Errors, numbers: Numbers) -> float:
    below, above = ends(off, numbers)
    outside = np.maximum(-off.off - below, 0.0) + np.maximum(off.off - above, 0.0)
    score = below + above + outside * 2.0 / (1.0 - COVERED)
    factors = sum(value**2 for name, value in numbers.items() if name.startswith((TRAIT, BACKEND)))
    return float(np.sum(off.weights * score)) / (2.0 * USUAL) + SHRINKING * factors


def _scale(off: Errors, below: Floats, above: Floats, aimed: float) -> float:
    """Factor on all widths at which enough rows are within range, by bisection."""
    low, high = 0.1, 10.0
    for _ in range(40):
        middle = (low + high) / 2.0
        enough = held(off, middle * below, middle * above) >= aimed
        low, high = (low, middle) if enough else (middle, high)
    return high


MOST_UNSEEN = 4.0
"""Largest factor on the range of a model of new kinds of layers."""


def unseen_factor(off: Errors, numbers: Numbers, aimed: float = COVERED) -> float:
    """Factor on the range of a model whose kinds of layers nobody timed together.

    By bisection, the smallest that holds `aimed` of the rows predicted without their architecture;
    every architecture weighs the same.
    """
    apart = off.kinds != ""
    new = off.of(apart)
    if not len(new.off):
        return 1.0
    below, above = ends(new, numbers)
    weights = equal_weights(new.kinds, np.char.add(np.char.add(new.kinds, " "), new.publishers))
    low, high = 1.0, MOST_UNSEEN
    for _ in range(30):
        middle = (low + high) / 2.0
        inside = (new.new >= -middle * below) & (new.new <= middle * above)
        enough = np.average(inside, weights=weights) >= aimed
        low, high = (low, middle) if enough else (middle, high)
    return high


def fitted(off: Errors, constant: str) -> Iterable[Spread]:
    """Constants of the ranges of tokens or prompts."""
    usual = np.isin(off.builds, OWN_WIDTHS, invert=True)
    usual |= np.isin(off.builds, ON_GPUS) & (off.on_gpu <= 0.5)
    numbers, count = dict(widths(off.of(usual), constant)), int(usual.sum())
    numbers[f"{TRAIT}{NEW}"] = float(np.log(unseen_factor(off.of(usual), numbers)))

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
        rows = (off.builds == build) & ((off.on_gpu > 0.5) | (build not in ON_GPUS))
        yield from _apart(off.of(rows), numbers, constant, build)


def _apart(off: Errors, numbers: Numbers, constant: str, build: str) -> Iterable[Spread]:
    """Factors and leans of a build of `OWN_WIDTHS`; it shares all other constants."""
    if not len(off.off):
        return
    own = apart(off, numbers, build, constant)
    gpu = off.on_gpu > 0.5
    for rows, name, lean, parts in (
        (gpu, f"{BUILD}{build}", LEAN_GPU, uncertainty.ON_GPU),
        (~gpu, f"{BUILD_IN_RAM}{build}", LEAN_CPU, (Route.IN_PLACE,)),
    ):
        for part in parts if name in own else ():
            scope, count = {"family": str(part), "build": build}, int(rows.sum())
            value = float(np.exp(own[name]))
            yield Spread(constant=constant, scope=scope, value=value, rows=count, factor=True)
            yield Spread(constant=LEAN[constant], scope=scope, value=own[lean], rows=count)


MANY = 10
"""Fewest groups of a build whose range may be narrower than that of others."""


def apart(off: Errors, numbers: Numbers, build: str, constant: str) -> Numbers:
    """Numbers of a build's own range: logarithms of its factors, and its leans, so that
    `COVERED` of its rows are within range.
    """
    most = MOST_LEAN[constant]
    gpu = off.on_gpu > 0.5
    parts = {f"{BUILD}{build}": gpu}
    leans = {LEAN_GPU: (-most, most)}
    if build not in ON_GPUS:
        parts[f"{BUILD_IN_RAM}{build}"] = ~gpu
        leans[LEAN_CPU] = (-most, most)
    least_of = {
        name: -np.inf if off.groups_of(rows) >= MANY else 0.0 for name, rows in parts.items()
    }
    timed = [name for name, rows in parts.items() if rows.any()]
    best = least(
        lambda tried: _score(off, {**numbers, **tried}),
        {**dict.fromkeys(timed, 0.0), **dict.fromkeys(leans, 0.0)},
        leans | {name: (low, MOST_WIDER) for name, low in least_of.items()},
    )
    own = {**dict.fromkeys(parts, 0.0), **best}
    below, above = ends(off, {**numbers, **own})
    for name in timed:
        rows = parts[name]
        scale = _scale(off.of(rows), below[rows], above[rows], COVERED)
        wider = own[name] + float(np.log(scale))
        own[name] = float(np.clip(wider, least_of[name], MOST_WIDER))
    return own
