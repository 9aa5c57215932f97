"""`prices`: sources and dates of the prices in use; `prices refresh` fetches new ones."""

import argparse
import logging
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any

from advisor.advice.prices.api_prices import api_day, api_price_rows
from advisor.advice.prices.fresh_prices import CALLS, RENTS, keep
from advisor.advice.prices.machine_prices import rent_rows
from advisor.advice.prices.price_dates import is_stale
from advisor.advice.prices.price_refresh import (
    by_genai_prices,
    by_gpuhunt,
    calls_of,
    rents_of,
    within,
)
from advisor.advice.prices.price_rows import price_rows
from advisor.cli.command import added, show
from advisor.errors import InputError, NetworkError

SECONDS = 60.0
"""Default time limit of each source [s]."""


def add(commands: Any) -> None:
    """Add the command and its action."""
    parser = added(commands, "prices", prices, "sources and dates of the prices in use")
    parser.add_argument(
        "action", nargs="?", choices=("refresh",), help="fetch rents and API prices again"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S",
        help=f"time limit of each source in seconds ({SECONDS:g})",
    )  # fmt: skip


def prices(args: argparse.Namespace) -> int | None:
    """`prices` and `prices refresh`.

    Raises:
        InputError: no time to fetch in.
    """
    if not 0 < args.seconds <= 3600:
        raise InputError(f"--seconds is {args.seconds:g}; allowed is 1 to 3,600.")
    today = datetime.now(UTC).date()
    if args.action == "refresh":
        return _refresh(today, args.seconds)
    answer = [
        counted("rents", (row.date for row in rent_rows()), today),
        counted("for sale", (row.date for row in price_rows() if row.kind == "purchase"), today),
        counted("APIs", map(api_day, chain.from_iterable(api_price_rows().values())), today),
    ]
    show(args, answer, lambda: "\n".join(map(_line, answer)))
    return None


def _refresh(today: date, seconds: float) -> int:
    """Fetch from each source separately, so that one failing source does not stop the others."""
    # The packages log tracebacks of errors that are printed below in a sentence.
    logging.disable(logging.CRITICAL)
    fetched = 0
    for name, what in (("gpuhunt", _rents), ("genai-prices", _calls)):
        try:
            print(f"{name}: {what(today, seconds)} prices of {today}.")
            fetched += 1
        except NetworkError as error:
            print(f"advisor: {error}", file=sys.stderr)
    logging.disable(logging.NOTSET)
    return 0 if fetched else 2


def _rents(today: date, seconds: float) -> int:
    rows = rents_of(within(seconds, by_gpuhunt, "gpuhunt"), today)
    if rows:
        keep(RENTS, rows)
    return len(rows)


def _calls(today: date, seconds: float) -> int:
    rows = calls_of(within(seconds, by_genai_prices, "genai-prices"), today)
    if rows:
        keep(CALLS, rows)
    return len(rows)


def counted(what: str, days: Iterable[str], today: date) -> dict[str, Any]:
    """Number of prices, the range of their dates, and how many are old or without a date.

    Args:
        what: kind of price.
        days: date of each price, ISO; empty for one without a date.
        today: date by which the age is judged.
    """
    every = list(days)
    dated = [day for day in every if day]
    return {
        "what": what,
        "prices": len(every),
        "oldest": min(dated, default=None),
        "newest": max(dated, default=None),
        "older_than_90_days": sum(is_stale(day, today) for day in dated),
        "without_date": len(every) - len(dated),
    }


def _line(answer: dict[str, Any]) -> str:
    return (
        f"{answer['what']:<9} {answer['prices']:>4} prices, {answer['oldest']} to "
        f"{answer['newest']}, {answer['older_than_90_days']} older than 90 days, "
        f"{answer['without_date']} without a date"
    )
