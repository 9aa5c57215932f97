"""Identification of a name of hardware: GPU, processor or machine, with its figures."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import UnknownName
from advisor.machine import catalog, from_spec
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import NVLINK
from advisor.machine.machine import Form, Gpu, Machine, Supply
from advisor.machine.names.cpu_names import CpuName, CpuObjection, share_of_channels
from advisor.machine.names.gpu_names import GpuName
from advisor.machine.names.gpu_words import OtherMemory, has_maker
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.statements import statements
from advisor.machine.names.words import Written, plain, says, without
from advisor.machine.rows import GpuRow, HostRow, MachineRow
from advisor.machine.spec import MachineSpec
from advisor.units import GIB, Provenance

# Machine from its name, with typed values on top.


def machine_by_name(name: str, overrides: MachineSpec | None = None) -> Machine:
    """Machine of a name, which is a preset or a list of parts; its notes state assumptions.

    Cards that are idle or in a drawer by the name are in `Machine.idle`, not among its GPUs.
    """
    installed, idle = _without_idle_cards(name)
    named = catalog.MACHINES.named(installed)
    written = Written.of(installed)
    typed = overrides or MachineSpec()
    form = _form(named, written)
    host = MachineSpec()
    if typed.cpu is None:
        host = _typical_server(named, form is Form.SERVER or _is_called_server(named, written))
    spec = overridden(overridden(named.spec, host), typed)
    if spec.ram_gb is None and named.memory_note and named.preset is None:
        spec = replace(spec, ram_gb=catalog.GPUS.find(str(spec.gpu)).memory_gib)
    machine = from_spec.machine(spec, _usual_system(named.preset))
    notes: list[str] = []
    if named.name.casefold() != name.strip().casefold():
        beside = "".join(f", beside it an idle {card.name}" for card in idle)
        notes.append(f"{name.strip()!r} is taken as {named.name}{beside}.")
    if host.cpu:
        notes.append(f"Its processor is not known: taken as {host.cpu}.")
    notes += [note for note in named.notes if typed.ram_gb is None or note != named.memory_note]
    memory = machine.host.memory
    if memory.kind is Provenance.ASSUMED:  # neither the name nor the user states it
        notes.append(f"How much memory it has is not said: {memory.value / GIB:g} GB is assumed.")
    rented = named.of_cloud or written.says("hired")
    return replace(
        machine,
        notes=tuple(dict.fromkeys((*notes, *machine.notes))),
        rented=named.name if rented and typed.gpu is None else "",
        sold_as=form,
        supply=_supply(installed, written, form),
        dock_port=written.says("dock port"),
        idle=(*machine.idle, *idle),
    )


BETWEEN_PARTS = re.compile(r"[,;]|\+|\band\b|\bplus\b")


def _without_idle_cards(name: str) -> tuple[str, tuple[Gpu, ...]]:
    """Name without the parts that are idle cards, and these cards."""
    parts: list[str] = []
    idle: list[Gpu] = []
    for part in BETWEEN_PARTS.split(name):
        cards = _idle_cards(plain(part).strip())
        if not cards:
            parts.append(part.strip())
        idle += cards
    return (", ".join(filter(None, parts)) if idle else name), tuple(idle)


def _idle_cards(text: str) -> tuple[Gpu, ...]:
    """Cards that a plain text says to be idle or in a drawer; none for other texts."""
    if not says(text, "idle card"):
        return ()
    bare = without("beside idle card", without("idle card", text)).strip()
    with suppress(UnknownName):
        return from_spec.machine(MachineSpec(gpu=bare)).discrete
    return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SupplyRow:
    """One row of data/hardware/supplies.csv: machines whose supply their maker made for them alone;
    no `watts` where its power is not on record.
    """

    machine: str  # pattern in the machine's name in lower case
    watts: float | None
    source: str
    source_date: str
    note: str


@cache
def supply_rows() -> tuple[SupplyRow, ...]:
    """Rows of the table; the first whose pattern a name has counts."""
    return read(DATA / "hardware/supplies.csv", SupplyRow)


def _supply(name: str, written: Written, form: Form | None) -> Supply | None:
    """Power supply of a named machine, or a usual one whose power the name states; None for
    others.
    """
    stated = statements(written).supply
    if form is Form.DESKTOP:
        for row in supply_rows():
            if re.search(row.machine, name.casefold()):
                return Supply(watts=stated or row.watts or 0.0, proprietary=True)
    if stated is None:
        return None
    return Supply(watts=stated)


def _form(named: MachineName, written: Written) -> Form | None:
    """Form that a machine is sold in, or that its words say; None where neither is known."""
    if named.of_cloud:
        return Form.SERVER
    if named.preset is None:
        return written.form
    form = Form(named.preset.kind)
    if form in SEVERAL_CASES and named.preset.gpu == MachineSpec.NO_GPU:
        if written.form in SMALL_CASES:
            return written.form
        return form
    return form


SEVERAL_CASES = (Form.OFFICE, Form.DESKTOP)
"""Forms of products of a name that is sold in several cases; a word beside it says which."""
SMALL_CASES = (Form.SLIM, Form.MINI)


def _is_called_server(named: MachineName, written: Written) -> bool:
    """Whether words on several cards, or on a part of a processor, say that a machine is a
    server.
    """
    several = named.spec.gpu_count >= FEWEST_OF_A_CALLED_SERVER
    if several and written.says("server"):
        return True
    expanded = written.spelled_out
    part = expanded.count_of("virtual processors") or expanded.count_of("cores of a part")
    return bool(part)


def _usual_system(preset: MachineRow | None) -> OperatingSystem:
    """Operating system that a product is sold with; Linux for others."""
    if preset is None or WITH_LINUX.match(f"{preset.name} {preset.gpu}"):
        return OperatingSystem.LINUX
    return SOLD_WITH.get(preset.kind, OperatingSystem.LINUX)


SERVER = "Server 8-channel DDR4-3200 (typical)"
"""Host of cards that a machine of unknown processor is rented or built with."""


WITH_GRACE = ("GH200", "GB200", "GB300")
"""Beginning of the names of GPUs on a module with NVIDIA's Grace."""
ON_BOARDS = re.compile(r".* SXM|B[23]00$|H20\b|Instinct MI3\d\d[AX]$|Gaudi 2$")
"""Names of GPUs that are modules on a server's board (SXM, OAM), as no desktop takes."""
FEWEST_OF_A_SERVER = 8  # number of cards from which on a machine of unknown processor is a server
FEWEST_OF_A_CALLED_SERVER = 3
"""The same of a machine that its name calls one: the desktops that people call so have two."""


def _typical_server(named: MachineName, server: bool) -> MachineSpec:
    """Typical server for rented machines and modules on boards whose processor is unknown."""
    kind = named.preset.kind if named.preset else ""
    modules = ON_BOARDS.match(str(named.spec.gpu)) or str(named.spec.gpu).startswith(WITH_GRACE)
    board = modules or named.spec.gpu_count >= FEWEST_OF_A_SERVER
    rented = server or kind in ("cloud", "server") or board
    if named.spec.cpu or not rented or from_spec.cards_of(str(named.spec.gpu))[0].row.unified:
        return MachineSpec()
    if str(named.spec.gpu).startswith(WITH_GRACE):
        return MachineSpec(cpu="NVIDIA Grace")
    host = catalog.HOSTS.find(SERVER)
    cores = named.spec.cores
    if cores and cores < host.cores:
        share = share_of_channels(host, cores)
    else:
        share = None
    return MachineSpec(cpu=SERVER, ram_channels=named.spec.ram_channels or share)


SOLD_WITH = {
    "mac": OperatingSystem.MACOS,
    "laptop": OperatingSystem.WINDOWS,
    "mini": OperatingSystem.WINDOWS,
    "handheld": OperatingSystem.WINDOWS,
}
"""Operating systems that kinds of products are usually sold with; others run Linux."""
WITH_LINUX = re.compile(r"Steam Deck|.*\bGB10\b")
"""Products with Linux: handhelds with SteamOS, and small machines with NVIDIA's own
(docs.nvidia.com/dgx/dgx-spark, 2026-11: DGX OS 7, of Ubuntu 24.04), by name and GPU."""


def overridden(spec: MachineSpec, typed: MachineSpec) -> MachineSpec:
    """Specification with typed values in place of its own; a typed GPU also replaces the number of
    GPUs.
    """
    unset = vars(MachineSpec())
    values = {name: value for name, value in vars(typed).items() if value != unset[name]}
    if typed.gpu is not None:
        values["gpu_count"] = typed.gpu_count
    return replace(spec, **values)


@dataclass(frozen=True, kw_only=True)
class Identified:
    """Hardware of a name."""

    kind: str  # "gpu", "processor" or "machine"
    name: str  # name of the catalogue, or of the parts
    gpus: tuple[GpuRow, ...] = ()  # rows of the GPUs, kind by kind
    count: int = 0  # number of GPUs of all kinds
    memory_gib: float | None = None  # memory of each GPU of the first kind, as sold or shared [GiB]
    host: HostRow | None = None  # processor; None where the name has none
    cores: int | None = None  # physical cores of all sockets; None where unknown
    channels: float | None = None  # 64-bit RAM channels; None where unknown
    # rate of the RAM that the name states, else of the processor [MT/s]; None where unknown
    mts: float | None = None
    ram_gib: float | None = None  # main memory [GiB]; None where the name has none
    preset: MachineRow | None = None  # row of data/hardware/machines.csv; None for other machines
    notes: tuple[str, ...] = ()  # assumptions, one sentence each
    alternatives: tuple[str, ...] = ()  # other hardware that the name may mean

    @staticmethod
    def of(name: str) -> "Identified":
        """Hardware of a name: a preset, a GPU, a processor or a list of parts, in this order."""
        typed = Written.of(name)
        written = typed.without_system
        if (
            written.meaning("refused")
            or written.spelled_out != written
            or catalog.machine_names().presets.row_of(written) is not None
        ):
            return _machine(catalog.MACHINES.named(name))
        kind = written.is_laptop or written.is_tower
        sized = written.names_ram or (kind and bool(written.memory_sizes))
        if name.isascii():
            part = name
        else:
            part = typed.text
        if sized or catalog.machine_names().cards.lists_several(written):
            gpu = None
        else:
            gpu = _gpu(part)
        if gpu is not None:
            return gpu
        sized = sized or bool(written.server_memory) or typed.memory_rate is not None
        rented = written.count_of("virtual processors") or written.count_of("cores of a part")
        whole = kind or sized or rented or catalog.machine_names().cards.names_any(written)
        cpu = None if whole else _processor(part)
        if cpu is not None:
            return cpu
        try:
            return _machine(catalog.MACHINES.named(name))
        except UnknownName:
            with suppress(UnknownName):
                named = catalog.GPUS.named(name)
                if named.row.unified and not named.row.of_ram:
                    return _as_gpu(named)  # a chip that is called by its GPU alone: "RTX Spark N1X"
            raise


SIZES_OF_RAM = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Sizes beside a card that are a machine's memory where its cards have less [GiB]."""


SEPARATE = re.compile(r"[,;|+]\s*\d{1,4} ?g(?:i?b)?\b")
"""A size that a sign divides from the card, which is the machine's: "RTX 3090, 32 GB"."""


def _gpu(name: str) -> Identified | None:
    """Card, or graphics that use the RAM; None for a chip. Raises OtherMemory for a size that is
    not sold.
    """
    try:
        gpu = catalog.GPUS.named(name)
    except OtherMemory as error:
        of_machine = error.size_gib in SIZES_OF_RAM and error.size_gib > error.sold_gib
        if error.alone and not of_machine and not SEPARATE.search(plain(name)):
            raise
        return None
    except UnknownName:
        return None
    written = Written(plain(name))
    left_out = any("left out" in note for note in gpu.notes)
    total = gpu.row.memory_gib * gpu.count
    of_machine = gpu.memory_gib in SIZES_OF_RAM and gpu.memory_gib > total
    # The title of a card in a shop.
    title = has_maker(written.text) and not (written.is_laptop or written.is_tower)
    chip = gpu.row.unified and not gpu.row.of_ram
    beside = not title and _says_more(written, gpu)
    if (left_out and not title) or of_machine or chip or beside:
        return None
    if gpu.row.of_ram and _processor(name) is not None:
        return None
    told = catalog.unused_of_card(name, gpu)
    return _as_gpu(replace(gpu, notes=(*gpu.notes, *told)))


def _says_more(written: Written, gpu: GpuName) -> bool:
    """Whether a plain text states more than a card: another size of memory, lanes of the link,
    NVLink, a limit of power.
    """
    as_sold = gpu.row.memory_gib
    sizes = (as_sold, as_sold * gpu.count, gpu.part_gib or as_sold, gpu.memory_gib or as_sold)
    others = any(
        all(abs(size - other) > 1.0 for other in sizes)
        for size in Written.of(written.text).memory_sizes
    )
    _, lanes = written.link
    joined = gpu.count > 1 and NVLINK.search(written.text) is not None
    return others or lanes > 0 or joined or bool(statements(written).words)


def _as_gpu(gpu: GpuName) -> Identified:
    return Identified(
        kind="gpu",
        name=gpu.row.name,
        gpus=(gpu.row,),
        count=gpu.count,
        memory_gib=gpu.part_gib or gpu.row.memory_gib,
        notes=gpu.notes,
        alternatives=gpu.alternatives,
    )


def _processor(name: str) -> Identified | None:
    try:
        cpu: CpuName = catalog.HOSTS.named(name)
    except CpuObjection:
        raise
    except UnknownName:
        return None
    if cpu.row.segment == "unified":
        return None
    return Identified(
        kind="processor",
        name=cpu.row.name,
        host=cpu.row,
        cores=cpu.row.cores,
        channels=cpu.row.memory_channels,
        mts=cpu.row.memory_mts,
        ram_gib=cpu.memory_gib,
        notes=cpu.notes,
    )


def _machine(named: MachineName) -> Identified:
    spec = named.spec
    gpus: tuple[GpuName, ...] = (
        () if spec.gpu == MachineSpec.NO_GPU else from_spec.cards_of(str(spec.gpu))
    )
    host = _host(named, gpus)
    if spec.ram_gb is None:
        ram = None
    else:
        ram = float(spec.ram_gb)
    return Identified(
        kind="machine",
        name=named.name,
        gpus=tuple(gpu.row for gpu in gpus),
        count=sum(gpu.count for gpu in gpus) * spec.gpu_count * spec.machines,
        memory_gib=_gpu_memory(spec, gpus, ram),
        host=host,
        cores=spec.cores or (host.cores if host else None),
        channels=spec.ram_channels or (host.memory_channels if host else None),
        mts=spec.ram_mts or (host.memory_mts if host else None),
        ram_gib=ram,
        preset=named.preset,
        notes=named.notes,
        alternatives=named.alternatives,
    )


def _gpu_memory(
    spec: MachineSpec, gpus: tuple[GpuName, ...], ram_gib: float | None
) -> float | None:
    """Memory of the first GPU [GiB].

    It is a virtual machine's part or a changed card's size, the part of shared memory, or the size
    as sold.
    """
    if not gpus:
        return None
    if gpus[0].row.unified:
        return ram_gib or gpus[0].row.memory_gib
    if spec.vram_gb is not None:
        return float(np.max(spec.vram_gb))
    return gpus[0].row.memory_gib


def _host(named: MachineName, gpus: tuple[GpuName, ...]) -> HostRow | None:
    """Processor of the name, or the one on the GPU's chip."""
    name = named.spec.cpu or ""
    if not name and gpus and gpus[0].row.unified:
        chip = gpus[0].row
        name = chip.name.rpartition(" ")[0] or f"{chip.vendor} {chip.name}"
    with suppress(UnknownName):
        if name:
            return catalog.HOSTS.find(name)
        return None
    return None
