"""When an option pays, in words."""

from advisor.advice.table.option import Option
from advisor.advice.table.sensitivity import least_speed
from advisor.formatting import number, short, tokens_per_second
from advisor.request.money import MoneyInputs

NAMED_MONTHS = 240
"""Nobody waits longer for a machine to pay."""
NAMED_SHARE = 0.01
"""Share of the tokens of a month below which a break-even says nothing."""


ONLY_SOLD = "only by selling what you have"
"""Remark on a slower option that pays by an assumed resale value alone."""


def _after(months: float) -> str:
    return "within a month" if months < 1.0 else f"after {number(months)} months"


def pays_when(option: Option, use: MoneyInputs) -> str:
    """When an option pays: after some months, from a number of tokens per month, or at a speed."""
    if option.rests_on_resale:
        return ONLY_SOLD
    months, tokens = option.break_even_months, option.break_even_tokens or 0.0
    after = _after(months) if months and months <= NAMED_MONTHS else ""
    few = tokens <= NAMED_SHARE * option.tokens
    least = "" if few or not option.pays else f"from {short(tokens)} tokens a month"
    speed = least_speed(option, use)
    at = "" if speed is None else f"yes from {tokens_per_second(speed)}"
    return ", ".join(filter(None, (after, least, at)))
