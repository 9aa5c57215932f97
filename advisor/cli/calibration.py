"""`probe` measures this machine; `calibration` lists, shows, exports, imports, renames and deletes
measurements of machines.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.calibration import imported_names, imported_store, local_machine
from advisor.calibration.imported_names import THIS
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import (
    LARGEST,
    Fingerprint,
    MeasurementHistory,
    fingerprint,
    imported,
    to_json,
)
from advisor.catalog.inputs import INPUTS
from advisor.cli.command import Json, output, show, tell
from advisor.errors import AdvisorError, InputError
from advisor.failures import StoreError
from advisor.formatting import moment, quantity
from advisor.probes import suite
from advisor.probes.gpu import detect
from advisor.probes.measurement import UNSTEADY, USELESS, Measurement, ProbeStep
from advisor.units import GB, GIB, KIB, memory

STANDARD_INPUT = "-"


def list_machines(args: argparse.Namespace) -> None:
    """Run `calibration list`."""
    records = [_record(name) for name in (THIS, *imported_names.names())]
    show(args, records, lambda: "\n".join(map(_line, records)))


def _record(name: str) -> dict[str, Any]:
    """Entry of a machine in the list; a damaged file is named with its problem."""
    try:
        history = imported_store.probed(name)
        calibration = imported_store.measured(name)
    except StoreError as error:
        return {
            "name": name,
            "fingerprint": None,
            "figures": 0,
            "measured_at": None,
            "note": str(error),
        }
    return {
        "name": name,
        "fingerprint": None if history.fingerprint is None else asdict(history.fingerprint),
        "figures": len(calibration.measurements),
        "measured_at": max((measurement.when for measurement in history.history), default=None),
        "note": " ".join((calibration.stale, *calibration.notes)).strip(),
    }


def _line(record: dict[str, Any]) -> str:
    when = record["measured_at"]
    if when:
        measured = f"{_counted(record['figures'])}, {moment(when)}"
    else:
        measured = "nothing measured"
    seen = record["fingerprint"]
    parts = told(Fingerprint(**seen) if seen else None)
    return f"{record['name']:<16} {measured}. {parts}. {record['note']}".rstrip()


def _counted(figures: int) -> str:
    if figures == 1:
        return "1 figure"
    return f"{figures} figures"


def told(seen: Fingerprint | None) -> str:
    """Words on the parts of a machine, in one line."""
    if seen is None:
        return "Its parts are unknown"
    if seen.memory:
        size = f"{memory(seen.memory)} of RAM"
    else:
        size = "RAM of unknown size"
    return ", ".join((seen.cpu or "unknown processor", *seen.gpus, size))


def show_machine(args: argparse.Namespace) -> None:
    """Run `calibration show`."""
    history = imported_store.probed(args.name)
    calibration = imported_store.measured(args.name)
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
    _write(content, args.output)
    show(args, {"written": str(args.output)}, lambda: f"Written to {args.output}.")


def _write(content: Json, path: Path) -> None:
    with output(path) as file:
        json.dump(content, file, indent=1)


def import_machine(args: argparse.Namespace) -> None:
    """Run `calibration import`."""
    if args.ram_gb:  # 0 stands for a history that says no size
        INPUTS["ram_gb"].check(args.ram_gb)
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


def _read(file: str) -> bytes:
    """Content of a file or of standard input, one byte beyond the limit at most."""
    if file != STANDARD_INPUT:
        return given_files.content(Path(file), LARGEST)
    try:
        return sys.stdin.buffer.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"Standard input cannot be read: {error.strerror}.") from error


PARTS = ("ram", "disk", "gpu", "engine")


def probe(args: argparse.Namespace) -> None:
    """Run `probe`."""
    for part in args.parts:
        if part not in PARTS:
            raise InputError(f"No probe is called {part!r}; choose from {', '.join(PARTS)}.")
    measurements, notes = _measured(args.parts or _in_order(), args.path, args.quick)
    tell((*notes, *_unsteady(measurements)))
    records = [asdict(measurement) for measurement in measurements]
    try:
        show(args, records, lambda: "\n".join(map(_measurement_line, measurements)))
    finally:
        # Printed before it is saved, so that a folder without write permission loses no result;
        # saved even if the reader of the output has closed the pipe.
        _keep(args, measurements)


def _in_order() -> Sequence[str]:
    """All probes, the one that tells most of this machine first; as usual where it is not seen."""
    from advisor.advice.next_probe import in_order  # with the cost model, for this command alone

    try:
        return in_order(local_machine.this_machine(), PARTS)
    except AdvisorError:
        return PARTS


def _unsteady(measurements: Iterable[Measurement]) -> Iterator[str]:
    """Warning where repeated measurements spread so far that predictions will, too."""
    wide = [f"{each.name} {each.spread:.0%}" for each in measurements if each.spread > UNSTEADY]
    if wide:
        yield (
            f"Repeats differ widely ({', '.join(wide)}, each way): other programs were running, or "
            "the machine is shared. Measure again when it is idle."
        )


def _keep(args: argparse.Namespace, measurements: Sequence[Measurement]) -> None:
    if not (args.save or args.export):
        return
    steady = [each for each in measurements if each.spread <= USELESS]
    if wild := ", ".join(each.name for each in measurements if each.spread > USELESS):
        tell([f"Not saved: {wild}; repeats differ by more than half."])
    if not steady:
        tell(["Nothing was measured, so nothing is saved."])
        return
    if args.save:
        local_machine.save(steady)
    if args.export:
        history = MeasurementHistory(fingerprint=fingerprint(), history=tuple(steady))
        _write(to_json(history), args.export)


def _measured(
    names: Sequence[str], path: Path | None, quick: bool
) -> tuple[list[Measurement], list[str]]:
    from tqdm import tqdm

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
    cards, unseen = detect.gpus()
    return [*unseen, *(f"{card.name}: its speed is taken from the catalogue." for card in cards)]


def _measurement_line(measurement: Measurement) -> str:
    """Figure as it was measured, with more digits than predictions have."""
    size = measurement.value
    unit = measurement.unit
    scaled = {"B/s": f"{size / GB:8.2f} GB/s", "B": f"{size / KIB:8.0f} KiB"}
    value = scaled.get(unit, f"{size:8.4g} {unit}")
    return f"{measurement.name:<22} {value}  within {measurement.spread:.0%}. {measurement.note}"
