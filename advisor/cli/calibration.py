"""`calibration`: list, show, export, import, rename and delete measurements of machines."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
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
from advisor.cli.command import added, show
from advisor.errors import InputError, StoreError
from advisor.formatting import memory, moment, quantity
from advisor.probes.measurement import Measurement
from advisor.units import GIB

STANDARD_INPUT = "-"


def add(commands: Any) -> None:
    """Add the command and its actions."""

    def run(action: Callable[[argparse.Namespace], tuple[object, str]]) -> Any:
        def run(args: argparse.Namespace) -> None:
            record, text = action(args)
            show(args, record, lambda: text)

        return run

    actions = commands.add_parser(
        "calibration", help="measurements of this machine and of others"
    ).add_subparsers(required=True, metavar="ACTION")
    added(actions, "list", run(_list), "list the measured machines")
    for name, action, text in (
        ("show", _show, "all measurements of a machine"),
        ("export", _export, "write the measurements of a machine as JSON"),
        ("rename", _rename, "rename a machine"),
        ("delete", _delete, "delete the measurements of a machine"),
    ):
        action_parser = added(actions, name, run(action), text)
        action_parser.add_argument(
            "name", metavar="NAME", help=f"as listed; {THIS} is this machine"
        )
        if action is _export:
            action_parser.add_argument(
                "-o", "--output", type=Path, help="output file (standard output)"
            )
        if action is _rename:
            action_parser.add_argument("new", metavar="NEW", help="new name")
    _add_import(added(actions, "import", run(_import), "import measurements of another machine"))


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="file of `calibration export` or `probe --json`; - for standard input",
    )
    parser.add_argument("--name", required=True, help="name for that machine")
    parser.add_argument("--cpu", default="", help="processor, if the file names none")
    parser.add_argument(
        "--gpu", action="append", default=[], help="GPU, if the file names none; repeat for several"
    )
    parser.add_argument(
        "--ram-gb", type=float, default=0.0, metavar="GIB", help="RAM, if the file states none"
    )


def _list(_: argparse.Namespace) -> tuple[object, str]:
    records = [_record(name) for name in (THIS, *imported_store.names())]
    return records, "\n".join(map(_line, records))


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


def _show(args: argparse.Namespace) -> tuple[object, str]:
    history, calibration = imported_store.probed(args.name), imported_store.measured(args.name)
    record = {**to_json(history), "stale": calibration.stale, "notes": list(calibration.notes)}
    return record, "\n".join(_shown(history, calibration))


def _shown(history: MeasurementHistory, calibration: Calibration) -> Iterable[str]:
    yield f"{told(history.fingerprint)}."
    yield from (sentence for sentence in (calibration.stale, *calibration.notes) if sentence)
    if not history.history:
        yield "Nothing is measured yet; run `python -m advisor probe --save`."
    for name in calibration.measurements:
        for measurement in reversed(
            [measurement for measurement in history.history if measurement.name == name]
        ):
            value = quantity(measurement.value, measurement.unit)
            spread = f"within {measurement.spread:.0%}"
            yield f"{name:<22} {value:>14}  {spread}  {moment(measurement.when)}"


def _export(args: argparse.Namespace) -> tuple[object, str]:
    content = to_json(imported_store.probed(args.name))
    if args.output is None:
        return content, json.dumps(content, indent=1)
    _write(args.output, content)
    return {"written": str(args.output)}, f"Written to {args.output}."


def _import(args: argparse.Namespace) -> tuple[object, str]:
    if not 0 <= args.ram_gb < 1_000_000:
        raise InputError(f"--ram-gb is {args.ram_gb:g}; allowed is 0 to 1,000,000 GiB.")
    history = imported_store.with_parts(
        imported(_read(args.file), args.file),
        cpu=args.cpu,
        gpus=args.gpu,
        memory=int(args.ram_gb * GIB),
    )
    kept = imported_store.keep(history, args.name)
    text = f"Kept as {args.name}: {_counted(len(kept.latest))}. {told(kept.fingerprint)}."
    return {"name": args.name, "figures": len(kept.latest)}, text


def _rename(args: argparse.Namespace) -> tuple[object, str]:
    new = imported_store.rename(args.name, args.new)
    return {"name": new}, f"Renamed {args.name} to {new}."


def _delete(args: argparse.Namespace) -> tuple[object, str]:
    imported_store.delete(args.name)
    return {"deleted": args.name}, f"Deleted the measurements of {args.name}."


def export_found(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements of a probe to a file, with the parts of this machine."""
    _write(
        path, to_json(MeasurementHistory(fingerprint=fingerprint(), history=tuple(measurements)))
    )


def _read(file: str) -> bytes:
    """Content of a file or of standard input, one byte beyond the limit at most."""
    if file != STANDARD_INPUT:
        return given_files.content(Path(file), LARGEST)
    try:
        return sys.stdin.buffer.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"Standard input cannot be read: {error.strerror}.") from error


def _write(path: Path, content: object) -> None:
    try:
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
