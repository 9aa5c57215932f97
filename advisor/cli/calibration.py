"""`calibration`: list, show, export, import, rename and delete measurements of machines."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.calibration import imported_store
from advisor.calibration.imported_store import THIS
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import (
    LARGEST,
    Fingerprint,
    MeasurementHistory,
    fingerprint,
    imported,
    to_json,
)
from advisor.cli.command import output, show
from advisor.errors import InputError, StoreError
from advisor.formatting import memory, moment, quantity
from advisor.probes.measurement import Measurement
from advisor.units import GIB

STANDARD_INPUT = "-"


def list_machines(args: argparse.Namespace) -> None:
    """Run `calibration list`."""
    records = [_record(name) for name in (THIS, *imported_store.names())]
    show(args, records, lambda: "\n".join(map(_line, records)))


def _record(name: str) -> dict[str, Any]:
    """Entry of a machine in the list; a damaged file is named with its problem."""
    try:
        history, calibration = imported_store.probed(name), imported_store.measured(name)
    except StoreError as error:
        return {"name": name, "fingerprint": None, "figures": 0, "measured_at": None,
                "note": str(error)}  # fmt: skip
    return {
        "name": name,
        "fingerprint": None if history.fingerprint is None else asdict(history.fingerprint),
        "figures": len(calibration.measurements),
        "measured_at": max((measurement.when for measurement in history.history), default=None),
        "note": " ".join((calibration.stale, *calibration.notes)).strip(),
    }


def _line(record: dict[str, Any]) -> str:
    when = record["measured_at"]
    measured = f"{_counted(record['figures'])}, {moment(when)}" if when else "nothing measured"
    seen = record["fingerprint"]
    parts = told(Fingerprint(**seen) if seen else None)
    return f"{record['name']:<16} {measured}. {parts}. {record['note']}".rstrip()


def _counted(figures: int) -> str:
    return "1 figure" if figures == 1 else f"{figures} figures"


def told(seen: Fingerprint | None) -> str:
    """Parts of a machine in one line."""
    if seen is None:
        return "Its parts are unknown"
    size = f"{memory(seen.memory)} of RAM" if seen.memory else "RAM of unknown size"
    return ", ".join((seen.cpu or "unknown processor", *seen.gpus, size))


def show_machine(args: argparse.Namespace) -> None:
    """Run `calibration show`."""
    history, calibration = imported_store.probed(args.name), imported_store.measured(args.name)
    record = {**to_json(history), "stale": calibration.stale, "notes": list(calibration.notes)}
    show(args, record, lambda: "\n".join(_shown(history, calibration)))


def _shown(history: MeasurementHistory, calibration: Calibration) -> Iterable[str]:
    yield f"{told(history.fingerprint)}."
    yield from (sentence for sentence in (calibration.stale, *calibration.notes) if sentence)
    if not history.history:
        yield "Nothing is measured yet; run `python -m advisor probe --save`."
    for name in calibration.measurements:
        for measurement in (each for each in reversed(history.history) if each.name == name):
            value = quantity(measurement.value, measurement.unit)
            spread = f"within {measurement.spread:.0%}"
            yield f"{name:<22} {value:>14}  {spread}  {moment(measurement.when)}"


def export(args: argparse.Namespace) -> None:
    """Run `calibration export`."""
    content = to_json(imported_store.probed(args.name))
    if args.output is None:
        show(args, content, lambda: json.dumps(content, indent=1))
        return
    with output(args.output) as file:
        json.dump(content, file, indent=1)
    show(args, {"written": str(args.output)}, lambda: f"Written to {args.output}.")


def import_machine(args: argparse.Namespace) -> None:
    """Run `calibration import`."""
    if not 0 <= args.ram_gb < 1_000_000:
        raise InputError(f"--ram-gb is {args.ram_gb:g}; allowed is 0 to 1,000,000 GiB.")
    history = imported_store.with_parts(
        imported(_read(args.file), args.file),
        cpu=args.cpu,
        gpus=args.gpu,
        memory=int(args.ram_gb * GIB),
    )
    stored = imported_store.keep(history, args.name)
    text = f"Kept as {args.name}: {_counted(len(stored.latest))}. {told(stored.fingerprint)}."
    show(args, {"name": args.name, "figures": len(stored.latest)}, lambda: text)


def rename(args: argparse.Namespace) -> None:
    """Run `calibration rename`."""
    new = imported_store.rename(args.name, args.new)
    show(args, {"name": new}, lambda: f"Renamed {args.name} to {new}.")


def delete(args: argparse.Namespace) -> None:
    """Run `calibration delete`."""
    imported_store.delete(args.name)
    show(args, {"deleted": args.name}, lambda: f"Deleted the measurements of {args.name}.")


def export_found(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements of a probe to a file, with the parts of this machine."""
    history = MeasurementHistory(fingerprint=fingerprint(), history=tuple(measurements))
    with output(path) as file:
        json.dump(to_json(history), file, indent=1)


def _read(file: str) -> bytes:
    """Content of a file or of standard input, one byte beyond the limit at most."""
    if file != STANDARD_INPUT:
        return given_files.content(Path(file), LARGEST)
    try:
        return sys.stdin.buffer.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"Standard input cannot be read: {error.strerror}.") from error
