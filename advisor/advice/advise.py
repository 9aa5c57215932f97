"""Complete answer: estimates, options with speed, waiting time and cost, and the verdict.

It is the same to a request from every door.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from advisor.advice.comparison import LEAST_TPS
from advisor.advice.decision import (
    IN_TIME,
    KEEP,
    SWITCH_OFF,
    WORTH_TRYING,
    Decision,
    Situation,
    cheaper_of,
    decide,
    free_step,
    rival_of,
    serves,
    thinking_off,
    within_of,
)
from advisor.advice.edits.changes import SAME_TEXT, faster_changes
from advisor.advice.edits.edit import Edit, Edited
from advisor.advice.estimates import title_of
from advisor.advice.finder.runnable import FOR_CODE, Runnable, best_rated, models_tried
from advisor.advice.prices.price import Price, priced_name
from advisor.advice.readers import readers
from advisor.advice.speeds import speed_of
from advisor.advice.table.choice import (
    BOUGHT,
    NOTABLE,
    Choice,
    begins_late,
    choice_of,
    is_bought,
    reads_drive,
    why,
    why_not,
)
from advisor.advice.table.demand import Crowd, Demand, demand_of
from advisor.advice.table.option import FREE, Option, OptionKind, Question, as_rented
from advisor.advice.table.options import changes, keep, machine_speed, options
from advisor.advice.table.permitted import permitted, why_not_permitted
from advisor.advice.table.rules import counts_in
from advisor.advice.table.thought import as_they_think, without_thinking
from advisor.advice.table.timed_machines import VALUED, cardless
from advisor.advice.words.judgement import Judgement, judgement
from advisor.advice.words.verdict import Advice, price_notes
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.formatting import money as money_words
from advisor.formatting import money_shown_in, percent
from advisor.lazy import lazy
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.request import Nouns, Request
from advisor.request.session import AgentSession
from advisor.request.wants import NO_WANTS, Wants
from advisor.runtimes import compared
from advisor.runtimes.compare import compare, decode_tps, usable
from advisor.runtimes.remarks import slower_with_cache
from advisor.units import number

if TYPE_CHECKING:
    from advisor.advice.finder.combinations import Compute
    from advisor.advice.finder.search import Findings
    from advisor.advice.next_run import NextRun
    from advisor.advice.table.buys import Buys
    from advisor.advice.table.candidate import Candidate
    from advisor.advice.task import Task


def advise(
    model: Model,
    machine: Machine,
    work: Workload,
    *,
    money: MoneyInputs | None = None,
    settings: Settings | None = None,
    chosen: Runtime | None = None,
    placement: PlacementStrategy | None = None,
    ownership: Ownership | None = None,
    owned: Machine | None = None,
    today: date | None = None,
    session: AgentSession | None = None,
    wants: Wants = NO_WANTS,
    request: Request | None = None,
) -> Advice:
    """Complete answer for a model on a machine; of a session, the request is a middle turn.

    Options are of the runtime chosen, else of the best that people usually meet on each machine;
    changes are of the best placement's. `owned` is the present machine where that is another one.
    Machines for many users are looked for where the `request` says their speed and wait.
    Raises InputError for a request that holds arrays, or a resale value of a rented machine.
    """
    if any(isinstance(value, np.ndarray) for value in vars(work).values()):
        raise InputError("Advice is for a single request, not for arrays; use `sweep` for several.")
    described = (settings or Settings(), chosen, placement)
    money = _read_by(money or MoneyInputs(), session)
    estimates, best, faster = _estimated(model, machine, work, *described)
    if session is None:
        best = _serving_all(_in_runtime(estimates, chosen), best, money, wants)
    every = work if best is None else _of_all_agents(model, machine, work, described, session)
    _, together, edits = _estimated(model, machine, every, *described)
    if every is work:
        together = best
    here = owned or machine
    question = Question(
        model=model,
        machine=here,
        work=every,
        runtimes=(chosen,) if chosen else VALUED,
        money=money,
        ownership=as_rented(ownership or Ownership(form=here.form), here),
        today=today or datetime.now(UTC).date(),
    )
    nothing = question.ownership.nothing
    other = nothing or (owned is not None and owned != machine)
    if best is None and chosen is not None and machine.system == OperatingSystem.WINDOWS:
        edits = faster = _in_linux(model, machine, work, described[0], chosen)
    kept = speed_of(together) if together else None
    if other:
        kept = None if nothing else machine_speed(question)
    every_option = options(question, kept, () if other else edits)
    options_found = permitted(every_option, wants)
    instead = "" if other or best is not None else _instead(estimates, chosen)
    users = float(work.users) if session is None else 1.0
    demand = demand_of(users, money, wants).beside(options_found[0])
    options_found = demand.under_load(options_found)
    case = _case(options_found, demand, instead)
    if not other:
        case = replace(case, sale=_sale(question, case.kept))
    task = _task(best, session)
    case = replace(case, agents=_setting_of(task, case.kept))
    case = _completed(case, question, wants, chosen, session)
    case = _with_setting_for_all(case, question, described, session)
    case = _with_fleets(case, question, request, None if other else best)
    case = replace(case, beyond=_beyond(case, every_option))
    decision = decide(case)
    decision = replace(decision, rival=rival_of(case, decision), within=within_of(case, decision))
    decision = replace(decision, drawback=cheaper_of(case, decision))
    choice = _choice(case, decision)
    refused = _refused_format(model, best, estimates)
    if refused and choice.safe is None:
        choice = replace(choice, reason=f"{choice.reason} {refused}")
    return Advice(
        candidates=_candidates(question, case),
        title=title_of(model, machine),
        choice=choice,
        decision=decision,
        case=case,
        another_model=case.another,
        closest=case.closest,
        estimates=estimates,
        best=best,
        options=tuple(case.options),
        what_ifs=faster,
        question=question,
        elsewhere=other,
        served=readers(best, money.reading_tps) if best and float(work.users) > 1 else None,
        task=task,
        chosen=chosen,
        placement=placement,
    )


def _in_runtime(estimates: Iterable[Estimate], chosen: Runtime | None) -> list[Estimate]:
    """Estimates of the chosen runtime; all without one."""
    return [each for each in estimates if chosen in (None, each.runtime)]


def _serving_all(
    estimates: Iterable[Estimate], best: Estimate | None, money: MoneyInputs, wants: Wants
) -> Estimate | None:
    """Fastest estimate that is enough for several users, of the engines that people run on such
    cards; the best where it is enough, or none is.
    """
    if best is None:
        return None
    users = float(best.work.users) + float(best.waiting)
    demand = demand_of(users, money, wants)
    if demand.crowd is not Crowd.TEAM:
        return best
    alike = [each for each in usable(estimates) if each.strategy is best.strategy]
    reported = [each for each in alike if counts_in(each.machine, each.runtime.engine)]
    if reported and best not in reported:
        best = reported[0]
    for estimate in (best, *reported):
        speed = speed_of(estimate)
        work = estimate.work
        if speed and demand.serves_all(speed, float(work.users), float(work.output)):
            return estimate
    return best


Described: TypeAlias = tuple[Settings, Runtime | None, PlacementStrategy | None]


def _of_all_agents(
    model: Model,
    machine: Machine,
    work: Workload,
    described: Described,
    session: AgentSession | None,
) -> Workload:
    """Request of the agents that are answered at once where all of a session are served soonest:
    one after another, or all together; how many conversations a server holds is a free setting, so
    purchases compete with the better of both.

    time of all = agents / answered at once x (t_first + n / S)
    """
    if session is None or session.agents <= 1:
        return work

    def seconds(each: Workload) -> float:
        best = _estimated(model, machine, each, *described)[1]
        speed = speed_of(best) if best is not None else None
        if speed is None:
            return math.inf
        running = float(each.users) - speed.waiting
        return session.agents / running * (speed.first_token + float(each.output) / speed.decode)

    ways = [replace(work, users=session.agents), replace(work, users=1.0)]
    return min(ways, key=seconds)


def _task(best: Estimate | None, session: AgentSession | None) -> "Task | None":
    """Task of a session, in the best placement; None without one."""
    if best is None or session is None:
        return None
    from advisor.advice.task import task_of  # loaded only for a session

    return task_of(best, session)


def _setting_of(task: "Task | None", kept: Option) -> Option | None:
    """Free setting that shortens a task of agents most; None where none shortens it by much."""
    best = None if task is None else task.notable
    if best is None:
        return None
    price = Price(note=best.edit.cost)
    return replace(kept, kind=OptionKind.CHANGE, name=best.edit.words, price=price, loss=0.0)


def _read_by(money: MoneyInputs, session: AgentSession | None) -> MoneyInputs:
    """Money with the reading speed of each answer: one person follows several agents, and reads
    each so much more slowly.
    """
    if session is None:
        return money
    return replace(money, reading_tps=money.reading_tps / session.agents)


def _case(options_found: Sequence[Option], demand: Demand, instead: str) -> Situation:
    """What the rules of a decision look at, without other models."""
    money = demand.money
    stops = demand.wants.may_stop_thinking and money.thinking_tokens > 0
    judged = without_thinking(options_found) if stops else list(options_found)
    step = free_step(judged, money.reading_tps)
    choice = choice_of(judged, money.reading_tps, money.replies_per_day, instead, step)
    for_thought = None
    if stops:
        step = free_step(options_found, money.reading_tps)
        thinking = choice_of(options_found, money.reading_tps, money.replies_per_day, instead, step)
        for_thought = thinking.safe
        choice = as_they_think(choice, judged, options_found)
        choice = _kept_thinking(choice, thinking)
    case = Situation(
        options=options_found,
        judged=judged,
        choice=choice,
        demand=demand,
        reading_tps=money.reading_tps,
        step=step,
        for_thought=for_thought,
        instead=instead,
    )
    if not stops or case.kept.speed is None:
        return case
    stopped = thinking_off(case.kept)
    if not serves(stopped, money.reading_tps):
        stopped = thinking_off(case.best_kept)
    return replace(case, stopped=stopped)


def _kept_thinking(choice: Choice, thinking: Choice) -> Choice:
    """The choice, which says whether something is bought, with what is bought as the model thinks,
    where that goes to the same place and costs little more: nobody should have to give thinking up
    on what is new.
    """
    safe = thinking.safe
    before = choice.safe
    if before is None or before.is_free_setting or safe is None or safe.is_free_setting:
        return choice
    moves = safe.kind is OptionKind.MACHINE and before.kind is not OptionKind.MACHINE
    if moves or safe.paid_first > NOTABLE * before.paid_first:
        return choice
    return replace(choice, safe=safe, reason=thinking.reason)


def _beyond(case: Situation, every: Sequence[Option]) -> Option | None:
    """Cheapest purchase that holds the model and is dearer than the budget, where nothing within it
    does; None elsewhere.
    """
    budget = case.demand.wants.max_usd
    if budget is None or not case.holds_nothing:
        return None
    if any(map(_holds_it, case.options)):
        return None
    able = [
        option
        for option in every
        if option.kind in BOUGHT
        and option.dated
        and not option.odd
        and not reads_drive(option)
        and option.paid_first > budget
        and not why_not_permitted(option, replace(case.demand.wants, max_usd=None))
    ]
    return min(able, key=lambda option: option.paid_first, default=None)


def _holds_it(option: Option) -> bool:
    """Whether a purchase that nobody finds odd holds the model in memory."""
    return is_bought(option) and not option.odd and not reads_drive(option)


def _sale(question: Question, kept: Option) -> Option | None:
    """What could be sold, where the value of what is owned counts."""
    if not question.money.resale_counts:
        return None
    from advisor.advice.table.sale import sale  # loaded only where that counts

    return sale(question, kept)


def _completed(
    case: Situation,
    question: Question,
    wants: Wants,
    chosen: Runtime | None,
    session: AgentSession | None,
) -> Situation:
    """The case with what it needs further: several answers at once, or other models, for code by
    coding tests.
    """
    counted = case.demand.counted
    if counted and not case.demand.met_by(case.kept):
        return _many_at_once(case, question, wants, chosen)
    if counted or question.ownership.nothing or case.instead:
        return case
    if session is not None:
        case = replace(case, alone_tps=case.reading_tps * float(question.work.users))
    for_code = session is not None or bool(FOR_CODE.search(question.model.published_as))
    return _with_models(case, question, for_code=for_code)


def _candidates(question: Question, case: Situation) -> "tuple[Candidate, ...]":
    """Purchases that somebody asks about, with as many answers at once as the other options."""
    wants = case.demand.wants
    if not wants.also:
        return ()
    from advisor.advice.table.candidate import candidates  # loaded only for them

    same = replace(question, work=case.options[-1].use.work)
    return candidates(wants.also, same, case.options, wants, case.step)


def _with_setting_for_all(
    case: Situation, question: Question, described: "Described", session: AgentSession | None
) -> Situation:
    """The case with a free setting that serves every user of a team, where this machine does not
    serve them as it is.
    """
    settings, chosen, placement = described
    unmet = case.demand.crowd is Crowd.TEAM and not case.demand.met_by(case.best_kept)
    nothing = case.kept.speed is None or question.ownership.nothing
    if not unmet or nothing or placement is not None or session is not None:
        return case
    from advisor.advice.table.for_all import setting_for_all  # loaded only for such teams

    runtimes = (chosen,) if chosen else compared(question.machine, question.model)
    edited = setting_for_all(question, runtimes, settings, case.demand)
    if edited is None:
        return case
    (option,) = changes(question, [edited])
    option = replace(option, kept=case.kept)
    judged = case.judged
    if judged:
        judged = (*judged, without_thinking((case.kept, option))[1])
    return replace(
        case, options=(*case.options, option), judged=judged, for_all=option, setting=edited
    )


def _with_fleets(
    case: Situation, question: Question, request: Request | None, best: Estimate | None
) -> Situation:
    """The case with machines that together serve every user, where this one does not."""
    met = case.demand.met_by(case.best_kept) or case.for_all is not None
    if request is None or case.demand.crowd is not Crowd.TEAM or met:
        return case
    from advisor.advice.fleets import Offered, cheaper_mixture, fleets, listed, present, within

    chosen = question.runtimes[0] if len(question.runtimes) == 1 else None
    here = present(question, request, best, case.demand, case.kept)
    every = listed(question, request, case.demand, here, chosen)
    mixture = cheaper_mixture(every)
    return replace(
        case,
        fleets=fleets(question, every, here),
        offered=Offered(here, every),
        within=within(question, request, case.options, case.demand, chosen),
        mixture_usd=None if mixture is None else mixture.monthly,
    )


def _choice(case: Situation, decision: Decision) -> Choice:
    """The choice as it is decided."""
    choice = case.choice
    if decision.option is not None:
        return replace(choice, safe=decision.option, reason=_reason(case, decision))
    if decision.rule == IN_TIME:
        return replace(choice, safe=None, reason="What you have does the work in time.")
    if case.demand.counted and decision.rule == KEEP:
        return replace(choice, safe=None, reason=_not_enough(case))
    if choice.safe is not None and decision.model is not None:
        return replace(choice, safe=None, reason="Before anything is bought, a free model.")
    if choice.safe is not None and decision.rule == SWITCH_OFF:
        return replace(choice, safe=None, reason=why_not(case.kept, case.reading_tps))
    if choice.safe is None and _beyond_the_budget(case):
        return replace(choice, reason=_too_dear(case))
    return choice


def _too_dear(case: Situation) -> str:
    """Why nothing is bought within a budget, and the least that would have to be paid."""
    option = case.beyond
    budget = money_words(case.demand.wants.max_usd or 0.0)
    if option is None:
        return "Nothing within your budget makes it faster."
    least = f"{option.name}, for {money_words(option.paid_first)}"
    return f"Nothing within {budget} holds it: the least that does is {least}."


def _beyond_the_budget(case: Situation) -> bool:
    """Whether somebody who waits states a budget, and nothing is bought for it."""
    bought = any(map(_holds_it, case.options))
    stated = case.demand.wants.max_usd is not None
    return stated and not bought and not serves(case.kept, case.reading_tps)


def _with_models(case: Situation, question: Question, *, for_code: bool) -> Situation:
    """The case with another model that is notably faster, where what is kept is not faster than one
    reads.
    """
    kept = case.kept
    reading = case.reading_tps
    level = judgement(kept.decode, reading)
    if level is Judgement.FASTER and serves(kept, reading):
        return case
    nouns = (question.model, question.machine, question.work)
    least = max(reading, WORTH_TRYING * kept.decode)
    another = best_rated(*nouns, least, as_well=True, for_code=for_code)
    if another is not None and begins_late(kept) and not _sooner(another, kept):
        another = None
    closest = None
    lost = level is Judgement.UNUSABLE or reads_drive(kept)
    if another is None and (lost or _waits_for_nothing_else(case)):
        closest = best_rated(*nouns, case.alone_tps or reading, as_well=False)
    return replace(case, another=another, closest=closest, model=question.model.published_as)


def _sooner(row: Runnable, kept: Option) -> bool:
    """Whether another model answers notably sooner than what is kept, prompt included."""
    seconds = row.speed.first_token + kept.use.generated / row.speed.decode
    return kept.answer_seconds >= NOTABLE * seconds


def _waits_for_nothing_else(case: Situation) -> bool:
    """Whether who waits finds neither a free setting nor a purchase that helps."""
    return not serves(case.kept, case.reading_tps) and not (
        case.step or case.stopped or case.choice.safe or case.allowed_apis
    )


def _many_at_once(
    case: Situation, question: Question, wants: Wants, chosen: Runtime | None
) -> Situation:
    """The case of work that one answer after the other does not do in time: several at once, here
    and on what could be bought, rented or called.
    """
    from advisor.advice.table.at_once import (
        MANY_AT_ONCE,
        asked_at_once,
        at_once,
        in_smaller_caches,
        side_by_side,
    )

    least = 0.0
    if case.demand.crowd is Crowd.RATE:
        least = case.demand.wants.user_tps or case.reading_tps
    best = side_by_side(question, chosen, least)
    if best is None:
        work = at_once(question.work, MANY_AT_ONCE)
    else:
        work = at_once(question.work, asked_at_once(best))
    several = replace(question, work=work)
    speed = None if best is None else speed_of(best)
    together = _together(question, best)
    if not _in_time(case, together):
        smaller = _together(question, in_smaller_caches(question, chosen, least))
        together = smaller if _in_time(case, smaller) else together
    rows = permitted(options(several, speed, ()), wants)[1:]
    kept = case.kept
    changed = [replace(together, kept=kept)] if together else []
    others = [replace(each, kept=kept) for each in rows]
    if case.demand.crowd is Crowd.BATCH and not any(map(case.demand.met_by, others)):
        others = _more_at_once(case, question, wants, others)
    marked = case.demand.under_load((kept, *changed, *others))
    together = marked[1] if changed else None
    return replace(case, options=marked, judged=(), together=together)


def _together(question: Question, best: Estimate | None) -> Option | None:
    """Option of several answers at the same time on the present machine; None for one by one."""
    from advisor.advice.table.at_once import asked_at_once, at_once

    if best is None or float(best.work.users) <= 1:
        return None
    several = replace(question, work=at_once(question.work, asked_at_once(best)))
    name = f"{float(best.work.users):.0f} answers at once in {best.runtime.name}"
    note = SAME_TEXT
    if best.work.kv_type != question.work.kv_type:
        name = f"{name}, KV cache in {best.work.kv_type}"
        note = FREE
    here = keep(several, speed_of(best))
    return replace(here, kind=OptionKind.CHANGE, name=name, price=Price(note=note), loss=0.0)


def _in_time(case: Situation, together: Option | None) -> bool:
    """Whether several answers at once do the work in time, with thinking off where that is free."""
    if together is None:
        return False
    ways = [together] if case.stopped is None else [together, thinking_off(together)]
    return any(map(case.demand.met_by, ways))


def _more_at_once(
    case: Situation, question: Question, wants: Wants, others: Sequence[Option]
) -> list[Option]:
    """Options with as many answers at once as each does most of a batch with, as larger machines
    hold more of them than this one.
    """
    from advisor.advice.table.at_once import TRIED, at_once

    best = {(option.kind, option.name): option for option in others}
    for users in TRIED:
        several = replace(question, work=at_once(question.work, users))
        for option in permitted(options(several, None, ()), wants)[1:]:
            former = best.get((option.kind, option.name))
            if option.speed is None or option.kind is OptionKind.API:
                continue
            if former is None or case.demand.load(option) < case.demand.load(former):
                best[option.kind, option.name] = replace(option, kept=case.kept)
    return list(best.values())


def _not_enough(case: Situation) -> str:
    """Why nothing is bought where nothing does the work in time: the one that comes nearest."""
    able = [option for option in case.options if option.speed and option.kind != OptionKind.API]
    if not able:
        return "Nothing that is listed does so much work."
    nearest = min(able, key=case.demand.load)
    load = case.demand.load(nearest)
    if nearest.kind is OptionKind.KEEP:
        return "Nothing that is listed does more of it."
    if load <= 1.0:
        work = f"is busy {percent(load)} of the time, so answers wait"
    else:
        work = f"has {number(load)} hours of work each hour"
    return f"Nothing that is listed keeps up: {nearest.name.replace(',', '')} {work}."


def _reason(case: Situation, decision: Decision) -> str:
    """Why an option is decided for."""
    option = decision.option
    if option is None or option is case.choice.safe:
        return case.choice.reason
    if option.is_free_setting:
        return f"Before anything is bought, a free change: {option.name}."
    if option.kind is OptionKind.API:
        return "It costs less than any machine at your use, and your texts may leave the house."
    if case.fleets is not None and any(option is fleet for fleet in case.fleets):
        return f"{why(option)} {_of_one_kind(case)}"
    return why(option)


def _of_one_kind(case: Situation) -> str:
    """What a fleet is assumed to be, and what a mixture of kinds would cost."""
    assumed = "Machines of one kind in one engine share the users evenly"
    if case.mixture_usd is None:
        return f"{assumed}: no mixture of kinds is notably cheaper."
    return f"{assumed}: a mixture of kinds would cost {money_words(case.mixture_usd)} a month."


def _in_linux(
    model: Model, machine: Machine, work: Workload, settings: Settings, chosen: Runtime
) -> tuple[Edited, ...]:
    """A runtime that refuses Windows, in the Linux that runs inside it."""
    linux = replace(machine, system=OperatingSystem.LINUX)
    runs = usable(compare(model, linux, work, settings=settings, runtimes=(chosen,)))
    speed = speed_of(runs[0]) if runs else None
    edit = Edit(
        words=f"{chosen.name} in WSL2, which is Linux inside Windows",
        cost="free, an installation",
        changes={"machine": linux},
    )
    if speed is None:
        return ()
    return (Edited(**vars(edit), speed=speed, gain=1.0),)


def _instead(estimates: Iterable[Estimate], chosen: Runtime | None) -> str:
    """Why the chosen runtime refuses, and another that runs the model; empty where none does, or
    none at a speed worth a word.
    """
    runs = [each for each in usable(estimates) if decode_tps(each) >= LEAST_TPS]
    if chosen is None or not runs:
        return ""
    refusals = (each.refusal for each in estimates if each.runtime is chosen and each.refusal)
    return f"{runs[0].runtime.name} runs it here. {next(refusals, '')}".strip()


def _refused_format(model: Model, best: Estimate | None, estimates: Iterable[Estimate]) -> str:
    """Reason why the requested format does not run here, where another format does; empty in other
    cases.
    """
    if best is None or best.model.format == model.format:
        return ""
    usual = [each for each in estimates if each.runtime.mainstream]
    takes = [each for each in usual if each.model.format == model.format]
    if any(bool(each.fits) for each in takes):
        return ""
    why = next((each.refusal for each in takes if each.refusal), "")
    if why:
        return f"It runs in {best.model.format}. {why}"
    return ""


@lru_cache(maxsize=16)
def _estimated(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    chosen: Runtime | None,
    placement: PlacementStrategy | None,
) -> tuple[tuple[Estimate, ...], Estimate | None, tuple[Edited, ...]]:
    """Every estimate, the best of them and the changes: the same at any price and use."""
    runtimes = compared(machine, model)
    further = (chosen,) if chosen and chosen not in runtimes else ()
    estimates = compare(model, machine, work, settings=settings, runtimes=(*runtimes, *further))
    wanted = [
        each
        for each in estimates
        if chosen in (None, each.runtime) and placement in (None, each.strategy)
    ]
    told = wanted
    if settings.says_where(model):  # by an engine that can be told so
        told = [each for each in wanted if each.runtime.takes_layers]
    best = next(iter(usable(told) or usable(wanted)), None)
    return estimates, best, faster_changes(model, machine, work, best)


# A request from any door.

FEW_MODELS = 28  # most models that a question of few GPUs tries in place of another


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Complete advice for a request."""

    nouns: Nouns  # what was asked
    advice: Advice  # the answer

    def __repr__(self) -> str:
        return f"<Answer {self.advice!r}>"

    @lazy
    def of_known(self) -> tuple[str, ...]:
        """Sentences on the effect of known speeds of the machine, and on likely faults among
        them.
        """
        if not self.nouns.known:
            return ()
        from advisor.advice import known  # with the diagnosis, loaded only for known speeds

        return tuple(known.sentences(self.nouns.known, self.advice.best))

    @lazy
    def next_run(self) -> "NextRun | None":
        """Run of two minutes that would narrow the range most; None where no run is worth it."""
        from advisor.advice.next_run import next_run  # loaded only where it is asked for

        best = self.advice.best
        if best is None or self.nouns.request.nothing:
            return None
        return next_run(best)

    @property
    def _arranged(self) -> tuple[str, ...]:
        """GPUs that the best runtime uses, where those are not all as one."""
        best = self.advice.best
        if best is None or best.arrangement is None:
            return ()
        return (f"{best.runtime.name} runs here on {best.arrangement.words}.",)

    @property
    def _cut(self) -> tuple[str, ...]:
        """What was left out for a question that would take too long."""
        machine = self.nouns.machine
        most = models_tried(machine)
        if not self.advice.case.model or most > FEW_MODELS:
            return ()
        return (
            f"On {len(machine.gpus)} GPUs at most {most} of the best rated models were tried in "
            "its place; ask for fewer machines to have all of them tried.",
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks: what a name was taken for, origin of sizes, age of prices."""
        resolved = self.nouns.resolved
        machine = self.nouns.machine
        return (
            *resolved.notes,
            *machine.software_notes,
            *self.nouns.request_notes,
            *self.nouns.work.context_notes(resolved.model),
            *self._arranged,
            *self._cut,
            *price_notes(self.advice.question),
            *self.of_known,
            *(_of_cache(self.advice.best) if self.advice.best else ()),
        )


def _of_cache(best: Estimate) -> Iterator[str]:
    """What a cache costs: one of experts that slows, a format without a fast kernel."""
    yield from slower_with_cache(best)
    if best.slow_cache is not None:
        yield f"{best.runtime.name}: {best.slow_cache.told_of(best.work)}"


def answer(nouns: Nouns) -> Answer:
    """Complete advice for the nouns of a request; raises an AdvisorError that says why there is
    none.
    """
    with money_shown_in(nouns.request.paying):
        advice = advise(
            nouns.model,
            nouns.machine,
            nouns.work,
            money=with_priced_names(nouns.money),
            settings=nouns.settings,
            chosen=nouns.runtime,
            placement=nouns.strategy,
            ownership=nouns.ownership,
            owned=nouns.owned,
            session=nouns.session,
            wants=nouns.wants,
            request=nouns.request,
        )
    return Answer(nouns=nouns, advice=advice)


def buys_of(answered: Answer) -> "Buys":
    """Purchases for the machine of an answer, within the budget and at the least speed of its
    request.

    The least speed is reading speed where none is stated; it is empty for a request without an
    owned machine.
    """
    from advisor.advice.table.buys import Buys, buys  # loaded only by the finder

    nouns = answered.nouns
    advice = answered.advice
    if nouns.request.nothing:
        return Buys(best=None, cheapest=None, fastest=None)
    least = nouns.request.min_tps or nouns.money.reading_tps
    safe = advice.choice.safe
    return buys(advice.options, least, nouns.wants.max_usd, safe, advice.case.step)


def findings_of(nouns: Nouns, compute: "Compute | None" = None) -> "Findings":
    """Machines that reach what a request wants, computed in this process or on a cluster."""
    from advisor.advice.finder.combinations import SEARCHED, combinations
    from advisor.advice.finder.search import find

    runtimes = (nouns.runtime,) if nouns.runtime else SEARCHED
    # that cards are put into
    if nouns.request.nothing:
        host = cardless()
    else:
        host = nouns.machine
    question = question_of(nouns, host, runtimes)
    return find(question, nouns.request, compute or combinations, nouns.wants)


def question_of(nouns: Nouns, machine: Machine, runtimes: tuple[Runtime, ...] = VALUED) -> Question:
    """Question for the table of options: the request on the present machine, or on the computer of
    owned cards.
    """
    nothing = Ownership(form=machine.form, nothing=True)
    if nouns.request.nothing:
        ownership = nothing
    else:
        ownership = nouns.ownership
    return Question(
        model=nouns.model,
        machine=machine,
        work=nouns.work,
        runtimes=runtimes,
        money=with_priced_names(nouns.money),
        ownership=as_rented(ownership, machine),
        today=datetime.now(UTC).date(),
    )


def with_priced_names(money: MoneyInputs) -> MoneyInputs:
    """Money inputs with typed prices and rents under the names of the price tables."""
    return replace(
        money,
        own_price=tuple((priced_name(name), usd) for name, usd in money.own_price),
        own_rent=tuple((GPUS.find(name).name, usd) for name, usd in money.own_rent),
    )
