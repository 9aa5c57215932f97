"""A request as a scenario file states it."""

from typing import Any

from advisor.catalog.inputs import INPUTS, Kind
from advisor.request.request import Request


def to_values(request: Request) -> dict[str, Any]:
    """Values by name that differ from their defaults, as a YAML or JSON file holds them."""
    plain = {Kind.PRICES: dict, Kind.SIZES: list}
    return {
        name: plain.get(Kind(INPUTS[name].kind), lambda value: value)(value)
        for name, value in request.stated().items()
    }
