"""Units and quantities: SI inside, converted once, on input and output: 6.4 tokens/s, 24.0 GB.

The package computes in bytes, seconds and FLOP. Memory sizes are typed and shown in GiB (2**30
bytes), as sold and as llama.cpp and nvidia-smi print them; bandwidths and drive sizes are decimal,
in GB (1e9 bytes). Readers of typed text raise an InputError for no number, or another unit.

Predictions are written with two significant digits, but every digit before the decimal point;
infinity and NaN are "unknown".
"""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from advisor.errors import LONGEST_SHOWN, InputError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = float | npt.NDArray[np.float64]  # a number, or numbers along a sweep
else:
    Array = float  # numpy takes 12 MB and 0.1 s

KB = 1e3
MB = 1e6
GB = 1e9
KIB = 2.0**10
MIB = 2.0**20
GIB = 2.0**30
TERA = 1e12

FLOAT = 4.0  # size of an activation value (32-bit float) [B]


class Provenance(StrEnum):
    """Origin of a figure, which tells how far it can be trusted."""

    MEASURED = "measured"
    GIVEN = "given"
    DATASHEET = "datasheet"
    DERIVED = "derived"
    FITTED = "fitted"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Quantity:
    """Number and its origin.

    Raises:
        InputError: a value that is not finite, or below zero.
    """

    value: Array  # value in SI units; may be an array along a sweep
    kind: Provenance  # provenance
    source: str  # source, or the derivation
    date: str = ""  # date of the source (ISO 8601); empty where unknown

    def __post_init__(self) -> None:
        import numpy as np  # not above: commands that compute nothing are spared it

        if not np.all(np.isfinite(self.value)) or np.any(np.asarray(self.value) < 0):
            raise InputError(
                f"{self.source or 'A figure'}: {self.value} is not a usable number; "
                "give a finite one that is not below zero."
            )

    @staticmethod
    def given(value: Array, source: str = "typed in") -> "Quantity":
        """Quantity given by the user."""
        return Quantity(value, Provenance.GIVEN, source)


# Typed text.

NUMBER_AND_UNIT = re.compile(
    r"\s*([\d_,]*\.?\d+(?:e[+-]?\d+)?)\s*([a-z]*?)(?:\s*/\s*s|ps)?\s*", re.IGNORECASE
)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def tokens(text: str) -> float:
    """Number of tokens from typed text: "8192", "8k", "128K", "1M" [tokens].

    After a power of two, k is 1024 and M is 1024**2, as in model names ("128k"); else 1000 and 1e6.
    """
    number, unit = _parts(text, "tokens, as 8192 or 128k")
    if unit not in ("", "k", "m"):
        raise InputError(
            f"{text[:LONGEST_SHOWN]!r} is no number of tokens; give it as 8192 or 128k."
        )
    power_of_two = number.is_integer() and number > 0 and int(number) & (int(number) - 1) == 0
    return number * (1024.0 if power_of_two else 1000.0) ** POWERS[unit]


def several_tokens(text: str) -> tuple[float, ...]:
    """Numbers of tokens from typed text, smallest first: "8k, 32k, 128k" [tokens]."""
    parts = [part for part in re.split(r"[,;\s]+", text) if part]
    if not parts:
        raise InputError("No context is given; give one or several, as 8k, 32k, 128k.")
    return tuple(sorted({tokens(part) for part in parts}))


def gibibytes(text: str) -> float:
    """Memory size from typed text, as sold: "24", "24GB", "24 GiB", "512 MB", "1.5 TB" [GiB]."""
    number, unit = _parts(text, "memory, as 24, 24GB or 1.5TB")
    scale = _scale(unit, text, "memory, as 24, 24GB or 1.5TB")
    if scale is None:
        return number
    return number * 1024.0 ** (scale - 3)


def gigabytes_per_second(text: str) -> float:
    """Bandwidth from typed text: "7", "7 GB/s", "3500 MB/s", "1.8TB/s" [GB/s]."""
    number, unit = _parts(text, "a rate, as 7, 7GB/s or 3500MB/s")
    scale = _scale(unit, text, "a rate, as 7, 7GB/s or 3500MB/s")
    if scale is None:
        return number
    return number * 1000.0 ** (scale - 3)


def _parts(text: str, allowed: str) -> tuple[float, str]:
    if len(text) > UnknownName.LONGEST:
        raise InputError(
            f"{text[:LONGEST_SHOWN]!r} has {len(text):,} letters; give {allowed}, with at most "
            f"{UnknownName.LONGEST}."
        )
    with suppress(ValueError):
        return float(text), ""  # ranges are checked where the number is used
    match = NUMBER_AND_UNIT.fullmatch(text)
    if match is None:
        raise InputError(f"{text[:LONGEST_SHOWN]!r} cannot be read; give {allowed}.")
    return _number(match[1].replace("_", ""), text, allowed), match[2].casefold()


THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")


def _number(digits: str, text: str, allowed: str) -> float:
    """Number with commas before each three digits ("32,768"), or a decimal comma ("1,5")."""
    if THOUSANDS.fullmatch(digits):
        return float(digits.replace(",", ""))
    if digits.count(",") > 1 or ("," in digits and "." in digits):
        raise InputError(f"{text[:LONGEST_SHOWN]!r} cannot be read; give {allowed}.")
    return float(digits.replace(",", "."))


def _scale(unit: str, text: str, allowed: str) -> int | None:
    """Exponent of a byte unit: k 1, M 2, G 3, T 4; None for an empty unit."""
    if not unit:
        return None
    match = re.fullmatch(r"([kmgt])(?:i?b?)", unit)
    if match is None:
        raise InputError(f"{text[:LONGEST_SHOWN]!r} cannot be read; give {allowed}.")
    return POWERS[match[1]]


UNKNOWN = "unknown"
SLOWEST_RATE = 0.01
"""Slowest speed written as a rate; slower ones are written as time per token [tokens/s]."""

_MEMORY = (("bytes", 1.0), ("KB", KIB), ("MB", MIB), ("GB", GIB), ("TB", 1024 * GIB))
_TIMES = (("ms", 1e-3, 1.0), ("s", 1.0, 90.0), ("min", 60.0, 5400.0), ("h", 3600.0, 172_800.0))


def number(value: float, digits: int = 2) -> str:
    """Text of a number with `digits` significant digits, or all digits before the point."""
    if not math.isfinite(value):
        return UNKNOWN
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0:
        return "0"
    if not 1e-6 <= abs(rounded) < 1e15:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


def tokens_per_second(rate: float) -> str:
    """Text of a speed of generation, written as time per token below `SLOWEST_RATE` [tokens/s]."""
    if 0 < rate < SLOWEST_RATE:
        if rate > 1e-12:
            return f"a token every {seconds(1 / rate)}"
        return "0 tokens/s"
    return _with_unit(number(rate), "tokens/s")


def memory(size: float) -> str:
    """Text of a memory size as memory is sold: a card or RAM of 24 GB has 24 x 2**30 bytes [B]."""
    if not math.isfinite(size):
        return UNKNOWN
    largest = len(_MEMORY) - 1
    step = next((i for i, (_, unit) in enumerate(_MEMORY) if abs(size) < 1023.95 * unit), largest)
    name, unit = _MEMORY[step]
    return f"{size / unit:,.{1 if unit >= GIB else 0}f} {name}"


def seconds(duration: float) -> str:
    """Text of a duration in ms, s, min, h or days, by its size [s]."""
    for name, unit, limit in _TIMES:
        if abs(duration) < 0.9995 * limit:
            return f"{number(duration / unit)} {name}"
    return _with_unit(number(duration / 86_400), "days")


def range_of(low: float, high: float, say: Callable[[float], str] = number) -> str:
    """Text of a range, its ends formatted by `say`, with the unit once: `1.8 to 2.4 s`."""
    first = say(low)
    last = say(high)
    if first == last:
        return first
    amount, _, unit = first.partition(" ")
    return f"{amount if last.partition(' ')[2] == unit else first} to {last}"


def _with_unit(text: str, unit: str) -> str:
    if text == UNKNOWN:
        return text
    return f"{text} {unit}"
