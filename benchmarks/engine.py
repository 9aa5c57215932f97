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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from advisor.cost_model.estimate import Estimate
from advisor.errors import ProbeError
from advisor.machine.machine import Machine
from advisor.paths import DATA_VARIABLE
from advisor.probes.host import Neighbours
from advisor.probes.measurement import now
from advisor.units import GB, GIB, KIB
from benchmarks.engine_parts import capped, paged, readings, resident, rows
from benchmarks.engine_parts.models import CONTEXTS, Target, targets
from benchmarks.engine_parts.readings import Readings, Run

ROUNDS = 3
MEDIAN, WORST = 0.08, 0.20
"""Errors that the probe promises."""
LEAST_MEMORY, LEAST_DISK = 13 * GIB, 12 * GB
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
        both = [part for part in (_resident, _paged) if arguments.only in (None, part.__name__[1:])]
        written = [row for part in both for row in part(record, folder, arguments)]
    print(f"engine: other programs took {neighbours.share():.0%} of the processor meanwhile.")
    if arguments.csv:
        cpu = {"cpu": arguments.cpu} if arguments.cpu else {}
        rows.append(arguments.csv, [row | cpu for row in written])


def _room(folder: Path) -> bool:
    from advisor.probes import host

    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free, memory = shutil.disk_usage(place).free, host.facts().memory_available
    if free >= LEAST_DISK and memory >= LEAST_MEMORY:
        return True
    print(
        f"engine: skipped, it needs {LEAST_MEMORY / GIB:.0f} GiB of free memory and "
        f"{LEAST_DISK / GB:.0f} GB of disk; {memory / GIB:.1f} GiB and {free / GB:.0f} GB are free."
    )
    return False


def _over(seconds: float) -> Callable[[], bool]:
    until = now() + seconds
    return lambda: now() > until


def _resident(record: Readings, folder: Path, arguments: argparse.Namespace) -> Rows:
    chosen = [target for target in targets() if arguments.model in target.name][: arguments.targets]
    over = _over(arguments.seconds)
    for number in range(arguments.rounds):
        if not over():
            resident.read(
                chosen, record, FAST if arguments.fast else 0.5, folder, over,
                probing=arguments.probing,
            )  # fmt: skip
            print(f"engine: round {number + 1} of {arguments.rounds} is done.", file=sys.stderr)
    for name, each in sorted(record.rounds.items()):
        values = [measurement.value for measurement in each]
        print(f"  {name:<24} {statistics.median(values):10.4g} {each[0].unit:<7} {_range(values)}")
    timed = [target for target in chosen if record.of(target.name, max(CONTEXTS))]
    compared = [_compared(target, depth, record) for target in timed for depth in CONTEXTS]
    errors = [error for error, _, _, _ in compared]
    if record.probes:
        probes, drift, step = resident.steadiness(record)
        print(
            f"engine, in RAM: {probes} probes in turns with the runs; the machine's read rate "
            f"stayed within {drift:.0%} each way and changed by {step:.0%} between two of them."
        )
    if errors:
        print(
            f"engine, in RAM: median error {_median(errors):.1%} (promised {MEDIAN:.0%}), worst "
            f"{max(map(abs, errors)):.1%} ({WORST:.0%}), {len(errors)} figures, "
            f"{sum(inside for _, _, inside, _ in compared)} in their 80 % range; not calibrated "
            f"{_median([other for _, other, _, _ in compared]):.1%}."
        )
    return [row for _, _, _, row in compared]


def _compared(
    target: Target, depth: int, record: Readings
) -> tuple[float, float, bool, dict[str, object]]:
    """Error calibrated and not, whether most runs lie in their range, and the row."""
    model, runs = target.synthetic.model, record.of(target.name, depth)
    rates = resident.rates(runs)
    measured, prompt = statistics.median(rates), resident.prompt_rate(runs)
    machines = [resident.calibrated(record.around(run)) for run in runs]
    turns = [resident.predicted(model, machine, depth) for machine in machines]
    bare = [replace(each, host=replace(each.host, engine=None)) for each in machines]
    untimed = [resident.predicted(model, machine, depth) for machine in bare]
    error = _error(turns, rates)
    other = _error(untimed, rates)
    predicted = measured * (1 + error)
    read = statistics.median(float(turn.prefill.value) for turn in turns if turn.prefill)
    inside = sum(
        bool(turn.decode.low <= rate <= turn.decode.high)
        for turn, rate in zip(turns, rates, strict=True)
        if turn.decode
    )
    told = f"; prompt {prompt:6.1f}, predicted {read:6.1f}" if prompt else ""
    print(
        f"  {target.name:<24} at {depth:4}: measured {measured:6.2f} {_range(rates)}, "
        f"predicted {predicted:6.2f} tokens/s ({error:+.0%}; not calibrated {other:+.0%}){told}"
    )
    row = rows.row(
        target.synthetic.facts, model, machines[-1], **_here(), category="cpu",
        context_depth=depth, rounds=len(runs),
        tg_tps=f"{measured:.3f}", tg_spread=f"{readings.spread(rates):.2f}",
        predicted_tps=f"{predicted:.3f}", pp_tps=f"{prompt:.2f}" if prompt else "",
        predicted_pp_tps=f"{read:.2f}" if prompt else "",
        source_note="python -m benchmarks.engine --only resident",
    )  # fmt: skip
    return error, other, 2 * inside >= len(runs), row


def _error(turns: Sequence[Estimate], rates: Sequence[float]) -> float:
    """Median over the runs of what was predicted for each, beside it; 0 for no error."""
    for turn in turns:
        if turn.decode is None:
            raise SystemExit(f"engine: {turn.refusal}")
    each = [
        float(turn.decode.value) / rate
        for turn, rate in zip(turns, rates, strict=True)
        if turn.decode
    ]
    return statistics.median(each) - 1


def _paged(record: Readings, folder: Path, arguments: argparse.Namespace) -> Rows:
    reason = capped.missing()
    if reason:
        print(f"engine, from the drive: skipped, {reason}.")
        return []
    machine = resident.calibrated(record.medians())
    models = [model for model in paged.larger() if arguments.model in model.name]
    over = _over(arguments.seconds)
    for _ in range(arguments.rounds):
        paged.read(models, record, folder, machine, over)
    written, factors = [], []
    for model in models:
        for share in model.shares:
            timed = record.of(model.name, paged.DEPTH, share)
            for ahead in sorted({run.ahead for run in timed}):
                runs = [run for run in timed if run.ahead == ahead]
                factor, row = _larger(model, runs, paged.on_drive(machine, runs))
                factors.append(factor)
                written.append(row)
    if factors:
        worst = max(factors, key=lambda factor: abs(math.log(factor)))
        print(f"engine, from the drive: worst {worst:.2f} times (promised within {paged.WITHIN}).")
    return written


def _larger(
    model: paged.Larger, runs: Sequence[Run], machine: Machine
) -> tuple[float, dict[str, object]]:
    """Predicted over measured, and the row."""
    rates = resident.rates(runs)
    measured = statistics.median(rates)
    cache, read = (
        statistics.median(getattr(run, name) for run in runs) for name in ("cache", "read")
    )
    estimate = paged.predicted(model, machine, cache)
    if estimate.decode is None:
        raise SystemExit(f"engine: {estimate.refusal}")
    predicted_tps, size = float(estimate.decode.value), model.synthetic.model.file_bytes
    print(
        f"  {model.name:<24} {cache / size:4.0%} of {size / GB:.2f} GB in memory, "
        f"{runs[0].ahead / KIB:.0f} KiB read ahead: measured {measured:6.3f} {_range(rates)}, "
        f"predicted {predicted_tps:6.3f} tokens/s ({predicted_tps / measured:.2f} times); "
        f"{read / GB:.2f} GB read for a token"
    )
    row = rows.row(
        model.synthetic.facts, model.synthetic.model, machine, **_here(), category="nvme",
        context_depth=paged.DEPTH, rounds=len(runs), cache_gib=f"{cache / GIB:.3f}",
        read_gb=f"{read / GB:.4f}", tg_tps=f"{measured:.3f}",
        tg_spread=f"{readings.spread(rates):.2f}", predicted_tps=f"{predicted_tps:.3f}",
        source_note="python -m benchmarks.engine --only paged", **rows.drive(machine),
    )  # fmt: skip
    return predicted_tps / measured, row


def _here() -> dict[str, object]:
    """Columns of every row: the engine, and what asked it."""
    return {
        "runtime": f"llama.cpp (xllamacpp {version('xllamacpp')})",
        "source_url": "benchmarks/engine.py",
    }


def _median(errors: list[float]) -> float:
    return statistics.median(map(abs, errors))


def _range(values: list[float]) -> str:
    return f"(rounds within {readings.spread(values):.0%})"


def parsed() -> argparse.Namespace:
    """What was asked on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--keep", type=Path, help="folder for readings, kept for the next run")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing after them")
    parser.add_argument("--targets", type=int, help="only so many of the models in RAM")
    parser.add_argument(
        "--probing", type=float, default=resident.ENGINE_SECONDS, help="time of a probe [s]"
    )
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--only", choices=("resident", "paged"))
    parser.add_argument("--model", default="", help="only those with it in their name")
    parser.add_argument("--csv", type=Path, help="table that rows are added to")
    parser.add_argument("--cpu", help="name of the processor in these rows")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main(parsed())
    except ProbeError as error:
        sys.exit(f"engine: {error}")
