"""Situation: the facts that the rules of a decision read, and how they are gathered.

First what is kept and could be bought; then, where these do not do the work, several answers at
once, a setting or machines for every user, or another model.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.advice.edits.changes import SAME_TEXT
from advisor.advice.edits.edit import Edited
from advisor.advice.finder.runnable import FOR_CODE, Runnable, Standing, best_rated
from advisor.advice.judgement import Judgement, judgement
from advisor.advice.prices.price import Price
from advisor.advice.speeds import speed_of
from advisor.advice.table.choice import (
    AS_GOOD,
    BOUGHT,
    FASTER,
    MOST_BUILT,
    NOTABLE,
    RENT_LESS,
    Choice,
    begins_late,
    choice_of,
    is_bought,
    reads_along,
    reads_drive,
)
from advisor.advice.table.demand import LATE, Crowd, Demand
from advisor.advice.table.option import FREE, Option, OptionKind, Question
from advisor.advice.table.options import changes, keep, options
from advisor.advice.table.permitted import permitted, why_not_permitted
from advisor.advice.table.thought import as_they_think, without_thinking
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.request.money import SECONDS_PER_HOUR
from advisor.request.request import Request
from advisor.request.session import AgentSession
from advisor.request.wants import Fixed, Texts, Wants
from advisor.runtimes import compared

if TYPE_CHECKING:
    from advisor.advice.fleets import Offered
    from advisor.advice.task import Task

WORTH_TRYING = 1.25
"""Factor on the time of an answer from which a free setting is worth a word where one waits."""
IDLE_USD = 10.0  # power of a month while nobody asks from which it is worth a word [USD]
MOSTLY_IDLE = 3.0  # hours that a machine is on over those that it answers, from which it is idle
STOPS_THINKING = "thinking off"  # name of that free setting


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions under which a question is answered, beside its model, machine and prices."""

    settings: Settings  # settings that somebody fixes
    chosen: Runtime | None  # runtime that somebody chooses; None for any
    placement: PlacementStrategy | None  # None for any
    session: AgentSession | None  # None for a single reply
    wants: Wants
    # request that says the speed and wait of many users; None where it is not known
    request: Request | None

    @property
    def of_estimates(self) -> tuple[Settings, Runtime | None, PlacementStrategy | None]:
        """Settings, runtime and placement, which alone decide the estimates."""
        return self.settings, self.chosen, self.placement


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Facts that the rules read."""

    options: Sequence[Option]  # what is kept first
    choice: Choice  # best purchase of the options by price and waiting
    demand: Demand
    model: str = ""  # name of the model asked for
    # options without thinking, by which purchases are judged where the model can stop; empty where
    # all are judged as they are
    judged: Sequence[Option] = ()
    step: Option | None = None  # best free setting of this machine, thinking as it is wanted
    stopped: Option | None = None  # the same with thinking off; None where that is no choice
    # purchase that is worth it if the model thinks as it does by itself; None where thinking is no
    # choice, or nothing is
    for_thought: Option | None = None
    beyond: Option | None = None  # cheapest purchase that runs the model and is beyond the budget
    together: Option | None = None  # several answers at the same time on this machine
    # free setting with which this machine answers every user of a team; None where it does so
    # already, or none does
    for_all: Option | None = None
    setting: Edited | None = None  # the same as what it changes
    # machines that together serve every user at the speed and wait that is wished for; None where
    # they were not looked for
    fleets: Sequence[Option] | None = None
    offered: "Offered | None" = None  # the same as they are listed
    within: Sequence[Option] = ()  # purchases for the present machine, or sold whole, that do so
    # purchases that do so at the mean load; empty where somebody states the speed or wait of users
    nearly: Sequence[Option] = ()
    # cost of a month of the cheapest mixture of kinds that does the same; None where one kind is as
    # cheap [USD]
    mixture_usd: float | None = None
    agents: Option | None = None  # setting that shortens a task of agents most, where that is much
    another: Runnable | None = None  # model that is rated as high and faster here
    closest: Runnable | None = None  # best rated that keeps up, where the model is of no use here
    instead: str = ""  # why the chosen runtime refuses, and another that runs it
    sale: Option | None = None  # cheaper or fewer cards that do the same
    # speed at which somebody reads a single answer, where several agents are followed at once; 0
    # where that is `pace` [tokens/s]
    alone_tps: float = 0.0

    @property
    def pace(self) -> float:
        """Speed at which nobody waits: reading speed, or a higher speed that the request wants
        [tokens/s].
        """
        return self.demand.pace

    @property
    def kept(self) -> Option:
        """Option of keeping the present machine with its settings."""
        return self.options[0]

    @property
    def best_kept(self) -> Option:
        """Option of the present machine at its best free setting."""
        return self.step or self.kept

    @property
    def holds_nothing(self) -> bool:
        """Whether the memory of the present machine does not hold the model, even at its best free
        setting.
        """
        return self.best_kept.speed is None or reads_drive(self.best_kept)

    @property
    def apis(self) -> list[Option]:
        """Options of APIs, the cheapest first; APIs with a known speed come before others."""
        rows = [each for each in self.options if each.kind is OptionKind.API and each.cost]
        fast = [each for each in rows if each.decode >= self.pace]
        return sorted(fast or rows, key=lambda each: each.monthly or 0.0)

    @property
    def allowed_apis(self) -> list[Option]:
        """Options of APIs, the cheapest first; none where texts must stay, or nobody says that they
        may leave.
        """
        if self.demand.wants.texts is not Texts.ANYWHERE:
            return []
        return self.apis

    @property
    def rented(self) -> bool:
        """Whether the present machine is rented."""
        return self.kept.is_rented

    def dear_beside(self, api: Option) -> bool:
        """Whether the present machine is rented at a far higher cost than an API."""
        return self.rented and (api.monthly or 0.0) <= RENT_LESS * (self.kept.monthly or 0.0)


def serves(option: Option, reading_tps: float) -> bool:
    """Whether one person feels no wait: for the first word, for the words after it, or for
    reasoning.
    """
    late = begins_late(option) or option.thinking_seconds >= LATE
    return reads_along(option, reading_tps) and not late


def idle_usd(kept: Option) -> float:
    """Monthly cost of power while nobody uses the machine; 0 for a machine that is not on for long
    [USD].
    """
    cost = kept.cost
    if cost is None or kept.speed is None or cost.idle_power < IDLE_USD:
        return 0.0
    busy = float(kept.use.busy_hours(kept.speed))
    on = kept.use.money.hours_on_per_day * kept.use.money.days
    if on < MOSTLY_IDLE * busy:
        return 0.0
    return cost.idle_power


def free_step(options: Sequence[Option], reading_tps: float) -> Option | None:
    """Best free setting of the present machine, with a loss that people accept; None without one.

    Of settings that are nearly as fast as the fastest it is the one that loses least; of these, one
    with which nobody waits comes before one with which somebody does.
    """
    kept = options[0]
    if kept.decode >= FASTER * reading_tps and serves(kept, reading_tps):
        return None
    if serves(kept, reading_tps):
        least = NOTABLE
    else:
        least = WORTH_TRYING
    able = [
        option
        for option in options[1:]
        if option.kind is OptionKind.CHANGE
        and option.loss is not None
        and option.speed is not None
        and not reads_drive(option)
        and kept.answer_seconds >= least * option.answer_seconds
    ]
    if not able:
        return None
    fastest = min(option.answer_seconds for option in able)
    near = [option for option in able if option.answer_seconds <= AS_GOOD * fastest]
    near = [option for option in near if serves(option, reading_tps)] or near
    return min(near, key=lambda option: (option.loss or 0.0, option.answer_seconds))


def thinking_off(option: Option) -> Option:
    """Option of the same machine without thinking, so that an answer begins at once."""
    if option.kind is OptionKind.KEEP:
        name = STOPS_THINKING
    else:
        name = f"{STOPS_THINKING} and {option.name}"
    money = replace(option.use.money, thinking_tokens=0.0)
    price = replace(option.price, note="free, a setting: answers without reasoning first")
    return replace(
        option,
        kind=OptionKind.CHANGE,
        name=name,
        use=replace(option.use, money=money),
        price=price,
        loss=option.loss or 0.0,
    )


WORKING_DAY = 8.0
"""Waiting of a day for a stated thought from which one needs a faster machine to have it [h]: all
of a working day."""


def thinks_as_stated(kept: Option, demand: Demand) -> bool:
    """Whether purchases are judged with the thinking that somebody states.

    That is so for work of a known amount, for a stated budget, and where one would wait for the
    thinking all day; elsewhere thinking off is free and comes first.
    """
    wants = demand.wants
    if not wants.states_thinking:
        return False
    if demand.counted or wants.max_usd is not None:
        return True
    waited = kept.thinking_seconds * demand.money.replies_per_day / float(kept.use.work.users)
    return waited >= WORKING_DAY * SECONDS_PER_HOUR


def situation_of(options_found: Sequence[Option], demand: Demand, instead: str) -> Situation:
    """Facts that the rules of a decision read, without other models."""
    money = demand.money
    pace = demand.pace
    can_stop = demand.wants.may_stop_thinking and money.thinking_tokens > 0
    stops = can_stop and not thinks_as_stated(options_found[0], demand)
    judged = without_thinking(options_found) if stops else list(options_found)
    step = free_step(judged, pace)
    choice = _at_pace(judged, demand, instead, step)
    for_thought = None
    if stops:
        step = free_step(options_found, pace)
        thinking = _at_pace(options_found, demand, instead, step)
        for_thought = thinking.safe
        choice = as_they_think(choice, judged, options_found)
        choice = _kept_thinking(choice, thinking)
    case = Situation(
        options=options_found,
        judged=judged,
        choice=choice,
        demand=demand,
        step=step,
        for_thought=for_thought,
        instead=instead,
    )
    if not can_stop or case.kept.speed is None or (demand.counted and not stops):
        return case
    stopped = thinking_off(case.kept)
    if not serves(stopped, pace):
        stopped = thinking_off(case.best_kept)
    return replace(case, stopped=stopped)


def _at_pace(
    options_found: Sequence[Option], demand: Demand, instead: str, step: Option | None
) -> Choice:
    """Best purchase at a speed that is asked for; at reading speed where none reaches that."""
    money = demand.money
    pace = demand.pace
    budget = demand.wants.max_usd is not None
    asks = (money.replies_per_day, instead, step)
    choice = choice_of(options_found, pace, *asks, budget=budget)
    if pace <= money.reading_tps or (choice.safe and choice.safe.decode >= pace):
        return choice
    slower = choice_of(options_found, money.reading_tps, *asks, budget=budget)
    if slower.safe:
        return slower
    return choice


def _kept_thinking(choice: Choice, thinking: Choice) -> Choice:
    """Choice whose purchase also suits a model that thinks, where that costs little more.

    Nobody should have to give thinking up on new hardware.
    """
    safe = thinking.safe
    before = choice.safe
    if before is None or before.is_free_setting or safe is None or safe.is_free_setting:
        return choice
    moves = safe.kind is OptionKind.MACHINE and before.kind is not OptionKind.MACHINE
    if moves or safe.paid_first > NOTABLE * before.paid_first:
        return choice
    return replace(choice, safe=safe, reason=thinking.reason)


def setting_for_agents(task: "Task | None", options_found: Sequence[Option]) -> Option | None:
    """Free setting that shortens a task of agents most; None where none shortens it by much."""
    best = None if task is None else task.notable
    if best is None:
        return None
    kept, *others = options_found
    for option in others:
        if option.is_free_setting and option.name == best.edit.words:
            return option
    price = Price(note=best.edit.cost)
    return replace(
        kept,
        kind=OptionKind.CHANGE,
        name=best.edit.words,
        price=price,
        speed=best.speed or kept.speed,
        loss=best.lost,
    )


def sale_of(question: Question, kept: Option) -> Option | None:
    """Sale of owned cards that costs little speed, where their value counts; None without one."""
    if not question.money.resale_counts:
        return None
    from advisor.advice.table.sale import sale  # loaded only where that counts

    return sale(question, kept)


def _beyond_budget(case: Situation, every: Sequence[Option]) -> Option | None:
    """Cheapest purchase that holds the model and is dearer than the budget, where nothing within it
    does; None elsewhere.
    """
    budget = case.demand.wants.max_usd
    if budget is None or not case.holds_nothing:
        return None
    if any(map(holds_it, case.options)):
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


def holds_it(option: Option) -> bool:
    """Whether a purchase without an expert's doubt holds the model in memory."""
    return is_bought(option) and not option.odd and not reads_drive(option)


def completed(
    case: Situation,
    question: Question,
    conditions: Conditions,
    every: Sequence[Option],
    best: Estimate | None,
) -> Situation:
    """Situation with the facts that further rules read: several answers at once, other models, a
    setting or machines for every user, a purchase beyond the budget.

    `every` are the options before any limit, `best` is the best estimate of the kept machine.
    """
    case = _with_answers_or_models(case, question, conditions)
    case = _with_setting_for_all(case, question, conditions)
    case = _with_fleets(case, question, conditions.request, best)
    return replace(case, beyond=_beyond_budget(case, every))


def _with_answers_or_models(
    case: Situation, question: Question, conditions: Conditions
) -> Situation:
    """Case with several answers at once where the work needs them, or with other models."""
    counted = case.demand.counted
    if counted and not case.demand.met_by(case.kept):
        return _many_at_once(case, question, conditions)
    fixed = case.demand.wants.fixed is not Fixed.NOTHING
    if counted or fixed or question.ownership.nothing or case.instead:
        return case
    session = conditions.session
    if session is not None:
        case = replace(case, alone_tps=case.pace * float(question.work.users))
    for_code = session is not None or bool(FOR_CODE.search(question.model.published_as))
    return _with_models(case, question, for_code=for_code)


def _with_models(case: Situation, question: Question, *, for_code: bool) -> Situation:
    """Case with another model that is notably faster, where what is kept is not faster than one
    reads.

    It is the best rated of those that write faster than one reads, where tests rate it no lower
    than the present one; else of those that keep up.
    """
    kept = case.kept
    pace = case.pace
    level = judgement(kept.decode, pace)
    if level is Judgement.FASTER and serves(kept, pace):
        return case
    nouns = (question.model, question.machine, question.work)
    least = max(pace, WORTH_TRYING * kept.decode)
    another = best_rated(*nouns, least, as_well=True, for_code=for_code)
    ease = FASTER * pace
    if another is not None and another.speed.decode < ease:
        faster = best_rated(*nouns, max(least, ease), as_well=True, for_code=for_code)
        published = question.model.published_as
        if faster is not None and faster.standing_beside(published) is not Standing.WEAKER:
            another = faster
    if another is not None and begins_late(kept) and not _sooner(another, kept):
        another = None
    closest = None
    lost = level is Judgement.UNUSABLE or reads_drive(kept)
    along = kept.decode >= case.demand.money.reading_tps
    if another is None and (lost or (_waits_for_nothing_else(case) and not along)):
        closest = best_rated(*nouns, case.alone_tps or pace, as_well=False)
    return replace(case, another=another, closest=closest, model=question.model.published_as)


def _sooner(row: Runnable, kept: Option) -> bool:
    """Whether another model answers notably sooner than what is kept, prompt included."""
    seconds = row.speed.first_token + kept.use.generated / row.speed.decode
    return kept.answer_seconds >= NOTABLE * seconds


def _waits_for_nothing_else(case: Situation) -> bool:
    """Whether a person who waits has neither a free setting nor a purchase that helps."""
    return not serves(case.kept, case.pace) and not (
        case.step or case.stopped or case.choice.safe or case.allowed_apis
    )


def _many_at_once(case: Situation, question: Question, conditions: Conditions) -> Situation:
    """Case with several answers at once, here and on options, where one after another is not in
    time.
    """
    from advisor.advice.table.at_once import (
        MANY_AT_ONCE,
        asked_at_once,
        at_once,
        in_smaller_caches,
        side_by_side,
    )

    chosen = conditions.chosen
    least = 0.0
    if case.demand.crowd is Crowd.RATE:
        least = case.demand.wants.user_tps or case.pace
    best = side_by_side(question, chosen, least)
    if best is None:
        work = at_once(question.work, MANY_AT_ONCE)
    else:
        work = at_once(question.work, asked_at_once(best))
    several = replace(question, work=work)
    together = _together(question, best)
    if not _in_time(case, together):
        smaller = _together(question, in_smaller_caches(question, chosen, least))
        together = smaller if _in_time(case, smaller) else together
    rows = permitted(options(several, None, ()), conditions.wants)[1:]
    kept = case.kept
    changed = [replace(together, kept=kept)] if together else []
    others = [replace(each, kept=kept) for each in rows]
    if not any(map(case.demand.met_by, others)):
        others = _more_at_once(case, question, conditions.wants, others)
    if not any(case.demand.met_by(each) and not each.odd for each in others):
        others += permitted((kept, *_shared(case, others)), conditions.wants)[1:]
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
    """Options with the number of simultaneous answers at which each does most of a batch."""
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


def _shared(case: Situation, others: Sequence[Option]) -> Iterator[Option]:
    """Machines of a kind that share work of a known amount, the fewest that do it in time: each
    answers its share alone, so that the load of one is divided by their number.
    """
    for option in others:
        if option.kind is not OptionKind.MACHINE or option.odd or option.cost is None:
            continue
        load = case.demand.load(option)
        least = math.ceil(load / case.demand.most_load)
        if not 1 < least <= MOST_BUILT:
            continue
        several = option.times(least)
        if case.demand.met_by(several):
            yield several


def _with_setting_for_all(case: Situation, question: Question, conditions: Conditions) -> Situation:
    """Case with a free setting that serves every user of a team, where this machine does not
    serve them as it is.
    """
    unmet = case.demand.crowd is Crowd.TEAM and not case.demand.met_by(case.best_kept)
    nothing = case.kept.speed is None or question.ownership.nothing
    one_reply = conditions.placement is None and conditions.session is None
    if not unmet or nothing or not one_reply:
        return case
    from advisor.advice.table.for_all import setting_for_all  # loaded only for such teams

    chosen = conditions.chosen
    runtimes = (chosen,) if chosen else compared(question.machine, question.model)
    edited = setting_for_all(question, runtimes, conditions.settings, case.demand)
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
    """Case with machines that together serve every user, where this one does not."""
    met = case.demand.met_by(case.best_kept) or case.for_all is not None
    if request is None or case.demand.crowd is not Crowd.TEAM or met:
        return case
    from advisor.advice.fleets import (
        SLOTS,
        Offered,
        at_mean_load,
        cheaper_mixture,
        fleets,
        listed,
        present,
        within,
    )

    chosen = question.runtimes[0] if len(question.runtimes) == 1 else None
    here = present(question, request, best, case.demand, case.kept)
    every = listed(question, request, case.demand, here, chosen)
    mixture = cheaper_mixture(every)
    able = fleets(question, request, every, here)
    asks = (question, request, case.options, case.demand, chosen)
    whole = within(*asks, slots=SLOTS)
    if not (whole or able):
        whole = within(*asks, slots=int(question.work.users))
    wants = case.demand.wants
    nearly: tuple[Option, ...] = ()
    if wants.user_tps is None and wants.first_token_within is None:
        nearly = at_mean_load(case.options, case.demand, float(question.work.users))
    return replace(
        case,
        fleets=able,
        offered=Offered(here, every),
        within=whole,
        nearly=nearly,
        mixture_usd=None if mixture is None else mixture.monthly,
    )
