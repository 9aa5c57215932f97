"""Renewed tables: whole or not at all, the newer counts, the last can be taken back."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA
from advisor.failures import StoreError

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("ADVISOR_SOAK", "3"))
LATER = date(2026, 12, 24)
TABLE = "rents"


@dataclass(frozen=True)
class Row:
    name: str
    usd: float


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    return tmp_path / "tables" / TABLE


def keep(number: int, day: date = LATER) -> None:
    renewed.keep(TABLE, f"name,usd\nrow {number},{number}\n", day)


def counting() -> list[str]:
    return [row.name for row in renewed.rows(TABLE, Row)]


def test_the_last_renewal_counts_and_is_taken_back(folder: Path) -> None:
    assert counting() == []
    for number in (1, 2, 3):
        keep(number)
    assert counting() == ["row 3"]
    assert len(list(folder.iterdir())) == renewed.KEPT
    assert renewed.take_back(TABLE) is not None
    assert counting() == ["row 2"]
    keep(4)
    assert counting() == ["row 4"]
    renewed.take_back(TABLE)
    renewed.take_back(TABLE)
    assert counting() == []
    assert renewed.take_back(TABLE) is None


def test_a_newer_table_of_the_package_counts() -> None:
    shipped = renewed.tables()[TABLE].read
    keep(1, date(2026, 1, 1))
    assert counting() == []
    assert renewed.day_of(TABLE) == shipped
    assert [row.name for row in renewed.rows(TABLE, Row, beside=True)] == ["row 1"]
    keep(2, date.fromisoformat(shipped))
    assert counting() == ["row 2"]


def test_the_remains_of_a_killed_program_do_not_pile_up(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "0001_2026-11-01.csv.new").write_text("name,us")
    keep(1)
    assert [path.name for path in folder.iterdir()] == [f"0001_{LATER}.csv"]


@pytest.mark.parametrize("text", ["", "name\n", "name,usd\nrow,dear\n", "name,usd\nrow\n", "\0\0"])
def test_a_damaged_renewal_leaves_the_one_before(folder: Path, text: str) -> None:
    keep(1)
    keep(2)
    (folder / f"0002_{LATER}.csv").write_text(text)
    assert counting() == ["row 1"]
    (folder / f"0002_{LATER}.csv").write_bytes(b"\xff\xfe")
    assert counting() == ["row 1"]


def test_files_of_other_names_are_passed_over(folder: Path) -> None:
    keep(1)
    for name in ("0009_2026-13-40.csv", "notes.txt", "unfinished.new", "0005.csv"):
        (folder / name).write_text("name,usd\nanother,1\n")
    assert counting() == ["row 1"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_a_sentence(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    with pytest.raises(StoreError, match="The table stays as it was"):
        keep(1)


def test_a_file_in_place_of_the_folder_is_a_sentence(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        keep(1)


WRITER = """
import sys
from datetime import date
from advisor.catalog import renewed
number = 0
while True:
    number += 1
    rows = f"row {number},{number}\\n" * 20_000
    renewed.keep("rents", f"name,usd\\n{rows}", date(2026, 12, 24))
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no SIGKILL")
def test_a_program_that_is_killed_leaves_a_whole_table(
    folder: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("cases", KILLS)
    draw = random.Random(48)
    for _ in range(KILLS):
        program = subprocess.Popen(
            (sys.executable, "-c", WRITER), cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        with program:
            assert program.stdout is not None
            told = [program.stdout.readline()]  # from here on it writes without a pause
            threading.Timer(draw.uniform(0.0, 0.2), program.send_signal, [signal.SIGKILL]).start()
            told += program.stdout
        assert program.returncode == -signal.SIGKILL
        rows = renewed.rows(TABLE, Row)
        last = max(int(line) for line in told if line.endswith("\n"))
        assert len(rows) == 20_000
        assert {row.usd for row in rows} in ({last}, {last + 1})
        assert len(list(folder.glob("*.csv"))) <= renewed.KEPT + 1


def test_what_the_package_ships_is_read_on_the_day_that_it_says() -> None:
    for row in renewed.tables().values():
        if row.shipped.endswith(".csv"):
            lines = (DATA / row.shipped).read_text(encoding="utf-8")
            assert f",{row.read}," in lines, row.table
