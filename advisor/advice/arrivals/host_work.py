"""Work of the processor in a server: taking in a request, and starting kernels one by one.

Neither depends on the GPU. A first token waits for the former; steps without CUDA graphs take at
least the latter.
"""

from advisor.model.model import Model

TAKING_IN = 10.6e-3
"""Time from a request to its prompt's pass: tokenizing, and messages between processes [s]. First
token of Qwen2.5-0.5B (24 layers) to one user, less the time of two tokens, for the passes over
prompt and first token: 16.46 - 2 x 1.89 ms in SGLang 0.5.6 on an A100, 11.24 - 2 x 1.83 ms in vLLM
0.20.1 on an A100, 22.5 - 2 x 5.11 ms in vLLM 0.19.1 on an RTX 5090; their geometric mean
(github.com/FreedomIntelligence/AccelMark, suite F, interactive, 2026-04 to 2026-05). Plausible: 5
to 30 ms, by the processor."""
KERNEL_STARTS = 0.57e-3
"""Time in which Python starts a layer's kernels where no CUDA graph holds them [s]. GPT-2 (12
layers) on an H200, with 32 tokens in 154.1 ms in vLLM and 156.0 ms in SGLang: 0.40 ms
(github.com/deepspeedai/DeepSpeed/pull/8352, 2026-09-22); Qwen2.5-Omni-7B (28 layers) on an A800, 22
to 23 ms a token: 0.80 ms (github.com/vllm-project/vllm-omni/issues/7960, 2026-09-22); their
geometric mean. Plausible: 0.2 to 1 ms, by the processor."""


def step_without_graphs(model: Model) -> float:
    """Shortest step of an engine that starts every kernel anew [s]."""
    return KERNEL_STARTS * model.layers
