"""`runs`: what tools measured on machines, kept beside its prediction."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from advisor.advice.compare import estimates_of
from advisor.advice.diagnosis.diagnose import likeliest
from advisor.advice.diagnosis.text import reported_in
from advisor.cli.command import Json, added, show, tell
from advisor.evidence.accuracy import brought_runs
from advisor.evidence.accuracy.brought_runs import BroughtRun
from advisor.formatting import tokens_per_second
from advisor.request import command_line


def add(commands: Any) -> None:
    """Add the command with its actions."""
    words = "runs of tools on machines, beside their predictions; never fitted"
    actions = commands.add_parser("runs", help=words, description=words).add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    added(actions, "list", _list, "the kept runs")
    adding = added(
        actions, "add", _add, "keep the run in a file of llama-bench, llama-benchy, Ollama, LM "
        "Studio or vLLM; the options say what it ran on",
    )  # fmt: skip
    adding.add_argument("file", type=Path, metavar="FILE.json")
    adding.add_argument("--by", default="", metavar="NAME", help="who measured")
    command_line.add_options(adding, command_line.DESCRIBED)
    dropping = added(actions, "delete", _delete, "delete a kept run")
    dropping.add_argument("number", type=int, metavar="N", help="its place in the list, from 1")


def _add(args: argparse.Namespace) -> None:
    """Run `runs add FILE --model NAME`."""
    reported = reported_in(args.file)
    nouns = command_line.from_args(args).nouns()
    tell(nouns.notes)
    estimate = likeliest(estimates_of(nouns))
    run = brought_runs.brought(estimate, reported, args.by, date.today().isoformat())
    brought_runs.keep(run)
    show(args, _record(run), lambda: _line(run))


def _list(args: argparse.Namespace) -> None:
    """Run `runs list`."""
    runs = brought_runs.kept()
    show(args, [_record(run) for run in runs], lambda: "\n".join(_lines(runs)))


def _delete(args: argparse.Namespace) -> None:
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
