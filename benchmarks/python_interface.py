"""Importing the Python interface and a first estimate, each time in a new process.

    python -m benchmarks.python_interface [rounds]

Prints seconds by the clock and of the processor, from after Python's own start to the answer.
"""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST_ANSWER = """
import time
wall, processor = time.perf_counter(), time.process_time()
from advisor import describe_machine, estimate
machine = describe_machine(gpu="RTX 3090", ram_gb=64)
assert estimate("Llama-3.1-70B", machine).decode is not None
print(time.perf_counter() - wall, time.process_time() - processor)
"""


def main(rounds: int) -> str:
    """One line of result."""
    command = (sys.executable, "-c", FIRST_ANSWER)
    texts = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for _ in range(rounds)
    ]
    wall, processor = zip(*(map(float, text.split()) for text in texts), strict=True)
    return f"python_interface: {_line('clock', wall)}; {_line('processor', processor)}."


def _line(name: str, seconds: tuple[float, ...]) -> str:
    return (
        f"{name} {1e3 * statistics.median(seconds):.0f} ms at the median, "
        f"{1e3 * min(seconds):.0f} ms at best of {len(seconds)}"
    )


if __name__ == "__main__":
    print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
