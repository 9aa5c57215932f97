"""Table of rules for what is recommended: the first rule that answers decides, for every door.

Sentences, cards, pages, reports, JSON and assistants say what a `Decision` holds; none decides by
itself. Each rule looks at a `Situation`: what is kept, its best free setting, what can be bought,
rented or called, and other models that run here.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from advisor.advice.finder.runnable import Runnable, Standing
from advisor.advice.situation import (
    Situation,
    holds_it,
    idle_usd,
    serves,
    thinking_off,
)
from advisor.advice.table.choice import (
    BOUGHT,
    DOUBLED,
    FASTER,
    FEW_CARDS,
    FEW_HOURS,
    HALF_AN_HOUR_A_DAY,
    LEAVES_A_LOT,
    NOTABLE,
    RENT_FIRST,
    RENT_LESS,
    SHORTER,
    Choice,
    barely,
    hardly_dearer,
    is_bought,
    reads_along,
    reads_drive,
    sensible,
    why,
    why_not,
    worth_buying,
)
from advisor.advice.table.demand import LATE, Crowd
from advisor.advice.table.option import FELT, Option, OptionKind
from advisor.advice.table.rules import many_run, unpowered
from advisor.formatting import money as money_words
from advisor.formatting import percent
from advisor.machine.machine import Gpu
from advisor.request.money import MoneyInputs
from advisor.request.wants import Texts
from advisor.units import number

CHEAPER = 0.75
"""Share of a price from which down an odd purchase is named beside the one that is decided for, and
one that serves a team at its mean load is decided for; assumed."""
USUAL_WORTH = MoneyInputs.usd_per_hour_of_time  # of an hour where nobody states it [USD]
AT_EASE = 2.0  # multiple of reading speed from which a model writes at ease


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Recommendation, with the rule and options that it comes from."""

    rule: str  # name of the rule that decided
    option: Option | None = None  # what to change, buy, rent or call; None to keep what there is
    model: Runnable | None = None  # model to take instead; None for the one asked for
    beside: Option | None = None  # what is named beside it: an API beside a rent
    # what would do as well, since to buy and not to buy are told apart by less than predictions
    # err; None where the decision is clear
    rival: Option | None = None
    # purchase for notably less that does as much, and that an expert finds odd; None without one
    drawback: Option | None = None
    # purchase that is named beside a free decision: within a budget, or for thought; None without
    within: Option | None = None

    @property
    def rests_on_demand(self) -> bool:
        """Whether a deadline or the number of users decides, however little a purchase saves."""
        return self.rule in OF_DEMAND

    @property
    def keeps(self) -> bool:
        """Whether the present machine stays, and nothing is bought, rented or called."""
        return self.option is None or self.option.is_free_setting

    @property
    def close(self) -> bool:
        """Whether a small change of the inputs would recommend another option."""
        return self.rival is not None


class Rule(NamedTuple):
    """Rule: its name, and a function whose decision is None where the rule does not apply."""

    name: str
    decide: Callable[[Situation], Option | Runnable | bool | None]


def _met(case: Situation) -> bool | None:
    """Work of a known amount that this machine does in time: nothing is needed."""
    known = case.demand.counted or case.demand.wants.requests_per_hour is not None
    return (known and case.demand.met_by(case.kept)) or None


def _in_place_of_rent(case: Situation) -> Option | None:
    """An API, where texts may leave and this machine is rented for far more."""
    return next(filter(case.dear_beside, case.allowed_apis[:1]), None)


def _together(case: Situation) -> Option | None:
    """Several answers at the same time, where one by one is too slow."""
    option = case.together
    if not case.demand.counted or option is None or not case.demand.met_by(option):
        return None
    return option


def _thoughtless_in_time(case: Situation) -> Option | None:
    """Thinking off, alone or with several answers at a time, where the work is then done in time
    and nobody states that the model thinks.
    """
    if not case.demand.counted or case.stopped is None:
        return None
    able = [case.kept] if case.together is None else [case.kept, case.together]
    return next(filter(case.demand.met_by, map(thinking_off, able)), None)


def _finishing(case: Situation) -> Option | None:
    """Cheapest option that does the work in time: an API where texts may leave, hardware
    elsewhere.
    """
    if not case.demand.counted:
        return None
    return _cheapest_met(case)


def _cheapest_met(case: Situation) -> Option | None:
    """Cheapest option that meets the demand, of purchases, rents and APIs.

    An API counts where texts may leave. A rent counts where texts may leave, where the machine is
    rented now, or where every purchase is dear.

    What is only just in time is left to what is in time though predictions err.
    """
    able = [
        option
        for option in case.options[1:]
        if option.cost is not None
        and option.dated
        and not option.odd
        and case.demand.met_by(option)
    ]
    sure = [each for each in able if FELT * case.demand.load(each) <= 1.0]
    able = sure or able
    anywhere = case.demand.wants.texts is Texts.ANYWHERE
    bought = [option for option in able if option.kind in BOUGHT]
    rents = [option for option in able if option.kind is OptionKind.RENT]
    apis = [option for option in able if option.kind is OptionKind.API and anywhere]
    if apis:
        most = RENT_LESS * min(map(_usd_a_month, apis))
        rents = [option for option in rents if _usd_a_month(option) <= most]
    affordable = [option for option in bought if (option.upfront or 0.0) <= RENT_FIRST]
    if affordable and not (anywhere or case.rented):
        rents = []
    able = [*bought, *rents, *apis]
    return min(able, key=lambda each: (*_apart(case, each), _usd_a_month(each)), default=None)


def _apart(case: Situation, option: Option) -> tuple[bool, bool]:
    """Sort key: further cards before another machine, and the whole model in the GPUs before a part
    of it.
    """
    into = any(each.kind in (OptionKind.ADD, OptionKind.REPLACE) for each in case.options)
    part = option.kind in BOUGHT and not (option.speed and option.speed.whole)
    return into and option.kind is OptionKind.MACHINE, part


def _usd_a_month(option: Option) -> float:
    """Cost of a month without waiting, with a margin for launch prices [USD]."""
    if option.cost is None:
        return math.inf
    return option.cost.total + float(option.cost.margin(option.price.launch_share))


def _served_by_setting(case: Situation) -> Option | None:
    """Free setting with which this machine answers every user."""
    return case.for_all


def _served(case: Situation) -> Option | None:
    """Cheapest way to serve every user of a team at once, where this machine does not.

    It is one of fleets, of purchases for this machine, and of APIs where texts may leave. Where
    nobody states a speed or wait, a purchase that serves all at the mean load is enough if it costs
    notably less.
    """
    if case.demand.crowd is not Crowd.TEAM or case.demand.met_by(case.best_kept):
        return None
    if case.fleets is None:
        return _cheapest_met(case)
    whole = for_all_at_once(case)
    nearly = _simplest(case.nearly)
    if whole is None or nearly is None:
        return whole or nearly
    if _usd_a_month(nearly) <= CHEAPER * _usd_a_month(whole):
        return nearly
    return whole


def for_all_at_once(case: Situation) -> Option | None:
    """Cheapest way to serve every user of a team even where all ask at the same time; None without
    one.
    """
    return _simplest([*case.allowed_apis[:1], *case.within, *(case.fleets or ())])


def _simplest(able: Sequence[Option]) -> Option | None:
    """Of the cheapest way and of hardly dearer ones that with the fewest machines, then cards."""
    cheapest = min(able, key=_usd_a_month, default=None)
    if cheapest is None:
        return None
    near = [option for option in able if hardly_dearer(option, cheapest)]
    return min(near, key=lambda each: (each.machines, max(len(each.bought), 1), _usd_a_month(each)))


def _kept_for_agents(case: Situation) -> Option | None:
    """Free setting that loses nothing and shortens a task of agents most, what the server keeps
    of their conversations, where the machine then serves, with thinking off where that is a choice.

    A purchase that saves hours beside that setting comes first, and the setting is named with it.
    """
    option = case.agents
    if option is None or option.loss or _saves_beside(case.choice.safe, option):
        return None
    judged = option if case.stopped is None else thinking_off(option)
    if serves(judged, case.pace):
        return option
    return None


def _saves_beside(bought: Option | None, setting: Option) -> bool:
    """Whether a purchase saves each user hours of waiting in a month beside a free setting."""
    if bought is None or not is_bought(bought):
        return False
    now = setting.hours_lost or 0.0
    then = bought.hours_lost or 0.0
    hours = (now - then) / float(setting.use.work.users)
    return hours >= FEW_HOURS and SHORTER * then <= now


UNDONE = 1.25
"""Gain from which a stated setting is to be left to the engine before anything is bought or all is
kept; smaller ones are within what predictions err."""


def _undone(case: Situation) -> Option | None:
    """Fastest of the stated settings left to the engine, where the text stays the same; one
    that is notably faster needs no wait to be worth it.
    """
    now = case.kept.speed
    able = [option for option in case.options[1:] if option.undoes and option.speed is not None]
    best = max(able, key=lambda option: option.decode, default=None)
    if now is None or best is None or best.decode < UNDONE * now.decode:
        return None
    return best


def _thoughtless(case: Situation) -> Option | None:
    """Thinking off, where the wait is for the thinking."""
    option = case.stopped
    if option is None or case.best_kept.thinking_seconds < LATE or _thinks_sooner(case):
        return None
    if serves(option, case.pace):
        return option
    return None


def _thinks_sooner(case: Situation) -> bool:
    """Whether a free setting notably shortens an answer whose thinking somebody states, so that it
    is hardly waited for.
    """
    step = case.step
    if step is None or not case.demand.wants.states_thinking:
        return False
    shorter = NOTABLE * step.answer_seconds <= case.kept.answer_seconds
    soon = step.thinking_seconds < FELT * LATE
    return shorter and soon and reads_along(step, case.pace)


def _hours_saved(case: Situation) -> Option | None:
    """Purchase that saves hours of waiting in a month, compared with every free setting.

    It must save half an hour a day where no wait is felt now and no budget is stated; the turns of
    an agent are waited for however fast it writes. For a model that memory does not hold, it is the
    RAM that holds it, or, with a stated budget, a cheaper purchase that does.
    """
    waits = case.kept.use.unread or not serves(case.best_kept, case.pace)
    least = FEW_HOURS if waits or case.demand.wants.max_usd else _notable_hours(case)
    safe = case.choice.safe
    if safe is not None and case.holds_nothing:
        holds = _ram_that_holds(case)
        budget = case.demand.wants.max_usd is not None
        if budget and (holds is None or holds.paid_first > safe.paid_first):
            holds = safe
        if holds is not None:
            return _or_api(case, holds)
    if case.choice.saves < least or _as_good_model(case, least):
        return _api_that_saves(case)
    return _or_api(case, case.choice.safe)


def _notable_hours(case: Situation) -> float:
    """Hours of a month that a purchase must save where no wait is felt now: half an hour a day, or
    fewer where an hour is worth more than usual [h].
    """
    worth = max(case.kept.worth, USUAL_WORTH)
    return max(HALF_AN_HOUR_A_DAY * USUAL_WORTH / worth, FEW_HOURS)


def _api_that_saves(case: Situation) -> Option | None:
    """API that saves a person hours of waiting in a month, where texts may leave: it costs nothing
    at once; None without one, or where another model here leaves hardly any waiting.
    """
    if case.demand.crowd is not Crowd.PEOPLE or case.rented:
        return None
    if case.another is not None and _waits(case, case.another) < FEW_HOURS:
        return None
    rows = case.judged or case.options
    now = case.step or rows[0]
    lost = now.hours_lost
    if lost is None or now.with_waiting is None:
        return None
    users = float(now.use.work.users)
    able = []
    for option, row in zip(case.options, rows, strict=True):
        then = row.hours_lost
        if option not in case.allowed_apis or then is None:
            continue
        saves = lost - then >= FEW_HOURS * users and SHORTER * then <= lost
        if saves and _with_waiting(row) < now.with_waiting:
            able.append(option)
    return min(able, key=_with_waiting, default=None)


def _ram_that_holds(case: Situation) -> Option | None:
    """Cheapest further RAM that holds a model which is read from the drive now, and lets it write
    at reading speed; None without one.
    """
    able = [
        option
        for option in case.options[1:]
        if option.kind is OptionKind.CHANGE
        and not option.is_free_setting
        and option.priced
        and option.pays
        and reads_along(option, case.pace)
    ]
    return min(able, key=lambda option: option.paid_first, default=None)


def _or_api(case: Situation, bought: Option | None) -> Option | None:
    """Purchase; where texts may leave, an API that costs less with the waiting that it leaves."""
    if bought is None:
        return None
    most = _with_waiting(bought)
    cheaper = [api for api in case.allowed_apis if _with_waiting(api) < most]
    return min(cheaper, key=_with_waiting, default=bought)


def _with_waiting(option: Option) -> float:
    """Cost of a month, waiting included; infinite where the waiting is not known [USD]."""
    if option.with_waiting is None:
        return math.inf
    return option.with_waiting


def _as_good_model(case: Situation, hours: float) -> bool:
    """Whether an equally rated model is free here and leaves little waiting to save, at most some
    `hours` a month.

    One that writes faster than one reads always counts, where somebody reads; one that writes at
    ease may leave half an hour a day.

    Who states a budget asks what it buys: another model is named beside it.
    """
    row = case.another
    if row is None or case.demand.wants.max_usd or _weaker(case):
        return False
    both = row.standing_beside(case.model) is Standing.BOTH
    if row.speed.decode >= FASTER * case.pace and not case.kept.use.unread:
        return True
    at_ease = row.speed.decode >= AT_EASE * case.pace
    most = max(hours, HALF_AN_HOUR_A_DAY) if at_ease else hours
    return (both or at_ease) and _waits(case, row) < most


def _waits(case: Situation, row: Runnable) -> float:
    """Waiting of a month for another model here, for each user [h]."""
    use = (case.judged or case.options)[0].use
    return float(use.hours_lost(row.speed)) / float(use.work.users)


def _free(case: Situation) -> Option | None:
    """Free setting that serves, or that is much faster where one does not wait."""
    step = case.step
    if step is None or not reads_along(step, case.pace) or not case.demand.met_by(step):
        return None
    budget = case.demand.wants.max_usd is not None
    safe = case.choice.safe
    if budget and barely(step, case.pace) and safe is not None and is_bought(safe):
        return None
    return step


def _reaching(case: Situation) -> Option | None:
    """Purchase with the speed that one person asks for, whatever the waiting is worth.

    It is the best one by price and waiting; one that is dear needs a stated budget. None where a
    free setting is as fast, or where another model is free and nobody states a budget.
    """
    wanted = case.demand.wants.user_tps
    budget = case.demand.wants.max_usd
    if wanted is None or case.demand.crowd is not Crowd.PEOPLE:
        return None
    if case.best_kept.decode >= wanted or (budget is None and case.another is not None):
        return None
    able = [
        option
        for option in case.options[1:]
        if is_bought(option)
        and option.dated
        and not option.odd
        and option.keeps_up
        and option.decode >= wanted
        and (budget is not None or option.paid_first <= RENT_FIRST)
    ]
    sure = [option for option in able if option.decode >= FELT * wanted]
    return _or_api(case, sensible(sure or able))


def _called(case: Situation) -> Option | None:
    """An API, where texts may leave and this machine does not serve."""
    if serves(case.best_kept, case.pace) and case.demand.met_by(case.best_kept):
        return None
    return next(iter(case.allowed_apis), None)


def _model(case: Situation) -> Runnable | None:
    """Another model that is rated as high and faster here, where this one is too slow.

    One that is weaker in tests counts only where no purchase pays; so does any where a budget is
    stated.
    """
    row = case.another
    if row is None or serves(case.kept, case.pace) or row.speed.first_token >= LATE:
        return None
    bought = case.choice.safe is not None
    if bought and (case.demand.wants.max_usd or _weaker(case)):
        return None
    return row


def _weaker(case: Situation) -> bool:
    """Whether the other model is weaker in tests than the one asked for."""
    if case.another is None:
        return False
    return case.another.standing_beside(case.model) is Standing.WEAKER


def _bought(case: Situation) -> Option | None:
    """Safe purchase, unless a model as good that is free writes faster than one reads."""
    if _as_good_model(case, FEW_HOURS):
        return None
    return _or_api(case, case.choice.safe)


def _any_step(case: Situation) -> Option | None:
    """Free setting that is faster, though it does not serve.

    Who states a budget gets what it buys, where that pays.
    """
    safe = case.choice.safe
    if case.demand.wants.max_usd is not None and safe is not None and is_bought(safe):
        return None
    return case.step or case.choice.free


IN_TIME = "in time"
SWITCH_OFF = "switch off"
"""Rules by which everything stays, whatever could be bought."""
UNDONE_SETTING = "setting undone"
"""Rule by which a stated setting is left to the engine."""
ASKED_SPEED = "asked speed"
"""Rule by which a purchase has the speed that one person asks for."""
RULES = (
    Rule("refused", lambda case: bool(case.instead) or None),
    Rule("in place of rent", _in_place_of_rent),
    Rule(IN_TIME, _met),
    Rule("side by side", _together),
    Rule("in time without thought", _thoughtless_in_time),
    Rule("finishes", _finishing),
    Rule("served by a setting", _served_by_setting),
    Rule("serves all", _served),
    Rule(UNDONE_SETTING, _undone),
    Rule("cache of agents", _kept_for_agents),
    Rule("hours saved", _hours_saved),
    Rule("stop thinking", _thoughtless),
    Rule("free setting", _free),
    Rule(ASKED_SPEED, _reaching),
    Rule("API", _called),
    Rule("another model", _model),
    Rule("nearest model", lambda case: case.closest),
    Rule("slower setting", _any_step),
    Rule("purchase", _bought),
    Rule("task", lambda case: case.agents),
    Rule("sale", lambda case: case.sale),
    Rule(SWITCH_OFF, lambda case: idle_usd(case.kept) > 0 or None),
)
"""Rules in their order; where none applies, everything stays."""
KEEP = "keep"
OF_DEMAND = (
    IN_TIME,
    "side by side",
    "in time without thought",
    "finishes",
    "served by a setting",
    "serves all",
    ASKED_SPEED,
)
"""Rules that decide by the work that is asked for, whatever a purchase would pay."""


def decision_of(case: Situation) -> Decision:
    """Decision of the rules, with the options that are named beside it."""
    decision = decide(case)
    decision = replace(decision, rival=rival_of(case, decision), within=within_of(case, decision))
    return replace(decision, drawback=cheaper_of(case, decision))


def decide(case: Situation, rules: Iterable[Rule] = RULES) -> Decision:
    """Decision of the first rule that applies."""
    for rule in rules:
        taken = rule.decide(case)
        if isinstance(taken, Option):
            return Decision(rule=rule.name, option=taken, beside=_api_beside_rent(case, taken))
        if isinstance(taken, Runnable):
            return Decision(rule=rule.name, model=taken)
        if taken:
            return Decision(rule=rule.name, beside=_api_beside_rent(case, None))
    return Decision(rule=KEEP, beside=_api_beside_rent(case, None))


OF_PURCHASES = (UNDONE_SETTING, "hours saved", "free setting", "slower setting", "purchase", KEEP)
"""Rules that decide whether something is bought."""


def rival_of(case: Situation, decision: Decision) -> Option | None:
    """Option that a small change of the inputs would recommend: a purchase, an API, or what is
    kept.

    The change is the speed of the present machine, within the error of predictions, or its use.
    None where the decision stays.
    """
    if decision.rule not in OF_PURCHASES or not case.judged or case.kept.speed is None:
        return None
    decided = decision.option
    if decided is not None and decided.kind is OptionKind.API:
        return _as_cheap(decided, filter(is_bought, filter(None, [case.choice.safe])))
    bought = decided is not None and is_bought(decided)
    factor = FELT if bought else 1.0 / FELT
    kept = _scaled(case.judged[0], factor)
    step = None if case.step is None else _scaled(case.step, factor)
    rows = [
        replace(judged, kept=kept)
        for option, judged in zip(case.options[1:], case.judged[1:], strict=False)
        if (option is decided if bought else is_bought(judged) and not judged.odd)
    ]
    replies = kept.use.money.replies_per_day / factor
    budget = case.demand.wants.max_usd is not None
    able = worth_buying([kept, *rows], case.pace, replies, step, budget=budget)
    if decided is not None and bought:
        if able:
            return _as_cheap(decided, case.allowed_apis)
        return case.kept
    best = sensible(able)
    if best is None:
        return None
    same = (each for each in case.options if (each.kind, each.name) == (best.kind, best.name))
    return next(same, best)


def _as_cheap(decided: Option, others: Iterable[Option]) -> Option | None:
    """Cheapest of some options that cost hardly more than the one that is decided for, waiting
    included; None without one.
    """
    most = FELT * _with_waiting(decided)
    return min(
        (each for each in others if _with_waiting(each) <= most), key=_with_waiting, default=None
    )


def within_of(case: Situation, decision: Decision) -> Option | None:
    """Purchase that is named beside a free decision; None without one.

    It is the one that is worth its price, also if the model thinks as it does by default. With a
    stated budget, where the free way may be slower than one reads, it is the best one that writes
    twice as fast or holds the requested format.
    """
    decided = decision.option
    free = decided is not None and decided.is_free_setting
    if case.demand.crowd is not Crowd.PEOPLE or not (free or decision.model is not None):
        return None
    worth = case.choice.safe or case.for_thought
    if worth is not None and worth.is_free_setting:
        worth = None
    budget = case.demand.wants.max_usd
    if worth is not None or budget is None:
        return worth
    now = case.best_kept if decided is None or _gives_up_thought(case, decided) else decided
    outside = reads_drive(case.kept)  # in the format that is asked for
    if now.speed is not None and now.speed.low >= case.pace and not outside:
        return None
    from advisor.advice.table.buys import buys  # loaded only for a budget

    least = case.pace
    if not outside:
        least = max(least, DOUBLED * now.decode)
    best = buys(case.options, least, budget, None, None if outside else case.step).best
    if best is None or not best.pays:
        return None
    cheaper = outside or _with_waiting(best) < _with_waiting(now)
    if cheaper:
        return best
    return None


def _gives_up_thought(case: Situation, decided: Option) -> bool:
    """Whether what is decided for has no thinking, though somebody states that it thinks."""
    return decided is case.stopped and case.demand.wants.states_thinking


def cheaper_of(case: Situation, decision: Decision) -> Option | None:
    """Purchase at a notably lower price that does the same work, though an expert finds it odd;
    None without one.

    Where nothing is bought for a stated budget, it is the best odd purchase within the budget.
    """
    odd = [
        option
        for option in case.options[1:]
        if option.kind in BOUGHT
        and option.odd
        and option.priced
        and (option.upfront or 0.0) > 0
        and len(option.bought) <= FEW_CARDS
        and not unpowered(option.odd)
        and many_run(option.bought, _present_cards(case))
    ]
    decided = decision.option
    if decided is not None and is_bought(decided):
        most = CHEAPER * (decided.upfront or 0.0)
        able = [each for each in odd if (each.upfront or 0.0) <= most]
        able = [each for each in able if _does_as_much(case, each, decided)]
        return min(able, key=lambda each: (len(each.odd), each.upfront or 0.0), default=None)
    budget = case.demand.wants.max_usd
    if not budget or case.choice.safe in case.options or case.demand.crowd is not Crowd.PEOPLE:
        return None
    if decision.within is not None or serves(case.best_kept, case.pace):
        return None
    least = max(case.pace, NOTABLE * case.best_kept.decode)
    if any(
        option.kind in BOUGHT and not option.odd and option.decode >= least
        for option in case.options
    ):
        return None
    able = [each for each in odd if each.pays and each.decode >= least]
    return min(able, key=_with_waiting, default=None)


def _present_cards(case: Situation) -> tuple[Gpu, ...]:
    """Cards of the present machine; none where nothing is owned, or its GPU is part of a chip."""
    machine = case.kept.machine
    if machine is None:
        return ()
    return machine.discrete


def _does_as_much(case: Situation, option: Option, decided: Option) -> bool:
    """Whether a purchase does the requested work, or is much cheaper and leaves no more waiting."""
    if case.demand.crowd is not Crowd.PEOPLE:
        return case.demand.as_wished.met_by(option)
    if option.decode < min(decided.decode, case.demand.wants.user_tps or 0.0):
        return False  # below a speed that is asked for
    leaves = (decided.upfront or 0.0) - (option.upfront or 0.0)
    if leaves < LEAVES_A_LOT and option.decode < DOUBLED * decided.decode:
        return False
    return option.keeps_up and _with_waiting(option) <= _with_waiting(decided)


def _scaled(option: Option, factor: float) -> Option:
    """Option at another speed."""
    speed = option.speed
    if speed is None:
        return option
    first = speed.first_token / factor
    return replace(option, speed=replace(speed, decode=factor * speed.decode, first_token=first))


def _api_beside_rent(case: Situation, option: Option | None) -> Option | None:
    """An API that is named beside a rent, kept or chosen; None where texts must stay."""
    rent = case.rented if option is None else option.kind is OptionKind.RENT
    if not rent or case.demand.wants.texts is Texts.HOUSE or not case.apis:
        return None
    return case.apis[0]


def decided_choice(case: Situation, decision: Decision) -> Choice:
    """Choice among the options that agrees with the decision."""
    choice = case.choice
    if decision.option is not None:
        return replace(choice, safe=decision.option, reason=_reason(case, decision))
    if decision.rule == IN_TIME:
        return replace(choice, safe=None, reason="What you have does the work in time.")
    if case.demand.counted and decision.rule == KEEP:
        return replace(choice, safe=None, reason=_not_enough(case))
    if choice.safe is not None and decision.model is not None:
        return replace(choice, safe=None, reason="Before anything is bought, a free model.")
    if choice.safe is not None and is_bought(choice.safe) and decision.rule in (SWITCH_OFF, KEEP):
        return replace(choice, safe=None, reason=why_not(case.kept, case.pace))
    if choice.safe is None and _beyond_the_budget(case):
        return replace(choice, reason=_too_dear(case))
    return choice


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
    """Sentence on the kind of a fleet's machines, and on the cost of a mixture of kinds."""
    assumed = "Machines of one kind in one engine share the users evenly"
    if case.mixture_usd is None:
        return f"{assumed}: no mixture of kinds is notably cheaper."
    return f"{assumed}: a mixture of kinds would cost {money_words(case.mixture_usd)} a month."


def _not_enough(case: Situation) -> str:
    """Sentence on the option that comes nearest, where none does the work in time."""
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


def _too_dear(case: Situation) -> str:
    """Why nothing is bought within a budget, and the least that would have to be paid."""
    option = case.beyond
    budget = money_words(case.demand.wants.max_usd or 0.0)
    if option is None:
        return "Nothing within your budget makes it faster."
    least = f"{option.name}, for {money_words(option.full_price)}"
    return f"Nothing within {budget} holds it: the least that does is {least}."


def _beyond_the_budget(case: Situation) -> bool:
    """Whether somebody who waits states a budget, and nothing is bought for it."""
    bought = any(map(holds_it, case.options))
    stated = case.demand.wants.max_usd is not None
    return stated and not bought and not serves(case.kept, case.pace)
