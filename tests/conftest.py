"""Settings of all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The fit multiplies small matrices: BLAS threads wait for each other longer than they compute, and
# ten times as long where several processes run tests side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Both judge by the clock, which a busy machine makes run: slowness is shown by `make bench`.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

LONG = ("browser", "panel", "evidence", "ui", "advice", "reports", "runtimes", "test_package.py")
"""Folders and files whose tests come first, the longest at the front."""
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave short files for the end, so that all workers of a run end at about the same time."""
    places = {part: place for place, part in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.relative_to(TESTS).parts[0], len(LONG)))
