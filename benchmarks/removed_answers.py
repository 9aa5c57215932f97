"""Answers of SECURITY.md taken out one by one: `python -m benchmarks.removed_answers [WORDS]`.

A row of removed_answers.csv is a line of an answer and what stands there without it. In a copy of
the project the line is replaced, and the tests that the table names must fail; a row that no test
notices is printed, and the exit code is the number of those. With words, such rows alone whose
threat or file has them.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".csv")
COPIED = ("advisor", "tests", "data", "deploy", "lab", "benchmarks", ".streamlit", "docs")
FAILED = b" failed"  # what a run of tests says that noticed; an error of their set-up is none
LONGEST = 600  # most that the tests of a row may take; those that end no more notice, too [s]


@dataclass(frozen=True, kw_only=True)
class RemovedAnswer:
    """One row of removed_answers.csv."""

    threat: str  # threat of SECURITY.md that is answered
    file: str  # file with the answer
    answer: str  # text of it
    without: str  # text in its place
    tests: str  # tests that must notice, separated by blanks


def rows() -> Iterator[RemovedAnswer]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield RemovedAnswer(**row)


def copied(to: Path) -> None:
    """Copy what tests need of the project."""
    for name in COPIED:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(path, to)


def noticed(row: RemovedAnswer, where: Path) -> bool:
    """Whether tests fail without an answer."""
    path = where / row.file
    text = path.read_text(encoding="utf-8")
    if row.answer not in text:
        raise SystemExit(f"{row.file} has no {row.answer!r}: bring {TABLE.name} up to date.")
    path.write_text(text.replace(row.answer, row.without), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [*command, *row.tests.split()],
            cwd=where,
            timeout=LONGEST,
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text, encoding="utf-8")
    return run.returncode == 1 and FAILED in run.stdout


def main() -> int:
    """Print the rows that no test notices."""
    missed = 0
    words = " ".join(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        copied(where)
        for row in filter(lambda row: words in f"{row.threat} {row.file}", rows()):
            held = noticed(row, where)
            missed += not held
            print(f"{'held' if held else 'NOT HELD':9}{row.threat[:60]}: {row.file}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
