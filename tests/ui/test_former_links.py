"""Links of the page of 2026-11-23, each beside the command that the page then gave."""

import csv
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import parse_qsl

from ui_app import app, copied, tab

from advisor.request.command_line import from_argv

LINKS = Path(__file__).parents[1] / "samples" / "links.csv"


def meaning(command: str) -> dict[str, object]:
    """What a command asks; open formats are the usual ones, Q4_K_M and an f16 cache."""
    request = from_argv(shlex.split(command)[1:])
    return asdict(
        replace(request, kv_type=request.kv_type or "f16", format=request.format or "Q4_K_M")
    )


def test_links_ask_what_they_asked() -> None:
    with LINKS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    changed = {}
    for row in rows:
        page = tab(app(**dict(parse_qsl(row["link"]))), "Sources")
        (command,) = (text for text in copied(page) if text.startswith("python -m advisor "))
        now = meaning(command.removeprefix("python -m advisor "))
        before = meaning(row["command"])
        if now != before:
            changed[row["link"]] = {
                key: (before[key], now[key]) for key in before if before[key] != now[key]
            }
    assert len(rows) == 12
    assert changed == {}
