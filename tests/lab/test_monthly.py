"""The monthly round: what moved in a table, what joins it, what a failed step says."""

import json
import re
from pathlib import Path

import pytest

from advisor.errors import InputError
from lab import monthly

BEFORE = "name,usd,source\nRTX 3090,800,a\nRTX 4090,1600,a\nRTX 4090,1700,b\nL4,2500,a\n"
AFTER = "name,usd,source\nRTX 3090,750,a\nRTX 4090,1600,a\nRTX 4090,1700,b\nB580,250,c\n"


def test_rows_that_came_went_and_changed_are_told_apart() -> None:
    change = monthly.changes_of(BEFORE, AFTER)
    assert (change.new, change.gone) == (1, 1)
    assert change.changed == ("RTX 3090: usd 800 to 750",)
    assert monthly.changes_of("", AFTER).new == 4
    assert not monthly.changes_of(AFTER, AFTER).changed


def test_fetched_rows_take_the_place_of_those_with_the_same_key(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    fetched = tmp_path / "fetched.csv"
    table.write_text(BEFORE)
    fetched.write_text('name,usd,source\nRTX 4090,1500,b\nB580,250,"c, d"\n')
    monthly.join(fetched, table, ("name", "source"))
    assert table.read_text() == (
        "name,usd,source\nRTX 3090,800,a\nRTX 4090,1600,a\nRTX 4090,1500,b\nL4,2500,a\n"
        'B580,250,"c, d"\n'
    )
    fetched.write_text("name,eur\nRTX 4090,1500\n")
    with pytest.raises(InputError, match="other columns"):
        monthly.join(fetched, table, ("name",))


def test_the_tables_that_are_joined_have_the_columns_of_their_keys() -> None:
    for file, key in monthly.TABLES.values():
        with (monthly.product_folder() / "data" / file).open(encoding="utf-8") as lines:
            assert set(key) <= set(next(lines).strip().split(","))


def test_a_step_that_fails_says_what_it_printed() -> None:
    step = monthly.ran("Nothing", "lab.no_such_module", worst=0)
    assert step.failed
    assert "No module named lab.no_such_module" in step.text
    assert re.fullmatch(r"(?s)~~~text\n.*\n~~~", step.text)
    assert monthly.fenced("a\n~~~\nb").count("~~~") == 2


def test_the_round_writes_title_and_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [monthly.Step(name="Accuracy", text="No group got worse.")]
    monkeypatch.setattr(monthly, "_steps", lambda *_, **__: iter(steps))
    monkeypatch.setattr(monthly, "_moved", lambda: iter(["| table |"]))
    assert monthly.main(["--out", str(tmp_path)]) == 0
    text = (tmp_path / "body.md").read_text()
    assert text == "## What moved\n\n| table |\n\n## Accuracy\n\nNo group got worse.\n"
    assert capsys.readouterr().out == text
    assert (tmp_path / "title.txt").read_text().startswith("Tables and runs of ")
    steps[0] = monthly.Step(name="Accuracy", text="Worse.", failed=True)
    assert monthly.main(["--out", str(tmp_path)]) == 1


def test_a_table_that_cannot_be_renewed_is_told() -> None:
    told = monthly._outcome(json.loads('{"table": "apis", "failed": "No network."}'))
    assert told == "- apis: No network."
    kept = {"table": "apis", "failed": None, "new": ["a"], "changed": [], "left_out": ["b", "c"]}
    assert monthly._outcome(kept) == "- apis: 1 new, 0 changed, 2 left out."
