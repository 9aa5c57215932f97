"""`probe`: measure this machine."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from advisor.cli.calibration import export_found
from advisor.cli.command import Json, show
from advisor.errors import InputError
from advisor.probes.measurement import UNSTEADY, USELESS, Measurement
from advisor.units import GB, KIB

PARTS = ("ram", "disk", "gpu", "engine")


def run(args: argparse.Namespace) -> None:
    """Run `probe`."""
    for part in args.parts:
        if part not in PARTS:
            raise InputError(f"No probe is called {part!r}; choose from {', '.join(PARTS)}.")
    measurements, notes = _measured(args.parts or PARTS, args.path, args.quick)
    for note in (*notes, *_unsteady(measurements)):
        print(f"advisor: {note}", file=sys.stderr)
    records: list[Json] = [asdict(measurement) for measurement in measurements]
    try:
        show(args, records, lambda: "\n".join(map(_measurement_line, records)))
    finally:
        # Printed before it is saved, so that a folder without write permission loses no result;
        # saved even if the reader of the output has closed the pipe.
        _keep(args, measurements)


def _unsteady(measurements: Sequence[Measurement]) -> list[str]:
    """Warning where repeated measurements spread so far that predictions will, too."""
    wide = [
        f"{measurement.name} {measurement.spread:.0%}"
        for measurement in measurements
        if measurement.spread > UNSTEADY
    ]
    if not wide:
        return []
    return [
        f"Repeats differ widely ({', '.join(wide)}, each way): other programs were running, or "
        "the machine is shared. Measure again when it is idle."
    ]


def _keep(args: argparse.Namespace, measurements: Sequence[Measurement]) -> None:
    from advisor.calibration import local_machine

    steady = [each for each in measurements if each.spread <= USELESS]
    wild = [each.name for each in measurements if each.spread > USELESS]
    if wild and (args.save or args.export):
        names = ", ".join(wild)
        print(f"advisor: Not saved: {names}; repeats differ by more than half.", file=sys.stderr)
    if not steady and (args.save or args.export):
        print("advisor: Nothing was measured, so nothing is saved.", file=sys.stderr)
        return
    if args.save:
        local_machine.save(steady)
    if args.export:
        export_found(steady, args.export)


def _measured(
    names: Sequence[str], path: Path | None, quick: bool
) -> tuple[list[Measurement], list[str]]:
    from tqdm import tqdm

    from advisor.errors import AdvisorError
    from advisor.probes import suite
    from advisor.probes.measurement import ProbeStep

    pace = suite.QUICK if quick else suite.FULL
    measurements: list[Measurement] = []
    notes: list[str] = []
    for name in names:
        # None for "on a terminal", of which there is none where standard error was closed.
        hidden = None if sys.stderr else True
        with tqdm(total=100, desc=name, unit="%", disable=hidden, leave=False) as bar:

            def show(step: ProbeStep, bar: Any = bar) -> None:
                bar.set_postfix_str(f"{step.doing}, {step.seconds_left:.0f} s left", refresh=False)
                bar.update(round(step.share * 100) - bar.n)

            try:
                measurements += suite.measure(name, pace[name], show, path=path)
            except AdvisorError as error:
                notes += [str(error), *(_known_gpus() if name == "gpu" else ())]
    return measurements, notes


def _known_gpus() -> list[str]:
    """Known facts of GPUs that cannot be measured."""
    from advisor.probes.gpu import detect

    cards, unseen = detect.gpus()
    return [*unseen, *(f"{card.name}: its speed is taken from the catalogue." for card in cards)]


def _measurement_line(record: dict[str, Any]) -> str:
    size, unit = record["value"], record["unit"]
    scaled = {"B/s": f"{size / GB:8.2f} GB/s", "B": f"{size / KIB:8.0f} KiB"}
    value = scaled.get(unit, f"{size:8.4g} {unit}")
    return f"{record['name']:<22} {value}  within {record['spread']:.0%}. {record['note']}"
