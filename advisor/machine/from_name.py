"""Machine from its name, with typed values on top."""

from dataclasses import fields, replace

from advisor.machine import from_spec
from advisor.machine.catalog import machine_named
from advisor.machine.machine import Machine
from advisor.machine.rows import MachineRow
from advisor.machine.software import LINUX, MACOS, WINDOWS
from advisor.machine.spec import MachineSpec


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
    spec = overridden(named.spec, typed)
    machine = from_spec.machine(spec, _sold_with(named.preset))
    taken = f"{name.strip()!r} is taken as {named.name}."
    told = () if named.name.casefold() == name.strip().casefold() else (taken,)
    replaced = {named.memory_note} if typed.ram_gb is not None else set()
    assumed = (note for note in named.notes if note not in replaced)
    return replace(machine, notes=tuple(dict.fromkeys((*told, *assumed, *machine.notes))))


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
