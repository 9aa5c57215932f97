"""Verdict in words: present speed, best option, when it pays, and alternatives."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from advisor.advice.compare import decode_tps, usable
from advisor.advice.speeds import Speed
from advisor.advice.table.option import WORTH_A_WORD, Option, OptionKind, best_of_kinds, choice
from advisor.advice.table.options import NOTHING_OWNED
from advisor.advice.table.sensitivity import (
    chance_ahead,
    chance_it_pays,
    least_speed,
    nearest,
    rounded,
)
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import hours, money_per_hour, range_of, seconds, tokens_per_second
from advisor.formatting import memory as memory_words
from advisor.formatting import money as money_words
from advisor.request.money import MoneyInputs
from advisor.runtimes import Runtime

NOTABLY = 1.1
"""Smallest factor by which another runtime must be faster than the chosen one to be named."""
DONE = {
    OptionKind.CHANGE: "changed",
    OptionKind.ADD: "added",
    OptionKind.REPLACE: "in its place",
    OptionKind.MACHINE: "as another machine",
    OptionKind.RENT: "rented",
    OptionKind.API: "called",
}
"""Words for an option's kind, after its name."""


@dataclass(frozen=True, kw_only=True)
class VerdictText:
    """A verdict in words, what matters most first.

    Attributes:
        answer: one sentence: the present speed and cost, and the option that saves most.
        reason: when that option pays; else what would have to change for one to pay.
        others: the best options of other kinds, and a faster runtime than the chosen one.
    """

    answer: str
    reason: str = ""
    others: str = ""

    def __str__(self) -> str:
        return _joined(self.answer, self.reason, self.others)


def verdict(
    best: Estimate | None,
    estimates: Iterable[Estimate],
    options: Sequence[Option],
    money: MoneyInputs,
    chosen: Runtime | None = None,
    *,
    kept_apart: bool = False,
) -> VerdictText:
    """Present speed, the option that saves most, when it pays, and the best of other kinds.

    Args:
        best: best placement now; None where nothing runs.
        estimates: all of them.
        options: options, the present machine first.
        money: use and prices.
        chosen: runtime of the answer; None for any.
        kept_apart: whether the estimates are of another machine than the kept one.
    """
    estimates = tuple(estimates)
    option, kept = choice(options), options[0]
    faster = _faster(best, estimates) if chosen else ""
    others = _joined(_others(options, option, money), faster)
    api = _api(options, option, money)
    gives = _gives(option) if option else ""
    if kept_apart:
        now, runs = _kept(kept), kept.speed is not None
        if kept.name != NOTHING_OWNED:
            others = _joined(f"The machine described: {_now(best, estimates, chosen)}.", others)
    else:
        now, runs = _now(best, estimates, chosen), best is not None
    if not runs:
        answer = f"{now}; {gives}." if gives else f"{now}."
        return VerdictText(answer=answer, reason=api, others=others)
    now += "" if kept_apart else _for(kept)
    if option is None:
        keep, reason = _nothing_pays(options, money)
        return VerdictText(answer=f"{now}{keep}.", reason=_joined(reason, api), others=others)
    reason = _joined(_when(option, kept, money), api)
    return VerdictText(answer=f"{now}; {gives}.", reason=reason, others=others)


def _now(best: Estimate | None, estimates: Iterable[Estimate], chosen: Runtime | None) -> str:
    """Present speed, or the reason why nothing runs."""
    if best is None:
        return _nothing(estimates, chosen).removesuffix(".")
    speed = f"{tokens_per_second(decode_tps(best))}{_in_turns(best)}"
    if best.strategy is PlacementStrategy.GPU_RESIDENT:
        return f"It fits in the GPU: {best.runtime} gives {speed}"
    return f"{_how(best, chosen)} gives {speed}"


def _in_turns(best: Estimate) -> str:
    """Remark on users who wait for the others' replies; empty where all run together."""
    waiting, running = float(best.waiting), float(best.work.users)
    if not waiting:
        return ""
    others = "the other waits" if waiting == 1 else f"the other {waiting:,.0f} wait"
    return f" to {'a user' if running == 1 else f'{running:,.0f} users'} at a time while {others}"


def _kept(kept: Option) -> str:
    """Speed and cost of a kept machine that is not the one described."""
    if kept.name == NOTHING_OWNED:
        return "You have no machine for it yet"
    if kept.speed is None:
        return f"What you have, {kept.name}, does not run it"
    speed = tokens_per_second(kept.speed.decode)
    return f"What you have, {kept.name}, gives {speed}{_for(kept)}"


def _nothing_pays(options: Sequence[Option], money: MoneyInputs) -> tuple[str, str]:
    """Advice to keep the machine, and what would have to change for an option to pay."""
    if not any(option.pays is False for option in options[1:]):
        return "", ""
    option = nearest(options)
    more = ""
    if option is not None and option.break_even_tokens is not None:
        replies = option.break_even_tokens / option.tokens * money.replies_per_day
        more = (
            f"{option.name}, {DONE[option.kind]}, would pay from {rounded(replies)} replies a day."
        )
    if options[0].tokens and any(option.pays and option.may_win for option in options[1:]):
        return f"; keep it: nothing here leaves {money_words(WORTH_A_WORD)} a month more", more
    return "; keep it: nothing that has a price here pays", more


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _for(kept: Option) -> str:
    """Cost of keeping the machine."""
    monthly, tied_up = kept.monthly, kept.cost.tied_up if kept.cost else 0.0
    if not monthly:
        return ""
    at = f", at the used price of {kept.price.date}" if kept.price.date else ""
    value = f" ({money_words(tied_up)} of it the value tied up{at})" if tied_up else ""
    return f" for {money_words(monthly)} a month{value}"


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
    speed = "an answer"
    if option.speed:
        ends = _wide_range(option.speed)
        speed = f"about {_speed(option)}{f' ({ends})' if ends else ''}"
    return f"{option.name}, {DONE[option.kind]}, gives {speed} for {_costs(option)}"


def _costs(option: Option) -> str:
    monthly = f"{money_words(option.monthly or 0.0)} a month"
    return f"{monthly}{once(option)}{aged(option)}"


def once(option: Option) -> str:
    """What is paid once, or left over where more is sold than bought; empty for neither."""
    paid = option.upfront or 0.0
    if paid < 0:
        return f", {money_words(-paid)} left over at once"
    return f", {money_words(paid)} at once" if paid else ""


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
    less = (kept.monthly or 0.0) - (option.monthly or 0.0) - option.standing
    beside = ", with what you own unused beside it" if option.standing else ""
    if saved <= 0 or (saved < SHORT and less > 0):
        longer = f", for {hours(-saved)} more of waiting" if saved < -SHORT else ""
        return f"{use} that costs {money_words(less)} a month less{beside}{longer}."
    above = money_per_hour(worth).removesuffix(" an hour")
    pays = f"it pays if your hour is worth over {above}" if worth > 0 else "it pays"
    comma = "," if beside else ""
    cheaper = f"costs {money_words(less)} a month less{beside}{comma} and " if less >= CENT else ""
    saves = f"{cheaper}saves {hours(saved)} a month{_sooner(option, kept)}"
    return f"{use} that {saves}: {pays}{_unless(option, kept, money)}."


def _sooner(option: Option, kept: Option) -> str:
    """Reason why a slower option saves waiting; empty for a faster one."""
    now, then = kept.speed, option.speed
    if now is None or then is None or then.decode >= now.decode:
        return ""
    if then.first_token >= now.first_token:
        return ""
    first = f"{seconds(then.first_token)} instead of {seconds(now.first_token)}"
    return f", as the first token comes after {first}"


def _unless(option: Option, kept: Option, money: MoneyInputs) -> str:
    """Number of replies below which the verdict changes, and its probability."""
    tokens = option.break_even_tokens or 0.0
    replies = tokens / option.tokens * money.replies_per_day if option.tokens else 0.0
    few = f", unless you send fewer than {math.ceil(replies)} a day" if replies > 1 else ""
    sure = chance_it_pays(option, kept, money)
    return f"{few} ({100 * sure:.0f} % sure)" if sure < CERTAIN else few


SHORT = 0.05
"""Smallest difference in waiting that is mentioned [h/month]."""
CENT = 0.01
"""Smallest monthly saving that is mentioned [USD]."""
CERTAIN = 0.95
"""Probability above which a verdict is stated without it."""


def _silent(api: Option, money: MoneyInputs) -> str:
    """Remark on an API without a published speed, and from which speed it pays."""
    if api.speed is not None:
        return ""
    least = least_speed(api, money)
    pays = "" if least is None else f": it pays from {tokens_per_second(least)}"
    return f"; its speed is not published{pays}"


def _api(options: Sequence[Option], option: Option | None, money: MoneyInputs) -> str:
    """The cheapest API, where the verdict names none."""
    calls = [other for other in options if other.kind is OptionKind.API and other.dated]
    if not calls or (option is not None and option.kind is OptionKind.API):
        return ""
    api = min(calls, key=lambda call: call.monthly or 0.0)
    return f"The API of {api.name.split(':')[0]} costs {_costs(api)}{_silent(api, money)}."


MAY_BE_BETTER = 0.2
"""Probability of being the better choice from which that is stated."""


def _others(options: Sequence[Option], option: Option | None, money: MoneyInputs) -> str:
    """Best options of other kinds that pay; of all that run where there is nothing yet."""
    sentences = []
    for best in best_of_kinds(options) if option else ():
        if option is not None and best.kind is not option.kind and _compares(best, option):
            better = _rival(best, option, options[0], money)
            about = ", ".join(filter(None, (_speed(best), _wide_range(best.speed), better)))
            known = f" ({about})" if about else ""
            sentences.append(f"{best.name}, {DONE[best.kind]}{known}, for {_costs(best)}")
    return f"Else: {'; '.join(sentences)}." if sentences else ""


def _speed(option: Option) -> str:
    return tokens_per_second(option.speed.decode) if option.speed else ""


COMPARABLE = 0.5
"""Smallest share of what the named option saves that another one must save to be named beside it.
"""


def _compares(other: Option, named: Option) -> bool:
    """Whether an option is worth a word beside the named one; always where nothing runs now."""
    if named.gain is None or other.gain is None:
        return True
    return other.gain >= COMPARABLE * named.gain


WIDE = 2.0
"""Factor between the ends of a speed's range from which a verdict states the range: hardly any run
of that kind is published."""


def _wide_range(speed: Speed | None) -> str:
    """Range of a speed where it is wide; else empty."""
    wide = speed is not None and speed.high > WIDE * speed.low
    return f"range {range_of(speed.low, speed.high)}" if speed and wide else ""


def _rival(other: Option, named: Option, kept: Option, money: MoneyInputs) -> str:
    """Probability that another option is better than the named one; empty where it is small."""
    if named.gain is None or other.gain is None:
        return ""
    better = 1.0 - chance_ahead(named, other, kept, money)
    return (
        f"the better choice in {100 * better:.0f} of 100 cases" if better >= MAY_BE_BETTER else ""
    )
