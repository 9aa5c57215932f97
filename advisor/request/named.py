"""Model and machine of a request by name; an error says where a name stands in the other's
place.
"""

from contextlib import suppress

from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.machine.catalog import GPUS
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.names.words import any_of
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.resolve import ResolvedModel


def owns_nothing(text: str | None) -> bool:
    """Whether a text says that nothing is owned."""
    words = (text or "").strip(" .!").casefold()
    return any_of("owns nothing").fullmatch(words) is not None


def named_model(text: str, form: str | None = None, machine: str | None = None) -> ResolvedModel:
    """Model that a text names; `machine` is the text that names the machine.

    Raises:
        InputError: it is the name of a GPU; the message says so.
        UnknownName: it is no known name, as `resolve.find` has it.
    """
    try:
        return resolve.find(text, form)
    except UnknownName as error:
        with suppress(UnknownName):
            raise InputError(_of_a_gpu(text[:80], GPUS.find(text).name, machine or "")) from error
        raise


def named_machine(name: str, spec: MachineSpec) -> Machine:
    """Machine of a name; InputError where it is that of a model."""
    try:
        return machine_by_name(name, spec)
    except UnknownName as error:
        if not is_model(name):
            raise
        raise InputError(
            f"{name[:80]!r} is a model, not a machine. Name what it would run on, such as "
            "RTX 3090, 64 GB RAM (--machine), and the model beside it (--model)."
        ) from error


def is_model(text: str) -> bool:
    """Whether a text is the name of a described model."""
    try:
        model = resolve.from_name(text).model
    except AdvisorError:
        return False
    return not model.architecture.shape_uncertainty


def _of_a_gpu(text: str, gpu: str, machine: str) -> str:
    """Sentence where a model is the name of a GPU."""
    if machine and is_model(machine):
        return (
            f"Machine and model are the other way round: {machine[:80]!r} is a model, and {text!r} "
            f"a GPU ({gpu}). Name the machine first, then the model."
        )
    return (
        f"{text!r} is a GPU ({gpu}), not a model. It belongs to the machine (--gpu); name a model "
        "beside it, such as Qwen3-8B (--model)."
    )
