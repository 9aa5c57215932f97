"""Time of an answer with its options, of a changed input on the first page, and of one estimate on
the command line.

    python -m benchmarks.redraw

Prints one line each: the least, the median and the most of several runs; processor time of this
process, and for whole commands the time on the clock.
"""

import logging
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from streamlit.testing.v1 import AppTest

from advisor.advice.advise import advise
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs

ROOT = Path(__file__).resolve().parent.parent
RUNS = 9


def main() -> None:
    """Measure all and print them."""
    answer(Workload())  # machines are stacked once for all answers
    for change, times in answers().items():
        print(_line(f"answer with options, another {change}", times))
    print(_line("redraw after a changed input", redraws()))
    print(_line("python -m advisor estimate", estimates()))


def answers() -> dict[str, list[float]]:
    """Seconds by what changed since the answer before; no request was made before."""
    changes = {
        "context": [Workload(context=4100 + 500 * run) for run in range(RUNS)],
        "prompt": [Workload(prompt=600 + 50 * run) for run in range(RUNS)],
        "number of users": [Workload(users=2 + run) for run in range(RUNS)],
    }
    answer(Workload(context=4000))
    times = {
        change: [_timed(partial(answer, work)) for work in requests]
        for change, requests in changes.items()
    }
    uses = [MoneyInputs(replies_per_day=50 + run) for run in range(RUNS)]
    again = [_timed(partial(answer, changes["number of users"][-1], money)) for money in uses]
    return {**times, "use": again}


def answer(work: Workload, money: MoneyInputs | None = None) -> None:
    """A 70B model on a machine with an RTX 3090."""
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    advise(catalog.model("Llama-3.1-70B", "Q4_K_M"), here, work, money=money)


def _timed(run: Callable[[], None]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def redraws() -> list[float]:
    """Seconds of the script for each of several changes of the context."""
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    times = []
    for run in range(RUNS):
        app.query_params["context"] = ("4k", "8k", "16k")[run % 3]
        app.query_params["replies"] = str(40 + run)
        start = time.process_time()
        app.run()
        times.append(time.process_time() - start)
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
    least, median, most = (1000 * bound(times) for bound in (min, statistics.median, max))
    return f"{name}: {median:.0f} ms median, {least:.0f} to {most:.0f} ms"


if __name__ == "__main__":
    main()
