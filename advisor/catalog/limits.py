"""An input of a comparison, and the check of a number against its limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from advisor.errors import InputError
from advisor.formatting import US_DOLLAR, shown_currency
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input.

    Attributes:
        name: attribute of the dataclass; "ram_gb" is `--ram-gb` on the command line.
        label: text above the widget, without the unit.
        help: explanation, shown by `--help` and behind the form's question mark.
        unit: unit, shown in brackets after the label; empty for names and counts.
        limits: smallest and largest number; None for a name.
        whole: takes whole numbers only.
        flag: option on the command line where it differs from `name`; empty where it does not.
    """

    name: str
    label: str
    help: str
    unit: str = ""
    limits: tuple[float, float] | None = None
    whole: bool = False
    flag: str = ""

    @property
    def option(self) -> str:
        """Option of the command line."""
        return f"--{self.flag or self.name.replace('_', '-')}"

    @property
    def title(self) -> str:
        """Label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def check(self, value: Array | None) -> None:
        """Refuse a number outside the limits.

        Args:
            value: number or array; None where it is not set.

        Raises:
            InputError: outside the limits; the message has label, value and limits.
        """
        if value is None or self.limits is None:
            return
        low, high = self.limits
        if isinstance(value, float | int):
            inside = low <= value <= high
        else:
            numbers = np.asarray(value, dtype=float)
            inside = bool(np.all((numbers >= low) & (numbers <= high)))
        if not inside:
            refused = self._in_words(value, low, high)
            raise InputError(f"{self.label} ({self.option}) is {refused}.")

    def _in_words(self, value: Array, low: float, high: float) -> str:
        """Value and limits in words; amounts of money in the currency that they were typed in."""
        paid = shown_currency()
        if not self.unit.startswith(US_DOLLAR.sign) or paid == US_DOLLAR:
            return f"{value}; allowed is {low:,g} to {high:,.0f} {self.unit}".strip()
        unit = paid.sign.strip() + self.unit.removeprefix(US_DOLLAR.sign)
        typed, least, most = (float(each) / paid.usd for each in (value, low, high))
        return f"{typed:.6g}; allowed is {least:,.6g} to {most:,.0f} {unit}"


def check_all(inputs: Iterable[Input], values: Mapping[str, Any]) -> None:
    """Refuse the first number outside its limits.

    Args:
        inputs: inputs to check.
        values: numbers by name; a missing number is not checked.

    Raises:
        InputError: outside the limits; the message has label, value and limits.
    """
    for entry in inputs:
        entry.check(values.get(entry.name))
