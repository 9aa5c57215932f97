"""Speeds of several models on several machines, each in its usual format."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from advisor.advice.finder.quality import quality_rows
from advisor.advice.fleet.fleet import Fleet
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.by_name.native_formats import native_format, usual_format
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime


def curated_models() -> list[Model]:
    """Models of the catalogue, each in its usual format: by published score, then by size."""
    scores = quality_rows()
    models = []
    for name in catalog.model_rows():
        with suppress(Refusal):
            models.append(catalog.model(name, usual_format(native_format(name))))
    return sorted(
        models,
        key=lambda model: (
            -scores[model.name].score if model.name in scores else 0.0,
            -model.architecture.params,
        ),
    )


def speeds_of(
    models: Sequence[Model], machines: Sequence[Machine], work: Workload, runtime: Runtime
) -> Floats:
    """Decode speed of each model on each machine, in the first placement that fits.

    Args:
        models: models in their formats.
        machines: machines.
        work: the request.
        runtime: runtime.

    Returns:
        Shape (models, machines); not a number where a model does not run [tokens/s].
    """
    fleet = Fleet(machines)
    return np.array([_on_all(fleet, model, work, runtime) for model in models])


def _on_all(fleet: Fleet, model: Model, work: Workload, runtime: Runtime) -> Floats:
    reached = np.full(len(fleet.machines), np.nan)
    for strategy in runtime.strategies:
        placed = ~np.isnan(reached)
        if placed.all():
            break
        speeds = fleet.speeds(model, work, runtime, strategy, skip=placed)
        reached = np.where(~placed & speeds.fits, speeds.decode, reached)
    return reached
