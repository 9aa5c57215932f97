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
from urllib.parse import urljoin

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
READY = "[data-testid=stApp][data-test-script-state=notRunning]"
QUIET = """ready => {
    const busy = !document.querySelector(ready)
        || document.querySelector('[data-testid=stSkeleton]');
    window.quietSince = busy ? undefined : window.quietSince ?? performance.now();
    const quiet = performance.now() - window.quietSince > 300;
    if (quiet) window.quietSince = undefined;
    return quiet;
}"""
"""Whether the page has been at rest for 300 ms."""
LOCAL = re.compile(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:")


VIEW = {"width": 1280, "height": 1600}
STILL = {"viewport": VIEW, "reduced_motion": "reduce"}
"""Of a context of a test's own: what moves takes most of a core to draw."""


def missing():
    try:
        import playwright.sync_api  # noqa: F401  only whether it is installed
    except ImportError:
        return "the Python package playwright is not installed"
    if CHROMIUM.exists():
        return ""
    return f"{CHROMIUM} does not exist"


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
def browser():
    """A running Chromium whose tabs share a process, which compiles the pages' scripts once."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=str(CHROMIUM), args=["--process-per-site"])
        running.new_context()
        yield running
        running.close()


@contextmanager
def page(chromium, address, *, viewport=VIEW, color_scheme="light", reduced_motion="reduce"):
    """A page without errors in the console, and without requests to other machines.

    It keeps still unless a test asks for motion.
    """
    tab = visitor(chromium, address).new_page()
    tab.set_default_timeout(60_000)
    tab.set_viewport_size(viewport)
    tab.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
    complaints = []
    foreign = []

    def hear(line):
        # Streamlit looks for its server below a page's own address first.
        if line.type == "error" and "/_stcore/" not in line.location["url"]:
            complaints.append(line.text)

    tab.on("console", hear)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda made: None if LOCAL.match(made.url) else foreign.append(made.url))
    try:
        tab.goto(address)
        settle(tab)
        yield tab
        assert complaints == []
        assert foreign == []
        tab.evaluate("localStorage.clear()")
    except Exception as error:
        with suppress(Exception):  # a page that is gone shows nothing
            error.add_note(f"The page showed:\n{tab.inner_text('body')[:3000]}")
        raise
    finally:
        tab.close()
        tab.context.clear_cookies()


def visitor(chromium, address):
    """The browser's own context, which keeps the scripts that it was sent.

    A tab stays open there, so that the process that compiled them does not end with a page.
    """
    context = chromium.contexts[0]
    if not context.pages:
        context.new_page().goto(urljoin(address, "/_stcore/health"))
    return context


def settle(entry):
    """Wait until no run has been going on for a moment: a link or a callback starts another."""
    entry.wait_for_selector(READY)
    entry.wait_for_function(QUIET, arg=READY)


def scrolls_sideways(entry):
    return entry.evaluate("document.documentElement.scrollWidth > innerWidth")
