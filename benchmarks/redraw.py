"""Server time of one changed input on the first page, and of one estimate on the command line.

    python -m benchmarks.redraw

Prints one line each: the median over several runs, and the largest.
"""

import logging
import statistics
import subprocess
import sys
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9


def main() -> None:
    """Measure both and print them."""
    print(_line("redraw after a changed input", redraws()))
    print(_line("python -m advisor estimate", estimates()))


def redraws() -> list[float]:
    """Seconds of the script for each of several changes of the context."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    times = []
    for run in range(RUNS):
        app.query_params["context"] = ("4k", "8k", "16k")[run % 3]
        app.query_params["replies"] = str(40 + run)
        start = time.perf_counter()
        app.run()
        times.append(time.perf_counter() - start)
    return times


def estimates() -> list[float]:
    """Seconds of whole processes that print one estimate."""
    command = [
        sys.executable, "-m", "advisor", "estimate", "--model", "Llama-3.1-70B",
        "--gpu", "RTX 3090", "--ram-gb", "64",
    ]  # fmt: skip
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return times


def _line(name: str, times: list[float]) -> str:
    median, most = statistics.median(times), max(times)
    return f"{name}: {median * 1000:.0f} ms median, {most * 1000:.0f} ms at most"


if __name__ == "__main__":
    main()
