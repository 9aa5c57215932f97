"""Reading of a published row as a case: category, machine, runtime and split.

Missing values become typical parts, which notes say.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from advisor.cost_model.measured_constants import software_of
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.errors import InputError
from advisor.evidence.published import run_settings
from advisor.evidence.published.case import Case, batched
from advisor.evidence.published.engines import (
    ACCELERATE,
    DEEPSPEED,
    EXLLAMA,
    IK_COPYING,
    IK_COPYING_ALL,
    IK_GRAPH,
    IK_LLAMA_CPP,
    KTRANSFORMERS,
    LLAMA_CPP_TENSOR,
    VLLM,
    engine,
    with_drafts,
)
from advisor.evidence.published.machine import ram_gib, stated_machine
from advisor.evidence.published.model import stated_model
from advisor.evidence.published.row import (
    CATEGORIES,
    PublishedRow,
    figure,
    stated,
)
from advisor.evidence.published.tiered import CATEGORY as TIERED
from advisor.evidence.published.tiered import engine_of, understood_tiers
from advisor.machine.backends import Build
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes import row_of as runtime_row

STREAMING = ("stream_cpu", "kv_offload", "batched")


def understood(row: PublishedRow) -> Case:
    """Case that a row describes, with typical parts for missing values."""
    row = with_category(row)
    if row.category not in CATEGORIES:
        raise InputError(f"category {row.category!r} is no inference run; nothing to predict.")
    if row.category == TIERED:
        return _in_tiers(row)
    named = _runtime(row)
    row.notes += _not_counted(row)
    model = run_settings.in_fork_format(row, stated_model(row, named))
    parts = _machine(row, named)
    runtime, strategy = _placed(row, named, PlacementStrategy(CATEGORIES[row.category][0]))
    where = one_after_another(row, runtime, _machine_of(parts))
    where = with_build(row, model, where, runtime)
    strategy = possible(row, model, where, runtime, strategy)
    if runtime.computes_in_ram:
        prompt, work = (with_drafts(row, request) for request in run_settings.requests(row))
        settings = _settings(row, model)
    else:
        prompt = work = run_settings.workload(row, runtime)
        settings = run_settings.settings(row, model, runtime)
    case = Case(
        model=model,
        machine=where,
        prompt=prompt,
        work=work,
        runtime=runtime,
        strategy=strategy,
        settings=settings,
        backend=run_settings.backend(row),
        build=run_settings.build(row),
        replicas=float(run_settings.replicas(row)),
    )
    if not runtime.computes_in_ram:
        case = batched(row, case)
    return replace(case, notes=tuple(row.notes))


OF_TIERS = {"draft": ("", "none", "off", "no")}
"""Columns that are read for engines with experts in tiers alone, and what others may say there."""


def _not_counted(row: PublishedRow) -> Iterator[str]:
    """Columns of a row that say something which is not counted for its engine."""
    if "engine" in row.cells:  # the table of those engines, where llama.cpp stands beside them
        return
    for column, plain in OF_TIERS.items():
        words = row.cells.get(column, "").strip()
        if words.casefold() not in plain:
            yield (
                f"its column {column} ({words[:40]}) is not counted: only runs of engines in tiers "
                "have it; a note may say it (source_note: draft=mtp,3)"
            )


def _in_tiers(row: PublishedRow) -> Case:
    """Case of an engine that keeps experts in tiers; llama.cpp among them as itself."""
    if engine_of(row.engine or row.runtime) is None and LLAMA_CPP.name in row.runtime[:9]:
        return understood(_as_llama_cpp(row))
    runtime, model, where, work, strategy, settings = understood_tiers(row, _machine_of)
    return Case(
        model=model,
        machine=where,
        prompt=work,
        work=work,
        runtime=runtime,
        strategy=strategy,
        settings=settings,
        backend="",
        build="",
        notes=tuple(row.notes),
    )


def _as_llama_cpp(row: PublishedRow) -> PublishedRow:
    """Row of llama.cpp in a table of engines with tiers, rewritten to the columns of a run of
    llama.cpp.
    """
    layers = re.search(r"-ncmoe (\d+)", row.runtime)
    cells = {
        **row.cells,
        "category": "moe_offload",
        "prompt_len": row.cells.get("prompt_tokens", ""),
    }
    if row.vram_cache_share == 1.0:
        cells["category"] = "resident"
    if layers:
        cells["n_cpu_moe"] = layers[1]
    cache = row.vram_cache_gib
    if cache and cells["category"] == "moe_offload":
        cells["source_note"] = f"{row.source_note}; --moe-cache-mib {cache * 1024:.0f}"
    return PublishedRow(cells)


@lru_cache(maxsize=4096)
def _machine_of(parts: MachineSpec) -> Machine:
    """Machine of a specification; cached, as many rows have the same."""
    return machine(parts)


def _copying(row: PublishedRow) -> Runtime:
    """ik_llama.cpp of the time of a row, where it copies experts to the GPU."""
    if row.date >= run_settings.COPIES_LARGE_SINCE:
        return IK_COPYING
    return IK_COPYING_ALL


def _runtime(row: PublishedRow) -> Runtime:
    """Engine of a row, or the likeliest runtime where it names none."""
    named = engine(row.runtime, row.category)
    if named in (LLAMA_CPP, None) and stated("shared layers", row.source_words):
        return LLAMA_CPP_TENSOR
    if named is not None:
        app = runtime_row(row.runtime)
        if app is not None and app.taken_as:
            row.notes.append(app.taken_as)
        return _with_options(named, row)
    if row.category in STREAMING:
        nearest = VLLM
    else:
        nearest = LLAMA_CPP
    if row.runtime:
        row.notes.append(f"{row.runtime} is not modelled: read as {nearest.name} does")
    return nearest


def _with_options(named: Runtime, row: PublishedRow) -> Runtime:
    """Engine with the options of a row that change how it reads weights."""
    if named is IK_LLAMA_CPP and "split mode graph" in row.source_note:
        return IK_GRAPH
    if named is IK_LLAMA_CPP and run_settings.copies_experts(row):
        return _copying(row)
    if named is KTRANSFORMERS and not row.gpu:
        return LLAMA_CPP
    return named


def _machine(row: PublishedRow, runtime: Runtime) -> MachineSpec:
    """Machine of each copy of the model."""
    parts = stated_machine(row)
    parts = replace(parts, ram_gb=ram_gib(row, runtime, str(parts.gpu)))
    replicas = run_settings.replicas(row)
    if replicas == 1:
        return parts
    row.notes.append(f"{replicas} copies of the model share the requests")
    return replace(parts, gpu_count=max(parts.gpu_count // replicas, 1))


PROGRAMS_OF_GPUS = (ACCELERATE, DEEPSPEED)
"""Runtimes on PyTorch, whose own way on a processor is another one: Transformers in 32 bits was
measured 7.5 times slower there than llama.cpp is predicted."""


def _placed(
    row: PublishedRow, runtime: Runtime, strategy: PlacementStrategy
) -> tuple[Runtime, PlacementStrategy]:
    """Engine and placement of a row; without a GPU the processor computes in place."""
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    if resident and strategy not in runtime.strategies:
        row.notes.append(f"{runtime.name} keeps no weights on the GPU: RAM holds them")
        strategy = PlacementStrategy.CPU_OFFLOAD
    of_llama_cpp = runtime.key == LLAMA_CPP.key
    alone = row.gpu.casefold() == MachineSpec.NO_GPU or (row.category == "cpu" and not of_llama_cpp)
    if not alone:
        return runtime, strategy
    if runtime in PROGRAMS_OF_GPUS:
        raise InputError(
            f"{row.runtime} is modelled on GPUs only; on a processor it computes in another way "
            "than llama.cpp, several times slower. Nothing is predicted."
        )
    if not of_llama_cpp:
        row.notes.append(f"{runtime.name} is modelled on GPUs: read as {LLAMA_CPP.name} does")
    return LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD if resident else strategy


def _settings(row: PublishedRow, model: Model) -> Settings:
    """Stated split, and how the file was read."""
    layers = row.ngl
    moe = row.n_cpu_moe
    note = row.source_note
    percent = figure("percent on the GPU", note)
    if percent is None:
        share = row.fraction_gpu
    else:
        share = percent / 100.0
    if layers is None and share is not None:
        layers = round(share * model.layers)
    by_itself = layers is None or layers >= model.layers
    if moe is None and by_itself and stated("automatic split", note):
        layers = None
    elif moe is None and by_itself and row.category == "moe_offload":
        moe = float(model.layers)
    return Settings(
        gpu_layers=layers,
        cpu_moe=moe,
        gpu_experts=figure("experts on the GPU", row.other_metric),
        most_asked="frequency" in row.runtime.casefold(),
        head_first=layers is None,
        kv_in_ram="-nkvo" in note,
        load_mode=run_settings.load_mode(row),
    )


# Category of a published row that states none, or that cannot have run as it states.


def with_category(row: PublishedRow) -> PublishedRow:
    """Row with a category, as stated or by its GPU, split and runtime; without notes."""
    if not row.category:
        row = _with_runtime(row)
    return PublishedRow({**row.cells, "category": row.category or _category(row)})


def _with_runtime(row: PublishedRow) -> PublishedRow:
    """Row whose engine is one without tiers, named where the column of those with tiers is: it
    stands in the column of runtimes then.
    """
    if row.runtime or engine_of(row.engine) is not None or engine(row.engine, "") is None:
        return row
    others = {name: cell for name, cell in row.cells.items() if name != "engine"}
    return PublishedRow({**others, "runtime": row.engine})


def _category(row: PublishedRow) -> str:
    if not row.gpu or row.gpu.casefold() == MachineSpec.NO_GPU or row.ngl == 0:
        return "cpu"
    if row.fraction_disk:
        return "nvme"
    if row.engine or engine_of(row.runtime) is not None:
        return TIERED
    experts = row.n_cpu_moe or stated("experts in RAM", f"{row.source_words} {row.other_metric}")
    if experts or engine(row.runtime, "moe_offload") is KTRANSFORMERS:
        return "moe_offload"
    if row.ngl is None:
        return "resident"
    return "partial"


def possible(
    row: PublishedRow, model: Model, machine: Machine, runtime: Runtime, strategy: PlacementStrategy
) -> PlacementStrategy:
    """Placement of a row: divided between processors where its GPUs are too small for all weights.

    Only engines that compute in RAM can have run so: Ollama and LM Studio split a model by
    themselves, and drivers move what exceeds a GPU to RAM.
    """
    if strategy is not PlacementStrategy.GPU_RESIDENT or not runtime.computes_in_ram:
        return strategy
    room = sum(float(gpu.memory.value) for gpu in machine.gpus)
    if model.file_bytes <= room or any(gpu.unified for gpu in machine.gpus):
        return strategy
    row.notes.append(
        f"{row.model} is larger than the GPU memory of {row.gpu}: read as split with RAM"
    )
    return PlacementStrategy.CPU_OFFLOAD


def one_after_another(row: PublishedRow, runtime: Runtime, machine: Machine) -> Machine:
    """Machine of a row; as one card with the memory of all where ExLlama divides by layers.

    Each GPU computes its own layers in turn, so that a token takes as long as on one card; `tp=4`
    in a note is another way (`-tp` of turboderp-org/exllamav3's model_init.py, 0445820).
    """
    first, *others = machine.gpus or (None,)
    if runtime is not EXLLAMA or first is None or not others:
        return machine
    if stated("layers divided", row.source_words) or any(gpu.name != first.name for gpu in others):
        return machine
    together = replace(first.memory, value=first.memory.value * len(machine.gpus))
    return replace(machine, gpus=(replace(first, memory=together),))


OLLAMA_RUNS_LLAMA_CPP = "2026-06"
"""Month from which Ollama starts llama.cpp's server; its own engines before, up to 0.24, computed
the delta rule by single operations (ollama pull request 16031)."""
OLLAMA_AS_OF = "2026-02"
"""Month of the builds of llama.cpp that these engines are like in linear attention."""


def with_build(row: PublishedRow, model: Model, machine: Machine, runtime: Runtime) -> Machine:
    """Machine of a row, with the build of the row's month where that changes its speed.

    It does where it changes linear attention, lacks a kernel for the format, or copies experts that
    no token uses.
    """
    month = row.date[:7]
    dated = re.fullmatch(r"20\d\d-\d\d", month) is not None
    if not dated or not runtime.of_llama_cpp:
        return machine
    if "ollama" in row.runtime.casefold() and month < OLLAMA_RUNS_LLAMA_CPP:
        month = min(month, OLLAMA_AS_OF)
    aged = replace(machine, build=month, backend=machine.backend or run_settings.backend(row))
    copies_all = model.has_experts and month < Build.USED_ALONE_SINCE
    slower = (model.has_delta_rule and Build(month).effects) or software_of(
        model, aged, runtime
    ).kernel
    older = copies_all or slower
    if older:
        return replace(machine, build=month)
    return machine
