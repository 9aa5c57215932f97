"""Part of `estimate` and `advise` about a session: the time of a task, and what would save."""

from collections.abc import Iterator, Sequence

from advisor.advice.compare import usable
from advisor.advice.task import Task, sentences, task_of
from advisor.catalog.records import as_record
from advisor.cli.command import Json
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import range_fields
from advisor.formatting import aligned, percent, range_of, seconds
from advisor.request.session import AgentSession

__all__ = ["compared", "lines", "record", "task_of"]


def record(task: Task | None, session: AgentSession) -> Json:
    """JSON record of a task; its values are None where the session does not fit."""
    return {
        **range_fields("task_s", task.range if task else None),
        "turns": session.turns,
        "reread_share": task.reread_share if task else None,
        "kept_share": task.kept if task else None,
        "waits_in": task.waits if task else None,
        "saves": [as_record("saving", saved) for saved in (task.saves if task else ())],
    }


def lines(tasks: Sequence[Task], session: AgentSession) -> Iterator[str]:
    """The first task in words, with what saves most."""
    yield ""
    if not tasks:
        yield f"A session of {session.turns} turns fits in no runtime here."
        return
    first, turn = tasks[0], session.middle(tasks[0].turns.work)
    yield (
        f"Above, a reply is the middle turn of a session: a prompt of {turn.prompt:,.0f} tokens, "
        f"{turn.cached:,.0f} of them cached."
    )
    yield from sentences(first)
    for saved in first.saves:
        yield f"  saves {seconds(saved.seconds)}: {saved.edit.words} ({saved.edit.cost})"


def compared(estimates: Sequence[Estimate], session: AgentSession) -> Iterator[str]:
    """A session in words for the fastest runtime that it fits, and its time in each."""
    tasks = [each for estimate in usable(estimates) if (each := task_of(estimate, session))]
    yield from lines(tasks, session)
    if len(tasks) > 1:
        yield from aligned(map(_cells, tasks), right=(2,))


def _cells(task: Task) -> tuple[str, ...]:
    low, high = float(task.range.low), float(task.range.high)
    reread = f"{percent(task.reread_share)} reading again"
    of_range = f"({range_of(low, high, seconds)}), {reread}"
    return task.turns.runtime, task.turns.strategy.value, seconds(task.seconds), of_range
