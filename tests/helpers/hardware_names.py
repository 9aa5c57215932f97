"""Names of hardware as printed by drivers and written by people, with their meaning."""

import csv
from pathlib import Path

NAMES = Path(__file__).parents[1] / "samples" / "names"


def sample(file: str) -> list[dict[str, str]]:
    """Rows of a list of names; an empty meaning is a name to be refused."""
    with (NAMES / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))
