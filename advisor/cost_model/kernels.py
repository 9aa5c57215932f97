"""Times of kernels in frameworks, and in engines that keep experts in tiers."""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants, Names
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import (
    FlowTime,
    layer_seconds,
    smooth_max,
    vectors,
)
from advisor.cost_model.schedule import Flow, Kernels, Route
from advisor.errors import InputError
from advisor.machine.machine import Gpu, Host, Machine
from advisor.units import Array

# Frameworks that compute batches kernel by kernel: PyTorch and programs built on it.
#
# Kernels run one after another, so that the times of reading and computing add, where the single
# stream of llama.cpp takes the longer of both: HF Transformers, DeepSpeed and TensorRT-LLM all grow
# linearly from batch 1 on (BLOOM-176B on 8 A100: 230, 254, 285, 348 ms a step at batch 1, 8, 16,
# 32; https://github.com/huggingface/transformers-bloom-inference, 2022-09).


@dataclass(frozen=True, kw_only=True)
class FrameworkKernels(Kernels):
    """Batch of a framework on a GPU, computed kernel by kernel in every layer."""

    number: str  # number type of matrix products, a key of `Gpu.tensor_flops`
    unpacked: Array = 0.0  # compressed weights and cache values converted to that type first

    def gpu_seconds(self, load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
        """Time of a step: reading, computing, unpacking, and fixed costs of the layers [s].

        t = W / (share S) + K / (share_kv S) + F / (share C) + F_a / (share_a C) + F_e / (share_e C)
            + U (ops / P + bytes / S),   layers tau + expert layers tau_e + sequences tau_s

        U values are unpacked by ordinary arithmetic, at P 32-bit operations per second, or by a
        series of elementwise kernels, each of which reads and writes all of them.
        """
        family = gpu.lookup_family
        memory = gpu.bandwidth.value
        reading = load.weights / (constants.value("gpu_read_share", family) * memory)
        attending = load.kv / (constants.value("gpu_kv_share", family) * memory)
        work = (
            load.flops
            + load.attention_flops / constants.value("gpu_attention_flop_share", family)
            + load.expert_flops / constants.value("gpu_expert_flop_share", family)
        )
        computing = work / (
            constants.value("gpu_flop_share", family) * peak_flops(gpu, self.number)
        )
        unpacking = self.unpacked * (
            constants.value("unpack_operations") / peak_flops(gpu, "fp32")
            + constants.value("unpack_bytes") / memory
        )
        return FlowTime(
            moving=reading + attending + computing + unpacking,
            layers=layer_seconds(load.layers, load, gpu, constants)
            + self.sequences * constants.value("sequence"),
        )

    def layers_only(self) -> "FrameworkKernels":
        """Kernels of further layers in a step, without sequences and unpacked values."""
        return FrameworkKernels(number=self.number)


def peak_flops(gpu: Gpu, number: str) -> Array:
    """Dense peak in a number type, or in the next type that the GPU has [FLOP/s].

    A GPU without 4-bit or 8-bit floats unpacks weights and multiplies in 16 bits.
    """
    kinds = (number, "fp16", "fp32") if number != "fp4" else ("fp4", "fp8", "fp16", "fp32")
    return gpu.first_peak(kinds)


# Time of the flows of an engine that keeps experts in tiers.
#
# A round of a reply:
#
# t_gpu   = ( W / (r S) + K / (r_k S) + layers tau ) / g
# t_cores = W_m / min(r_r R, cores r_c),  t_link = W_l / (r_l L),  t_drive = W_d / (r_d D)
#
# W weights that the GPU reads from its memory of rate S, experts of the round that lie there among
# them; K the cache that attention reads; g a generation's speed beside the others. W_m misses that
# the cores compute in RAM of rate R, W_l those fetched over the link of rate L, W_d those read from
# the drive of rate D. A chunk of a prompt:
#
# t_gpu = F / (f C) / g_p + F_a / (f_a C) / g_p,  t_link = W_l / (r_p L) + t_chunk
#
# F work on weights, F_a on the cache, C peak in 16 bits. Shares and times are fitted to published
# runs (`python -m lab.tiers`, data/generated/tiers.csv); numbers may be arrays.


@dataclass(frozen=True, kw_only=True)
class TierKernels(Kernels):
    """Step of an engine that keeps experts in tiers."""

    prompt: bool = False  # a chunk of a prompt; else a round of a reply
    several: bool = False  # layers are divided among several GPUs
    windows: bool = False  # copies run under Windows
    way: str = ""  # way to the drive: pages of a file or buffered reads; else unbuffered reads
    pool: bool = False  # processor and GPU share one memory, which needs no copies over a link
    vulkan: bool = False  # Vulkan shaders compute on the GPU; else CUDA, or its port to HIP or SYCL
    early: bool = False  # its port to the GPU computes with kernels that were written for another
    sleeping: bool = False  # threads of the cores sleep between the products of two experts
    starts: Array = 0.0  # fixed times that the flow has: of a chunk with 1, none with 0

    def gpu_seconds(self, load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
        """Time of a round or chunk on a GPU, without the factor of the engine [s]."""
        if self.prompt:
            return _gpu_chunk(load, gpu, self, constants)
        return _gpu_round(load, gpu, self, constants)

    def flow_seconds(self, flow: Flow, machine: Machine, constants: Constants) -> FlowTime:
        """Time of a flow; raises InputError for a drive whose speed is not known [s]."""
        if self.prompt:
            engine = constants.value("tier_prompt_engine")
        else:
            engine = constants.value("tier_engine")
        time = self._flow_seconds(flow, machine, constants)
        return FlowTime(moving=time.moving * engine, layers=time.layers * engine)

    def _flow_seconds(self, flow: Flow, machine: Machine, constants: Constants) -> FlowTime:
        """Time of a flow without the factor of the engine [s]."""
        if flow.route is Route.RESIDENT and flow.load is not None:
            return self.gpu_seconds(flow.load, machine.gpus[flow.device], constants)
        if flow.route is Route.IN_PLACE and flow.load is not None:
            return self._core_seconds(flow.load, machine.host, constants)
        if flow.route is Route.STREAMED:
            rate = self._link_rate(machine.gpus[flow.device], constants)
            return FlowTime(moving=flow.moved / rate)
        return FlowTime(moving=drive_seconds(flow.moved, self, machine, constants))

    def _core_seconds(self, load: Load, host: Host, constants: Constants) -> FlowTime:
        """Time of the cores for experts where they lie [s]."""
        if self.prompt:
            return _cores_chunk(load, host, constants)
        moving = core_seconds(load.weights, host, constants)
        if self.sleeping:
            moving = moving * constants.value("tier_core_sleeping")
        return FlowTime(moving=moving)

    def _link_rate(self, gpu: Gpu, constants: Constants) -> Array:
        """Rate of experts over the link [B/s]."""
        if self.prompt:
            return _copy_rate(gpu, self, constants)
        return gpu.link.pinned.value * constants.value("tier_link_share")


def kernel_family(family: Names, *, vulkan: bool) -> Names:
    """Generation of GPUs with the same kernels in rounds: "RDNA 3 Vulkan" beside "RDNA 3".

    A generation's factor is that of CUDA's kernels, or of their port: Strata's for HIP came to RDNA
    3 in September 2026 (docs/AMD_HIP_PERFORMANCE.md). MoE4All's shaders were written on an RX 7900
    XTX, its main platform (README_EN 0.10.0), and share nothing with them.
    """
    if not vulkan:
        return family
    if isinstance(family, str):
        return f"{family} Vulkan"
    return tuple(f"{name} Vulkan" for name in family)


def _gpu_round(load: Load, gpu: Gpu, kernels: TierKernels, constants: Constants) -> FlowTime:
    bandwidth = gpu.bandwidth.value
    beside = constants.value("tier_family", kernel_family(gpu.lookup_family, vulkan=kernels.vulkan))
    if kernels.several:
        beside = beside / constants.value("tier_several")
    if kernels.early:
        beside = beside / constants.value("tier_port")
    reading = load.weights / (constants.value("tier_read_share") * bandwidth)
    attending = load.kv / (constants.value("tier_kv_share") * bandwidth)
    return FlowTime(
        moving=(reading + attending) / beside,
        layers=load.layers * constants.value("tier_layer") / beside,
    )


def core_seconds(weights: Array, host: Host, constants: Constants) -> Array:
    """Time of the cores for experts where they lie: smooth maximum of RAM and cores [s]."""
    ram = constants.value("tier_ram_share") * host.bandwidth.value
    core_rate = constants.value("tier_core_rate", vectors(host)) * constants.value(
        "tier_core_engine"
    )
    cores = core_rate * host.cores
    return smooth_max(weights / ram, weights / cores)


def drive_seconds(
    moved: Array, kernels: TierKernels, machine: Machine, constants: Constants
) -> Array:
    """Time of experts from the drive; raises InputError where its speed is not known [s].

    Pages of a mapped file come at the rate of page faults, a quarter of that of unbuffered reads:
    1.1 GB in 550 to 750 ms of a round (Strata 0.1.31, docs/UNSLOTH_Q4.md). Buffered reads are
    copied once more, and few are under way: 0.57 to 0.8 of the drive's rate in the parts of a
    token of four reports under Linux (JustVugg/colibri, issues 31, 39, 101, 136), 0.93 of it on
    Macs (103).
    """
    if not np.any(moved):
        return np.zeros_like(np.asarray(moved, dtype=float))
    if machine.disk is None:
        raise InputError("The drive's speed is not known; give it in GB/s or measure it.")
    share = constants.value("tier_drive_share", kernels.way)
    return moved / (machine.disk.sequential.value * share)


def _copy_rate(gpu: Gpu, kernels: TierKernels, constants: Constants) -> Array:
    """Rate at which a chunk's experts are copied and unpacked [B/s]."""
    if kernels.pool:
        return gpu.bandwidth.value * constants.value("tier_pool_share")
    rate = gpu.link.pinned.value * constants.value("tier_copy_share")
    if kernels.windows:
        return rate / constants.value("tier_copy_windows")
    return rate


def _gpu_chunk(load: Load, gpu: Gpu, kernels: TierKernels, constants: Constants) -> FlowTime:
    peak = gpu.peak_16_bit * constants.value("tier_prompt_family", gpu.lookup_family)
    if kernels.early:
        peak = peak / constants.value("tier_prompt_port")
    work = load.flops + load.expert_flops
    computing = work / (constants.value("tier_flop_share") * peak)
    attending = load.attention_flops / (constants.value("tier_attention_share") * peak)
    return FlowTime(
        moving=computing + attending, layers=kernels.starts * constants.value("tier_chunk")
    )


def _cores_chunk(load: Load, host: Host, constants: Constants) -> FlowTime:
    reading = core_seconds(load.weights, host, constants)
    rate = constants.value("tier_core_flops") * host.cores
    return FlowTime(moving=np.maximum(reading, (load.flops + load.expert_flops) / rate))
