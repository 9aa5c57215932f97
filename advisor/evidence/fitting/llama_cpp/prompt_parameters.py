"""Fitted constants of a prompt: matrix speed, attention, copies and padding."""

from collections.abc import Mapping

from advisor.evidence.fitting.llama_cpp.parameter import Parameter

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
