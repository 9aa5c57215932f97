"""Edits that run the same model in an engine with experts in VRAM, RAM and on the drive."""

from collections.abc import Iterator
from dataclasses import replace

from advisor.advice.edits.edit import Edit, placements
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.machine.machine import Machine
from advisor.runtimes import compared
from advisor.runtimes.compare import decode_tps
from advisor.runtimes.tiered import adoption, is_reported_on

SAME_MODEL = "the same model in "  # beginning of the words of such a change


def engine_in_tiers(machine: Machine, best: Estimate) -> Iterator[Edit]:
    """Edit to the fastest engine with experts in tiers, with its demands and the people who
    reported on it.

    It is empty for an estimate of such an engine.
    """
    fastest = fastest_in_tiers(machine, best)
    if best.runtime.in_tiers or fastest is None:
        return
    yield Edit(
        words=f"{SAME_MODEL}{fastest.runtime.name}",
        cost=what_it_asks(fastest),
        changes={"runtime": fastest.runtime, "settings": Settings()},
        unreported=not _is_reported(fastest),
    )


def fastest_in_tiers(machine: Machine, before: Estimate) -> Estimate | None:
    """Estimate of a model in the fastest engine with experts in tiers; None where none runs it.

    Engines that people reported on the machine's card come before all others. Each engine is in its
    first placement that fits.

    Args:
        machine: machine that an engine must take.
        before: estimate of the model there in any runtime.
    """
    tried = (
        _first(before, runtime) for runtime in compared(machine, before.model) if runtime.in_tiers
    )
    return max(
        filter(None, tried), key=lambda each: (_is_reported(each), decode_tps(each)), default=None
    )


def _is_reported(estimate: Estimate) -> bool:
    """Whether people reported an estimate's engine on its card."""
    return is_reported_on(estimate.runtime.key, estimate.machine)


def _first(before: Estimate, runtime: Runtime) -> Estimate | None:
    """Model in an engine, in its first placement that fits; None where none does."""
    for placed in placements(replace(before, runtime=runtime, settings=Settings())):
        tried = placed.again()
        if bool(tried.fits):
            return tried
    return None


def what_it_asks(estimate: Estimate) -> str:
    """Cost of an engine in words: time to set it up, and who reported it on the card."""
    return f"free, {adoption(estimate.runtime.key, estimate.machine)}".removesuffix(", ")
