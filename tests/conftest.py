"""Settings of all tests."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The fit multiplies small matrices: BLAS threads wait for each other longer than they compute, and
# ten times as long where several processes run tests side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Both judge by the clock, which a busy machine makes run: slowness is shown by `make bench`.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

OF_TESTS = ("ADVISOR_FUZZ", "ADVISOR_SOAK", "ADVISOR_EMPTY_VENV")
"""Settings of the tests themselves; others would have them write to whatever place they name."""


def leave_the_users_places() -> None:
    """Drop the program's settings, and keep data in a folder that goes with the tests."""
    for name in [*os.environ]:
        if name.startswith(("ADVISOR_", "HF_")) and name not in OF_TESTS:
            del os.environ[name]
    folder = tempfile.mkdtemp(prefix="advisor-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["ADVISOR_DATA_DIR"] = folder


# Before any module of the program is imported, so that none has read a setting.
leave_the_users_places()


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """No test has what another was told by a Hub."""
    if resolving := sys.modules.get("advisor.model.resolve"):
        resolving.ON_HUB.clear()


LONG = ("browser", "panel", "evidence", "ui", "advice", "reports", "runtimes", "test_package.py")
"""Folders and files whose tests come first, the longest at the front."""
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave short files for the end, so that all workers of a run end at about the same time."""
    places = {part: place for place, part in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.relative_to(TESTS).parts[0], len(LONG)))
