"""Title of an answer."""

from advisor.formatting import memory
from advisor.machine.machine import Machine
from advisor.model.model import Model


def title_of(model: Model, machine: Machine) -> str:
    """Model, format and machine in one line."""
    ram = memory(float(machine.host.memory.value))
    each = " each" if machine.nodes > 1 else ""
    return f"{model.name}, {model.format}, on {machine.name}, {ram} of RAM{each}"
