"""Verdict in words: present speed, best option, when it pays, and alternatives."""

import math
from collections.abc import Iterable, Sequence

from advisor.advice.compare import decode_tps, usable
from advisor.advice.offers import MoneyInputs
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.sureness import chance_it_pays
from advisor.advice.options.table import choice, rank
from advisor.advice.options.turning import nearest, rounded
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import hours, money_per_hour, tokens_per_second
from advisor.formatting import memory as memory_words
from advisor.formatting import money as money_words
from advisor.runtimes import Runtime

NOTABLY = 1.1
"""Another runtime must be this many times faster than the one chosen to be named."""
DONE = {
    OptionKind.CHANGE: "changed",
    OptionKind.ADD: "added",
    OptionKind.REPLACE: "in its place",
    OptionKind.MACHINE: "as another machine",
    OptionKind.RENT: "rented",
    OptionKind.API: "called",
}
"""What is done with an option, behind its name."""


def verdict(
    best: Estimate | None,
    estimates: Iterable[Estimate],
    options: Sequence[Option],
    money: MoneyInputs,
    chosen: Runtime | None = None,
) -> str:
    """Present speed, the option that saves most, when it pays, and the best of other kinds.

    Args:
        best: best placement now; None where nothing runs.
        estimates: all of them.
        options: options, the present machine first.
        money: use and prices.
        chosen: runtime of the answer; None for any.
    """
    estimates = tuple(estimates)
    faster = _faster(best, estimates) if chosen else ""
    option = choice(options)
    others = _others(options, option)
    if best is None:
        gives = f"{_gives(option)}." if option else ""
        return _joined(_nothing(estimates, chosen), gives, others, faster)
    then = (f"{_gives(option)}.", _when(option, options[0], money)) if option else ()
    if best.strategy is PlacementStrategy.GPU_RESIDENT:
        now = f"{best.runtime} gives {tokens_per_second(decode_tps(best))}{_for(options[0])}"
        rest = (*then, others) if option else (_nothing_pays(options, money), others)
        start = f"It fits in the GPU: {now}. Nothing needs to be offloaded."
        return _joined(start, *rest, faster)
    start = f"{_how(best, chosen)} gives {tokens_per_second(decode_tps(best))}{_for(options[0])}."
    rest = (*then, others) if option else (_nothing_pays(options, money), others)
    return _joined(start, *rest, faster)


def _nothing_pays(options: Sequence[Option], money: MoneyInputs) -> str:
    """Advice to keep the machine, and what would have to change for an option to pay."""
    if not any(option.pays is False for option in options[1:]):
        return ""
    option = nearest(options)
    more = ""
    if option is not None and option.break_even_tokens is not None:
        replies = option.break_even_tokens / option.tokens * money.replies_per_day
        more = f" {option.name}, {DONE[option.kind]}, would from {rounded(replies)} replies a day."
    return f"Keep it: nothing that has a price here pays.{more}"


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _for(kept: Option) -> str:
    """Cost of keeping the machine."""
    monthly = kept.monthly
    return f" for {money_words(monthly)} a month" if monthly else ""


def _nothing(estimates: Iterable[Estimate], chosen: Runtime | None) -> str:
    """Reason why nothing runs."""
    own = [estimate for estimate in estimates if chosen in (None, estimate.how)]
    short = min(
        (float(estimate.missing) for estimate in own if not estimate.refusal), default=math.nan
    )
    if chosen is None or math.isfinite(short):
        who = chosen.name if chosen else "Nothing"
        does = "does not run it here" if chosen else "here runs it"
        return f"{who} {does}: {memory_words(short)} of memory are short."
    refusal = next((estimate.refusal for estimate in own), "")
    return f"{chosen.name} does not run it here. {refusal}".strip()


def _how(best: Estimate, chosen: Runtime | None) -> str:
    on_cpu = best.machine is not None and not best.machine.gpus
    how = {
        PlacementStrategy.CPU_OFFLOAD: "The processor alone" if on_cpu else "Offloading to RAM",
        PlacementStrategy.NVME_OFFLOAD: "Reading from the drive",
    }[best.strategy]
    return f"With {chosen.name}, {how[0].lower()}{how[1:]}" if chosen else how


def _faster(best: Estimate | None, estimates: Iterable[Estimate]) -> str:
    """Speed of another runtime, if notably higher; else empty."""
    first = next(iter(usable(estimates)), None)
    now = decode_tps(best) if best else 0.0
    if first is None or decode_tps(first) < NOTABLY * now:
        return ""
    return f"{first.runtime} would give {tokens_per_second(decode_tps(first))} here."


def _gives(option: Option | None) -> str:
    """Name, speed, costs and age of the price."""
    if option is None:
        return ""
    speed = f"about {tokens_per_second(option.speed.decode)}" if option.speed else "an answer"
    return f"{option.name}, {DONE[option.kind]}, gives {speed} for {_costs(option)}"


def _costs(option: Option) -> str:
    monthly = f"{money_words(option.monthly or 0.0)} a month"
    once = f", {money_words(option.upfront)} at once" if option.upfront else ""
    return f"{monthly}{once}{aged(option)}"


def aged(option: Option) -> str:
    """Remark on an old or launch price; empty for others."""
    if option.price.listed:
        return f" (launch price of {option.price.date})"
    if not option.stale:
        return ""
    return f" (oldest price of {option.price.date})" if option.price.date else " (no date)"


def _when(option: Option | None, kept: Option, money: MoneyInputs) -> str:
    """Value of an hour and number of replies from which it pays."""
    if option is None:
        return ""
    use = f"At {money.replies_per_day:,.0f} replies a day"
    if not kept.keeps_up:
        return f"{use} this machine cannot keep up, even if it answered day and night."
    saved, worth = option.hours_saved, option.worth_from
    if saved is None or worth is None:
        return ""
    less = (kept.monthly or 0.0) - (option.monthly or 0.0)
    if saved <= 0 or (saved < SHORT and less > 0):
        longer = f", for {hours(-saved)} more of waiting" if saved < -SHORT else ""
        return f"{use} that costs {money_words(less)} a month less{longer}."
    above = money_per_hour(worth).removesuffix(" an hour")
    pays = f"it pays if your hour is worth over {above}" if worth > 0 else "it pays"
    return f"{use} that saves {hours(saved)} a month: {pays}{_unless(option, kept, money)}."


def _unless(option: Option, kept: Option, money: MoneyInputs) -> str:
    """Number of replies below which the verdict changes, and its probability."""
    tokens = option.break_even_tokens or 0.0
    replies = tokens / option.tokens * money.replies_per_day if option.tokens else 0.0
    few = f", unless you send fewer than {math.ceil(replies)} a day" if replies > 1 else ""
    sure = chance_it_pays(option, kept, money)
    return f"{few} ({100 * sure:.0f} % sure)" if sure < CERTAIN else few


SHORT = 0.05
"""Waiting that is not worth a word [h/month]."""
CERTAIN = 0.95
"""A verdict that holds in so many draws is not qualified."""


def _others(options: Sequence[Option], option: Option | None) -> str:
    """Best options of other kinds that pay, and an API without a published speed."""
    sentences = []
    for kind in (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE, OptionKind.RENT):
        if option is None or kind is option.kind:
            continue
        able = [other for other in options if other.kind is kind and other.may_win and other.pays]
        if able:
            best = min(able, key=rank)
            sentences.append(f"{best.name}, {DONE[kind]}, for {_costs(best)}")
    calls = [other for other in options if other.kind is OptionKind.API and other.dated]
    if calls and (option is None or option.kind is not OptionKind.API):
        api = min(calls, key=lambda call: call.monthly or 0.0)
        silent = "" if api.speed else "; its speed is not published"
        sentences.append(f"the API of {api.name.split(':')[0]} for {_costs(api)}{silent}")
    return f"Else: {'; '.join(sentences)}." if sentences else ""
