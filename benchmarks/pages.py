"""What a visitor waits for and sees, in a browser, beside a bare Streamlit page of the same run.

    python -m benchmarks.pages [first|changes|switches|memory|matrix ...]

`first`: seconds until the first answer, of a cold and of a warm server. `changes`: seconds from a
key press to the finished picture, and what moves meanwhile (layout shift). `switches`: seconds to
another page, the first time and later. `memory`: of the server, for each visitor. `matrix`: every
page in light and dark at 1400 and 390 pixels: errors in the console, requests to other machines,
sideways scroll, findings of axe, layout shift, height and words.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = Path("/usr/bin/chromium")
BARE = "import streamlit as st\nst.set_page_config(layout='wide')\nst.title('Bare')\n"
"""Script of the page that ours is compared with."""
PAGES = {
    "Advise": "", "Models": "run", "Machines": "find", "Reports": "reports",
    "How we know": "accuracy", "Your machine": "calibrate", "How it works": "method",
}  # fmt: skip
"""Address of each page."""
LINKED = ("Models", "Machines", "Reports", "How we know", "Advise")
"""Pages of the bar, in the order of a walk."""
PC = "gaming PC with a {} and 64 GB RAM"
CHANGES = {
    "machine": (
        "",
        [
            PC.format(gpu)
            for gpu in ("4090", "3090", "4070", "5060 Ti 16GB", "7900 XTX", "4080", "3080", "5090")
        ],
    ),
    "model": (
        "",
        [
            "Qwen3 8B",
            "Llama 3.3 70B",
            "gpt oss 20b",
            "Gemma 3 12B",
            "Qwen3 32B",
            "gpt oss 120b",
            "Phi 4",
            "Gemma 3 4B",
        ],
    ),
    "context": (".oa-assumed >> nth=-1", ["16k", "32k", "4k", "64k", "8k", "2k", "32k", "16k"]),
    "replies_per_day": (".st-key-use button", ["10", "100", "20", "300", "5", "80", "40", "200"]),
}
"""Changes by their input: what is opened first, and what is typed."""
VISITORS = 12
SETTLED = 15  # seconds in which a server loads what its other pages need [s]
READY = "[data-testid=stApp][data-test-script-state=notRunning]"
QUIET = 500  # a picture is finished when nothing changed for this long [ms]
LOCAL = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:")
WATCH = """
window.seen = {answer: null, change: 0, key: 0, shift: 0, moved: 0};
new MutationObserver(() => {
  seen.change = performance.now();
  const there = document.querySelector('#verdict, h1, .oa-empty');
  if (seen.answer === null && there) seen.answer = seen.change;
}).observe(document, {childList: true, characterData: true, subtree: true});
new PerformanceObserver(list => list.getEntries().forEach(entry => {
  if (!entry.hadRecentInput) seen.shift += entry.value;
  seen.moved += entry.value;
})).observe({type: 'layout-shift', buffered: true});
for (const kind of ['keydown', 'click'])
  addEventListener(kind, () => { seen.key = performance.now(); seen.moved = 0; }, true);
"""


def main() -> None:
    """Measure what is named, else all of it."""
    if lacking := missing():
        print(f"No page was measured: {lacking}.")
        return
    from playwright.sync_api import sync_playwright

    parts: dict[str, Callable[[Browser], None]] = {
        "first": first_answers, "changes": changes, "switches": switches, "memory": memory,
        "matrix": matrix,
    }  # fmt: skip
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM))
        for name in sys.argv[1:] or parts:
            parts[name](browser)
        browser.close()


def missing() -> str:
    """What a measurement lacks here; empty for nothing."""
    try:
        import axe_playwright_python  # type: ignore[import-untyped]  # noqa: F401  only whether
        import playwright.sync_api  # noqa: F401  they are installed
    except ImportError as error:
        return f"the Python package {error.name} is not installed"
    if CHROMIUM.exists():
        return ""
    return f"{CHROMIUM} does not exist"


@contextmanager
def server(script: Path = ROOT / "app.py", **settings: str) -> Iterator[tuple[str, psutil.Process]]:
    """A running app with an empty data folder and further settings: its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "ADVISOR_DATA_DIR": folder, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
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
        time.sleep(0.02)
    raise TimeoutError(f"{address} does not answer")


@contextmanager
def _bare() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        yield script


@contextmanager
def opened(
    browser: "Browser", address: str, *, width: int = 1400, dark: bool = False
) -> Iterator["Page"]:
    """A page in an empty profile, at rest."""
    height = 900 if width > 640 else 844
    context = browser.new_context(
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        color_scheme="dark" if dark else "light",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(WATCH)
    page.goto(address)
    _rest(page)
    yield page
    context.close()


def _rest(page: "Page") -> None:
    page.wait_for_function("window.seen.answer !== null")
    page.wait_for_selector(READY)
    page.wait_for_function(f"performance.now() - seen.change > {QUIET}")


def first_answers(browser: "Browser") -> None:
    """Seconds from navigation to the first answer and to a page at rest, and from the start of the
    server to its answer.
    """
    with _bare() as bare:
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(5):
            for name, script in (("bare", bare), ("ours", ROOT / "app.py")):
                began = time.monotonic()
                with server(script) as (address, _):
                    started = time.monotonic() - began
                    for visit in range(4):
                        with opened(browser, address) as page:
                            seconds, rest = page.evaluate(
                                "[seen.answer / 1000, seen.change / 1000]"
                            )
                        if visit:
                            kind = "warm"
                        else:
                            kind = "cold"
                        times.setdefault((name, kind), []).append(seconds)
                        times.setdefault((name, f"{kind}, to the finished page"), []).append(rest)
                        if not visit:
                            times.setdefault((name, "from start"), []).append(started + seconds)
    for kind in dict.fromkeys(kind for _, kind in times):
        bare_s, ours = (median(times[name, kind]) for name in ("bare", "ours"))
        ratio = ours / bare_s
        print(f"first answer, {kind}: {ours:.2f} s, bare {bare_s:.2f} s, {ratio:.2f} times")


def changes(browser: "Browser") -> None:
    """Seconds from a key press to the finished picture, and what moved."""
    every: list[float] = []
    with server() as (address, _):
        for name, (opener, values) in CHANGES.items():
            with opened(browser, address) as page:
                spent, moved = zip(
                    *(_change(page, opener, name, text) for text in values), strict=True
                )
            every += spent[1:]  # the first loads what the kind of change needs
            print(_spread(f"change of {name}", spent[1:]) + f", shift {max(moved):.3f}")
    print(_spread("every change", every))


def _change(page: "Page", opener: str, name: str, text: str) -> tuple[float, float]:
    typed = page.locator(f".st-key-in_{name} input").first
    if opener and not typed.is_visible():
        page.locator(opener).first.click()
        _rest(page)
    typed.fill(text)
    page.keyboard.press("Enter")
    page.wait_for_function("seen.change > seen.key")
    _rest(page)
    seen = page.evaluate("seen")
    return (seen["change"] - seen["key"]) / 1000, seen["moved"]


def _spread(name: str, seconds: Sequence[float]) -> str:
    late = sorted(seconds)[int(0.95 * (len(seconds) - 1) + 0.5)]
    return f"{name}: median {median(seconds):.2f} s, p95 {late:.2f} s of {len(seconds)}"


def switches(browser: "Browser") -> None:
    """Seconds to the finished picture of another page, the first time and later."""
    times: dict[str, list[float]] = {}
    with server() as (address, _), opened(browser, address) as page:
        for _ in range(4):
            for name in LINKED:
                page.locator(".oa-pages").get_by_text(name, exact=True).click()
                page.wait_for_function("seen.change > seen.key")
                _rest(page)
                seen = page.evaluate("seen")
                times.setdefault(name, []).append((seen["change"] - seen["key"]) / 1000)
    for name, (first, *later) in times.items():
        print(f"switch to {name}: first {first:.2f} s, later {median(later):.2f} s")


def memory(browser: "Browser") -> None:
    """Memory of the server for each visitor, beyond the bare page's [MB]."""
    taken = []
    with _bare() as bare:
        for script in (bare, ROOT / "app.py"):
            with server(script) as (address, process):
                time.sleep(SETTLED)
                context = browser.new_context()
                sizes = []
                for visitor in range(3 * VISITORS):
                    page = context.new_page()
                    page.goto(address)
                    page.wait_for_selector(READY)
                    page.wait_for_selector("h1")
                    if visitor in (VISITORS, 3 * VISITORS - 1):
                        sizes.append(process.memory_full_info().uss)
                taken.append((sizes[1] - sizes[0]) / (2 * VISITORS - 1) / 1e6)
                context.close()
    bare_mb, ours = taken
    print(
        f"memory for each visitor: {ours:.2f} MB, bare {bare_mb:.2f} MB: {ours - bare_mb:.2f} more"
    )


def matrix(browser: "Browser") -> None:
    """Every page in light and dark, wide and narrow; a row names what is wrong."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    axe = Axe()
    with server() as (address, _):
        for name, place in PAGES.items():
            for width in (1400, 390):
                for dark in (False, True):
                    with opened(browser, f"{address}/{place}", width=width, dark=dark) as page:
                        row = _look(axe, page)
                    print(f"{name}, {width}, {'dark' if dark else 'light'}: {row}")


def _look(axe: Any, page: "Page") -> str:
    """What is there, and what is wrong with it."""
    complaints: list[str] = []
    foreign: list[str] = []

    def hear(line: "ConsoleMessage") -> None:
        # Streamlit looks for its server below a page's own address first.
        if line.type == "error" and "/_stcore/" not in line.location["url"]:
            complaints.append(line.text)

    page.on("console", hear)
    page.on("request", lambda made: None if LOCAL.match(made.url) else foreign.append(made.url))
    page.reload()
    _rest(page)
    sideways = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    findings = [
        f"{rule['id']} ({len(rule['nodes'])})" for rule in axe.run(page).response["violations"]
    ]
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    words = len(page.inner_text("[data-testid=stMain]").split())
    shift = page.evaluate("seen.shift")
    return (
        f"{height} px, {words} words, shift {shift:.3f}, {len(complaints)} errors, "
        f"{len(foreign)} requests elsewhere{', scrolls sideways' if sideways else ''}, axe: "
        f"{', '.join(findings) or 'nothing'}"
    )


if __name__ == "__main__":
    main()
