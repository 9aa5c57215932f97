"""Facts of a run of llama.cpp from its row and note: lengths, cache type, backend, build."""

import re
from dataclasses import replace

from advisor.cost_model.workload import Workload
from advisor.evidence.published.row import PublishedRow
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.model.model import Model

USUAL_PROMPT, USUAL_OUTPUT = 512.0, 128.0
"""Lengths of llama-bench's two tests where a row states none [tokens]."""
USUAL_MICRO_BATCH = 512.0
MOST_MICRO_BATCH = 65_536.0
FROM_EMPTY = re.compile(r"localscore\.ai|test_results run|batched-bench")
"""Tests that read their prompt into an empty cache; `context_depth` is what they generate after."""
MEAN_DEPTH = re.compile(r"mean_depth=(\d+)")
CACHE_TYPE = re.compile(
    r"\b(?:KV (?:cache )?)?((?:q\d_\d|f16|bf16))(?:/q\d_\d)?(?:[ -]KV| KV cache)\b|"
    r"\bKV(?: cache)?[ =](q\d_\d|f16|bf16)\b",
    re.IGNORECASE,
)
"""A type of the cache beside the word KV, as sources write it: "q8_0 KV", "KV q8_0/q8_0"."""
BACKENDS = (
    ("vulkan", "vulkan"),
    ("radv", "vulkan"),
    ("sycl", "sycl"),
    ("ipex", "sycl"),
    ("rocm", "rocm"),
    ("hip ", "rocm"),
    ("cuda", "cuda"),
    ("metal", "metal"),
)
"""Words of a runtime or note, and the backend they name; the first that stands there."""
SPLIT_CACHE = "2025-08"
"""Month from which each sequence has a cache buffer of its own (pull request 14363 of llama.cpp,
https://github.com/ggml-org/llama.cpp/pull/14363); rows without a date count as older."""
OLD_BUILDS = "2024-10"
"""Before this month flash attention and CUDA graphs were not yet usual."""


def requests(row: PublishedRow) -> tuple[Workload, Workload]:
    """Requests for the prompt's speed and for the generation's.

    A row with `context_depth` timed two tests, of the lengths in `test=tgN,ppM`: each begins with
    so many tokens in the cache, but for prompts of `FROM_EMPTY`. Else both are one request.
    sweep-bench computes each prompt as one micro-batch.
    """
    note, depth = row.source_note, row.context_depth
    sent, users = row.prompt_len, row.batch or 1.0
    kept = depth or 0.0
    generated = row.gen_len or _to_mean_depth(note, kept) or bench_length(note, "tg")
    generated = generated or USUAL_OUTPUT
    empty = sent is None and kept > 0 and FROM_EMPTY.search(note) is not None
    fresh = max(sent, 1.0) if sent is not None else bench_length(note, "pp") or USUAL_PROMPT
    fresh, cached = (kept, 0.0) if empty else (fresh, kept)
    prompt = Workload(
        prompt=cached + fresh,
        cached=cached,
        output=generated,
        context=max(cached + fresh, kept) + generated,
        users=users,
        ubatch=_micro_batch(note, fresh),
        kv_type=cache_type(note),
        unified_cache=row.date < SPLIT_CACHE,
    )
    if depth is None or sent is not None:
        return prompt, prompt
    return prompt, replace(prompt, prompt=kept, cached=0.0)


def _micro_batch(note: str, fresh: float) -> float:
    whole = fresh if "sweep-bench" in note else USUAL_MICRO_BATCH
    batch = bench_length(note, "ub") or whole
    return min(max(batch, 1.0), MOST_MICRO_BATCH)


def bench_length(note: str, kind: str) -> float | None:
    """A length that a note states as "tg128", "pp512", "ub2048" or "ub=2048" [tokens]."""
    match = re.search(rf"\b{kind}[= ]?(\d+)", note)
    return float(match.group(1)) if match else None


def _to_mean_depth(note: str, kept: float) -> float | None:
    """Tokens generated after `kept`, from the mean depth that a note states; None without one."""
    match = MEAN_DEPTH.search(note)
    beyond = 2.0 * (float(match.group(1)) - kept) if match else 0.0
    return beyond if beyond > 0 else None


def cache_type(note: str) -> str:
    """Type of the cache that a note states; 16 bits where it states none that is known."""
    match = CACHE_TYPE.search(note)
    stated = next((part for part in match.groups() if part), "") if match else ""
    return stated.casefold() if stated.casefold() in KV_BYTES_PER_VALUE else "f16"


def backend(row: PublishedRow) -> str:
    """The runtime's way to the GPU: of its name, else of the note; empty where neither says it."""
    for part in (row.runtime, row.source_note):
        folded = f"{part.casefold()} "
        stated = next((name for word, name in BACKENDS if word in folded), "")
        if stated:
            return stated
    return ""


def build(row: PublishedRow) -> str:
    """The build whose kernels differ from today's: "llamafile", "2024" by its date, else empty."""
    if re.search(r"llamafile|localscore", row.runtime.casefold()):
        return "llamafile"
    date = row.date
    return "2024" if date[:4].isdigit() and date[:7] < OLD_BUILDS else ""


REPACKED = re.compile(r"_r[48]\b|-?rtr\b|run-time repack")
"""Weights in the fork's own layout for processors, which its kernels for GPUs do not read."""
COPIES_SINCE = "2025-06-11"
"""Day from which ik_llama.cpp copies experts that few tokens would not make worth it (its pull
request 520)."""


def copies_experts(row: PublishedRow) -> bool:
    """An ik_llama.cpp that copies experts in RAM to the GPU for prompts that are long enough."""
    stated = f"{row.runtime} {row.quant} {row.source_note}".casefold()
    return row.date >= COPIES_SINCE and REPACKED.search(stated) is None


FORK_CLASSES = ((r"IQ\d_KT", "trellis"), (r"IQ\d_K[SL]?", "iqk"))
"""Formats of ik_llama.cpp alone, and the class that its processors decode them in."""


def in_fork_format(row: PublishedRow, model: Model) -> Model:
    """A model whose format is one of the fork's own, decoded as those are; else as it was."""
    quant = row.quant
    names = (name for pattern, name in FORK_CLASSES if re.search(pattern, quant))
    name = next(names, None)
    return model if name is None else replace(model, decode_class=name)
