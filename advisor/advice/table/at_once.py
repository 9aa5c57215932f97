"""Several answers at the same time, where work of a known amount is done: a batch, or requests."""

from collections.abc import Iterator
from dataclasses import replace

from advisor.advice.table.option import Question
from advisor.advice.table.rules import counts_in
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.request.money import SECONDS_PER_HOUR
from advisor.runtimes import RUNTIMES
from advisor.runtimes.compare import compare, usable

TRIED = (4.0, 16.0, 64.0)  # numbers of answers at the same time that are tried
MANY_AT_ONCE = 16.0  # the number with which other machines are compared where this one runs none
NEARLY = 0.8  # share of the most answers of an hour within which an engine that queues is taken
ROOM = 1.25  # context of each over its prompt and reply, as lengths differ


def at_once(work: Workload, users: float) -> Workload:
    """Request of several answers at the same time, each with the context that it needs."""
    needed = ROOM * (float(work.prompt) + float(work.output))
    return replace(work, users=users, context=min(float(work.context), max(needed, 512.0)))


def side_by_side(question: Question, chosen: Runtime | None, least: float) -> Estimate | None:
    """Estimate of the runtime and number of simultaneous answers that do most work in an hour.

    Each answer has at least a speed [tokens/s]; of nearly equal engines it is one that queues
    requests. None where nothing runs.
    """
    if question.ownership.nothing:
        return None
    able = [each for each in _several(question, chosen) if float(each.decode_tps or 0) >= least]
    rates = [per_hour(question, each) for each in able]
    most = max(rates, default=0.0)
    near = [
        (each.runtime.at_once is not None, rate, -place, each)
        for place, (each, rate) in enumerate(zip(able, rates, strict=True))
        if rate >= NEARLY * most
    ]
    if not near:
        return None
    return max(near, key=lambda row: row[:3])[3]


def _several(question: Question, chosen: Runtime | None) -> Iterator[Estimate]:
    """Estimates from memory of each number, in runtimes that many run on such cards."""
    runtimes = (chosen,) if chosen else RUNTIMES
    able = [
        runtime
        for runtime in runtimes
        if chosen or (runtime.mainstream and counts_in(question.machine, runtime.engine))
    ]
    for users in TRIED:
        work = at_once(question.work, users)
        for estimate in usable(compare(question.model, question.machine, work, runtimes=able)):
            if estimate.strategy is not PlacementStrategy.NVME_OFFLOAD:
                yield estimate


def per_hour(question: Question, estimate: Estimate) -> float:
    """Answers of an hour, those that run together as one stream [1/h].

    3600 U / (t_first + n / S)
    """
    first = float(estimate.first_token_seconds or 0.0)
    tokens = question.use.generated
    seconds = first + tokens / float(estimate.decode_tps or 1e-9)
    return SECONDS_PER_HOUR * float(estimate.work.users) / seconds


def asked_at_once(estimate: Estimate) -> float:
    """Answers that are asked for at the same time: those that run, and those in the queue."""
    return float(estimate.work.users) + float(estimate.waiting)
