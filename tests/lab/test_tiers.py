"""Engines with experts in tiers: what is left out of their predictions."""

from pathlib import Path

from advisor.catalog.csv_tables import read
from lab.tiers import LEFT_OUT, LeftOutTiers, left_out_table

ROOT = Path(__file__).parents[2]


def test_the_document_shows_the_table_that_the_command_prints() -> None:
    text = (ROOT / "docs/accuracy.md").read_text(encoding="utf-8")
    assert "\n".join(left_out_table()) in text, "python -m lab.tiers --markdown"


def test_runs_are_harder_to_predict_without_their_engine() -> None:
    heads, _, *rows = (line.strip("| ").split(" | ") for line in left_out_table())
    error = {(left, timed): float(off.removesuffix(" %")) for left, timed, _, _, off in rows}
    assert heads[0] == "left out"
    for timed in ("tokens", "prompt"):
        assert error["its publisher", timed] <= error["every run of its engine", timed]
    assert error["its publisher", "tokens"] < 40.0  # read as llama.cpp they were 64 % off


def test_every_left_out_run_has_its_measured_time() -> None:
    rows = read(LEFT_OUT, LeftOutTiers)
    assert len({(row.timed, row.id) for row in rows}) == len(rows)
    assert all(row.measured > 0 and row.engine and row.group for row in rows)
