"""Bounds on speed and memory that rule machines out before they are placed and timed.

Both are exact: excluded machines would not fit the model, or would be slower than required. A token
reads all weights but the token table, and of routed experts only the share that it uses. Weights
that do not fit in the GPUs are read at most at the rate of RAM where the processor computes them,
of all links together where they move to the GPUs:

    S >= max(x - e, 0) + share min(x, e),  x = bytes outside the GPUs, e = bytes of routed experts
    tokens/s <= tokens a step / (S / rate)
"""

import functools

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Constants
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.runtimes import Runtime
from advisor.units import Array

ROUNDING = 1.0 + 1e-9
"""Tolerance for rounding errors of sums in another order."""


def may_hold(
    model: Model, machine: Machine, work: Workload, runtime: Runtime
) -> npt.NDArray[np.bool_]:
    """False where the GPUs cannot hold the whole model, without placing it."""
    outside = least_outside(model, machine, work, runtime)
    return np.asarray(outside <= (ROUNDING - 1.0) * model.file_bytes)


def may_reach(
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
    constants: Constants,
    least: Array,
) -> npt.NDArray[np.bool_]:
    """False where a part outside the GPUs cannot fit, or be as fast as the least [tokens/s]."""
    reaches = most_tokens(model, machine, work, runtime, constants) * ROUNDING >= least
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        return np.asarray(reaches)
    further = machine.nodes - 1.0 if machine.unified else 0.0
    whole = machine.host.memory.value * (1.0 + further)
    whole = whole + (0.0 if machine.unified else machine.gpu_memory)
    return np.asarray(reaches & (model.bytes_without_table <= whole * ROUNDING))


def least_outside(model: Model, machine: Machine, work: Workload, runtime: Runtime) -> Array:
    """Lower bound on the weights outside the GPUs' memory [B]."""
    if runtime.room_for_layers is None or not machine.gpus:
        outside = model.bytes_without_table - machine.gpu_memory
    else:
        layers = np.sum(model.layer_bytes, axis=-1)
        outside = layers - runtime.room_for_layers(model, machine, work)
    return np.asarray(np.maximum(outside, 0.0))


def most_tokens(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, constants: Constants
) -> Array:
    """Upper bound on the speed of each user where the GPUs' memory is free [tokens/s]."""
    outside = least_outside(model, machine, work, runtime)
    experts = np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    read = np.maximum(outside - experts, 0.0)
    read = read + model.expert_share(1.0) * np.minimum(outside, experts)
    with np.errstate(divide="ignore"):
        rate = outside_rate(machine, work, runtime, constants)
        return np.asarray(work.tokens_per_step * rate / read)


def outside_rate(machine: Machine, work: Workload, runtime: Runtime, constants: Constants) -> Array:
    """Fastest rate of weights outside the GPUs: RAM, where the processor computes, or links [B/s].

    A runtime that computes a single token in RAM copies nothing for it; others copy everything, as
    `timing.link_seconds` has it: several GPUs each a part, over the link of one of them. All links
    together are no faster than the RAM that they read (`timing.ram_bytes`).
    """
    ram: Array = machine.host.bandwidth.value * np.maximum(constants.value("cpu_read_share"), 1.0)
    ram = ram * np.maximum(constants.value("socket_share"), 1.0)
    single = np.all(np.asarray(work.users) * (1.0 + np.asarray(work.drafted)) <= 1.0)
    if not machine.gpus or (runtime.computes_in_ram and single):
        return np.asarray(ram)
    share, copying = constants.value("link_share"), 1.0 / constants.value("host_copy")
    links = (np.maximum(gpu.link.pinned.value, gpu.link.zero_copy.value) for gpu in machine.gpus)
    fastest = 1.0 / (1.0 / (share * functools.reduce(np.maximum, links)) + copying)
    limit = np.maximum(machine.host.bandwidth.value, fastest)
    together = np.minimum(len(machine.gpus) * fastest, limit)
    return np.asarray(np.maximum(ram, together) if runtime.computes_in_ram else together)
