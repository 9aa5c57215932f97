"""Several answers at the same time, where work of a known amount is done: a batch, or requests."""

from collections.abc import Iterable, Iterator, Sequence
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
SIXTEEN_BITS = ("f16", "bf16", "f32")  # formats of the cache that a smaller one is tried for
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
    return _most(question, _several(question, _able(question, chosen)), least)


def in_smaller_caches(question: Question, chosen: Runtime | None, least: float) -> Estimate | None:
    """Estimate as `side_by_side` gives, with the cache in half of its bytes, so that more answers
    are written at once.
    """
    if question.ownership.nothing or question.work.kv_type not in SIXTEEN_BITS:
        return None
    every = list[Estimate]()
    for runtime in _able(question, chosen):
        if runtime.quantized_kv_type:
            work = replace(question.work, kv_type=runtime.quantized_kv_type)
            every += _several(replace(question, work=work), [runtime])
    return _most(question, every, least)


def _most(question: Question, every: Iterable[Estimate], least: float) -> Estimate | None:
    """Estimate that does most work in an hour; of nearly equal ones one that queues requests."""
    able = [each for each in every if float(each.decode_tps or 0) >= least]
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


def _able(question: Question, chosen: Runtime | None) -> list[Runtime]:
    """Runtimes that many run on such cards, or the chosen one."""
    if chosen is not None:
        return [chosen]
    return [
        runtime
        for runtime in RUNTIMES
        if runtime.mainstream and counts_in(question.machine, runtime.engine)
    ]


def _several(question: Question, runtimes: Sequence[Runtime]) -> Iterator[Estimate]:
    """Estimates from memory of each number of answers."""
    for users in TRIED:
        work = at_once(question.work, users)
        for estimate in usable(compare(question.model, question.machine, work, runtimes=runtimes)):
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
    """Number of answers asked for at the same time: those that run and those in the queue."""
    return float(estimate.work.users) + float(estimate.waiting)
