"""Time of a schedule on a machine.

    t_flow  = time of its bytes and FLOPs on the processor at its end + fixed costs of its layers
    t_stage = max over its flows, and over shared memory of bytes / S
    t_step  = sum of stages + exchanges + crossings t_cross + t_token

The formula of a flow stands at the function that times it (docs/core.md lists them): `gpu_seconds`
and `cpu_seconds` for llama.cpp, the engine's `Kernels` for others.
Layers of llama.cpp on a GPU take `host_launch` times as long, by the kind of host that starts
them. Shares and fixed costs come from data/generated/efficiency.csv. Every function takes numbers
or arrays.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, reduce

import numpy as np

from advisor.catalog.constants import Constants, Names, in_common, names_of
from advisor.cost_model.kernels import generation
from advisor.cost_model.processors import (
    FlowTime,
    cpu_seconds,
    gpu_seconds,
    host_attention_seconds,
)
from advisor.cost_model.schedule import (
    Exchange,
    ExchangePath,
    Flow,
    Route,
    Schedule,
    Stage,
    Transfer,
)
from advisor.errors import InputError
from advisor.machine.machine import Disk, Gpu, Link, Machine, Network
from advisor.units import Array


class FixedTime(StrEnum):
    """Part of a step's time that belongs to no route."""

    LAYERS = "layers"  # start of kernels, layer by layer
    CROSSINGS = "crossings"  # hand-overs between processors
    TOKEN = "token"  # noqa: S105 -- each token, whatever the model
    HIDDEN = "hidden"  # beside a longer route, which adds nothing


@dataclass(frozen=True, kw_only=True)
class StepTime:
    """Time of one run of a schedule, and its parts [s]."""

    total: Array  # elapsed time
    parts: dict[str, Array]  # time by route and fixed cost; the sum is `total`
    hidden: Array  # time of flows that overlap with a longer one and add nothing to `total`


ON_GPU = (Route.RESIDENT, Route.STREAMED, FixedTime.LAYERS, FixedTime.TOKEN, FixedTime.CROSSINGS)
"""Parts of the time that depend on a GPU, its link and its runtime."""
OF_CARD = (Route.RESIDENT, FixedTime.LAYERS, FixedTime.TOKEN)
"""Those of them that are the card's own work, not waiting for a link or another processor."""


def centred(time: StepTime, constants: Constants) -> StepTime:
    """Time of a token on a stranger's machine: the cards' own work takes `centre` times as long.

    `centre` is the median of measured over predicted time for the publishers that set widths
    (lab/publishers.csv). Their cards have power limits, screens and other programs that cards of
    benches have not; none of these slows a link.
    """
    centre = constants.value("centre")
    if np.ndim(centre) == 0 and centre == 1.0:
        return time
    parts = {
        name: seconds * centre if name in OF_CARD else seconds
        for name, seconds in time.parts.items()
    }
    added = sum((parts[name] - time.parts[name] for name in parts), start=np.zeros(()))
    return StepTime(total=time.total + added, parts=parts, hidden=time.hidden)


def link_seconds(moved: Array, link: Link, transfer: Transfer, constants: Constants) -> Array:
    """Time of a transfer from host memory to a GPU [s].

    t = bytes / (share S) + bytes / host copy + wait bytes / S_faster

    S is the rate of the link. The second term is for runtimes that first copy each tensor within
    RAM, and next to nothing for others. The third is for pageable memory alone, whose bytes a core
    first copies to pinned buffers of the driver or the backend: S is then the slower of core and
    link, S_faster the other, and `wait` the share of its time that does not overlap. CUDA's driver
    fills one buffer while it sends another (0); Vulkan's backend copies a tensor and then sends it,
    and ROCm's runtime locks its pages first (1).
    """
    of = {Transfer.PINNED: link.pinned, Transfer.PAGEABLE: link.pageable}
    rate = of.get(transfer, link.zero_copy).value
    share = constants.value("link_share")
    if transfer is not Transfer.PAGEABLE:
        return moved / (rate * share) + moved / constants.value("host_copy")
    core = constants.value("pageable_copy")
    copied = np.minimum(rate, core)
    faster = np.maximum(link.pinned.value, core)
    seconds = moved / (copied * share) + moved / constants.value("host_copy")
    return seconds + constants.value("staging_wait") * moved / faster


def page_fault_seconds(
    moved: Array, disk: Disk, constants: Constants, pieces: Array = 0.0, renewal: Array = 0.0
) -> Array:
    """Time to read pages of a mapped file at page faults [s].

    t = bytes / S_map + renewal where the rate of a cold map was measured; else bytes / S + bytes /
    fault rate, the kernel's work for each page added to the drive's time. A map faster than large
    reads of the drive owes this to read-ahead, which does not help `pieces` of the bytes that are
    scattered over the file; `renewal` is the time to evict old pages.
    """
    if disk.mapped is not None:
        apart = np.minimum(disk.mapped.value, disk.sequential.value)
        return (moved - pieces) / disk.mapped.value + pieces / apart + renewal
    return moved / disk.sequential.value + moved / constants.value("fault_rate")


def flow_seconds(flow: Flow, machine: Machine, constants: Constants) -> FlowTime:
    """Time of one flow on a machine; raises InputError for a drive whose speed is not known [s]."""
    if flow.kernels is not None:
        time = flow.kernels.flow_seconds(flow, machine, constants)
        if time is not None:
            return time
    if flow.load is not None or flow.route is Route.IN_PLACE:
        return _computed(flow, machine, constants)
    onward: Array = 0.0  # from RAM to the GPU, but for bytes that stay there and pages of the CPU
    if flow.transfer is not None and flow.route is not Route.PAGED:
        link = machine.gpus[flow.device].link
        onward = link_seconds(flow.moved, link, flow.transfer, constants)
    if flow.route is Route.STREAMED:
        return FlowTime(moving=onward)
    if machine.disk is None:
        raise InputError("The drive's speed is not known; give it in GB/s or measure it.")
    if flow.route is Route.PAGED:
        paged = flow.moved, machine.disk, constants, flow.pieces, flow.renewal
        return FlowTime(moving=page_fault_seconds(*paged))
    large = machine.disk.sequential.value * constants.value("disk_share")  # an engine's own files
    return FlowTime(moving=flow.moved / large + onward)


def _computed(flow: Flow, machine: Machine, constants: Constants) -> FlowTime:
    """Time of a flow that llama.cpp computes, or of a framework's attention in RAM [s]."""
    if flow.load is None:
        return FlowTime(moving=host_attention_seconds(flow.moved, machine.host, constants))
    if flow.route is not Route.RESIDENT:
        return cpu_seconds(flow.load, machine.host, constants, repacked=flow.repacked)
    time = gpu_seconds(flow.load, machine.gpus[flow.device], constants)
    launch = constants.value("host_launch", machine.host.segment)
    return FlowTime(moving=time.moving, layers=time.layers * launch)


def stage_seconds(stage: Stage, machine: Machine, constants: Constants) -> StepTime:
    """Time of parallel flows: that of the longest flow, or of the RAM that they share [s].

    The parts are those of the longest flow alone. Where the RAM takes longer, the difference counts
    as read in RAM (`Route.IN_PLACE`).
    """
    times = [flow_seconds(flow, machine, constants) for flow in stage]
    copied_by_all = stage[0].route is Route.STREAMED and stage[0].alike > 1
    if len(times) == 1 and not copied_by_all:
        alone: dict[str, Array] = {
            stage[0].route: times[0].moving,
            FixedTime.LAYERS: times[0].layers,
        }
        return StepTime(total=times[0].total, parts=alone, hidden=0.0)
    longest = np.asarray(reduce(np.maximum, [time.total for time in times]))
    ram = np.maximum(ram_bytes(stage) / machine.host.bandwidth.value - longest, 0.0)
    parts: dict[str, Array] = {Route.IN_PLACE: ram}
    counted = np.zeros_like(longest, dtype=bool)
    for flow, time in zip(stage, times, strict=True):
        counts = (time.total >= longest) & ~counted
        counted = counted | counts
        parts[flow.route] = parts.get(flow.route, 0.0) + np.where(counts, time.moving, 0.0)
        parts[FixedTime.LAYERS] = parts.get(FixedTime.LAYERS, 0.0) + np.where(
            counts, time.layers, 0.0
        )
    beside = sum((time.total for time in times), start=np.zeros_like(longest)) - longest
    return StepTime(total=longest + ram, parts=parts, hidden=beside)


def ram_bytes(stage: Stage) -> Array:
    """Bytes that several flows of a stage read from RAM together; 0 for fewer than two [B].

    One flow alone is timed by its own rate. What the processor computes is read once, bytes that
    are only moved once for each of the GPUs that `alike` counts.
    """
    takes: list[Array] = []
    for flow in stage:
        if flow.route is Route.IN_PLACE and flow.load is not None:
            takes.append(flow.load.weights + flow.load.kv)
        elif flow.route in (Route.IN_PLACE, Route.STREAMED):
            takes.append(flow.moved * flow.alike)
    several = len(takes) > 1 or any(flow.alike > 1 for flow in stage)
    if several:
        return sum(takes, start=np.zeros(()))
    return 0.0


def exchange_seconds(exchange: Exchange, machine: Machine, constants: Constants) -> Array:
    """Time of exchanges between GPUs [s].

    t = times (latency + bytes / (share S)). A small all-reduce takes its latency only, at any link
    rate, and longer with more GPUs; long prompts use the link fully. Cards without a link of their
    own share what joins them, which is slower with each GPU beyond the second. Between machines a
    sum takes a round for each doubling of their number, and a protocol waits for every message.
    """
    if exchange.way is ExchangePath.NETWORK:
        network = machine.network
        if network and exchange.reduces and network.reduce:
            rounds = float(np.ceil(np.log2(exchange.gpus)))
            sent = sum_seconds(exchange.moved, network)
            return exchange.times * (rounds * network.reduce.value + sent)
        hop: Array = constants.value("network_hop")
        if network and np.any(exchange.messages) and network.message:
            hop = exchange.messages * network.message.value
        return exchange.times * (hop + exchange.moved / (network.rate.value if network else np.inf))
    gpu = machine.gpus[-1]  # the slowest, for which unlike cards wait
    path = peer_path(gpu)
    rate: Array = peer_rate(gpu) * constants.value_by_family("peer_share", path)
    if not exchange.reduces:
        return exchange.times * (constants.value("crossing") + exchange.moved / rate)
    further = exchange.gpus - 2
    alone: Array = constants.value_by_family("all_reduce", path)
    alone = alone + further * constants.value_by_family("all_reduce_further", path)
    sharing: Array = (
        constants.value_by_family("peer_sharing", _or_else(path, generation(gpu))) * further
    )
    return exchange.times * (alone + exchange.moved / rate * (1.0 + sharing))


COPIED_FIRST = 2.0**20
"""Bytes of a sum that the host copies one after another before the network is full: 1 MB took
2,100 us between two GB10, 16 MB 3,400 to 5,100 (MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks issue
22, 2026-08) [B]."""


def sum_seconds(moved: Array, network: Network) -> Array:
    """Time of the bytes of a sum between machines: t = min(b, c) / s + max(b - c, 0) / R [s].

    R is the network's rate and s that of the first c bytes, where the host copies them.
    """
    rate = network.rate.value
    if network.staged is None:
        return moved / rate
    first = np.minimum(moved, COPIED_FIRST)
    return first / network.staged.value + (moved - first) / rate


NVLINK = "NVLink"
HOST_MEMORY = "host memory"
"""Paths between GPUs that have constants of their own; over PCIe they have the general ones."""
PATHS = (HOST_MEMORY, "", NVLINK)


def peer_rate(gpu: Gpu) -> Array:
    """Rate from a GPU to another of its kind, over their own link where they have one [B/s]."""
    if gpu.peer is None:
        return gpu.link.pinned.value
    return np.where(gpu.peer.value > 0, gpu.peer.value, gpu.link.pinned.value)


def peer_path(gpu: Gpu) -> Names:
    """Path from a GPU to another of its kind, as the table of constants names it; "" for PCIe.

    NCCL copies through the host's memory where no GPU reads the memory of another
    (`NCCL_SHM_DISABLE` in the environment variables of NCCL's documentation). Several
    GPUs have one for each where their paths differ.
    """
    linked = gpu.peer is not None and gpu.peer.value > 0
    index = np.where(linked, 2, np.where(np.asarray(gpu.peer_access) > 0, 1, 0))
    return _paths(index.astype(np.uint8).tobytes())


@lru_cache(maxsize=256)
def _paths(indices: bytes) -> Names:
    """Paths at some places of `PATHS`, kept for the next exchange."""
    return in_common(PATHS[index] for index in indices)


@lru_cache(maxsize=256)
def _or_else(paths: Names, generations: Names) -> Names:
    """Path of each GPU; its generation for GPUs with the general path."""
    if isinstance(paths, str):
        return paths or generations
    others = names_of(generations)
    others = others * (len(paths) // len(others))
    return tuple(path or other for path, other in zip(paths, others, strict=True))


def schedule_seconds(schedule: Schedule, machine: Machine, constants: Constants) -> StepTime:
    """Time of a phase: stages, crossings and the fixed cost of a step, times its repeats [s].

    For several numbers of GPUs a stage has an axis with each GPU, and the GPUs work in turn.
    """
    between: Array = sum(
        (exchange_seconds(exchange, machine, constants) for exchange in schedule.exchanges),
        start=np.zeros(()),
    )
    parts: dict[str, Array] = {
        FixedTime.CROSSINGS: schedule.crossings * constants.value("crossing") + between,
        FixedTime.TOKEN: constants.value("token"),
    }
    hidden: Array = 0.0
    for stage in schedule.stages:
        time = stage_seconds(stage, machine, constants)
        hidden = hidden + time.hidden
        for name, seconds in time.parts.items():
            if machine.counts is None:
                of_all = seconds
            else:
                of_all = np.sum(seconds, axis=0)
            parts[name] = parts.get(name, 0.0) + of_all
    runs = passes(
        schedule.repeats, schedule.workers, constants.value("pipeline_share"), schedule.first
    )
    parts = {name: seconds * runs for name, seconds in parts.items()}
    hidden = hidden * runs
    if schedule.then is not None:
        later = schedule_seconds(schedule.then, machine, constants)
        hidden = hidden + later.hidden
        names = (*parts, *(name for name in later.parts if name not in parts))
        parts = {name: parts.get(name, 0.0) + later.parts.get(name, 0.0) for name in names}
    total: Array = sum(parts.values(), start=np.zeros(()))
    return StepTime(total=total, parts=parts, hidden=hidden)


def passes(repeats: Array, workers: Array, share: Array, first: Array = 1.0) -> Array:
    """Number of sequential runs of all stages, where repeats overlap on several workers.

    f + (n - f) / g = (n + f (g - 1)) / g with n repeats, g = 1 + share (workers - 1), and f the
    size of the first repeat over the mean: the first goes through all workers, later ones follow;
    a share of 1 is a perfect pipeline, 0 none.
    """
    together = 1.0 + share * (np.asarray(workers) - 1.0)
    return (repeats + first * (together - 1.0)) / together
