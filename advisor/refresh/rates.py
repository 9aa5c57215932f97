"""Exchange rates: what one unit of a currency is worth in US dollars, by the European Central Bank.

The ECB publishes units of each currency for one euro on each working day; the dollar's own rate
turns them. Its statistics may be used freely where the source is named.

References:
    [1] https://data.ecb.europa.eu/help/api/data (data flow EXR, format csvdata).
"""

import csv
import io
import math
from collections.abc import Iterator
from contextlib import suppress
from datetime import date

from advisor.failures import NetworkError
from advisor.refresh.addresses import address, text_of
from advisor.refresh.fetched import Fetched
from advisor.request.money import RATES_TABLE, RateRow


def fetched(seconds: float, today: date) -> Fetched[RateRow]:
    """Rates of the last working day.

    Raises:
        NetworkError: no answer, or none with a rate of the dollar.
    """
    url = address(RATES_TABLE)
    return rates_of(text_of(url, seconds), today, url)


def rates_of(text: str, today: date, source: str) -> Fetched[RateRow]:
    """Rates of an answer of the ECB; raises NetworkError where it has none of the dollar."""
    by_euro = {code: (day, units) for code, day, units in _observations(text)}
    if "USD" not in by_euro:
        raise NetworkError("The European Central Bank's answer has no rate of the dollar.")
    day, dollars = by_euro["USD"]
    worth = {"EUR": (day, dollars)}
    worth |= {code: (on, dollars / units) for code, (on, units) in by_euro.items() if code != "USD"}
    rows = []
    left_out = []
    for code, (on, usd) in sorted(worth.items()):
        if on < day:
            left_out.append(f"{code}: its last rate is of {on}")
            continue
        rows.append(
            RateRow(
                currency=code,
                usd=float(f"{usd:.6g}"),
                date=on,
                retrieved=today.isoformat(),
                source=source,
            )
        )
    return Fetched(rows=tuple(rows), left_out=tuple(left_out))


def _observations(text: str) -> Iterator[tuple[str, str, float]]:
    """Currency, day and units for one euro of each line that has them."""
    for line in csv.DictReader(io.StringIO(text)):
        code = line.get("CURRENCY") or ""
        usable = len(code) == 3 and code.isascii() and code.isalpha() and code.isupper()
        with suppress(TypeError, ValueError):
            day = date.fromisoformat(str(line.get("TIME_PERIOD"))).isoformat()
            units = float(str(line.get("OBS_VALUE")))
            if usable and math.isfinite(units) and 1e-6 < units < 1e9:
                yield code, day, units
