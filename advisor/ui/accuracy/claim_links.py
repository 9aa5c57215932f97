"""Links that open a scenario of a claim on the Advise page."""

from collections.abc import Mapping

from advisor.errors import InputError
from advisor.machine.spec import NO_GPU
from advisor.request.values import from_values
from advisor.ui.question import current

ELSEWHERE = ("upgrade",)
"""Inputs of a scenario that the Advise page shows side by side."""


def parameters(inputs: Mapping[str, object]) -> dict[str, str]:
    """Parameters of the link; empty where the Advise page cannot show the scenario."""
    if "model" not in inputs:
        return {}
    values = {key: value for key, value in inputs.items() if key not in ELSEWHERE}
    try:
        return current.parameters(from_values({"gpu": NO_GPU, **values}))
    except InputError:
        return {}
