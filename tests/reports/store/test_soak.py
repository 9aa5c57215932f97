"""Saves under faults: confirmed ones are kept, none is incomplete.

`make soak` kills 100 times with each database; every run of the tests kills a few.
"""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from postgresql import PostgreSQL
from saved_reports import SAMPLE, sample

from advisor.reports.store.store import ReportStore, open_store

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("ADVISOR_SOAK", "3"))
STARTS = 10 if KILLS > 3 else 2
SAVER = """
import json, sys
from advisor.reports.document import from_json
from advisor.reports.store.store import open_store
document = from_json(json.load(open(sys.argv[1])))
store = open_store(sys.argv[3])
number = 0
while True:
    number += 1
    saved = store.save(document, f"{sys.argv[2]} {number}", tags=["soak"])
    print(saved.id, saved.name, sep="\\t", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no SIGKILL")
def test_a_save_that_was_confirmed_outlives_its_program(
    store: ReportStore, url: str, record_property: Callable[[str, object], None]
) -> None:
    record_property("cases", KILLS)
    draw = random.Random(17)
    confirmed: dict[int, str] = {}
    for kill in range(KILLS):
        with saver(url, f"run {kill}") as program:
            assert program.stdout is not None
            first = program.stdout.readline()  # from here on it saves without a pause
            threading.Timer(draw.uniform(0.0, 0.5), program.send_signal, [signal.SIGKILL]).start()
            confirmed |= told((first, *program.stdout))
        assert program.returncode == -signal.SIGKILL
    kept = {head.id: head.name for head in store.list()}
    assert confirmed.items() <= kept.items()
    assert len(kept) - len(confirmed) <= KILLS  # saved, and killed before it was told
    for number in kept:
        assert store.load(number).tags == ("soak",)


def test_a_save_that_was_confirmed_outlives_a_crash_of_its_server(
    postgresql_server: PostgreSQL, record_property: Callable[[str, object], None]
) -> None:
    record_property("cases", min(KILLS, 20))
    url = postgresql_server.new_database()
    confirmed: dict[int, str] = {}
    for crash in range(min(KILLS, 20)):
        with saver(url, f"run {crash}") as program:
            assert program.stdout is not None
            first = program.stdout.readline()
            postgresql_server.stop()
            confirmed |= told((first, *program.stdout))
        assert program.returncode == 1, "the program says that the server does not answer"
        postgresql_server.start()
    store = open_store(url)
    kept = {head.id: head.name for head in store.list()}
    assert confirmed.items() <= kept.items()
    assert all(store.load(number).tags == ("soak",) for number in kept)
    store.close()


def test_a_file_that_may_not_grow_keeps_what_was_confirmed(file: Path) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
    with saver(f"sqlite:///{file}", "until full", before=limited) as program:
        assert program.stdout is not None
        confirmed = told(program.stdout)
    assert program.returncode == 1
    assert confirmed
    store = open_store(f"sqlite:///{file}")
    assert confirmed.items() <= {head.id: head.name for head in store.list()}.items()
    assert store.save(sample(), "after there was room").id > max(confirmed)
    store.close()


FILLED = """
import json, os, sys
from advisor.failures import StoreError
from advisor.reports.document import from_json
from advisor.reports.store.store import open_store
disk = sys.argv[2]
os.environ["ADVISOR_DATA_DIR"] = disk
document = from_json(json.load(open(sys.argv[1])))
def fill():
    with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
def refused(save):
    try:
        save()
    except StoreError as error:
        print(error)
        return True
store = open_store(f"sqlite:///{disk}/reports.sqlite")
confirmed = {store.save(document, "before").id: "before"}
fill()
for number in range(200):
    if refused(lambda: confirmed.update({store.save(document, f"{number}").id: f"{number}"})):
        break
else:
    raise SystemExit("the disk was never full")
assert {head.id: head.name for head in store.list()} == confirmed
os.remove(os.path.join(disk, "filler"))
assert store.save(document, "after some was freed").id > max(confirmed)
assert all(store.load(number).name == name for number, name in confirmed.items())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a disk of its own is mounted as Linux does")
def test_a_disk_that_is_full_keeps_what_was_confirmed(tmp_path: Path) -> None:
    """A disk of 2 MB in a namespace of its own, which ends with its program."""
    own = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    mount = f'mount -t tmpfs -o size=2m tmpfs "{tmp_path}"'
    if subprocess.run([*own, "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    run = [*own, "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c", FILLED]
    ended = subprocess.run(
        [*run, str(SAMPLE), str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "There is no room left for" in ended.stdout


def test_programs_that_start_first_at_once_share_the_tables(
    url: str, record_property: Callable[[str, object], None]
) -> None:
    record_property("cases", STARTS)
    save = SAVER.replace("while True:", "while number < 3:")
    command = [sys.executable, "-c", save, str(SAMPLE)]
    starts = [
        subprocess.Popen([*command, f"start {at}", url], cwd=ROOT, stdout=subprocess.DEVNULL)
        for at in range(STARTS)
    ]
    assert [program.wait(300) for program in starts] == [0] * STARTS
    store = open_store(url)
    assert len(store.list()) == 3 * STARTS
    store.close()


def test_a_clock_that_jumps_loses_no_report_and_hides_none(
    store: ReportStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = []
    for year in (2026, 1999, 2099, 2026):
        clock = type(
            "Clock", (datetime,), {"now": lambda zone, year=year: datetime(year, 5, 1, tzinfo=zone)}
        )
        monkeypatch.setattr("advisor.reports.store.store.datetime", clock)
        numbers.append(store.save(sample(), f"in {year}, {len(numbers)}").id)
    assert sorted(head.id for head in store.list()) == numbers
    store.delete(numbers[0])
    store.restore(numbers[0])
    assert {store.load(number).name for number in numbers} == {head.name for head in store.list()}


@contextmanager
def saver(url: str, name: str, before: str = "") -> "Iterator[subprocess.Popen[str]]":
    """A program that saves reports without a pause and tells each."""
    command = [sys.executable, "-c", before + SAVER, str(SAMPLE), name, url]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as program:
        yield program


def told(lines: Iterable[str]) -> dict[int, str]:
    """Numbers and names of the saves that a program confirmed."""
    whole = (line.rstrip("\n").split("\t") for line in lines if line.endswith("\n"))
    return {int(number): name for number, name in whole}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, file: Path) -> str:
    """Address of an empty store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{file}"
    return str(request.getfixturevalue("postgresql_server").new_database())


@pytest.fixture
def store(url: str) -> Iterator[ReportStore]:
    """The store at that address."""
    opened = open_store(url)
    yield opened
    opened.close()
