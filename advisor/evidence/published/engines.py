"""Engines of published runs, each as the runtime that reads weights in the same way.

Engines that the advisor does not offer have their own constants in data/generated/efficiency.csv.
"""

import re
from dataclasses import replace
from functools import partial

from advisor.runtimes import (
    ACCELERATE,
    DEEPSPEED,
    FLEXGEN,
    IK_LLAMA_CPP,
    KTRANSFORMERS,
    LLAMA_CPP,
    MLX,
    SGLANG,
    TENSORRT_LLM,
    VLLM,
    Runtime,
    expert_offloading,
    flexgen,
    sglang,
    vllm,
)
from advisor.runtimes.expert_offloading import EXPERT_STREAMING
from advisor.runtimes.llama_cpp import ik_fork
from advisor.runtimes.llama_cpp.split_mode_tensor import LLAMA_CPP_TENSOR
from advisor.runtimes.serving import framework_kernels

FRAMEWORK = replace(
    VLLM,
    schedule=partial(vllm.schedule, computed=framework_kernels),
    reads_over_link=False,
)
DEEPSPEED_INFERENCE = replace(FRAMEWORK, name="DeepSpeed-Inference", key="deepspeed-inference")
VLLM_V0 = replace(VLLM, schedule=sglang.schedule, reads_over_link=False)
"""vLLM before 0.8, which copied each layer just before its use, as SGLang does (PR 15354)."""
EXLLAMA = replace(FRAMEWORK, name="ExLlama", key="exllama")
IK_COPYING = replace(IK_LLAMA_CPP, schedule=ik_fork.copying_schedule)
"""ik_llama.cpp without `-rtr`, which copies experts in RAM to the GPU for long prompts."""
IK_GRAPH = replace(LLAMA_CPP_TENSOR, name="ik_llama.cpp -sm graph", build=IK_LLAMA_CPP.build)
"""ik_llama.cpp with `-sm graph`, which divides layers among GPUs as llama.cpp's `-sm tensor`
does."""
AIRLLM = replace(ACCELERATE, name="AirLLM", key="airllm")
NO_OVERLAP = replace(FLEXGEN, schedule=partial(flexgen.schedule, overlap=False))
DEEPSPEED_POLICY = replace(DEEPSPEED, key="flexgen")
NO_HOST_ATTENTION = replace(FLEXGEN, schedule=partial(flexgen.schedule, host_attention=False))
MIXTRAL_OFFLOADING = replace(EXPERT_STREAMING, key="mixtral-offloading")
ALL_EXPERTS = replace(
    MIXTRAL_OFFLOADING,
    schedule=partial(expert_offloading.schedule, cached=False, whole=True),
)
ON_DEMAND = replace(
    MIXTRAL_OFFLOADING, schedule=partial(expert_offloading.schedule, cached=False, ahead=False)
)
NOT_AHEAD = replace(MIXTRAL_OFFLOADING, schedule=partial(expert_offloading.schedule, ahead=False))
WITH_CACHE = replace(NOT_AHEAD, key=EXPERT_STREAMING.key)
BY_CORES = replace(
    EXPERT_STREAMING,
    key="colibri",
    schedule=partial(expert_offloading.schedule, ahead=False, by_cores=True),
)

ENGINES: tuple[tuple[str, Runtime], ...] = (
    (r"exllama|tabbyapi|\bexl[23]\b|mlc[- ]llm", EXLLAMA),
    (r"\bo?mlx(?![a-z])", MLX),
    (r"naive offloading", ALL_EXPERTS),
    (r"offloading w/o lru", ON_DEMAND),
    (r"offloading w/o speculative", NOT_AHEAD),
    (r"mixtral-offloading", MIXTRAL_OFFLOADING),
    (r"freetoken offload|^ds4|flash-moe", WITH_CACHE),
    (r"colibri", BY_CORES),
    (r"ik_llama", IK_LLAMA_CPP),
    (r"(?:ktransformers|kt-kernel).*moe_offload", KTRANSFORMERS),
    (r"ktransformers|sglang", SGLANG),
    (r"llama|ollama|lm ?studio|ggml|kobold|gpt4all|\blcpp\b|lemonade", LLAMA_CPP),
    (r"flexgen.*no overlap", NO_OVERLAP),
    (r"flexgen.*no cpu compute", NO_HOST_ATTENTION),
    (r"flexgen.*deepspeed policy", DEEPSPEED_POLICY),
    (r"flexgen|moe-lightning", FLEXGEN),
    (r"deepspeed.*sharded|deepspeed-inference|deepspeed-mii", DEEPSPEED_INFERENCE),
    (r"deepspeed (resident|batched)$", DEEPSPEED_INFERENCE),
    (r"deepspeed", DEEPSPEED),
    (r"airllm", AIRLLM),
    (r"accelerate|transformers", ACCELERATE),
    (r"tensorrt", TENSORRT_LLM),
    (r"vllm.*\bv0\b", VLLM_V0),
    (r"vllm|aphrodite|\btgi\b|text.generation.inference|lmdeploy", VLLM),
)
"""Patterns of a stated runtime and its row's category in lower case, with the engine; the first
match counts."""


def engine(stated: str, category: str) -> Runtime | None:
    """Engine of a published row; None where no pattern matches.

    Args:
        stated: runtime in the source's words.
        category: category of the row; DeepSpeed with all weights on its GPUs is not ZeRO-Inference.
    """
    text = f"{stated} {category}".casefold()
    return next((runtime for pattern, runtime in ENGINES if re.search(pattern, text)), None)
