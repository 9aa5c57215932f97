"""Rows of the hardware catalogue, by name."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar

from advisor.catalog.csv_tables import DATA, RowsByName, read
from advisor.catalog.name_matching import find, spelled
from advisor.errors import UnknownName
from advisor.machine import rows
from advisor.machine.names import statements
from advisor.machine.names.cpu_names import CpuName, CpuNames, contradictions
from advisor.machine.names.gpu_names import GpuName, GpuNames, size_unsaid
from advisor.machine.names.machine_names import MachineNames
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.words import Written, plain, size_gib
from advisor.machine.rows import DiskRow, GpuRow, HostRow
from advisor.machine.spec import MachineSpec
from advisor.units import GIB

Row = TypeVar("Row")
HARDWARE = DATA / "hardware"


def table(file: str, record: type[Row], key: str = "name") -> Callable[[], Mapping[str, Row]]:
    """Function that gives the rows of a file of data/hardware by one of its columns; it reads them
    once.
    """
    return cache(lambda: {getattr(row, key): row for row in read(HARDWARE / file, record)})


_gpu_rows = table("gpus.csv", GpuRow)  # GPUs by name
_host_rows = table("hosts.csv", HostRow)  # CPUs and platforms by name
_disk_rows = table("disks.csv", DiskRow)  # drives by name
_machine_rows = table("machines.csv", rows.MachineRow)  # machines that people own or rent, by name
cpu_models = cache(lambda: RowsByName(HARDWARE / "cpu_models.csv", rows.CpuModelRow))
"""Cores of processors without a row in data/hardware/hosts.csv, by name in lower case."""
cpu_clocks = cache(lambda: RowsByName(HARDWARE / "cpu_clocks.csv", rows.CpuClockRow))
"""Clocks of processors, by name in lower case."""
cpu_generations = cache(lambda: read(HARDWARE / "cpu_generations.csv", rows.CpuGenerationRow))
"""Properties of each generation of processors."""
gpu_names = cache(lambda: GpuNames(_gpu_rows()))  # names of GPUs, ready to be matched
cpu_names = cache(lambda: CpuNames(_host_rows(), cpu_models(), cpu_generations()))
"""Names of processors, ready to be matched."""
machine_names = cache(lambda: MachineNames(_machine_rows(), gpu_names(), cpu_names()))
"""Names of machines, ready to be matched."""


@cache
def published(figure: str) -> Mapping[str, rows.PartFigure]:
    """Values of one published figure, by part.

    The figures are rates of the "link" between GPUs of a kind, of a "bridge" between two of them,
    of a host's "RAM" and of the "drive" of Macs with a chip [GB/s]; "memory shown" by a card's
    driver, and "memory kept" by that of a card or a family [MiB].
    """
    every = read(HARDWARE / "part_figures.csv", rows.PartFigure)
    return {row.part: row for row in every if row.figure == figure}


@lru_cache(maxsize=4096)
def _gpu_named(name: str, memory: float | None = None) -> GpuName:
    """GPU of a name; the memory that a driver reports distinguishes cards of the same name [B]."""
    row = spelled("GPU", _gpu_rows()).get(name.strip().casefold())
    if memory is not None:
        return gpu_names().match(name, memory / GIB)
    if row is None:
        named = gpu_names().match(name)
    else:
        named = GpuName(row=row)
    if size_gib(plain(name)):
        note = ""
    else:
        note = size_unsaid(named, _gpu_rows())
    if note:
        return replace(named, notes=(*named.notes, note))
    return named


def _find_gpu(name: str, memory: float | None = None) -> GpuRow:
    """Catalogue row of a GPU, by any name that `named` reads."""
    return _gpu_named(name, memory).row


WITH_GRAPHICS = ("unified", "laptop")  # segments of processors whose own graphics are used as a GPU


@lru_cache(maxsize=4096)
def _cpu_named(name: str) -> CpuName:
    """Processor of a name: its row, its graphics, and assumptions."""
    row = spelled("CPU", _host_rows()).get(name.strip().casefold())
    if row is not None and row.segment not in WITH_GRAPHICS:
        notes = tuple(contradictions(plain(name), row, row))
        return CpuName(row=row, notes=notes)  # the long list is loaded for other names alone
    return cpu_names().match(name)


@lru_cache(maxsize=4096)
def _find_host(name: str) -> HostRow:
    """Catalogue row of a CPU or platform, or one derived from its generation."""
    row = spelled("CPU", _host_rows()).get(name.strip().casefold())
    if row is not None:
        return row
    return _cpu_named(name).row


def memory_generation(host: str) -> str:
    """Generation of a processor's memory ("DDR5"); empty for a processor of an unknown name."""
    row = HOSTS.known(host)
    if row is None:
        return ""
    return row.memory_type


@lru_cache(maxsize=4096)
def _machine_named(name: str) -> MachineName:
    """Machine of a name, with the NVLink bridge in the name and the words that no part explains."""
    named = machine_names().match(name)
    if not named.of_cloud and name not in _machine_rows():
        parts = tuple(_part_names(named))
        sizes = (*_sizes(named), statements.whole_memory(name))
        told = statements.note(statements.unused(name, parts, sizes))
        typed = named.spec.ram_gb in Written(plain(name)).memory_sizes
        drive = "" if typed else statements.drive_note(name, named.spec.ram_gb)
        named = replace(named, notes=(*named.notes, *filter(None, (told, drive))))
    return _with_bridge(named, name)


def _part_names(named: MachineName) -> Iterator[str]:
    """Names of a machine's parts, in all spellings."""
    spec = named.spec
    yield from (named.name, str(spec.gpu), str(spec.cpu), str(spec.disk))
    yield from _spellings_of_cards(str(spec.gpu))
    host = spelled("CPU", _host_rows()).get(str(spec.cpu).casefold())
    if host is not None:
        yield from (host.aliases, host.vendor)
    if named.preset is not None:
        row = named.preset
        yield from (row.name, row.aliases, row.cpu, row.gpu, row.note)
        yield from _spellings_of_cards(row.gpu)


def _spellings_of_cards(text: str) -> Iterator[str]:
    for row in _rows_of_cards(text):
        yield from (row.name, row.aliases, row.vendor, row.family)


def _rows_of_cards(text: str) -> list[GpuRow]:
    """Rows of the cards of a machine's specification: "2x RTX 3090 + RTX 4090"."""
    names = (re.sub(r"^\d+x ", "", kind) for kind in text.split(MachineSpec.MIXED))
    return [_gpu_rows()[name] for name in names if name in _gpu_rows()]


def unused_of_card(name: str, gpu: GpuName) -> tuple[str, ...]:
    """Notes on words of a GPU's name that its card does not explain; empty where the GPU has notes
    on its name already.
    """
    if any("left out" in note for note in gpu.notes):
        return ()
    row = gpu.row
    as_sold = row.memory_gib
    sizes = (as_sold, as_sold * gpu.count, gpu.part_gib, gpu.memory_gib)
    parts = (row.name, row.aliases, row.vendor, row.family)
    told = statements.note(statements.unused(name, parts, sizes))
    return tuple(filter(None, (told, statements.drive_note(name))))


def _sizes(named: MachineName) -> Iterator[Any]:
    """Sizes of memory of a machine's parts [GiB]."""
    spec = named.spec
    yield from (spec.ram_gb, spec.vram_gb)
    for row in _rows_of_cards(str(spec.gpu)):
        yield from (row.memory_gib, row.memory_gib * spec.gpu_count)
    yield from (named.spec.ram_gb * spec.machines,) if named.spec.ram_gb else ()


def _with_bridge(named: MachineName, name: str) -> MachineName:
    """Machine with the NVLink bridge that its name says."""
    spec = named.spec
    if not NVLINK.search(plain(name)) or spec.machines > 1:
        return named
    cards = str(spec.gpu)
    if cards not in published("bridge"):
        return replace(named, notes=(*named.notes, *_without_bridge(cards)))
    pair = spec.gpu_count == 2
    note = f"The two {cards} are joined by an NVLink bridge."
    if not pair:
        note = f"An NVLink bridge joins two {cards}; with {spec.gpu_count} none is counted."
    return replace(named, spec=replace(spec, bridge=pair), notes=(*named.notes, note))


def _without_bridge(cards: str) -> Iterator[str]:
    """Notes on NVLink for cards without a bridge; empty for cards that are joined on a board."""
    row = _gpu_rows().get(cards)
    if cards not in published("link") and not (row and row.link_gbs):
        yield f"No NVLink bridge is known for {cards}: none is counted."


NVLINK = re.compile(r"(?<!no )(?<!without )\bnvlink\b(?! ?switch)")
"""Pattern of words for cards that are joined by NVLink, in lower case."""


def _find_machine(name: str) -> rows.MachineRow:
    """Catalogue row of a machine."""
    return find("machine", name, _machine_rows())


def _find_disk(name: str) -> DiskRow:
    """Catalogue row of a drive."""
    return find("drive", name, _disk_rows(), "`data/hardware/disks.csv` lists those it knows.")


Named = TypeVar("Named")


@dataclass(frozen=True, kw_only=True)
class Catalogue(Generic[Row, Named]):
    """Table of data/hardware, with the meaning of people's names for its rows."""

    rows: Callable[[], Mapping[str, Row]]  # rows by name, read when first asked for
    # row of a name in any spelling; of GPUs also by the memory that a driver shows [B]
    find: Callable[..., Row]
    named: Callable[..., Named]  # the row with what its name says beside it, and assumptions

    def known(self, name: str) -> Row | None:
        """Row of a name in any spelling; None for an unknown name."""
        try:
            return self.find(name)
        except UnknownName:
            return None


GPUS = Catalogue(rows=_gpu_rows, find=_find_gpu, named=_gpu_named)
HOSTS = Catalogue(rows=_host_rows, find=_find_host, named=_cpu_named)  # processors, platforms
DISKS = Catalogue(rows=_disk_rows, find=_find_disk, named=_find_disk)
MACHINES = Catalogue(rows=_machine_rows, find=_find_machine, named=_machine_named)
"""Machines that people own or rent, each with its parts."""
