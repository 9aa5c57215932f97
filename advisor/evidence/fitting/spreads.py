"""80 % ranges from what rows were predicted without their source, every group weighing the same.

A width is half of what lies between the outer tenths of the errors of some rows; what a range is
wider by (a family that few measured, several GPUs, RAM that nobody measured) is what is left of
theirs in squares. At last all are scaled until four in five are held, and lean as the errors do.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import ENOUGH, IN_DECODE, IN_PROMPT, LEAN
from advisor.evidence.fitting.llama_cpp_fit import APART, Fit, Problem
from advisor.evidence.fitting.llama_cpp_rows import Rows
from advisor.evidence.published.sources import source_of
from advisor.model.model import Floats

COVERED = 0.8
LOWEST, HIGHEST = (1.0 - COVERED) / 2.0, (1.0 + COVERED) / 2.0
FEW = 8.0
"""Groups at which a backend's or build's own width counts half, and that of all the other half."""
MOSTLY = 0.9
"""Part of the time from which a row is said to be one processor's alone."""
BY_GPU = (Route.RESIDENT, Route.STREAMED, LAYERS, TOKEN, CROSSINGS)
"""Parts of the time whose range is that of the GPU and its link."""
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
        several: several GPUs work together.
        thin: fewer than `ENOUGH` other sources have a GPU of the family.
        ram_stated: so that RAM's rate is known.
    """

    off: Floats
    groups: npt.NDArray[np.str_]
    backends: npt.NDArray[np.str_]
    builds: npt.NDArray[np.str_]
    on_gpu: Floats
    several: Mask
    thin: Mask
    ram_stated: Mask

    @cached_property
    def weights(self) -> Floats:
        """One over the rows of each row's group."""
        sizes = Counter(self.groups.tolist())
        return np.array([1.0 / sizes[group] for group in self.groups.tolist()])

    def quantile(self, values: Floats, rows: Mask, share: float) -> float:
        """The value below which a share of the groups lies, each weighing the same."""
        order = np.argsort(values[rows], kind="stable")
        weights = self.weights[rows][order]
        reached = np.cumsum(weights) - weights / 2.0
        return float(np.interp(share * weights.sum(), reached, values[rows][order]))

    def width(self, rows: Mask) -> float:
        """Half of what lies between the outer tenths of the errors of some rows; 0 for none."""
        if not rows.any():
            return 0.0
        ends = [self.quantile(self.off, rows, share) for share in (LOWEST, HIGHEST)]
        return (ends[1] - ends[0]) / 2.0

    def groups_of(self, rows: Mask) -> int:
        """Groups among some rows."""
        return len(set(self.groups[rows].tolist()))


def spreads(task: Problem, fit: Fit) -> tuple[Spread, ...]:
    """Every constant of the ranges of llama.cpp."""
    found: list[Spread] = []
    for constant, rows in ((IN_DECODE, ~task.rows.read), (IN_PROMPT, task.rows.read)):
        found += fitted(errors(task, fit, rows), constant)
    found += [
        Spread(constant=constant, scope={"family": part}, value=value, rows=0)
        for (constant, part), value in ASSUMED.items()
    ]
    return tuple(found)


def errors(task: Problem, fit: Fit, chosen: Mask) -> Errors:
    """Some of the rows beside what was predicted without their source."""
    rows = task.rows
    places = np.flatnonzero(chosen)
    others = _other_sources(rows)
    on_gpu = _on_gpu(task, fit)
    cases = [rows.timed[place].case for place in places]
    stated = np.zeros(len(rows.timed), dtype=bool)
    for part in rows.alike:
        stated[part.at] = part.ram_stated
    return Errors(
        off=np.log(fit.held_out / rows.seconds)[chosen],
        groups=np.array(rows.groups)[chosen],
        backends=np.array([names["backend"] for names in rows.scopes])[chosen],
        builds=np.array([names["build"] for names in rows.scopes])[chosen],
        on_gpu=on_gpu[chosen],
        several=np.array([len(case.machine.gpus) > 1 for case in cases]),
        thin=others[chosen] < ENOUGH,
        ram_stated=stated[chosen],
    )


def _on_gpu(task: Problem, fit: Fit) -> Floats:
    share = np.ones(len(task.rows.timed))
    for part, time in task.rows.steps(task.values(fit.values)):
        on_gpu = sum(time.parts.get(name, 0.0) for name in BY_GPU)
        whole = np.asarray(on_gpu / time.total)
        share[part.at] = whole if part.machine.gpus else 0.0
    return share


def _other_sources(rows: Rows) -> Floats:
    """Sources with a GPU of the same family beside each row's own, shape (rows,)."""
    known = sources(rows)
    own = (source_of(timed.row.source_url) for timed in rows.timed)
    pairs = zip(rows.scopes, own, strict=True)
    return np.array([len(known.get(names["gpu"], frozenset()) - {one}) for names, one in pairs])


def sources(rows: Rows) -> Mapping[str, frozenset[str]]:
    """Sources with a GPU of each family, but for those of builds that stand apart."""
    found: dict[str, set[str]] = {}
    for names, timed in zip(rows.scopes, rows.timed, strict=True):
        if names["gpu"] and names["build"] not in APART:
            found.setdefault(names["gpu"], set()).add(source_of(timed.row.source_url))
    return {family: frozenset(urls) for family, urls in found.items()}


@dataclass(frozen=True, kw_only=True)
class IntervalWidths:
    """Half widths by what they are for, as logarithms.

    Attributes:
        gpu: of time on a GPU of a family that several sources measured.
        thin: beside that, of a family that few did.
        several: beside that, of several GPUs.
        cpu: of time on a processor whose RAM's rate is known.
        guessed: beside that, where it is not.
        own: factors by column and name.
    """

    gpu: float
    thin: float
    several: float
    cpu: float
    guessed: float
    own: Mapping[tuple[str, str], float]

    def of_rows(self, off: Errors) -> Floats:
        """Half width of each row's range, as `uncertainty.half_width` has it, shape (rows,)."""
        factor = np.ones(len(off.off))
        for (column, name), own in self.own.items():
            names = off.backends if column == "backend" else off.builds
            factor = factor * np.where(names == name, own, 1.0)
        beside = np.hypot(self.thin * off.thin, self.several * off.several)
        on_gpu = np.hypot(self.gpu * factor, beside)
        in_ram = np.hypot(self.cpu * factor, self.guessed * ~off.ram_stated)
        return np.asarray(off.on_gpu * on_gpu + (1.0 - off.on_gpu) * in_ram)


def fitted(off: Errors, constant: str) -> Iterable[Spread]:
    """Constants of the ranges of tokens or of prompts."""
    usual = np.isin(off.builds, list(APART), invert=True)
    widths = _widths(off, usual, constant)
    half = widths.of_rows(off)
    lean = _lean(off, half, usual)
    scale, count = _scale(off, half, lean, usual), int(usual.sum())

    def spread(name: str, value: float, part: str = "") -> Spread:
        scope = {"family": part} if part else {}
        return Spread(constant=name, scope=scope, value=value * scale, rows=count)

    yield from (spread(constant, widths.gpu, part) for part in BY_GPU)
    yield spread(constant, widths.cpu, Route.IN_PLACE)
    for (column, name), own in widths.own.items():
        yield Spread(constant=constant, scope={column: name}, value=own, rows=count, factor=True)
    yield Spread(constant=LEAN[constant], scope={}, value=lean, rows=count)
    if constant == IN_DECODE:
        yield spread("spread_thin", widths.thin)
        yield spread("spread_several", widths.several)
        yield spread("spread_unmeasured", widths.guessed, Route.IN_PLACE)


def _widths(off: Errors, usual: Mask, constant: str) -> IntervalWidths:
    on_gpu, on_cpu = usual & (off.on_gpu >= MOSTLY), usual & (off.on_gpu <= 1.0 - MOSTLY)
    beside = off.several | off.thin, ~off.ram_stated
    if constant == IN_PROMPT:
        beside = np.zeros_like(usual), np.zeros_like(usual)
    known, stated = on_gpu & ~beside[0], on_cpu & ~beside[1]
    gpu, cpu = off.width(known), off.width(stated)
    backends = sorted(set(off.backends[known].tolist()))
    own = {("backend", name): _own(off, known & (off.backends == name), known) for name in backends}
    own |= {("build", name): _own(off, off.builds == name, usual) for name in sorted(APART)}
    return IntervalWidths(
        gpu=gpu,
        thin=_beyond(off.width(on_gpu & beside[0] & off.thin), gpu),
        several=_beyond(off.width(on_gpu & beside[0] & ~off.thin), gpu),
        cpu=cpu,
        guessed=_beyond(off.width(on_cpu & beside[1]), cpu),
        own=own,
    )


def _beyond(width: float, usual: float) -> float:
    """What a width has beyond the usual one, in squares."""
    return float(np.sqrt(max(width**2 - usual**2, 0.0)))


def _own(off: Errors, rows: Mask, all_rows: Mask) -> float:
    """Width of some rows over that of all, nearer to 1 the fewer groups they are."""
    groups = off.groups_of(rows)
    if not groups:
        return 1.0
    factor = off.width(rows) / off.width(all_rows)
    return float(np.clip(factor, 0.3, 3.0) ** (groups / (groups + FEW)))


def _lean(off: Errors, half: Floats, rows: Mask) -> float:
    """How far errors lean to the slow side: 0 where both outer tenths are as far away."""
    low, high = (off.quantile(off.off / half, rows, share) for share in (LOWEST, HIGHEST))
    return float(np.clip(-(low + high) / (high - low), 0.0, 0.8))


def _scale(off: Errors, half: Floats, lean: float, rows: Mask) -> float:
    """The factor on all half widths with which four in five are held, by bisection."""
    low, high = 0.1, 10.0
    for _ in range(40):
        middle = (low + high) / 2.0
        width = middle * half
        inside = (off.off >= -width * (1.0 + lean)) & (off.off <= width * (1.0 - lean))
        held = np.average(inside[rows], weights=off.weights[rows])
        low, high = (low, middle) if held >= COVERED else (middle, high)
    return high
