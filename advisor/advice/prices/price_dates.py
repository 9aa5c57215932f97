"""Age of prices.

A price is judged by the day on which it was asked, as its source gives it: a day, a month or a
year. A month or a year counts from its end, so that only what is surely old is called so.
"""

import calendar
import re
from datetime import date
from functools import lru_cache

STALE_DAYS = 90
"""A price older than this is named as old, and wins no verdict without being named."""
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
