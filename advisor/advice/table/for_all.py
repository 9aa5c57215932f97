"""Free settings with which the present machine answers every user of a team."""

from collections.abc import Iterator
from dataclasses import replace

from advisor.advice.edits.changes import AMPLE
from advisor.advice.edits.edit import Edit, Edited
from advisor.advice.speeds import speed_of
from advisor.advice.table.at_once import SIXTEEN_BITS
from advisor.advice.table.demand import Demand
from advisor.advice.table.option import Question
from advisor.advice.table.rules import counts_in
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.backends import OperatingSystem
from advisor.machine.machine import Machine
from advisor.request.wants import Fixed
from advisor.runtimes.compare import compare, decode_tps, usable

USUAL_CONTEXT = Workload.context
"""Context that nobody states: a shorter one is no other answer than the one asked for."""
OTHER_SYSTEM = "in WSL2, which is Linux inside Windows"


def setting_for_all(
    question: Question, runtimes: tuple[Runtime, ...], settings: Settings, demand: Demand
) -> Edited | None:
    """Free setting of least loss with which the GPUs serve every user; None without one."""
    usual = {"machine": question.machine, "work": question.work, "runtimes": runtimes}
    fixed = demand.wants.fixed is Fixed.FORMAT
    for changed in _settings(question.machine, question.work, runtimes):
        if fixed and not changed.keeps_formats(question.work.kv_type):
            continue
        nouns = {**usual, **changed.changes}
        there = nouns["machine"]
        every = compare(question.model, **nouns, settings=settings)
        for estimate in usable(every):
            known = len(runtimes) == 1 or _reported(estimate, there)
            if known and _serves(estimate, demand):
                return _edited(changed, estimate)
    return None


def _reported(estimate: Estimate, machine: Machine) -> bool:
    """Whether several people run an estimate's engine on such cards."""
    return estimate.runtime.mainstream and counts_in(machine, estimate.runtime.engine)


def _serves(estimate: Estimate, demand: Demand) -> bool:
    """Whether an estimate in the GPUs serves all."""
    speed = speed_of(estimate)
    if speed is None or not speed.whole:
        return False
    work = estimate.work
    return demand.serves_all(speed, float(work.users), float(work.output))


def _edited(edit: Edit, estimate: Estimate) -> Edited | None:
    """Edit with the speed after it, and the engine that gives it."""
    speed = speed_of(estimate)
    if speed is None:
        return None
    of_engine = {**vars(edit), "words": edit.words.format(runtime=estimate.runtime.name)}
    return Edited(**of_engine, speed=speed, gain=decode_tps(estimate))


def _settings(machine: Machine, work: Workload, runtimes: tuple[Runtime, ...]) -> Iterator[Edit]:
    """Settings from the one that loses least: a shorter context, a smaller cache, both, and the
    engines of another system.
    """
    lengths = list(_shorter(work))
    caches = list(_smaller_caches(work, runtimes))
    for context in lengths:
        yield Edit(
            words=f"a context of {context:,.0f} tokens for each user, in {{runtime}}",
            cost="free, unless conversations grow longer",
            changes={"work": replace(work, context=context)},
        )
    for kind, able in caches:
        yield _cache(work, kind, able, "")
    for context in lengths[-1:]:
        for kind, able in caches:
            shorter = replace(work, context=context)
            yield _cache(shorter, kind, able, f", a context of {context:,.0f} tokens for each user")
    if machine.system == OperatingSystem.WINDOWS:
        linux = replace(machine, system=OperatingSystem.LINUX)
        yield Edit(
            words=f"{{runtime}} {OTHER_SYSTEM}",
            cost="free, an installation",
            changes={"machine": linux},
        )


def _cache(work: Workload, kind: str, able: tuple[Runtime, ...], beside: str) -> Edit:
    """Cache in a smaller format, in the engines that hold it so."""
    return Edit(
        words=f"KV cache in {kind}{beside}, in {{runtime}}",
        cost="free",
        changes={"work": replace(work, kv_type=kind), "runtimes": able},
        loss=0.0,
    )


def _shorter(work: Workload) -> Iterator[float]:
    """Contexts of half the usual one and less, each with room for several turns."""
    if work.context != USUAL_CONTEXT:
        return
    least = AMPLE * (float(work.prompt) + float(work.output))
    context = float(work.context) / 2.0
    while context >= least:
        yield context
        context /= 2.0


def _smaller_caches(
    work: Workload, runtimes: tuple[Runtime, ...]
) -> Iterator[tuple[str, tuple[Runtime, ...]]]:
    """Smaller formats of the cache, each with the engines that hold it so."""
    if work.kv_type not in SIXTEEN_BITS:
        return
    kinds = dict.fromkeys(runtime.quantized_kv_type for runtime in runtimes)
    for kind in filter(None, kinds):
        yield kind, tuple(each for each in runtimes if each.quantized_kv_type == kind)
