"""Store of this machine's measurements, valid until its parts change."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from advisor.calibration.measurement_file import (
    UNREADABLE,
    Fingerprint,
    MeasurementHistory,
    NewerFile,
    alone,
    delete,
    difference,
    fingerprint,
    from_json,
    moment,
    other_driver,
    to_json,
    write,
)
from advisor.errors import StoreError
from advisor.machine.machine import EngineSpeed
from advisor.machine.quantity import Provenance, Quantity
from advisor.paths import DATA_VARIABLE, data_folder
from advisor.probes.measurement import Measurement

FILE_NAME = "calibration.json"
FRESH = timedelta(days=92)
"""Age from which measurements are stale."""
SOURCE = "probed on this machine"
ENGINE = "engine_"
"""Prefix of measurements of llama.cpp."""
EARLIER = "earlier"
"""Key of the file for histories from before the hardware changed."""
NOT_OF_GPU = ("ram_", "disk_", ENGINE)
"""Prefixes of measurements that do not depend on the GPU driver."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Measurements of one machine, and whether they are still valid."""

    # latest measurement of each name
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    stale: str = ""  # reason to measure again, in a sentence; empty while they are valid
    changed: bool = False  # the hardware has changed since
    notes: tuple[str, ...] = ()  # problems while reading them, a sentence each
    history: tuple[Measurement, ...] = ()  # all measurements, oldest first
    source: str = SOURCE  # origin of the measurements, for `Quantity.source`

    def figure(self, name: str) -> Quantity | None:
        """Measured quantity, in the unit of its measurement.

        Args:
            name: as `Measurement.name`.

        Returns:
            None without a measurement, or where the hardware has changed since.
        """
        measurement = self.measurements.get(name)
        return None if measurement is None or self.changed else self._figure(measurement)

    def engine(self, ram: float) -> EngineSpeed | None:
        """Measured speeds of llama.cpp; None without them or on changed hardware.

        Args:
            ram: sustained read rate of RAM, measured or assumed [B/s].
        """
        timed = {
            name.removeprefix(ENGINE): measurement
            for name, measurement in self.measurements.items()
            if name.startswith(ENGINE) and not self.changed
        }
        if not any(name.startswith("read_") for name in timed):
            return None
        costs = {name: self._figure(measurement) for name, measurement in timed.items()}
        return EngineSpeed(
            cores=max(measurement.threads for measurement in timed.values()),
            ram=ram,
            read=_by_kind(costs, "read_"),
            plain=_by_kind(costs, "plain_"),
            prompt=_by_kind(costs, "prompt_"),
            layer=costs.get("layer"),
            expert_layer=costs.get("expert_layer"),
            attention=_by_kind(costs, "attention_"),
        )

    def _figure(self, measurement: Measurement) -> Quantity:
        return Quantity(
            value=measurement.value,
            kind=Provenance.MEASURED,
            source=self.source,
            date=measurement.when[:10],
        )


def _by_kind(costs: Mapping[str, Quantity], kind: str) -> dict[str, Quantity]:
    """Rates with a prefix, by storage type, format or head shape, in the catalogue's spelling."""
    return {
        name.removeprefix(kind).upper(): cost
        for name, cost in costs.items()
        if name.startswith(kind)
    }


def save(measurements: Iterable[Measurement]) -> Path:
    """Add measurements to the saved ones; the latest of each name counts.

    Measurements of other hardware stay in the file, unused until that hardware is back.

    Returns:
        Path of the file.

    Raises:
        StoreError: the data folder cannot be written, or the saved file cannot be read.
    """
    added, now = tuple(measurements), fingerprint()
    path = data_folder() / FILE_NAME
    try:
        with alone(path.parent):
            _keep(path, added, now)
    except OSError as error:
        raise StoreError(
            f"Measurements cannot be saved in {path.parent} ({error.strerror}); set "
            f"{DATA_VARIABLE} to a folder that can be written."
        ) from error
    return path


def forget() -> None:
    """Delete every measurement of this machine.

    Raises:
        StoreError: the data folder cannot be written.
    """
    delete(data_folder() / FILE_NAME)


def load(now: datetime | None = None) -> Calibration:
    """Saved measurements of this machine, empty without any. Never raises.

    A damaged file is renamed to end in ".damaged", and a note tells of it.

    Args:
        now: time for ages; None for the present.
    """
    sets, notes = _kept()
    if not sets:
        return Calibration(notes=notes)
    seen = fingerprint()
    here = _of_machine(sets, seen)
    if here is None:
        other = sets[0]
        changed = difference(other.fingerprint, seen) if other.fingerprint else ""
        return replace(judged(other, now), stale=changed, changed=True)
    calibration = judged(here, now)
    driver = other_driver(here.fingerprint, seen) if here.fingerprint else ""
    return replace(calibration, stale=driver or calibration.stale)


def judged(
    probed: MeasurementHistory, now: datetime | None = None, source: str = SOURCE
) -> Calibration:
    """Calibration of a measurement history, marked stale when too old.

    Args:
        probed: measurement history.
        now: time for ages; None for the present.
        source: origin of the measurements.
    """
    return Calibration(
        measurements=probed.latest,
        stale=_aged(probed.latest, now or datetime.now(UTC)),
        history=probed.history,
        source=source,
    )


def exported() -> MeasurementHistory:
    """Export of this machine: fingerprint and every measurement."""
    now = fingerprint()
    return _of_machine(_kept()[0], now) or MeasurementHistory(fingerprint=now, history=())


def _with(
    here: MeasurementHistory, added: tuple[Measurement, ...], now: Fingerprint
) -> MeasurementHistory:
    """History with new measurements; the driver is that of the last GPU measurement."""
    of_gpu = any(not measurement.name.startswith(NOT_OF_GPU) for measurement in added)
    if not of_gpu and here.fingerprint is not None:
        now = replace(now, driver=here.fingerprint.driver or now.driver)
    return MeasurementHistory(fingerprint=now, history=here.with_more(added))


def _of_machine(sets: Iterable[MeasurementHistory], now: Fingerprint) -> MeasurementHistory | None:
    return next(
        (
            history
            for history in sets
            if history.fingerprint and not difference(history.fingerprint, now)
        ),
        None,
    )


def _keep(path: Path, added: tuple[Measurement, ...], now: Fingerprint) -> None:
    sets, notes = _kept()
    if notes and path.exists():
        raise StoreError(f"{notes[0]} Nothing was saved, to keep the measurements in that file.")
    here = _of_machine(sets, now) or MeasurementHistory(fingerprint=now, history=())
    others = [to_json(history) for history in sets if history is not here]
    write(path, {**to_json(_with(here, added, now)), EARLIER: others})


def _kept() -> tuple[tuple[MeasurementHistory, ...], tuple[str, ...]]:
    """Histories in the file, last measured machine first, and problems in sentences."""
    path = data_folder() / FILE_NAME
    try:
        return _sets(json.loads(path.read_text(encoding="utf-8"))), ()
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (f"{path} cannot be read ({error.strerror}).",)
    except NewerFile as error:
        return (), (f"{path} was written by a newer version of this program ({error}); update it.",)
    except UNREADABLE as error:
        return (), (_set_aside(path, error),)


def _sets(content: Any) -> tuple[MeasurementHistory, ...]:
    if content["fingerprint"] is None:
        raise ValueError("the fingerprint of the measured machine is missing")
    return from_json(content), *(from_json(earlier) for earlier in content.get(EARLIER, ()))


def _set_aside(path: Path, error: Exception) -> str:
    aside = path.with_name(path.name + ".damaged")
    try:
        path.replace(aside)
    except OSError:
        return f"{path} is damaged ({error}) and is not used; delete it and probe again."
    return f"{path} was damaged ({error}) and is now called {aside.name}; probe again."


def _aged(measurements: Mapping[str, Measurement], now: datetime) -> str:
    old = sorted(
        measurement.name
        for measurement in measurements.values()
        if now - moment(measurement.when) > FRESH
    )
    return f"Measured over {FRESH.days} days ago: {', '.join(old)}; probe again." if old else ""
