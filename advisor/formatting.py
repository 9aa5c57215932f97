"""Texts of values: money in the displayed currency, hours, shares, dates, tables.

Those of plain units are in `units`.

Functions from a number to text, and texts of others made safe for a terminal or a spreadsheet.
"""

import math
import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from advisor.units import GB, UNKNOWN, memory, number, seconds

_RATES = (("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", GB))
_FORMULA_STARTS = set("=+-@")
_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"}
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def short(value: float) -> str:
    """Number for an axis tick: 1.5M, 250k, 0.25."""
    for size, letter in _SHORT:
        if size <= abs(value) < 1e15:
            return f"{value / size:.3g}{letter}"
    if math.isfinite(value):
        return f"{value:.3g}"
    return UNKNOWN


def rate(speed: float) -> str:
    """Bandwidth of memory, a link or a drive, in decimal units [B/s]."""
    name, unit = next(((n, u) for n, u in reversed(_RATES) if abs(speed) >= 0.9995 * u), _RATES[0])
    return _with_unit(number(speed / unit), name)


def quantity(value: float, unit: str) -> str:
    """Quantity in the usual display unit of its own, "B/s", "B", "FLOP/s", "s" or a noun."""
    if unit == "B":
        return memory(value)
    if unit == "B/s":
        return rate(value)
    if unit == "FLOP/s":
        return _with_unit(number(value / GB), "GFLOP/s")
    if unit == "s":
        return seconds(value)
    return _with_unit(number(value), unit)


@dataclass(frozen=True, kw_only=True)
class Currency:
    """Currency of displayed amounts."""

    code: str = "USD"  # ISO 4217 code, three letters
    usd: float = 1.0  # value of one unit [USD]

    @property
    def sign(self) -> str:
        """Sign written before an amount."""
        return {"USD": "$", "EUR": "\u20ac", "GBP": "\u00a3"}.get(self.code, f"{self.code} ")


US_DOLLAR = Currency()
_shown: ContextVar[Currency] = ContextVar("currency", default=US_DOLLAR)
"""Display currency of the current request; all computations are in US dollars."""


def show_money_in(currency: Currency) -> None:
    """Set the display currency of the current request."""
    _shown.set(currency)


def shown_currency() -> Currency:
    """Display currency of the current request."""
    return _shown.get()


@contextmanager
def money_shown_in(currency: Currency) -> Iterator[None]:
    """Context in which money is shown in a currency."""
    token = _shown.set(currency)
    try:
        yield
    finally:
        _shown.reset(token)


IN_DOLLARS = re.compile(r"\$([\d,]+(?:\.\d+)?)")  # amount of US dollars in a note on a price


def in_shown_currency(note: str) -> str:
    """Note on a price with its amounts in the display currency; prices are kept in US dollars."""
    if _shown.get() == US_DOLLAR:
        return note
    return IN_DOLLARS.sub(lambda match: money(float(match[1].replace(",", ""))), note)


def money(amount: float) -> str:
    """Amount in the display currency, with cents below ten units [USD]."""
    if not math.isfinite(amount):
        return UNKNOWN
    currency = _shown.get()
    sign = ("-" if amount < 0 else "") + currency.sign
    size = abs(amount) / currency.usd
    if size >= 9.995:
        return f"{sign}{size:,.0f}"
    if size >= 0.01 or size == 0:
        return f"{sign}{size:.2f}"
    return f"{sign}{number(size)}"


def money_per_hour(amount: float) -> str:
    """Price per hour in the display currency, with cents below a hundred units [USD/h]."""
    currency = _shown.get()
    size = abs(amount) / currency.usd
    cents = math.isfinite(amount) and 9.995 <= size < 99.995
    if cents:
        text = f"{'-' if amount < 0 else ''}{currency.sign}{size:.2f}"
    else:
        text = money(amount)
    return _with_unit(text, "an hour")


def percent(value: float, digits: int = 0) -> str:
    """Share in per cent: 12 %."""
    return f"{100 * value:.{digits}f} %"


def hours(duration: float) -> str:
    """Duration in hours, in minutes below one hour [h]."""
    if abs(duration) < 0.9917:
        return f"{duration * 60:.0f} min"
    text = number(duration)
    if text == "1.0":
        return "1 hour"
    return _with_unit(text, "hours")


def moment(when: str) -> str:
    """Date and time in UTC of an ISO 8601 time with an offset; ValueError for other texts."""
    time = datetime.fromisoformat(when).astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def capitalised(words: str) -> str:
    """Words with a capital at their beginning, otherwise unchanged ("KV cache", not "Kv cache")."""
    return f"{words[:1].upper()}{words[1:]}"


def counted(count: int, name: str) -> str:
    """Name with its number in front: "2x RTX 3090"; the name alone for a single one."""
    if count > 1:
        return f"{count}x {name}"
    return name


def model_words(name: str) -> str:
    """Name of a model as people say it: "Llama-3_3-Nemotron-49B" is "Llama 3.3 Nemotron 49B"."""
    dotted = re.sub(r"(?<=\d)_(?=\d)", ".", name.rpartition("/")[2])
    return re.sub(r"[-_](?=[A-Z0-9])", " ", dotted)


def context_size(tokens: float) -> str:
    """Context as people write it: 8192 is "8k", 100000 is "100000"."""
    size = int(tokens)
    if size and size % 1024 == 0:
        return f"{size // 1024}k"
    return str(size)


_COMMANDS = re.compile(
    r"\x1b(?!\[(?:0|1|1;3[123])m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Characters that command a terminal or turn the direction of writing, but for the styles of
advisor/cli/terminal.py: texts of reports, servers and files are those of other people."""


def harmless(text: str) -> str:
    """Text for a terminal, with a question mark for each character that would command it."""
    return _COMMANDS.sub("?", text)


def inert(text: str) -> str:
    """Cell of a table with an apostrophe where a spreadsheet would run it as a formula.

    Spreadsheets skip blanks and marks that show nothing before a formula, and some take letters of
    full width for their plain ones.
    """
    if text[:1].isalnum() and text[:1].isascii():
        return text
    shown = next((each for each in text if unicodedata.category(each) not in _UNSEEN), "")
    runs = unicodedata.normalize("NFKC", shown)[:1] in _FORMULA_STARTS
    if runs or text[:1] in set("\t\r\n"):
        return f"'{text}"
    return text


def aligned(rows: Iterable[Sequence[str]], right: Container[int] = ()) -> Iterator[str]:
    """Rows of cells as lines, in columns as wide as their longest cell; `right` are flush right."""
    table = [*rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip(range(len(row)), row, widths, strict=True)
        words = (text.rjust(wide) if at in right else text.ljust(wide) for at, text, wide in cells)
        yield "  ".join(words).rstrip()


def _with_unit(text: str, unit: str) -> str:
    if text == UNKNOWN:
        return text
    return f"{text} {unit}"
