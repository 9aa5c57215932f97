"""Machine from its name, with typed values on top."""

from dataclasses import fields, replace

from advisor.machine import from_spec
from advisor.machine.catalog import machine_named
from advisor.machine.machine import Machine
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
    machine = from_spec.machine(spec)
    taken = f"{name.strip()!r} is taken as {named.name}."
    told = () if named.name.casefold() == name.strip().casefold() else (taken,)
    replaced = {named.memory_note} if typed.ram_gb is not None else set()
    assumed = (note for note in named.notes if note not in replaced)
    return replace(machine, notes=tuple(dict.fromkeys((*told, *assumed, *machine.notes))))


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
