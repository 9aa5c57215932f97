"""`prices`: sources and dates of the prices in use, or all of a GPU; `prices refresh` fetches new
ones.
"""

import argparse
import logging
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any

from advisor.advice.prices import price_refresh
from advisor.advice.prices import rows as tables
from advisor.advice.prices.price import rents
from advisor.cli.command import Json, show
from advisor.errors import InputError, NetworkError
from advisor.formatting import counted, money, money_per_hour
from advisor.machine.catalog import find_gpu

NAMED = 3  # most implausible offers that are named


def run(args: argparse.Namespace) -> int | None:
    """`prices` and `prices refresh`."""
    if not 0 < args.seconds <= 3600:
        raise InputError(f"--seconds is {args.seconds:g}; allowed is 1 to 3,600.")
    today = datetime.now(UTC).date()
    if args.action == "refresh":
        return _refresh(today, args.seconds)
    if args.of:
        _show_each(args, today)
        return None
    sold = (row.date for row in tables.price_rows() if row.kind == "purchase")
    served = map(tables.api_day, chain.from_iterable(tables.api_price_rows().values()))
    answer = [
        price_ages("rents", (row.date for row in tables.rent_rows()), today),
        price_ages("for sale", sold, today),
        price_ages("APIs", served, today),
    ]
    show(args, answer, lambda: "\n".join(map(_line, answer)))
    return None


def price_ages(what: str, days: Iterable[str], today: date) -> Json:
    """Number of prices, the range of their dates, and how many are old or without a date."""
    every = list(days)
    dated = [day for day in every if day]
    return {
        "what": what,
        "prices": len(every),
        "oldest": min(dated, default=None),
        "newest": max(dated, default=None),
        "older_than_90_days": sum(tables.is_stale(day, today) for day in dated),
        "without_date": len(every) - len(dated),
    }


def _line(answer: Json) -> str:
    return (
        f"{answer['what']:<9} {answer['prices']:>4} prices, {answer['oldest']} to "
        f"{answer['newest']}, {answer['older_than_90_days']} older than 90 days, "
        f"{answer['without_date']} without a date"
    )


def _show_each(args: argparse.Namespace, today: date) -> None:
    """Every price of a GPU or whole machine, the one in use first, with its seller and age."""
    machine = tables.machines_for_sale().get(args.of)
    if machine:
        name = machine.price.gpu
    else:
        name = find_gpu(args.of).name
    sold = [row for row in tables.price_rows() if row.gpu == name and row.kind == "purchase"]
    if machine is not None:
        memory = machine.price.memory_gib
        sold = [row for row in (*sold, machine.price) if row.memory_gib == memory]
    rows = dict.fromkeys([*sorted(sold, key=tables.standing, reverse=True), *rents(name)])
    answer = [asdict(row) | {"old": tables.is_stale(row.date, today)} for row in rows]
    if sold:
        why = []
    else:
        why = [f"{name}: {tables.no_price(name)}"]
    show(args, answer, lambda: "\n".join([*why, *map(_price_line, answer)]))


def _price_line(row: Json) -> str:
    cards = counted(row["gpu_count"], row["gpu"])
    if row["per"] == "hour":
        per = money_per_hour(row["usd"])
    else:
        per = money(row["usd"])
    seller = ", ".join(filter(None, (row["provider"], row["instance"], row["condition"])))
    if row["date"]:
        when = f"{row['date']}{', old' if row['old'] else ''}"
    else:
        when = "without a date"
    return f"{cards}: {per} ({seller}), {when}, {row['source']}"


def _refresh(today: date, seconds: float) -> int:
    """Fetch from each source separately, so that one failing source does not stop the others."""
    # The packages log tracebacks of errors that are printed below in a sentence.
    logging.disable(logging.CRITICAL)
    fetching: dict[str, tuple[str, Any, Any]] = {
        "gpuhunt": (tables.RENTS, price_refresh.by_gpuhunt, price_refresh.rents_of),
        "genai-prices": (tables.CALLS, price_refresh.by_genai_prices, price_refresh.calls_of),
    }
    refreshed = False
    for name, (file, fetch, rows_of) in fetching.items():
        try:
            fetched = rows_of(price_refresh.within(seconds, fetch, name), today)
            print(f"{name}: {_keep(file, fetched, name, today)}")
            refreshed = True
        except NetworkError as error:
            print(f"advisor: {error}", file=sys.stderr)
    logging.disable(logging.NOTSET)
    if refreshed:
        return 0
    return 2


def _keep(file: str, fetched: price_refresh.Fetched[Any], what: str, today: date) -> str:
    """Keep a list; a sentence on what is kept and what is left out."""
    implausible = ""
    if fetched.left_out:
        more = len(fetched.left_out) - NAMED
        named = ", ".join(fetched.left_out[:NAMED]) + (f" and {more} more" if more > 0 else "")
        implausible = f"left out as implausible: {named}"
    if not fetched.rows:
        why = implausible or "its list has none of the known GPUs or models"
        raise NetworkError(f"{what} gave no prices ({why}); those on record stay.")
    tables.keep_fetched(file, fetched.rows)
    return "; ".join(filter(None, (f"{len(fetched.rows)} prices of {today}", implausible))) + "."
