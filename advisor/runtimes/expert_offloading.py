"""Expert offloading engines: routed experts fetched on demand.

Dense parts and the cache are with the processor that computes, and with them as many experts as
fit. The others come over the link from RAM, or from a drive with direct reads, with RAM as a second
cache. Some engines compute experts in RAM on the processor's cores (colibri), others copy them to
the GPU (Mixtral-offloading, flash-moe, ds4); without a GPU the cores compute everything. No engine
is offered, since each runs only a few models.
"""

from dataclasses import replace

import numpy as np

from advisor.cost_model.loads import ForwardPass, Load
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, all_of
from advisor.cost_model.runtime import LoadedFormat, Runtime
from advisor.cost_model.schedule import Flow, Phases, Route, Schedule, Transfer
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.runtimes import weight_streaming as streaming
from advisor.units import GIB, Array

MOST_CACHED = 0.5
"""Largest share of experts that engines for small GPUs cache there: 4 of 8 by default
(https://github.com/dvmazur/mixtral-offloading, `offload_per_layer`)."""
VRAM_USED = 0.9  # share of VRAM in use; assumed
SYSTEM_RAM = 4 * GIB
"""RAM reserved for the system and the engine beside a cache of experts; assumed [B]."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with experts outside the GPU and everything else on it; all in RAM without a
    GPU.
    """
    home = Location.vram(0) if machine.gpus else Location.RAM
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        outside = Location.DISK
    else:
        outside = Location.RAM
    everything = np.ones(model.layers)
    nothing = np.zeros(model.layers)
    at_home = all_of(everything) | {Group.ROUTED_EXPERTS: nothing}
    away = all_of(nothing) | {Group.ROUTED_EXPERTS: everything}
    if home != outside:
        weights = {home: at_home, outside: away}
    else:
        weights = {home: all_of(everything)}
    cached: Array = 0.0  # RAM for experts of a model on the drive
    if strategy is PlacementStrategy.NVME_OFFLOAD and not machine.unified:
        if machine.gpus:
            dense = 0.0
        else:
            dense = model.file_bytes - _experts(model)
        cached = np.maximum(machine.host.memory.value - SYSTEM_RAM - dense, 0.0)
    return Placement(
        strategy=strategy,
        gpu_layers=np.asarray(float(model.layers if machine.gpus else 0)),
        cpu_moe=np.asarray(float(model.layers)),
        weights=weights,
        kv={home: everything},
        embedding=home,
        output={home: np.ones(())},
        buffers={home: np.asarray(streaming.ACTIVATIONS)},
        page_cache=cached,
    )


def _experts(model: Model) -> float:
    """Size of all routed experts [B]."""
    return float(np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS]))


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    cached: bool = True,
    whole: bool = False,
    ahead: bool = True,
    by_cores: bool = False,
) -> Phases:
    """Schedule of one pass for the prompt and one for each token.

    Experts stay cached for later tokens, or not; all of a layer are moved (`whole`), or those that
    its tokens use; the next layer's are predicted and moved while this one is computed (`ahead`),
    or not; the processor's cores may compute those that are not in VRAM.
    """
    whole_size = _experts(model)
    experts = max(whole_size, 1.0)
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        most = 1.0
    else:
        most = MOST_CACHED
    used = sum((gpu.memory.value * VRAM_USED for gpu in machine.gpus), start=np.zeros(()))
    beside_dense = used - streaming.ACTIVATIONS - (model.file_bytes - whole_size)
    near = np.clip(beside_dense, 0.0, most * whole_size) / experts
    in_memory = near + placement.page_cache / experts
    if cached:
        use = model.expert_use(work.variety)
    else:
        use = None
    hit, in_ram = (
        use.served(np.clip(pool, 0.0, 1.0) * use.total, by_layer=True) if use else np.zeros(())
        for pool in (near, in_memory)
    )
    on_drive = placement.strategy is PlacementStrategy.NVME_OFFLOAD

    def one_pass(step: ForwardPass) -> Schedule:
        """Pass with experts outside VRAM, some of them outside RAM; cores compute them there."""
        load = streaming.whole_load(model, placement, step)
        wanted = experts if whole else load.experts
        outside = wanted * (1.0 - hit)
        missed = wanted * (1.0 - in_ram)
        flows = [*_computed(model, machine, work, load, beside=hit if by_cores else 1.0)]
        if machine.gpus and not by_cores:
            if on_drive:
                over_link = outside - missed
            else:
                over_link = outside
            flows.append(Flow(route=Route.STREAMED, moved=over_link))
        if on_drive:
            if machine.gpus and not by_cores:
                further = Transfer.PINNED
            else:
                further = None
            flows.append(Flow(route=Route.STAGED, moved=missed, transfer=further))
        return Schedule(stages=(tuple(flows),) if ahead else tuple((flow,) for flow in flows))

    return streaming.phases_of(one_pass, work)


def _computed(
    model: Model, machine: Machine, work: Workload, load: Load, *, beside: Array
) -> tuple[Flow, ...]:
    """Flows of the experts: of the GPU, which computes the share `beside` of them, and of the
    cores.
    """
    if not machine.gpus:
        return (
            Flow(route=Route.IN_PLACE, load=load, kernels=streaming.kernels(model, work.users)),
        )
    experts = float(np.sum(model.per_layer.flops[Group.ROUTED_EXPERTS]))
    whole = sum(float(np.sum(part)) for part in model.per_layer.flops.values())
    packed = (whole - experts * (1.0 - np.asarray(beside))) / 2.0 * streaming.packed_weights(model)
    there = load.routed.times(1.0 - np.asarray(beside))
    here = replace(
        load,
        weights=load.weights - there.weights,
        experts=load.experts - there.experts,
        expert_flops=load.expert_flops - there.expert_flops,
    )
    on_gpu = Flow(
        route=Route.RESIDENT, load=here, kernels=streaming.kernels(model, work.users, packed)
    )
    if np.all(np.asarray(beside) >= 1.0):
        return (on_gpu,)
    return (on_gpu, Flow(route=Route.IN_PLACE, load=there, kernels=streaming.kernels(model, 0.0)))


EXPERT_STREAMING = Runtime(
    name="expert streaming",
    key="expert-streaming",
    engine="expert-streaming",
    version="engines of their own; no command is given",
    strategies=(PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.NVME_OFFLOAD),
    loaded_format=lambda form, _: LoadedFormat(format=form),  # each engine has its own
    place=place,
    schedule=schedule,
    command=lambda *_: "",
)
