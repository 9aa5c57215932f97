"""`diagnose`: why a measured speed differs from the prediction."""

import argparse
from dataclasses import replace

from advisor.advice.compare import estimates_of
from advisor.advice.diagnosis.diagnose import (
    Cause,
    Diagnosis,
    Measured,
    RequiredBandwidth,
    diagnose,
    likeliest,
    this_system,
)
from advisor.advice.diagnosis.text import diagnosis_text, reported_in, sentence
from advisor.cli.command import Json, show, tell
from advisor.cost_model.uncertainty import range_fields
from advisor.machine.backends import SYSTEMS, system_named
from advisor.request import command_line
from advisor.request.request import Request


def run(args: argparse.Namespace) -> None:
    """Run `diagnose`."""
    measured = measured_of(args)
    nouns = command_line.from_args(args).nouns()
    tell(nouns.notes)
    estimate = likeliest(estimates_of(nouns))
    answer = diagnose(estimate, measured, system_of(nouns.request))
    record = diagnosis_answer(answer, nouns.resolved.taken_as)
    show(args, record, lambda: diagnosis_text(answer))


def measured_of(args: argparse.Namespace) -> Measured:
    """Measured speeds, typed or read from another tool's file."""
    if args.results is None:
        return Measured(
            decode=args.measured,
            prompt=args.measured_prompt,
            prompt_tokens=args.measured_prompt_tokens,
        )
    measured = reported_in(args.results).measured
    if args.measured_prompt is None:
        return measured
    return replace(
        measured, prompt=args.measured_prompt, prompt_tokens=args.measured_prompt_tokens, cached=0.0
    )


def system_of(request: Request) -> str:
    """Operating system, where it is stated or the request means this machine; else empty."""
    if request.system:
        return SYSTEMS[system_named(request.system)]
    return this_system() if request.here else ""


def diagnosis_answer(diagnosis: Diagnosis, taken_as: str = "") -> Json:
    """Record of `diagnose`."""
    estimate, (decode, prompt) = diagnosis.estimate, diagnosis.predicted
    return {
        "model": estimate.model.name,
        "taken_as": taken_as or None,
        "runtime": estimate.runtime,
        "placement": estimate.strategy.value,
        "format": estimate.model.format,
        "measured_tps": diagnosis.measured.decode,
        "measured_prompt_tps": diagnosis.measured.prompt,
        "measured_prompt_tokens": diagnosis.measured.prompt_tokens,
        **range_fields("decode_tps", decode),
        **range_fields("prefill_tps", prompt),
        "outcome": diagnosis.outcome.value,
        "sentence": sentence(diagnosis),
        "causes": [_cause(each) for each in diagnosis.causes],
        "needed": [_needed(each) for each in diagnosis.needed],
    }


def _cause(cause: Cause) -> Json:
    return {
        "cause": cause.row.key,
        "words": cause.row.cause,
        "detail": cause.degree.words,
        "explains": cause.explains,
        "share_of_gap": cause.share,
        **range_fields("decode_tps", cause.degree.decode),
        **range_fields("prefill_tps", cause.degree.prompt),
        "prior": cause.row.prior,
        "weight": cause.weight,
        "test": cause.row.test,
        "command": cause.row.command,
        "fix": cause.row.fix,
        "source": cause.row.source,
    }


def _needed(needed: RequiredBandwidth) -> Json:
    return {
        "what": needed.what,
        "assumed": float(needed.assumed.value),
        "kind": needed.assumed.kind.value,
        "needed": needed.value,
        "most": needed.most,
        "possible": needed.possible,
        "unit": "B/s",
        "test": needed.test,
    }
