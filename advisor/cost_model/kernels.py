"""Times of kernels: of frameworks, of engines that keep experts in tiers, of serving engines."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.catalog.constants import Constants, Names, in_common, names_of
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
            constants.value("gpu_flop_share", family) * peak_of_number(gpu, self.number)
        )
        unpacking = self.unpacked * (
            constants.value("unpack_operations") / peak_of_number(gpu, "fp32")
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


def peak_of_number(gpu: Gpu, number: str) -> Array:
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
    waits: Array = 0.0  # share of the GPU's layers that wait for the processor in a round, 0 to 1

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
        layers=load.layers
        * (constants.value("tier_layer") / beside + kernels.waits * constants.value("tier_wait")),
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


# Time of a serving engine's step on a GPU: vLLM, SGLang, TensorRT-LLM with CUDA graphs.
#
#     t_step = t_dense + t_experts + t_attention + t_state + t_elementwise + fixed costs
#
# A matrix product takes the time of reading its weights or of computing, with a smooth maximum:
#
#     t = ( (W / (r S))^3 + (F / (f C))^3 )^(1/3)
#
# W weight bytes read, F FLOPs with rows that fill whole tiles, S memory bandwidth, C peak of the
# number type, r and f the shares of both that kernels reach. Fixed costs are those of starting
# kernels: a layer's matrix products, its experts, its attention, and the operations between them.
# The constants are in data/generated/engine_kernels.csv; numbers may be arrays.

CORNER = 3.0
"""Exponent of the smooth maximum of reading and computing; 1 would add both. Dense 16-bit
products on A100, H100, B200 and L40S have 2.9 to 3.2 (aiconfigurator 0.12.0)."""
PEAKS = {
    "f16": ("fp16", "fp32"),
    "int4": ("fp16", "fp32"),
    "mxfp4": ("fp16", "fp32"),
    "fp8": ("fp8", "fp16", "fp32"),
    "nvfp4": ("fp4", "fp8", "fp16", "fp32"),
}
"""Number types for the matrix products of a format; the first one that the GPU has is used."""
FAST_MEMORY = 2.5e12
"""Bandwidth above which a Blackwell GPU has HBM; its GDDR7 cards reach 1.8e12 [B/s]."""


@dataclass(frozen=True, kw_only=True)
class EngineKernels(Kernels):
    """Properties of a serving engine's step that its `Load` does not have."""

    prompt: bool = False  # a step over prompts; else each sequence gets a token
    dense: str = "f16"  # format of dense weights, a key of `PEAKS`
    experts: str = "f16"  # format of routed experts
    head_bytes: Array = 0.0  # part of `Load.weights` for the output head [B]
    head_flops: Array = 0.0  # part of `Load.flops` for the output head, on every token [FLOP]
    head_used: Array = 0.0  # the part on tokens that need it, the last of each sequence [FLOP]
    activations: Array = 0.0  # residual stream of all tokens, written once in each layer [B]
    expert_activations: Array = 0.0  # the same, once for each expert that a token uses [B]
    expert_rows: Array = 0.0  # work of one token in each expert that the step uses [FLOP]
    attention_layers: Array = 0.0  # number of layers with a cache
    latent_layers: Array = 0.0  # number of them with a latent (MLA), which takes further products
    indexed_layers: Array = 0.0  # number of them that choose the tokens they attend to by an index
    # matrix products of a mean layer beside its experts, over those of attention and feed-forward
    products_per_layer: Array = 1.0
    state_flops: Array = 0.0  # work of linear attention on its states [FLOP]

    def gpu_seconds(self, load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
        """Time of one step on one GPU [s]."""
        release = constants.value("engine_release")
        moving = (
            dense_seconds(load, gpu, self, constants)
            + expert_seconds(load, gpu, self, constants)
            + attention_seconds(load, gpu, constants)
            + state_seconds(gpu, self, constants)
            + between_seconds(gpu, self, constants)
        )
        return FlowTime(
            moving=moving * release, layers=launch_seconds(load, gpu, self, constants) * release
        )

    def layers_only(self) -> "EngineKernels":
        """Kernels of further layers in a step, whose tokens and cache are counted already with
        other layers.
        """
        return EngineKernels(
            prompt=self.prompt,
            dense=self.dense,
            experts=self.experts,
            products_per_layer=self.products_per_layer,
        )


TILES = 64.0
"""Largest tile of an expert's tokens [tokens]: Marlin takes the smallest of 8, 16, 32, 48 and 64
that the mean number of tokens fills to less than 0.9 (fused_moe/experts/marlin_moe.py of vLLM
0.33); Triton's and CUTLASS's tables of tiles end at 64 to 128."""
WASTED = 0.25
"""Part of a tile that stays empty on average where an expert has tokens for more than one: half of
the last tile, with tiles of half the tokens."""


def generation(gpu: Gpu) -> Names:
    """Family of GPUs with the same constants; a tuple for several GPUs that differ.

    Blackwell with HBM, or with the LPDDR5X that GB10 shares, differs from Blackwell with GDDR7.
    """
    rates = np.ravel(np.asarray(gpu.bandwidth.value, dtype=float))
    return _generations(gpu.lookup_family, rates.tobytes(), gpu.unified)


@lru_cache(maxsize=256)
def _generations(family: Names, bandwidths: bytes, shared: bool) -> Names:
    """Generations of GPUs' families and bandwidths [B/s], kept for the next kernel.

    Blackwell's name has "HBM" or "LPDDR" (memory that the processor shares) behind it, and nothing
    for GDDR7.
    """
    families = names_of(family)
    rates = np.frombuffer(bandwidths)
    count = max(len(families), len(rates))
    if shared:
        memories = [" LPDDR"] * count
    else:
        memories = [
            " HBM" if rate > FAST_MEMORY else "" for rate in np.tile(rates, count // len(rates))
        ]
    return in_common(
        family + memory * (family == "Blackwell")
        for family, memory in zip(families * (count // len(families)), memories, strict=True)
    )


def dense_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Time of products with dense weights, and with the output head in 16 bits [s]."""
    layers = product_seconds(
        load.weights - load.experts - kernels.head_bytes,
        load.flops - kernels.head_flops,
        gpu,
        f"dense_{kernels.dense}",
        constants,
    )
    head = product_seconds(kernels.head_bytes, kernels.head_used, gpu, "dense_f16", constants)
    return layers + head


def expert_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Time of products with routed experts [s].

    Each expert's tokens fill tiles, part of which stays empty: F = F_tokens + empty F_row. Tokens
    are sorted by expert and added up again, which moves the residual stream of each.
    """
    name = f"experts_{kernels.experts}"
    empty = empty_rows(load.per_expert, constants.value(f"{name}_tile")) * kernels.expert_rows
    products = product_seconds(load.experts, load.expert_flops + empty, gpu, name, constants)
    moved = constants.value("experts_moves") * kernels.expert_activations
    return products + moved / gpu.bandwidth.value


def empty_rows(tokens: Array, tile: Array) -> Array:
    """Rows of an expert's tiles that stay empty on average, at m tokens for each used expert
    [tokens].

    max( tile - m, WASTED min( m, TILES ) ): kernels take larger tiles for more tokens.
    """
    filled = np.asarray(tokens, dtype=float)
    return np.asarray(np.maximum(tile - filled, WASTED * np.minimum(filled, TILES)))


def product_seconds(
    weights: Array, flops: Array, gpu: Gpu, kernel: str, constants: Constants
) -> Array:
    """Time of a matrix product: smooth maximum of reading its weights [B] and computing [FLOP] [s].

    `kernel` is a name such as "dense_" or "experts_" with a format.
    """
    family = generation(gpu)
    form = kernel.partition("_")[2]
    reading = weights / (constants.value(f"{kernel}_read_share", family) * gpu.bandwidth.value)
    peak = peak_flops(gpu, form)
    computing = flops / (constants.value(f"{kernel}_flop_share", family) * peak)
    return np.asarray((reading**CORNER + computing**CORNER) ** (1.0 / CORNER))


def peak_flops(gpu: Gpu, form: str) -> Array:
    """Dense peak of a GPU in the number type used for a format [FLOP/s]."""
    return gpu.first_peak(PEAKS[form])


def attention_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Time of attention, with the cache read and multiplied in 16 bits [s].

    t = K / (r S) + F / (f C)
    """
    family = generation(gpu)
    reading = load.kv / (constants.value("attention_read_share", family) * gpu.bandwidth.value)
    work = constants.value("attention_flop_share", family) * peak_flops(gpu, "f16")
    return reading + load.attention_flops / work


def state_seconds(gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Time of linear attention on its states; their bytes count with the cache [s]."""
    share = constants.value("state_flop_share", generation(gpu))
    return kernels.state_flops / (share * peak_flops(gpu, "f16"))


def between_seconds(gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Time of norms, activation functions and conversions, by the bytes they move [s]."""
    moves = constants.value(f"moves_{kernels.dense}")
    return moves * kernels.activations / gpu.bandwidth.value


def launch_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Time to start kernels, independent of their work [s].

    p layers tau + attention layers tau_a + latent layers tau_l + indexed layers tau_i
        + expert layers tau_e + state layers tau_s + sequences tau_q,  p = `products_per_layer`
    """
    family = generation(gpu)
    if kernels.prompt:
        attention = "attention_prompt_layer"
        indexer = "indexed_prompt_layer"
    else:
        attention = "attention_layer"
        indexer = "indexed_layer"
    product_layers = kernels.products_per_layer * load.layers
    return (
        product_layers * constants.value("dense_layer", family)
        + kernels.attention_layers * constants.value(attention, family)
        + kernels.latent_layers * constants.value("latent_layer", family)
        + kernels.indexed_layers * constants.value(indexer, family)
        + load.expert_layers * constants.value("experts_layer", family)
        + load.state_layers * constants.value("state_layer", family)
        + kernels.sequences * constants.value("engine_sequence")
    )
