"""A model and a machine from what a person says."""

from typing import Any

from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.model import Model


def find_model(text: str, quant: str | None = None) -> Model:
    """The model of a name, a GGUF file, a config.json, or a repository of the Hugging Face Hub.

    Args:
        text: its name, path or `owner/name`.
        quant: format wanted; None for the one that a file or repository has, else Q4_K_M.

    Raises:
        AdvisorError: no such model or format, or one that cannot be read.
    """
    return resolve.find(text, quant).model


def describe_machine(**parts: Any) -> Machine:
    """The machine of these parts; typical ones for what is left out, marked as assumed.

    Args:
        parts: fields of `MachineSpec`, of which most machines need `gpu` (name), `gpu_count`,
            `cpu` (name), `ram_gb` [GiB] and, where measured, `ram_gbs` [GB/s].

    Raises:
        InputError: no part is named, a part of no such name, a number out of its limits.
        UnknownName: a GPU, processor or drive that the catalogue does not hold.
    """
    try:
        spec = MachineSpec(**parts)
    except TypeError as error:
        unknown = ", ".join(sorted(parts.keys() - MachineSpec.__dataclass_fields__.keys()))
        if not unknown:
            raise
        raise InputError(
            f"A machine has no {unknown}; it has {', '.join(MachineSpec.__dataclass_fields__)}."
        ) from error
    if spec.empty:
        raise InputError(
            'No part of the machine is named; name one, or take named_machine("this") for the '
            "machine this runs on."
        )
    return from_spec.machine(spec)
