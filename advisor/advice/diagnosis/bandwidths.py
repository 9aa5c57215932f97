"""Bandwidth required for a measured speed: the cost model inverted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.diagnosis.measured_run import MeasuredRun, scaled_link, timed
from advisor.advice.edits.edit import Edit
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
class RequiredBandwidth:
    """A bandwidth that alone would give the measured speed.

    Attributes:
        what: name of the bandwidth, in words.
        assumed: bandwidth of the prediction [B/s].
        test: command that measures it.
        edit: the bandwidth multiplied by a factor.
        value: required bandwidth [B/s]; None where no value of it gives the speed.
        most: highest possible bandwidth [B/s]; None where unknown.
    """

    what: str
    assumed: Quantity
    test: str
    edit: Callable[[Array], Edit]
    value: float | None = None
    most: float | None = None

    @property
    def possible(self) -> bool:
        """Whether the required bandwidth exists and stays within the part's peak."""
        return self.value is not None and (self.most is None or self.value <= self.most)


def required(run: MeasuredRun, measured: float) -> Iterator[RequiredBandwidth]:
    """Required bandwidths of the routes with a large share of a token's time, largest first.

    Args:
        run: run under diagnosis.
        measured: measured speed of each user [tokens/s].
    """
    parts = run.step.parts if run.step else {}
    seconds = {route: float(parts.get(route, 0.0)) for route in BANDWIDTHS}
    least = LEAST_SHARE * sum(float(part) for part in parts.values())
    for route in sorted(seconds, key=lambda taken: -seconds[taken]):
        bandwidth = BANDWIDTHS[route](run)
        if bandwidth is not None and seconds[route] >= least:
            factor = _factor(run, bandwidth, measured)
            rate = None if factor is None else float(bandwidth.assumed.value) * factor
            yield replace(bandwidth, value=rate)


def _factor(run: MeasuredRun, bandwidth: RequiredBandwidth, measured: float) -> float | None:
    """Factor on the bandwidth that gives the measured speed; None if none does."""
    sweep = np.geomspace(1 / FURTHEST, FURTHEST, STEPS)
    decode = bandwidth.edit(sweep).of(run).decode
    if decode is None:
        return None
    speeds = np.broadcast_to(decode.value, sweep.shape)
    if not speeds[0] < measured < speeds[-1]:
        return None
    return float(np.exp(np.interp(np.log(measured), np.log(speeds), np.log(sweep))))


def _times(figure: Quantity, factor: Array) -> Quantity:
    return replace(figure, value=figure.value * factor)


def _gpu(run: MeasuredRun) -> RequiredBandwidth | None:
    if not run.machine.gpus:
        return None
    figure = run.machine.gpus[0].bandwidth
    return RequiredBandwidth(
        what="the bandwidth of GPU memory",
        assumed=figure,
        test="nvidia-smi --query-gpu=clocks.mem,clocks.max.mem --format=csv",
        edit=lambda factor: run.on_gpus(
            "", lambda gpu: replace(gpu, bandwidth=_times(gpu.bandwidth, factor))
        ),
        most=float(figure.value),
    )


def _ram(run: MeasuredRun) -> RequiredBandwidth | None:
    row, figure = run.host_row, run.machine.host.bandwidth
    return RequiredBandwidth(
        what="the sustained read rate of RAM",
        assumed=figure,
        test="python -m advisor probe ram",
        edit=lambda factor: run.on_host("", bandwidth=_times(figure, factor)),
        most=row.bandwidth_gbs * GB if row is not None and row.bandwidth_gbs else None,
    )


def _link(run: MeasuredRun) -> RequiredBandwidth | None:
    if not run.machine.gpus:
        return None
    fields = "pcie.link.gen.gpucurrent,pcie.link.width.current"
    return RequiredBandwidth(
        what="the rate of the link to the GPU",
        assumed=run.machine.gpus[0].link.pinned,
        test=f"nvidia-smi --query-gpu={fields} --format=csv",
        edit=lambda factor: run.on_gpus("", lambda gpu: scaled_link(gpu, factor)),
    )


def _drive(run: MeasuredRun) -> RequiredBandwidth | None:
    disk = run.machine.disk
    if disk is None:
        return None
    by_map = run.takes(Route.PAGED) and disk.mapped is not None
    figure = disk.for_pages if by_map else disk.sequential

    def edit(factor: Array) -> Edit:
        times = _times(figure, factor)
        faster = replace(disk, mapped=times) if by_map else replace(disk, sequential=times)
        return timed("", machine=replace(run.machine, disk=faster))

    return RequiredBandwidth(
        what=f"the {'read rate of a map on' if by_map else 'sequential read rate of'} the drive",
        assumed=figure,
        test="python -m advisor probe disk",
        edit=edit,
    )


BANDWIDTHS: Mapping[Route, Callable[[MeasuredRun], RequiredBandwidth | None]] = {
    Route.RESIDENT: _gpu,
    Route.IN_PLACE: _ram,
    Route.STREAMED: _link,
    Route.PAGED: _drive,
    Route.STAGED: _drive,
}
"""Bandwidth that limits each route."""
