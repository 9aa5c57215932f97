"""Text of a diagnosis: sentence, causes, full report."""

from advisor.advice.diagnosis.diagnose import (
    Cause,
    Diagnosis,
    Outcome,
    RequiredBandwidth,
    distance,
)
from advisor.cost_model.uncertainty import Range
from advisor.formatting import capitalised, rate
from advisor.units import range_of, tokens_per_second

FIRST = 5  # most causes shown that explain the whole gap, and most that explain a part of it
NEAR = 1.5  # largest distance below a prediction that may well be chance [half widths of its range]
CHANCE = "One run in ten falls below its range without a fault."


def sentence(diagnosis: Diagnosis) -> str:
    """Summary in a few words: measured and predicted speeds, and the conclusion."""
    decode, prompt = diagnosis.predicted
    measured = diagnosis.measured
    outcome = diagnosis.outcome
    parts = [_compared(measured.decode, decode)]
    if measured.prompt is not None:
        tokens = measured.prompt_tokens
        if tokens is None:
            length = ""
        else:
            length = f" of {tokens:,.0f} tokens"
        parts.append(f"prompt{length} {_compared(measured.prompt, prompt)}")
    speeds = f"{'; '.join(parts)}."
    seen = (each.words for each in diagnosis.observations if each.shows)
    if outcome is Outcome.AS_PREDICTED:
        conclusion = "As predicted: the measured speed lies within the range."
        return " ".join(filter(None, (speeds, conclusion, *seen)))
    remarks = (
        speeds,
        _conclusion(diagnosis),
        _too_low(diagnosis) if outcome is Outcome.FASTER else "",
        *seen,
        _likeliest(diagnosis),
        CHANCE if -NEAR <= distance(measured.decode, decode) < -1 else "",
    )
    return " ".join(filter(None, remarks))


def _conclusion(diagnosis: Diagnosis) -> str:
    """Whether generation and prompt are slower or faster, each by itself where they differ."""
    outcomes = dict.fromkeys(diagnosis.outcomes)
    if len(outcomes) == 1:
        return f"{str(diagnosis.outcome).capitalize()}."
    decode, prompt = diagnosis.outcomes
    return f"Generation is {decode}, the prompt {prompt}."


def _compared(measured: float, speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high))
    predicted = tokens_per_second(float(speed.value))
    return f"{tokens_per_second(measured)} measured, {predicted} predicted ({ends})"


def _likeliest(diagnosis: Diagnosis) -> str:
    if not any(cause.explains for cause in diagnosis.causes):
        return "No single cause explains it; several may act together."
    words = cause_words(diagnosis.causes[0])
    return f"Likeliest: {words if words[1].isupper() else words[0].lower() + words[1:]}."


def _too_low(diagnosis: Diagnosis) -> str:
    """Assumption that was too low."""
    first = next(iter(diagnosis.needed), None)
    if first is None:
        return ""
    assumed = rate(float(first.assumed.value))
    kind = first.assumed.kind.value
    taken = f"{capitalised(first.row.what)} was taken as {assumed} ({kind})"
    if first.value is None:
        return f"{taken}; no value of it alone gives this speed."
    if first.possible:
        most = ""
    else:
        most = f", more than the {rate(float(first.most or 0.0))} it can give"
    return f"{taken} and would have to be {rate(first.value)}{most}."


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """Full report: summary, likeliest causes with test and remedy, required bandwidths."""
    run = diagnosis.run
    lines = [f"{run.runtime.name}, {run.strategy}, {run.model.format}: {sentence(diagnosis)}"]
    lines += filter(None, [run.about_cache])
    full, brief, heading = grouped_causes(diagnosis)
    prompt = diagnosis.measured.prompt is not None
    for number, each in enumerate(full, start=1):
        speed = speed_words(each, prompt=prompt)
        lines += ["", f"{number}. {cause_words(each)}: {speed}", f"   Test: {each.row.test}"]
        lines += [f"   $ {each.row.command}"] if each.row.command else []
        lines.append(f"   Fix:  {each.row.fix}")
    if brief:
        lines += ["", f"{heading}:"]
        lines += [f"   {cause_words(each)}: {speed_words(each, prompt=prompt)}" for each in brief]
    for needed in diagnosis.needed:
        lines += ["", needed_words(needed), f"   $ {needed.row.test}"]
    return "\n".join(lines)


def grouped_causes(diagnosis: Diagnosis) -> tuple[list[Cause], list[Cause], str]:
    """Causes to describe in full, causes to list, and the heading of the list.

    Described in full are causes down to the least likely of the whole gap, or of a part where there
    are none; a speed as predicted has a list only.
    """
    explaining = [at for at, cause in enumerate(diagnosis.causes, 1) if cause.explains][:FIRST]
    last = min(max(explaining, default=0), FIRST)
    whole = list(diagnosis.causes[:last])
    part = list(diagnosis.causes[last:][:FIRST])
    if diagnosis.outcome is Outcome.AS_PREDICTED:
        return [], whole, "Possible causes nevertheless"
    if not whole:
        return part, [], ""
    return whole, part, "Less likely causes, or of a part of the gap"


def cause_words(cause: Cause) -> str:
    """Words for a cause in its degree."""
    words = cause.row.cause
    degree = cause.edit.words
    if degree:
        return f"{words} ({degree})"
    return words


def speed_words(cause: Cause, *, prompt: bool) -> str:
    """Words for the speed under a cause, with that of the prompt where wanted."""
    speed = _with_range(cause.speeds.decode)
    if prompt:
        return f"{speed}, prompt {_with_range(cause.speeds.prompt)}"
    return speed


def _with_range(speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high))
    return f"{tokens_per_second(float(speed.value))} ({ends})"


def needed_words(needed: RequiredBandwidth) -> str:
    """Words for a bandwidth that would give the measured speed if all else were as predicted."""
    assumed = f"Assumed: {rate(float(needed.assumed.value))} ({needed.assumed.kind.value})."
    if needed.value is None:
        return f"No value of {needed.row.what} alone gives the measured speed. {assumed}"
    if needed.possible:
        most = ""
    else:
        most = f"; at most {rate(float(needed.most or 0.0))} is possible"
    return f"Alone, {needed.row.what} would have to be {rate(needed.value)}{most}. {assumed}"
