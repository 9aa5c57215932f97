"""Commands on scenario files: `report run` answers one, `check` judges it against its promises.

`check` prints a Markdown table for a pull request, with `--since` also what moved since an earlier
`check --json`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.advice.speeds import speed_of
from advisor.catalog.records import as_record
from advisor.cli.command import show, tell
from advisor.cli.estimate import estimate_answer
from advisor.errors import InputError
from advisor.reports.scenarios import FIGURES, ScenarioResult, read_scenarios
from advisor.reports.scenarios import run as results_of

Record = dict[str, Any]
HEADINGS = ("model", "machine", "tokens/s", "first token", "a month", "promises")
SHOWN = ("decode_tps", "ttft_s", "monthly_usd")
"""Figures of the table, in the order of its headings."""
LARGEST = 16_000_000  # largest earlier answer that is read [B]
MOVED = 0.01  # change of a figure from which it has moved, as a share


def run(args: argparse.Namespace) -> int:
    """Run `check FILE.yaml --since FILE.json`."""
    before = {} if args.since is None else _earlier(args.since)
    results = tuple(results_of(read_scenarios(args.file)))
    records = [_record(result, before.get((result.model, result.machine))) for result in results]
    holds = all(record["holds"] for record in records)
    show(args, {"holds": holds, "results": records}, lambda: "\n".join(_markdown(records)))
    if holds:
        return 0
    return 1


def run_file(args: argparse.Namespace) -> int:
    """Run `report run`."""
    results = tuple(results_of(read_scenarios(args.file)))
    tell(dict.fromkeys(note for result in results for note in result.notes))
    failed = sum(bool(result.failures) for result in results)
    lines = [*map(_result_line, results), f"{len(results) - failed} of {len(results)} hold."]
    record = {"holds": not failed, "results": list(map(_result_json, results))}
    show(args, record, lambda: "\n".join(lines))
    if failed:
        return 1
    return 0


def _result_line(result: ScenarioResult) -> str:
    text = f"{result.model} on {result.machine}"
    if result.best and (speed := speed_of(result.best)):
        text += f": {speed.words}, {speed.runtime}, {speed.strategy.value}"
    failures = "; ".join(result.failures)
    if failures:
        return f"FAILS  {text}: {failures}"
    return f"holds  {text}"


def _result_json(result: ScenarioResult) -> Record:
    if result.best:
        estimate = estimate_answer(result.best)
    else:
        estimate = None
    return as_record("scenario", result, holds=not result.failures, estimate=estimate)


def _earlier(path: Path) -> Mapping[tuple[str, str], Record]:
    """Figures of an earlier answer by model and machine."""
    try:
        results = json.loads(given_files.text(path, LARGEST))["results"]
        return {(each["model"], each["machine"]): dict(each["figures"]) for each in results}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{path} is no answer of `check --json`; write one with `check FILE.yaml --json`."
        ) from error


def _record(result: ScenarioResult, before: Record | None) -> Record:
    figures = dict(result.figures)
    return as_record(
        "check",
        result,
        holds=not result.failures,
        figures=figures,
        moved={} if before is None else dict(_moved(before, figures)),
        new=before is None,
    )


def _moved(before: Record, now: Mapping[str, float | None]) -> Iterator[tuple[str, Any]]:
    """Figures that are otherwise than before, each with what it was."""
    for name, value in now.items():
        was = before.get(name)
        if not isinstance(was, int | float):
            was = None
        if value is None or was is None:
            if value is not was:
                yield name, was
        elif abs(value - was) > MOVED * abs(was):
            yield name, was


def _markdown(records: list[Record]) -> Iterator[str]:
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|{'---|' * len(HEADINGS)}"
    for record in records:
        cells = (
            record["model"],
            record["machine"],
            *(_cell(record, name) for name in SHOWN),
            "; ".join(record["failures"]) or "kept",
        )
        yield f"| {' | '.join(map(_escaped, cells))} |"
    holding = sum(record["holds"] for record in records)
    yield ""
    yield f"{holding} of {len(records)} keep their promises."
    taken = dict.fromkeys(note for record in records for note in record["notes"])
    if taken:
        yield ""
        yield from (f"- {_escaped(note)}" for note in taken)


def _cell(record: Record, name: str) -> str:
    """Figure, with what it was where it moved."""
    shown, _ = FIGURES[name]
    value = record["figures"][name]
    text = "-" if value is None else shown(value)
    if name not in record["moved"]:
        return text
    was = record["moved"][name]
    return f"{text} (was {'-' if was is None else shown(was)})"


def _escaped(cell: str) -> str:
    """Text of a cell: a bar, a line's end or markup of a name stays text."""
    return "".join(f"\\{sign}" if sign in "|`<*_[" else sign for sign in " ".join(cell.split()))
