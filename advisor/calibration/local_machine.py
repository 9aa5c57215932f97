"""This machine from its system, drivers and probes, with typed values on top."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from advisor.calibration import measurement_file
from advisor.calibration.measurement_file import (
    Fingerprint,
    MeasurementHistory,
    fingerprint,
    moment,
)
from advisor.catalog.constants import Constants
from advisor.errors import InputError, UnknownName
from advisor.failures import StoreError
from advisor.machine import from_catalog, from_spec
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import HOSTS
from advisor.machine.machine import Disk, EngineSpeed, Gpu, Host, Link, Machine
from advisor.machine.spec import MachineSpec
from advisor.paths import data_folder
from advisor.probes import host as host_probe
from advisor.probes.gpu import detect as gpu_probe
from advisor.probes.gpu.detect import GpuFacts, figure_name
from advisor.probes.host import HostFacts
from advisor.probes.measurement import ENGINE, Measurement, title
from advisor.units import GB, GIB, Provenance, Quantity

# Store of this machine's measurements, valid until its parts change.

FILE_NAME = "calibration.json"
FRESH = timedelta(days=92)  # age from which measurements are stale
SOURCE = "probed on this machine"
EARLIER = "earlier"  # key of the file for histories from before the hardware changed
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
        """Measured quantity, in its own unit; None where it was not measured, or on other
        hardware.
        """
        measurement = self.measurements.get(name)
        if measurement is None or self.changed:
            return None
        return self._figure(measurement)

    def engine(self, ram: float) -> EngineSpeed | None:
        """Measured speeds of llama.cpp at a read rate of RAM [B/s]; None where there are none, or
        on other hardware.
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
        return Quantity(measurement.value, Provenance.MEASURED, self.source, measurement.when[:10])


def _by_kind(costs: Mapping[str, Quantity], kind: str) -> dict[str, Quantity]:
    """Rates with a prefix, by storage type, format or head shape, in the catalogue's spelling."""
    return {
        name.removeprefix(kind).upper(): cost
        for name, cost in costs.items()
        if name.startswith(kind)
    }


def save(measurements: Iterable[Measurement]) -> Path:
    """File of the measurements after new ones are added; the latest of each name counts.

    Measurements of other hardware stay in the file, unused until that hardware is back. The driver
    is that of the last GPU measurement.
    """
    added = tuple(measurements)
    now = fingerprint()
    path = data_folder() / FILE_NAME
    with measurement_file.alone(path.parent, "Measurements cannot be saved"):
        sets, notes = _saved_histories()
        if notes and path.exists():
            raise StoreError(
                f"{notes[0]} Nothing was saved, to keep the measurements in that file."
            )
        here = _of_machine(sets, now)
        of_gpu = any(not measurement.name.startswith(NOT_OF_GPU) for measurement in added)
        if not of_gpu and here.fingerprint is not None:
            now = replace(now, driver=here.fingerprint.driver or now.driver)
        with_added = MeasurementHistory(fingerprint=now, history=here.with_more(added))
        earlier = [measurement_file.to_json(history) for history in sets if history is not here]
        measurement_file.write(path, {**measurement_file.to_json(with_added), EARLIER: earlier})
    return path


def forget() -> None:
    """Delete every measurement of this machine."""
    measurement_file.delete(data_folder() / FILE_NAME)


def load(now: datetime | None = None) -> Calibration:
    """Saved measurements of this machine; a damaged file is renamed, with a note."""
    sets, notes = _saved_histories()
    if not sets:
        return Calibration(notes=notes)
    seen = fingerprint()
    here = _of_machine(sets, seen)
    if here not in sets:
        last = sets[0]
        if last.fingerprint:
            changed = measurement_file.difference(last.fingerprint, seen)
        else:
            changed = ""
        return replace(judged(last, now), stale=changed, changed=True)
    if here.fingerprint:
        driver = measurement_file.other_driver(here.fingerprint, seen)
    else:
        driver = ""
    calibration = judged(here, now)
    return replace(calibration, stale=driver or calibration.stale)


def judged(
    probed: MeasurementHistory, now: datetime | None = None, source: str = SOURCE
) -> Calibration:
    """Calibration of a measurement history, marked stale when too old."""
    return Calibration(
        measurements=probed.latest,
        stale=_aged(probed.latest, now or datetime.now(UTC)),
        history=probed.history,
        source=source,
    )


def exported() -> MeasurementHistory:
    """Export of this machine: fingerprint and every measurement."""
    return _of_machine(_saved_histories()[0], fingerprint())


def _of_machine(sets: Iterable[MeasurementHistory], now: Fingerprint) -> MeasurementHistory:
    """History of the same hardware, empty where there is none."""
    same = (
        history
        for history in sets
        if history.fingerprint and not measurement_file.difference(history.fingerprint, now)
    )
    return next(same, MeasurementHistory(fingerprint=now, history=()))


def _saved_histories() -> tuple[tuple[MeasurementHistory, ...], tuple[str, ...]]:
    """Histories in the file, last measured machine first, and problems in sentences."""
    path = data_folder() / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["fingerprint"] is None:
            raise ValueError("the fingerprint of the measured machine is missing")
        return tuple(map(measurement_file.from_json, (content, *content.get(EARLIER, ())))), ()
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (f"{path} cannot be read ({error.strerror}).",)
    except measurement_file.NewerFile as error:
        return (), (f"{path} was written by a newer version of this program ({error}); update it.",)
    except measurement_file.UNREADABLE as error:
        return (), (_set_aside(path, error),)


def _set_aside(path: Path, error: Exception) -> str:
    aside = path.with_name(path.name + ".damaged")
    try:
        path.replace(aside)
    except OSError:
        return f"{path} is damaged ({error}) and is not used; delete it and probe again."
    return f"{path} was damaged ({error}) and is now called {aside.name}; probe again."


def _aged(measurements: Mapping[str, Measurement], now: datetime) -> str:
    old = sorted(
        title(measurement.name)
        for measurement in measurements.values()
        if now - moment(measurement.when) > FRESH
    )
    if old:
        return f"Measured over {FRESH.days} days ago: {', '.join(old)}; measure again."
    return ""


# GPU of the catalogue with measured rates in place of datasheet values.


def gpu(card: Gpu, index: int, measured: Calibration, *, keep_link: bool = False) -> Gpu:
    """GPU of the catalogue with its measured rates, where there are any; a typed link stays."""
    if not keep_link and not card.unified:
        card = replace(card, link=_link(card.link, index, measured))
    read = measured.figure(figure_name("device_read", index))
    if read is None:
        return card
    return replace(card, bandwidth=peak(card.bandwidth, read))


def peak(sheet: Quantity, read: Quantity) -> Quantity:
    """Peak memory bandwidth of a GPU with a measured read rate [B/s].

        peak = min( datasheet , read / share )

    The fitted shares of peak refer to datasheet peaks. A measured read rate in place of the peak
    would count losses twice. It therefore only lowers the peak, where the GPU reads more slowly
    than the slowest healthy GPU (`device_read_share`): limited by heat or power, with slower memory
    than its name implies, or a partition of a card.
    """
    share = Constants.fitted().value("device_read_share")
    reached = replace(read, value=read.value / share, source=f"{read.source}, read / {share:g}")
    if reached.value < sheet.value:
        return reached
    return sheet


def _link(link: Link, index: int, measured: Calibration) -> Link:
    """Link with measured copy rates; missing ones are derived from pinned copies."""

    def figure(name: str) -> Quantity | None:
        return measured.figure(figure_name(name, index))

    pinned = figure("h2d_pinned")
    if pinned is None:
        return link
    derived = Link.given(pinned)
    generation = figure("pcie_generation")
    lanes = figure("pcie_width")
    return replace(
        derived,
        name=f"PCIe {generation.value:.0f} x{lanes.value:.0f}"
        if generation and lanes and link.name.startswith("PCIe")
        else link.name,
        pageable=figure("h2d_pageable") or derived.pageable,
        zero_copy=figure("zero_copy_read") or derived.zero_copy,
    )


def this_machine(
    overrides: MachineSpec | None = None, measured: Calibration | None = None
) -> Machine:
    """This host as detected, with measured rates, and with typed values in place of both."""
    cards, unseen = gpu_probe.gpus()
    if measured is None:
        calibration = load()
    else:
        calibration = measured
    return seen_machine(
        host_probe.facts(),
        cards,
        calibration,
        overrides,
        unseen=unseen,
        read_ahead=_read_ahead(),
        runs=OperatingSystem.seen(host_probe.operating_system()) or OperatingSystem.LINUX,
    )


def seen_machine(
    seen: HostFacts,
    cards: tuple[GpuFacts, ...],
    measured: Calibration,
    overrides: MachineSpec | None = None,
    *,
    unseen: tuple[str, ...] = (),
    read_ahead: Quantity = Disk.USUAL_READ_AHEAD,
    runs: str = "",
) -> Machine:
    """Machine of detected host facts and GPUs, with measured rates."""
    inputs = overrides or MachineSpec()
    notes = [*seen.notes, *unseen, *measured.notes, measured.stale]
    gpus = _gpus(cards, inputs, measured, notes)
    host = _seen_host(seen, inputs, measured, notes)
    described = Machine(
        name="",
        gpus=gpus,
        host=host,
        disk=_seen_disk(inputs, host, measured, read_ahead, notes),
        notes=tuple(filter(None, notes)),
    )
    system = runs or OperatingSystem.LINUX
    return from_spec.completed(described, inputs, system, seen=bool(runs))


def _gpus(
    cards: tuple[GpuFacts, ...], inputs: MachineSpec, measured: Calibration, notes: list[str]
) -> tuple[Gpu, ...]:
    """GPUs as typed, or as detected with measured rates; a note names each unknown one."""
    if inputs.gpu is not None:
        return tuple(from_spec.machine(inputs).gpus)
    typed = (inputs.pcie_gbs, inputs.pcie_gen, inputs.pcie_lanes) != (None, None, None)
    gpus = []
    for index, card in enumerate(cards):
        try:
            known = from_catalog.gpu(card.name, card.memory_total)
        except UnknownName as error:
            notes.append(f"{error} Choose the closest GPU by hand.")
            continue
        seen = _as_seen(known, card, inputs)
        gpus.append(gpu(seen, index, measured, keep_link=typed))
    return tuple(gpus)


def _as_seen(gpu: Gpu, card: GpuFacts, inputs: MachineSpec) -> Gpu:
    """Catalogue GPU with the memory size and the link that its driver reports."""
    if inputs.vram_gb is not None:
        gpu = replace(gpu, memory=Quantity.given(inputs.vram_gb * GIB))
    elif card.memory_total is not None and not gpu.unified:
        size = Quantity(float(card.memory_total), Provenance.MEASURED, "GPU driver")
        gpu = replace(gpu, memory=size)
    seen = replace(
        inputs,
        pcie_gen=inputs.pcie_gen or card.link_generation_max,
        pcie_lanes=inputs.pcie_lanes or card.link_width_now,
    )
    return replace(gpu, link=from_spec.link(seen, gpu))


def _seen_host(
    seen: HostFacts, inputs: MachineSpec, measured: Calibration, notes: list[str]
) -> Host:
    """Processor and RAM, with measured bandwidth; an assumed one has a note."""
    if inputs.ram_gbs is None:
        bandwidth = measured.figure("ram_read")
    else:
        bandwidth = Quantity.given(inputs.ram_gbs * GB)
    if bandwidth is None:
        bandwidth = _assumed_bandwidth(seen, inputs, notes)
    memory = Quantity(float(seen.memory_total), Provenance.MEASURED, "operating system")
    if inputs.ram_gb is not None:
        memory = Quantity.given(inputs.ram_gb * GIB)
    ram_rate = measured.figure("ram_read") or _assumed_bandwidth(seen, MachineSpec(), [])
    row = HOSTS.known(inputs.cpu or seen.name)
    return Host(
        name=inputs.cpu or seen.name or "this processor",
        cores=inputs.cores or seen.cores,
        sockets=seen.sockets,
        memory=memory,
        bandwidth=bandwidth,
        instruction_sets=seen.instruction_sets,
        engine=None if inputs.cpu else measured.engine(float(ram_rate.value)),
        segment=from_catalog.ram_segment(row),
        clock=from_catalog.clock_beside(row),
    )


def _assumed_bandwidth(seen: HostFacts, inputs: MachineSpec, notes: list[str]) -> Quantity:
    """Bandwidth of RAM from the processor's catalogue row, or of a typical processor [B/s]."""
    name = inputs.cpu or seen.name
    try:
        typical = from_catalog.host(name, Quantity.given(float(seen.memory_total)))
    except InputError:
        if inputs.cpu is not None:
            raise
        notes.append(f"{name or 'The processor'} is not in the catalogue; a typical one is used.")
        typical = from_catalog.host(
            from_spec.TYPICAL.host, Quantity.given(float(seen.memory_total))
        )
    notes.append("The RAM speed is assumed; measuring it takes seconds.")
    return replace(typical.bandwidth, kind=Provenance.ASSUMED)


def _seen_disk(
    inputs: MachineSpec,
    host: Host,
    measured: Calibration,
    read_ahead: Quantity,
    notes: list[str],
) -> Disk:
    """Drive as typed, as measured, or a typical one with a note."""
    if inputs.disk_gbs is not None or inputs.disk is not None:
        return from_spec.drive(inputs, host)
    figure = measured.figure("disk_read_direct")
    if figure is None:
        typical = from_spec.drive(inputs, host)
        assumed = replace(typical.sequential, kind=Provenance.ASSUMED)
        notes.append("The drive's speed is assumed; measuring it takes seconds.")
        return replace(typical, sequential=assumed)
    if read_ahead.kind is not Provenance.MEASURED:  # of an imported machine, not as it is set now
        read_ahead = measured.figure("disk_read_ahead") or read_ahead
    return Disk(
        name="this drive",
        sequential=figure,
        mapped=measured.figure("disk_read_mmap"),
        read_ahead=read_ahead,
    )


def _read_ahead() -> Quantity:
    """Read-ahead of the drive with the data folder, or its nearest existing parent."""
    folder = data_folder()
    window = host_probe.read_ahead(
        next(existing for existing in (folder, *folder.parents) if existing.exists())
    )
    if not window:
        return Disk.USUAL_READ_AHEAD
    return Quantity(float(window), Provenance.MEASURED, "operating system")
