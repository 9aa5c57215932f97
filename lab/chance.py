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
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

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
from advisor.evidence.published.predict import understood
from advisor.evidence.published.row import PublishedRow
from advisor.model.model import Floats
from lab import engines, llama_cpp, rounded, write
from lab.published import group_of, published_rows

SOURCE = "python -m lab.chance"
FILES: Sequence[Path] = (*llama_cpp.FILES, *engines.FILES)
SHARED = (
    (GPU, ""), (CPU, ""), (CPU, "phase"), (FIXED, "phase"), (WHOLE, "phase+engine"),
    (WHOLE, "phase+format"), (WHOLE, "phase+experts"), (WHOLE, "phase+model"),
    (WHOLE, "phase+users"), (WHOLE, "phase+length"),
)  # fmt: skip
"""Part and attributes of the components that runs share. Others came out as nothing: of the GPU by
phase, of the whole time in both phases, of an engine in both (maximum likelihood, 2026-11-28)."""
OF_DRIVE = 0.4
"""Standard deviation of what a drive takes; assumed, since nearly no published run pages."""
DEGREES = 3.0
AS_NORMAL = 1.6377 / NORMAL
"""90 % point of a t distribution with `DEGREES` over that of a normal one."""
FARTHEST = 2.0
"""Largest error that is read, as the logarithm of a factor: what is further off ran something
else."""
MOST = 50  # runs of a group that are read, drawn with a fixed seed
START = 0.15  # standard deviation of each component before the first step
STEPS = 100


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
    prompt: Floats  # 1 for a prompt, else 0, shape (runs,)

    @property
    def weight(self) -> float:
        """Weight of each of its runs, so that it counts as the square root of their number."""
        return float(1.0 / np.sqrt(len(self.slower)))


def grouped(offs: Sequence[Off]) -> list[ErrorGroup]:
    """Groups of errors, of each at most `MOST`, drawn with a fixed seed."""
    by_group: dict[str, list[Off]] = {}
    for off in offs:
        if abs(off.slower) < FARTHEST:
            by_group.setdefault(off.group, []).append(off)
    draw = np.random.default_rng(0)
    return [_group(_some(each, draw)) for each in by_group.values()]


def _some(offs: Sequence[Off], draw: np.random.Generator) -> Sequence[Off]:
    if len(offs) <= MOST:
        return offs
    return [offs[place] for place in draw.choice(len(offs), MOST, replace=False)]


def _group(offs: Sequence[Off]) -> ErrorGroup:
    runs = [off.run for off in offs]
    unit = [_component("", part, same, 1.0, 0) for part, same in SHARED]
    weights = np.array([[float(run.weight(row)) for run in runs] for row in unit])
    alike = np.array([_alike(runs, row.attributes) for row in unit])
    return ErrorGroup(
        slower=np.array([off.slower for off in offs]),
        shared=weights[:, :, np.newaxis] * weights[:, np.newaxis, :] * alike,
        prompt=np.array([float(run.prompt) for run in runs]),
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
    """Variances of the components: those of `SHARED`, and the noise of tokens and of prompts."""

    shared: Floats  # shape (components,)
    noise: Floats  # of a token and of a prompt, shape (2,)


def fitted(groups: Sequence[ErrorGroup]) -> Variances:
    """Variances after `STEPS` steps from `START`."""
    variances = Variances(shared=np.full(len(SHARED), START**2), noise=np.full(2, START**2))
    weights = [np.ones(len(group.slower)) for group in groups]
    for _ in range(STEPS):
        variances, weights = _step(groups, variances, weights)
    return variances


def _step(
    groups: Sequence[ErrorGroup], variances: Variances, weights: Sequence[Floats]
) -> tuple[Variances, list[Floats]]:
    """Variances and weights of the runs after one step."""
    above = np.zeros(len(SHARED) + 2)
    below = np.zeros(len(SHARED) + 2)
    anew = []
    for group, weight in zip(groups, weights, strict=True):
        scale = np.where(group.prompt > 0, variances.noise[1], variances.noise[0])
        own = scale / weight
        together = np.tensordot(variances.shared, group.shared, axes=1) + np.diag(own)
        inverse = np.linalg.inv(together)
        moved = inverse @ group.slower
        above[:-2] += group.weight * np.einsum("i,kij,j->k", moved, group.shared, moved)
        below[:-2] += group.weight * np.einsum("ij,kij->k", inverse, group.shared)
        for place, of_phase in ((-2, 1.0 - group.prompt), (-1, group.prompt)):
            above[place] += group.weight * np.sum(of_phase * moved**2 / weight)
            below[place] += group.weight * np.sum(of_phase * np.diag(inverse) / weight)
        squares = (own * moved) ** 2 + own - own**2 * np.diag(inverse)
        anew.append((DEGREES + 1.0) / (DEGREES + squares / scale))
    ratio = np.sqrt(above / np.maximum(below, 1e-12))
    return Variances(shared=variances.shared * ratio[:-2], noise=variances.noise * ratio[-2:]), anew


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
        source=SOURCE if groups else "assumed",
    )


def rows(offs: Sequence[Off]) -> Iterator[Component]:
    """Components of both families of engines.

    Hardware is the same in every engine, and few publishers timed two: of others, what the runs of
    an engine share is divided into what llama.cpp's GPUs differ by, and the rest.
    """
    hardware: list[Component] = []
    for family in (known_runs.OF_LLAMA_CPP, known_runs.OF_OTHERS):
        groups = grouped([off for off in offs if off.run.family == family])
        variances = fitted(groups)
        count = len(groups)
        every = [
            _component(family, part, same, float(np.sqrt(variance)), count)
            for (part, same), variance in zip(SHARED, variances.shared, strict=True)
        ]
        if not hardware:
            hardware = [row for row in every if row.part in (GPU, CPU)]
            yield from every
        else:
            yield from _on_same_hardware(every, hardware)
        yield _component(family, DRIVE, "", OF_DRIVE, 0)
        for phase, variance in zip(("token", "prompt"), variances.noise, strict=True):
            sd = AS_NORMAL * float(np.sqrt(variance))
            yield _component(family, WHOLE, known_runs.OF_RUN, sd, count, phase)


def _on_same_hardware(
    every: Sequence[Component], hardware: Sequence[Component]
) -> Iterator[Component]:
    """Components of a family with those of the hardware from another one."""
    of_gpu = {row.part: row.sd for row in every if not row.same}[GPU]
    taken = {row.part: row.sd for row in hardware if not row.same}[GPU]
    for row in every:
        if row.same == "phase+engine":
            left = max(row.sd**2 + of_gpu**2 - taken**2, 0.0)
            yield replace(row, sd=rounded(np.sqrt(left), 2))
        elif row.part not in (GPU, CPU):
            yield row
    yield from (replace(row, family=every[0].family) for row in hardware)


def main() -> int:
    """Write the table anew; returns the exit code."""
    return write({known_runs.TABLE: csv_text(rows(list(errors())))})


if __name__ == "__main__":
    sys.exit(main())
