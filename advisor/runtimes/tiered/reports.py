"""Who runs the engines with experts in tiers, and which of them are worth a comparison."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import TieredEngine
from advisor.runtimes.tiered.runtimes import described


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
    """People other than its makers who published runs of an engine, each card counted apart."""
    return sum(row.users for row in _rows().get(engine.key, ()))


def on_card(engine: TieredEngine, machine: Machine) -> str:
    """Who ran an engine on a machine's card, in words."""
    card = machine.gpus[0].name if machine.gpus else ""
    here = next((row for row in _rows().get(engine.key, ()) if row.gpu == card), None)
    where = f"on {_article(card)} {card}" if card else "without a GPU"
    if here is None:
        return f"no report of it {where} is known"
    if not here.users:
        return f"only its makers reported it {where}"
    return f"{_number(here.users)} reported it {where}"


def adoption(key: str, machine: Machine) -> str:
    """Effort to set up an engine of a key, and who ran it on a machine's card; empty for others."""
    engine = TieredEngine.called(key)
    if engine is None:
        return ""
    return f"{engine.effort} to set it up; {on_card(engine, machine)}"


def _number(users: int) -> str:
    return "one user" if users == 1 else f"{users} users"


def _article(name: str) -> str:
    return "an" if name[:1] in "AEIOR" else "a"


def sentences(engine: TieredEngine) -> tuple[str, ...]:
    """What to know of an engine: its age, licence and users; what it asks; where it was read."""
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
    """Engines that users reported and that run a model larger than a machine's VRAM; none for a
    model without experts, or a stack of machines.
    """
    if not model.has_experts or np.ndim(machine.host.memory.value) or machine.nodes > 1:
        return ()
    if machine.gpus and np.all(machine.gpu_memory > model.bytes_without_table):
        return ()
    able = [engine for engine in TieredEngine.rows() if _runs(engine, model, machine)]
    first = sorted(able, key=users_of, reverse=True)[:MOST]
    return tuple(map(described, first))


def _runs(engine: TieredEngine, model: Model, machine: Machine) -> bool:
    """Whether an engine names a model, and takes a machine's system and cards."""
    if engine.models == ANY or not users_of(engine):
        return False
    if not re.search(engine.models, model.name, re.IGNORECASE):
        return False
    if not engine.takes_system(machine.system):
        return False
    if not machine.gpus:
        return engine.without_gpu
    return all(engine.takes_vendor(gpu.vendor) for gpu in machine.gpus)
