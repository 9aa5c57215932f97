"""A diagnosis in lines of text, for the command line, and its parts in words."""

from collections.abc import Iterable

from advisor.causes.rates import Needed
from advisor.diagnosis import Diagnosis, Explanation
from advisor.wording import range_of, rate, tokens_per_second

FIRST = 5
"""Causes shown of those that explain all of it, and of those that explain a part."""


def diagnosis_text(found: Diagnosis) -> str:
    """The answer, the likeliest causes with test and remedy, and what a bandwidth would have to be.

    Causes that explain a part only are told in full where none explains all of it.
    """
    one = found.estimate
    whole, part = by_reach(found)
    lines = [f"{one.runtime}, {one.strategy}, {one.model.format}: {found.sentence}"]
    for number, each in enumerate(whole or part, start=1):
        lines += ["", *_in_full(number, each)]
    if whole and part:
        lines += ["", "These would explain a part of it:"]
        lines += [f"   {cause_words(each)}: {speed_words(each)}" for each in part]
    for needed in found.needed:
        lines += ["", needed_words(needed), f"   $ {needed.test}"]
    return "\n".join(lines)


def by_reach(found: Diagnosis) -> tuple[list[Explanation], list[Explanation]]:
    """The likeliest causes that explain all of it, and those that explain a part."""
    whole = [one for one in found.explanations if one.explains]
    part = [one for one in found.explanations if not one.explains]
    return whole[:FIRST], part[:FIRST]


def _in_full(number: int, one: Explanation) -> Iterable[str]:
    row = one.row
    yield f"{number}. {cause_words(one)}: {speed_words(one)}"
    yield f"   Test: {row.test}"
    if row.command:
        yield f"   $ {row.command}"
    yield f"   Fix:  {row.fix}"


def cause_words(one: Explanation) -> str:
    """A cause and its degree."""
    return f"{one.row.cause} ({one.trial.detail})" if one.trial.detail else one.row.cause


def speed_words(one: Explanation) -> str:
    """What it would give."""
    decode = one.trial.decode
    ends = range_of(float(decode.low), float(decode.high))
    return f"{tokens_per_second(float(decode.value))} ({ends})"


def needed_words(one: Needed) -> str:
    """A bandwidth that by itself would give what was measured."""
    most = "" if one.possible else f", and it can give {rate(float(one.most or 0.0))} at most"
    assumed = f"{rate(float(one.assumed.value))}, {one.assumed.kind.value}"
    return f"By itself, {one.what} would have to be {rate(one.value)}{most}. Taken: {assumed}."
