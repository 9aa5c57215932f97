"""Engines of published runs, each as the runtime that reads weights in the same way.

Engines that the advisor does not offer have their own constants in data/generated/efficiency.csv.
"""

from collections.abc import Mapping
from dataclasses import replace

from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Draft, Workload
from advisor.evidence.published.row import PublishedRow, figure, meaning, stated
from advisor.runtimes import LLAMA_CPP, expert_offloading, runtime
from advisor.runtimes.serving import framework_kernels

ACCELERATE = runtime("Accelerate")
EXPERT_STREAMING = expert_offloading.EXPERT_STREAMING
DEEPSPEED = runtime("DeepSpeed ZeRO-Inference")
FLEXGEN = runtime("FlexGen")
IK_LLAMA_CPP = runtime("ik_llama.cpp")
KTRANSFORMERS = runtime("KTransformers")
LLAMA_CPP_TENSOR = runtime("llama.cpp -sm tensor")
MLX = runtime("MLX")
SGLANG = runtime("SGLang")
VLLM = runtime("vLLM")
FRAMEWORK = replace(VLLM.scheduled(computed=framework_kernels), reads_over_link=False)
EXLLAMAV3 = runtime("ExLlamaV3")
EXLLAMA = replace(FRAMEWORK, name="ExLlama", key="exllama")
IK_COPYING = IK_LLAMA_CPP.scheduled(repacked=False)
"""ik_llama.cpp without `-rtr`, which copies experts in RAM to the GPU for long prompts."""
IK_COPYING_ALL = replace(IK_LLAMA_CPP, schedule=LLAMA_CPP.schedule)
"""The same of May 2025, which copied them for any prompt of 32 tokens."""
IK_GRAPH = replace(LLAMA_CPP_TENSOR, name="ik_llama.cpp -sm graph", build=IK_LLAMA_CPP.build)
"""ik_llama.cpp with `-sm graph`, which divides layers among GPUs as llama.cpp's `-sm tensor`
does."""
MIXTRAL_OFFLOADING = replace(EXPERT_STREAMING, key="mixtral-offloading")


ENGINES: Mapping[str, Runtime] = {
    "ExLlama": EXLLAMA,
    "ExLlamaV3, experts in RAM": EXLLAMAV3,
    "MLX": MLX,
    "mixtral-offloading, all experts": MIXTRAL_OFFLOADING.scheduled(cached=False, whole=True),
    "mixtral-offloading, on demand": MIXTRAL_OFFLOADING.scheduled(cached=False, ahead=False),
    "mixtral-offloading, not ahead": MIXTRAL_OFFLOADING.scheduled(ahead=False),
    "mixtral-offloading": MIXTRAL_OFFLOADING,
    "experts cached": replace(MIXTRAL_OFFLOADING.scheduled(ahead=False), key=EXPERT_STREAMING.key),
    "colibri": replace(MIXTRAL_OFFLOADING.scheduled(ahead=False, by_cores=True), key="colibri"),
    "ik_llama.cpp": IK_LLAMA_CPP,
    "KTransformers": KTRANSFORMERS,
    "SGLang": SGLANG,
    "llama.cpp": LLAMA_CPP,
    "FlexGen, no overlap": FLEXGEN.scheduled(overlap=False),
    "FlexGen, no CPU": FLEXGEN.scheduled(host_attention=False),
    "FlexGen as DeepSpeed": replace(DEEPSPEED, key="flexgen"),
    "FlexGen": FLEXGEN,
    "DeepSpeed-Inference": replace(
        FRAMEWORK, name="DeepSpeed-Inference", key="deepspeed-inference"
    ),
    "DeepSpeed": DEEPSPEED,
    "AirLLM": replace(ACCELERATE, name="AirLLM", key="airllm"),
    "Accelerate": ACCELERATE,
    "TensorRT-LLM": runtime("TensorRT-LLM"),
    # before 0.8 it copied each layer just before its use, as SGLang does (PR 15354)
    "vLLM 0.7": replace(VLLM, schedule=SGLANG.schedule, reads_over_link=False),
    "vLLM": VLLM,
}
"""Engines by what the patterns of data/measurements/source_words.csv mean."""


def engine(name: str, category: str) -> Runtime | None:
    """Engine of a published row by the source's words; None where no pattern matches."""
    return ENGINES.get(meaning("engine", f"{name} {category}".casefold()))


# Drafted tokens of a published row, from its note: method, number and acceptance.
#
# Notes say `draft=mtp,3`, "draft: MTP n=2, acceptance 74.8 %", "82/66/48 % per position, 2.96
# tokens a pass". Engines print the share of all drafted tokens that was accepted.

USUAL_SHARE = {"mtp": 0.72, "eagle": 0.5, "dflash": 0.35, "ngram": 0.1}
"""Share of drafted tokens that is accepted where a note states none: the median of those that state
it for two to five tokens by MTP (data/measurements/drafting.csv and drafted_2026.csv); assumed for
others."""
UNSTATED = {"mtp": 2}
"""Tokens drafted by a row that states no number: the usual one of those that do, where servers
draft more than a model's paper."""


def drafting_of(row: PublishedRow) -> dict[str, str | float]:
    """Drafting fields of a `Workload`; empty for a row without drafting."""
    note = row.source_note.casefold()
    words = stated("drafted tokens", note)
    if words:
        method = meaning("drafting", words[1])
    else:
        method = ""
    if words is None or not method:
        return {}
    number = float(words[2]) if words[2] else figure("drafting steps", note)
    drafted = number or float(UNSTATED.get(method, Draft.usual(method).tokens))
    passed = figure("tokens a pass", note)
    percent = figure("percent accepted", note)
    if passed is not None:
        accepted = (passed - 1.0) / drafted
    else:
        if percent is None:
            accepted = USUAL_SHARE[method]
        else:
            accepted = percent / 100.0
    return {
        "draft": method,
        "drafted": drafted,
        "acceptance": float(Draft.chance(drafted, min(accepted, 1.0))),
    }


def with_drafts(row: PublishedRow, work: Workload) -> Workload:
    """Request with the drafted tokens of a row."""
    return work.with_numbers(**drafting_of(row))
