"""Settings of a framework run: shares of the tiers, lengths, cache."""

import re

from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_notes import bench_length
from advisor.model.model import Model
from advisor.runtimes import ACCELERATE, Runtime
from advisor.units import GIB

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
