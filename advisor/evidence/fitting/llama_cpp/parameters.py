"""Fitted constants of llama.cpp: start values, limits and the scopes they may differ by.

Each constant is one value times a factor for each scope. The prior keeps factors near 1: a GPU
family with one measurement hardly moves, one with fifty does. A scope is kept only if it improves
predictions of left-out sources.
"""

from collections.abc import Mapping

from advisor.evidence.fitting.llama_cpp.parameter import Parameter

# Fitted constants of a prompt: matrix speed, attention, copies and padding.

PROMPT_PARAMETERS: Mapping[str, Parameter] = {
    "core_flops": Parameter(
        start=80e9,
        least=2e9,
        most=2e12,
        unit="FLOP/s",
        width=0.5,
        factors={
            ("family",): 0.5,
            ("build",): 0.6,
            ("decode_class",): 0.3,
            ("build", "decode_class"): 0.3,
            ("family", "build"): 0.4,
        },
        expected={"sse": 0.2},  # half as wide as AVX2, and kernels that nobody tuned
        hardware="matrices",
        note="matrix speed of one core in a prompt",
    ),
    "socket_flop_share": Parameter(
        start=0.6,
        least=0.1,
        most=1.0,
        unit="share",
        width=0.4,
        note="share of the matrix speed of several sockets that one program reaches",
    ),
    "link_share": Parameter(
        start=0.9,
        least=0.5,
        most=1.1,
        unit="share",
        width=0.2,
        runtime="llama.cpp",
        note="share of the link's rate at which a prompt's weights are copied",
    ),
    "pipeline_share": Parameter(
        start=0.4,
        least=0.0,
        most=1.0,
        unit="share",
        width=0.5,
        note="share of further GPUs that overlap on the micro-batches of a prompt",
    ),
    "gpu_flop_share": Parameter(
        start=0.4,
        least=0.01,
        most=1.1,
        unit="share",
        width=0.4,
        factors={
            ("family",): 0.4,
            ("build",): 0.25,
            ("family", "backend"): 0.4,
            ("build", "decode_class"): 0.3,
            ("backend", "decode_class"): 0.3,
            ("family", "backend", "build"): 0.4,
        },
        # rocBLAS reached 6 to 10 TFLOP/s there, 2.5 to 6 times less than with the kernels of
        # RDNA 3 (https://github.com/ROCm/legacy-rocm-build/issues/4748, May 2025)
        expected={"RDNA 3.5 rocm 2025": 0.3},
        note="share of dense matrix peak reached in a prompt",
    ),
    "gpu_expert_flop_share": Parameter(
        start=0.5,
        least=0.05,
        most=2.0,
        unit="share",
        width=0.5,
        factors={("family",): 0.3, ("backend",): 0.3, ("build",): 0.6},
        # SYCL copies the chosen experts' numbers to the host and multiplies one expert after the
        # other (ggml_sycl_mul_mat_id): 618 tokens/s of a 35B with 3B active on an Arc Pro B70,
        # whose 24B without experts reads 994
        expected={"sycl": 0.3},
        note="speed of routed experts in a prompt beside that of dense weights",
    ),
    "gpu_attention_share": Parameter(
        start=0.2,
        least=0.002,
        most=1.1,
        unit="share",
        width=0.7,
        factors={("family",): 0.4, ("backend",): 0.4, ("build",): 0.4},
        # its peak counts two instructions issued at once, or its matrix units; the kernels for
        # attention add and multiply pairs of 16 bits, one instruction at a time (fattn-tile.cuh)
        expected={"RDNA 3": 0.5, "RDNA 3.5": 0.5},
        note="share of dense matrix peak reached attending to the cache",
    ),
    "gpu_tile": Parameter(
        start=32.0,
        least=4.0,
        most=256.0,
        unit="tokens",
        width=0.5,
        note="tokens that a prompt's matrices are padded by, in effect",
    ),
    "gpu_expert_tile": Parameter(
        start=16.0,
        least=2.0,
        most=256.0,
        unit="tokens",
        width=0.7,
        factors={("build",): 0.4},
        # MLX sorts a prompt's tokens by expert and goes through them in tiles of 16, so an expert
        # is padded by one tile (gather_qmm_rhs of mlx/backend/metal/quantized.cpp): 16 of some 40
        expected={"mlx": 0.4},
        note="tokens that each routed expert of a prompt is padded by, in effect",
    ),
}
"""Fitted constants by name."""


# Fitted constants of reading weights and cache, of the cores, and of fixed costs.

READING_PARAMETERS: Mapping[str, Parameter] = {
    "gpu_read_share": Parameter(
        start=0.85,
        least=0.25,
        most=1.1,
        unit="share",
        width=0.1,
        factors={
            ("build",): 0.1,
            ("decode_class",): 0.06,
            ("family", "backend"): 0.1,
            ("build", "backend"): 0.2,
        },
        note="share of GPU memory bandwidth reached reading weights",
    ),
    "gpu_expert_read_share": Parameter(
        start=0.9,
        least=0.2,
        most=1.1,
        unit="share",
        width=0.15,
        factors={("backend",): 0.15, ("build",): 0.15},
        note="speed of reading routed experts beside that of dense weights",
    ),
    "gpu_kv_share": Parameter(
        start=0.6,
        least=0.05,
        most=1.1,
        unit="share",
        width=0.5,
        note="share of GPU memory bandwidth reached reading the KV cache",
    ),
    "gpu_layer": Parameter(
        start=45e-6,
        least=5e-6,
        most=1e-3,
        unit="s",
        width=0.5,
        factors={
            ("family",): 0.3,
            ("backend",): 0.3,
            ("build",): 0.5,
            ("backend", "build"): 0.4,
        },
        note="fixed cost of a layer on the GPU",
    ),
    "gpu_expert_layer": Parameter(
        start=50e-6,
        least=5e-6,
        most=1e-3,
        unit="s",
        width=0.7,
        factors={("family",): 0.3, ("build",): 0.5},
        note="further cost of a layer with routed experts on the GPU",
    ),
    "gpu_state_layer": Parameter(
        start=40e-6,
        least=5e-6,
        most=5e-4,
        unit="s",
        width=0.7,
        factors={("backend",): 0.4},
        note="further cost of a layer of linear attention on the GPU",
    ),
    "gpu_scan_layer": Parameter(
        start=60e-6,
        least=5e-6,
        most=5e-3,
        unit="s",
        width=1.0,
        factors={("backend",): 0.5},
        # SYCL's and OpenCL's SSM_SCAN are partial or missing (llama.cpp's docs/ops.md): the state
        # of a Mamba-2 layer of Nemotron 3 Nano, 64 heads x 64 x 128 values of 4 bytes, then goes
        # to the processor and back, 2 x 2.1 MB at some 12 GB/s: 350 us, and its scan there
        expected={"sycl": 10.0, "opencl": 10.0},
        note="further cost of a layer with a state space (Mamba-2) on the GPU",
    ),
    "gpu_latent_layer": Parameter(
        start=20e-6,
        least=1e-6,
        most=1e-3,
        unit="s",
        width=0.7,
        factors={("build",): 0.5},
        note="further cost of a layer with a latent cache on the GPU, whatever its heads",
    ),
    "gpu_stream_layer": Parameter(
        # 32.0 tokens/s of Qwen3.8-Flash-Next's shape on a GB10 (48 such layers) and 38.5 of
        # DeepSeek-V4-Flash on four RTX 3090 (43) are 12.5 and 10.9 ms more than their bytes and
        # other layers take: 250 us a layer of small kernels that mix the streams
        start=150e-6,
        least=5e-6,
        most=2e-3,
        unit="s",
        width=0.7,
        note="further cost of a layer with several residual streams on the GPU",
    ),
    "gpu_latent_value": Parameter(
        start=150.0,  # products of one token with quantized matrices of all heads at once
        least=5.0,
        most=1e4,
        unit="B/value",
        width=0.7,
        factors={("build",): 0.7},
        # the fork unpacks the matrices of the heads for its products of batches
        expected={"ik": 8.0},
        note="bytes that latent attention moves for each value of its heads on the GPU",
    ),
    "gpu_product_share": Parameter(
        start=0.055,  # a weight takes some 18 instructions where one multiplies and adds four
        least=0.01,
        most=0.5,
        unit="share",
        width=0.4,
        note="share of the 32-bit peak reached by a token on GPUs without dot products of 8 bits",
    ),
    "token": Parameter(
        start=200e-6,
        least=2e-5,
        most=5e-3,
        unit="s",
        width=0.7,
        note="fixed cost of a token: sampling and launch",
    ),
    "ram_sustained_share": Parameter(
        start=0.7,
        least=0.3,
        most=1.1,
        unit="share",
        width=0.25,
        factors={("family",): 0.15},
        hardware="segment",
        note="sustained RAM read beside theory",
    ),
    "cpu_read_share": Parameter(
        start=0.92,  # 0.87 of a compiled read loop with all fixed costs in it, Zen 4 EPYC
        least=0.8,
        most=1.0,
        unit="share",
        width=0.03,
        note="share of sustained RAM bandwidth that the CPU's matrix kernels reach",
    ),
    "socket_share": Parameter(
        start=0.42,  # one socket's worth where pages are spread over both, less where they are not
        least=0.2,
        most=0.9,
        unit="share",
        width=0.1,  # published shares go from 0.2 to 0.8 by how pages were placed, which few tell
        note="share of the RAM rate of several sockets that one program reaches",
    ),
    "core_decode_rate": Parameter(
        start=11e9,
        least=0.5e9,
        most=100e9,
        unit="B/s",
        width=0.4,
        factors={("family",): 0.5, ("decode_class",): 0.5, ("build", "decode_class"): 0.4},
        # one core of a Zen 4 EPYC in llama.cpp b11549, an 8B shape in each format: F16 17.8 GB/s,
        # Q8_0 and Q6_K 12.0, Q3_K 8.8, Q2_K 8.1, IQ4_XS 9.0, IQ4_NL 11.2, IQ3_S to IQ1_S 2.5 to 3.1
        expected={"f16": 1.8, "q8": 1.2, "iq": 0.3, "sse": 0.5},
        hardware="vectors",
        note="weight bytes that one core decodes",
    ),
    "core_clock": Parameter(
        start=1.0,
        least=0.2,
        most=1.6,
        unit="share",
        width=0.01,  # a desktop's by definition; the rates of a core are fitted themselves
        factors={("family",): 0.25},
        # clock of all cores at work: 5 GHz on desktops, 3.5 on servers, 2.4 on boards
        expected={
            "workstation": 0.85,
            "laptop": 0.8,
            "server": 0.7,
            "board": 0.5,
            "thin laptop": 0.8,
        },
        hardware="segment",
        note="clock of a processor's cores beside that of a desktop's",
    ),
    "core_matrix_clock": Parameter(
        start=1.0,
        least=0.2,
        most=1.6,
        unit="share",
        width=0.01,  # a desktop's by definition
        factors={("family",): 0.1},
        # multiplying draws more power than reading: chips of 15 to 28 W lower their clock for it
        expected={"thin laptop": 0.7},
        hardware="segment",
        note="clock of a processor's cores in a prompt beside that in a token",
    ),
    "core_attention_flops": Parameter(
        start=5e9,
        least=0.5e9,
        most=200e9,
        unit="FLOP/s",
        width=0.8,
        factors={("build",): 0.8},
        note="speed of one core attending to the cache, token by token",
    ),
    "core_batch_attention_flops": Parameter(
        start=20e9,
        least=2e9,
        most=1e12,
        unit="FLOP/s",
        width=0.8,
        factors={("build",): 0.8},
        hardware="matrices",
        note="speed of one core attending to the cache in a prompt",
    ),
    "others_cache_share": Parameter(
        start=0.5,
        least=0.0,
        most=1.0,
        unit="share",
        width=0.5,
        note="share of other sequences' cache that attention on the CPU goes through, masked",
    ),
    "cpu_layer": Parameter(
        start=5e-6,
        least=1e-7,
        most=1e-4,
        unit="s",
        width=0.6,
        note="fixed cost of a layer on the CPU for each core that takes part",
    ),
    "cpu_expert_layer": Parameter(
        start=150e-6,
        least=1e-5,
        most=2e-3,
        unit="s",
        width=0.6,
        note="further cost of a layer with routed experts on the CPU",
    ),
    "crossing": Parameter(
        start=40e-6,
        least=5e-6,
        most=1e-3,
        unit="s",
        width=0.6,
        note="one hand-over of activations between processors",
    ),
}
"""Fitted constants by name."""


PARAMETERS: Mapping[str, Parameter] = {**READING_PARAMETERS, **PROMPT_PARAMETERS}
"""Fitted constants by name, in the order of the fit."""
