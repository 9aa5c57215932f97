"""This machine from its system, drivers and probes, with typed values on top."""

from dataclasses import replace

from advisor.calibration import local_store
from advisor.calibration.local_store import Calibration
from advisor.catalog.constants import fitted_constants
from advisor.errors import InputError, UnknownName
from advisor.machine import from_catalog
from advisor.machine.catalog import find_gpu
from advisor.machine.from_spec import (
    TYPICAL_DISK,
    TYPICAL_HOST,
    at_work,
    drive,
    link,
    machine,
    name_of,
    reached,
)
from advisor.machine.machine import USUAL_READ_AHEAD, Disk, Gpu, Host, Link, Machine
from advisor.machine.quantity import Provenance, Quantity, given
from advisor.machine.shared_memory import with_screen, with_shared_memory
from advisor.machine.software import LINUX, OTHER_SPELLINGS
from advisor.machine.spec import MachineSpec
from advisor.machine.stated_software import with_software
from advisor.paths import data_folder
from advisor.probes import system
from advisor.probes.gpu import detect as gpu_probe
from advisor.probes.gpu.facts import GpuFacts, figure_name
from advisor.probes.host import inventory as host_probe
from advisor.probes.host.inventory import HostFacts
from advisor.units import GB, GIB

# GPU of the catalogue with measured rates in place of datasheet values.


def gpu(card: Gpu, place: int, measured: Calibration, *, keep_link: bool = False) -> Gpu:
    """GPU with measured rates where there are any.

    Args:
        card: GPU of the catalogue, with the driver's memory size and link.
        place: index in the drivers' order, from 0.
        measured: measurements to use.
        keep_link: the link was typed, so that measured link rates are ignored.
    """
    if not keep_link and not card.unified:
        card = replace(card, link=_link(card.link, place, measured))
    read = measured.figure(figure_name("device_read", place))
    return card if read is None else replace(card, bandwidth=peak(card.bandwidth, read))


def peak(sheet: Quantity, read: Quantity) -> Quantity:
    """Peak memory bandwidth of a GPU with a measured read rate [B/s].

        peak = min( datasheet , read / share )

    The fitted shares of peak refer to datasheet peaks. A measured read rate in place of the peak
    would count losses twice. It therefore only lowers the peak, where the GPU reads more slowly
    than the slowest healthy GPU (`device_read_share`): limited by heat or power, with slower memory
    than its name implies, or a partition of a card.

    Args:
        sheet: datasheet peak [B/s].
        read: rate of a kernel that only reads [B/s].
    """
    share = fitted_constants().value("device_read_share")
    reached = replace(read, value=read.value / share, source=f"{read.source}, read / {share:g}")
    return reached if reached.value < sheet.value else sheet


def _link(link: Link, place: int, measured: Calibration) -> Link:
    """Link with measured copy rates; missing ones are derived from pinned copies."""

    def figure(name: str) -> Quantity | None:
        return measured.figure(figure_name(name, place))

    pinned = figure("h2d_pinned")
    if pinned is None:
        return link
    derived = from_catalog.given_link(pinned)
    generation, lanes = figure("pcie_generation"), figure("pcie_width")
    return replace(
        derived,
        name=f"PCIe {generation.value:.0f} x{lanes.value:.0f}"
        if generation and lanes and link.name.startswith("PCIe")
        else link.name,
        pageable=figure("h2d_pageable") or derived.pageable,
        zero_copy=figure("zero_copy_read") or derived.zero_copy,
    )


Notes = tuple[str, ...]
"""Problems and assumptions, a sentence each."""


def this_machine(
    overrides: MachineSpec | None = None, measured: Calibration | None = None
) -> Machine:
    """This host: detected parts, measured rates, typed values on top.

    A part that cannot be detected raises no error; the machine's notes name it.

    Args:
        overrides: typed values that replace detected and measured ones; None for none.
        measured: measurements to use; None for the saved ones.

    Raises:
        UnknownName: a typed part missing from the catalogue.
    """
    cards, unseen = gpu_probe.gpus()
    known = local_store.load() if measured is None else measured
    return seen_machine(
        host_probe.facts(), cards, known, overrides, unseen=unseen, read_ahead=_read_ahead(),
        runs=OTHER_SPELLINGS.get(system.operating_system(), LINUX),
    )  # fmt: skip


def seen_machine(
    seen: HostFacts,
    cards: tuple[GpuFacts, ...],
    measured: Calibration,
    overrides: MachineSpec | None = None,
    *,
    unseen: tuple[str, ...] = (),
    read_ahead: Quantity = USUAL_READ_AHEAD,
    runs: str = "",
) -> Machine:
    """Machine of detected host facts and GPUs, with measured rates.

    Args:
        seen: processor and memory.
        cards: GPUs.
        measured: measurements to use.
        overrides: typed values that replace detected and measured ones; None for none.
        unseen: problems of the GPU detection, a sentence each.
        read_ahead: read-ahead window of the drive [B].
        runs: operating system, a key of `software.SYSTEMS`; empty where unknown.

    Raises:
        UnknownName: a typed part missing from the catalogue.
    """
    inputs = overrides or MachineSpec()
    gpus, gpu_notes = _gpus(cards, inputs, measured)
    gpus = reached(gpus, inputs)
    host, host_notes = _seen_host(seen, inputs, measured)
    host = at_work(host, inputs)
    disk, disk_notes = _seen_disk(inputs, measured, read_ahead)
    notes = (*seen.notes, *unseen, *measured.notes, measured.stale)
    described = Machine(
        name=name_of(gpus, host),
        gpus=gpus,
        host=host,
        disk=disk,
        notes=tuple(filter(None, (*notes, *gpu_notes, *host_notes, *disk_notes))),
    )
    stated = with_software(described, inputs, runs or LINUX, seen=bool(runs))
    shared = with_shared_memory(stated) if inputs.vram_gb is None else stated
    return with_screen(shared, inputs.screen_gb)


def _gpus(
    cards: tuple[GpuFacts, ...], inputs: MachineSpec, measured: Calibration
) -> tuple[tuple[Gpu, ...], Notes]:
    """GPUs as typed, else as detected with measured rates; a note names each unknown one."""
    if inputs.gpu is not None:
        return tuple(machine(inputs).gpus), ()
    typed = (inputs.pcie_gbs, inputs.pcie_gen, inputs.pcie_lanes) != (None, None, None)
    gpus, notes = [], []
    for place, card in enumerate(cards):
        try:
            row = find_gpu(card.name, card.memory_total)
        except UnknownName as error:
            notes.append(f"{error} Choose the closest GPU by hand.")
            continue
        seen = _as_seen(from_catalog.gpu_of(row), card, inputs)
        gpus.append(gpu(seen, place, measured, keep_link=typed))
    return tuple(gpus), tuple(notes)


def _as_seen(gpu: Gpu, card: GpuFacts, inputs: MachineSpec) -> Gpu:
    """Catalogue GPU with the memory size and the link that its driver reports."""
    if inputs.vram_gb is not None:
        gpu = replace(gpu, memory=given(inputs.vram_gb * GIB))
    elif card.memory_total is not None and not gpu.unified:
        size = Quantity(
            value=float(card.memory_total), kind=Provenance.MEASURED, source="GPU driver"
        )
        gpu = replace(gpu, memory=size)
    seen = replace(
        inputs,
        pcie_gen=inputs.pcie_gen or card.link_generation_max,
        pcie_lanes=inputs.pcie_lanes or card.link_width_now,
    )
    return replace(gpu, link=link(seen, gpu))


def _seen_host(seen: HostFacts, inputs: MachineSpec, measured: Calibration) -> tuple[Host, Notes]:
    """Processor and RAM; the measured bandwidth of RAM, else an assumed one with a note."""
    bandwidth = (
        measured.figure("ram_read") if inputs.ram_gbs is None else given(inputs.ram_gbs * GB)
    )
    notes: Notes = ()
    if bandwidth is None:
        bandwidth, notes = _assumed_bandwidth(seen, inputs)
    memory = Quantity(
        value=float(seen.memory_total), kind=Provenance.MEASURED, source="operating system"
    )
    if inputs.ram_gb is not None:
        memory = given(inputs.ram_gb * GIB)
    own = measured.figure("ram_read") or _assumed_bandwidth(seen, MachineSpec())[0]
    host = Host(
        name=inputs.cpu or seen.name or "this processor",
        cores=inputs.cores or seen.cores,
        sockets=seen.sockets,
        memory=memory,
        bandwidth=bandwidth,
        instruction_sets=seen.instruction_sets,
        engine=None if inputs.cpu else measured.engine(float(own.value)),
        segment=from_catalog.ram_segment(inputs.cpu or seen.name),
    )
    return host, notes


def _assumed_bandwidth(seen: HostFacts, inputs: MachineSpec) -> tuple[Quantity, Notes]:
    """Bandwidth of RAM from the processor's catalogue row, else from a typical one [B/s]."""
    name, notes = inputs.cpu or seen.name, []
    try:
        typical = from_catalog.host(name, given(float(seen.memory_total)))
    except InputError:
        if inputs.cpu is not None:
            raise
        notes.append(f"{name or 'The processor'} is not in the catalogue; a typical one is used.")
        typical = from_catalog.host(TYPICAL_HOST, given(float(seen.memory_total)))
    notes.append("The RAM speed is assumed; measuring it takes seconds.")
    return replace(typical.bandwidth, kind=Provenance.ASSUMED), tuple(notes)


def _seen_disk(
    inputs: MachineSpec, measured: Calibration, read_ahead: Quantity
) -> tuple[Disk, Notes]:
    """Drive as typed, else as measured, else a typical one with a note."""
    if inputs.disk_gbs is not None or inputs.disk is not None:
        return drive(inputs), ()
    figure = measured.figure("disk_read_direct")
    if figure is None:
        typical = from_catalog.disk(TYPICAL_DISK)
        assumed = replace(typical.sequential, kind=Provenance.ASSUMED)
        note = "The drive's speed is assumed; measuring it takes seconds."
        return replace(typical, sequential=assumed), (note,)
    disk = Disk(
        name="this drive",
        sequential=figure,
        mapped=measured.figure("disk_read_mmap"),
        read_ahead=_as_set(read_ahead, measured),
    )
    return disk, ()


def _as_set(now: Quantity, measured: Calibration) -> Quantity:
    """Read-ahead set now on this machine, else the probed one of an imported machine."""
    known = now.kind is Provenance.MEASURED
    return now if known else measured.figure("disk_read_ahead") or now


def _read_ahead() -> Quantity:
    """Read-ahead of the drive with the data folder, or its nearest existing parent."""
    folder = data_folder()
    window = system.read_ahead(
        next(existing for existing in (folder, *folder.parents) if existing.exists())
    )
    if not window:
        return USUAL_READ_AHEAD
    return Quantity(value=float(window), kind=Provenance.MEASURED, source="operating system")
