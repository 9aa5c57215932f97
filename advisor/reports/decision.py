"""Decision page of a report, for a person who signs purchases."""

from collections.abc import Iterator

from advisor import formatting
from advisor.advice.advise import Answer
from advisor.advice.brief import Brief, BriefWay, brief
from advisor.advice.situation import STOPS_THINKING
from advisor.advice.table.choice import is_bought
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.turning import of_an_hour
from advisor.advice.words.phrases import plain
from advisor.advice.words.remarks import WITHOUT_THINKING
from advisor.advice.words.verdict import Advice
from advisor.formatting import model_words, money
from advisor.machine.in_words import parts
from advisor.reports.document import DecisionRow, WayRow
from advisor.units import number

NO_COST = "none"  # cost of what is free
REPLIES = "replies a day"
WORTH = "worth of an hour"
"""Names of inputs of the verdict that somebody chooses."""
DONE = {
    OptionKind.ADD: "Add {}.",
    OptionKind.REPLACE: "Buy {} in place of the present card.",
    OptionKind.MACHINE: "Buy {}.",
    OptionKind.RENT: "Rent {}.",
    OptionKind.API: "Use {}.",
    OptionKind.CHANGE: "Change to {}.",
    OptionKind.KEEP: "Keep {}.",
}
"""What is recommended, by the kind of option."""
NOT_ENOUGH = "If {} is not enough"
WAYS = {"free": "Free", "buy": "Buy", "rent": "Rent", "api": "API"}


def decision(answer: Answer) -> DecisionRow:
    """Decision on an answer: question, recommendation and reasons."""
    advice = answer.advice
    short = brief(answer)
    bought = None if _free(advice, short) else advice.choice.safe
    return DecisionRow(
        question=_question(answer),
        recommendation=_recommended(advice, short),
        cost=money(bought.upfront) if bought is not None and bought.upfront else NO_COST,
        decided_by=_decided_by(answer),
        because=" ".join(_because(answer, short)),
        changes_if=" ".join(_changes(advice, short)),
        risk=" ".join(_risk(advice, short)),
        next_step=_next_step(advice, short),
    )


def ways(answer: Answer) -> tuple[WayRow, ...]:
    """Ways to improve the answer, at most one of each kind."""
    return tuple(
        WayRow(
            kind=WAYS[way.kind],
            name=way.name,
            decode_tps=way.decode,
            upfront_usd=way.upfront,
            monthly_usd=way.monthly,
            note=way.note,
        )
        for way in brief(answer).ways
    )


def _question(answer: Answer) -> str:
    model = model_words(answer.nouns.model.title)
    request = answer.nouns.request
    if request.nothing:
        return f"Which machine should we buy for {model}?"
    if answer.nouns.machine.unified:
        return f"Should we buy a bigger machine for {model}?"
    return f"Should we buy a GPU for {model}?"


def _free(advice: Advice, short: Brief) -> BriefWay | None:
    """Free way that does as well as a purchase and comes before it; None without one."""
    if advice.another_model is None and advice.choice.free is None:
        return None
    return next((way for way in short.ways if way.kind == "free"), None)


def _recommended(advice: Advice, short: Brief) -> str:
    safe = advice.choice.safe
    free = _free(advice, short)
    if free is not None:
        return f"Buy nothing now: first try {free.name}, which is free."
    if safe is None:
        return "Buy nothing now."
    return DONE[safe.kind].format(plain(safe.name))


def _decided_by(answer: Answer) -> str:
    """Input that somebody chose and that matters most: "40 answers a day"."""
    money_inputs = answer.nouns.money
    named = {
        REPLIES: f"{number(money_inputs.replies_per_day)} answers a day",
        WORTH: f"an hour of waiting at {money(money_inputs.usd_per_hour_of_time)}",
    }
    names = [bar.name for bar in answer.advice.what_matters]
    return next((named[name] for name in names if name in named), named[REPLIES])


def _because(answer: Answer, short: Brief) -> Iterator[str]:
    """Sentences of reasons: what the present machine gives, then why the purchase, or why none."""
    advice = answer.advice
    gives = advice.summary.gives
    if answer.nouns.request.nowhere:
        yield gives
    else:
        yield f"{parts(answer.nouns.machine)}: {gives}"
    safe = advice.choice.safe
    if _free(advice, short) is not None:
        yield advice.summary.way
        return
    if safe is None:
        yield plain(advice.choice.reason)
        return
    if safe.speed is not None and short.decode:
        yield f"With it {number(safe.speed.decode)} instead of {number(short.decode)} tokens/s."
    if safe.hours_saved and safe.hours_saved > 0:
        least = advice.beside_free(safe).worth_from
        worth = f", worth it above {of_an_hour(least)} an hour" if least else ""
        yield f"It saves {formatting.hours(safe.hours_saved)} of waiting a month{worth}."


def _changes(advice: Advice, short: Brief) -> Iterator[str]:
    """Changes that would make another decision of it."""
    free = _free(advice, short)
    bought = [] if free is None else [*_bought_where_it_does_not_do(free, advice, short)]
    yield from bought
    if advice.what_changes or not bought:
        yield advice.what_changes or _otherwise(advice)


def _bought_where_it_does_not_do(free: BriefWay, advice: Advice, short: Brief) -> Iterator[str]:
    """Purchase for the case that a free step is not enough: the safe choice, or one among the ways
    out.
    """
    safe = advice.choice.safe
    if safe is not None and plain(safe.name) != free.name:
        speed = f", {number(safe.speed.decode)} tokens/s" if safe.speed is not None else ""
        price = money(safe.upfront or 0.0)
        yield f"{NOT_ENOUGH.format(free.name)}: {plain(safe.name)} for {price}{speed}."
        return
    buy = next((way for way in short.ways if way.kind == "buy"), None)
    if buy is not None and buy.upfront and buy.decode:
        speed = f"{number(buy.decode)} tokens/s"
        yield f"{NOT_ENOUGH.format(free.name)}: {buy.name} for {money(buy.upfront)}, {speed}."


def _otherwise(advice: Advice) -> str:
    """Changes beside money and waiting that would make another decision."""
    decision = advice.decision
    if decision.rests_on_demand:
        return "Other amounts of work, limits or prices would change it."
    if decision.model is not None or (decision.option and decision.option.is_free_setting):
        return "It stands as long as what is free is enough."
    return "Nothing on record would change it."


def _risk(advice: Advice, short: Brief) -> Iterator[str]:
    """Sentences of risks: what a free step loses, range of the speed, age of the price."""
    free = _free(advice, short)
    if free is not None and STOPS_THINKING in free.name:
        yield WITHOUT_THINKING
    if short.low is not None and short.high is not None:
        ends = f"{number(short.low)} to {number(short.high)}"
        yield f"The speed is predicted: {ends} tokens/s, 4 times in 5."
    option = advice.choice.safe
    if option is None or not is_bought(option):
        option = advice.in_question
    if option is not None and option.price.date:
        old = ", older than 90 days: ask again" if option.stale else ""
        yield f"The price of {plain(option.name)} is of {option.price.date}{old}."


def _next_step(advice: Advice, short: Brief) -> str:
    free = next((way for way in short.ways if way.kind == "free"), None)
    safe = advice.choice.safe
    if free is not None and free.decode:
        told = free.note or f"{number(free.decode)} tokens/s"
        if free.command:
            return f"Try {free.name} first, free, {told}: {free.command}"
        return f"Try {free.name} first, free, {told}."
    if safe is not None:
        return f"Ask for today's price of {_goods(safe)}."
    return "None. Look again when the model, the answers a day or the prices change."


def _goods(option: Option) -> str:
    if option.bought:
        return formatting.counted(len(option.bought), option.bought[0].name)
    return plain(option.name)
