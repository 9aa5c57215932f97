"""Engines of published runs, each as the runtime that reads weights in the same way.

Engines that the advisor does not offer have their own constants in data/generated/efficiency.csv.
"""

import re
from dataclasses import replace
from functools import partial

import numpy as np

from advisor.cost_model.workload import DRAFTED, Workload
from advisor.evidence.published.row import PublishedRow, meaning
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
from advisor.runtimes.llama_cpp import ik_fork, passes
from advisor.runtimes.llama_cpp.split_mode_tensor import LLAMA_CPP_TENSOR
from advisor.runtimes.serving import framework_kernels

FRAMEWORK = replace(
    VLLM, schedule=partial(vllm.schedule, computed=framework_kernels), reads_over_link=False
)
DEEPSPEED_INFERENCE = replace(FRAMEWORK, name="DeepSpeed-Inference", key="deepspeed-inference")
VLLM_V0 = replace(VLLM, schedule=sglang.schedule, reads_over_link=False)
"""vLLM before 0.8, which copied each layer just before its use, as SGLang does (PR 15354)."""
EXLLAMA = replace(FRAMEWORK, name="ExLlama", key="exllama")
IK_COPYING = replace(IK_LLAMA_CPP, schedule=ik_fork.copying_schedule)
"""ik_llama.cpp without `-rtr`, which copies experts in RAM to the GPU for long prompts."""
IK_COPYING_ALL = replace(IK_LLAMA_CPP, schedule=passes.schedule)
"""The same of May 2025, which copied them for any prompt of 32 tokens."""
IK_GRAPH = replace(LLAMA_CPP_TENSOR, name="ik_llama.cpp -sm graph", build=IK_LLAMA_CPP.build)
"""ik_llama.cpp with `-sm graph`, which divides layers among GPUs as llama.cpp's `-sm tensor`
does."""
AIRLLM = replace(ACCELERATE, name="AirLLM", key="airllm")
NO_OVERLAP = replace(FLEXGEN, schedule=partial(flexgen.schedule, overlap=False))
DEEPSPEED_POLICY = replace(DEEPSPEED, key="flexgen")
NO_HOST_ATTENTION = replace(FLEXGEN, schedule=partial(flexgen.schedule, host_attention=False))
MIXTRAL_OFFLOADING = replace(EXPERT_STREAMING, key="mixtral-offloading")
ALL_EXPERTS = replace(
    MIXTRAL_OFFLOADING, schedule=partial(expert_offloading.schedule, cached=False, whole=True)
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
    (r"\bo?mlx(?![a-z]|-vlm)", MLX),  # mlx-vlm has a loop of its own, half as fast
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
    """Engine of a published row by the source's words; None where no pattern matches.

    DeepSpeed with all weights on its GPUs is not ZeRO-Inference.
    """
    text = f"{stated} {category}".casefold()
    return next((runtime for pattern, runtime in ENGINES if re.search(pattern, text)), None)


# Drafted tokens of a published row, from its note: method, number and acceptance.
#
# Notes say `draft=mtp,3`, "draft: MTP n=2, acceptance 74.8 %", "82/66/48 % per position, 2.96
# tokens a pass". Engines print the share of all drafted tokens that was accepted.

STATED = re.compile(
    r"\bdraft\s*[:=]\s*(?:separate )?([a-z][\w-]*)(?: drafter)?(?:[,\s]*(?:n\s*=\s*)?(\d+)\b)?"
)
STEPS = re.compile(r"\bsteps (\d+)")
SHARE = re.compile(r"\bacceptance (?:of )?(\d+(?:\.\d+)?) ?%")
PER_PASS = re.compile(r"(\d+(?:\.\d+)?) tokens a pass")
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
    stated = STATED.search(note)
    if stated is None:
        return {}
    method = meaning("drafting", stated[1])
    if not method:
        return {}
    number = stated[2] or (steps[1] if (steps := STEPS.search(note)) else None)
    drafted = float(number) if number else float(UNSTATED.get(method, DRAFTED[method]))
    passed, share = PER_PASS.search(note), SHARE.search(note)
    if passed:
        accepted = (float(passed[1]) - 1.0) / drafted
    else:
        accepted = float(share[1]) / 100.0 if share else USUAL_SHARE[method]
    return {"draft": method, "drafted": drafted, "acceptance": chance(drafted, min(accepted, 1.0))}


def chance(drafted: float, accepted_share: float) -> float:
    """Probability that a draft is accepted, from the share of all drafts that is.

    The solution a of (1 - a^(k+1)) / (1 - a) = 1 + k s (`Workload.tokens_per_step`).
    """
    chances = np.linspace(0.0, 0.999, 1000)
    tokens = (1.0 - chances ** (drafted + 1.0)) / (1.0 - chances)
    return float(np.interp(1.0 + drafted * accepted_share, tokens, chances))


def with_drafts(row: PublishedRow, work: Workload) -> Workload:
    """Request with the drafted tokens of a row."""
    return work.with_numbers(**drafting_of(row))
