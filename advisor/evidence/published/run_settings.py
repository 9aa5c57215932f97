"""Request, cache and split of a published run, from its row and note."""

from dataclasses import replace

from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.evidence.published.engines import ACCELERATE, IK_LLAMA_CPP, engine
from advisor.evidence.published.row import PublishedRow, figure, figures, meaning, stated
from advisor.machine.backends import Build
from advisor.model.model import Model
from advisor.units import GIB

# Properties of a llama.cpp run: lengths, cache type, backend, build.

# default lengths of llama-bench's two tests [tokens]
BENCH_PROMPT = 512.0
BENCH_OUTPUT = 128.0
USUAL_MICRO_BATCH = 512.0
MOST_MICRO_BATCH = 65_536.0
OF_NINE = "mean of its 9 tests"
EQUAL_TO_NINE = 200.0
"""Note of speeds averaged over LocalScore's nine tests, and length of a prompt read at that speed
[tokens]. Their prompts have 16, 64, 384, 1024 (twice), 1280, 2048 (twice) and 4096 tokens. Reading
the weights takes a GPU as long as multiplying some 30 tokens; the nine speeds n / (n + 30) average
0.87, that of 200 tokens. With 10 to 60 in place of 30 the length is 140 to 270."""
SPLIT_CACHE = "2025-08"
"""Month from which each sequence has a cache buffer of its own (pull request 14363 of llama.cpp,
https://github.com/ggml-org/llama.cpp/pull/14363); rows without a date count as older."""


def requests(row: PublishedRow) -> tuple[Workload, Workload]:
    """Requests that timed the prompt and the generation.

    A row with `context_depth` comes from two tests with the lengths in `test=tgN,ppM`, each with
    that many tokens in the cache, except prompts read into an empty one. Other rows are one
    request. sweep-bench computes each prompt as one micro-batch.
    """
    note = row.source_note
    depth = row.context_depth
    sent = row.prompt_len
    users = row.batch or 1.0
    cached_before = depth or 0.0
    mean = figure("mean depth", note) or 0.0  # of the tokens generated after the cached ones
    if mean > cached_before:
        to_mean = 2.0 * (mean - cached_before)
    else:
        to_mean = None
    generated = row.gen_len or to_mean or figure("tg", note) or BENCH_OUTPUT
    fresh, cached = _timed_prompt(row)
    prompt = Workload(
        prompt=cached + fresh,
        cached=cached,
        output=generated,
        context=max(cached + fresh, cached_before) + generated,
        users=users,
        ubatch=_micro_batch(note, fresh),
        kv_type=cache_type(note),
        flash_attention=stated("no flash attention", note) is None,
        unified_cache=row.date < SPLIT_CACHE,
        variety=Workload.BENCH_VARIETY,
        bench=stated("server", row.source_words) is None,
    )
    if depth is None or sent is not None:
        return prompt, prompt
    return prompt, replace(prompt, prompt=cached_before, cached=0.0)


def _timed_prompt(row: PublishedRow) -> tuple[float, float]:
    """Tokens of the timed prompt, and tokens in the cache before them."""
    fresh, cached = _fresh_and_cached(row)
    if stated("prompt rate with the depth", row.source_note):
        return cached + fresh, 0.0
    return fresh, cached


def _fresh_and_cached(row: PublishedRow) -> tuple[float, float]:
    """Tokens of a prompt that are read anew, and tokens in the cache before them."""
    note = row.source_note
    depth = row.context_depth or 0.0
    beside = stated("prompt before the reply", note)
    thousands = figure("prompt in thousands", note)
    if beside:
        fresh = max(float(beside[2] or beside[4]), 1.0)
        return fresh, float(beside[1] or max(depth - fresh, 0.0))
    if row.prompt_len is not None:
        return max(row.prompt_len, 1.0), depth
    if thousands is not None:
        return 1024.0 * thousands, 0.0
    if _read_into_empty_cache(row):
        return _whole_prompt(note, depth), 0.0
    return figure("pp", note) or BENCH_PROMPT, depth


def _whole_prompt(note: str, depth: float) -> float:
    """Tokens of a prompt that fills the cache up to a depth."""
    if OF_NINE in note:
        return EQUAL_TO_NINE
    return depth


SAME_LENGTH = 0.01  # largest difference of a prompt's length and the depth after it, as a share


def _read_into_empty_cache(row: PublishedRow) -> bool:
    """Whether a row's prompt is what filled the cache, so that its rate is the mean over it.

    A server that states no other length times the whole prompt it reads. A prompt as long as the
    depth is that which the reply follows, unless a bench read both one after the other.
    """
    note = row.source_note
    depth = row.context_depth or 0.0
    if not depth:
        return False
    if stated("prompt read from empty", note):
        return True
    length = figure("pp", note)
    if length is None:
        return stated("server", row.source_words) is not None
    after = stated("prompt after a depth", note) is not None
    return not after and abs(length - depth) <= SAME_LENGTH * depth


def _micro_batch(note: str, fresh: float) -> float:
    if "sweep-bench" in note:
        whole = fresh
    else:
        whole = USUAL_MICRO_BATCH
    batch = figure("ub", note) or figure("ubatch", note) or whole
    logical = figure("batch beside the micro-batch", note) or batch
    return min(max(min(batch, logical), 1.0), MOST_MICRO_BATCH)


def cache_type(note: str) -> str:
    """Cache type stated in a note; 16 bits by default."""
    words = stated("cache type", note)
    if words:
        kind = next(filter(None, words.groups())).casefold()
    else:
        kind = ""
    return kind if kind in Model.KV_BYTES_PER_VALUE else "f16"


def backend(row: PublishedRow) -> str:
    """Backend stated in the runtime's name or in the note; empty where it is not."""
    texts = (f"{text.casefold()} " for text in (row.runtime, row.source_note))
    return next(filter(None, (meaning("backend", text) for text in texts)), "")


def build(row: PublishedRow) -> str:
    """Name of a build with other kernels than today's: "llamafile", "2024" or "2025" by date; empty
    for today's.
    """
    if any(name in row.runtime.casefold() for name in ("llamafile", "localscore")):
        return "llamafile"
    if row.date[:4].isdigit():
        return Build(row.date[:7]).kernels(backend(row))
    return ""


GPU_REPACKED_SINCE = "2025-06-06"
"""Day from which ik_llama.cpp's GPU kernels read weights that are repacked for processors."""
ON_CORES = "computed by the processor"
"""Words of a note on prompts whose experts were not copied, by the source's log."""
COPIES_SINCE = "2025-05-12"
COPIES_LARGE_SINCE = "2025-06-12"
"""Days from which ik_llama.cpp copies fused experts to the GPU for prompts of 32 tokens (its pull
request 405), and for as many as give each expert 32 (520)."""
PINNED_SINCE = "2026-03-26"
"""Day from which ik_llama.cpp reads the file into buffers of its own wherever tensors are
overridden (its pull request 1510)."""


def copies_experts(row: PublishedRow) -> bool:
    """Whether a row's ik_llama.cpp copies experts in RAM to the GPU for long prompts."""
    words = f"{row.runtime} {row.quant} {row.source_note}".casefold()
    if row.date < COPIES_SINCE or ON_CORES in words:
        return False
    while row.date >= GPU_REPACKED_SINCE and (read := stated("repacked for GPUs", words)):
        words = words.replace(read[0], "")
    return stated("run-time repacking", words) is None


def load_mode(row: PublishedRow) -> str:
    """Load mode of a row; llama.cpp maps the file by default."""
    fork = engine(row.runtime, row.category) is IK_LLAMA_CPP
    buffered = stated("file in buffers", row.source_words.casefold()) is not None
    if buffered or (fork and row.date >= PINNED_SINCE):
        return "none"
    return "auto"


def in_fork_format(row: PublishedRow, model: Model) -> Model:
    """Model with the kernel class of the fork's own formats; unchanged for other formats."""
    kernels = meaning("kernels of ik_llama.cpp", row.quant)
    if kernels:
        return replace(model, decode_class=kernels)
    return model


USUAL_PROMPT = 64.0
"""Prompt of runs that time generation and state none: a sentence [tokens]; assumed."""
USUAL_OUTPUT = 128.0  # generated tokens where a row states none [tokens]; assumed


def settings(row: PublishedRow, model: Model, runtime: Runtime) -> Settings:
    """Shares of the tiers and location of the cache, where a row states them."""
    on_gpu, on_disk = tiers(row, model, runtime)
    cache_said = row.category == "kv_offload" or "kv_offload=cpu" in row.other_metric
    words = row.runtime.casefold()
    offloaded = figure("GiB offloaded", words)
    if offloaded is not None and on_gpu is None:
        on_gpu = max(1.0 - offloaded * GIB / model.file_bytes, 0.0)
    over_link = runtime.reads_over_link and stated("read over the link", words) is not None
    return Settings(
        gpu_layers=None if on_gpu is None else on_gpu * model.layers,
        disk_layers=None if on_disk is None else on_disk * model.layers,
        kv_in_ram=True if cache_said else None,
        zero_copy=over_link,
    )


def tiers(row: PublishedRow, model: Model, runtime: Runtime) -> tuple[float | None, float | None]:
    """Shares of the weights on GPUs and on the drive; None for a share that is not stated.

    Accelerate fills GPU, RAM and drive in turn (`device_map="auto"`); papers that compare it put
    every layer on the drive (FlexLLMGen at 004ffef, benchmark/hf_ds/hf_opt.py). Accelerate's own
    table gives memory in GiB; with all weights on GPUs, it is the weights plus 2 to 4 %.
    """
    on_gpu = row.fraction_gpu
    on_disk = row.fraction_disk
    if on_gpu is not None or on_disk is not None:
        return on_gpu, on_disk
    on_gpus = figures("GB on GPUs", row.other_metric)
    in_ram = figure("GB in RAM", row.other_metric)
    if on_gpus and in_ram is not None:
        share = min(sum(on_gpus) * GIB / model.file_bytes, 1.0)
        rest = 1.0 - share - in_ram * GIB / model.file_bytes
        return share, max(rest, 0.0)
    if runtime.engine == ACCELERATE.engine and row.category == "nvme":
        if "device_map" in row.runtime:
            return (None, None)
        return (0.0, 1.0)
    return None, None


TASKS = {"helm synthetic reasoning": (256.0, 50.0), "helm summarization": (1984.0, 64.0)}
"""Tasks that papers name in place of lengths, with longest prompt and output, to which batches are
padded (arXiv 2411.11217, table 3) [tokens]."""


def lengths(row: PublishedRow) -> tuple[float | None, float | None]:
    """Prompt and output of a row, stated or by its task; None where unknown [tokens]."""
    metric = row.other_metric.casefold()
    prompt, output = next((TASKS[name] for name in TASKS if name in metric), (None, None))
    return row.prompt_len or prompt, row.gen_len or output


def workload(row: PublishedRow, runtime: Runtime) -> Workload:
    """Request of a row, for one user; after `context_depth` tokens that are in the cache already.

    A note gives lengths as llama-bench's tests do, where columns do not.
    """
    sent, generated = lengths(row)
    sent = sent or figure("pp", row.source_note)
    generated = generated or figure("tg", row.source_note)
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


def prompt_apart(row: PublishedRow, work: Workload) -> Workload:
    """Request that timed the prompt: another one than the tokens' where the note states its
    length, "pp at 10k prompt tokens".
    """
    thousands = figure("prompt apart in thousands", row.source_note)
    if thousands is None:
        return work
    length = 1000.0 * thousands
    return replace(work, prompt=length, cached=0.0, context=length + work.output)


def padded(row: PublishedRow) -> float:
    """Length of the longest prompt, to which the runtime pads all prompts; 0 without padding
    [tokens].

    MoE-Lightning does not pad prompts, its variant "(p)" does.
    """
    as_they_are = row.runtime.casefold().endswith("lightning")
    if as_they_are:
        return 0.0
    return figure("longest prompt", row.other_metric) or 0.0


def kv_type(row: PublishedRow, runtime: Runtime) -> str:
    """Format of the cache, as stated or by the engine's default for the weights' format."""
    form = row.quant.casefold()
    if "kv" in form:
        if "4" in form:
            return "q4_0"
        return "q8_0"
    if stated("8-bit cache", row.source_note.casefold()) and runtime.quantized_kv_type == "fp8":
        return "fp8"
    of_8_bits = runtime.key == "tensorrt-llm" and ("fp4" in form or "fp8" in form)
    if of_8_bits:
        return "fp8"
    return "f16"


def replicas(row: PublishedRow) -> int:
    """Number of copies of the model that share a row's requests; 1 where none is stated."""
    return int(figure("copies of the model", row.source_note) or 1)
