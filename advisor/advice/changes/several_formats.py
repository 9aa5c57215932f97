"""Speeds of a model in several formats on one machine, by one estimate of each placement."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from advisor.advice.compare import could_hold
from advisor.advice.speeds import Speed, Speeds
from advisor.catalog.constant_views import PickedConstants
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.many_formats import in_many_formats
from advisor.model.model import Model
from advisor.runtimes import Runtime


def speeds_of_formats(
    models: Sequence[Model],
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    settings: Settings,
    least: float,
) -> list[Speed | None]:
    """Speed of each format in the first placement that fits, which is the fastest; None where it is
    below the least, or nothing fits.

    Args:
        models: a model in formats that the runtime loads.
        machine: machine.
        work: request.
        runtime: runtime that takes several formats at once.
        settings: fixed choices of the placement.
        least: speed from which one is wanted [tokens/s].
    """
    speeds: list[Speed | None] = [None] * len(models)
    left = list(range(len(models)))
    for strategy in runtime.strategies:
        resident = strategy is PlacementStrategy.GPU_RESIDENT
        tried = [at for at in left if not resident or could_hold(models[at], machine)]
        if not tried:
            continue
        each = [models[at] for at in tried]
        plan = estimate(
            in_many_formats(each), machine, work, runtime, strategy, fitted_constants(), settings
        )
        fits = np.broadcast_to(plan.fits, len(tried))
        left = [at for at in left if at not in np.array(tried)[fits]]
        if fits.any():
            for at, speed in zip(tried, _each(plan, each, least), strict=True):
                speeds[at] = None if at in left else speed
    return speeds


def _each(plan: Estimate, models: Sequence[Model], least: float) -> list[Speed | None]:
    """Speeds of the formats of an estimate; None below the least."""
    count = len(models)
    none: list[Speed | None] = [None] * count
    if plan.constants is None:
        return none
    classes = PickedConstants(plan.constants, np.arange(count), np.zeros(count, dtype=int))
    timed = replace(plan, constants=classes)
    enough = np.broadcast_to(np.asarray(timed.decode_tps) >= least, count)
    first = timed.first_token_seconds if enough.any() else None
    if first is None or timed.decode is None:
        return none
    numbers = {
        "decode": timed.decode.value,
        "low": timed.decode.low,
        "high": timed.decode.high,
        "first_token": first,
        "load": np.nan if timed.load is None else timed.load,
        "waiting": timed.waiting,
    }
    table = Speeds(
        strategy=timed.strategy,
        runtime=timed.runtime,
        formats=np.array([model.format for model in models], dtype=object),
        fits=enough,
        **{name: np.broadcast_to(own, count) for name, own in numbers.items()},
    )
    return [table.at(at) for at in range(count)]
