"""Seconds of a serving engine's step on a GPU: vLLM, SGLang, TensorRT-LLM with CUDA graphs.

    t_step = t_dense + t_experts + t_attention + t_elementwise + fixed costs

A matrix product reads its weights and multiplies, the longer of both with a soft corner:

    t = ( (W / (r S))^3 + (F / (f C))^3 )^(1/3)

W weight bytes read, F FLOPs with rows that fill up tiles, S memory bandwidth, C peak of the number
type, r and f the shares of both that kernels reach. Fixed costs are kernels that start, whatever
they read: a layer's matrix products, its experts, its attention, what is between them. Constants
stand in data/generated/engine_kernels.csv; numbers may be arrays.
"""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import STACKED, Constants
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import FlowTime, first_peak
from advisor.cost_model.schedule import Kernels
from advisor.machine.machine import Gpu
from advisor.units import Array

CORNER = 3.0
"""How sharply a product turns from reading to computing; 1 would add both, more is sharper. Dense
products of 16 bits on A100, H100, B200 and L40S turn at 2.9 to 3.2 (aiconfigurator 0.12.0)."""
PEAKS = {
    "f16": ("fp16", "fp32"),
    "int4": ("fp16", "fp32"),
    "mxfp4": ("fp16", "fp32"),
    "fp8": ("fp8", "fp16", "fp32"),
    "nvfp4": ("fp4", "fp8", "fp16", "fp32"),
}
"""Number types that matrices of a format are multiplied in, the first that a GPU has."""
FAST_MEMORY = 2.5e12
"""Bandwidth from which a Blackwell GPU is one with HBM; its GDDR7 cards reach 1.8e12 [B/s]."""


@dataclass(frozen=True, kw_only=True)
class EngineKernels(Kernels):
    """How a serving engine computes a step, beside what the step's `Load` says.

    Attributes:
        prompt: prompts are read, else each sequence gets a token.
        dense: format of dense weights, a key of `PEAKS`.
        experts: format of routed experts.
        head_bytes: of `Load.weights`, those of the output head [B].
        head_flops: of `Load.flops`, those of the output head on every token [FLOP].
        head_used: the same on the tokens whose successor is wanted [FLOP].
        activations: the residual stream of all tokens, written once in each layer [B].
        expert_activations: the same for each expert that a token uses [B].
        expert_rows: work of one token in each expert that the step uses, by which tiles that are
            partly empty are counted [FLOP].
        attention_layers: layers with a cache.
    """

    prompt: bool = False
    dense: str = "f16"
    experts: str = "f16"
    head_bytes: Array = 0.0
    head_flops: Array = 0.0
    head_used: Array = 0.0
    activations: Array = 0.0
    expert_activations: Array = 0.0
    expert_rows: Array = 0.0
    attention_layers: Array = 0.0


def generation(gpu: Gpu) -> str:
    """Family whose kernels behave alike: Blackwell with HBM is another one than with GDDR7.

    Of GPUs that are asked for at once, each its own.
    """
    families = gpu.family.split(STACKED)
    rates = np.ravel(np.asarray(gpu.bandwidth.value, dtype=float))
    count = max(len(families), len(rates))
    names = [
        f"{family} HBM" if family == "Blackwell" and rate > FAST_MEMORY else family
        for family, rate in zip(
            families * (count // len(families)),
            np.tile(rates, count // len(rates)),
            strict=True,
        )
    ]
    return names[0] if len(set(names)) == 1 else STACKED.join(names)


def engine_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> FlowTime:
    """One step on one GPU [s]."""
    release = constants.value("engine_release")
    moving = (
        dense_seconds(load, gpu, kernels, constants)
        + expert_seconds(load, gpu, kernels, constants)
        + attention_seconds(load, gpu, constants)
        + between_seconds(gpu, kernels, constants)
    )
    return FlowTime(
        moving=moving * release, layers=launch_seconds(load, kernels, constants) * release
    )


def dense_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Products with dense weights, and with the output head in 16 bits [s]."""
    layers = product_seconds(
        load.weights - load.experts - kernels.head_bytes,
        load.flops - kernels.head_flops,
        gpu, f"dense_{kernels.dense}", constants,
    )  # fmt: skip
    head = product_seconds(kernels.head_bytes, kernels.head_used, gpu, "dense_f16", constants)
    return layers + head


def expert_seconds(load: Load, gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Products with routed experts [s].

    Each expert's tokens fill tiles of rows, of which on average a number stays empty:
    F = F_tokens + empty F_row. Tokens are sorted by expert and added up again, which moves the
    residual stream of each.
    """
    name = f"experts_{kernels.experts}"
    empty = constants.value(f"{name}_empty_rows") * kernels.expert_rows
    products = product_seconds(load.experts, load.expert_flops + empty, gpu, name, constants)
    moved = constants.value("experts_moves") * kernels.expert_activations
    return products + moved / gpu.bandwidth.value


def product_seconds(
    weights: Array, flops: Array, gpu: Gpu, kernel: str, constants: Constants
) -> Array:
    """A matrix product: weights read or work done, whichever is longer, with a soft corner [s].

    Args:
        weights: bytes read [B].
        flops: work [FLOP].
        gpu: where.
        kernel: "dense_" or "experts_" and a format.
        constants: shares of bandwidth and peak.
    """
    family, form = generation(gpu), kernel.partition("_")[2]
    reading = weights / (constants.value(f"{kernel}_read_share", family) * gpu.bandwidth.value)
    peak = peak_flops(gpu, form)
    computing = flops / (constants.value(f"{kernel}_flop_share", family) * peak)
    return np.asarray((reading**CORNER + computing**CORNER) ** (1.0 / CORNER))


def peak_flops(gpu: Gpu, form: str) -> Array:
    """Dense peak in the number type that a format is multiplied in on a GPU [FLOP/s]."""
    return first_peak(gpu, PEAKS[form])


def attention_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Attention: the cache is read and multiplied in 16 bits [s].

    t = K / (r S) + F / (f C)
    """
    family = generation(gpu)
    reading = load.kv / (constants.value("attention_read_share", family) * gpu.bandwidth.value)
    work = constants.value("attention_flop_share", family) * peak_flops(gpu, "f16")
    return reading + load.attention_flops / work


def between_seconds(gpu: Gpu, kernels: EngineKernels, constants: Constants) -> Array:
    """Norms, activation functions and conversions between products: memory they move [s]."""
    moves = constants.value(f"moves_{kernels.dense}")
    return moves * kernels.activations / gpu.bandwidth.value


def launch_seconds(load: Load, kernels: EngineKernels, constants: Constants) -> Array:
    """Kernels that start, whatever they move [s].

    layers tau + attention layers tau_a + expert layers tau_e + state layers tau_s
        + sequences tau_q
    """
    attention = "attention_prompt_layer" if kernels.prompt else "attention_layer"
    return (
        load.layers * constants.value("dense_layer")
        + kernels.attention_layers * constants.value(attention)
        + load.expert_layers * constants.value("experts_layer")
        + load.state_layers * constants.value("state_layer")
        + kernels.sequences * constants.value("engine_sequence")
    )
