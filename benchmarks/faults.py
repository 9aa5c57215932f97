"""Faults, and how often the program held: `python -m benchmarks.faults` (`make soak`).

Runs the tests of each fault, with `ADVISOR_SOAK` kills where a program is killed, and prints a line
each: cases, those that held, and the time they took.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence

import pytest

KILLS = "100"  # kills of a saving program, with SQLite and with PostgreSQL
STORE = "tests/reports/store/test_store.py"
SOAK = "tests/reports/store/test_soak.py"
LOCAL = "tests/calibration/test_local_store.py"
IMPORTED = "tests/calibration/test_imported_store.py"
HUB = "tests/model/hub/test_hub.py"
GPU = "tests/probes/test_gpu.py"
RENEWED = "tests/catalog/test_renewed.py"
REFRESH = "tests/refresh/test_models_fetched.py"
FAULTS = {
    "kill -9 while saving": f"{SOAK} outlives_its_program",
    "kill -9 while tables are renewed": f"{RENEWED} {REFRESH} killed",
    "PostgreSQL crashes while saving": f"{SOAK} crash_of_its_server",
    "PostgreSQL restarted": "tests/reports/store/test_postgresql.py restart",
    "first start, ten at once": f"{SOAK} start_first_at_once",
    "the same while calibrations are saved": f"{LOCAL} killed or interrupted or failed_write",
    "disk full (2 MB of its own), file that may not grow": (f"{STORE} {SOAK} full or may_not_grow"),
    "read-only file, folder or disk": f"{STORE} {LOCAL} {IMPORTED} read_only or cannot_be_written",
    "file deleted or replaced under the program": f"{STORE} deleted_file or put_in_its_place",
    "clock jumps by decades": f"{SOAK} clock",
    "no home folder": "tests/test_paths.py tests/probes/test_disk.py home",
    "Hub that hangs, stops or is gone": f"{HUB} slow or truncated or busy or offline or no_server",
    "driver that errors, GPU that vanishes": f"{GPU} refuses or permission or lost or no_gpu",
    "damaged database, byte by byte": f"{STORE} damaged",
    "damaged calibration": f"{LOCAL} {IMPORTED} damaged or unreadable or no_text or newer",
    "tables of another version or program": f"{STORE} newer or older or another_program or step",
}
"""Tests of each fault: files, then words of their names."""


def main() -> None:
    """Print the table; exits with 1 where a fault did not hold."""
    os.environ.setdefault("ADVISOR_SOAK", KILLS)
    missed = 0
    print(f"{'fault':<46} {'cases':>6} {'held':>6} {'s':>6}")
    for fault, tests in FAULTS.items():
        words = tests.split()
        files = [word for word in words if word.endswith(".py")]
        held, cases, seconds = _run(files, " ".join(words[len(files) :]))
        missed += cases - held
        print(f"{fault:<46} {cases:>6} {held:>6} {seconds:>6.0f}", flush=True)
    print(f"{os.environ['ADVISOR_SOAK']} kills each, load {os.getloadavg()[0]:.1f}")
    sys.exit(missed > 0)


def _run(files: Sequence[str], words: str) -> tuple[int, int, float]:
    """Cases that held, all of them, and their time [s]; kills and damaged bytes count each."""
    counts = _Counts()
    start = time.perf_counter()
    quiet = ("-o", "addopts=--import-mode=importlib", "-p", "no:terminal")
    pytest.main([*files, "-k", words, *quiet], plugins=[counts])
    if not counts.cases:
        raise SystemExit(f"No test of {files} is called {words!r}.")
    return counts.cases["held"], counts.cases.total(), time.perf_counter() - start


class _Counts:
    """Plugin that counts the cases of tests: one, or as many as they say."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            stated = dict(report.user_properties).get("cases", 1)
            if isinstance(stated, int):
                number = stated
            else:
                number = 1
            self.cases["held" if report.passed else "missed"] += number


if __name__ == "__main__":
    main()
