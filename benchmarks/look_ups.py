"""How long a name of a model, GPU, processor or machine takes to resolve.

    python -m benchmarks.look_ups [rounds]

Prints processor time in new processes: the first name of a kind, which loads its list, and the
others after it. Names of the list of the Hub and unknown ones are among them; 150 ms for the first
and 20 ms for another are promised.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = {
    "model": (
        "advisor.model.by_name.named", "named",
        ("bartowski/Qwen2.5-VL-7B-Instruct-GGUF", "EXAONE-4.0-32B", "gemma4:e4b", "my-own-35B-A3B",
         "qwen3:30b-a3b-q4_K_M", "Hermes-4-70B", "internlm3 8b"),
    ),
    "GPU": (
        "advisor.machine.catalog", "gpu_named",
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "2x 3090 24GB", "AMD Radeon Graphics (RADV GFX1151)",
         "5090 laptop", "Apple M4 Max (40 cores)"),
    ),
    "processor": (
        "advisor.machine.catalog", "cpu_named",
        ("AMD EPYC 7532 32-Core Processor", "i7-12700KF", "2x E5-2699 v3", "8845HS"),
    ),
    "machine": (
        "advisor.machine.catalog", "machine_named",
        ("Legion Pro 7 5090", "4x3090 EPYC 7532 512GB", "mbp m1 max 64gb", "NC40ads_H100_v5"),
    ),
}  # fmt: skip
TIMED = """
import importlib, json, sys, time
module, function, *names = json.loads(sys.argv[1])
resolve = getattr(importlib.import_module(module), function)
times = []
for name in names:
    start = time.process_time()
    resolve(name)
    times.append(1e3 * (time.process_time() - start))
print(json.dumps(times))
"""


def timed(module: str, function: str, names: tuple[str, ...]) -> list[float]:
    """Processor time of each name in a new process [ms]."""
    command = (sys.executable, "-c", TIMED, json.dumps([module, function, *names]))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return list(map(float, json.loads(done.stdout)))


def main(rounds: int) -> str:
    """A line for each kind of name."""
    lines = []
    for kind, (module, function, names) in NAMES.items():
        times = [timed(module, function, names) for _ in range(rounds)]
        first = statistics.median(each[0] for each in times)
        later = [
            statistics.median(each) for each in zip(*(each[1:] for each in times), strict=True)
        ]
        lines.append(
            f"{kind}: first {first:.0f} ms, others {statistics.median(later):.1f} ms at the median "
            f"and {max(later):.1f} ms at most of {len(later)}."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
