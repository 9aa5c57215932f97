"""Predicted decode speed beside real llama.cpp's, on this machine as its probes found it.

    python -m benchmarks.engine [--rounds N] [--folder F] [--fast] [--only resident|paged] [--csv F]

Ten models that the probe was not calibrated on, at two depths of the cache, and two under a memory
cap below their size. Probes and engine run in turns, and medians over the rounds are compared.
`--fast` takes a tenth of the fastest tokens of a round for it, where other programs run meanwhile.
"""

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from advisor.folders import DATA_VARIABLE
from advisor.machine import Machine
from advisor.model import Model
from advisor.probes.neighbours import Neighbours
from advisor.units import GB, GIB
from benchmarks.engine_parts import capped, paged, resident, rows
from benchmarks.engine_parts.models import CONTEXTS, targets

ROUNDS = 3
MEDIAN, WORST = 0.10, 0.20
"""Errors that the probe promises."""
LEAST_MEMORY, LEAST_DISK = 13 * GIB, 12 * GB
FAST = 0.1


def main(arguments: argparse.Namespace) -> None:
    """Measure and print, or say why not."""
    if sys.platform != "linux" or find_spec("xllamacpp") is None:
        print("engine: skipped, it needs Linux and xllamacpp (requirements-dev.txt).")
        return
    if not _room(arguments.folder):
        return
    neighbours = Neighbours()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
        os.environ[DATA_VARIABLE] = f"{place}/data"
        folder = Path(place)
        found = _resident(folder, arguments)
        if arguments.only != "resident":
            found += _paged(folder, arguments)
    print(f"engine: other programs took {neighbours.share():.0%} of the processor meanwhile.")
    if arguments.csv:
        rows.append(arguments.csv, found)


def _room(folder: Path) -> bool:
    from advisor.probes import host

    free, memory = shutil.disk_usage(folder).free, host.facts().memory_available
    if free >= LEAST_DISK and memory >= LEAST_MEMORY:
        return True
    print(
        f"engine: skipped, it needs {LEAST_MEMORY / GIB:.0f} GiB of free memory and "
        f"{LEAST_DISK / GB:.0f} GB of disk; {memory / GIB:.1f} GiB and {free / GB:.0f} GB are free."
    )
    return False


def _resident(folder: Path, arguments: argparse.Namespace) -> list[dict[str, object]]:
    asked = targets() if arguments.only != "paged" else []
    quantile = FAST if arguments.fast else 0.5
    read = resident.read(asked, arguments.rounds, quantile, folder)
    machine = resident.calibrated(read)
    for name, readings in sorted(read.probes.items()):
        values = [one.value for one in readings]
        print(
            f"  {name:<24} {statistics.median(values):10.4g} {readings[0].unit:<7} {_range(values)}"
        )
    fitted = replace(machine, host=replace(machine.host, engine=None))
    found, errors, before, inside = [], [], [], 0
    for target in asked:
        for depth in CONTEXTS:
            rates = [1 / one for one in read.tokens[target.name, depth]]
            measured = statistics.median(rates)
            answer = resident.predicted(target.synthetic.model, machine, depth)
            said = float(answer.value)
            errors.append(said / measured - 1)
            before.append(float(resident.predicted(target.synthetic.model, fitted, depth).value))
            before[-1] = before[-1] / measured - 1
            inside += float(answer.low) <= measured <= float(answer.high)
            told = f"({errors[-1]:+.0%}; not calibrated {before[-1]:+.0%})"
            print(
                f"  {target.name:<24} at {depth:4}: measured {measured:6.2f} {_range(rates)}, "
                f"predicted {said:6.2f} tokens/s {told}"
            )
            found.append(_row(target.synthetic.model, machine, depth, rates, said))
    if asked:
        print(
            f"engine, in RAM: median error {_median(errors):.1%} (promised {MEDIAN:.0%}), worst "
            f"{max(map(abs, errors)):.1%} ({WORST:.0%}), {len(errors)} figures, {inside} in their "
            f"80 % range; not calibrated {_median(before):.1%} and {max(map(abs, before)):.1%}."
        )
    return found


def _paged(folder: Path, arguments: argparse.Namespace) -> list[dict[str, object]]:
    reason = capped.missing()
    if reason:
        print(f"engine, from the drive: skipped, {reason}.")
        return []
    machine = resident.calibrated(resident.Readings())
    found, factors = [], []
    for one in paged.read(folder, arguments.rounds, machine):
        said, where = paged.predicted(one, machine, folder)
        factors.append(said / one.measured)
        model = one.synthetic.model
        print(
            f"  {model.name:<24} {one.share:.0%} of {model.file_bytes / GB:.2f} GB in memory: "
            f"measured {one.measured:6.3f} {_range(one.rates)}, predicted {said:6.3f} tokens/s "
            f"({factors[-1]:.2f} times)"
        )
        found.append(_row(model, where, paged.DEPTH, one.rates, said, one.cache))
    worst = max(factors, key=lambda one: abs(math.log(one)))
    print(f"engine, from the drive: worst {worst:.2f} times (promised within {paged.WITHIN}).")
    return found


def _row(
    model: Model, machine: Machine, depth: int, rates: list[float], said: float,
    cache: float | None = None,
) -> dict[str, object]:  # fmt: skip
    return rows.row(
        model, machine, category="cpu" if cache is None else "nvme", depth=depth,
        measured=statistics.median(rates), spread=_half(rates), predicted=said, cache=cache,
    )  # fmt: skip


def _median(errors: list[float]) -> float:
    return statistics.median(map(abs, errors))


def _half(values: list[float]) -> float:
    return (max(values) - min(values)) / (2 * statistics.median(values))


def _range(values: list[float]) -> str:
    return f"(rounds within {_half(values):.0%})"


def parsed() -> argparse.Namespace:
    """What was asked on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--only", choices=("resident", "paged"))
    parser.add_argument("--csv", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
