"""Published measurements, in this checkout or beside it."""

import csv
from pathlib import Path

import pytest

FOLDERS = [Path(__file__).parents[up] / "shared" / "measurements" for up in (2, 3)]


def measured(name: str) -> list[dict[str, str]]:
    """Rows of a file; the test is skipped without it."""
    path = next((folder / name for folder in FOLDERS if (folder / name).exists()), None)
    if path is None:
        pytest.skip(f"the published measurements ({name}) are not beside this checkout")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
