"""One browser for a module; skipped where there is none, except where CI has to have one."""

import os
import socket

import pytest
from driving import CHROMIUM, missing, server


@pytest.fixture(scope="module", autouse=True)
def _browser_needed():
    if missing() and not os.environ.get("CI"):
        pytest.skip(f"no browser: {missing()}")
    assert not missing(), missing()


@pytest.fixture(scope="module")
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def address(port, folder):
    """One server for the tests that do not restart it."""
    with server(port, folder) as found:
        yield found


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM))
        yield browser
        browser.close()
