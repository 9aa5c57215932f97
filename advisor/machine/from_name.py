"""Machine from its name, with typed values on top."""

from dataclasses import fields, replace

from advisor.errors import UnknownName
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu, find_host, machine_named
from advisor.machine.machine import Machine
from advisor.machine.names.machine_parts import share_of_channels
from advisor.machine.names.preset_names import MachineName
from advisor.machine.quantity import Provenance
from advisor.machine.rows import MachineRow
from advisor.machine.software import LINUX, MACOS, WINDOWS
from advisor.machine.spec import MachineSpec
from advisor.units import GIB


def machine_by_name(name: str, overrides: MachineSpec | None = None) -> Machine:
    """Machine of a name: a preset, or the parts in the name; its notes state assumptions.

    Args:
        name: name as people write it.
        overrides: typed values, which replace those of the name.

    Raises:
        UnknownName: neither a preset nor parts of the catalogue.
    """
    named = machine_named(name)
    typed = overrides or MachineSpec()
    host = _typical_server(named) if typed.cpu is None else MachineSpec()
    spec = overridden(overridden(named.spec, host), typed)
    if spec.ram_gb is None and named.memory_note and named.preset is None:
        spec = replace(spec, ram_gb=find_gpu(str(spec.gpu)).memory_gib)
    machine = from_spec.machine(spec, _sold_with(named.preset))
    taken = f"{name.strip()!r} is taken as {named.name}."
    told: tuple[str, ...] = () if named.name.casefold() == name.strip().casefold() else (taken,)
    processor = f"Its processor is not known: taken as {host.cpu}."
    told += (processor,) if host.cpu else ()
    replaced = {named.memory_note} if typed.ram_gb is not None else set()
    assumed = (note for note in named.notes if note not in replaced)
    size = _assumed_memory(machine)
    return replace(
        machine,
        notes=tuple(dict.fromkeys((*told, *assumed, *size, *machine.notes))),
        rented=named.rented if typed.gpu is None else "",
    )


def is_rented(name: str) -> bool:
    """Whether a name says that a provider owns the machine and rents it out; not for one that is
    not known.
    """
    try:
        return bool(machine_named(name).rented)
    except UnknownName:
        return False


def _assumed_memory(machine: Machine) -> tuple[str, ...]:
    """Note on main memory that neither the name nor the user states; none where one does."""
    memory = machine.host.memory
    if memory.kind is not Provenance.ASSUMED:
        return ()
    return (f"How much memory it has is not said: {memory.value / GIB:g} GB is assumed.",)


SERVER = "Server 8-channel DDR4-3200 (typical)"
"""Host of cards that a machine of unknown processor is rented or built with."""


WITH_GRACE = ("GH200", "GB200", "GB300")
"""Beginning of the names of GPUs on a module with NVIDIA's Grace."""
FEWEST_OF_A_SERVER = 8
"""Number of cards from which on a machine of unknown processor is a server."""


def _typical_server(named: MachineName) -> MachineSpec:
    """Typical server for a rented machine, or one with modules on a board, whose processor no page
    says, with its share of the memory channels; an empty specification for others.
    """
    kind = named.preset.kind if named.preset else ""
    board = " SXM" in str(named.spec.gpu) or named.spec.gpu_count >= FEWEST_OF_A_SERVER
    rented = kind in ("cloud", "server") or named.spec.cores or board
    if named.spec.cpu or not rented or from_spec.cards_of(str(named.spec.gpu))[0].row.unified:
        return MachineSpec()
    if str(named.spec.gpu).startswith(WITH_GRACE):
        return MachineSpec(cpu="NVIDIA Grace")
    host, cores = find_host(SERVER), named.spec.cores
    share = share_of_channels(host, cores) if cores and cores < host.cores else None
    return MachineSpec(cpu=SERVER, ram_channels=named.spec.ram_channels or share)


SOLD_WITH = {"mac": MACOS, "laptop": WINDOWS, "mini": WINDOWS, "handheld": WINDOWS}
"""Operating systems that kinds of products are usually sold with; others run Linux."""
STEAM_DECK = "Steam Deck"
"""Beginning of the names of handhelds that are sold with Linux (SteamOS)."""


def _sold_with(preset: MachineRow | None) -> str:
    """Operating system that a product is usually sold with; Linux for a list of parts."""
    if preset is None or preset.name.startswith(STEAM_DECK):
        return LINUX
    return SOLD_WITH.get(preset.kind, LINUX)


def overridden(spec: MachineSpec, typed: MachineSpec) -> MachineSpec:
    """Specification with typed values on top; a typed GPU also replaces the number of GPUs."""
    plain = MachineSpec()
    values = {
        field.name: getattr(typed, field.name)
        for field in fields(MachineSpec)
        if getattr(typed, field.name) != getattr(plain, field.name)
    }
    if typed.gpu is not None:
        values["gpu_count"] = typed.gpu_count
    return replace(spec, **values)
