"""Bandwidth required for the measured speed: the cost model inverted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.diagnosis.causes.counterfactual import Situation, scaled_link
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.schedule import Route
from advisor.machine.quantity import Quantity
from advisor.units import GB, Array

FURTHEST = 64.0
"""Largest factor above and below the assumed bandwidth that is tried."""
STEPS = 513
"""Number of bandwidths tried, evenly spaced on a logarithmic scale."""
LEAST_SHARE = 0.1
"""Smallest share of a token's time for a bandwidth to be tried."""


@dataclass(frozen=True, kw_only=True)
class Needed:
    """A bandwidth that alone would give the measured speed.

    Attributes:
        what: name of the bandwidth, in words.
        assumed: bandwidth of the prediction [B/s].
        value: required bandwidth [B/s]; None where no value of it gives the speed.
        most: highest possible bandwidth [B/s]; None where unknown.
        test: command that measures it.
    """

    what: str
    assumed: Quantity
    value: float | None
    most: float | None
    test: str

    @property
    def possible(self) -> bool:
        """Whether the required bandwidth exists and stays within the part's peak."""
        return self.value is not None and (self.most is None or self.value <= self.most)


@dataclass(frozen=True, kw_only=True)
class _Rate:
    """A bandwidth of a machine.

    Attributes:
        what: name of the bandwidth, in words.
        test: command that measures it.
        figure: value in the machine [B/s].
        most: highest possible bandwidth [B/s]; None where unknown.
        scaled: estimate with the bandwidth multiplied by a factor.
    """

    what: str
    test: str
    figure: Quantity
    most: float | None
    scaled: Callable[[Array], Estimate]


def needed(situation: Situation, measured: float) -> Iterator[Needed]:
    """Required bandwidths of the routes with a large share of a token's time, largest first.

    Args:
        situation: estimate under diagnosis.
        measured: measured speed of each user [tokens/s].
    """
    parts = situation.estimate.step.parts if situation.estimate.step else {}
    seconds = {route: float(parts.get(route, 0.0)) for route in RATES}
    least = LEAST_SHARE * sum(float(part) for part in parts.values())
    for route in sorted(seconds, key=lambda taken: -seconds[taken]):
        rate = RATES[route](situation)
        if rate is not None and seconds[route] >= least:
            factor = _factor(rate, measured)
            yield Needed(
                what=rate.what,
                assumed=rate.figure,
                value=None if factor is None else float(rate.figure.value) * factor,
                most=rate.most,
                test=rate.test,
            )


def _factor(rate: _Rate, measured: float) -> float | None:
    """Factor on the bandwidth that gives the measured speed; None if none does."""
    sweep = np.geomspace(1 / FURTHEST, FURTHEST, STEPS)
    decode = rate.scaled(sweep).decode
    if decode is None:
        return None
    speeds = np.broadcast_to(decode.value, sweep.shape)
    if not speeds[0] < measured < speeds[-1]:
        return None
    return float(np.exp(np.interp(np.log(measured), np.log(speeds), np.log(sweep))))


def _times(figure: Quantity, factor: Array) -> Quantity:
    return replace(figure, value=figure.value * factor)


def _gpu(situation: Situation) -> _Rate | None:
    if not situation.machine.gpus:
        return None
    figure = situation.machine.gpus[0].bandwidth
    return _Rate(
        what="the bandwidth of GPU memory",
        test="nvidia-smi --query-gpu=clocks.mem,clocks.max.mem --format=csv",
        figure=figure,
        most=float(figure.value),
        scaled=lambda factor: situation.on_gpus(
            lambda gpu: replace(gpu, bandwidth=_times(gpu.bandwidth, factor))
        ),
    )


def _ram(situation: Situation) -> _Rate | None:
    row, figure = situation.host_row, situation.machine.host.bandwidth
    return _Rate(
        what="the sustained read rate of RAM",
        test="python -m advisor probe ram",
        figure=figure,
        most=row.bandwidth_gbs * GB if row is not None and row.bandwidth_gbs else None,
        scaled=lambda factor: situation.on_host(bandwidth=_times(figure, factor)),
    )


def _link(situation: Situation) -> _Rate | None:
    if not situation.machine.gpus:
        return None
    fields = "pcie.link.gen.gpucurrent,pcie.link.width.current"
    return _Rate(
        what="the rate of the link to the GPU",
        test=f"nvidia-smi --query-gpu={fields} --format=csv",
        figure=situation.machine.gpus[0].link.pinned,
        most=None,
        scaled=lambda factor: situation.on_gpus(lambda gpu: scaled_link(gpu, factor)),
    )


def _drive(situation: Situation) -> _Rate | None:
    disk = situation.machine.disk
    if disk is None:
        return None
    by_map = situation.takes(Route.PAGED) and disk.mapped is not None
    figure = disk.for_pages if by_map else disk.sequential

    def scaled(factor: Array) -> Estimate:
        times = _times(figure, factor)
        faster = replace(disk, mapped=times) if by_map else replace(disk, sequential=times)
        return replace(situation.estimate, machine=replace(situation.machine, disk=faster))

    return _Rate(
        what=f"the {'read rate of a map on' if by_map else 'sequential read rate of'} the drive",
        test="python -m advisor probe disk",
        figure=figure,
        most=None,
        scaled=scaled,
    )


RATES: Mapping[Route, Callable[[Situation], _Rate | None]] = {
    Route.RESIDENT: _gpu,
    Route.IN_PLACE: _ram,
    Route.STREAMED: _link,
    Route.PAGED: _drive,
    Route.STAGED: _drive,
}
"""Bandwidth that limits each route."""
