"""Commands `diagnose`, `watch` and `runs`: measured speeds compared with predicted ones.

`diagnose` says why one differs, `watch` the same of a running server, `runs` keeps those of tools
and fills the form with which they are sent.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from advisor import given_files
from advisor.advice.diagnosis.diagnose import Diagnosis, Measured, likeliest, system_of
from advisor.advice.diagnosis.diagnose import diagnose as diagnosis_of
from advisor.advice.diagnosis.results import LARGEST, as_run, reported, reported_in
from advisor.advice.diagnosis.text import diagnosis_text, sentence
from advisor.advice.diagnosis.watching import LEAST_TOKENS, Watched, expected, speeds
from advisor.catalog.records import as_record
from advisor.cli.command import Json, remark, show, tell
from advisor.cost_model.estimate import Estimate
from advisor.errors import InputError
from advisor.evidence.accuracy import brought_runs
from advisor.evidence.accuracy.brought_runs import BroughtRun
from advisor.probes.server import ServerReading, read_server
from advisor.probes.server_process import ProcessReading, ServerProcess
from advisor.request.estimates import estimates_of
from advisor.request.request import Request
from advisor.units import tokens_per_second


def diagnose(args: argparse.Namespace) -> None:
    """Run `diagnose`."""
    measured = measured_of(args)
    request, told = as_run(args.request, measured.facts)
    nouns = request.nouns()
    tell((*nouns.notes, *told))
    estimate = likeliest(estimates_of(nouns))
    answer = diagnosis_of(estimate, measured, system_of(nouns.request))
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
    measured = reported_in(args.results)
    if args.measured_prompt is None:
        return measured
    return replace(
        measured, prompt=args.measured_prompt, prompt_tokens=args.measured_prompt_tokens, cached=0.0
    )


def diagnosis_answer(diagnosis: Diagnosis, taken_as: str = "") -> Json:
    """Record of `diagnose`."""
    needed = (as_record("needed", each, unit="B/s") for each in diagnosis.needed)
    return as_record(
        "diagnosis",
        diagnosis,
        taken_as=taken_as or None,
        sentence=sentence(diagnosis),
        needed=list(needed),
    )


def watch(args: argparse.Namespace) -> int:
    """Run `watch URL --model NAME`."""
    if not (math.isfinite(args.every) and 0.1 <= args.every <= 3600):
        raise InputError(f"--every is {args.every:g}; give 0.1 to 3600 seconds.")
    if args.tokens < LEAST_TOKENS:
        raise InputError(f"--tokens is {args.tokens}; give {LEAST_TOKENS} or more.")
    request: Request = args.request
    first = read_server(args.url, request.model)
    reading = first
    seen = ProcessReading()
    if not args.total and first.tokens is not None:
        process = ServerProcess(args.url)
        reading = _counted(first, args, process)
        seen = process.reading()
    tell(request.nouns().notes)
    estimate = expected(request, reading)
    system = system_of(request)
    answer = Watched(reading=reading, estimate=estimate, system=system, process=seen)
    record = as_record(
        "watched", answer, diagnosis=answer.diagnosis and diagnosis_answer(answer.diagnosis)
    )
    show(args, record, lambda: "\n".join(_watched_lines(answer)))
    if answer.alarm:
        return 1
    return 0


def _counted(
    first: ServerReading, args: argparse.Namespace, process: ServerProcess
) -> ServerReading:
    """Figures that the server counts until enough tokens are generated; prints a line for each
    reading.
    """
    users: list[float] = []
    while True:
        time.sleep(args.every)
        now = read_server(args.url, args.request.model)
        if now.running:
            users.append(now.running)
            process.look()
        counted = now.since(first)
        if not args.json:
            print(_progress(counted), flush=True)
        if (counted.tokens or 0) >= args.tokens:
            if users:
                mean = sum(users) / len(users)
            else:
                mean = None
            return replace(counted, running=mean)


def _progress(reading: ServerReading) -> str:
    measured = speeds(reading)
    tokens = f"{reading.tokens or 0:,.0f} tokens"
    if measured is None:
        return tokens
    return f"{tokens}, {tokens_per_second(measured.decode)}"


def _watched_lines(answer: Watched) -> Iterator[str]:
    reading = answer.reading
    yield f"{reading.server}{f' serves {reading.model}' if reading.model else ''}."
    if answer.diagnosis is None and not answer.other_model:
        if reading.tokens is None:
            why = "It counts no tokens"
        else:
            why = "Too few tokens so far"
        yield f"{why}, so its speed is not judged."
    elif answer.diagnosis is not None and answer.alarm:
        yield diagnosis_text(answer.diagnosis)
    elif answer.diagnosis is not None:
        yield sentence(answer.diagnosis)
    yield from answer.signs
    if answer.sound:
        yield "All is as it should be."
    elif not answer.alarm and not answer.signs:
        yield "That is slow, and not so slow that hardly a sound server is: no alarm."


def add_run(args: argparse.Namespace) -> None:
    """Run `runs add FILE --model NAME`."""
    measured = reported_in(args.file)
    request, told = as_run(args.request, measured.facts)
    nouns = request.nouns()
    tell((*nouns.notes, *told))
    run = brought_runs.brought(
        likeliest(estimates_of(nouns)),
        measured,
        args.by,
        date.today().isoformat(),
        here=request.here,
    )
    brought_runs.keep(run)
    show(args, as_record("run", run), lambda: _run_line(run))


def share_run(args: argparse.Namespace) -> None:
    """Run `runs share FILE --model NAME`."""
    from advisor.evidence.accuracy import shared_run  # other commands need no form
    from advisor.evidence.published.run_form import form_text

    typed = args.file is None and args.printed is None and bool(args.request.known)
    if typed:
        request = args.request
        estimate, measured = _known_run(request)
        output = ""
    else:
        content, name = _shared(args)
        measured = reported(content, name)
        request, told = as_run(args.request, measured.facts)
        nouns = request.nouns()
        tell((*nouns.notes, *told))
        estimate = likeliest(estimates_of(nouns))
        output = given_files.decoded(content)
    values = shared_run.shared_run(request, estimate, measured, output, agreed=args.agree)
    remark(args, [shared_run.steps(values, typed=typed)])
    show(args, values, lambda: form_text(values))


def _known_run(request: Request) -> tuple[Estimate, Measured]:
    """Prediction and speed of the only known run of a request.

    Raises:
        InputError: several known speeds, or one of a prompt.
    """
    nouns = request.nouns()
    runs = nouns.known
    if len(runs) != 1 or runs[0].speed.prompt:
        raise InputError(
            f"{len(runs)} known speeds are given (--known); a report is of one, of generated "
            "tokens."
        )
    tell((*nouns.notes, *runs[0].notes))
    return runs[0].estimate, Measured(decode=runs[0].speed.speed, depth=runs[0].speed.context)


def _shared(args: argparse.Namespace) -> tuple[bytes, str]:
    """Output of a tool, from a file or as given, with its name for errors."""
    if (args.file is None) == (args.printed is None):
        raise InputError(
            "Give what the tool printed: a file, - for standard input, or --printed; or a speed "
            'that you know (--known "Qwen3-8B Q4_K_M 41").'
        )
    if args.printed is not None:
        return args.printed.encode(), "what the tool printed"
    return _content(args.file), str(args.file)


def _content(path: Path) -> bytes:
    """Content of a file, of standard input for "-"."""
    if str(path) == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    return given_files.content(path, LARGEST)


def list_runs(args: argparse.Namespace) -> None:
    """Run `runs list`."""
    runs = brought_runs.kept()
    lines = [f"{number}. {_run_line(run)}" for number, run in enumerate(runs, start=1)]
    none = "No run is kept; `runs add FILE` keeps one."
    show(args, [as_record("run", run) for run in runs], lambda: "\n".join(lines) or none)


def delete_run(args: argparse.Namespace) -> None:
    """Run `runs delete N`."""
    run = brought_runs.drop(args.number)
    show(args, as_record("run", run), lambda: f"Deleted: {_run_line(run)}")


def _run_line(run: BroughtRun) -> str:
    by = f" by {run.by}" if run.by else ""
    return (
        f"{run.model}, {run.format}, on {run.machine}: {tokens_per_second(run.decode)}{by}, "
        f"{run.ratio:.2f} times the {tokens_per_second(run.predicted)} predicted ({run.source}, "
        f"{run.date})."
    )
