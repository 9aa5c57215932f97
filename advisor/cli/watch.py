"""`watch URL`: a running server beside what it should reach, and the likeliest cause of a loss."""

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import replace

from advisor.advice.diagnosis.text import diagnosis_text, sentence
from advisor.advice.diagnosis.watching import LEAST_TOKENS, Watched, expected, speeds, watched
from advisor.cli.command import Json, show, tell
from advisor.cli.diagnose import diagnosis_answer, system_of
from advisor.cost_model.estimate import Estimate
from advisor.errors import InputError
from advisor.formatting import tokens_per_second
from advisor.probes.server import ServerReading, read_server
from advisor.probes.server_process import ServerProcess
from advisor.request import command_line


def run(args: argparse.Namespace) -> int:
    """Run `watch URL --model NAME`."""
    if not (math.isfinite(args.every) and 0.1 <= args.every <= 3600):
        raise InputError(f"--every is {args.every:g}; give 0.1 to 3600 seconds.")
    if args.tokens < LEAST_TOKENS:
        raise InputError(f"--tokens is {args.tokens}; give {LEAST_TOKENS} or more.")
    request = command_line.from_args(args)
    first = read_server(args.url)
    process, reading = None, first
    if not args.total and first.tokens is not None:
        process = ServerProcess(args.url)
        reading = _counted(first, args, process)
    tell(request.nouns().notes)
    estimate = expected(request, reading)
    seen = process.reading() if process else None
    answer = watched(reading, estimate, system_of(request), seen)
    show(args, _record(answer, reading, estimate), lambda: "\n".join(_lines(answer, reading)))
    return 1 if answer.alarm else 0


def _counted(
    first: ServerReading, args: argparse.Namespace, process: ServerProcess
) -> ServerReading:
    """What the server counts until enough tokens are generated; a line for each reading."""
    users: list[float] = []
    while True:
        time.sleep(args.every)
        now = read_server(args.url)
        if now.running:
            users.append(now.running)
            process.look()
        counted = now.since(first)
        if not args.json:
            print(_progress(counted), flush=True)
        if (counted.tokens or 0) >= args.tokens:
            mean = sum(users) / len(users) if users else None
            return replace(counted, running=mean)


def _progress(reading: ServerReading) -> str:
    measured = speeds(reading)
    tokens = f"{reading.tokens or 0:,.0f} tokens"
    return tokens if measured is None else f"{tokens}, {tokens_per_second(measured.decode)}"


def _record(answer: Watched, reading: ServerReading, estimate: Estimate) -> Json:
    return {
        "server": reading.server,
        "serves": reading.model or None,
        "alarm": answer.alarm,
        "signs": list(answer.signs),
        "tokens": reading.tokens,
        "users": float(estimate.work.users),
        "diagnosis": None if answer.diagnosis is None else diagnosis_answer(answer.diagnosis),
    }


def _lines(answer: Watched, reading: ServerReading) -> Iterator[str]:
    yield f"{reading.server}{f' serves {reading.model}' if reading.model else ''}."
    if answer.diagnosis is None:
        why = "It counts no tokens" if reading.tokens is None else "Too few tokens so far"
        yield f"{why}, so its speed is not judged."
    elif answer.alarm:
        yield diagnosis_text(answer.diagnosis)
    else:
        yield sentence(answer.diagnosis)
    yield from answer.signs
    if not answer.alarm and not answer.signs:
        yield "All is as it should be."
