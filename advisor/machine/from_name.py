"""A machine from its name, with what a person typed over."""

from dataclasses import fields, replace

from advisor.machine import from_spec
from advisor.machine.catalog import machine_named
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec


def machine_by_name(name: str, overrides: MachineSpec | None = None) -> Machine:
    """A preset, or a machine of the parts that its name has; its notes say what was assumed.

    Args:
        name: as people call it.
        overrides: what was typed over.

    Raises:
        UnknownName: neither a preset nor parts of the catalogue.
    """
    named = machine_named(name)
    spec = overridden(named.spec, overrides or MachineSpec())
    machine = from_spec.machine(spec)
    taken = f"{name.strip()!r} is taken as {named.name}."
    told = () if named.name.casefold() == name.strip().casefold() else (taken,)
    return replace(machine, notes=tuple(dict.fromkeys((*told, *named.notes, *machine.notes))))


def overridden(spec: MachineSpec, typed: MachineSpec) -> MachineSpec:
    """A machine with what was typed over it; another GPU replaces its number too."""
    plain = MachineSpec()
    values = {
        field.name: getattr(typed, field.name)
        for field in fields(MachineSpec)
        if getattr(typed, field.name) != getattr(plain, field.name)
    }
    if typed.gpu is not None:
        values["gpu_count"] = typed.gpu_count
    return replace(spec, **values)
