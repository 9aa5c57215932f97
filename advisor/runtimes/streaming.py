"""What runtimes share that compute everything on the GPU and stream what does not lie there."""

import numpy as np

from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import LAYERED, Floats, Model
from advisor.placement import (
    Load,
    Location,
    Placement,
    Settings,
    Step,
    Strategy,
    all_of,
    layers_that_fit,
    step_load,
    vram,
)
from advisor.units import GIB, Array
from advisor.workload import Workload

ACTIVATIONS = 1.0 * GIB
"""Workspace of the kernels and of one prompt chunk; assumed [B]."""


def first_layers(model: Model, count: Array) -> Floats:
    """1 for the first `count` layers, else 0, shape (..., layers)."""
    return (np.arange(model.layers) < np.asarray(count, dtype=float)[..., None]).astype(float)


def layers_kept(
    model: Model, machine: Machine, work: Workload, settings: Settings, usable: float, buffered: int
) -> Array:
    """Layers whose weights stay on the GPU beside the whole cache, embedding and head.

    Where all would fit, none does: the comparison is then with all of them outside.

    Args:
        model: the model.
        machine: with one GPU at least; the first one is filled.
        work: sets the size of the cache.
        settings: a number of layers given wins.
        usable: share of VRAM that the runtime fills.
        buffered: layers' worth of VRAM that streamed layers pass through.
    """
    if settings.gpu_layers is not None:
        return np.asarray(np.clip(settings.gpu_layers, 0, model.layers), dtype=float)
    cache = np.sum(model.kv_bytes(work.context, work.kv_type), axis=-1) * work.users
    fixed = ACTIVATIONS + model.embedding + model.output + cache
    budget = machine.gpus[0].memory.value * usable - fixed
    room = budget - buffered * float(np.max(model.layer_bytes))
    kept = layers_that_fit(model.layer_bytes[::-1], room)
    return np.where(budget >= model.layer_bytes.sum(), 0.0, kept)


def on_one_gpu(
    model: Model,
    machine: Machine,
    strategy: Strategy,
    layers: Array,
    rest: Location,
    *,
    usable: float,
    buffered: int,
    cache: Floats | None = None,
) -> Placement:
    """First layers, cache, embedding and head on GPU 0; other layers at `rest`.

    Raises:
        Refusal: on a machine without a GPU.
    """
    if not machine.gpus:
        raise Refusal("It computes on a GPU, and this machine has none.")
    kept = first_layers(model, layers)
    everywhere = np.ones_like(kept)
    passing = np.where(layers < model.layers, buffered * float(np.max(model.layer_bytes)), 0.0)
    reserve = machine.gpus[0].memory.value * (1 - usable) + ACTIVATIONS + passing
    return Placement(
        strategy=strategy,
        gpu_layers=layers,
        cpu_moe=np.zeros(()),
        weights={vram(0): all_of(kept), rest: all_of(1.0 - kept)},
        kv={vram(0): everywhere},
        embedding=vram(0),
        output={vram(0): np.ones(())},
        buffers={vram(0): reserve},
        cache=cache,
    )


def gpu_load(
    model: Model, placement: Placement, location: Location, work: Workload, *, prefill: bool
) -> Load:
    """What the GPU reads and computes of the layers that lie at a location, for all users."""
    users = np.asarray(work.users, dtype=float)
    step = Step(
        tokens=np.maximum(work.fresh, 1) * users if prefill else users,
        sequences=users,
        depth=(np.asarray(work.prompt) + work.cached) / 2 if prefill else work.decode_depth,
        kv_type=work.kv_type,
    )
    return step_load(model, placement, location, step)


def layer_weights(model: Model, placement: Placement, location: Location) -> Array:
    """All weights of the layers at a location: whole layers are moved, unused experts too [B]."""
    shares = placement.weights.get(location, {})
    return np.asarray(sum(shares[group] @ model.held[group] for group in LAYERED if shares))
