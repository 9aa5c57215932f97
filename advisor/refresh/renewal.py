"""Renewal of tables: fetched, looked through, compared with what counts now, and kept whole.

A table is kept all of it or not at all: a source that fails, or sends what cannot be, changes
nothing.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Any

from advisor.advice.finder.runnable import quality_rows
from advisor.advice.prices.rows import api_price_rows, price_rows, rent_rows
from advisor.catalog import renewed
from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError, UnknownName
from advisor.failures import NetworkError
from advisor.model.by_name.hub_list import fetched_models
from advisor.model.hub import offline
from advisor.refresh import checks, models, prices, rates, scores
from advisor.refresh.checks import Doubt
from advisor.refresh.fetched import Fetched
from advisor.request.money import rate_rows


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of a table: how it is fetched, and the table that is valid now."""

    fetch: Callable[[float, date], Fetched[Any]]  # rows of its source, within a time limit [s]
    now: Callable[[], Iterable[Any]]  # rows that count now
    key: tuple[str, ...]  # fields by which rows are the same
    changing: tuple[str, ...]  # fields whose change is told
    check: Callable[[Sequence[Any]], Iterable[Doubt]]  # rows that cannot be right
    kept: Callable[[], None] = lambda: None  # what is done once the table is kept


SOURCES: Mapping[str, Source] = {
    "models": Source(
        fetch=models.fetched,
        now=lambda: fetched_models().values(),
        key=("name",),
        changing=("config", "refused"),
        check=checks.of_models,
        kept=models.forget_journal,
    ),
    "prices": Source(
        fetch=prices.sales,
        now=price_rows,
        key=("gpu", "provider", "instance", "condition"),
        changing=("usd", "date"),
        check=checks.of_sales,
    ),
    "rents": Source(
        fetch=prices.rents,
        now=rent_rows,
        key=("provider", "gpu", "gpu_count", "spot"),
        changing=("usd",),
        check=checks.of_rents,
    ),
    "apis": Source(
        fetch=prices.calls,
        now=lambda: chain.from_iterable(api_price_rows().values()),
        key=("provider", "model_id"),
        changing=("usd_per_mtok_in", "usd_per_mtok_out"),
        check=checks.of_calls,
    ),
    "scores": Source(
        fetch=scores.fetched,
        now=lambda: quality_rows().values(),
        key=("model",),
        changing=("score", "date"),
        check=checks.of_scores,
    ),
    "rates": Source(
        fetch=rates.fetched,
        now=lambda: rate_rows().values(),
        key=("currency",),
        changing=("usd",),
        check=checks.of_rates,
    ),
}
"""Sources by table."""


@dataclass(frozen=True, kw_only=True)
class RenewalResult:
    """Result of a renewal, and whether it is saved."""

    table: str  # name of the table
    what: str  # what it holds, in words
    day: str  # day of the table that counts afterwards; empty for none
    kept: bool = False  # whether the fetched table is kept
    rows: int = 0  # rows of the fetched table
    new: tuple[str, ...] = ()  # rows that nobody knew
    changed: tuple[str, ...] = ()  # rows that differ from what counted
    left_out: tuple[str, ...] = ()  # rows that are left out, each with its reason
    taken_back: bool = False  # whether the last renewal is taken back
    failed: str = ""  # why it stays as it was; empty where it does not


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Tables of the given names; all that have a source where none is given. Raises UnknownName."""
    for name in names:
        if name not in SOURCES:
            raise UnknownName("table", name, SOURCES, f"Choose from {', '.join(SOURCES)}.")
    sourced = (name for name in SOURCES if name != "prices" or prices.has_sales())
    return tuple(dict.fromkeys(names)) or tuple(sourced)


def renew(table: str, seconds: float, today: date, *, keep: bool = True) -> RenewalResult:
    """Result of a table that is fetched, and kept unless it is only looked at."""
    outcome = RenewalResult(
        table=table, what=renewed.tables()[table].what, day=renewed.day_of(table)
    )
    source = SOURCES[table]
    try:
        if offline():
            raise NetworkError(
                "Network requests are switched off (ADVISOR_OFFLINE or HF_HUB_OFFLINE is set)."
            )
        with _quiet():
            fetched = source.fetch(seconds, today)
        fetched = _looked_through(table, source, fetched)
        new, changed = _compared(source, fetched.rows)
        if keep:
            renewed.keep(table, csv_text(fetched.rows), today)
            source.kept()
            forget()
    except AdvisorError as error:
        return replace(outcome, failed=f"{error} The table stays as it is.")
    return replace(
        outcome,
        day=renewed.day_of(table),
        kept=keep,
        rows=len(fetched.rows),
        new=new,
        changed=changed,
        left_out=fetched.left_out,
    )


MOST_DOUBTED = 0.5  # share of doubted rows above which nothing of a source is believed


def _looked_through(table: str, source: Source, fetched: Fetched[Any]) -> Fetched[Any]:
    """Rows that can be right, those left out listed with the reason.

    Raises:
        NetworkError: there is none, or most cannot be right.
    """
    doubts = {id(doubt.row): doubt.why for doubt in source.check(fetched.rows)}
    rows = tuple(row for row in fetched.rows if id(row) not in doubts)
    left_out = (*fetched.left_out, *doubts.values())
    if not rows:
        why = "; ".join(left_out[:3]) or "it has none of the known names"
        raise NetworkError(f"The source of {table} gave no usable row ({why}).")
    if len(doubts) > MOST_DOUBTED * len(fetched.rows):
        raise NetworkError(
            f"{len(doubts)} of {len(fetched.rows)} rows of {table} cannot be right "
            f"({'; '.join(left_out[:3])})."
        )
    return Fetched(rows=rows, left_out=left_out, notes=fetched.notes)


def _compared(source: Source, rows: Iterable[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the rows that are new, and of those that changed."""
    before = {_key(source, row): row for row in source.now()}
    new = []
    changed = []
    for row in rows:
        known = before.get(_key(source, row))
        if known is None:
            new.append(_name(source, row))
        elif any(getattr(row, field) != getattr(known, field) for field in source.changing):
            changed.append(_name(source, row))
    return tuple(new), tuple(changed)


def _key(source: Source, row: Any) -> tuple[object, ...]:
    return tuple(str(getattr(row, field)).casefold() for field in source.key)


def _name(source: Source, row: Any) -> str:
    return " ".join(str(getattr(row, field)) for field in source.key if field != "spot")


@contextmanager
def _quiet() -> Iterator[None]:
    """Context without logs: packages log tracebacks of errors that are told in a sentence."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def take_back(table: str) -> RenewalResult:
    """Result for a table after its last renewal was taken back."""
    what = renewed.tables()[table].what
    last = renewed.take_back(table)
    forget()
    if last is None:
        return RenewalResult(
            table=table,
            what=what,
            day=renewed.day_of(table),
            failed="It was not renewed here, so there is nothing to take back.",
        )
    return RenewalResult(table=table, what=what, day=renewed.day_of(table), taken_back=True)


READERS = ("advisor.model.by_name", "advisor.model.resolve", "advisor.advice", "advisor.request")
"""Packages that keep what they read of renewed tables, or what follows from it."""


def forget() -> None:
    """Forget all renewed tables that are kept in memory, so that they are read again."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith(READERS):
            for value in tuple(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if callable(clear):
                    clear()
