"""Units: SI inside the package, converted once, on input and output.

The package computes in bytes, seconds and FLOP. Memory sizes are typed and shown in GiB (2**30
bytes), as sold and as llama.cpp and nvidia-smi print them; bandwidths and drive sizes are decimal,
in GB (1e9 bytes). Readers of typed text raise an InputError for no number, or another unit.
"""

import re
from contextlib import suppress
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from advisor.errors import LONGEST_NAME, LONGEST_SHOWN, InputError

Array: TypeAlias = float | npt.NDArray[np.float64]  # a number, or an array of numbers along a sweep

KB = 1e3
MB = 1e6
GB = 1e9
KIB = 2.0**10
MIB = 2.0**20
GIB = 2.0**30
TERA = 1e12

FLOAT = 4.0  # size of an activation value (32-bit float) [B]

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
    if len(text) > LONGEST_NAME:
        raise InputError(
            f"{text[:LONGEST_SHOWN]!r} has {len(text):,} letters; give {allowed}, with at most "
            f"{LONGEST_NAME}."
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
