"""Machine described by the sidebar."""

from collections.abc import Iterable

from advisor.calibration.imported_machine import named_machine
from advisor.calibration.imported_store import is_imported
from advisor.calibration.local_machine import this_machine
from advisor.errors import AdvisorError
from advisor.machine.from_name import machine_by_name
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.ui.sidebar.choices import Choices


def machine_of(choices: Choices) -> Machine:
    """Machine of the choices; imported machines take precedence over presets, as on the command
    line.
    """
    inputs = choices.machine_inputs()
    if choices.this_machine:
        return this_machine(inputs)
    if choices.named is None:
        return machine(inputs)
    by_name = named_machine if is_imported(choices.named) else machine_by_name
    return by_name(choices.named, inputs)


def machine_problems(choices: Choices) -> Iterable[str]:
    """Problem with the machine, for a page that cannot answer because of the model."""
    try:
        machine_of(choices)
    except AdvisorError as error:
        yield str(error)
