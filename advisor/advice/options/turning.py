"""Turning points of a verdict: values of an input at which an option starts or stops to pay."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.advice.money.formulas import SECONDS_PER_HOUR
from advisor.advice.money.use import speed_for_wait
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.sureness import gain, inputs
from advisor.advice.options.table import choice
from advisor.formatting import money as money_words
from advisor.formatting import money_per_hour, number, tokens_per_second
from advisor.model.model import Floats
from advisor.request.money import MoneyInputs

Mask = npt.NDArray[np.bool_]

REACH = 1000.0
"""Largest factor on an input, up and down, that is searched."""
STEPS = 60
"""Number of bisections; the last interval is below 1e-15 of the value."""


@dataclass(frozen=True, kw_only=True)
class TurningPoint:
    """Value of an input at which an option costs as much as the kept machine.

    Attributes:
        name: name of the input, as in the tornado chart.
        value: value at the turning point, in the input's unit; for a price, the monthly payment.
        share: that value relative to the present one.
        above: whether the option pays above it, with all other inputs unchanged.
    """

    name: str
    value: float
    share: float
    above: bool


def turning_points(option: Option, kept: Option, money: MoneyInputs) -> tuple[TurningPoint, ...]:
    """Values at which the gain of an option changes its sign, one per input, nearest first."""
    if option.gain is None:
        return ()
    known = {name: uncertain.value for name, uncertain in inputs(option, kept, money).items()}
    own = np.eye(len(known), dtype=bool)

    def pays(factors: Floats) -> Mask:
        """Whether the option pays with each input alone multiplied by a factor, shape (inputs,)."""
        at = {
            name: value * np.where(own[index], factors, 1.0)
            for index, (name, value) in enumerate(known.items())
        }
        return np.broadcast_to(gain(at, option, kept, money) > 0, factors.shape)

    now, turns, shares = _turns(pays, len(known))
    points = [
        TurningPoint(
            name=name, value=known[name] * share, share=share, above=bool(now[index]) == (share < 1)
        )
        for index, (name, share) in enumerate(zip(known, map(float, shares), strict=True))
        if turns[index]
    ]
    return tuple(sorted(points, key=lambda point: abs(np.log(point.share))))


def _turns(pays: Callable[[Floats], Mask], count: int) -> tuple[Mask, Mask, Floats]:
    """Whether it pays now, whether that changes within reach, and at which factor, for each input.

    Args:
        pays: function from factors, one per input alone, to whether it pays, shape (inputs,).
        count: number of inputs.
    """
    now = pays(np.ones(count))
    down, up = (pays(np.full(count, end)) != now for end in (1 / REACH, REACH))
    near, far = np.zeros(count), np.where(down, -np.log(REACH), np.log(REACH))
    for _ in range(STEPS):
        middle = (near + far) / 2
        same = pays(np.exp(middle)) == now
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    return now, down | up, np.exp((near + far) / 2)


def least_speed(option: Option, money: MoneyInputs) -> float | None:
    """Speed from which an option of unknown speed pays; None where its cost rules that out
    [tokens/s].

    The first token is taken to come as late as that of the kept machine.
    """
    before = option.kept.with_waiting if option.kept else None
    replies = money.replies_per_day * money.days
    if option.speed is not None or before is None or option.cost is None or not replies:
        return None
    left = before - option.cost.total - option.standing
    if left <= 0 or option.worth <= 0:
        return None
    first = option.kept.speed.first_token if option.kept and option.kept.speed else 0.0
    wait = left / option.worth * SECONDS_PER_HOUR / replies - first
    if wait <= 0:
        return None
    shown = option.tokens / replies - money.thinking_tokens
    return float(speed_for_wait(wait, money.thinking_tokens, shown, money.reading_tps))


def what_changes(option: Option, kept: Option, money: MoneyInputs) -> str:
    """Sentences on the three nearest turning points; empty where none is in reach."""
    points = turning_points(option, kept, money)[:3]
    if not points:
        return ""
    verb = "stops paying" if option.pays else "pays"
    return f"It {verb} {_either(_condition(option, point) for point in points)}."


def _either(parts: Iterable[str]) -> str:
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _condition(option: Option, point: TurningPoint) -> str:
    over = point.above != bool(option.pays)
    side = "over" if over else "under"
    if point.name == "replies a day":
        return f"{'from' if over else 'below'} {rounded(point.value)} replies a day"
    if point.name == "worth of an hour":
        return f"at {side} {money_per_hour(point.value)}".replace(" an hour", " for your hour")
    if point.name == "price":
        return f"at {side} {_price(option, point)}"
    speed = tokens_per_second(point.value)
    whose = "what you have gives" if point.name == "speed now" else "it gives"
    return f"where {whose} {side} {speed}"


def rounded(value: float) -> str:
    """Number with two significant digits: "1,300"."""
    return number(float(f"{value:.1e}"))


def _price(option: Option, point: TurningPoint) -> str:
    """Price at a turning point: paid once, or else per month."""
    if option.price.usd:
        return f"{money_words(option.price.usd * point.share)} for it"
    return f"{money_words(point.value)} a month for it"


def in_question(options: Sequence[Option]) -> Option | None:
    """Option in question: the one that the verdict names, else the one that would pay at the fewest
    replies; None if no option can be compared with the kept machine.
    """
    option = choice(options) or nearest(options)
    return None if option is None or option.gain is None else option


def nearest(options: Sequence[Option]) -> Option | None:
    """Option that would pay at the fewest replies, of those that do not pay; None if none would."""
    bought = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE, OptionKind.RENT)
    able = [
        (option.break_even_tokens, option)
        for option in options[1:]
        if option.kind in bought and option.pays is False and option.may_win
    ]
    from_tokens = [(tokens, option) for tokens, option in able if tokens and tokens > option.tokens]
    return min(from_tokens, key=lambda pair: pair[0], default=(0.0, None))[1]
