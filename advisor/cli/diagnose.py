"""`diagnose`: why a measured speed differs from the prediction."""

import argparse
from dataclasses import replace
from types import SimpleNamespace

from advisor.advice.compare import estimates_of
from advisor.advice.diagnosis.diagnose import (
    Diagnosis,
    Measured,
    diagnose,
    likeliest,
    this_system,
)
from advisor.advice.diagnosis.text import diagnosis_text, reported_in, sentence
from advisor.catalog.records import as_record
from advisor.cli.command import Json, show, tell
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
    needed = (as_record("needed", each, unit="B/s") for each in diagnosis.needed)
    decode, prompt = diagnosis.predicted
    return as_record(
        "diagnosis",
        SimpleNamespace(**vars(diagnosis), decode=decode, prompt=prompt),
        taken_as=taken_as or None,
        sentence=sentence(diagnosis),
        causes=[as_record("cause", each) for each in diagnosis.causes],
        needed=list(needed),
    )
