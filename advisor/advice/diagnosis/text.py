"""Text of a diagnosis: sentence, causes, full report."""

from pathlib import Path

from advisor import given_files
from advisor.advice.diagnosis.diagnose import (
    Cause,
    Diagnosis,
    Measured,
    Outcome,
    RequiredBandwidth,
    distance,
)
from advisor.cost_model.uncertainty import Range
from advisor.errors import InputError
from advisor.formatting import range_of, rate, tokens_per_second
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.probes.llama_cpp.result_files import read as read_runs

# Measured speeds from another tool's result file.

LARGEST = 64_000_000
"""Largest file that is read; `vllm bench serve --save-detailed` includes every answer [B]."""
BENCH = "llama-bench"  # tool whose generation has no prompt before it but its depth


def reported_in(path: Path) -> Measured:
    """Speeds that a file reports; raises InputError as `reported`, or where it cannot be read."""
    return reported(given_files.content(path, LARGEST), str(path))


def reported(content: bytes, name: str) -> Measured:
    """Speeds of one user that the content of a file reports; its name is for errors.

    Of several runs, the first with a speed of generation counts, and the first prompt at the same
    depth of the cache. Raises InputError for an unknown tool, or no speed of generation.
    """
    if len(content) > LARGEST:
        raise InputError(f"{name} has more than {LARGEST:,} bytes; give one run's results.")
    try:
        runs = read_runs(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text; give the JSON that a tool wrote.") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    generation = next((run for run in runs if run.decode), None)
    if generation is None or generation.decode is None:
        raise InputError(
            f"{name}: {runs[0].tool} reports no speed of generation alone; run it so that it "
            "generates tokens (llama-bench -n 128, vllm bench serve)."
        )
    prompts = (run for run in runs if run.prompt and run.depth == generation.depth)
    read = next(prompts, None)
    return Measured(
        decode=generation.decode,
        prompt=read.prompt if read else None,
        prompt_tokens=read.prompt_tokens if read else None,
        cached=read.depth if read else 0.0,
        depth=_depth(generation),
        output=generation.output_tokens,
        source=", ".join(filter(None, (generation.tool, generation.model))),
    )


def _depth(generation: EngineRun) -> float | None:
    """Tokens in the cache before a generation; None where its tool does not say so [tokens]."""
    if generation.output_tokens is None:
        return None
    if generation.tool == BENCH:
        return generation.depth
    prompt = generation.prompt_tokens
    if prompt is None:
        return None
    return generation.depth + prompt


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
    if outcome is Outcome.AS_PREDICTED:
        return f"{speeds} As predicted: the measured speed lies within the range."
    remarks = (
        speeds,
        f"{str(outcome).capitalize()}.",
        _too_low(diagnosis) if outcome is Outcome.FASTER else "",
        _likeliest(diagnosis),
        CHANCE if -NEAR <= distance(measured.decode, decode) < -1 else "",
    )
    return " ".join(filter(None, remarks))


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
    taken = f"{first.row.what[0].upper()}{first.row.what[1:]} was taken as {assumed} ({kind})"
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
    """A cause and its degree."""
    words = cause.row.cause
    degree = cause.edit.words
    if degree:
        return f"{words} ({degree})"
    return words


def speed_words(cause: Cause, *, prompt: bool) -> str:
    """Speed under a cause, in words, with the prompt's where wanted."""
    speed = _with_range(cause.speeds.decode)
    if prompt:
        return f"{speed}, prompt {_with_range(cause.speeds.prompt)}"
    return speed


def _with_range(speed: Range) -> str:
    ends = range_of(float(speed.low), float(speed.high))
    return f"{tokens_per_second(float(speed.value))} ({ends})"


def needed_words(needed: RequiredBandwidth) -> str:
    """Bandwidth that alone would give the measured speed, in words."""
    assumed = f"Assumed: {rate(float(needed.assumed.value))} ({needed.assumed.kind.value})."
    if needed.value is None:
        return f"No value of {needed.row.what} alone gives the measured speed. {assumed}"
    if needed.possible:
        most = ""
    else:
        most = f"; at most {rate(float(needed.most or 0.0))} is possible"
    return f"Alone, {needed.row.what} would have to be {rate(needed.value)}{most}. {assumed}"
