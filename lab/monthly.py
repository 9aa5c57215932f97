"""Monthly round: renew tables, take in runs, run the checks, score, and write what moved.

    python -m lab.monthly [--issues ISSUES.json] [--out FOLDER] [--without-network]

.github/workflows/refresh.yml runs it and proposes what it changed. FOLDER takes `title.txt` and
`body.md`, the title and the text of the pull request. Exit code 1 where a check failed or a group
of runs is predicted worse: the pull request is then a draft.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from advisor.catalog.csv_tables import product_folder
from advisor.errors import InputError
from advisor.paths import DATA_VARIABLE
from lab.repository import changed_files, committed

TABLES = {
    "rents": ("prices/prices.csv", ("kind", "provider", "gpu", "gpu_count", "spot")),
    "apis": ("prices/api_prices.csv", ("provider", "model_id")),
}
"""Tables that a renewal of `refresh` joins: file in data/, and columns by which rows are the
same."""
CHECKS = (
    "tests/data",
    "tests/advice/prices",
    "tests/refresh/test_checks.py",
    "tests/lab/test_forecasts.py",
)
"""Tests that look through whole tables."""
SHOWN = 10  # changed rows of a table that are named
LONGEST = 60_000  # letters of the text; GitHub takes 65,536
TAIL = 2_000  # letters of a failed step's output
STEP_SECONDS = 3_600.0  # time limit of a step


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the round."""

    name: str
    text: str  # what it found, in Markdown
    failed: bool = False


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m lab.monthly", description=__doc__)
    parser.add_argument("--issues", type=Path, help="what `gh issue list --json ...` wrote")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for title and text")
    parser.add_argument("--without-network", action="store_true", help="renew no table")
    args = parser.parse_args(words)
    steps = list(_steps(args.issues, network=not args.without_network))
    moved = "\n".join(_moved())
    month = datetime.now(UTC).strftime("%B %Y")
    parts = [f"## {step.name}\n\n{step.text}" for step in steps]
    text = "\n\n".join((f"## What moved\n\n{moved or 'Nothing.'}", *parts))
    (args.out / "title.txt").write_text(f"Tables and runs of {month}\n", encoding="utf-8")
    (args.out / "body.md").write_text(f"{text[:LONGEST]}\n", encoding="utf-8")
    sys.stdout.write(f"{text}\n")
    if any(step.failed for step in steps):
        return 1
    return 0


def _steps(issues: Path | None, *, network: bool) -> Iterator[Step]:
    if network:
        yield renewed()
    if issues is not None:
        to = product_folder() / "data/measurements"
        yield ran("Runs that people sent", "lab.intake", str(issues), "--to", str(to), worst=1)
    yield ran("Checks of the tables", "pytest", "-q", *CHECKS, worst=0)
    yield ran("Accuracy", "lab.months", worst=0)


def ran(name: str, module: str, *words: str, worst: int) -> Step:
    """Step that runs a module; it failed where its exit code is above the worst sound one."""
    try:
        done = subprocess.run(  # noqa: S603 - modules of this repository
            (sys.executable, "-m", module, *words),
            cwd=product_folder(),
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Step(name=name, text=f"It took over {STEP_SECONDS:g} s.", failed=True)
    failed = done.returncode > worst
    told = done.stdout.strip()
    if module == "pytest" or not told:
        told = fenced(f"{done.stdout[-TAIL:]}\n{done.stderr[-TAIL:]}".strip())
    return Step(name=name, text=told, failed=failed)


def fenced(text: str) -> str:
    """Output in a fence that it cannot close."""
    return "~~~text\n" + text.replace("~~~", "~ ~ ~") + "\n~~~"


# Renewed tables, which join those of data/.


def renewed() -> Step:
    """Step that fetches tables with `refresh` into a folder of its own, and joins them."""
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            (sys.executable, "-m", "advisor", "refresh", "--json"),
            cwd=product_folder(),
            env={**os.environ, DATA_VARIABLE: folder},
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_SECONDS,
        )
        try:
            outcomes = json.loads(done.stdout)
        except ValueError:
            told = fenced(done.stderr[-TAIL:].strip())
            return Step(name="Renewed tables", text=told, failed=True)
        for table, (file, key) in TABLES.items():
            last = max((Path(folder) / "tables" / table).glob("*.csv"), default=None)
            if last is not None:
                join(last, product_folder() / "data" / file, key)
    failed = all(outcome.get("failed") for outcome in outcomes)
    return Step(name="Renewed tables", text="\n".join(map(_outcome, outcomes)), failed=failed)


def _outcome(outcome: Mapping[str, object]) -> str:
    """Line on a table that was renewed or not."""
    if outcome.get("failed"):
        return f"- {outcome['table']}: {outcome['failed']}"
    new, changed, left_out = (_amount(outcome, name) for name in ("new", "changed", "left_out"))
    return f"- {outcome['table']}: {new} new, {changed} changed, {left_out} left out."


def _amount(outcome: Mapping[str, object], name: str) -> int:
    rows = outcome.get(name)
    return len(rows) if isinstance(rows, list) else 0


def join(fetched: Path, table: Path, key: Sequence[str]) -> None:
    """Put fetched rows in place of those of the table with the same key, and new ones behind.

    Raises:
        InputError: other columns than the table's.
    """
    columns, rows = _rows(table)
    new_columns, new_rows = _rows(fetched)
    if new_columns != columns:
        raise InputError(f"{fetched.name} has other columns than {table.name}; nothing is joined.")
    by_key = {tuple(row[name] for name in key): row for row in new_rows}
    joined = [by_key.pop(tuple(row[name] for name in key), row) for row in rows]
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*joined, *by_key.values()])
    table.write_text(text.getvalue(), encoding="utf-8")


def _rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or ()), list(reader)


# What moved, table by table.


def _moved() -> Iterator[str]:
    """A table of the changed files of data/, then their first changed rows."""
    paths = [path for path in changed_files("data") if path.suffix == ".csv"]
    if not paths:
        return
    changes = {
        path: changes_of(committed(path), path.read_text(encoding="utf-8")) for path in paths
    }
    yield "| table | new rows | rows that went | changed rows |"
    yield "| --- | --- | --- | --- |"
    for path, change in changes.items():
        place = path.relative_to(product_folder())
        yield f"| {place} | {change.new} | {change.gone} | {len(change.changed)} |"
    for path, change in changes.items():
        if change.changed:
            yield ""
            yield f"{path.name}: {'; '.join(change.changed[:SHOWN])}."


@dataclass(frozen=True, kw_only=True)
class TableChange:
    """How a table differs from the committed one."""

    new: int  # rows that were not there
    gone: int  # rows that are not there any more
    changed: tuple[str, ...]  # rows with other values, in words


def changes_of(before: str, after: str) -> TableChange:
    """Changes of a table from one text to another; rows are the same by their first column, and
    by their place among those of the same.
    """
    old, new = (_numbered(text) for text in (before, after))
    changed = [
        f"{key[0]}: {'; '.join(_differences(old[key], row))}"
        for key, row in new.items()
        if key in old and old[key] != row
    ]
    return TableChange(
        new=len(new.keys() - old.keys()), gone=len(old.keys() - new.keys()), changed=tuple(changed)
    )


def _numbered(text: str) -> dict[tuple[str, int], dict[str, str]]:
    rows: dict[tuple[str, int], dict[str, str]] = {}
    counts: dict[str, int] = {}
    for row in csv.DictReader(StringIO(text)):
        first = str(next(iter(row.values()), ""))
        counts[first] = counts.get(first, 0) + 1
        rows[first, counts[first]] = row
    return rows


def _differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name, value in new.items():
        former = old.get(name) or ""
        if former != (value or ""):
            yield f"{name} {former or 'nothing'} to {value or 'nothing'}"


if __name__ == "__main__":
    sys.exit(main())
