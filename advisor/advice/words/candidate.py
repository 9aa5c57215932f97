"""Sentence on a purchase that a person names in a question."""

from advisor.advice.comparison import Comparison
from advisor.advice.table.candidate import Candidate
from advisor.advice.table.demand import Crowd
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.words.phrases import name_in_place, plain, price_at_once
from advisor.formatting import hours as hours_words
from advisor.formatting import money as money_words
from advisor.units import number

WORTH = "worth it"
NOT_WORTH = "not worth it"
DOES_NOT_RUN = "it does not run the model here."
FEW_MINUTES = 1.0 / 60.0  # waiting of a month that nobody notices [h]


def sentence(candidate: Candidate, advice: Comparison) -> str:
    """Sentence on a candidate: its speed, cost and saving, and whether it is worth buying."""
    option = candidate.best
    if option is None or option.speed is None:
        why = candidate.refusal or DOES_NOT_RUN
        return f"{candidate.name}: {why[0].lower()}{why[1:]}"
    return f"{_gives(option, advice)} {_judged(candidate, option, advice)}"


def _gives(option: Option, advice: Comparison) -> str:
    """Purchase, its speed beside the present one, and its price."""
    now = advice.options[0]
    name = name_in_place(option, " in place of yours")
    speed = f"{number(option.decode)} tokens a second"
    if now.speed is not None:
        speed = f"{number(option.decode)} instead of {number(now.decode)} tokens a second"
    return f"{name}: {speed}, {_price(option)}."


def _price(option: Option) -> str:
    if option.upfront is None:
        return "no price on record"
    return price_at_once(option)


def _judged(candidate: Candidate, option: Option, advice: Comparison) -> str:
    """Whether it is worth its price, and what it saves."""
    if candidate.refusal:
        return f"{NOT_WORTH.capitalize()}: {candidate.refusal}."
    if option.upfront is None:
        return f'Give its price, as --own-price "{option.bought[0].name}=700", to judge it.'
    if advice.case.demand.crowd is not Crowd.PEOPLE:
        return _of_work(option, advice)
    if advice.options[0].speed is None:
        return f"{_without_it(advice)}: {_taken(candidate, option, advice)}."
    saves = _saves(candidate)
    worth = _taken(candidate, option, advice)
    return f"{saves}: {worth}."


def _without_it(advice: Comparison) -> str:
    """What there is without it, where nothing that is owned runs the model."""
    decided = advice.decision.option
    if decided is not None and decided.kind is OptionKind.API:
        return f"An API does it for {money_words(decided.monthly or 0.0)} a month"
    return "What you have does not run it"


def _of_work(option: Option, advice: Comparison) -> str:
    """Whether it does work of a known amount, or serves every user, beside what is owned."""
    demand = advice.case.demand
    if demand.met_by(advice.case.best_kept):
        return f"What you have does the work already: {NOT_WORTH}."
    if demand.met_by(option):
        return f"It does the work, which what you have does not: {WORTH}."
    return f"It {' and '.join(demand.unmet_by(option))}: {NOT_WORTH}."


def _saves(candidate: Candidate) -> str:
    """Waiting that it saves in a month, without thinking where that may be off."""
    option = candidate.silent or candidate.best
    saved = option.hours_saved if option is not None else None
    if saved is None or saved < FEW_MINUTES:
        waiting = "no waiting"
    else:
        waiting = f"{hours_words(saved)} a month"
    if candidate.silent is not None:
        return f"Saves {waiting} without thinking"
    return f"Saves {waiting}"


def _taken(candidate: Candidate, option: Option, advice: Comparison) -> str:
    """Whether people would buy it: with thinking, without, or never; what comes before it."""
    if candidate.worth_without is None or candidate.worth == candidate.worth_without:
        worth = candidate.worth
        words = WORTH if worth else NOT_WORTH
    elif candidate.worth:
        return f"{NOT_WORTH}; with thinking it is"
    else:
        return f"{WORTH}; with thinking it is not enough"
    if not worth and option.pays and advice.case.step is not None:
        return f"{words} after the free change, {plain(advice.case.step.name)}"
    if not worth:
        return f"{words}{_why_not(option)}"
    return f"{words}{_beside_the_decision(option, advice)}"


def _why_not(option: Option) -> str:
    """First thing that is odd about it; empty for none."""
    if not option.odd:
        return ""
    odd = option.odd[0].rstrip(".")
    return f", and odd: {odd[0].lower()}{odd[1:]}"


def _beside_the_decision(option: Option, advice: Comparison) -> str:
    """Words on the decision, where it is not the candidate."""
    decided = advice.decision.option
    if decided is None:
        return " only where nothing free is enough"
    if decided.kind is option.kind and decided.name == option.name:
        return ""
    if decided.kind is OptionKind.CHANGE:
        return ", after the free change"
    usd = money_words(decided.upfront or decided.monthly or 0.0)
    return f"; {plain(decided.name)} for {usd} is the surer choice"
