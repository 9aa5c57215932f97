"""One browser and one server for all tests here; skipped without a browser, except in CI."""

import os

import pytest
from driving import browser, free_port, missing, server


@pytest.fixture(scope="package", autouse=True)
def _browser_needed():
    if missing() and not os.environ.get("CI"):
        pytest.skip(f"no browser: {missing()}")
    assert not missing(), missing()


@pytest.fixture(scope="package")
def shared_folder(tmp_path_factory):
    """Data folder of the server at `address`."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="package")
def address(shared_folder):
    """A running app, which several tests share: what they keep there needs names of their own."""
    with server(free_port(), shared_folder) as running:
        yield running


@pytest.fixture
def port():
    """For a server of the test's own."""
    return free_port()


@pytest.fixture(scope="package")
def chromium():
    """A running browser; each test opens a context of its own."""
    with browser() as running:
        yield running
