"""Files of sent rows: data/measurements/*_sent.csv, with the prediction made before each."""

import csv
from collections.abc import Iterator
from pathlib import Path

from advisor.errors import InputError
from advisor.evidence.accuracy.fresh import constants_digest
from advisor.evidence.published.row import COLUMNS
from lab.intake.taken import Intake, TakenRun
from lab.published import SENT

BEFORE = ("predicted_tps", "predicted_low", "predicted_high", "predicted_by", "doubts")
"""Columns beside those of every measurement file: speed of each user that was predicted before the
row was taken, its range [tokens/s], the constants, and why it is doubtful."""
HEADER = (*(name for name in COLUMNS if name != "machine"), *BEFORE)
NUMBER = "sent"  # beginning of the rows' ids


def write_rows(intake: Intake, folder: Path) -> list[Path]:
    """Add the rows to the files of a folder; returns those that changed.

    Raises:
        InputError: a folder that is none, or cannot be written.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; name one that takes the rows.")
    last = max(map(_last_number, folder.glob(f"*{SENT}.csv")), default=0)
    rows: dict[Path, list[dict[str, str]]] = {}
    for number, run in enumerate(intake.taken, start=last + 1):
        path = folder / f"{run.kind}{SENT}.csv"
        rows.setdefault(path, []).append(_cells(run, f"{NUMBER}{number:05d}"))
    for path, added in rows.items():
        _append(path, added)
    return list(rows)


def _last_number(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        ids = (row["id"] for row in csv.DictReader(file))
        return max((int(name.removeprefix(NUMBER)) for name in ids), default=0)


def _append(path: Path, rows: list[dict[str, str]]) -> None:
    new = not path.exists()
    try:
        with path.open("a", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, HEADER, lineterminator="\n")
            if new:
                table.writeheader()
            table.writerows(rows)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def _cells(run: TakenRun, name: str) -> dict[str, str]:
    """Cells of a row by column."""
    return dict(_named_cells(run, name))


def _named_cells(run: TakenRun, name: str) -> Iterator[tuple[str, str]]:
    cells = run.sent.row.cells
    yield from ((column, " ".join(cells.get(column, "").split())) for column in HEADER)
    yield "id", name
    yield "doubtful", str(bool(run.doubts))
    yield "predicted_tps", f"{run.predicted:.5g}"
    yield "predicted_low", f"{run.low:.5g}"
    yield "predicted_high", f"{run.high:.5g}"
    yield "predicted_by", constants_digest()
    yield "doubts", "; ".join(run.doubts)
