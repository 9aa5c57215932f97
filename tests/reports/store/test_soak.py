"""Saves killed at random moments: confirmed ones are kept, none is incomplete.

`make soak` kills 200 times; every run of the tests kills a few.
"""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from saved_reports import SAMPLE

from advisor.reports.store.store import open_store

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("ADVISOR_SOAK", "3"))
SAVER = """
import json, sys
from advisor.reports.document import from_json
from advisor.reports.store.store import open_store
document = from_json(json.load(open(sys.argv[1])))
store = open_store()
number = 0
while True:
    number += 1
    saved = store.save(document, f"{sys.argv[2]} {number}", tags=["soak"])
    print(saved.id, saved.name, sep="\\t", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no SIGKILL")
def test_a_save_that_was_confirmed_outlives_its_program(file: Path) -> None:
    draw = random.Random(17)
    confirmed: dict[int, str] = {}
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", SAVER, str(SAMPLE), f"run {kill}"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        ) as saver:  # fmt: skip
            assert saver.stdout is not None
            first = saver.stdout.readline()  # from here on it saves without a pause
            threading.Timer(draw.uniform(0.0, 0.5), saver.send_signal, [signal.SIGKILL]).start()
            for line in (first, *saver.stdout):
                if line.endswith("\n"):
                    number, name = line.rstrip("\n").split("\t")
                    confirmed[int(number)] = name
        assert saver.returncode == -signal.SIGKILL
    store = open_store()
    kept = {head.id: head.name for head in store.list()}
    assert confirmed.items() <= kept.items()
    assert len(kept) - len(confirmed) <= KILLS  # saved, and killed before it was told
    for number in kept:
        assert store.load(number).tags == ("soak",)
    store.close()
