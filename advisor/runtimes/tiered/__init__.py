"""Engines that keep experts in tiers: VRAM, RAM and the drive; a row of a table describes each.

Here are their runtimes, the people who published runs of them, and their start lines, as their
makers publish them.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.cost_model.runtime import LoadedFormat, Runtime
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import loaded_format_of
from advisor.runtimes.tiered import placement
from advisor.runtimes.tiered.engines import TieredEngine, packed
from advisor.runtimes.tiered.passes import best_link_share, schedule
from advisor.units import GIB, MIB

# Runtimes of the engines that keep experts in tiers, one for each row of their table.


ENGINE = "tiers"  # name of the program whose placement and schedule all of them use
INT4 = "AWQ"  # format with the bytes of 4-bit integers in groups, as engines' own files have


@cache
def tiered_runtimes() -> tuple[Runtime, ...]:
    """Runtimes of all such engines, in the order of the table."""
    return tuple(described(engine) for engine in TieredEngine.rows())


def tiered_runtime(name: str) -> Runtime | None:
    """Runtime of an engine by any of its names; None for an unknown name."""
    engine = TieredEngine.called(name)
    if engine is None:
        return None
    return next(runtime for runtime in tiered_runtimes() if runtime.key == engine.key)


@lru_cache(maxsize=128)
def described(engine: TieredEngine) -> Runtime:
    """Runtime of a described engine."""
    return Runtime(
        name=engine.name,
        key=engine.key,
        engine=ENGINE,
        version=f"{engine.version}, as of {engine.version_date}",
        strategies=tuple(PlacementStrategy),
        loaded_format=partial(_loaded, engine),
        place=partial(placement.place, engine),
        schedule=partial(schedule, engine),
        command=partial(command, engine),
        computes_in_ram=engine.computes,
        quantized_kv_type="q8_0",
        drafts=True,
        own_drafts=_drafts(engine),
        schedules_drafts=True,
        own_files=partial(packed, engine),
        caches_experts=True,
        mainstream=False,
    )


def _drafts(engine: TieredEngine) -> Mapping[str, Any] | None:
    """Fields of a request for the engine's drafting by default; None for an engine that does not
    draft.
    """
    if not engine.drafted or engine.accepted is None:
        return None
    acceptance = Draft.chance(engine.drafted, engine.accepted)
    return {"draft": "mtp", "drafted": engine.drafted, "acceptance": acceptance}


def _loaded(engine: TieredEngine, form: str, machine: Machine) -> LoadedFormat:
    """Format that an engine reads: its own, or GGUF in the way of llama.cpp."""
    if engine.files == "gguf":
        return loaded_format_of("llama.cpp")(form, machine)
    if engine.files == "exl3":
        return loaded_format_of("llama.cpp", "as ExLlamaV3's bits, since it does not take")(
            form, machine
        )
    if engine.makers_format:
        engine_format = engine.makers_format
        reason = f"as its maker published it, since {engine.name} reads that checkpoint"
    else:
        engine_format = INT4
        reason = f"as 4-bit integers, since {engine.name} has its own"
    if form == engine_format:
        return LoadedFormat(format=form)
    return LoadedFormat(format=engine_format, reason=reason)


# Who runs the engines with experts in tiers, and which of them are worth a comparison.


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedRow:
    """One row of data/generated/tiers_reported.csv."""

    engine: str  # key of the engine
    gpu: str  # name in the catalogue; empty without a GPU
    users: int  # people other than makers who published runs
    makers: int  # makers of engines who did
    runs: int  # their runs


@cache
def _rows() -> Mapping[str, tuple[ReportedRow, ...]]:
    rows: dict[str, tuple[ReportedRow, ...]] = {}
    for row in read(DATA / "generated/tiers_reported.csv", ReportedRow):
        rows[row.engine] = (*rows.get(row.engine, ()), row)
    return rows


def users_of(engine: TieredEngine) -> int:
    """Number of people other than its makers who published runs of an engine; each card counts
    apart.
    """
    return sum(row.users for row in _rows().get(engine.key, ()))


def _on_its_card(key: str, machine: Machine) -> ReportedRow | None:
    """Reports of an engine on a machine's card; None without one."""
    card = machine.gpus[0].name if machine.gpus else ""
    return next((row for row in _rows().get(key, ()) if row.gpu == card), None)


def is_reported_on(key: str, machine: Machine) -> bool:
    """Whether people other than its makers reported an engine on a machine's card."""
    here = _on_its_card(key, machine)
    return here is not None and here.users > 0


def on_card(engine: TieredEngine, machine: Machine) -> str:
    """Sentence part on the people who ran an engine on a machine's card."""
    card = machine.gpus[0].name if machine.gpus else ""
    here = _on_its_card(engine.key, machine)
    where = f"on {_article(card)} {card}" if card else "without a GPU"
    if here is None:
        return f"no report of it {where} is known"
    if not here.users:
        return f"only its makers reported it {where}"
    return f"{_number(here.users)} reported it {where}"


def adoption(key: str, machine: Machine) -> str:
    """Words on the effort to set up an engine, and on runs of it on a machine's card; empty for
    other runtimes.
    """
    engine = TieredEngine.called(key)
    if engine is None:
        return ""
    return f"{engine.effort} to set it up; {on_card(engine, machine)}"


def _number(users: int) -> str:
    if users == 1:
        return "one user"
    return f"{users} users"


def _article(name: str) -> str:
    if name[:1] in "AEIOR":
        return "an"
    return "a"


def sentences(engine: TieredEngine) -> tuple[str, ...]:
    """Sentences on an engine: its age, licence and users; its demands; the source of its
    description.
    """
    users = users_of(engine)
    since = f" Its first known report is of {engine.since}." if engine.since else ""
    licence = f" Licence: {engine.licence}." if engine.licence else ""
    who = f"{_number(users)} beside its makers" if users else "nobody but its makers"
    return (
        f"{engine.name} is young, and its speed changes with its releases: this is "
        f"{engine.version} of {engine.version_date}.{since} Of {who}, runs are known.{licence}",
        f"It asks for {engine.asks}.",
    )


MOST = 3  # engines that a comparison shows, those with most users first
ANY = "."  # pattern of engines that run whatever llama.cpp runs


def in_tiers(model: Model, machine: Machine) -> tuple[Runtime, ...]:
    """Engines with published runs of users that run a model larger than a machine's VRAM.

    It is empty for a model without experts, and for a stack of machines.
    """
    if not model.has_experts or np.ndim(machine.host.memory.value) or machine.nodes > 1:
        return ()
    if machine.gpus and np.all(machine.gpu_memory > model.bytes_without_table):
        return ()
    able = [engine for engine in TieredEngine.rows() if _runs(engine, model, machine)]
    first = sorted(able, key=users_of, reverse=True)[:MOST]
    return tuple(map(described, first))


def _runs(engine: TieredEngine, model: Model, machine: Machine) -> bool:
    """Whether an engine runs a model by its name, on a machine's system and cards."""
    if engine.models == ANY or not users_of(engine):
        return False
    if not re.search(engine.models, model.name, re.IGNORECASE):
        return False
    if not engine.takes_system(machine.system):
        return False
    if not machine.gpus:
        return engine.without_gpu
    return all(engine.takes_vendor(gpu.vendor) for gpu in machine.gpus)


def command(
    engine: TieredEngine, model: Model, placement: Placement, machine: Machine, work: Workload
) -> str:
    """Shell text that starts an engine; empty where its maker publishes none."""
    lines = LINES.get(engine.key)
    if lines is None:
        return ""
    return lines(model, placement, machine, work)


@dataclass(frozen=True, kw_only=True, slots=True)
class StrataSizeRow:
    """One row of data/runtimes/strata_sizes.csv: a family of files that Strata's setup installs."""

    models: str  # pattern of the models' names
    family: str  # value of its option --family
    sizes: str  # values of its option --model, separated by spaces
    budget: bool  # whether it keeps a stated part of the experts in RAM
    source: str
    source_date: str


def strata_sizes(model: Model) -> tuple[StrataSizeRow, ...]:
    """Families of files that Strata's setup has of a model, the usual one first."""
    rows = read(DATA / "runtimes/strata_sizes.csv", StrataSizeRow)
    return tuple(row for row in rows if re.search(row.models, model.name, re.IGNORECASE))


def _strata(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Start lines of Strata: its set-up, its own tuning, and the link share with which cores and
    link end together.

    The set-up takes sizes that it has files of, and asks for one where the format is none of them.
    """
    families = strata_sizes(model)
    names = (model.format, f"UD-{model.format}")
    sized = ((row, name) for row in families for name in names if name in row.sizes.split())
    row, size = next(sized, (families[0] if families else None, ""))
    parts = ["./setup.sh"]
    parts += [f"--family {row.family}"] if row else []
    parts += [f"--model {size}"] if size else []
    parts.append(f"--context {int(work.context)}")
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD and row and row.budget and size:
        budget = int(float(np.ravel(placement.page_cache)[0]) / GIB)
        parts.append(f"--resident-budget-gib {budget}")
    elif placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        parts.append("--low-ram on")
    if not size:
        parts.append(f"  # asks for a size: it has no files in {model.format}")
    tuning = "strata launch --calibrate"
    if machine.gpus and not machine.unified:
        share = f"{best_link_share(machine):.2f}"
        tuning += f"   # else --pcie-frac {share}: link and cores end together"
    return " ".join(parts) + "\n" + tuning


def _poly(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    line = f"./setup.sh --family qwen36 --context {int(work.context)}"
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        line += f" --ram-experts-mib {int(float(np.ravel(placement.page_cache)[0]) / MIB)}"
    return line


def _maya(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    cards = ",".join(map(str, range(len(machine.gpus))))
    option = "--gpus" if len(machine.gpus) > 1 else "--gpu"
    backend = "--backend hip " if machine.only_of("AMD") else ""
    return f"./maya.sh {backend}{option} {cards} --context {int(work.context)} --calibrate"


def _moe4all(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    return "Start-INFR-Wizard.cmd   # ./Start-INFR-Wizard-Linux.sh on Linux; profile: aggressive"


def _colibri(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    ram = int(float(np.ravel(placement.page_cache)[0]) / GIB)
    gpu = " --gpu auto" if machine.gpus else ""
    folder = shlex.quote(f"{model.file_stem}_i4")
    budget = f" --ram {ram}" if ram else ""  # left out, it takes 88 % of what is free
    return f"DIRECT=1 COLI_MODEL={folder} ./coli chat{budget}{gpu}"


def _freetoken(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    name = shlex.quote(model.published_as)
    return f"ft bench bw && ft serve --model {name} --moe-backend hybrid --moe-cache-auto"


def _crow(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    experts = model.architecture.experts
    total = experts.total if experts else 0
    size = float(np.sum(model.per_layer.expert_layers)) * max(total, 1)
    cache = max(float(np.sum(np.ravel(placement.expert_cache)[:1])), 1.0)
    whole = float(sum(np.sum(part) for part in model.bytes_per_layer.values()))
    slots = max(round(total * cache / max(whole, 1.0)), 1)
    ram = int(float(np.ravel(placement.page_cache)[0]) / GIB)
    line = (
        f"llama-server -m {shlex.quote(model.file_stem)}-{model.format}.gguf --moe-stream "
        f"--moe-stream-cache {slots}s --moe-stream-io-threads 8 --moe-stream-direct"
    )
    if ram and size:
        line += f" --moe-stream-l2 {ram}"
    return f"{line} -c {int(work.context)}"


LINES: Mapping[str, Callable[[Model, Placement, Machine, Workload], str]] = {
    "strata": _strata,
    "polystrata": _poly,
    "maya": _maya,
    "moe4all": _moe4all,
    "colibri-tiers": _colibri,
    "freetoken": _freetoken,
    "crow": _crow,
}
"""Start lines by engine. Their options are those of the engines' own parsers: Strata's setup.py
at 021ef858 (`strata launch` is of release 0.2), Maya's maya.py at 001c639, colibri's c/coli at
032d8df, FreeToken's server/args.py of August 2026, Crow's patches/moe-stream-on-b10269.patch;
MoE4All starts a wizard. PolyStrata's are those of its releases to 0.2.19-poly.1, whose files could
not be read."""
