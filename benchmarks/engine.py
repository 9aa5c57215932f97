"""Predicted decode speed beside real llama.cpp's, on this machine as its probes found it.

    python -m benchmarks.engine [--rounds N] [--keep FOLDER [--seconds S]] [--only resident|paged]

Ten models that the probe was not calibrated on, at two depths of the cache, and four under memory
caps about the size of their files. Probes and engine take turns: each run is compared with what the
probes right before and after it predict, and how steady the machine was is printed. `--keep` adds
to the readings of earlier runs, so that rounds can lie hours apart; `--fast` takes a tenth of the
fastest tokens of a round for it, where other programs run meanwhile.
"""

import argparse
import math
import os
import shutil
import signal
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from advisor.errors import AdvisorError
from advisor.machine.machine import Machine
from advisor.paths import DATA_VARIABLE
from advisor.probes.host import Neighbours
from advisor.units import GB, GIB, KIB
from benchmarks.engine_parts import capped, paged, readings, resident, rows
from benchmarks.engine_parts.cases import speeds_of
from benchmarks.engine_parts.models import CONTEXTS, Target, larger, targets
from benchmarks.engine_parts.readings import Readings, Run, prompt_rate, rates, until, within

ROUNDS = 3
# errors that the probe promises
MEDIAN = 0.08
WORST = 0.20
LEAST_MEMORY = 13 * GIB
LEAST_DISK = 12 * GB
FAST = 0.1
Rows = list[dict[str, object]]


def main(arguments: argparse.Namespace) -> None:
    """Measure and print, or say why not."""
    if sys.platform != "linux" or find_spec("xllamacpp") is None:
        print("engine: skipped, it needs Linux and xllamacpp (requirements-dev.txt).")
        return
    if not _room(arguments.keep or Path(tempfile.gettempdir())):
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was begun is taken down
    neighbours = Neighbours()
    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(exist_ok=True)
        os.environ[DATA_VARIABLE] = f"{folder}/data"
        record = readings.read(folder / "readings.json")
        parts = [part for name, part in PARTS.items() if arguments.only in (None, name)]
        written = [row for part in parts for row in part(record, folder, arguments)]
    print(f"engine: other programs took {neighbours.share():.0%} of the processor meanwhile.")
    if arguments.csv:
        rows.append(arguments.csv, written, arguments.cpu)


def _room(folder: Path) -> bool:
    from advisor.probes import host

    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    memory = host.facts().memory_available
    if free >= LEAST_DISK and memory >= LEAST_MEMORY:
        return True
    print(
        f"engine: skipped, it needs {LEAST_MEMORY / GIB:.0f} GiB of free memory and "
        f"{LEAST_DISK / GB:.0f} GB of disk; {memory / GIB:.1f} GiB and {free / GB:.0f} GB are free."
    )
    return False


def _resident(record: Readings, folder: Path, arguments: argparse.Namespace) -> Rows:
    chosen = [target for target in targets() if arguments.model in target.name][: arguments.targets]
    over = until(arguments.seconds)
    quantile = FAST if arguments.fast else 0.5
    for number in range(arguments.rounds):
        if not over():
            resident.read(chosen, record, quantile, folder, over, probing=arguments.probing)
            print(f"engine: round {number + 1} of {arguments.rounds} is done.", file=sys.stderr)
    record.print_probes()
    timed = [target for target in chosen if record.of(target.name, max(CONTEXTS))]
    compared = [_compared(target, depth, record) for target in timed for depth in CONTEXTS]
    if record.probes:
        probes, drift, step = resident.steadiness(record)
        print(
            f"engine, in RAM: {probes} probes in turns with the runs; the machine's read rate "
            f"stayed within {drift:.0%} each way and changed by {step:.0%} between two of them."
        )
    if compared:
        errors, bare, inside, _ = zip(*compared, strict=True)
        print(
            f"engine, in RAM: median error {_median(errors):.1%} (promised {MEDIAN:.0%}), worst "
            f"{max(map(abs, errors)):.1%} ({WORST:.0%}), {len(errors)} figures, {sum(inside)} in "
            f"their 80 % range; not calibrated {_median(bare):.1%}."
        )
    return [row for _, _, _, row in compared]


def _compared(
    target: Target, depth: int, record: Readings
) -> tuple[float, float, bool, dict[str, object]]:
    """Error calibrated and not, whether most runs lie in their range, and the row."""
    model = target.synthetic.model
    runs = record.of(target.name, depth)
    measured = rates(runs)
    prompt = prompt_rate(runs)
    median = statistics.median(measured)
    machines = [resident.calibrated(record.around(run)) for run in runs]
    bare = [replace(each, host=replace(each.host, engine=None)) for each in machines]
    turns, untimed = (
        [speeds_of(resident.predicted(model, machine, depth)) for machine in each]
        for each in (machines, bare)
    )
    error, other = (
        statistics.median(
            float(decode.value) / rate for (decode, _), rate in zip(each, measured, strict=True)
        )
        - 1.0
        for each in (turns, untimed)
    )
    inside = sum(
        bool(decode.low <= rate <= decode.high)
        for (decode, _), rate in zip(turns, measured, strict=True)
    )
    predicted = median * (1.0 + error)
    read = statistics.median(float(prefill.value) for _, prefill in turns)
    if prompt:
        told = f"; prompt {prompt:6.1f}, predicted {read:6.1f}"
    else:
        told = ""
    print(
        f"  {target.name:<24} at {depth:4}: measured {median:6.2f} {within(measured)}, "
        f"predicted {predicted:6.2f} tokens/s ({error:+.0%}; not calibrated {other:+.0%}){told}"
    )
    row = rows.row(
        target.synthetic.facts,
        model,
        machines[-1],
        measured,
        predicted,
        **_here(),
        category="cpu",
        context_depth=depth,
        **rows.prompt(prompt, read),
        source_note="python -m benchmarks.engine --only resident",
    )
    return error, other, 2 * inside >= len(runs), row


def _paged(record: Readings, folder: Path, arguments: argparse.Namespace) -> Rows:
    reason = capped.missing()
    if reason:
        print(f"engine, from the drive: skipped, {reason}.")
        return []
    machine = resident.calibrated(record.medians())
    models = [model for model in larger() if arguments.model in model.name]
    over = until(arguments.seconds)
    for _ in range(arguments.rounds):
        paged.read(models, record, folder, machine, over)
    kinds = [
        (model, [run for run in timed if run.ahead == ahead])
        for model in models
        for timed in (record.of(model.name, paged.DEPTH, share) for share in model.shares)
        for ahead in sorted({run.ahead for run in timed})
    ]
    compared = [_larger(model, runs, machine) for model, runs in kinds]
    if compared:
        worst = max((factor for factor, _ in compared), key=lambda factor: abs(math.log(factor)))
        print(f"engine, from the drive: worst {worst:.2f} times (promised within {paged.WITHIN}).")
    return [row for _, row in compared]


def _larger(
    target: Target, runs: Sequence[Run], machine: Machine
) -> tuple[float, dict[str, object]]:
    """Predicted over measured, and the row."""
    machine = paged.on_drive(machine, runs)
    model = target.synthetic.model
    measured = rates(runs)
    size = model.file_bytes
    median = statistics.median(measured)
    cache, read = (
        statistics.median(getattr(run, name) for run in runs) for name in ("cache", "read")
    )
    decode, _ = speeds_of(paged.predicted(target, machine, cache))
    predicted = float(decode.value)
    print(
        f"  {target.name:<24} {cache / size:4.0%} of {size / GB:.2f} GB in memory, "
        f"{runs[0].ahead / KIB:.0f} KiB read ahead: measured {median:6.3f} {within(measured)}, "
        f"predicted {predicted:6.3f} tokens/s ({predicted / median:.2f} times); "
        f"{read / GB:.2f} GB read for a token"
    )
    row = rows.row(
        target.synthetic.facts,
        model,
        machine,
        measured,
        predicted,
        **_here(),
        category="nvme",
        context_depth=paged.DEPTH,
        **rows.drive(machine, runs),
        source_note="python -m benchmarks.engine --only paged",
    )
    return predicted / median, row


def _here() -> dict[str, object]:
    """Columns of every row: the engine, and what asked it."""
    return {
        "runtime": f"llama.cpp (xllamacpp {version('xllamacpp')})",
        "source_url": "benchmarks/engine.py",
    }


def _median(errors: Sequence[float]) -> float:
    return statistics.median(map(abs, errors))


PARTS = {"resident": _resident, "paged": _paged}


if __name__ == "__main__":
    parser = readings.options(__doc__, ROUNDS, PARTS)
    parser.add_argument("--targets", type=int, help="only so many of the models in RAM")
    parser.add_argument(
        "--probing", type=float, default=resident.ENGINE_SECONDS, help="time of a probe [s]"
    )
    parser.add_argument("--fast", action="store_true")
    try:
        main(parser.parse_args())
    except AdvisorError as error:
        sys.exit(f"engine: {error}")
