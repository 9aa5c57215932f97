"""Time of a serving engine's step on a GPU: vLLM, SGLang, TensorRT-LLM with CUDA graphs.

    t_step = t_dense + t_experts + t_attention + t_state + t_elementwise + fixed costs

A matrix product takes the time of reading its weights or of computing, with a smooth maximum:

    t = ( (W / (r S))^3 + (F / (f C))^3 )^(1/3)

W weight bytes read, F FLOPs with rows that fill whole tiles, S memory bandwidth, C peak of the
number type, r and f the shares of both that kernels reach. Fixed costs are those of starting
kernels: a layer's matrix products, its experts, its attention, and the operations between them. The
constants are in data/generated/engine_kernels.csv; numbers may be arrays.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.catalog.constants import Constants, Names, in_common, names_of
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import FlowTime
from advisor.cost_model.schedule import Kernels
from advisor.machine.machine import Gpu
from advisor.units import Array

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
    """Family of GPUs with the same constants; of several GPUs one for each where they differ.

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
    return (
        kernels.products_per_layer * load.layers * constants.value("dense_layer", family)
        + kernels.attention_layers * constants.value(attention, family)
        + kernels.latent_layers * constants.value("latent_layer", family)
        + kernels.indexed_layers * constants.value(indexer, family)
        + load.expert_layers * constants.value("experts_layer", family)
        + load.state_layers * constants.value("state_layer", family)
        + kernels.sequences * constants.value("engine_sequence")
    )
