"""Runtimes of the engines that keep experts in tiers, one for each row of their table."""

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import Any

from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import LoadedFormat, Runtime
from advisor.cost_model.workload import Draft
from advisor.machine.machine import Machine
from advisor.runtimes.format_support import loaded_format_of
from advisor.runtimes.tiered import placement
from advisor.runtimes.tiered.commands import command
from advisor.runtimes.tiered.engines import TieredEngine, packed
from advisor.runtimes.tiered.passes import schedule

ENGINE = "tiers"  # name of the program whose placement and schedule all of them use
INT4 = "AWQ"  # format with the bytes of 4-bit integers in groups, as engines' own files have


@cache
def tiered_runtimes() -> tuple[Runtime, ...]:
    """All of them, in the order of the table."""
    return tuple(described(engine) for engine in TieredEngine.rows())


def tiered_runtime(name: str) -> Runtime | None:
    """Runtime of an engine by any of its names; None for others."""
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
    """Drafting by default as fields of a request; None without."""
    if not engine.drafted or engine.accepted is None:
        return None
    acceptance = Draft.chance(engine.drafted, engine.accepted)
    return {"draft": "mtp", "drafted": engine.drafted, "acceptance": acceptance}


def _loaded(engine: TieredEngine, form: str, machine: Machine) -> LoadedFormat:
    """Format that an engine reads: GGUF as llama.cpp does, or its own."""
    if engine.files == "gguf":
        return loaded_format_of("llama.cpp")(form, machine)
    if engine.files == "exl3":
        return loaded_format_of("llama.cpp", "as ExLlamaV3's bits, since it does not take")(
            form, machine
        )
    if form == INT4:
        return LoadedFormat(format=form)
    return LoadedFormat(format=INT4, reason=f"as 4-bit integers, since {engine.name} has its own")
