"""How far machines, engines and runs of the same description differ: data/generated/chance.csv.

    python -m lab.chance

The standard deviations are fitted to errors of predictions that were made without a figure's
publisher (accuracy_points.csv, which `python -m lab.ledger` writes), by groups of publisher and
hardware. Each step multiplies the variance v of a component by

    sqrt( y' C^-1 K C^-1 y / tr(C^-1 K) )      C = sum over components of v K

with y the errors of a group, and K the component's covariances: the MM algorithm, under which the
likelihood never falls (Zhou, Hu, Zhou and Lange 2019, MM Algorithms for Variance Components Models,
J. Comput. Graph. Stat. 28, equation 7). The noise of runs has heavy tails, a t distribution with
`DEGREES` degrees of freedom: each run's own variance is divided by its weight

    w = (nu + 1) / (nu + e^2 / s^2)

with e^2 the expected square of its noise and s its scale (Lange, Little and Taylor 1989, section
2). So the fit heeds how far a usual run is off, not how far a few are. The table states the noise
that has, as a normal one, the 80 % range of that distribution (`AS_NORMAL`). A group counts as the
square root of its rows, since errors of one group say the same again.

Hardware is the same in every engine, and few publishers timed two: what GPUs and processors differ
by is fitted to runs of llama.cpp, what drives differ by to engines with experts in tiers, and both
are held in the fits of others. Engines that serve and those that move weights are fitted together,
with noise of their own: the latter are six publishers' figures of many batches and prompts.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from advisor.catalog.accuracy_points import AccuracyPoint, accuracy_points
from advisor.catalog.records import csv_text
from advisor.cost_model import known_runs
from advisor.cost_model.known_runs import (
    CPU,
    DRIVE,
    FIXED,
    GPU,
    NEAR,
    WHOLE,
    Component,
    TimedRun,
    likeness,
)
from advisor.cost_model.uncertainty import NORMAL
from advisor.errors import AdvisorError
from advisor.evidence.accuracy import regimes
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.model.model import Floats
from lab import engines, llama_cpp, rounded, tiers, write
from lab.published import group_of, published_rows

SOURCE = "python -m lab.chance"
FILES: Sequence[Path] = (*llama_cpp.FILES, *engines.FILES, *tiers.RUNS)
HARDWARE = ((GPU, ""), (CPU, ""), (CPU, "phase"), (DRIVE, ""))
"""Part and attributes of the components of hardware."""
SHARED = (
    *HARDWARE, (FIXED, "phase"), (WHOLE, "phase+engine"),
    (WHOLE, "phase+format"), (WHOLE, "phase+experts"), (WHOLE, "phase+model"),
    (WHOLE, "phase+users"), (WHOLE, "phase+length"),
)  # fmt: skip
"""Part and attributes of the components that runs share. Others came out as nothing: of the GPU by
phase, of the whole time in both phases, of an engine in both (maximum likelihood, 2026-11-28)."""
FITS: Sequence[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = (
    ((known_runs.OF_LLAMA_CPP,), HARDWARE[:-1]),
    ((known_runs.OF_TIERS,), HARDWARE[-1:]),
    ((known_runs.OF_SERVING, known_runs.OF_OTHERS), ()),
)
"""Families that are fitted together, and the hardware whose components they tell, in order."""
DEGREES = 3.0
AS_NORMAL = 1.6377 / NORMAL
"""90 % point of a t distribution with `DEGREES` over that of a normal one."""
FARTHEST = 2.0
"""Largest error that is read, as the logarithm of a factor: what is further off ran something
else."""
MOST = 50  # runs of a group that are read, drawn with a fixed seed
START = 0.15  # standard deviation of each component before the first step
STEPS = 400


@dataclass(frozen=True, kw_only=True)
class Off:
    """A figure's error, with its run as chance sees it."""

    run: TimedRun
    group: str  # publisher and hardware
    slower: float  # log(measured time / predicted time), predicted without the publisher


def errors() -> Iterator[Off]:
    """Errors of the scored figures of published rows."""
    scored = {(point.id, _of_prompt(point)): point for point in accuracy_points() if point.scored}
    for row in (row for path in FILES for row in published_rows(path)):
        for prompt in (False, True):
            point = scored.get((row.id, prompt))
            run = _run(row, prompt=prompt) if point else None
            if point is not None and run is not None:
                yield Off(run=run, group=group_of(row), slower=np.log1p(point.error))


def _of_prompt(point: AccuracyPoint) -> bool:
    return _timed().get(point.regime, "") == regimes.PROMPT


def _timed() -> Mapping[str, str]:
    """Timed part of each regime."""
    return {regime.name: regime.timed for regime in regimes.REGIMES}


def _run(row: PublishedRow, *, prompt: bool) -> TimedRun | None:
    """A row's run as chance sees it; None where it cannot be predicted."""
    try:
        case = understood(row)
        estimate = case.of_prompt.estimate if prompt else case.estimate
        time = estimate.prompt if prompt else estimate.step
    except AdvisorError:
        return None
    return None if time is None else estimate.chance(time, prompt=prompt)


@dataclass(frozen=True, kw_only=True)
class ErrorGroup:
    """Errors of a group, with what each component makes of them; arrays over its runs."""

    slower: Floats  # y, shape (runs,)
    shared: Floats  # K of each component of `SHARED`, shape (components, runs, runs)
    kinds: npt.NDArray[np.int64]  # place of each run's noise among those of the fit, shape (runs,)

    @property
    def weight(self) -> float:
        """Weight of each of its runs, so that it counts as the square root of their number."""
        return float(1.0 / np.sqrt(len(self.slower)))


Noise = tuple[str, str]  # family and phase of runs with the same noise


def noises(offs: Iterable[Off]) -> list[Noise]:
    """Families and phases of some runs."""
    return sorted({(off.run.family, off.run.phase) for off in offs})


def grouped(offs: Sequence[Off]) -> list[ErrorGroup]:
    """Groups of errors, of each at most `MOST`, drawn with a fixed seed."""
    kinds = noises(offs)
    by_group: dict[str, list[Off]] = {}
    for off in offs:
        if abs(off.slower) < FARTHEST:
            by_group.setdefault(off.group, []).append(off)
    draw = np.random.default_rng(0)
    return [_group(_some(group, draw), kinds) for group in by_group.values()]


def _some(offs: Sequence[Off], draw: np.random.Generator) -> Sequence[Off]:
    if len(offs) <= MOST:
        return offs
    return [offs[place] for place in draw.choice(len(offs), MOST, replace=False)]


def _group(offs: Sequence[Off], kinds: Sequence[Noise]) -> ErrorGroup:
    runs = [off.run for off in offs]
    unit = [_component("", part, same, 1.0, 0) for part, same in SHARED]
    weights = np.array([[float(run.weight(row)) for run in runs] for row in unit])
    alike = np.array([_alike(runs, row.attributes) for row in unit])
    return ErrorGroup(
        slower=np.array([off.slower for off in offs]),
        shared=weights[:, :, np.newaxis] * weights[:, np.newaxis, :] * alike,
        kinds=np.array([kinds.index((run.family, run.phase)) for run in runs]),
    )


def _alike(runs: Sequence[TimedRun], attributes: Sequence[str]) -> Floats:
    """Degree to which two runs have some attributes in common, 0 to 1, shape (runs, runs)."""
    named = [name for name in attributes if name not in NEAR]
    keys = [tuple(getattr(run, name) for name in named) for run in runs]
    same = np.array([[float(key == other) for other in keys] for key in keys])
    for name in attributes:
        if name in NEAR:
            numbers = np.array([float(getattr(run, name)) for run in runs])
            same = same * likeness(name, numbers[:, np.newaxis], numbers)
    return same


@dataclass(frozen=True, kw_only=True)
class Variances:
    """Variances of the components: those of `SHARED`, and the noise of each kind of runs."""

    shared: Floats  # shape (components,)
    noise: Floats  # of each kind of runs, shape (kinds,)


def fitted(
    groups: Sequence[ErrorGroup], kinds: int, held: Mapping[int, float] = MappingProxyType({})
) -> Variances:
    """Variances after `STEPS` steps from `START`; those of some places of `SHARED` are held."""
    shared = np.full(len(SHARED), START**2)
    shared[list(held)] = list(held.values())
    variances = Variances(shared=shared, noise=np.full(kinds, START**2))
    weights = [np.ones(len(group.slower)) for group in groups]
    for _ in range(STEPS):
        variances, weights = _step(groups, variances, weights, list(held))
    return variances


def _step(
    groups: Sequence[ErrorGroup],
    variances: Variances,
    weights: Sequence[Floats],
    held: Sequence[int],
) -> tuple[Variances, list[Floats]]:
    """Variances and weights of the runs after one step."""
    above, below = np.zeros((2, len(SHARED)))
    noise_above, noise_below = np.zeros((2, len(variances.noise)))
    anew = []
    for group, weight in zip(groups, weights, strict=True):
        scale = variances.noise[group.kinds]
        own = scale / weight
        together = np.tensordot(variances.shared, group.shared, axes=1) + np.diag(own)
        inverse = np.linalg.inv(together)
        moved = inverse @ group.slower
        above += group.weight * np.einsum("i,kij,j->k", moved, group.shared, moved)
        below += group.weight * np.einsum("ij,kij->k", inverse, group.shared)
        np.add.at(noise_above, group.kinds, group.weight * moved**2 / weight)
        np.add.at(noise_below, group.kinds, group.weight * np.diag(inverse) / weight)
        squares = (own * moved) ** 2 + own - own**2 * np.diag(inverse)
        anew.append((DEGREES + 1.0) / (DEGREES + squares / scale))
    ratio = np.sqrt(above / np.maximum(below, 1e-12))
    ratio[held] = 1.0
    noise = variances.noise * np.sqrt(noise_above / noise_below)
    return Variances(shared=variances.shared * ratio, noise=noise), anew


@dataclass(frozen=True, kw_only=True)
class FamilyFit:
    """Fit of families of engines together."""

    variances: Variances
    kinds: Sequence[Noise]  # kinds of runs, in the order of `Variances.noise`
    groups: int  # groups behind it

    def noise(self, family: str, phase: str) -> float:
        """Variance of the noise of a family's runs; where none timed the phase, of the others'."""
        same = [place for place, (_, timed) in enumerate(self.kinds) if timed == phase]
        own = [place for place in same if self.kinds[place][0] == family]
        return float(self.variances.noise[(own or same)[0]])


Hardware = Mapping[int, tuple[float, int]]
"""Variance of components of the hardware, and the groups behind it, by their places in `SHARED`."""


def rows(offs: Sequence[Off]) -> Iterator[Component]:
    """Components of all families of engines."""
    hardware: dict[int, tuple[float, int]] = {}
    fits: list[tuple[Sequence[str], FamilyFit]] = []
    for families, told in FITS:
        own = [off for off in offs if off.run.family in families]
        groups = grouped(own)
        kinds = noises(own)
        held = {place: variance for place, (variance, _) in hardware.items()}
        done = FamilyFit(
            variances=fitted(groups, len(kinds), held), kinds=kinds, groups=len(groups)
        )
        for place in map(SHARED.index, told):
            hardware[place] = float(done.variances.shared[place]), len(groups)
        fits.append((families, done))
    for fitted_together, done in fits:
        for family in fitted_together:
            yield from _of_family(family, done, hardware)


def _of_family(family: str, done: FamilyFit, hardware: Hardware) -> Iterator[Component]:
    """Components of a family; those of the hardware are the same in all."""
    for place, (part, same) in enumerate(SHARED):
        own = float(done.variances.shared[place]), done.groups
        variance, groups = hardware.get(place, own)
        yield _component(family, part, same, float(np.sqrt(variance)), groups)
    for phase in ("token", "prompt"):
        sd = AS_NORMAL * float(np.sqrt(done.noise(family, phase)))
        yield _component(family, WHOLE, known_runs.OF_RUN, sd, done.groups, phase)


def _component(
    family: str, part: str, same: str, sd: float, groups: int, phase: str = ""
) -> Component:
    return Component(
        family=family,
        part=part,
        same=same,
        phase=phase,
        sd=rounded(sd, 2),
        groups=groups,
        source=SOURCE,
    )


def main() -> int:
    """Write the table anew; returns the exit code."""
    return write({known_runs.TABLE: csv_text(rows(list(errors())))})


if __name__ == "__main__":
    sys.exit(main())
