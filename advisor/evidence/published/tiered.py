"""Published runs of engines that keep experts in tiers (category `moe_tiered`).

Their rows state what such an engine is told or prints: the experts' size, sizes of its caches,
shares of lookups that they served, the share of misses for the link, drafting, the chunk of a
prompt. Each may be empty. A run of an engine that no row of data/runtimes/tiered_engines.csv
describes is read as the usual one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from advisor.cost_model.placement import PlacementStrategy, Settings, TierSettings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Draft, Workload
from advisor.errors import AdvisorError
from advisor.evidence.published.machine import stated_machine
from advisor.evidence.published.model import stated_model
from advisor.evidence.published.row import PublishedRow
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.architecture import Architecture, Experts, Group
from advisor.model.by_name.named import named
from advisor.model.expert_use import Fill
from advisor.model.model import Model
from advisor.runtimes.tiered import described
from advisor.runtimes.tiered.engines import RamTier, TieredEngine
from advisor.runtimes.tiered.placement import ram_room
from advisor.units import GIB

CATEGORY = "moe_tiered"
UNSTATED_RAM_GIB = 128.0  # RAM of rows that state none [GiB]; assumed
USUAL_PROMPT = 2000.0  # prompt of rows that state none [tokens]; assumed
USUAL_OUTPUT = 256.0  # tokens generated in them [tokens]; assumed
OTHER = "another engine"
"""Name of the description that stands in for engines without a row."""
MOST_DRAFTED = 3.0
"""Drafts a round that an engine offers on the mean where it may draft four or more: it stops at the
first unlikely one. Rounds of Strata gave 2.4 to 3.2 tokens at 0.6 to 0.85 accepted."""
OFTEN_ACCEPTED = 0.67  # share accepted of several drafts a round, as in Strata's runs
ONE_ACCEPTED = 0.8  # share accepted of a single draft a round: 0.76 to 0.83 in Maya's runs
SEVERAL_ACCEPTED = 0.5
"""Share accepted of several drafts a round, of an engine that offers one by default: 2.2 to 2.8
tokens a round of three in colibri's reports (docs/benchmarks.md; pull request 569: 44 to 62 %)."""
UNDRAFTED = "none"  # word of a row for a run without drafts
FIXED = re.compile(r"fixed cache|static (?:placement|profile)", re.IGNORECASE)
UNBUFFERED = re.compile(r"\bDIRECT=1\b")
SLEEPING = re.compile(r"threads sleep between products", re.IGNORECASE)
LINK_SHARE = re.compile(r"\bpcie[-_]frac(?: left at)? (\d*\.?\d+)")
WITHOUT_CORES = re.compile(r"\bno cores?\b", re.IGNORECASE)
WITHOUT_LINK = re.compile(r"\bno PCIe\b", re.IGNORECASE)
OWN_PACK = "Q2_0"  # format of Strata's first packs
SHARE_OF_PACK = 0.2
"""Share of the misses for the link in them (`pcie_frac` in its src/program/generate.cpp)."""
IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
CODER = re.compile(r"\s+coder\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def engine_of(text: str) -> TieredEngine | None:
    """Engine by the beginning of a text, the longest name that fits; None for others."""
    folded = text.strip().casefold()
    exact = TieredEngine.called(folded)
    if exact is not None:
        return exact
    begins = [
        (len(name), engine.key, engine)
        for engine in TieredEngine.rows()
        for name in engine.spellings
        if re.match(rf"{re.escape(name)}(?![a-z0-9])", folded)
    ]
    if begins:
        return max(begins)[2]
    return None


@lru_cache(maxsize=64)
def as_run(engine: TieredEngine) -> TieredEngine:
    """Engine without the models, systems and cards that it refuses, for a run that was
    published.
    """
    vendors = f"{engine.vendors};NVIDIA;AMD;Intel"
    if not engine.without_gpu:
        vendors += ";Apple"
    if engine.vendors == "none":
        vendors = engine.vendors
    return replace(
        engine, models=".", vendors=vendors, systems="", least_vram_gib=0.0, parallel=True
    )


@lru_cache(maxsize=8)
def usual_engine() -> TieredEngine:
    """Description that is used for engines without a row."""
    first = TieredEngine.rows()[0]
    return replace(
        first,
        key="tiers",
        name=OTHER,
        ram_tier=str(RamTier.REST),
        draft_head_mib=None,
        chunk=4096.0,
    )


Tiered = tuple[Runtime, Model, Machine, Workload, PlacementStrategy, Settings]


def understood_tiers(row: PublishedRow, machine_of: Any) -> Tiered:
    """Runtime, model, machine, request, placement and settings of a row; `machine_of` makes a
    machine of its `MachineSpec`.
    """
    named = engine_of(row.engine) or engine_of(row.runtime)
    if named is None:
        row.notes.append(
            f"{row.engine or row.runtime} is not described here: read as a usual engine with "
            "experts in tiers"
        )
    engine = as_run(named or usual_engine()).of_version(row.cells.get("engine_version", ""))
    if UNBUFFERED.search(row.source_note):
        engine = engine.read_unbuffered()
    runtime = described(engine)
    model = _model(row, engine, runtime)
    machine = machine_of(_machine(row))
    work = _work(row, engine)
    if row.draft.casefold().startswith(UNDRAFTED):
        runtime = replace(runtime, own_drafts=None)
    served = _served(row, engine, machine)
    stated = Settings(
        expert_cache=_cached(row, model),
        tiers=TierSettings(
            link_share=_link_share(row, engine, machine, served),
            served=served,
            served_ram=_served_ram(row, engine),
            chunk=row.prefill_chunk,
            fill=str(Fill.PROFILE) if FIXED.search(row.source_note) else "",
            sleeping=bool(SLEEPING.search(row.source_note)),
        ),
    )
    strategy, settings = _strategy(row, engine, model, machine, stated)
    return runtime, model, machine, work, strategy, settings


def _model(row: PublishedRow, engine: TieredEngine, runtime: Runtime) -> Model:
    """Model in the stated format, with the stated size of its experts."""
    name = IN_BRACKETS.sub("", row.model)
    cut = bool(CODER.search(name))
    plain = CODER.sub("", name) if cut else name
    cells = {**row.cells, "model": plain}
    if _is_known(plain):
        cells["params_b"] = ""  # counted with or without its table of n-grams
    if engine.makers_format:
        cells["quant"] = engine.makers_format
    told = PublishedRow(cells)
    model = stated_model(told, runtime)
    row.notes += told.notes
    return _with_experts(model, row.model, row.n_experts, row.experts_gib)


@lru_cache(maxsize=256)
def _is_known(name: str) -> bool:
    """Whether a model is known by its name."""
    try:
        return named(name).known
    except AdvisorError:
        return False


@lru_cache(maxsize=256)
def _with_experts(model: Model, name: str, total: int | None, size: float | None) -> Model:
    """Model with a stated number of experts, of a stated size together [GiB]."""
    experts = model.architecture.experts
    if experts is None:
        return model
    if total and total < experts.total:
        model = _cut(model, Experts(total=total, used=experts.used), name)
    if size:
        model = model.with_expert_bytes(size * GIB)
    return model


def _cut(model: Model, experts: Experts, name: str) -> Model:
    """Model of which some experts were cut out."""
    arch = model.architecture
    whole = arch.experts
    part = experts.total / (whole.total if whole else experts.total)
    tensors = tuple(
        replace(tensor, rows=round(tensor.rows * part))
        if tensor.group is Group.ROUTED_EXPERTS
        else tensor
        for tensor in arch.tensors
    )
    cut: Architecture = replace(arch, tensors=tensors, experts=experts, name=name)
    sizes = dict(model.bytes_per_layer)
    sizes[Group.ROUTED_EXPERTS] = sizes[Group.ROUTED_EXPERTS] * part
    return replace(model, architecture=cut, bytes_per_layer=sizes, name=name)


def _machine(row: PublishedRow) -> MachineSpec:
    """Machine of a row."""
    spec = stated_machine(row)
    changes: dict[str, Any] = {"ram_gb": row.ram_gb or UNSTATED_RAM_GIB}
    unified = spec.gpu is not None and spec.gpu != MachineSpec.NO_GPU and _shares_memory(spec)
    if unified and not row.ram_gb:
        changes["ram_gb"] = None
    one_kind = spec.gpu not in (None, MachineSpec.NO_GPU) and MachineSpec.MIXED not in str(spec.gpu)
    if row.vram_gb and one_kind and not unified:
        changes["vram_gb"] = row.vram_gb
    if row.nvme_gbs:
        changes["disk_gbs"] = row.nvme_gbs
    changes["system"] = _system(row.os, str(spec.gpu or ""))
    if not row.ram_gb and not unified:
        row.notes.append(f"RAM is not stated: {UNSTATED_RAM_GIB:g} GB stand in")
    return replace(spec, **changes)


def _shares_memory(spec: MachineSpec) -> bool:
    """Whether the GPU of a machine shares the processor's memory."""
    if MachineSpec.MIXED in str(spec.gpu):
        return False
    return bool(GPUS.find(str(spec.gpu)).unified)


def _system(text: str, gpu: str) -> str | None:
    """Operating system of a row; None where it is not stated."""
    words = text.casefold()
    if gpu.startswith("Apple"):
        return OperatingSystem.MACOS
    if words.startswith(("win", "wsl")):
        return OperatingSystem.WINDOWS
    if words and "android" not in words:
        return OperatingSystem.LINUX
    return None


def _work(row: PublishedRow, engine: TieredEngine) -> Workload:
    """Request of a row, with its drafts."""
    fresh = row.prompt_tokens or row.context_depth or USUAL_PROMPT
    depth = row.context_depth or row.prompt_tokens or USUAL_PROMPT
    output = row.gen_len or USUAL_OUTPUT
    cached = max(depth - fresh, 0.0)
    prompt = max(cached + fresh, 1.0)
    work = Workload(
        prompt=prompt,
        cached=cached,
        output=max(output, 1.0),
        context=max(row.context_limit or 32768.0, prompt + output),
        users=row.batch or 1.0,
        bench=True,
    )
    return work.with_numbers(**_drafts(row, engine))


def _drafts(row: PublishedRow, engine: TieredEngine) -> Mapping[str, Any]:
    """Drafting fields of a request, as a row states them; none leave drafts to the engine."""
    words = row.draft.casefold()
    if not words or words.startswith(UNDRAFTED):
        return {}
    drafted = min(row.draft_k or MOST_DRAFTED, MOST_DRAFTED)
    share = row.acceptance or _usually_accepted(engine, drafted)
    if row.tokens_per_round:
        share = min(max((row.tokens_per_round - 1.0) / drafted, 0.0), 1.0)
    return {"draft": "mtp", "drafted": drafted, "acceptance": Draft.chance(drafted, share)}


def _usually_accepted(engine: TieredEngine, drafted: float) -> float:
    """Share of the drafts of a round that is accepted, where a row states none."""
    if engine.accepted is not None and (engine.drafted < 2.0) == (drafted < 2.0):
        return engine.accepted
    if drafted < 2.0:
        return ONE_ACCEPTED
    if engine.accepted is not None:
        return SEVERAL_ACCEPTED
    return OFTEN_ACCEPTED


def _cached(row: PublishedRow, model: Model) -> float | None:
    """VRAM of cached experts of a row; None where it is not stated [B]."""
    if row.vram_cache_share is not None:
        return min(row.vram_cache_share, 1.0) * float(model.expert_bytes)
    if row.vram_cache_gib is not None:
        return min(row.vram_cache_gib * GIB, float(model.expert_bytes))
    return None


def _link_share(
    row: PublishedRow, engine: TieredEngine, machine: Machine, served: float | None
) -> float | None:
    """Share of the misses for the link: of the printed share of all lookups that it carried, as
    the start line states it, or as Strata's own packs had it; None leaves it to the engine.
    """
    if row.pcie_share is not None and served is not None and served < 1.0:
        return min(row.pcie_share / (1.0 - served), 1.0)
    if WITHOUT_CORES.search(row.source_note):
        return 1.0
    if WITHOUT_LINK.search(row.source_note):
        return 0.0
    stated = LINK_SHARE.search(f"{row.runtime} {row.source_note}")
    if stated:
        return float(stated[1])
    if row.pcie_share is not None:
        return row.pcie_share
    packed = row.quant == OWN_PACK and engine.probes_link(machine)
    if packed:
        return SHARE_OF_PACK
    return None


def _served(row: PublishedRow, engine: TieredEngine, machine: Machine) -> float | None:
    """Share of lookups that VRAM served, with what the link carried taken off the printed rate."""
    if row.hit_rate_vram is None or not engine.uses_gpus(machine) or _streams(engine):
        return None
    return row.hit_rate_vram * (1.0 - (row.pcie_share or 0.0))


def _served_ram(row: PublishedRow, engine: TieredEngine) -> float | None:
    """Share of lookups that came from memory and not from the drive; None where not stated."""
    if _streams(engine):
        if row.hit_rate_ram is not None:
            return row.hit_rate_ram
        return row.hit_rate_vram
    return row.hit_rate_ram


def _streams(engine: TieredEngine) -> bool:
    """Whether its printed rate is that of all memory against the drive."""
    return engine.without_gpu


def _strategy(
    row: PublishedRow,
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    settings: Settings,
) -> tuple[PlacementStrategy, Settings]:
    """Placement of a row by what its memory holds, and the settings with a stated RAM cache."""
    size = float(model.expert_bytes)
    budget = None if row.ram_cache_gib is None else row.ram_cache_gib * GIB
    if machine.unified and engine.uses_gpus(machine):
        if float(machine.gpus[0].memory.value) > size:
            return PlacementStrategy.GPU_RESIDENT, settings
        return PlacementStrategy.NVME_OFFLOAD, settings
    if settings.expert_cache is not None and float(settings.expert_cache) >= 0.999 * size:
        return PlacementStrategy.GPU_RESIDENT, settings
    cached = float(settings.expert_cache or 0.0)
    room = float(ram_room(engine, model, machine)) * size if budget is None else budget
    if engine.ram_tier == RamTier.NONE or cached + room < 0.98 * size:
        return PlacementStrategy.NVME_OFFLOAD, replace(settings, page_cache=room)
    return PlacementStrategy.CPU_OFFLOAD, settings
