"""Measured figures of this machine, kept between starts until they no longer fit it."""

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from advisor.errors import StoreError
from advisor.folders import DATA_VARIABLE, data_folder
from advisor.machine import EngineSpeed, Figure, Kind
from advisor.measurement import Measurement, Point
from advisor.probes import gpu, host
from advisor.units import GIB

FILE_NAME = "calibration.json"
FRESH = timedelta(days=92)
SOURCE = "probed on this machine"
ENGINE = "engine_"
"""With which names of measurements of llama.cpp begin."""
_SAME_MEMORY = 0.03  # a new kernel keeps a little more or less of the RAM for itself


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What makes this machine the one that was measured.

    Attributes:
        cpu: name of the processor.
        cores: physical cores that may be used.
        memory: RAM [B].
        gpus: their names, in order.
    """

    cpu: str
    cores: int
    memory: int
    gpus: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was measured on this machine.

    Attributes:
        measurements: the latest of each name.
        stale: why they should be measured again; empty while they are good.
        changed: the machine is no longer the one that was measured.
        notes: what went wrong while reading them, one sentence each.
    """

    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    stale: str = ""
    changed: bool = False
    notes: tuple[str, ...] = ()

    def figure(self, name: str) -> Figure | None:
        """A measured figure, in the unit of its measurement.

        Args:
            name: as `Measurement.name`.

        Returns:
            None where it was never measured, or was measured on a machine that has changed.
        """
        found = self.measurements.get(name)
        return None if found is None or self.changed else _figure(found)

    def engine(self, ram: float) -> EngineSpeed | None:
        """What llama.cpp was timed at; None where it was not, or on a machine that has changed.

        Args:
            ram: the sustained read rate that this machine is taken to have [B/s].
        """
        timed = {
            name.removeprefix(ENGINE): one
            for name, one in self.measurements.items()
            if name.startswith(ENGINE) and not self.changed
        }
        read = _by_kind(timed, "read_")
        if not read:
            return None
        costs = {name: _figure(one) for name, one in timed.items()}
        return EngineSpeed(
            cores=max(one.threads for one in timed.values()),
            ram=ram,
            read=read,
            plain=_by_kind(timed, "plain_"),
            prompt=_by_kind(timed, "prompt_"),
            layer=costs.get("layer"),
            expert_layer=costs.get("expert_layer"),
            attention=_by_kind(timed, "attention_"),
        )


def _figure(found: Measurement) -> Figure:
    return Figure(value=found.value, kind=Kind.MEASURED, source=SOURCE, date=found.when[:10])


def _by_kind(timed: Mapping[str, Measurement], kind: str) -> dict[str, Figure]:
    """Rates by storage type or format as the catalogue writes them, or by the shape of heads."""
    return {
        name.removeprefix(kind).upper(): _figure(one)
        for name, one in timed.items()
        if name.startswith(kind)
    }


def fingerprint() -> Fingerprint:
    """This machine's; asks the GPU driver, which takes tens of milliseconds."""
    facts = host.facts()
    found, _ = gpu.gpus()
    return Fingerprint(
        cpu=facts.name,
        cores=facts.cores,
        memory=facts.memory_total,
        gpus=tuple(one.name for one in found),
    )


def save(measurements: Iterable[Measurement]) -> Path:
    """Keep measurements; those of the same name are replaced, the others stay.

    What was measured before the machine changed is dropped.

    Returns:
        The file they are in.

    Raises:
        StoreError: the data folder cannot be written.
    """
    known = load()
    kept = {} if known.changed else dict(known.measurements)
    kept |= {one.name: one for one in measurements}
    content = {
        "fingerprint": asdict(fingerprint()),
        "measurements": [asdict(one) for one in kept.values()],
    }
    path = data_folder() / FILE_NAME
    try:
        _replace(path, json.dumps(content, indent=1))
    except OSError as error:
        raise StoreError(
            f"Measurements cannot be saved in {path.parent} ({error.strerror}); set "
            f"{DATA_VARIABLE} to a folder that can be written."
        ) from error
    return path


def load(now: datetime | None = None) -> Calibration:
    """What is kept about this machine; empty where there is nothing. Never raises.

    A damaged file is renamed to end in ".damaged", and a note says so.

    Args:
        now: the moment at which ages are judged; the present where none is given.
    """
    path = data_folder() / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
        saved, measurements = _parsed(json.loads(text))
    except FileNotFoundError:
        return Calibration()
    except OSError as error:
        return Calibration(notes=(f"{path} cannot be read ({error.strerror}).",))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        return Calibration(notes=(_set_aside(path, error),))
    difference = _difference(saved, fingerprint())
    return Calibration(
        measurements=measurements,
        stale=difference or _aged(measurements, now or datetime.now(UTC)),
        changed=bool(difference),
    )


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _parsed(content: Any) -> tuple[Fingerprint, dict[str, Measurement]]:
    """Raises ValueError, KeyError or TypeError for anything this program did not write."""
    seen = content["fingerprint"]
    saved = Fingerprint(
        cpu=str(seen["cpu"]),
        cores=int(seen["cores"]),
        memory=int(seen["memory"]),
        gpus=tuple(str(name) for name in seen["gpus"]),
    )
    measurements = [_measurement(row) for row in content["measurements"]]
    return saved, {one.name: one for one in measurements}


def _measurement(row: Any) -> Measurement:
    value, spread = float(row["value"]), float(row["spread"])
    if not (math.isfinite(value) and value > 0 and math.isfinite(spread)):
        raise ValueError(f"{row['name']} has the value {value} and the spread {spread}")
    _moment(row["when"])
    return Measurement(
        name=str(row["name"]),
        value=value,
        unit=str(row["unit"]),
        spread=spread,
        threads=int(row["threads"]),
        when=row["when"],
        note=str(row["note"]),
        curve=tuple(_point(one) for one in row.get("curve", ())),
    )


def _point(row: Any) -> Point:
    value, best = float(row["value"]), float(row["best"])
    if not (math.isfinite(value) and math.isfinite(best)):
        raise ValueError(f"a curve has the point {value}, {best}")
    return Point(threads=int(row["threads"]), block=int(row["block"]), value=value, best=best)


def _moment(when: str) -> datetime:
    moment = datetime.fromisoformat(when)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _set_aside(path: Path, error: Exception) -> str:
    aside = path.with_name(path.name + ".damaged")
    try:
        path.replace(aside)
    except OSError:
        return f"{path} is damaged ({error}) and is left out; delete it and probe again."
    return f"{path} was damaged ({error}) and is now called {aside.name}; probe again."


def _difference(saved: Fingerprint, now: Fingerprint) -> str:
    """Why the measured machine is not this one; empty when it is."""
    if saved.cpu != now.cpu:
        return f"Measured on {saved.cpu}, and this is {now.cpu}; probe again."
    if saved.cores != now.cores:
        return f"Measured with {saved.cores} cores, and {now.cores} can be used now; probe again."
    if abs(saved.memory - now.memory) > _SAME_MEMORY * saved.memory:
        sizes = f"{saved.memory / GIB:.1f} GiB of RAM, and this has {now.memory / GIB:.1f} GiB"
        return f"Measured with {sizes}; probe again."
    if saved.gpus != now.gpus:
        before, after = (", ".join(names) or "no GPU" for names in (saved.gpus, now.gpus))
        return f"Measured with {before}, and this has {after}; probe again."
    return ""


def _aged(measurements: Mapping[str, Measurement], now: datetime) -> str:
    old = sorted(one.name for one in measurements.values() if now - _moment(one.when) > FRESH)
    return f"Measured over {FRESH.days} days ago: {', '.join(old)}; probe again." if old else ""
