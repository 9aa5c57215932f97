"""Seconds that a processor takes for what lies in its own memory.

Shares of the datasheet and fixed costs come from data/generated/efficiency.csv; numbers may be
arrays.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.loads import Load
from advisor.machine.machine import Gpu, Host
from advisor.units import Array


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


def gpu_seconds(load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
    """A GPU reads what lies in its memory [s].

    t = max( W / (share S) , (F + F_e / share_e) / (share C) )
        + max( K / (share_kv S) , F_a / (share_a C) )
        + further tokens + layers tau + expert layers tau_e + state layers tau_s

    F and F_e are padded to whole tiles of tokens (`padded_flops`). Attention waits for the matrices
    before it, so the two add.
    """
    family, memory, peak = gpu.family, gpu.bandwidth.value, peak_16_bit(gpu)
    weights = load.weights / (constants.value("gpu_read_share", family) * memory)
    cache = load.kv / (constants.value("gpu_kv_share", family) * memory)
    work = padded_flops(load, gpu, constants)
    compute = work / (constants.value("gpu_flop_share", family) * peak)
    attention = load.attention_flops / (constants.value("gpu_attention_share", family) * peak)
    return FlowTime(
        moving=np.maximum(weights, compute)
        + np.maximum(cache, attention)
        + further_token_seconds(load, gpu, constants),
        layers=layer_seconds(load, gpu, constants),
    )


MATRIX_TOKENS = 8
"""Tokens up to which a GPU multiplies vector by vector and pads nothing (MMVQ_MAX_BATCH_SIZE of
llama.cpp's ggml-cuda/mmvq.cuh)."""


def further_token_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Time of the tokens after the first, where a GPU multiplies vector by vector [s].

    t = k (n - 1) F_1 / C for n <= 8 tokens in a step, each with work F_1

    Metal's kernels read the activations anew for every row of weights, so that each further token
    takes k times its arithmetic and nothing hides it (llama.cpp pull request 29110). k is from
    70.4 tokens/s for a token and 260.8 for eight of Qwen2.5-7B in Q8_0 on an M2 Ultra (pull request
    10581): (30.7 - 14.2) ms / 7 = 2.35 ms, 4.5 times 14.1 GFLOP / 27.2 TFLOP/s.
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    further = np.where(tokens <= MATRIX_TOKENS, tokens - 1.0, 0.0)
    alone = load.flops / tokens / peak_16_bit(gpu)
    return np.asarray(constants.value("gpu_further_token") * further * alone)


def padded_flops(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Work on weights with what tiles of tokens waste, experts counted at their own speed [FLOP].

    F (1 + tile / T) + F_e (1 + min(tile_e, M - T_e) / T_e) / share_e

    T tokens of the step, T_e of those for each expert that is read, M = T rounded up to eights: a
    matrix kernel computes whole tiles of tokens, so an expert that few tokens chose costs as much
    as one of a tile; and it takes no larger tile than all tokens of the step fill (`mmq_x` of
    llama.cpp's ggml-cuda/mmq.cuh, which grows by eights until one tile holds them).
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    each = np.maximum(np.asarray(load.per_expert, dtype=float), 1.0)
    many, largest = tokens > MATRIX_TOKENS, MATRIX_TOKENS * np.ceil(tokens / MATRIX_TOKENS)
    empty = np.minimum(constants.value("gpu_expert_tile"), largest - each)
    dense = 1.0 + np.where(many, constants.value("gpu_tile"), 0.0) / tokens
    routed = 1.0 + np.where(many, empty, 0.0) / each
    share = constants.value("gpu_expert_flop_share", gpu.family)
    return np.asarray(load.flops * dense + load.expert_flops * routed / share)


def layer_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Fixed costs of a GPU's layers: starting kernels and waiting for them, whatever they read [s].

    layers tau + expert layers tau_e + state layers tau_s
    """
    return (
        load.layers * constants.value("gpu_layer", gpu.family)
        + load.expert_layers * constants.value("gpu_expert_layer", gpu.family)
        + load.state_layers * constants.value("gpu_state_layer", gpu.family)
    )


MATRIX_TYPES = (("fp16", 1.0), ("fp32", 1.0), ("int8", 2.0))
"""Number types that prompts are computed in, and how many of their operations stand for one in 16
bits: quantized formats multiply in 8-bit integers, which take half the room."""


def peak_16_bit(gpu: Gpu) -> Array:
    """The fastest dense peak among `MATRIX_TYPES`, counted in operations of 16 bits [FLOP/s]."""
    peaks = (gpu.tensor_flops.get(kind, 0.0) / per for kind, per in MATRIX_TYPES)
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*peaks)))


def first_peak(gpu: Gpu, kinds: Iterable[str]) -> Array:
    """Dense peak in the first of some number types that a GPU computes in; 1 without any [FLOP/s].

    Of several GPUs at once each has its own first type: one that a GPU lacks is 0 there.
    """
    peak: Array = 1.0
    for kind in reversed(tuple(kinds)):
        own = gpu.tensor_flops.get(kind, 0.0)
        peak = np.where(np.asarray(own) > 0, own, peak)
    return peak


def cpu_seconds(load: Load, host: Host, constants: Constants, *, repacked: bool = True) -> FlowTime:
    """The host's cores read what lies in RAM [s].

    t = ( t_ram^p + t_cores^p )^(1/p) + max( K / S_ram , F_a (1 + o n) / C_a )
        + layers cores tau
    t_ram = W / S_ram,  t_cores = W / (cores c r) + F (1 - 1/T) / C

    Rates of a core are those of a desktop's; c is the clock of the processor's kind beside that.
    The cores unpack each weight once, at the rate r that holds for a single token, and multiply it
    with every further token of the step at the rate C of matrices. Where all sequences lie in one
    cache, attention of each goes through a share o of the n others, masked. A layer's barriers take
    longer the more cores meet at them.
    """
    several = np.asarray(host.sockets) > 1
    ram: Array = host.bandwidth.value * constants.value("cpu_read_share")
    ram = ram * np.where(several, constants.value("socket_share"), 1.0)
    weights = load.weights / (1.0 if repacked else constants.value("plain_layout_share"))
    cores = host.cores * constants.value("core_clock", host.segment)
    unpacking = weights / (cores * constants.value("core_decode_rate", vectors(host)))
    flops: Array = cores * constants.value("core_flops", matrices(host))
    flops = flops * np.where(several, constants.value("socket_flop_share"), 1.0)
    attention = cores * np.where(
        np.asarray(load.each) >= BATCH,
        constants.value("core_batch_attention_flops", matrices(host)),
        constants.value("core_attention_flops"),
    )
    attended = load.attention_flops * (
        1.0 + constants.value("others_cache_share") * np.asarray(load.shared_with)
    )
    return FlowTime(
        moving=slower(weights / ram, unpacking + further_flops(load) / flops)
        + np.maximum(load.kv / ram, attended / attention),
        layers=load.layers * constants.value("cpu_layer") * host.cores
        + load.expert_layers * constants.value("cpu_expert_layer"),
    )


BATCH = 16
"""Tokens of a sequence from which attention multiplies matrices; below, each reads for itself."""
SATURATION = 2.5
"""How sharply speed stops growing with cores where RAM is the limit: published sweeps over threads
reach 0.7 of either limit where both are equal (EPYC 7773X, DeepSeek-R1, 2 to 64 threads)."""


def further_flops(load: Load) -> Array:
    """Work on weights beyond that of the first token that each weight meets [FLOP]."""
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    each = np.maximum(np.asarray(load.per_expert, dtype=float), 1.0)
    return np.asarray(load.flops * (1.0 - 1.0 / tokens) + load.expert_flops * (1.0 - 1.0 / each))


def slower(first: Array, second: Array) -> Array:
    """Time of two limits that bend into each other: (a^p + b^p)^(1/p) [s].

    The longer where they are far apart, more where they are near.
    """
    bent = np.asarray(first) ** SATURATION + np.asarray(second) ** SATURATION
    return np.asarray(bent ** (1.0 / SATURATION))


def together(ram: Array, cores: Array) -> Array:
    """Read rate where cores and RAM limit each other, as `slower` combines them [B/s]."""
    return np.asarray(1.0 / slower(1.0 / np.asarray(ram), 1.0 / np.asarray(cores)))


def cores_alone(reached: Array, ram: Array) -> Array:
    """Read rate of the cores without the limit of RAM: `together` solved for it [B/s]."""
    return np.asarray((reached**-SATURATION - ram**-SATURATION) ** (-1.0 / SATURATION))


def matrices(host: Host) -> str:
    """The widest arithmetic for whole matrices, as data/generated/efficiency.csv names it."""
    return "amx" if {"amx_int8", "amx_bf16"} & host.instruction_sets else vectors(host)


def vectors(host: Host) -> str:
    """The widest arithmetic for one vector at a time, which AMX does not widen.

    Apple's cores stand apart from others with NEON: each has four units for it and reads several
    times as much. Processors before AVX2 multiply integers in 128 bits.
    """
    if host.name.startswith("Apple "):
        return "apple"
    for name, flags in (
        ("avx512", {"avx512f", "avx512_vnni"}),
        ("avx2", {"avx2"}),
        ("neon", {"neon", "asimd", "dotprod", "asimddp", "i8mm", "sve"}),
        ("sse", {"sse4_2", "avx"}),
    ):
        if flags & host.instruction_sets:
            return name
    return ""
