"""Category of a published row that states none, or that cannot have run as it states."""

import re
from dataclasses import replace

from advisor.cost_model.conditions import kernel_effect
from advisor.cost_model.measured_constants import RUNTIMES
from advisor.cost_model.placement import PlacementStrategy
from advisor.evidence.published import run_notes
from advisor.evidence.published.engines import EXLLAMA, engine
from advisor.evidence.published.noted import Noted
from advisor.evidence.published.row import PublishedRow
from advisor.machine.machine import Machine
from advisor.machine.software import effect_of_build
from advisor.machine.spec import NO_GPU
from advisor.model.model import Model
from advisor.runtimes import KTRANSFORMERS, Runtime

EXPERTS_IN_RAM = re.compile(r"exps?\b.*=\s*cpu|--?(?:n-)?cpu-moe|\bncmoe", re.IGNORECASE)
"""Pattern of llama.cpp's options that keep experts in RAM: `-ot exps=CPU`, `--n-cpu-moe 30`."""
TENSOR_PARALLEL = re.compile(r"\btp ?= ?([2-9])|tensor.parallel|-tp\b", re.IGNORECASE)
"""Pattern of runs that divide each layer among GPUs."""


def with_category(row: PublishedRow) -> PublishedRow:
    """Row with a category: the stated one, else by its GPU, split and runtime."""
    if row.category:
        return row
    return PublishedRow({**row.cells, "category": _category(row)})


def _category(row: PublishedRow) -> str:
    if not row.gpu or row.gpu.casefold() == NO_GPU or row.ngl == 0:
        return "cpu"
    if row.fraction_disk:
        return "nvme"
    stated = f"{row.runtime} {row.source_note} {row.other_metric}"
    experts = row.n_cpu_moe or EXPERTS_IN_RAM.search(stated) is not None
    if experts or engine(row.runtime, "moe_offload") is KTRANSFORMERS:
        return "moe_offload"
    return "resident" if row.ngl is None else "partial"


def possible(
    row: PublishedRow, model: Model, machine: Machine, runtime: Runtime, strategy: PlacementStrategy
) -> Noted[PlacementStrategy]:
    """Placement of a row; split where GPUs that should hold all weights are smaller than these.

    Only engines that compute in RAM can have run so: Ollama and LM Studio split a model by
    themselves, and drivers move what exceeds a GPU to RAM.
    """
    if strategy is not PlacementStrategy.GPU_RESIDENT or not runtime.computes_in_ram:
        return Noted(strategy)
    room = sum(float(gpu.memory.value) for gpu in machine.gpus)
    if model.file_bytes <= room or any(gpu.unified for gpu in machine.gpus):
        return Noted(strategy)
    note = f"{row.model} is larger than the GPU memory of {row.gpu}: read as split with RAM"
    return Noted(PlacementStrategy.CPU_OFFLOAD, (note,))


def one_after_another(row: PublishedRow, runtime: Runtime, machine: Machine) -> Machine:
    """Machine of a row; as one card with the memory of all where ExLlama divides by layers.

    Each GPU computes its own layers in turn, so that a token takes as long as on one card; `tp=4`
    in a note is another way (`-tp` of turboderp-org/exllamav3's model_init.py, 0445820).
    """
    first, *others = machine.gpus or (None,)
    if runtime is not EXLLAMA or first is None or not others:
        return machine
    if TENSOR_PARALLEL.search(f"{row.runtime} {row.source_note}"):
        return machine
    if any(gpu.name != first.name for gpu in others):
        return machine
    together = replace(first.memory, value=first.memory.value * len(machine.gpus))
    return replace(machine, gpus=(replace(first, memory=together),))


def with_build(row: PublishedRow, model: Model, machine: Machine, runtime: Runtime) -> Machine:
    """Machine of a row with the build of its month, where that changes linear attention, or lacks a
    kernel for the format.
    """
    month = row.date[:7]
    dated = re.fullmatch(r"20\d\d-\d\d", month) is not None
    if not dated or runtime.key not in RUNTIMES:
        return machine
    aged = replace(machine, build=month, backend=machine.backend or run_notes.backend(row))
    older = (model.has_delta_rule and effect_of_build(month)) or kernel_effect(aged, model)
    return replace(machine, build=month) if older else machine
