"""A diagnosis in words: the sentence, its causes, and all of it in lines of text."""

from collections.abc import Iterable

from advisor.advice.diagnosis.causes.counterfactual import rates
from advisor.advice.diagnosis.causes.required_bandwidth import Needed
from advisor.advice.diagnosis.diagnose import Diagnosis, Explanation, Outcome, distance
from advisor.cost_model.uncertainty import Range
from advisor.formatting import range_of, rate, tokens_per_second

FIRST = 5
"""Causes shown of those that explain all of it, and of those that explain a part."""

NEAR = 1.5
"""Half widths of the range within which a speed below it may well be chance."""


def sentence(found: Diagnosis) -> str:
    """The answer in a few words: how the speeds compare, and what follows."""
    decode, prompt = rates(found.estimate)
    said = [_compared(found.measured.decode, decode)]
    if found.measured.prompt is not None:
        said.append(f"prompt {_compared(found.measured.prompt, prompt)}")
    return f"{'; '.join(said)}. {_remark(found)}"


def _compared(measured: float, speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high))
    predicted = tokens_per_second(float(speed.value))
    return f"{tokens_per_second(measured)} measured, {predicted} predicted ({ends})"


def _remark(found: Diagnosis) -> str:
    """The outcome and what follows from it."""
    if found.outcome is Outcome.AS_PREDICTED:
        return "As predicted: within the range, and nothing need be wrong."
    parts = (
        f"{str(found.outcome).capitalize()}.",
        _too_low(found) if found.outcome is Outcome.FASTER else "",
        _likeliest(found),
        _chance(found),
    )
    return " ".join(filter(None, parts))


def _likeliest(found: Diagnosis) -> str:
    first = next((one for one in found.explanations if one.explains), None)
    if first is None:
        return "No single cause explains it; two may have met."
    cause, detail = first.row.cause, first.trial.detail
    said = cause if cause[1].isupper() else cause[0].lower() + cause[1:]
    return f"Likeliest: {said}{f' ({detail})' if detail else ''}."


def _chance(found: Diagnosis) -> str:
    """What to think of a speed just below its range."""
    decode, _ = rates(found.estimate)
    near = -NEAR <= distance(found.measured.decode, decode) < -1
    return "But one run in ten falls below its range with nothing wrong." if near else ""


def _too_low(found: Diagnosis) -> str:
    """Which assumption was too low."""
    first = next(iter(found.needed), None)
    if first is None:
        return ""
    assumed, kind = rate(float(first.assumed.value)), first.assumed.kind.value
    said = f"{first.what[0].upper()}{first.what[1:]} was taken as {assumed} ({kind})"
    if first.value is None:
        return f"{said}; it alone does not give this, whatever it is."
    most = "" if first.possible else f", more than the {rate(float(first.most or 0.0))} it can give"
    return f"{said} and would have to be {rate(first.value)}{most}."


def diagnosis_text(found: Diagnosis) -> str:
    """The answer, the likeliest causes with test and remedy, what a bandwidth would have to be."""
    one = found.estimate
    lines = [f"{one.runtime}, {one.strategy}, {one.model.format}: {sentence(found)}"]
    full, brief, heading = told(found)
    prompt = found.measured.prompt is not None
    for number, each in enumerate(full, start=1):
        speed = speed_words(each, prompt=prompt)
        lines += ["", f"{number}. {cause_words(each)}: {speed}", *_advice(each)]
    if brief:
        lines += ["", f"{heading}:"]
        lines += [f"   {cause_words(each)}: {speed_words(each, prompt=prompt)}" for each in brief]
    for needed in found.needed:
        lines += ["", needed_words(needed), f"   $ {needed.test}"]
    return "\n".join(lines)


def told(found: Diagnosis) -> tuple[list[Explanation], list[Explanation], str]:
    """Causes to tell in full, those to name only, and the heading of these.

    In full are those that explain all of it, or a part where none does; where nothing is wrong,
    all are only named.
    """
    whole = [one for one in found.explanations if one.explains][:FIRST]
    part = [one for one in found.explanations if not one.explains][:FIRST]
    if found.outcome is Outcome.AS_PREDICTED:
        return [], whole, "Should it still be otherwise than expected"
    if not whole:
        return part, [], ""
    return whole, part, "These would explain a part of it"


def _advice(one: Explanation) -> Iterable[str]:
    row = one.row
    yield f"   Test: {row.test}"
    if row.command:
        yield f"   $ {row.command}"
    yield f"   Fix:  {row.fix}"


def cause_words(one: Explanation) -> str:
    """A cause and its degree."""
    return f"{one.row.cause} ({one.trial.detail})" if one.trial.detail else one.row.cause


def speed_words(one: Explanation, *, prompt: bool) -> str:
    """What it would give.

    Args:
        one: the cause.
        prompt: the prompt's speed matters too.
    """
    said = _with_range(one.trial.decode)
    return f"{said}, prompt {_with_range(one.trial.prompt)}" if prompt else said


def _with_range(speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high))
    return f"{tokens_per_second(float(speed.value))} ({ends})"


def needed_words(one: Needed) -> str:
    """A bandwidth that by itself would give what was measured."""
    assumed = f"Taken: {rate(float(one.assumed.value))}, {one.assumed.kind.value}."
    if one.value is None:
        return f"By itself, {one.what} does not give it, whatever it is. {assumed}"
    most = "" if one.possible else f", and it can give {rate(float(one.most or 0.0))} at most"
    return f"By itself, {one.what} would have to be {rate(one.value)}{most}. {assumed}"
