"""Properties of a llama.cpp run from its row and note: lengths, cache type, backend, build."""

import re
from dataclasses import replace

from advisor.cost_model.workload import Workload
from advisor.evidence.published.row import PublishedRow
from advisor.machine.software import kernels_of
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.model.model import Model

USUAL_PROMPT, USUAL_OUTPUT = 512.0, 128.0
"""Default lengths of llama-bench's two tests [tokens]."""
USUAL_MICRO_BATCH = 512.0
MOST_MICRO_BATCH = 65_536.0
BATCH_BESIDE = re.compile(r"\bn_batch (\d+)\b|\bbatch (\d+) ub \d+\b")
"""The batch (`-b`) beside the micro-batch, which is never larger (`n_ubatch` of llama.cpp's
src/llama-context.cpp)."""
FROM_EMPTY = re.compile(r"localscore\.ai|test_results run|batched-bench|pp of the whole context")
"""Tests that read their prompt into an empty cache; `context_depth` applies to generation only."""
OF_NINE, EQUAL_TO_NINE = "mean of its 9 tests", 200.0
"""Note of speeds averaged over LocalScore's nine tests, and length of a prompt read at that speed
[tokens]. Their prompts have 16, 64, 384, 1024 (twice), 1280, 2048 (twice) and 4096 tokens. Reading
the weights takes a GPU as long as multiplying some 30 tokens; the nine speeds n / (n + 30) average
0.87, that of 200 tokens. With 10 to 60 in place of 30 the length is 140 to 270."""
AFTER_PROMPT = re.compile(r"\(depth (\d+) \+ (\d+)\)|\bprompt ()(\d+), output \d+")
"""Pattern of a depth that counts the timed prompt, which is read before the reply: what was in the
cache before it, where that is stated, and its length."""
AT_THOUSANDS = re.compile(r"\bprompt rate at (\d+)K\b")
"""Pattern of the length of a timed prompt in thousands of 1,024 tokens."""
MEAN_DEPTH = re.compile(r"mean_depth=(\d+)")
CACHE_TYPE = re.compile(
    r"\b(?:KV (?:cache )?)?((?:q\d_\d|f16|bf16))(?:/q\d_\d)?(?:[ -]KV| KV cache)\b|"
    r"\bKV(?: cache)?[ =](q\d_\d|f16|bf16)\b",
    re.IGNORECASE,
)
"""Pattern of a cache type in a note: "q8_0 KV", "KV q8_0/q8_0"."""
WITHOUT_FLASH = re.compile(r"\bfa[ =:]*(?:0|off|false)\b|\bno fa\b", re.IGNORECASE)
"""Pattern of runs without flash attention. "no FA flag stated" is of builds in which it was off
until asked for."""
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
"""Patterns in a runtime or note, with the backend they mean; the first match counts."""
SPLIT_CACHE = "2025-08"
"""Month from which each sequence has a cache buffer of its own (pull request 14363 of llama.cpp,
https://github.com/ggml-org/llama.cpp/pull/14363); rows without a date count as older."""


def requests(row: PublishedRow) -> tuple[Workload, Workload]:
    """Requests that timed the prompt and the generation.

    A row with `context_depth` comes from two tests with the lengths in `test=tgN,ppM`, each with
    that many tokens in the cache, except prompts of `FROM_EMPTY`. Other rows are one request.
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
    if empty and OF_NINE in note:
        fresh = EQUAL_TO_NINE
    told = AT_THOUSANDS.search(note)
    if told and sent is None:
        fresh, cached = 1024.0 * float(told[1]), 0.0
    beside = AFTER_PROMPT.search(note)
    if beside:
        fresh = max(float(beside[2] or beside[4]), 1.0)
        cached = float(beside[1]) if beside[1] else max(kept - fresh, 0.0)
    prompt = Workload(
        prompt=cached + fresh,
        cached=cached,
        output=generated,
        context=max(cached + fresh, kept) + generated,
        users=users,
        ubatch=_micro_batch(note, fresh),
        kv_type=cache_type(note),
        flash_attention=WITHOUT_FLASH.search(note) is None,
        unified_cache=row.date < SPLIT_CACHE,
    )
    if depth is None or sent is not None:
        return prompt, prompt
    return prompt, replace(prompt, prompt=kept, cached=0.0)


def _micro_batch(note: str, fresh: float) -> float:
    whole = fresh if "sweep-bench" in note else USUAL_MICRO_BATCH
    batch = bench_length(note, "ub") or bench_length(note, "ubatch") or whole
    logical = BATCH_BESIDE.search(note)
    if logical:
        batch = min(batch, float(logical[1] or logical[2]))
    return min(max(batch, 1.0), MOST_MICRO_BATCH)


def bench_length(note: str, kind: str) -> float | None:
    """Length stated in a note as "tg128", "pp512", "ub2048" or "ub=2048" [tokens]."""
    match = re.search(rf"\b{kind}[= ]?(\d+)", note)
    return float(match.group(1)) if match else None


def _to_mean_depth(note: str, kept: float) -> float | None:
    """Tokens generated after `kept`, from the mean depth in a note; None without one [tokens]."""
    match = MEAN_DEPTH.search(note)
    beyond = 2.0 * (float(match.group(1)) - kept) if match else 0.0
    return beyond if beyond > 0 else None


def cache_type(note: str) -> str:
    """Cache type stated in a note; 16 bits by default."""
    match = CACHE_TYPE.search(note)
    stated = next((part for part in match.groups() if part), "") if match else ""
    return stated.casefold() if stated.casefold() in KV_BYTES_PER_VALUE else "f16"


def backend(row: PublishedRow) -> str:
    """Backend stated in the runtime's name or in the note; empty where it is not."""
    for part in (row.runtime, row.source_note):
        folded = f"{part.casefold()} "
        stated = next((name for word, name in BACKENDS if word in folded), "")
        if stated:
            return stated
    return ""


def build(row: PublishedRow) -> str:
    """Build with other kernels than today's: "llamafile", "2024" or "2025" by date; else empty."""
    if re.search(r"llamafile|localscore", row.runtime.casefold()):
        return "llamafile"
    date = row.date
    if not date[:4].isdigit():
        return ""
    return kernels_of(date[:7], backend(row))


REPACKED = re.compile(r"_r[48]\b|-?rtr\b|run-time repack")
"""Pattern of weights in the fork's layout for processors, which its GPU kernels do not read."""
COPIES_SINCE = "2025-06-11"
"""Day from which ik_llama.cpp copies experts to the GPU for long prompts (its pull request 520)."""


def copies_experts(row: PublishedRow) -> bool:
    """Whether a row's ik_llama.cpp copies experts in RAM to the GPU for long prompts."""
    stated = f"{row.runtime} {row.quant} {row.source_note}".casefold()
    return row.date >= COPIES_SINCE and REPACKED.search(stated) is None


FORK_CLASSES = ((r"IQ\d_KT", "trellis"), (r"IQ\d_K[SL]?", "iqk"))
"""Patterns of formats that only ik_llama.cpp has, with the class of their kernels."""


def in_fork_format(row: PublishedRow, model: Model) -> Model:
    """Model with the kernel class of the fork's own formats; unchanged for other formats."""
    quant = row.quant
    names = (name for pattern, name in FORK_CLASSES if re.search(pattern, quant))
    name = next(names, None)
    return model if name is None else replace(model, decode_class=name)
