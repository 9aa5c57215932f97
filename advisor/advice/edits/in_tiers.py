"""The same model in an engine that keeps experts in VRAM, RAM and on the drive."""

from collections.abc import Iterator
from dataclasses import replace

from advisor.advice.edits.edit import Edit, placements
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.machine.machine import Machine
from advisor.runtimes import compared
from advisor.runtimes.compare import decode_tps
from advisor.runtimes.tiered.reports import adoption

SAME_MODEL = "the same model in "  # beginning of the words of such a change


def engine_in_tiers(machine: Machine, best: Estimate) -> Iterator[Edit]:
    """The fastest of these engines, with what it asks and who reported it; none beside one."""
    if best.runtime.engine == "tiers":
        return
    engines = (known for known in compared(machine, best.model) if known.engine == "tiers")
    able = [runtime for runtime in engines if _speed(best, runtime)]
    fastest = max(able, key=lambda runtime: _speed(best, runtime), default=None)
    if fastest is None:
        return
    yield Edit(
        words=f"{SAME_MODEL}{fastest.name}",
        cost=f"free, {adoption(fastest.key, machine)}",
        changes={"runtime": fastest, "settings": Settings()},
    )


def _speed(best: Estimate, runtime: Runtime) -> float:
    """Speed in an engine, in its first placement that fits; 0 where none does [tokens/s]."""
    for placed in placements(replace(best, runtime=runtime, settings=Settings())):
        tried = placed.again()
        if bool(tried.fits):
            return decode_tps(tried)
    return 0.0
