"""Settings of a framework run: shares of the tiers, lengths, cache."""

import re
from dataclasses import replace

from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.evidence.published.row import PublishedRow, meaning
from advisor.machine.backends import kernels_of
from advisor.model.expert_use import BENCH
from advisor.model.model import KV_BYTES_PER_VALUE, Model
from advisor.runtimes import ACCELERATE, Runtime
from advisor.units import GIB

# Properties of a llama.cpp run from its row and note: lengths, cache type, backend, build.

BENCH_PROMPT, BENCH_OUTPUT = 512.0, 128.0
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
SERVED = re.compile(
    r"llama-server|ollama|lm[ -]?studio|\bserver timings\b|first-token time|single_stream",
    re.IGNORECASE,
)
"""Runs of a server; other runs are of a bench, which cuts no prompt."""
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
    cached_before = depth or 0.0
    generated = row.gen_len or _to_mean_depth(note, cached_before) or bench_length(note, "tg")
    generated = generated or BENCH_OUTPUT
    empty = sent is None and cached_before > 0 and FROM_EMPTY.search(note) is not None
    fresh = max(sent, 1.0) if sent is not None else bench_length(note, "pp") or BENCH_PROMPT
    fresh, cached = (cached_before, 0.0) if empty else (fresh, cached_before)
    if empty and OF_NINE in note:
        fresh = EQUAL_TO_NINE
    told = AT_THOUSANDS.search(note)
    if told and sent is None:
        fresh, cached = 1024.0 * float(told[1]), 0.0
    beside = AFTER_PROMPT.search(note)
    if beside:
        fresh = max(float(beside[2] or beside[4]), 1.0)
        cached = float(beside[1]) if beside[1] else max(cached_before - fresh, 0.0)
    prompt = Workload(
        prompt=cached + fresh,
        cached=cached,
        output=generated,
        context=max(cached + fresh, cached_before) + generated,
        users=users,
        ubatch=_micro_batch(note, fresh),
        kv_type=cache_type(note),
        flash_attention=WITHOUT_FLASH.search(note) is None,
        unified_cache=row.date < SPLIT_CACHE,
        variety=BENCH,
        bench=SERVED.search(f"{row.runtime} {note}") is None,
    )
    if depth is None or sent is not None:
        return prompt, prompt
    return prompt, replace(prompt, prompt=cached_before, cached=0.0)


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
        if stated := meaning("backend", f"{part.casefold()} "):
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
"""Pattern of weights in the fork's layout for processors."""
GPU_REPACKED = re.compile(r"\biq(?:[2-5]_k|[45]_ks|1_[sm])_r4\b")
"""Pattern of those layouts that the fork's GPU kernels read from `GPU_REPACKED_SINCE` on (its pull
requests 461, 462, 492 and 494)."""
GPU_REPACKED_SINCE = "2025-06-06"
ON_CORES = "computed by the processor"
"""Words of a note on prompts whose experts were not copied, by the source's log."""
COPIES_SINCE, COPIES_LARGE_SINCE = "2025-05-12", "2025-06-12"
"""Days from which ik_llama.cpp copies fused experts to the GPU for prompts of 32 tokens (its pull
request 405), and for as many as give each expert 32 (520)."""


def copies_experts(row: PublishedRow) -> bool:
    """Whether a row's ik_llama.cpp copies experts in RAM to the GPU for long prompts."""
    stated = f"{row.runtime} {row.quant} {row.source_note}".casefold()
    if row.date < COPIES_SINCE or ON_CORES in stated:
        return False
    if row.date >= GPU_REPACKED_SINCE:
        stated = GPU_REPACKED.sub("", stated)
    return REPACKED.search(stated) is None


MAPPED_NOT = re.compile(
    r"--?no-mmap\b|\bmmap[ =:]*(?:0|off)\b|-mmp 0\b|(?:--load-mode|-lm) (?:none|dio|mlock)\b"
)
"""Pattern of runs that read the file into buffers of their own."""
PINNED_SINCE = "2026-03-26"
"""Day from which ik_llama.cpp does so wherever tensors are overridden (its pull request 1510)."""


def load_mode(row: PublishedRow, *, fork: bool) -> str:
    """Load mode of a row: llama.cpp maps the file unless it is told not to."""
    stated = f"{row.runtime} {row.source_note}".casefold()
    buffered = MAPPED_NOT.search(stated) is not None or (fork and row.date >= PINNED_SINCE)
    return "none" if buffered else "auto"


def in_fork_format(row: PublishedRow, model: Model) -> Model:
    """Model with the kernel class of the fork's own formats; unchanged for other formats."""
    kernels = meaning("kernels of ik_llama.cpp", row.quant)
    return replace(model, decode_class=kernels) if kernels else model


USUAL_PROMPT = 64.0
"""Prompt of runs that time generation and state none: a sentence [tokens]; assumed."""
USUAL_OUTPUT = 128.0
"""Generated tokens where a row states none [tokens]; assumed."""


def settings(row: PublishedRow, category: str, model: Model, runtime: Runtime) -> Settings:
    """Shares of the tiers and location of the cache, where a row states them."""
    on_gpu, on_disk = tiers(row, category, model, runtime)
    cache_said = category == "kv_offload" or "kv_offload=cpu" in row.other_metric
    stated = row.runtime.casefold()
    offloaded = re.search(r"cpu[-_]offload[-_]gb[ =](\d+)", stated)
    if offloaded and on_gpu is None:
        on_gpu = max(1.0 - float(offloaded.group(1)) * GIB / model.file_bytes, 0.0)
    return Settings(
        gpu_layers=None if on_gpu is None else on_gpu * model.layers,
        disk_layers=None if on_disk is None else on_disk * model.layers,
        kv_in_ram=True if cache_said else None,
        zero_copy=runtime.reads_over_link
        and re.search(r"uva|uvm|zero.copy|cpu[-_]offload[-_]gb", stated) is not None,
    )


def tiers(
    row: PublishedRow, category: str, model: Model, runtime: Runtime
) -> tuple[float | None, float | None]:
    """Shares of the weights on GPUs and on the drive; None for a share that is not stated.

    Accelerate fills GPU, RAM and drive in turn (`device_map="auto"`); papers that compare it put
    every layer on the drive (FlexLLMGen at 004ffef, benchmark/hf_ds/hf_opt.py). Accelerate's own
    table gives memory in GiB; with all weights on GPUs, it is the weights plus 2 to 4 %.
    """
    on_gpu, on_disk = row.fraction_gpu, row.fraction_disk
    if on_gpu is not None or on_disk is not None:
        return on_gpu, on_disk
    metric = row.other_metric
    on_gpus = re.findall(r"gpu\d+_gb=(\d+(?:\.\d+)?)", metric)
    in_ram = re.search(r"cpu_gb=(\d+(?:\.\d+)?)", metric)
    if on_gpus and in_ram:
        share = min(sum(map(float, on_gpus)) * GIB / model.file_bytes, 1.0)
        rest = 1.0 - share - float(in_ram.group(1)) * GIB / model.file_bytes
        return share, max(rest, 0.0)
    if runtime.engine == ACCELERATE.engine and category == "nvme":
        return (None, None) if "device_map" in row.runtime else (0.0, 1.0)
    return None, None


TASKS = ((r"helm synthetic reasoning", 256.0, 50.0), (r"helm summarization", 1984.0, 64.0))
"""Tasks that papers name in place of lengths, with longest prompt and output, to which batches are
padded (arXiv 2411.11217, table 3) [tokens]."""


def lengths(row: PublishedRow) -> tuple[float | None, float | None]:
    """Prompt and output of a row, stated or by its task; None where unknown [tokens]."""
    metric = row.other_metric.casefold()
    task = next((sizes for words, *sizes in TASKS if re.search(words, metric)), (None, None))
    return row.prompt_len or task[0], row.gen_len or task[1]


def workload(row: PublishedRow, runtime: Runtime) -> Workload:
    """Request of a row, for one user; after `context_depth` tokens that are in the cache already.

    A note gives lengths as llama-bench's tests do, where columns do not.
    """
    sent, generated = lengths(row)
    sent = sent or bench_length(row.source_note, "pp")
    generated = generated or bench_length(row.source_note, "tg")
    cached = row.context_depth or 0.0
    prompt = cached + max(sent or USUAL_PROMPT, padded(row), 1.0)
    output = max(generated or USUAL_OUTPUT, 1.0)
    return Workload(
        prompt=prompt,
        cached=cached,
        output=output,
        context=prompt + output,
        kv_type=kv_type(row, runtime),
    )


def padded(row: PublishedRow) -> float:
    """Longest prompt, to which the runtime pads all prompts; 0 where none are padded [tokens].

    MoE-Lightning does not pad prompts, its variant "(p)" does.
    """
    match = re.search(r"avg \d+ max (\d+)", row.other_metric)
    as_they_are = row.runtime.casefold().endswith("lightning")
    return 0.0 if match is None or as_they_are else float(match.group(1))


EIGHT_BIT_CACHE = re.compile(r"\bkv(?: cache)?[ =]fp8|\bfp8[ -]kv\b")
"""Pattern of a cache in 8-bit floats in a note."""


def kv_type(row: PublishedRow, runtime: Runtime) -> str:
    """Format of the cache: as stated, else the engine's default for the weights' format."""
    stated = row.quant.casefold()
    if "kv" in stated:
        return "q4_0" if "4" in stated else "q8_0"
    if EIGHT_BIT_CACHE.search(row.source_note.casefold()) and runtime.quantized_kv_type == "fp8":
        return "fp8"
    return "fp8" if runtime.key == "tensorrt-llm" and re.search(r"fp[48]", stated) else "f16"


def experts_kept(row: PublishedRow) -> tuple[float | None, bool]:
    """Stated share of experts on the GPU, and whether they are the most frequent ones."""
    share = re.search(r"gpu_expert_ratio=(\d(?:\.\d+)?)", row.other_metric)
    frequent = "frequency" in row.runtime.casefold()
    return (float(share.group(1)) if share else None), frequent


def replicas(row: PublishedRow) -> int:
    """Copies of the model that share a row's requests; 1 where none are stated."""
    search = re.search(r"\binstances=(\d+)", row.source_note)
    return int(search[1]) if search else 1
