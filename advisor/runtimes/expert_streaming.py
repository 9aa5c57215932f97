"""Engines that bring routed experts to the processor as tokens ask for them.

Dense parts and the cache stay with the processor that computes; of the experts, as many as fit are
kept there too, and the others come over the link from RAM, or from a drive whose pages are read
directly. Mixtral-offloading, colibri, flash-moe and ds4 are such engines; none is offered here,
since each runs a few models of its own.
"""

from functools import partial

import numpy as np

from advisor.architecture import Group
from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import (
    DISK,
    RAM,
    Load,
    Placement,
    Settings,
    Step,
    Strategy,
    all_of,
    step_load,
    vram,
)
from advisor.runtimes.runtime import Becomes, Runtime
from advisor.runtimes.streaming import (
    ACTIVATIONS,
    kernels,
    packed_weights,
    together,
)
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, Transfer, alone
from advisor.units import GIB, Array
from advisor.workload import Workload

VERSION = "engines of their own; no command is given"
POPULARITY = 0.6
"""Exponent of the cached share of experts that is the share of requests which hit: some experts are
asked for more often. Published: 12 % of requests with a share of 0.05, 38 % with 0.23, 45 % with
0.17 (colibri, docs/benchmarks.md); 46 and 60 % with 2 and 4 of 8 (arXiv 2312.17238, table 2)."""
MOST_CACHED = 0.5
"""Share of experts that engines for small GPUs keep there at most: 4 of 8 by default
(https://github.com/dvmazur/mixtral-offloading, `offload_per_layer`)."""
VRAM_USED = 0.9
"""Share of VRAM that is filled; assumed."""
SYSTEM_RAM = 4 * GIB
"""RAM left to the system and the engine beside a cache of experts; assumed [B]."""


def becomes(form: str, machine: Machine) -> Becomes:
    """Each engine has formats of its own; they are taken as they are."""
    return Becomes(format=form)


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """Experts outside, everything else with the GPU, or in RAM where there is none."""
    home = vram(0) if machine.gpus else RAM
    outside = DISK if strategy is Strategy.NVME_OFFLOAD else RAM
    everything, nothing = np.ones(model.layers), np.zeros(model.layers)
    at_home = all_of(everything) | {Group.ROUTED_EXPERTS: nothing}
    away = all_of(nothing) | {Group.ROUTED_EXPERTS: everything}
    weights = {home: at_home, outside: away} if home != outside else {home: all_of(everything)}
    return Placement(
        strategy=strategy,
        gpu_layers=np.asarray(float(model.layers if machine.gpus else 0)),
        cpu_moe=np.asarray(float(model.layers)),
        weights=weights,
        kv={home: everything},
        embedding=home,
        output={home: np.ones(())},
        buffers={home: np.asarray(ACTIVATIONS)},
        page_cache=_cache(model, machine, strategy),
    )


def _cache(model: Model, machine: Machine, strategy: Strategy) -> Array:
    """Memory that keeps experts near: VRAM beside the dense parts, and RAM beside a drive [B]."""
    experts = float(np.sum(model.held[Group.ROUTED_EXPERTS]))
    dense = model.file_bytes - experts
    near = sum((gpu.memory.value * VRAM_USED for gpu in machine.gpus), start=np.zeros(()))
    spare = np.maximum(near - ACTIVATIONS - dense, 0.0)
    if strategy is not Strategy.NVME_OFFLOAD:
        return np.minimum(spare, MOST_CACHED * experts)
    ram = machine.host.memory.value - SYSTEM_RAM - (0.0 if machine.gpus else dense)
    shared = 0.0 if machine.unified else np.maximum(ram, 0.0)
    return np.minimum(spare + shared, experts)


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    cached: bool = True,
    whole: bool = False,
    ahead: bool = True,
) -> Phases:
    """One pass for the prompt and one for each token.

    Args:
        model: a mixture of experts.
        placement: where it lies.
        machine: where.
        work: what is asked.
        cached: experts are kept near for tokens to come.
        whole: all experts of a layer are moved, not those that its tokens use.
        ahead: the next layer's experts are guessed and moved beside the compute.
    """
    step = partial(_pass, model, placement, machine, work, cached=cached, whole=whole, ahead=ahead)
    return Phases(prefill=step(prefill=True), decode=step(prefill=False))


def _pass(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    prefill: bool,
    cached: bool,
    whole: bool,
    ahead: bool,
) -> Schedule:
    users = np.asarray(work.users, dtype=float)
    tokens = np.maximum(work.fresh, 1) * users if prefill else users
    depth = (np.asarray(work.prompt) + work.cached) / 2 if prefill else work.decode_depth
    asked = Step(tokens=tokens, sequences=users, depth=depth, kv_type=work.kv_type)
    places = dict.fromkeys((*placement.weights, *placement.kv))
    load = together(step_load(model, placement, place, asked) for place in places)
    experts = float(np.sum(model.held[Group.ROUTED_EXPERTS]))
    hit = hit_share(placement.page_cache / max(experts, 1.0)) if cached else 0.0
    moved = (experts if whole else load.experts) * (1.0 - hit)
    brought = _brought(placement, machine, moved)
    computed = _computed(model, machine, work, load)
    if ahead:
        return Schedule(stages=(Stage(flows=(computed, brought)),))
    return Schedule(stages=(alone(computed), alone(brought)))


def hit_share(cached: Array) -> Array:
    """Share of requests for experts that a cache answers.

    Args:
        cached: share of all experts in it, 0 to 1.
    """
    return np.asarray(np.clip(cached, 0.0, 1.0)) ** POPULARITY


def _brought(placement: Placement, machine: Machine, moved: Array) -> Flow:
    if placement.strategy is not Strategy.NVME_OFFLOAD:
        return Flow(route=Route.STREAMED, moved=moved if machine.gpus else 0.0)
    onward = Transfer.PINNED if machine.gpus else None
    return Flow(route=Route.STAGED, moved=moved, transfer=onward)


def _computed(model: Model, machine: Machine, work: Workload, load: Load) -> Flow:
    if not machine.gpus:
        return Flow(route=Route.IN_PLACE, load=load)
    used = sum(float(np.sum(part)) for part in model.flops.values()) / 2.0
    packed = used if packed_weights(model) else 0.0
    return Flow(route=Route.RESIDENT, load=load, kernels=kernels(model, work.users, packed))


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Nothing to type."""
    return ""


EXPERT_STREAMING = Runtime(
    name="expert streaming",
    key="expert-streaming",
    version=VERSION,
    strategies=(Strategy.CPU_OFFLOAD, Strategy.NVME_OFFLOAD),
    becomes=becomes,
    place=place,
    schedule=schedule,
    command=command,
)
