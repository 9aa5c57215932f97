"""Part of `estimate` and `advise` about a session: the time of a task, and what would save."""

from collections.abc import Iterator, Sequence

from advisor.advice.compare import usable
from advisor.advice.task import sentences, task_of
from advisor.cli.command import Json, range_record
from advisor.cost_model.estimate import Estimate
from advisor.formatting import percent, range_of, seconds
from advisor.request.session import AgentSession


def record(estimate: Estimate | None, session: AgentSession | None) -> Json:
    """JSON record of a session in a runtime and placement, None where it does not fit; empty
    without a session.
    """
    if session is None:
        return {}
    task = task_of(estimate, session) if estimate is not None else None
    return {
        **range_record("task", task.range if task else None, unit="_s"),
        "turns": session.turns,
        "reread_share": task.reread_share if task else None,
        "saves": [
            {"change": saved.edit.words, "cost": saved.edit.cost, "saves_s": saved.seconds}
            for saved in (task.saves if task else ())
        ],
    }


def lines(estimates: Sequence[Estimate], session: AgentSession | None) -> Iterator[str]:
    """A session in the runtimes that it fits, in words for the first; nothing without one."""
    if session is None:
        return
    tasks = [task for each in usable(estimates) if (task := task_of(each, session)) is not None]
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
    wide = max(len(task.turns.runtime) for task in tasks)
    for task in tasks if len(tasks) > 1 else ():
        low, high = float(task.range.low), float(task.range.high)
        yield (
            f"{task.turns.runtime:<{wide}}  {task.turns.strategy.value:<12}  "
            f"{seconds(task.seconds):>8} ({range_of(low, high, seconds)}), "
            f"{percent(task.reread_share)} reading again"
        )
