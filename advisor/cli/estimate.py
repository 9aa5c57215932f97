"""`estimate`: speed of each runtime and placement, and the time of a session's task in each."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from advisor.advice.speeds import speed_of
from advisor.advice.start_files import StartFile, start_file
from advisor.advice.table.demand import first_word_of
from advisor.advice.task import Task, sentences, task_of
from advisor.advice.words.phrases import title_of
from advisor.catalog.records import as_record
from advisor.cli.command import Json, remark, show, tell
from advisor.cost_model.estimate import Assumption, Estimate
from advisor.cost_model.placement import Tier
from advisor.cost_model.timing import FixedTime
from advisor.errors import Refusal
from advisor.formatting import aligned, percent
from advisor.request.estimates import estimates_of
from advisor.request.request import Nouns
from advisor.request.session import AgentSession
from advisor.runtimes.compare import decode_tps, usable
from advisor.runtimes.remarks import slower_with_cache
from advisor.units import memory, number, range_of, seconds, tokens_per_second


def run(args: argparse.Namespace) -> None:
    """Run `estimate`."""
    nouns = args.request.nouns()
    tell(nouns.notes)
    resolved = nouns.resolved
    session = nouns.session
    estimates = estimates_of(nouns)
    if args.start is not None:
        print(_start(StartFile(args.start), estimates), end="")
        return
    best = next(iter(usable(estimates)), None)
    slower = slower_with_cache(best) if best else ()
    told = (*_of_known(nouns, best), *_of_a_day(nouns, best), *slower)
    remark(args, (*resolved.notes, *nouns.work.context_notes(resolved.model), *told))
    records = [estimate_answer(each, resolved.taken_as) for each in estimates if args.json]
    if session:
        for record, each in zip(records, estimates, strict=False):
            record |= session_answer(task_of(each, session), session)
    show(args, records, lambda: "\n".join(_lines(nouns, estimates)))


def _lines(nouns: Nouns, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Lines of the answer in text."""
    yield title_of(nouns.model, nouns.machine)
    yield ""
    yield from estimate_lines(estimates)
    session = nouns.session
    if session is None:
        return
    tasks = [task for fits in usable(estimates) if (task := task_of(fits, session))]
    yield from session_lines(tasks, session)
    if len(tasks) > 1:
        yield from aligned(map(_task_cells, tasks), right=(2,))


def _of_known(nouns: Nouns, best: Estimate | None) -> Iterator[str]:
    """Sentences about what is known of the machine."""
    if nouns.known:
        from advisor.advice.known import sentences  # with the diagnosis, loaded only for them

        yield from sentences(nouns.known, best)


def _of_a_day(nouns: Nouns, best: Estimate | None) -> Iterator[str]:
    """Work of a stated number of replies a day, and whether there are hours for it."""
    if best is None or "replies_per_day" not in nouns.request.stated():
        return
    from advisor.advice.advise import question_of  # with all of advice, loaded only for them
    from advisor.advice.table.options import keep

    kept = keep(question_of(nouns, nouns.machine), speed_of(best))
    where = f"In {best.runtime.name}, {best.strategy.value}, {kept.work_of_a_day.removesuffix('.')}"
    if kept.keeps_up:
        yield f"{where}, one after another."
    else:
        there = number(kept.use.money.hours_there)
        yield f"{where}, more than the {there} that there are: it cannot keep up."


def _start(kind: StartFile, estimates: Sequence[Estimate]) -> str:
    """File that starts the fastest server that can be started so."""
    refusals = []
    for estimate in usable(estimates):
        try:
            return start_file(kind, estimate)
        except Refusal as refusal:
            refusals.append(str(refusal))
    raise Refusal(refusals[0] if refusals else "Nothing fits, so there is nothing to start.")


def estimate_answer(estimate: Estimate, taken_as: str = "") -> Json:
    """Record of one runtime and placement; no speed where the model does not fit."""
    fits = bool(np.all(estimate.fits))
    limits = estimate.work.context_notes(estimate.model)
    notes = (estimate.format_note, estimate.work.drafting_note)
    if estimate.refusal:
        notes = (estimate.refusal, "")
    sizes = {tier: [float(size) for size in estimate.held.get(tier, ())] for tier in Tier}
    return as_record(
        "estimate",
        SimpleNamespace(all=estimate, run=estimate if fits else None),
        taken_as=taken_as or None,
        note=" ".join(filter(None, (*notes, *limits))),
        fits=fits,
        decode_tps_total=decode_tps(estimate) * float(estimate.work.users) if fits else None,
        mean_load_ttft_s=_of_mean_load(estimate) if fits else None,
        ttft_p50_s=estimate.first_token_within(0.5) if fits else None,
        ttft_p95_s=estimate.first_token_within(0.95) if fits else None,
        vram_bytes=sizes[Tier.VRAM],
        ram_bytes=sum(sizes[Tier.RAM]),
        disk_bytes=sum(sizes[Tier.DISK]),
        gpu_layers=_gpu_layers(estimate),
        seconds=_seconds(estimate),
        assumptions=[_assumption(assumed) for assumed in estimate.assumptions],
    )


def _of_mean_load(estimate: Estimate) -> float | None:
    """Time to the first token of several users at their mean load [s]; None for one, or a sweep."""
    if np.ndim(estimate.work.users) or float(estimate.work.users) <= 1:
        return None
    return first_word_of(estimate)


def _gpu_layers(estimate: Estimate) -> int | None:
    """Layers on the GPUs: repeating ones, or as they are stated (`-ngl`)."""
    if estimate.placement is None:
        return None
    placed = int(estimate.placement.gpu_layers)
    counted = estimate.settings.counts_head and 0 < placed < estimate.model.layers
    if counted:
        return placed + 1
    return placed


def _seconds(estimate: Estimate) -> Mapping[str, float | None]:
    if estimate.step is None:
        return dict.fromkeys((FixedTime.LAYERS, FixedTime.CROSSINGS, FixedTime.HIDDEN))
    parts = {str(name): float(seconds) for name, seconds in estimate.step.parts.items()}
    return {**parts, FixedTime.HIDDEN: float(estimate.step.hidden)}


def _assumption(assumption: Assumption) -> Json:
    value = float(np.ravel(assumption.figure.value)[0])
    return as_record("assumption", assumption, value=value)


def estimate_lines(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Lines of text on estimates, with the runtimes that take another format than the requested
    one.
    """
    yield from aligned(
        (each.runtime.name, each.strategy.value, each.model.format, _speed_words(each))
        for each in estimates
    )
    converted = [each for each in estimates if each.format_note and not each.refusal]
    yield from [""] if converted else []
    for note in dict.fromkeys(each.format_note for each in converted):
        runtimes = dict.fromkeys(
            each.runtime.name for each in converted if each.format_note == note
        )
        yield f"{', '.join(runtimes)}: {note}"


def _speed_words(result: Estimate) -> str:
    speed = result.decode
    first = result.first_token_seconds
    if speed is None or first is None or not bool(result.fits):
        return result.refusal or f"does not fit: {memory(float(result.missing))} short"
    ends = range_of(float(speed.low), float(speed.high))
    return (
        f"{tokens_per_second(float(speed.value))} ({ends}), first token {seconds(float(first))}, "
        f"limited by {result.bottleneck}"
    )


def session_answer(task: Task | None, session: AgentSession) -> Json:
    """JSON record of a task; its values are None where the session does not fit."""
    saves = [as_record("saving", saved) for saved in (task.saves if task else ())]
    return as_record("session", SimpleNamespace(task=task, session=session), saves=saves)


def session_lines(tasks: Sequence[Task], session: AgentSession) -> Iterator[str]:
    """Lines on the first task, with the settings that save most."""
    yield ""
    if not tasks:
        yield f"A session of {session.turns} turns fits in no runtime here."
        return
    first = tasks[0]
    turn = session.middle(tasks[0].turns.work)
    yield (
        f"Above, a reply is the middle turn of a session: a prompt of {turn.prompt:,.0f} tokens, "
        f"{turn.cached:,.0f} of them cached."
    )
    yield from sentences(first)
    for saved in first.saves:
        yield f"  saves {seconds(saved.seconds)}: {saved.edit.words} ({saved.edit.cost})"


def _task_cells(task: Task) -> tuple[str, ...]:
    low = float(task.range.low)
    high = float(task.range.high)
    reread = f"{percent(task.reread_share)} reading again"
    of_range = f"({range_of(low, high, seconds)}), {reread}"
    return task.turns.runtime.name, task.turns.strategy.value, seconds(task.seconds), of_range
