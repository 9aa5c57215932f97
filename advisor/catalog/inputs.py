"""Inputs of a request: name, label, unit, limits and help, each written once in data/inputs.csv.

Every door uses this table: command line, page, links, scenario files, reports, Python, and the
checks of the dataclasses. Defaults are those of the dataclasses (`MachineSpec`, `Workload`,
`Settings`, `MoneyInputs` ...), to which `Request` refers.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import LONGEST_SHOWN, InputError, UnknownName
from advisor.units import Array, gibibytes, gigabytes_per_second, several_tokens, tokens


class Kind(StrEnum):
    """Kind of an input's value."""

    NAME = "name"
    NUMBER = "number"
    WHOLE = "whole"
    SWITCH = "switch"
    OFF = "off"
    PRICES = "prices"
    SIZES = "sizes"
    TEXTS = "texts"


SHARES = (0.0, 1.0)
"""Limits of a share, which people write in percent, too."""
READERS: Mapping[str, Callable[[str], float]] = {
    "tokens": tokens,
    "GiB": gibibytes,
    "GB": gibibytes,
    "GB/s": gigabytes_per_second,
}
"""Reader of a number that is typed with its unit, by unit."""


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    """Whether a value is a single number, and no switch."""
    if isinstance(value, float | int):
        return not isinstance(value, bool)
    import numpy as np  # not above: who only lists the inputs needs none

    return isinstance(value, np.number)


def _is_sweep(value: object) -> bool:
    """Whether a value is a number, or an array along a sweep."""
    if _is_number(value):
        return True
    import numpy as np

    return isinstance(value, np.ndarray)


def _is_whole(value: object) -> bool:
    """Whether a number has no fraction; an array along a sweep may have any."""
    return _is_sweep(value) and not (isinstance(value, float) and value % 1 > 0)


def _is_price(value: object) -> bool:
    match value:
        case (str(), amount):
            return isinstance(value, tuple) and _is_number(amount)
    return False


def _are_prices(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_price, value))


def _are_sizes(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_number, value))


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


def wanted_text(value: object) -> str:
    """Description of the text that an input needs; a number becomes a text by quotes."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'text: write "{str(value)[:LONGEST_SHOWN]}" in quotes'
    return "text"


WANTED: Mapping[Kind, tuple[Callable[[object], bool], str]] = {
    Kind.NAME: (_is_text, "text"),
    Kind.NUMBER: (_is_sweep, "a number"),
    Kind.WHOLE: (_is_whole, "a whole number"),
    Kind.SWITCH: (_is_switch, "true or false"),
    Kind.OFF: (_is_switch, "true or false"),
    Kind.PRICES: (_are_prices, "names with amounts"),
    Kind.SIZES: (_are_sizes, "a list of numbers"),
    Kind.TEXTS: (_are_texts, "a list of texts"),
}
"""Check and words of a value, by its kind."""
DOLLAR = "$"  # begins the unit of an amount of money, whose limits are in US dollars
MOST_VALUES = 100  # prices, or sizes, of one input
EXACT = 2.0**53  # numbers from which on not every whole one has a float
MB_IN_GB = 1024.0  # of memory as sold
MOST_OF_FLOATS = sys.float_info.max
SWITCHED = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Paid(Protocol):
    """Currency that an amount was typed in."""

    @property
    def sign(self) -> str:
        """Sign written before an amount."""

    @property
    def usd(self) -> float:
        """Value of one unit [USD]."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input, a row of data/inputs.csv."""

    name: str  # attribute of `Request`; "ram_gb" is `--ram-gb` on the command line
    group: str = ""  # dataclass or subject that it belongs to
    label: str  # text above the widget, without the unit
    unit: str = ""  # unit, shown in brackets after the label; empty for names and counts
    low: float | None = None  # smallest number; None for what is no number
    high: float | None = None  # largest number
    # a name, a number, a whole number, a switch, a switch that its option turns off, several names
    # each with a price, several sizes, or several texts
    kind: str = Kind.NAME
    # option on the command line where it differs from `name`; empty where it does not
    flag: str = ""
    former: str = ""  # key in links before those had the names; empty where that was the name
    step: float = 0.0  # step of the form's buttons; 0 for 1
    empty: str = ""  # words in the empty field
    help: str = ""  # explanation, shown by `--help` and behind the form's question mark

    @property
    def option(self) -> str:
        """Option of the command line."""
        return f"--{self.flag or self.name.replace('_', '-')}"

    @property
    def title(self) -> str:
        """Label with its unit; the label alone where it says the unit ("Threads")."""
        if self.unit and self.unit not in self.label.casefold().split():
            return f"{self.label} ({self.unit})"
        return self.label

    @property
    def sentence(self) -> str:
        """Help as a sentence."""
        return f"{self.help[:1].upper()}{self.help[1:]}."

    @property
    def limits(self) -> tuple[float, float] | None:
        """Smallest and largest number; None for an input that is no number."""
        if self.low is None or self.high is None:
            return None
        return (self.low, self.high)

    @property
    def whole(self) -> bool:
        """Whether the input takes whole numbers only."""
        return self.kind == Kind.WHOLE

    @property
    def in_money(self) -> bool:
        """Whether it is an amount in the typed currency."""
        return self.unit.startswith(DOLLAR)

    def wanted(self, value: Any) -> str:
        """Description of the allowed values; empty where the value is allowed or None."""
        holds, words = WANTED[Kind(self.kind)]
        if value is None or holds(value):
            return ""
        return wanted_text(value) if self.kind == Kind.NAME else words

    def check_length(self, value: Any) -> None:
        """Check the length of a text, or of a list of values.

        Raises:
            InputError: how long it is, and what is allowed.
        """
        if isinstance(value, str):
            self._check_letters(value)
        if not isinstance(value, tuple | list):
            return
        if len(value) > MOST_VALUES:
            raise InputError(
                f"{self.label} ({self.option}) has {len(value):,} values; at most {MOST_VALUES} "
                "are read. Leave some out."
            )
        for part in value:
            if isinstance(part, tuple):
                self._check_letters(str(part[0]))
            elif isinstance(part, str):
                self._check_letters(part)

    def _check_letters(self, text: str) -> None:
        if len(text) > UnknownName.LONGEST:
            raise InputError(
                f"{self.label} ({self.option}) has {len(text):,} letters, beginning with "
                f"{text[:LONGEST_SHOWN]!r}; at most {UnknownName.LONGEST} are read. "
                "Give a shorter one."
            )

    def read(self, text: str) -> Any:
        """Value of a text, in the form that people type, links carry and tables hold.

        Raises:
            InputError: a text that cannot be read, or a longer one than is read.
        """
        text = text.strip()
        if self.kind in (Kind.PRICES, Kind.SIZES, Kind.TEXTS):
            if len(text) > MOST_VALUES * UnknownName.LONGEST:
                self._check_letters(text)
            return self._several(text)
        self._check_letters(text)
        if self.kind == Kind.NAME:
            return text
        if self.kind in (Kind.SWITCH, Kind.OFF):
            return self._switched(text)
        return self._number(text)

    def unrounded(self, text: str) -> float:
        """Number of a text in the unit of the input, with its fraction even where values are whole.

        Raises:
            InputError: a text that is no number of this unit.
        """
        return READERS.get(self.unit, float)(text.strip())

    def _several(self, text: str) -> tuple[Any, ...]:
        """Values of a text that holds several."""
        if self.kind == Kind.SIZES:
            return several_tokens(text) if text else ()
        parts = (part.strip() for part in text.split(";"))
        if self.kind == Kind.TEXTS:
            return tuple(filter(None, parts))
        return tuple(self._price(part) for part in parts if part)

    def text(self, value: Any) -> str:
        """Text of a value, from which `read` restores every digit."""
        if isinstance(value, bool):
            if value:
                return "true"
            return "false"
        if self.kind == Kind.PRICES:
            return ";".join(f"{name}={shortest(amount)}" for name, amount in value)
        if self.kind == Kind.SIZES:
            return ",".join(map(shortest, value))
        if self.kind == Kind.TEXTS:
            return ";".join(value)
        if isinstance(value, str):
            return value
        return shortest(value)

    def check(self, value: Array | None, paid: Paid | None = None) -> None:
        """Check that a number is within the limits [USD for money]; `paid` is the typed
        currency.
        """
        if value is None or self.low is None or self.high is None:
            return
        if isinstance(value, float | int):
            inside = self.low <= value <= self.high
        else:
            import numpy as np

            numbers = np.asarray(value, dtype=float)
            inside = bool(np.all((numbers >= self.low) & (numbers <= self.high)))
        if not inside:
            refused = self._in_words(value, self.low, self.high, paid)
            raise InputError(f"{self.label} ({self.option}) is {refused}.")

    def check_prices(self, typed: Iterable[tuple[str, float]], paid: Paid | None = None) -> None:
        """Check that all typed prices are within the limits."""
        for name, amount in typed:
            replace(self, label=f"{self.label} of {name}").check(amount, paid)

    def _number(self, text: str) -> float:
        if self.unit in READERS:
            value = READERS[self.unit](text)
            if self.whole and abs(value) < EXACT:
                return round(value)
            return value
        with suppress(ValueError):
            if self.limits == SHARES and text.endswith("%"):
                return float(text.removesuffix("%")) / 100
            value = float(text)
            if value.is_integer() and self.whole and abs(value) < EXACT:
                return int(value)
            if not self.whole or not abs(value) < EXACT:  # refused by its limits
                return value
        if self.whole:
            kind = "a whole number"
        else:
            kind = "a number"
        if self.in_money:
            currency = "; its currency is that of --currency"
        else:
            currency = ""
        raise InputError(
            f"{text[:LONGEST_SHOWN]!r} cannot be read; give {kind} alone, without unit or "
            f"separators of thousands{currency}."
        )

    def _switched(self, text: str) -> bool:
        if text.casefold() not in SWITCHED:
            raise InputError(f"{self.label} is {text[:40]!r}; give true or false.")
        return SWITCHED[text.casefold()]

    def _price(self, text: str) -> tuple[str, float]:
        name, _, amount = text.rpartition("=")
        with suppress(ValueError):
            usd = float(amount)
            if name.strip() and 0 < usd < math.inf:
                return name.strip(), usd
        if self.unit.endswith("/h"):
            what = "rent"
        else:
            what = "price"
        example = f"RTX 4090={0.4 if what == 'rent' else 1800}"
        raise InputError(
            f"{text[:LONGEST_SHOWN]!r} is no {what}; write NAME=AMOUNT with an amount above 0, as "
            f"{example!r}."
        )

    def _in_words(self, value: Array, low: float, high: float, paid: Paid | None) -> str:
        """Value and limits in words, with amounts of money in the typed currency."""
        if isinstance(value, int) and EXACT <= abs(value) <= MOST_OF_FLOATS:
            value = float(value)  # its digits beyond those of a float were never typed
        if paid is None or not self.in_money or paid.sign == DOLLAR:
            allowed = f"{value}; allowed is {low:,g} to {high:,.0f} {self.unit}".strip()
            return f"{allowed}{self._smaller_unit(value, low, high)}"
        unit = paid.sign.strip() + self.unit.removeprefix(DOLLAR)
        typed, least, most = (float(amount) / paid.usd for amount in (value, low, high))
        return f"{typed:.6g}; allowed is {least:,.6g} to {most:,.0f} {unit}"

    def _smaller_unit(self, value: Array, low: float, high: float) -> str:
        """Question whether a size in GB was meant in MB; empty where it cannot be."""
        if self.unit != "GB" or not isinstance(value, float | int):
            return ""
        if not high < value <= MB_IN_GB * high or value < MB_IN_GB * low:
            return ""
        return f" ({value:,g} MB would be {value / MB_IN_GB:,.4g} GB)"


def shortest(number: float) -> str:
    """Shortest text of a number that is read back to the last digit: "8192", "0.1"."""
    if float(number).is_integer():
        return str(int(number))
    return repr(float(number))


class Inputs(dict[str, Input]):
    """Inputs by name, in the order of a form."""

    def of(self, groups: str, without: str = "") -> "Inputs":
        """Inputs of some groups, and single inputs by their names.

        Both are names separated by blanks; the name of a group stands for all of its inputs. Those
        of `without` are left out.
        """
        chosen = groups.split()
        single = {*chosen} - {entry.group for entry in self.values()}
        left_out = without.split()
        rows = (entry for entry in self.values() if entry.group in chosen or entry.name in single)
        return Inputs({entry.name: entry for entry in rows if entry.name not in left_out})

    def check(self, values: Mapping[str, Any], paid: Paid | None = None) -> None:
        """Check that all numbers are within their limits; missing values and texts are not checked.

        Args:
            values: values by the names of inputs; money in US dollars.
            paid: currency that amounts were typed in; None for US dollars.

        Raises:
            InputError: the number, its limits and its option.
        """
        for entry in self.values():
            if entry.kind in (Kind.NUMBER, Kind.WHOLE):
                entry.check(values.get(entry.name), paid)


INPUTS = Inputs({entry.name: entry for entry in read(DATA / "inputs.csv", Input)})
"""Every input of data/inputs.csv by its name, with its unit and limits there."""
