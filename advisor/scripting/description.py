"""Models and machines from names and numbers."""

from typing import Any

from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.model import Model


def find_model(text: str, quant: str | None = None) -> Model:
    """Model by name, GGUF file, config.json, or repository of the Hugging Face Hub.

    Args:
        text: name, path or `owner/name`.
        quant: wanted format; None for the format of the file or repository, else Q4_K_M.

    Raises:
        AdvisorError: an unknown model or format, or a file that cannot be read.
    """
    return resolve.find(text, quant).model


def describe_machine(**parts: Any) -> Machine:
    """Machine of the given parts, with typical parts for missing ones, marked as assumed.

    Args:
        parts: fields of `MachineSpec`; usually `gpu` (name), `gpu_count`, `cpu` (name), `ram_gb`
            [GiB] and, where measured, `ram_gbs` [GB/s].

    Raises:
        InputError: no part, an unknown field, or a number outside its limits.
        UnknownName: a GPU, processor or drive missing from the catalogue.
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
