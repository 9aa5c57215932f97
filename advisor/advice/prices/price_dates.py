"""Age of prices.

The age counts from the date in the source: a day, a month or a year. A month or year counts from
its end, so that a price is called old only if it surely is.
"""

import calendar
import re
from datetime import date
from functools import lru_cache

STALE_DAYS = 90
"""Age above which a price is called old, also in a verdict [days]."""
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")


@lru_cache(maxsize=1024)
def last_day(when: str) -> date | None:
    """Last day of an ISO day, month or year; None for other text."""
    match = _ISO.fullmatch(when.strip())
    if match is None:
        return None
    year, month = int(match[1]), int(match[2] or 12)
    if not 1 <= month <= 12:
        return None
    end = calendar.monthrange(year, month)[1]
    return date(year, month, min(int(match[3] or end), end) or end)


def is_stale(when: str, today: date) -> bool:
    """Whether the price is older than `STALE_DAYS`; one without a date counts as old."""
    day = last_day(when)
    return day is None or (today - day).days > STALE_DAYS


def months_between(earlier: str, later: str) -> int | None:
    """Whole months between two ISO dates; None if one is unknown."""
    first, last = last_day(earlier), last_day(later)
    if first is None or last is None:
        return None
    return 12 * (last.year - first.year) + last.month - first.month


def oldest(dates: tuple[str, ...]) -> str:
    """Earliest of several dates; empty if one is missing, or all are."""
    days = [last_day(when) for when in dates]
    if not dates or None in days:
        return ""
    return min(dates, key=lambda when: last_day(when) or date.max)
