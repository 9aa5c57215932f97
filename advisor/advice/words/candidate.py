"""Sentence on a purchase that a person names in a question."""

from advisor.advice.comparison import Comparison
from advisor.advice.situation import serves
from advisor.advice.table.candidate import Candidate
from advisor.advice.table.choice import FASTER, is_bought, reads_drive
from advisor.advice.table.demand import Crowd
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.words.phrases import briefly, name_in_place, plain, price_at_once
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
        people = advice.case.demand.crowd is Crowd.PEOPLE and candidate.saves is not None
        saves = f"{_saves(candidate, advice)}. " if people else ""
        return f"{saves}{NOT_WORTH.capitalize()}: {candidate.refusal}."
    if option.upfront is None and _is_enough(advice):
        return f"{NOT_WORTH.capitalize()} whatever it costs: what you have is enough."
    if option.upfront is None:
        return f'Give its price, as --own-price "{option.bought[0].name}=700", to judge it.'
    if advice.case.demand.crowd is not Crowd.PEOPLE:
        return _of_work(option, advice)
    if advice.options[0].speed is None:
        return f"{_without_it(advice)}: {_worth_words(candidate, option, advice)}."
    saves = _saves(candidate, advice)
    worth = _worth_words(candidate, option, advice)
    return f"{saves}: {worth}."


def _is_enough(advice: Comparison) -> bool:
    """Whether what is kept serves all who ask, faster than one reads and without a felt wait."""
    case = advice.case
    kept = case.kept
    fast = kept.decode >= FASTER * case.pace and serves(kept, case.pace)
    return fast and case.demand.met_by(kept) and advice.decision.keeps


def _without_it(advice: Comparison) -> str:
    """Sentence on the way that remains without a purchase, where nothing that is owned runs the
    model.
    """
    decided = advice.decision.option
    if decided is not None and decided.kind is OptionKind.API:
        return f"An API does it for {money_words(decided.monthly or 0.0)} a month"
    return "What you have does not run it"


def _of_work(option: Option, advice: Comparison) -> str:
    """Whether it does work of a known amount, or serves every user, beside what is owned."""
    demand = advice.case.demand
    decided = advice.decision.option
    if demand.met_by(advice.options[0]):
        return f"What you have does the work already: {NOT_WORTH}."
    if decided is not None and decided.is_free_setting and demand.met_by(decided):
        return f"With {plain(decided.name)}, free, what you have does the work: {NOT_WORTH}."
    if demand.met_by(option):
        return f"It does the work, which what you have does not: {WORTH}."
    return f"It {' and '.join(demand.unmet_by(option))}: {NOT_WORTH}."


def _saves(candidate: Candidate, advice: Comparison) -> str:
    """Waiting that it saves in a month beside the best free setting, without thinking where that
    may be off.
    """
    saved = candidate.saves
    if saved is None or saved < FEW_MINUTES:
        waiting = "Saves no waiting"
    else:
        waiting = f"Saves {hours_words(saved)} a month"
    if advice.case.step is not None:
        waiting = f"{waiting} beside {briefly(advice.case.step.name)}"
    if candidate.silent is not None:
        return f"{waiting} without thinking"
    return waiting


def _worth_words(candidate: Candidate, option: Option, advice: Comparison) -> str:
    """Words on whether people would buy it: with thinking, without thinking, or not."""
    if _is_same(option, advice.decision.option):
        return WORTH
    if candidate.worth_without is False and candidate.worth:
        return f"{NOT_WORTH}; with thinking it is"
    if not candidate.worth and not candidate.worth_without:
        if option.pays and advice.case.step is not None:
            return f"{NOT_WORTH} after the free change, {plain(advice.case.step.name)}"
        return f"{NOT_WORTH}{_why_not(option)}"
    return _beside_the_decision(option, advice)


def _is_same(option: Option, other: Option | None) -> bool:
    """Whether two options buy the same."""
    if other is None or option.kind is not other.kind:
        return False
    ram = option.kind is OptionKind.CHANGE and is_bought(option)
    return option.name == other.name or (ram and option.price.note == other.price.note)


def _why_not(option: Option) -> str:
    """That it reads the drive, or the first thing that is odd about it; empty for none."""
    if reads_drive(option):
        return ": a part of the model is still read from the drive"
    if not option.odd:
        return ""
    odd = option.odd[0].rstrip(".")
    return f", and odd: {odd[0].lower()}{odd[1:]}"


def _beside_the_decision(option: Option, advice: Comparison) -> str:
    """Words on a purchase that would be worth it, beside what is decided for."""
    decision = advice.decision
    decided = decision.option
    if _is_same(option, decision.within):
        return f"{WORTH} where what is free is not enough"
    if decision.model is not None:
        name = decision.model.model.name.rpartition("/")[2]
        return f"{NOT_WORTH} beside {name}, which is free"
    if decided is None:
        return f"{NOT_WORTH}: what you have is enough"
    if decided.is_free_setting:
        return f"{NOT_WORTH} after the free change, {plain(decided.name)}"
    if not is_bought(decided):
        usd = money_words(decided.upfront or decided.monthly or 0.0)
        return f"{NOT_WORTH} beside {plain(decided.name)} for {usd} a month"
    speed = f"{number(decided.decode)} tokens a second for {money_words(decided.full_price)}"
    return f"better than now, but {name_in_place(decided)} is the better buy, {speed}"
