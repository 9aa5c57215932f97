"""Crossover between weights read in RAM by the processor and weights streamed to the GPU.

In place, a step takes the time to read the weights in RAM or, with many tokens, the time to compute
them on the processor, which grows with each token. Streamed, it takes the time to copy the weights
over the link, for any number of tokens. So streaming is slower with few tokens and may be faster
with many: with more users, and with longer prompts.

Some runtimes do both: llama.cpp copies weights to the GPU for steps of 32 tokens and more. Such a
step counts as streamed; its speed in place is that of micro-batches below 32 tokens.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.curves.concurrency import USERS, again
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Route, Schedule
from advisor.cost_model.uncertainty import Range
from advisor.model.model import Floats

PROMPTS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""Prompt lengths that are tried, up to the context [tokens]."""


SMALL_BATCH = 16
"""Micro-batch for which no runtime copies weights to the GPU [tokens]."""


@dataclass(frozen=True, kw_only=True)
class RuntimeCurve:
    """Fastest of several runtimes at each point.

    Attributes:
        runtimes: name of the runtime, shape (points,); empty where none fits.
        speed: total speed of all users, NaN where none fits, shape (points,) [tokens/s].
    """

    runtimes: tuple[str, ...]
    speed: Floats


@dataclass(frozen=True, kw_only=True)
class Crossover:
    """Curves of both ways, over users or prompt length.

    Attributes:
        at: users or prompt tokens, shape (points,).
        in_place: runtimes whose processor reads the weights in RAM for a single user.
        streamed: runtimes that copy the weights over the link.
    """

    at: Floats
    in_place: RuntimeCurve
    streamed: RuntimeCurve

    @property
    def overtakes(self) -> float | None:
        """Point from which streaming is faster or the only option; None if never."""
        met = crossing(self.at, self.in_place.speed, self.streamed.speed)
        alone = np.isfinite(self.streamed.speed) & ~np.isfinite(self.in_place.speed)
        if met is None and np.any(alone):
            return float(self.at[np.argmax(alone)])
        return met


def by_users(estimates: Iterable[Estimate], settings: Settings | None = None) -> Crossover | None:
    """Total tokens per second against the number of users; None if either way is missing."""

    def decoding(estimate: Estimate, users: int, _: Route) -> RuntimePoint:
        varied = again(estimate, replace(estimate.work, users=users), settings)
        schedule = varied.phases.decode if varied.phases else None
        return RuntimePoint(estimate=varied, schedule=schedule, rate=_value(varied.decode) * users)

    return _sweep(sides(estimates, settings), USERS, decoding)


def by_prompt(estimates: Sequence[Estimate], settings: Settings | None = None) -> Crossover | None:
    """Prompt tokens per second against the length of the prompt; None if either way is missing."""

    def reading(estimate: Estimate, length: int, way: Route) -> RuntimePoint:
        batch = np.minimum(estimate.work.ubatch, SMALL_BATCH if way is Route.IN_PLACE else np.inf)
        work = replace(estimate.work, prompt=length, cached=0, ubatch=batch)
        varied = again(estimate, work, settings)
        schedule = varied.phases.prefill if varied.phases else None
        return RuntimePoint(estimate=varied, schedule=schedule, rate=_value(varied.prefill))

    context = float(estimates[0].work.context) if estimates else 0.0
    lengths = [length for length in PROMPTS if length <= context]
    return _sweep(sides(estimates, settings), lengths, reading)


@dataclass(frozen=True, kw_only=True)
class RuntimePoint:
    """Runtime at one point, with its routes and its speed [tokens/s]."""

    estimate: Estimate
    schedule: Schedule | None
    rate: float

    def goes(self, way: Route) -> bool:
        """Whether it fits and its weights take this way; any copied weights count as streamed."""
        stages = self.schedule.stages if self.schedule else ()
        flows = [flow for stage in stages for flow in stage.flows]
        copied = any(flow.route is Route.STREAMED and np.any(flow.moved > 0) for flow in flows)
        read = any(
            flow.route is Route.IN_PLACE and flow.load is not None and np.any(flow.load.weights > 0)
            for flow in flows
        )
        return bool(self.estimate.fits) and (
            copied if way is Route.STREAMED else read and not copied
        )


Vary = Callable[[Estimate, int, Route], RuntimePoint]


def _value(figure: Range | None) -> float:
    return float(figure.value) if figure is not None else 0.0


def _sweep(
    both: tuple[list[Estimate], list[Estimate]], at: Sequence[int], vary: Vary
) -> Crossover | None:
    in_place, streamed = both
    if not at:
        return None
    crossover = Crossover(
        at=np.array(at, dtype=float),
        in_place=_along(in_place, at, vary, Route.IN_PLACE),
        streamed=_along([*streamed, *in_place], at, vary, Route.STREAMED),
    )
    ways = (crossover.in_place, crossover.streamed)
    return crossover if all(np.any(np.isfinite(way.speed)) for way in ways) else None


def _along(some: Sequence[Estimate], at: Iterable[int], vary: Vary, way: Route) -> RuntimeCurve:
    """Fastest runtime at each point; a runtime that no longer fits stays out at later points."""
    left, names, speeds = list(some), [], []
    for value in at:
        tried = [(side, vary(side, value, way)) for side in left]
        left = [side for side, step in tried if bool(step.estimate.fits)]
        rates = [(step.estimate.runtime, step.rate) for _, step in tried if step.goes(way)]
        name, speed = max(rates, key=lambda pair: pair[1], default=("", math.nan))
        names.append(name)
        speeds.append(speed)
    return RuntimeCurve(runtimes=tuple(names), speed=np.array(speeds))


def sides(
    estimates: Iterable[Estimate], settings: Settings | None = None
) -> tuple[list[Estimate], list[Estimate]]:
    """Runtimes that read weights in RAM for one user, and runtimes that stream them."""
    in_place, streamed = [], []
    for estimate in estimates:
        if estimate.strategy is not PlacementStrategy.CPU_OFFLOAD or estimate.placement is None:
            continue
        alone = again(estimate, replace(estimate.work, users=1), settings)
        if Route.STREAMED in alone.routes:
            streamed.append(estimate)
        elif Route.IN_PLACE in alone.routes:
            in_place.append(estimate)
    return in_place, streamed


def crossing(at: Floats, first: Floats, second: Floats) -> float | None:
    """Last crossing of two curves, interpolated in logarithms.

    Between two points log(second / first) is taken as linear in log(at); the curves cross where it
    is zero.

    Args:
        at: varied input, positive and rising, shape (points,).
        first: first curve; NaN where it ends.
        second: second curve; NaN where it ends.

    Returns:
        Input from which the second curve is above the first: the first point if it is so from the
        start, None if it is not at the last point of both.
    """
    there = np.isfinite(first) & np.isfinite(second)
    if not np.any(there):
        return None
    points, ahead = np.asarray(at)[there], np.log(second[there] / first[there])
    if ahead[-1] <= 0:
        return None
    behind = np.flatnonzero(ahead <= 0)
    if not behind.size:
        return float(points[0])
    before = behind[-1]
    share = -ahead[before] / (ahead[before + 1] - ahead[before])
    low, high = np.log(points[before]), np.log(points[before + 1])
    return float(np.exp(low + share * (high - low)))
