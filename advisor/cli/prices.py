"""Command `prices`: sources and dates of the prices in use, or all prices of a GPU.

`prices refresh` renews rents and prices of APIs, as `refresh` does.
"""

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime
from itertools import chain

from advisor.advice.prices import rows as tables
from advisor.advice.prices.price import rents
from advisor.cli.command import Json, show
from advisor.cli.refresh import renew
from advisor.formatting import counted, money, money_per_hour
from advisor.machine.catalog import GPUS


def run(args: argparse.Namespace) -> int | None:
    """Run `prices` and `prices refresh`."""
    if args.action == "refresh":
        return renew(args, (tables.RENTS, tables.CALLS), keep=True)
    today = datetime.now(UTC).date()
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
        name = GPUS.find(args.of).name
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
