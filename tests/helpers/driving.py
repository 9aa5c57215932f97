"""The app's server and a real browser, for tests that need both."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
READY = "[data-testid=stApp][data-test-script-state=notRunning]"
LOCAL = re.compile(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:")


def missing():
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the Python package playwright is not installed"
    return "" if CHROMIUM.exists() else f"{CHROMIUM} does not exist"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def server(port, folder, **environment):
    """The app as a user starts it; stopped by its process number."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
        cwd=ROOT,
        env={**os.environ, "ADVISOR_DATA_DIR": str(folder), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)


def wait_for(address, process):
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:  # not listening yet, or slow to answer
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
    raise AssertionError(f"{address} does not answer")


@contextmanager
def page(chromium, address, **options):
    """A page without errors in the console, and without requests to other machines."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 1600}, **options})
    one = context.new_page()
    one.set_default_timeout(60_000)
    complaints, foreign = [], []
    one.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    one.on("pageerror", lambda error: complaints.append(str(error)))
    one.on("request", lambda asked: None if LOCAL.match(asked.url) else foreign.append(asked.url))
    one.goto(address)
    settle(one)
    yield one
    assert complaints == []
    assert foreign == []
    one.close()


def settle(one):
    one.wait_for_selector(READY)
    one.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')")


def scrolls_sideways(one):
    return one.evaluate("document.documentElement.scrollWidth > innerWidth")
