"""`runs`: what tools measured on machines, kept beside its prediction."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date

from advisor.advice.compare import estimates_of
from advisor.advice.diagnosis.diagnose import likeliest
from advisor.advice.diagnosis.text import reported_in
from advisor.cli.command import Json, show, tell
from advisor.evidence.accuracy import brought_runs
from advisor.evidence.accuracy.brought_runs import BroughtRun
from advisor.formatting import tokens_per_second
from advisor.request import command_line


def add(args: argparse.Namespace) -> None:
    """Run `runs add FILE --model NAME`."""
    reported = reported_in(args.file)
    nouns = command_line.from_args(args).nouns()
    tell(nouns.notes)
    estimate = likeliest(estimates_of(nouns))
    run = brought_runs.brought(estimate, reported, args.by, date.today().isoformat())
    brought_runs.keep(run)
    show(args, _record(run), lambda: _line(run))


def list_runs(args: argparse.Namespace) -> None:
    """Run `runs list`."""
    runs = brought_runs.kept()
    show(args, [_record(run) for run in runs], lambda: "\n".join(_lines(runs)))


def delete(args: argparse.Namespace) -> None:
    """Run `runs delete N`."""
    run = brought_runs.drop(args.number)
    show(args, _record(run), lambda: f"Deleted: {_line(run)}")


def _lines(runs: Sequence[BroughtRun]) -> Iterator[str]:
    if not runs:
        yield "No run is kept; `runs add FILE` keeps one."
    for number, run in enumerate(runs, start=1):
        yield f"{number}. {_line(run)}"


def _line(run: BroughtRun) -> str:
    by = f" by {run.by}" if run.by else ""
    return (
        f"{run.model}, {run.format}, on {run.machine}: {tokens_per_second(run.decode)}{by}, "
        f"{run.ratio:.2f} times the {tokens_per_second(run.predicted)} predicted ({run.source}, "
        f"{run.date})."
    )


def _record(run: BroughtRun) -> Json:
    record = asdict(run) | {"ratio": run.ratio}
    return {
        {"decode": "decode_tps", "predicted": "predicted_tps"}.get(name, name): value
        for name, value in record.items()
    }
