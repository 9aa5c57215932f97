"""Predicted decode speed beside real runs in a GPU and outside it, on a machine as probed.

    python -m benchmarks.gpu_engine [--rounds N] [--seconds S] [--only llama|transformers]
                                    [--model NAME] [--keep FOLDER] [--csv FILE]

llama.cpp by the `llama-bench` of the PATH, all of a model in the GPU, half of it, and experts in
RAM; Transformers with Accelerate, all in the GPU, in RAM and on the drive. Probes and runs take
turns, and medians over the rounds are compared. `--keep` adds to the readings of earlier runs on
this machine; with `--rounds 0` they are compared anew, on any machine.
"""

import argparse
import math
import os
import signal
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType

from advisor.calibration.measurement_file import Fingerprint, fingerprint
from advisor.errors import AdvisorError, InputError
from advisor.machine.machine import Machine
from advisor.probes import host
from advisor.probes.host import Neighbours
from advisor.probes.measurement import now
from advisor.units import GB, GIB
from benchmarks.engine_parts import (
    gpu_llama,
    gpu_machine,
    gpu_transformers,
    paged,
    readings,
    rows,
)
from benchmarks.engine_parts.cases import Case, Session, predicted, speeds_of
from benchmarks.engine_parts.readings import Readings, Run, prompt_rate, rates, until, within

PARTS: Mapping[str, ModuleType] = {"llama": gpu_llama, "transformers": gpu_transformers}
PROBED = {"llama": tuple(gpu_machine.PROBES), "transformers": ("GPU", "RAM")}
"""Probes whose figures count in each part."""
PROMISED: Mapping[str, str] = {
    "resident": "no promise: no probe times kernels of the GPU",
    "partial": "promised 10% at the median",
    "moe_offload": "promised 10% and 20%",
    "stream_cpu": "promised 10% and 20%",
    "nvme": f"promised within {paged.WITHIN} times",
}
"""Errors that the probes promise, by category."""
FROM_DRIVE = "nvme"  # category of rows that are promised within `paged.WITHIN`
NOTE = "python -m benchmarks.gpu_engine --only"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One figure."""

    case: Case  # what ran
    ratio: float  # predicted over measured
    prompt: float | None  # the same of the prompt; None where it was not timed
    inside: bool  # the range of the prediction held what was measured
    row: dict[str, object]  # row of the table


def main(arguments: argparse.Namespace) -> None:
    """Measure and print, or say why not."""
    if arguments.rounds:
        reason = gpu_machine.missing()
    else:
        reason = ""
    if reason:
        print(f"gpu_engine: skipped, {reason}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was begun is taken down
    neighbours = Neighbours()
    if arguments.models:
        arguments.models.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=arguments.models)))
        keep = arguments.keep or folder
        keep.mkdir(parents=True, exist_ok=True)
        here = _here(arguments.ram_gb) if arguments.rounds else None
        record = readings.read(keep / "readings.json", here)
        parts = [name for name in PARTS if arguments.only in (None, name)]
        if arguments.rounds:
            measure(record, folder, arguments, parts)
        if record.machine is None:
            raise InputError(f"{keep} holds no readings; give a folder that --keep wrote.")
        compared = report(record, arguments, parts)
    if arguments.rounds:
        print(f"gpu_engine: other programs took {neighbours.share():.0%} of the processor.")
    if arguments.csv:
        rows.append(arguments.csv, [entry.row for entry in compared], arguments.cpu)


def _here(ram_gib: float | None) -> Fingerprint:
    """This machine, with the RAM that was stated."""
    seen = fingerprint()
    if ram_gib:
        return replace(seen, memory=int(ram_gib * GIB))
    return seen


def measure(
    record: Readings, folder: Path, arguments: argparse.Namespace, parts: Sequence[str]
) -> None:
    """As many rounds of each part as the time allows, which the parts share evenly."""
    if record.machine and len(record.machine.gpus) > 1:  # predictions are for one GPU
        os.environ.update(CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    began = now()
    for number, name in enumerate(parts, 1):
        reason = PARTS[name].missing()
        if reason:
            print(f"gpu_engine, {name}: skipped, {reason}", flush=True)
            continue
        session = Session(
            record=record,
            folder=folder,
            machine=partial(gpu_machine.measured, record, arguments.ram_gb),
            probe=partial(gpu_machine.probe, record, PROBED[name]),
            over=until(began + arguments.seconds * number / len(parts) - now()),
            free=partial(free, arguments.ram_gb),
            say=partial(say, began),
        )
        for _ in range(arguments.rounds):
            if not session.over():
                PARTS[name].read_once(chosen(name, arguments.model), session)


def chosen(name: str, model: str) -> list[Case]:
    """Cases of a part whose model has this in its name."""
    return [case for case in PARTS[name].cases() if model in case.name]


def say(began: float, text: str) -> None:
    """Tell whoever waits, at once, and how long it took so far."""
    print(f"gpu_engine, after {now() - began:.0f} s: {text}", file=sys.stderr, flush=True)


def free(ram_gib: float | None) -> float:
    """Memory that a run may take: as stated, or as the system shows [B]."""
    if ram_gib:
        return ram_gib * GIB
    return float(host.facts().memory_available)


def report(record: Readings, arguments: argparse.Namespace, parts: Sequence[str]) -> list[Compared]:
    """Predicted beside measured, case by case, then by place."""
    record.print_probes()
    machine = gpu_machine.measured(record, arguments.ram_gb)
    bare = gpu_machine.as_found(record, arguments.ram_gb)
    if not machine.gpus:
        raise InputError("data/hardware/gpus.csv has no row of the GPU that was measured; add one.")
    compared: list[Compared] = []
    for name in parts:
        for case in chosen(name, arguments.model):
            compared += _case(case, record, machine, bare, f"{NOTE} {name}")
    for place in dict.fromkeys(entry.case.place for entry in compared):
        of_place = [entry for entry in compared if entry.case.place == place]
        for engine in dict.fromkeys(entry.case.runtime.name for entry in of_place):
            print(summary([entry for entry in of_place if entry.case.runtime.name == engine]))
    return compared


def summary(compared: Sequence[Compared]) -> str:
    """How far predictions of one engine and place were off."""
    case = compared[0].case
    ratios = [entry.ratio for entry in compared]
    prompts = [entry.prompt for entry in compared if entry.prompt]
    return (
        f"gpu_engine, {case.runtime.name}, {case.place}: median error {_off(ratios)}, worst "
        f"{_worst(ratios):.2f} times ({PROMISED[case.category]}); {len(ratios)} figures, "
        f"{sum(entry.inside for entry in compared)} in their 80 % range."
        + (f" Prompts {_off(prompts)}, worst {_worst(prompts):.2f} times." if prompts else "")
    )


def _off(ratios: Sequence[float]) -> str:
    return f"{statistics.median(abs(ratio - 1.0) for ratio in ratios):.1%}"


def _worst(ratios: Sequence[float]) -> float:
    return max(ratios, key=lambda ratio: abs(math.log(ratio)))


def _case(
    case: Case, record: Readings, machine: Machine, bare: Machine, note: str
) -> list[Compared]:
    """Every depth that was timed."""
    timed = [(depth, case.runs(record, depth)) for depth in case.depths]
    try:
        return [_compared(case, depth, runs, machine, bare, note) for depth, runs in timed if runs]
    except AdvisorError as error:
        print(f"  {case}: no prediction, {error}")
        return []


def _compared(
    case: Case, depth: int, runs: Sequence[Run], machine: Machine, bare: Machine, note: str
) -> Compared:
    if case.category == FROM_DRIVE:
        machine = paged.on_drive(machine, runs)
    estimate = predicted(case, machine, depth)
    (decode, prefill), (before, _) = map(speeds_of, (estimate, predicted(case, bare, depth)))
    measured = rates(runs)
    prompt = prompt_rate(runs)
    median = statistics.median(measured)
    speed = float(decode.value)
    read = float(prefill.value)
    if prompt:
        told = f"; prompt {prompt:.2f}, predicted {read:.2f}"
    else:
        told = ""
    print(
        f"  {case.name:<22} {case.place:<20} at {depth:4}: measured {median:7.2f} "
        f"{within(measured)}, predicted {speed:7.2f} tokens/s ({speed / median:.2f} "
        f"times; not calibrated {float(before.value) / median:.2f}){told}"
    )
    if case.ubatch != gpu_llama.MICRO_BATCH:
        batch = f"-ub {case.ubatch}; "
    else:
        batch = ""
    # Nobody looked at what the kernel read ahead.
    drive = {**rows.drive(machine, runs), "read_ahead_kib": ""}
    if estimate.placement:
        layers = estimate.placement.gpu_layers
    else:
        layers = 0.0
    row = rows.row(
        case.facts,
        case.model,
        machine,
        measured,
        speed,
        category=case.category,
        runtime=runs[-1].runtime,
        os=runs[-1].os,
        date=runs[-1].date,
        gpu=machine.gpus[0].name,
        ngl=round(float(layers)),
        context_depth=depth,
        source_url="benchmarks/gpu_engine.py",
        source_note=f"{note}; {batch}{_link(machine)}",
        **rows.prompt(prompt, read),
        **(drive if case.category == FROM_DRIVE else {}),
    )
    return Compared(
        case=case,
        ratio=speed / median,
        row=row,
        prompt=read / prompt if prompt else None,
        inside=bool(decode.low <= median <= decode.high),
    )


def _link(machine: Machine) -> str:
    """What the way to the GPU gave, which no column of a row holds."""
    link = machine.gpus[0].link
    pinned, pageable = (float(rate.value) / GB for rate in (link.pinned, link.pageable))
    return f"to the GPU {pinned:.1f} GB/s from pinned memory, {pageable:.1f} GB/s from pageable"


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked on the command line."""
    parser = readings.options(__doc__, 1, PARTS)
    parser.add_argument("--models", type=Path, help="folder on a drive for model files meanwhile")
    parser.add_argument("--ram-gb", type=float, help="RAM, where the system shows less [GiB]")
    return parser.parse_args(words)


if __name__ == "__main__":
    try:
        main(parsed())
    except AdvisorError as error:
        sys.exit(f"gpu_engine: {error}")
