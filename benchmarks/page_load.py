"""Seconds until a page shows its answer and its last chart in a browser, page by page.

    python -m benchmarks.page_load [PAGE ...]

Two lines per page, for two visits in an empty profile: seconds from navigation to the answer and to
the last chart, the processor time of the browser's page, and that time as a multiple of the
lightest page's, which a busy machine changes less; then the processor time of the server. The first
visit of the first page is also the server's first.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = Path("/usr/bin/chromium")
PAGES = {
    "Advise": ("", ".oa-verdict"),
    "Find": ("find?machine=Another+machine", ".oa-verdict"),
    "What can I run?": ("run", ".oa-verdict"),
    "Calibrate": ("calibrate", "h1.oa-title"),
    "Reports": ("reports", "h1"),
    "Accuracy": ("accuracy", ".oa-verdict"),
}
"""Address of each page, and the element that holds its answer."""
LIGHTEST = "Reports"
CHARTS = ".js-plotly-plot, .oa-plane, .oa-bars, .oa-gauge, canvas"
READY = "[data-testid=stApp][data-test-script-state=notRunning]"
QUIET = 700
"""The page is complete when nothing changed for this long [ms]."""
WATCH = """
window.seen = {answer: null, chart: null, charts: 0, change: 0};
new MutationObserver(() => {
  const seen = window.seen;
  seen.change = performance.now();
  if (seen.answer === null && document.querySelector(ANSWER)) seen.answer = seen.change;
  const charts = document.querySelectorAll(CHARTS).length;
  if (charts !== seen.charts) { seen.charts = charts; seen.chart = seen.change; }
}).observe(document, {childList: true, subtree: true});
"""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Visit of a page.

    Attributes:
        answer: from navigation until the answer is there [s].
        chart: until the last chart is there; until the answer without charts [s].
        task: processor time of the browser's page [s].
        script: part of it in scripts [s].
        server: processor time of the server [s].
    """

    answer: float
    chart: float
    task: float
    script: float
    server: float


def main() -> None:
    """Visit every page twice and print its times."""
    if lacking := missing():
        print(f"No page was measured: {lacking}.")
        return
    from playwright.sync_api import sync_playwright

    names = sys.argv[1:] or list(PAGES)
    with server() as (address, process), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM))
        visits = {
            name: [
                visit(browser, process, f"{address}/{PAGES[name][0]}", PAGES[name][1])
                for _ in range(2)
            ]
            for name in dict.fromkeys((*names, LIGHTEST))
        }
        browser.close()
    base = visits[LIGHTEST][1].task
    for name in names:
        for which, row in zip(("first visit", "next visit"), visits[name], strict=True):
            print(
                f"{name}, {which}: answer {row.answer:.1f} s, last chart {row.chart:.1f} s, "
                f"browser {row.task:.1f} s of processor ({row.script:.1f} s in scripts), "
                f"{row.task / base:.1f} times {LIGHTEST}; server {row.server:.2f} s"
            )


def missing() -> str:
    """What a measurement lacks here; empty for nothing."""
    try:
        import playwright.sync_api  # noqa: F401  only whether it is installed
    except ImportError:
        return "the Python package playwright is not installed"
    return "" if CHROMIUM.exists() else f"{CHROMIUM} does not exist"


@contextmanager
def server() -> Iterator[tuple[str, psutil.Process]]:
    """The app with an empty data folder: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "ADVISOR_DATA_DIR": folder},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health")
            yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(15)


def _wait(address: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(address, timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{address} does not answer")


def visit(browser: "Browser", serving: psutil.Process, address: str, answer: str) -> Visit:
    """Open a page in an empty profile and wait until it is complete."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH.replace("ANSWER", repr(answer)).replace("CHARTS", repr(CHARTS)))
    session = context.new_cdp_session(page)
    # Ticks of the thread leave out the time in which other programs run.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _processor(serving)
    page.goto(address)
    page.wait_for_function("window.seen.answer !== null")
    page.wait_for_selector(READY)
    page.wait_for_function(f"performance.now() - window.seen.change > {QUIET}")
    seen = page.evaluate("window.seen")
    spent = _spent(session)
    context.close()
    return Visit(
        answer=seen["answer"] / 1000,
        chart=(seen["chart"] or seen["answer"]) / 1000,
        task=spent["TaskDuration"],
        script=spent["ScriptDuration"],
        server=_processor(serving) - before,
    )


def _processor(process: psutil.Process) -> float:
    """Processor time of a process so far [s]."""
    times = process.cpu_times()
    return times.user + times.system


def _spent(session: "CDPSession") -> dict[str, float]:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}


if __name__ == "__main__":
    main()
