"""Numbers as people say them: 6.4 tokens/s, 24.0 GiB, $290.

Pure functions from a number in SI units to text. Two significant digits are as many as a prediction
deserves; whole digits are never dropped. What is not finite is "unknown".
"""

import math
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from advisor.units import GB, GIB, KB, KIB, MB, MIB

UNKNOWN = "unknown"
SLOWEST_RATE = 0.01  # tokens/s; below it people think in time per token

_MEMORY = (("bytes", 1.0), ("KiB", KIB), ("MiB", MIB), ("GiB", GIB), ("TiB", 1024 * GIB))
_RATES = (("B/s", 1.0), ("kB/s", KB), ("MB/s", MB), ("GB/s", GB))
_TIMES = (("ms", 1e-3, 1.0), ("s", 1.0, 90.0), ("min", 60.0, 5400.0), ("h", 3600.0, 172_800.0))
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def number(value: float, digits: int = 2) -> str:
    """A number with `digits` significant digits, every whole digit, and thousands apart."""
    if not math.isfinite(value):
        return UNKNOWN
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0:
        return "0"
    if not 1e-6 <= abs(rounded) < 1e15:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{decimals}f}"


def short(value: float) -> str:
    """A number for the tick of an axis: 1.5M, 250k, 0.25."""
    for size, letter in _SHORT:
        if size <= abs(value) < 1e15:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}" if math.isfinite(value) else UNKNOWN


def tokens_per_second(rate: float) -> str:
    """Speed, as time per token where it is below 0.01 [tokens/s]."""
    if 0 < rate < SLOWEST_RATE:
        return f"a token every {seconds(1 / rate)}" if rate > 1e-12 else "0 tokens/s"
    return _with_unit(number(rate), "tokens/s")


def memory(size: float) -> str:
    """Memory in binary units, GiB with one decimal [B]."""
    if not math.isfinite(size):
        return UNKNOWN
    largest = len(_MEMORY) - 1
    step = next((i for i, (_, unit) in enumerate(_MEMORY) if abs(size) < 1023.95 * unit), largest)
    name, unit = _MEMORY[step]
    return f"{size / unit:,.{1 if unit >= GIB else 0}f} {name}"


def rate(speed: float) -> str:
    """Bandwidth of memory, link or drive in decimal units [B/s]."""
    name, unit = next(((n, u) for n, u in reversed(_RATES) if abs(speed) >= 0.9995 * u), _RATES[0])
    return _with_unit(number(speed / unit), name)


def quantity(value: float, unit: str) -> str:
    """A measured figure in the unit that people say for its own.

    Args:
        value: in `unit`.
        unit: "B/s", "B", "FLOP/s", "s", or a noun as "lanes".
    """
    if unit == "B":
        return memory(value)
    if unit == "B/s":
        return rate(value)
    if unit == "FLOP/s":
        return _with_unit(number(value / GB), "GFLOP/s")
    return seconds(value) if unit == "s" else _with_unit(number(value), unit)


def seconds(duration: float) -> str:
    """A time in ms, s, min, h or days, whichever reads best [s]."""
    for name, unit, limit in _TIMES:
        if abs(duration) < 0.9995 * limit:
            return f"{number(duration / unit)} {name}"
    return _with_unit(number(duration / 86_400), "days")


@dataclass(frozen=True, kw_only=True)
class Currency:
    """What a person pays in.

    Attributes:
        code: three letters.
        usd: what one unit is worth [USD].
    """

    code: str = "USD"
    usd: float = 1.0

    @property
    def sign(self) -> str:
        """Before an amount."""
        return {"USD": "$", "EUR": "\u20ac", "GBP": "\u00a3"}.get(self.code, f"{self.code} ")


US_DOLLAR = Currency()
_shown: ContextVar[Currency] = ContextVar("currency", default=US_DOLLAR)
"""The currency of whoever is being answered; amounts are in US dollars everywhere else."""


def show_money_in(currency: Currency) -> None:
    """Write amounts in a currency from here on, for the person who is being answered."""
    _shown.set(currency)


def shown_currency() -> Currency:
    """The currency that amounts are written in."""
    return _shown.get()


def money(amount: float) -> str:
    """Cents below ten of the currency, whole units from there [USD]."""
    if not math.isfinite(amount):
        return UNKNOWN
    currency = _shown.get()
    sign, size = ("-" if amount < 0 else "") + currency.sign, abs(amount) / currency.usd
    if size >= 9.995:
        return f"{sign}{size:,.0f}"
    return f"{sign}{size:.2f}" if size >= 0.01 or size == 0 else f"{sign}{number(size)}"


def money_per_hour(amount: float) -> str:
    """A rent: with cents below a hundred of the currency an hour [USD/h]."""
    currency = _shown.get()
    size = abs(amount) / currency.usd
    cents = math.isfinite(amount) and 9.995 <= size < 99.995
    text = f"{'-' if amount < 0 else ''}{currency.sign}{size:.2f}" if cents else money(amount)
    return _with_unit(text, "an hour")


def hours(duration: float) -> str:
    """Working time, in minutes below one hour [h]."""
    if abs(duration) < 0.9917:
        return f"{duration * 60:.0f} min"
    text = number(duration)
    return "1 hour" if text == "1.0" else _with_unit(text, "hours")


def range_of(low: float, high: float, say: Callable[[float], str] = number) -> str:
    """Two ends of a range, the unit said once: `2.4 to 3.4`, `1.8 to 2.4 s`.

    Args:
        low: lower end.
        high: upper end.
        say: words for one end, `number` or another function of this module.
    """
    first, last = say(low), say(high)
    if first == last:
        return first
    amount, _, unit = first.partition(" ")
    return f"{amount if last.partition(' ')[2] == unit else first} to {last}"


def moment(when: str) -> str:
    """An ISO time with an offset as a date and a time in UTC.

    Raises:
        ValueError: not an ISO time.
    """
    time = datetime.fromisoformat(when).astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def _with_unit(text: str, unit: str) -> str:
    return text if text == UNKNOWN else f"{text} {unit}"
