"""Known speeds of this machine, from the runs that were saved on it."""

import json
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.errors import InputError
from advisor.paths import data_folder
from advisor.permission import permitted

LARGEST = 4_000_000  # largest file of kept runs that is read [B]


def runs_file() -> Path:
    """File of the kept runs (`evidence.accuracy.brought_runs`)."""
    return data_folder() / "runs.json"


def known_here(most: int) -> tuple[str, ...]:
    """Last known speeds that were saved for this machine.

    Empty where they are hidden or where the file cannot be read; `runs list` says so.
    """
    path = runs_file()
    if not permitted().here or not path.exists():
        return ()
    try:
        rows: Any = json.loads(given_files.kept(path, LARGEST))
    except (InputError, ValueError, RecursionError):
        return ()
    if not isinstance(rows, list):
        return ()
    texts = [row.get("known") for row in rows if isinstance(row, dict)]
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and text))[-most:]
