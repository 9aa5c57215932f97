"""Estimates that a request asks for."""

from collections.abc import Iterable

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.runtime import Runtime
from advisor.request.request import Nouns
from advisor.runtimes import compared
from advisor.runtimes.compare import compare


def estimates_of(nouns: Nouns, runtimes: Iterable[Runtime] | None = None) -> tuple[Estimate, ...]:
    """Estimates of a request, in its placement or in each.

    They are of the runtime that it names, of the given runtimes where it names none, or of all that
    the machine may run.
    """
    machine = nouns.machine
    if nouns.runtime:
        runtimes = (nouns.runtime,)
    elif runtimes is None:
        runtimes = compared(machine, nouns.model)
    every = compare(nouns.model, machine, nouns.work, settings=nouns.settings, runtimes=runtimes)
    if nouns.strategy is None:
        return every
    return tuple(answer for answer in every if answer.strategy is nouns.strategy)
