"""What rows of papers leave open: the batch that memory allows, shares of tiers, lengths.

Papers of offloading report generated tokens per second of a whole batch, prompts included, at the
largest batch that fits; many do not print it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from advisor import catalog
from advisor.cells import number, text
from advisor.efficiency import Scope
from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import RAM, Settings, Strategy, Tier, kv_bytes, needed_bytes, weight_bytes
from advisor.runtimes import ACCELERATE, DEEPSPEED, VLLM, Runtime
from advisor.runtimes.expert_streaming import EXPERT_STREAMING
from advisor.runtimes.streaming import ACTIVATIONS
from advisor.units import GB, GIB
from advisor.workload import Workload

USUAL_PROMPT = 64.0
"""Prompt of runs that time generation and do not state one: a sentence [tokens]."""
USUAL_OUTPUT = 128.0
"""Tokens generated where a row does not say [tokens]."""
MOST_USERS = 2048
"""Sequences that servers take into one step at most (TensorRT-LLM's default for its builds)."""
RAM_USED = 0.78
"""Share of RAM that batches fill: FlexGen's authors took 0.70 to 0.92 of 208 GiB, most about this
(weights and cache of their bench_suite.py)."""
DRIVE_FOR_CACHE = 0.65e12
"""Drive space that a cache may take where nothing is said of it: FlexGen's runs put 620 to 710 GB
on a drive of 1.5 TB beside weights [B]."""
THROUGHPUT = ("deepspeed", "flexgen", "tensorrt-llm")
"""Engines for throughput: a batch that is not stated was as large as memory allowed."""
SERVER = "tensorrt-llm"
"""Engine whose published runs fill it with requests: its batch is no guess."""
ON_TRANSFORMERS = (ACCELERATE.place, DEEPSPEED.place)
"""Engines on Transformers, which kept the logits of whole prompts until version 4.45."""
LOGITS = 6.0
"""Bytes of each such logit: 16 bits, and 32 for the softmax [B]."""


CACHE_COPIES = 2.0
"""Room that their cache takes beside its size: each step joins old and new to a longer one, in
memory that was not yet taken (OPT-6.7B and 30B on a T4, batches of FlexGen's authors)."""


USUAL_RAM_GIB = 256.0
"""RAM of a server that offloads and does not state it [GiB]; assumed."""
AT_HOME_RAM_GIB = 64.0
"""RAM of a machine at home that streams experts and does not state it [GiB]; assumed."""
FORMS = (
    (r"^$|fp16|bf16|^f16", "BF16"),
    (r"fp32", "F32"),
    (r"int8", "bnb-int8"),
    (r"hqq 2-bit", "IQ3_XXS"),
    (r"hqq 3-bit", "Q3_K_M"),
)
"""Formats of frameworks as papers spell them; 16 bits where nothing is said. HQQ keeps a scale for
each 16 weights: its 2 and 3 bits take 3 and 4 (17.5 GB of Mixtral's 46.7 billion weights)."""


def form(row: Mapping[str, str], runtime: Runtime) -> str | None:
    """The catalogue's format of a row of a framework; None where its spelling is a common one."""
    said = text(row, "quant").casefold()
    if not said and runtime.place is EXPERT_STREAMING.place:
        return None
    return next((name for pattern, name in FORMS if re.search(pattern, said)), None)


USUAL_ACTIVE = 0.05
"""Share of its weights that a large mixture of experts uses for a token: DeepSeek-R1 37 of 671
billion, GLM-5.2 40 of 744, Qwen3.5 17 of 397, Kimi K2 32 of 1000."""


def has_experts(row: Mapping[str, str], runtime: Runtime) -> bool:
    """The model is a mixture of experts: it ran where only these do."""
    return runtime.place is EXPERT_STREAMING.place or text(row, "category") == "moe_offload"


def file_bytes(row: Mapping[str, str]) -> float | None:
    """Size of the file where it stands beside the format [B]; None where it does not."""
    found = re.search(r"\(~?(\d+(?:\.\d+)?) GB\)", text(row, "quant"))
    return float(found.group(1)) * GB if found else None


def settings(row: Mapping[str, str], category: str, model: Model, runtime: Runtime) -> Settings:
    """Shares of the tiers and the place of the cache, as far as a row states them."""
    on_gpu, on_disk = tiers(row, category, model, runtime)
    cache_said = category == "kv_offload" or "kv_offload=cpu" in text(row, "other_metric")
    said = text(row, "runtime").casefold()
    offloaded = re.search(r"cpu[-_]offload[-_]gb[ =](\d+)", said)
    if offloaded and on_gpu is None:
        on_gpu = max(1.0 - float(offloaded.group(1)) * GIB / model.file_bytes, 0.0)
    return Settings(
        gpu_layers=None if on_gpu is None else on_gpu * model.layers,
        disk_layers=None if on_disk is None else on_disk * model.layers,
        kv_in_ram=True if cache_said else None,
        zero_copy=runtime.schedule is VLLM.schedule
        and re.search(r"uva|uvm|zero.copy|cpu[-_]offload[-_]gb", said) is not None,
    )


def tiers(
    row: Mapping[str, str], category: str, model: Model, runtime: Runtime
) -> tuple[float | None, float | None]:
    """Shares of the weights on GPUs and on the drive; None for what a row leaves open.

    Accelerate fills GPU, RAM and drive in turn with a map of its own (`device_map="auto"`); papers
    that compare it put every layer on the drive (FlexLLMGen at 004ffef, benchmark/hf_ds/hf_opt.py).
    Its own table prints memory in GiB: where all lies on GPUs, that is the weights and 2 to 4 %.
    """
    on_gpu, on_disk = number(row, "fraction_gpu"), number(row, "fraction_disk")
    if on_gpu is not None or on_disk is not None:
        return on_gpu, on_disk
    said = text(row, "other_metric")
    on_gpus = re.findall(r"gpu\d+_gb=(\d+(?:\.\d+)?)", said)
    in_ram = re.search(r"cpu_gb=(\d+(?:\.\d+)?)", said)
    if on_gpus and in_ram:
        share = min(sum(map(float, on_gpus)) * GIB / model.file_bytes, 1.0)
        rest = 1.0 - share - float(in_ram.group(1)) * GIB / model.file_bytes
        return share, max(rest, 0.0)
    if runtime.place is ACCELERATE.place and category == "nvme":
        return (None, None) if "device_map" in text(row, "runtime") else (0.0, 1.0)
    return None, None


TASKS = ((r"helm synthetic reasoning", 256.0, 50.0), (r"helm summarization", 1984.0, 64.0))
"""Tasks that papers name in place of lengths, their longest prompt and what is generated, as
batches are filled up to (arXiv 2411.11217, table 3) [tokens]."""


def lengths(row: Mapping[str, str]) -> tuple[float | None, float | None]:
    """Prompt and output of a row, stated or by its task; None where it is not said [tokens]."""
    said = text(row, "other_metric").casefold()
    task = next((sizes for words, *sizes in TASKS if re.search(words, said)), (None, None))
    return number(row, "prompt_len") or task[0], number(row, "gen_len") or task[1]


def workload(row: Mapping[str, str], runtime: Runtime) -> Workload:
    """The request of a row, for one user."""
    sent, generated = lengths(row)
    prompt = max(sent or USUAL_PROMPT, padded(row), 1.0)
    output = max(generated or USUAL_OUTPUT, 1.0)
    return Workload(
        prompt=prompt, output=output, context=prompt + output, kv_type=kv_type(row, runtime)
    )


def padded(row: Mapping[str, str]) -> float:
    """The longest prompt, where a row states an average and the runtime fills all up to it; else 0.

    MoE-Lightning takes prompts as they are, its "(p)" fills them up as the others do.
    """
    found = re.search(r"avg \d+ max (\d+)", text(row, "other_metric"))
    as_they_are = text(row, "runtime").casefold().endswith("lightning")
    return 0.0 if found is None or as_they_are else float(found.group(1))


def kv_type(row: Mapping[str, str], runtime: Runtime) -> str:
    """Format of the cache: as stated, or as the engine has it beside weights of that format."""
    said = text(row, "quant").casefold()
    if "kv" in said:
        return "q4_0" if "4" in said else "q8_0"
    return "fp8" if runtime.key == "tensorrt-llm" and re.search(r"fp[48]", said) else "f16"


def batch(
    row: Mapping[str, str],
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: Strategy,
    chosen: Settings,
    notes: list[str],
) -> float:
    """Sequences in a batch: as stated, or as many as memory allows where that was the point."""
    stated = number(row, "batch")
    if stated:
        return stated
    if not (all(lengths(row)) or runtime.key in THROUGHPUT or text(row, "category") == "batched"):
        return 1.0

    plain = runtime.place in ON_TRANSFORMERS
    if plain and chosen.kv_in_ram is None:
        chosen = replace(chosen, kv_in_ram=False)  # the cache bounds the batch unless it moves
    if plain and chosen.gpu_layers is None:
        chosen = replace(chosen, gpu_layers=0.0)  # weights that stay would take its room

    def fits(users: float) -> bool:
        return _fits(model, machine, replace(work, users=users), runtime, strategy, chosen)

    found = largest(fits)
    reached = catalog.efficiency().bound(Scope(runtime=runtime.key)).value("batch_share")
    found = max(float(np.floor(found * reached)), 1.0)
    notes.append(f"the batch is not stated: {found:g}, as many as memory allows, stand in")
    return found


def guessed_batch(model: Model) -> float:
    """What a range is wider by where nobody stated the batch, as the logarithm of a factor."""
    table = catalog.efficiency()
    if model.has_experts:
        return table.value("spread_guessed_experts")
    return table.value("spread_guessed")


def kept_where_all_fits(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, chosen: Settings
) -> Settings:
    """A row that streams a model which would fit moved a small part of it: all but nothing.

    Only of servers; the others stream everything, which is what they are for.
    """
    if runtime.place is not VLLM.place or chosen.gpu_layers is not None:
        return chosen
    if not _fits(model, machine, work, runtime, Strategy.GPU_RESIDENT, chosen):
        return chosen
    return replace(chosen, gpu_layers=float(model.layers))


def largest(fits: Callable[[float], bool]) -> float:
    """The largest batch up to `MOST_USERS` that fits, 1 at least, by bisection."""
    low, high = 1, MOST_USERS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return float(low)


def _fits(
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: Strategy,
    chosen: Settings,
) -> bool:
    try:
        placement = runtime.place(model, machine, work, strategy, chosen)
    except Refusal:
        return False
    plain = runtime.place in ON_TRANSFORMERS
    logits = LOGITS * model.architecture.vocab * work.fresh * work.users * plain
    beyond = logits / max(len(machine.gpus), 1) - ACTIVATIONS * plain
    weights = float(weight_bytes(model, placement, RAM))
    limits = {
        Tier.VRAM: min(float(gpu.memory.value) for gpu in machine.gpus) - beyond,
        Tier.RAM: max(float(machine.host.memory.value) * RAM_USED, weights),
        Tier.DISK: DRIVE_FOR_CACHE + model.file_bytes,
    }
    twice = (CACHE_COPIES - 1.0) * plain
    return all(
        float(
            needed_bytes(model, placement, place, work)
            + twice * kv_bytes(model, placement, place, work)
        )
        <= limits[place.tier]
        for place in placement.locations
    )


DRIVES = (
    (r"\bhdd\b|hard dis", "7200 rpm HDD (typical)"),
    (r"sata", "SATA SSD (typical)"),
    (r"optane", "Intel Optane P5800X"),
    (r"9100 ?pro|t705", "Samsung 9100 PRO"),
    (r"sn850x", "WD_BLACK SN850X"),
    (r"990 ?pro", "Samsung 990 PRO"),
    (r"980 ?pro", "Samsung 980 PRO"),
    (r"2x? nvme.*raid|two drives", "RAID 0, 2x NVMe PCIe 4.0 (theory)"),
    (r"gen ?5|pcie ?5(\.0)? nvme", "NVMe PCIe 5.0 x4 (typical)"),
    (r"gen ?3|pcie ?3(\.0)? nvme", "NVMe PCIe 3.0 x4 (typical)"),
)
"""Words beside a processor or in a note, and the drive they mean."""
OLD_DRIVE, SINCE = "NVMe PCIe 3.0 x4 (typical)", "2024"
"""The usual drive of runs before a year."""


def drive(row: Mapping[str, str]) -> tuple[float | None, str | None]:
    """Rate of a row's drive [GB/s] and its name in the catalogue; None for what is not said."""
    rate = number(row, "disk_gbs")
    said = " ".join(text(row, name) for name in ("cpu", "other_metric", "source_note")).casefold()
    told = re.search(r"\bdisk ~(\d+(?:\.\d+)?)", said)
    if rate is None and told:
        rate = float(told.group(1))
    named = next((name for words, name in DRIVES if re.search(words, said)), None)
    old = text(row, "category") == "nvme" and "" < text(row, "date") < SINCE
    return rate, named or (OLD_DRIVE if old else None)


def experts_kept(row: Mapping[str, str]) -> tuple[float | None, bool]:
    """Share of experts that a row says are on the GPU, and whether they are the most asked for."""
    found = re.search(r"gpu_expert_ratio=(\d(?:\.\d+)?)", text(row, "other_metric"))
    frequent = "frequency" in text(row, "runtime").casefold()
    return (float(found.group(1)) if found else None), frequent


def ram_gib(row: Mapping[str, str], runtime: Runtime, notes: list[str]) -> float:
    """RAM as stated beside the processor or in the note, else that of usual machines [GiB]."""
    said = f"{text(row, 'cpu')} {text(row, 'source_note')}"
    found = re.search(r"(\d+(?:\.\d+)?) ?(GB|TB)(?! ?/s)", said)
    if found:
        size = float(found.group(1)) * (1024.0 if found.group(2) == "TB" else 1.0)
        return min(max(size, 1.0), 100_000.0)
    at_home = runtime.place is EXPERT_STREAMING.place
    usual = AT_HOME_RAM_GIB if at_home else USUAL_RAM_GIB
    if text(row, "category") not in ("resident", "batched"):
        notes.append(f"RAM is not stated: {usual:g} GiB stand in")
    return usual
