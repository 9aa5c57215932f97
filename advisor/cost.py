"""Seconds from a schedule on a machine.

    t_flow  = max( W / S + K / S_kv , F / C ) + layers tau + expert layers tau_e
    t_stage = max over its flows, and over shared memory of bytes / S
    t_step  = sum of stages + crossings t_cross + t_token

W weight bytes, K cache bytes, F FLOPs; S sustained bandwidth, C sustained FLOP/s; tau seconds per
layer. Shares and fixed costs come from data/efficiency.csv. Every function takes numbers or arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from advisor.efficiency import Efficiency
from advisor.errors import InputError
from advisor.kernels import host_attention_seconds, host_kernel_seconds, kernel_seconds
from advisor.machine import Disk, Figure, Gpu, Host, Link, Machine
from advisor.placement import Load
from advisor.schedule import Exchange, Flow, Route, Schedule, Stage, Transfer, Way
from advisor.units import Array

LAYERS, CROSSINGS, TOKEN, HIDDEN = "layers", "crossings", "token", "hidden"


@dataclass(frozen=True, kw_only=True)
class FlowTime:
    """Time of one flow [s].

    Attributes:
        moving: bytes over speed, or FLOPs over speed where that is longer.
        layers: fixed costs of its layers.
    """

    moving: Array
    layers: Array = 0.0

    @property
    def total(self) -> Array:
        """Both together [s]."""
        return self.moving + self.layers


@dataclass(frozen=True, kw_only=True)
class StepTime:
    """Time of one run of a schedule and where it goes [s].

    Attributes:
        total: what a clock would show.
        parts: the same by route and fixed cost; they add up to `total`.
        hidden: by route, what ran beside a longer flow and cost nothing.
    """

    total: Array
    parts: dict[str, Array]
    hidden: Array


def gpu_seconds(load: Load, gpu: Gpu, constants: Efficiency) -> FlowTime:
    """A GPU reads what lies in its memory [s].

    t = max( W / (share S) + K / (share_kv S) , F / (share C) + F_e / (share_e C) )
        + layers tau + expert layers tau_e + state layers tau_s
    """
    weights = load.weights / (constants.value("gpu_read_share", gpu.family) * gpu.bandwidth.value)
    cache = load.kv / (constants.value("gpu_kv_share", gpu.family) * gpu.bandwidth.value)
    experts = load.expert_flops / constants.value("gpu_expert_flop_share", gpu.family)
    compute = (load.flops + load.attention_flops + experts) / gpu_flops(gpu, constants)
    return FlowTime(
        moving=np.maximum(weights + cache, compute),
        layers=load.layers * constants.value("gpu_layer", gpu.family)
        + load.expert_layers * constants.value("gpu_expert_layer", gpu.family)
        + load.state_layers * constants.value("gpu_state_layer", gpu.family),
    )


MATRIX_TYPES = (("fp16", 1.0), ("fp32", 1.0), ("int8", 2.0))
"""Number types that prompts are computed in, and how many of their operations stand for one in 16
bits: quantized formats multiply in 8-bit integers, which take half the room."""


def gpu_flops(gpu: Gpu, constants: Efficiency) -> Array:
    """Sustained matrix speed: a share of the fastest dense peak among `MATRIX_TYPES` [FLOP/s]."""
    peaks = (gpu.tensor_flops.get(kind, 0.0) / per for kind, per in MATRIX_TYPES)
    peak = np.maximum.reduce(np.broadcast_arrays(*peaks))
    return np.asarray(constants.value("gpu_flop_share", gpu.family) * peak)


def cpu_seconds(
    load: Load, host: Host, constants: Efficiency, *, repacked: bool = True
) -> FlowTime:
    """The host's cores read what lies in RAM [s].

    t = max( W / S , F / C ) + max( K / S_ram , F_a / C_a ) + layers cores tau

    S is what RAM and cores reach together (`together`), F_a and C_a the work on the cache and the
    cores' speed at it; a layer's barriers take longer the more cores meet at them.
    """
    ram: Array = host.bandwidth.value * constants.value("cpu_read_share")
    several = np.asarray(host.sockets) > 1
    ram = ram * np.where(several, constants.value("socket_share"), 1.0)
    weights = together(ram, host.cores * constants.value("core_decode_rate", vectors(host)))
    if not repacked:
        weights = weights * constants.value("plain_layout_share")
    flops: Array = host.cores * constants.value("core_flops", matrices(host))
    flops = flops * np.where(several, constants.value("socket_flop_share"), 1.0)
    attention = host.cores * np.where(
        np.asarray(load.each) >= BATCH,
        constants.value("core_batch_attention_flops"),
        constants.value("core_attention_flops"),
    )
    return FlowTime(
        moving=np.maximum(load.weights / weights, (load.flops + load.expert_flops) / flops)
        + np.maximum(load.kv / ram, load.attention_flops / attention),
        layers=load.layers * constants.value("cpu_layer") * host.cores
        + load.expert_layers * constants.value("cpu_expert_layer"),
    )


BATCH = 16
"""Tokens of a sequence from which attention multiplies matrices; below, each reads for itself."""
SATURATION = 2.5
"""How sharply speed stops growing with cores where RAM is the limit: published sweeps over threads
reach 0.7 of either limit where both are equal (EPYC 7773X, DeepSeek-R1, 2 to 64 threads)."""


def together(ram: Array, cores: Array) -> Array:
    """What is read where cores and RAM limit each other [B/s].

    S = (ram^-p + cores^-p)^(-1/p): the smaller where they are far apart, less where they are near.
    """
    return np.asarray((ram**-SATURATION + cores**-SATURATION) ** (-1.0 / SATURATION))


def cores_alone(reached: Array, ram: Array) -> Array:
    """What cores would read but for RAM, from what both reach together: `together` solved [B/s]."""
    return np.asarray((reached**-SATURATION - ram**-SATURATION) ** (-1.0 / SATURATION))


def matrices(host: Host) -> str:
    """The widest arithmetic for whole matrices, as data/efficiency.csv names it."""
    return "amx" if {"amx_int8", "amx_bf16"} & host.instruction_sets else vectors(host)


def vectors(host: Host) -> str:
    """The widest arithmetic for one vector at a time, which AMX does not widen."""
    for name, flags in (
        ("avx512", {"avx512f", "avx512_vnni"}),
        ("avx2", {"avx2"}),
        ("neon", {"neon", "asimd", "dotprod", "asimddp", "i8mm", "sve"}),
    ):
        if flags & host.instruction_sets:
            return name
    return ""


def rates(link: Link) -> Mapping[Transfer, Figure]:
    """What a link gives for each way to cross it [B/s]."""
    return {
        Transfer.PINNED: link.pinned,
        Transfer.PAGEABLE: link.pageable,
        Transfer.ZERO_COPY: link.zero_copy,
    }


def link_seconds(moved: Array, link: Link, transfer: Transfer, constants: Efficiency) -> Array:
    """Host memory to a GPU [s].

    t = bytes / (share S) + bytes / host copy: a runtime that stages each tensor through its own
    copy pays that besides.
    """
    rate = rates(link)[transfer].value * constants.value("link_share")
    return moved / rate + moved / constants.value("host_copy")


def page_fault_seconds(
    moved: Array, disk: Disk, constants: Efficiency, pieces: Array = 0.0
) -> Array:
    """Pages of a mapped file, brought in as they are touched [s].

    t = bytes / S_map where a map was read cold; else bytes / S + bytes / fault rate, the kernel's
    work for each page added to the drive's time. A map that is read faster than the drive answers
    large requests owes that to reading ahead, which pieces apart from each other do not share.

    Args:
        moved: all that is brought in [B].
        disk: where it lies.
        constants: of the kernel.
        pieces: what of it does not follow what was read before [B].
    """
    if disk.mapped is not None:
        apart = np.minimum(disk.mapped.value, disk.sequential.value)
        return (moved - pieces) / disk.mapped.value + pieces / apart
    return moved / disk.sequential.value + moved / constants.value("fault_rate")


def disk_seconds(moved: Array, disk: Disk, constants: Efficiency) -> Array:
    """Large reads of a runtime's own offload files [s]."""
    return moved / (disk.sequential.value * constants.value("disk_share"))


def flow_seconds(flow: Flow, machine: Machine, constants: Efficiency) -> FlowTime:
    """Time of one flow on a machine [s].

    Raises:
        InputError: a route over the drive on a machine whose drive is not known.
    """
    if flow.load is not None or flow.route is Route.IN_PLACE:
        return _computed(flow, machine, constants)
    onward = _onward(flow, machine, constants)
    if flow.route is Route.STREAMED:
        return FlowTime(moving=onward)
    if machine.disk is None:
        raise InputError("The drive's speed is not known; give it in GB/s or measure it.")
    if flow.route is Route.PAGED:
        return FlowTime(moving=page_fault_seconds(flow.moved, machine.disk, constants, flow.pieces))
    return FlowTime(moving=disk_seconds(flow.moved, machine.disk, constants) + onward)


def _computed(flow: Flow, machine: Machine, constants: Efficiency) -> FlowTime:
    if flow.load is None:
        return FlowTime(moving=host_attention_seconds(flow.moved, machine.host, constants))
    if flow.route is not Route.RESIDENT:
        if flow.kernels is not None:
            return FlowTime(moving=host_kernel_seconds(flow.load, machine.host, constants))
        return cpu_seconds(flow.load, machine.host, constants, repacked=flow.repacked)
    gpu = machine.gpus[flow.device]
    if flow.kernels is None:
        return gpu_seconds(flow.load, gpu, constants)
    moving, layers = kernel_seconds(flow.load, gpu, flow.kernels, constants)
    return FlowTime(moving=moving, layers=layers)


def _onward(flow: Flow, machine: Machine, constants: Efficiency) -> Array:
    """From RAM to the GPU [s]; nothing for what goes no further, and for a CPU's own pages."""
    if flow.transfer is None or flow.route is Route.PAGED:
        return 0.0
    link = machine.gpus[flow.device].link
    return link_seconds(flow.moved, link, flow.transfer, constants)


def stage_seconds(stage: Stage, machine: Machine, constants: Efficiency) -> StepTime:
    """Time of flows side by side: the longest, or what shared RAM needs for all of them [s]."""
    times = [flow_seconds(flow, machine, constants) for flow in stage.flows]
    if len(times) == 1:
        alone = {stage.flows[0].route: times[0].moving, LAYERS: times[0].layers}
        return StepTime(total=times[0].total, parts=alone, hidden=0.0)
    longest = _largest([time.total for time in times])
    ram = np.maximum(ram_bytes(stage) / machine.host.bandwidth.value - longest, 0.0)
    parts: dict[str, Array] = {Route.IN_PLACE: ram}
    taken = np.zeros_like(longest, dtype=bool)
    for flow, time in zip(stage.flows, times, strict=True):
        counts = (time.total >= longest) & ~taken
        taken = taken | counts
        parts[flow.route] = parts.get(flow.route, 0.0) + np.where(counts, time.moving, 0.0)
        parts[LAYERS] = parts.get(LAYERS, 0.0) + np.where(counts, time.layers, 0.0)
    beside = sum((time.total for time in times), start=np.zeros_like(longest)) - longest
    return StepTime(total=longest + ram, parts=parts, hidden=beside)


def ram_bytes(stage: Stage) -> Array:
    """What the flows of a stage together take from RAM, where several do; else 0 [B]."""
    takes: list[Array] = []
    for flow in stage.flows:
        if flow.route is Route.IN_PLACE and flow.load is not None:
            takes.append(flow.load.weights + flow.load.kv)
        elif flow.route in (Route.IN_PLACE, Route.STREAMED):
            takes.append(flow.moved * flow.alike)
    several = len(takes) > 1 or any(flow.alike > 1 for flow in stage.flows)
    return sum(takes, start=np.zeros(())) if several else 0.0


def exchange_seconds(exchange: Exchange, machine: Machine, constants: Efficiency) -> Array:
    """GPUs send activations to each other [s].

    t = times (latency + bytes / S). An all-reduce of one vector costs its latency alone, whatever
    the link can move; long prompts fill it. Cards without a link of their own go through the
    host's memory, at a share of its link.
    """
    if exchange.way is Way.NETWORK:
        rate = machine.network.value if machine.network else np.inf
        return exchange.times * (constants.value("network_hop") + exchange.moved / rate)
    gpu = machine.gpus[0]
    rate = gpu.peer.value if gpu.peer else gpu.link.pinned.value * constants.value("peer_share")
    family = "NVLink" if gpu.peer else ""
    alone = constants.value("all_reduce", family)
    if not exchange.reduces:
        alone = constants.value("crossing")
    return exchange.times * (alone + exchange.moved / rate)


def schedule_seconds(schedule: Schedule, machine: Machine, constants: Efficiency) -> StepTime:
    """Time of a whole phase: stages, crossings and the cost of a step, times its repeats [s]."""
    between: Array = sum(
        (exchange_seconds(one, machine, constants) for one in schedule.exchanges),
        start=np.zeros(()),
    )
    parts: dict[str, Array] = {
        CROSSINGS: schedule.crossings * constants.value("crossing") + between,
        TOKEN: constants.value("token"),
    }
    hidden: Array = 0.0
    for stage in schedule.stages:
        time = stage_seconds(stage, machine, constants)
        hidden = hidden + time.hidden
        for name, seconds in time.parts.items():
            parts[name] = parts.get(name, 0.0) + seconds
    runs = passes(schedule.repeats, schedule.workers, constants.value("pipeline_share"))
    parts = {name: seconds * runs for name, seconds in parts.items()}
    total: Array = sum(parts.values(), start=np.zeros(()))
    return StepTime(total=total, parts=parts, hidden=hidden * runs)


def passes(repeats: Array, workers: Array, share: Array) -> Array:
    """Runs of all stages that repeats take when workers holding them in turn overlap.

    (repeats + g - 1) / g with g = 1 + share (workers - 1): the first repeat goes through all, then
    one follows after another; a share of 1 would be a perfect pipeline, 0 none.
    """
    together = 1.0 + share * (np.asarray(workers) - 1.0)
    return (repeats + together - 1.0) / together


def _largest(values: list[Array]) -> Array:
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*values)))
