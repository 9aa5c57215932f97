"""Time of a processor for the parts of a model in its own memory.

Shares of the datasheet and fixed costs come from data/generated/efficiency.csv; numbers may be
arrays.
"""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants, Names
from advisor.cost_model.loads import Load
from advisor.machine.machine import Gpu, Host
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class FlowTime:
    """Time of one flow [s]."""

    moving: Array  # bytes over speed, or FLOPs over speed where that is longer
    layers: Array = 0.0  # fixed costs of its layers

    @property
    def total(self) -> Array:
        """Sum of both parts of the time [s]."""
        return self.moving + self.layers


def gpu_seconds(load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
    """Time of a GPU for the parts in its memory [s].

    t = max( smooth_max( W / (share S) , unpacking ) + further tokens ,
             (F + F_e / share_e) / (share_f C) , products )
        + max( K / (share_kv S) , F_a / (share_a C) ) + scores 20 B / (share S)
        + fixed costs of the layers

    W counts experts as W_e / share_r: each is a small matrix of its own. F and F_e are padded to
    whole tiles of tokens (`padded_flops`). Attention waits for the matrices before it, so the two
    add. A single token has no further tokens, and a card with 8-bit dot products no products.

    - S `Gpu.bandwidth`, C `Gpu.peak_16_bit`
    - share `gpu_read_share`, share_r `gpu_expert_read_share`, share_kv `gpu_kv_share`
    - share_f `gpu_flop_share`, share_e `gpu_expert_flop_share`, share_a `gpu_attention_share`
    - unpacking `unpacking_seconds`, further tokens `further_token_seconds`, products
      `product_seconds`, fixed costs `layer_seconds`
    """
    family = gpu.lookup_family
    memory = gpu.bandwidth.value
    peak = gpu.peak_16_bit
    cores = gpu.peak_32_bit
    apart = load.experts * (1.0 / constants.value("gpu_expert_read_share", family) - 1.0)
    read = (load.weights + apart) / (constants.value("gpu_read_share", family) * memory)
    weights = smooth_max(read, unpacking_seconds(load, family, cores, constants))
    cache = load.kv / (constants.value("gpu_kv_share", family) * memory)
    work = padded_flops(load, gpu, constants)
    compute = work / (constants.value("gpu_flop_share", family) * peak)
    attention = load.attention_flops / (constants.value("gpu_attention_share", family) * peak)
    return FlowTime(
        moving=np.maximum(
            np.maximum(weights + further_token_seconds(load, gpu, constants), compute),
            product_seconds(load, gpu, constants),
        )
        + np.maximum(cache, attention)
        + SCORE_BYTES * load.scores / (constants.value("gpu_read_share", family) * memory),
        layers=layer_seconds(load.matrices, load, gpu, constants),
    )


SCORE_BYTES = 20.0
"""Bytes moved for each score of attention without flash attention: written in 32 bits, read and
written by the softmax, read and written in 16 bits for the product with V, and read by it
(ggml_mul_mat, ggml_soft_max_ext and ggml_mul_mat of llama.cpp's llama-graph.cpp, build_attn_mha)
[B]."""
MATRIX_TOKENS = 8
"""Largest number of tokens that a GPU multiplies vector by vector, without padding
(MMVQ_MAX_BATCH_SIZE of llama.cpp's ggml-cuda/mmvq.cuh) [tokens]."""


def product_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Time to multiply a few tokens with the weights on a GPU without dot products of 8-bit
    integers; 0 on other GPUs [s].

    t = (F + F_e) / (share P), P 32-bit peak, share `gpu_product_share`, for up to `MATRIX_TOKENS`
    tokens

    Each product then takes instructions of its own to unpack, multiply and add: a P100 multiplies
    some 280 billion weights a second whatever their format, half of what it reads.
    """
    few = np.asarray(load.tokens, dtype=float) <= MATRIX_TOKENS
    rate = constants.value("gpu_product_share", gpu.lookup_family) * gpu.peak_32_bit
    needed = few & (np.asarray(gpu.dot_products) == 0)
    return np.asarray(np.where(needed, (load.flops + load.expert_flops) / rate, 0.0))


def unpacking_seconds(load: Load, family: Names, cores: Array, constants: Constants) -> Array:
    """Time of a GPU's ordinary cores to unpack the weights of a few tokens and multiply them [s].

    t = n ops / P, n weights, P the 32-bit peak of the `cores` [FLOP/s], ops
    `gpu_unpack_operations`, for up to `MATRIX_TOKENS` tokens

    Work of a token is two operations a weight, so n = (F / T + F_e / T_e) / 2, with T and T_e as in
    `padded_flops`. A weight of four bits takes as many instructions on every card: masks, shifts, a
    quarter of a dot product, and its part of the scales (vec_dot_q4_K_q8_1 of llama.cpp's
    ggml-cuda/vecdotq.cuh handles 32 weights in some 60). Cards with much memory bandwidth beside
    their cores wait for these: an A100 reads 2,039 GB/s with 19.5 TFLOP/s, an MI50 1,024 with 13.3,
    a Jetson Orin Nano 102 with 2.1, an RTX 3090 936 with 35.6. Reading and unpacking overlap, so
    `smooth_max` joins them.
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    per_expert = np.maximum(np.asarray(load.per_expert, dtype=float), 1.0)
    weights = (load.flops / tokens + load.expert_flops / per_expert) / 2.0
    operations = constants.value("gpu_unpack_operations", family)
    few = tokens <= MATRIX_TOKENS
    return np.asarray(np.where(few, weights * operations / cores, 0.0))


def further_token_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Time of the tokens after the first, where a GPU multiplies vector by vector [s].

    t = k (min(n, 8) - 1) F_1 / C for n tokens in a step, each with work F_1

    Up to eight tokens each further one is multiplied by ordinary cores, not by matrix units, which
    takes k times its work at their rate C of 32-bit floats: Metal's kernels read the activations
    anew for every row of weights (llama.cpp pull request 29110), CUDA's and ROCm's unpack and
    multiply integers (ggml-cuda/mmvq.cu). More tokens take no less than eight. k by backend:

    - Metal: 70.4 tokens/s for a token and 260.8 for eight of Qwen2.5-7B in Q8_0 on an M2 Ultra
      (pull request 10581): (30.7 - 14.2) ms / 7 = 2.35 ms, 4.5 times 14.1 GFLOP / 27.2 TFLOP/s.
    - CUDA: 105.3 and 406.7 for Llama-7B in Q2_K on an RTX 3090 (pull request 5434): 1.45 ms, 3.9
      times 13.2 GFLOP / 35.6 TFLOP/s; in 16 bits 58.3 and 423.6 of an 8B (14262 and 15131): 0.58.
    - ROCm: 56.2 and 166.1 for Llama-7B in Q4_K_S on an RX 6800 (pull request 5351): 4.34 ms, 5.3
      times 13.2 GFLOP / 16.2 TFLOP/s; in Q4_1 61.2 and 279.4: 2.2.
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    further = np.minimum(tokens, MATRIX_TOKENS) - 1.0
    alone = load.flops / tokens / gpu.first_peak(("fp32", "fp16"))
    return np.asarray(constants.value("gpu_further_token") * further * alone)


def padded_flops(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Work on weights with padding to tiles, with experts scaled to their own speed [FLOP].

    F (1 + tile / T) + F_e (1 + tile_e / T_e) / share_e,    tile_e = tile_most T / (T + T_half)

    T tokens of the step, T_e of those for each expert that is read: a matrix kernel computes whole
    tiles of tokens, so an expert that few tokens chose costs as much as one of a tile. The tile
    grows with the tokens of the step, from 8 to 128 (`mmq_x` of llama.cpp's ggml-cuda/mmq.cuh), but
    unpacking the weights takes as long for a narrow tile as for a wide one; so the padding grows
    smoothly. T_half, where it is half of the most, from prompts of 512 and 2,048 tokens in
    micro-batches of 16 to 2,048 on an RTX 3090: Gemma 4 26B in Q4_K_M reads 911.7, 1,263.8,
    1,606.4, 1,768.8, 2,552.3, 3,487.8, 4,438.3 and 5,212.4 tokens/s (llama.cpp pull request 22298),
    DeepSeek-V2-Lite in Q4_0 784.3, 1,209.6, 1,803.0, 2,253.2 and 3,628.6 up to 256 (15525).
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    per_expert = np.maximum(np.asarray(load.per_expert, dtype=float), 1.0)
    many = tokens > MATRIX_TOKENS
    grown = tokens / (tokens + constants.value("gpu_expert_half_tile"))
    dense = 1.0 + np.where(many, constants.value("gpu_tile"), 0.0) / tokens
    routed = 1.0 + np.where(many, constants.value("gpu_expert_tile") * grown, 0.0) / per_expert
    share = constants.value("gpu_expert_flop_share", gpu.lookup_family)
    return np.asarray(load.flops * dense + load.expert_flops * routed / share)


def layer_seconds(layers: Array, load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Fixed costs of a GPU's layers: starting kernels and waiting for them, independent of bytes
    read [s].

    layers tau + expert layers tau_e + delta layers tau_s + scans tau_m + mixed streams tau_h
        + latent layers tau_l + latent values b / S

    Numbers of layers are those of `load` but for `layers`, which llama.cpp counts by their matrices
    (`Load.matrices`), frameworks by their blocks (`Load.layers`). The constants in the order of the
    formula: `gpu_layer`, `gpu_expert_layer`, `gpu_state_layer`, `gpu_scan_layer`,
    `gpu_stream_layer`, `gpu_latent_layer` [s], and `gpu_latent_value` for b [B].

    A head of latent attention (MLA) multiplies its query into the space of the cache and its result
    out of it by a matrix of its own, which kernels for batches unpack to 16 or 32 bits for every
    token: 128 heads take longer than 16, on a memory of half the rate twice as long. Unpacked is
    written and read, 12 B a weight: 128 heads of DeepSeek-V3 with 2 x 128 x 512 weights and 1,088
    values each are 16.8 million weights a layer, 12.3 GB in 61 layers, 1,450 B a value. The
    ik_llama.cpp fork does that; llama.cpp multiplies the quantized matrices of all heads at once,
    and its b is about a tenth of the fork's.
    """
    family = gpu.lookup_family
    bandwidth = np.asarray(gpu.bandwidth.value)
    delta_layers = load.state_layers - load.scan_layers
    return (
        layers * constants.value("gpu_layer", family)
        + load.expert_layers * constants.value("gpu_expert_layer", family)
        + delta_layers * constants.value("gpu_state_layer", family)
        + load.scan_layers * constants.value("gpu_scan_layer", family)
        + load.latent_layers * constants.value("gpu_latent_layer", family)
        + load.stream_layers * constants.value("gpu_stream_layer", family)
        + load.latent_values * constants.value("gpu_latent_value", family) / bandwidth
    )


def cpu_seconds(load: Load, host: Host, constants: Constants, *, repacked: bool = True) -> FlowTime:
    """Time of the host's cores for the parts in RAM [s].

    t = smooth_max( t_ram , t_cores ) + max( K / S_ram , F_a (1 + o n) / C_a + K / (cores c h R) )
        + layers (tau + cores tau_b) + expert layers tau_e + delta layers tau_s
    t_ram = W / S_ram,  t_cores = W / (cores c h r) + further FLOPs / (cores c h c_m C)

    - S_ram `Host.bandwidth` x `cpu_read_share`; further FLOPs `further_flops`
    - c `core_clock`, clock of the processor's kind beside a desktop's, whose rates r, C, C_a and R
      are; h `Host.clock`, that of this processor beside its kind; c_m `core_matrix_clock`, that in
      a prompt beside that in a token
    - r `core_decode_rate` [B/s], C `core_flops` [FLOP/s], R `core_cache_rate` [B/s], all of a core
    - C_a = cores c h times `core_attention_flops`, from `BATCH` tokens of a sequence times
      `core_batch_attention_flops` [FLOP/s]
    - o `others_cache_share`, tau `cpu_layer`, tau_b `cpu_barrier`, tau_e `cpu_expert_layer`, tau_s
      `cpu_state_layer`

    Several sockets multiply S_ram by `socket_share` and C by `socket_flop_share`; weights that are
    not repacked count as W / `plain_layout_share`.

    The cores unpack each weight once, at the rate r that holds for a single token, and multiply it
    with every further token of the step at the rate C of matrices. Where all sequences lie in one
    cache, attention of each goes through a share o of the n others, masked. Cores meet after every
    operation of a layer, which takes longer the more they are, tau_b each, and wait for what one of
    them does alone, tau: a node of a graph took 2.0 us with four threads and 3.0 with eight on an
    EPYC (llama.cpp pull request 9598), and a layer has some 20. For attention they turn the numbers
    of the cache into 32-bit floats at the rate R, for which a latent cache with 128 heads has far
    less to do beside its products than four heads of a key.
    """
    several = np.asarray(host.sockets) > 1
    ram: Array = host.bandwidth.value * constants.value("cpu_read_share")
    ram = ram * np.where(several, constants.value("socket_share"), 1.0)
    weights = load.weights / (1.0 if repacked else constants.value("plain_layout_share"))
    cores = host.cores * constants.value("core_clock", host.segment) * np.asarray(host.clock)
    unpacking = weights / (cores * constants.value("core_decode_rate", vectors(host)))
    flops: Array = cores * constants.value("core_flops", matrices(host))
    flops = flops * constants.value("core_matrix_clock", host.segment)
    flops = flops * np.where(several, constants.value("socket_flop_share"), 1.0)
    attention = cores * np.where(
        np.asarray(load.sequence_tokens) >= BATCH,
        constants.value("core_batch_attention_flops", matrices(host)),
        constants.value("core_attention_flops"),
    )
    attended = load.attention_flops * (
        1.0 + constants.value("others_cache_share") * np.asarray(load.shared_with)
    )
    turning = load.kv / (cores * constants.value("core_cache_rate"))
    computing = unpacking + further_flops(load, constants) / flops
    of_weights = smooth_max(weights / ram, computing)
    of_cache = np.maximum(load.kv / ram, attended / attention + turning)
    layer = constants.value("cpu_layer") + constants.value("cpu_barrier") * host.cores
    delta_layers = load.state_layers - load.scan_layers
    layers = (
        load.layers * layer
        + load.expert_layers * constants.value("cpu_expert_layer")
        + delta_layers * constants.value("cpu_state_layer")
    )
    return FlowTime(moving=of_weights + of_cache, layers=layers)


BATCH = 16
"""Tokens of a sequence from which attention multiplies matrices; below, each token reads the
cache."""
SATURATION = 2.5
"""How sharply speed stops growing with cores where RAM is the limit: published sweeps over threads
reach 0.7 of either limit where both are equal (EPYC 7773X, DeepSeek-R1, 2 to 64 threads)."""


def further_flops(load: Load, constants: Constants) -> Array:
    """Work on weights beyond that of the first token that each weight meets [FLOP].

    F (1 - 1/T) + F_e (1 - 1/T_e) (1 + tile / T_e)

    T tokens of the step, T_e of those for each expert that is read: kernels multiply a tile of
    tokens by a weight that they unpack once, and an expert's tokens hardly ever fill its last tile
    (0 in steps of few tokens, which are multiplied one by one). Kimi K2 on an EPYC 9965 reads 1.35
    times as much of what it could with 105 tokens for each expert as with 19, DeepSeek-R1 on a Xeon
    6980P 2.05 times with 149 as with 26 (ik_llama.cpp pull requests 612 and 541).
    """
    tokens = np.maximum(np.asarray(load.tokens, dtype=float), 1.0)
    per_expert = np.maximum(np.asarray(load.per_expert, dtype=float), 1.0)
    prompt = np.asarray(load.sequence_tokens) >= BATCH
    padded = 1.0 + np.where(prompt, constants.value("core_expert_tile"), 0.0) / per_expert
    return np.asarray(
        load.flops * (1.0 - 1.0 / tokens) + load.expert_flops * (1.0 - 1.0 / per_expert) * padded
    )


def smooth_max(first: Array, second: Array) -> Array:
    """Smooth maximum of two times, longer than both where they are close: (a^p + b^p)^(1/p) [s]."""
    bent = np.asarray(first) ** SATURATION + np.asarray(second) ** SATURATION
    return np.asarray(bent ** (1.0 / SATURATION))


def cores_alone(reached: Array, ram: Array) -> Array:
    """Read rate of the cores without the limit of RAM, solved from `smooth_max` [B/s]."""
    return np.asarray((reached**-SATURATION - ram**-SATURATION) ** (-1.0 / SATURATION))


def matrices(host: Host) -> str:
    """Widest arithmetic of a host for whole matrices, by its name in data/generated/efficiency.csv.

    Dot products of 8-bit integers in 256 bits ("vnni") take one instruction in place of three.
    Cores with these beside AVX-512 and without AMX are Zen 5, which multiplies 512 bits at once
    ("avx512_wide"), in laptops in two halves like Zen 4.
    """
    if {"amx_int8", "amx_bf16"} & host.instruction_sets:
        return "amx"
    widest = vectors(host)
    if widest == "avx512" and "avx_vnni" in host.instruction_sets:
        if "laptop" in host.segment:
            return widest
        return "avx512_wide"
    if widest == "avx2" and "avx_vnni" in host.instruction_sets:
        return "vnni"
    return widest


def vectors(host: Host) -> str:
    """Widest instruction set of a host for products with a single vector, which AMX does not speed
    up.

    Apple's cores are a class of their own: each has four NEON units and reads several times as much
    as other cores with NEON. Processors with AVX alone multiply integers in 128 bits. AVX-512
    without dot products of integers is no wider for llama.cpp, which has its kernels for both
    together, and NEON without them takes four instructions for each ("asimd", Cortex-A72 and older;
    ggml_vdotq_s32 of ggml-cpu-impl.h).
    Kernels for k-quants need AVX, NEON, LASX or the RISC-V vectors (ggml-cpu/arch): with SSE alone
    they are loops that a compiler widens to 128 bits, with less or on other processors ("scalar")
    loops over single weights. A processor of unknown sets has the common rate.
    """
    if host.name.startswith("Apple "):
        return "apple"
    for name, flags in (
        ("avx512", {"avx512_vnni"}),
        ("avx2", {"avx2", "avx512f"}),
        ("neon", {"dotprod", "asimddp", "i8mm", "sve"}),
        ("asimd", {"neon", "asimd"}),
        ("sse", {"avx"}),
        ("lasx", {"lasx"}),
        ("rvv", {"rvv"}),
        ("sse4", {"sse4_2"}),
    ):
        if flags & host.instruction_sets:
            return name
    if any(host.instruction_sets):
        return "scalar"
    return ""


# Time of the processor in a framework, or in an engine with kernels of its own.


def host_kernel_seconds(load: Load, host: Host, constants: Constants) -> Array:
    """Time of the processor's cores for experts, in an engine with kernels of its own [s].

    t = max( W / S , W / (cores r) ) + K / (share_a S), with r bytes per second and core of its
    simple unpacking loops
    """
    rate = np.minimum(host.bandwidth.value, host.cores * constants.value("engine_core_rate"))
    return load.weights / rate + host_attention_seconds(load.kv, host, constants)


def host_attention_seconds(cache: Array, host: Host, constants: Constants) -> Array:
    """Time of the processor for attention over a 16-bit cache in RAM, in a framework [s].

    PyTorch converts each value to 32 bits before it multiplies, and so moves every byte of the
    cache about five times: read, written at twice the size, read again.
    """
    return cache / (host.bandwidth.value * constants.value("host_attention_share"))
