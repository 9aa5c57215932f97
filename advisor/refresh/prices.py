"""Rents with gpuhunt, prices of APIs with genai-prices, prices for sale from a named table.

Both packages are extras (`prices`). If a fetch fails, present prices are kept; so are those of a
provider that a list lacks. Implausible prices are left out and named.
"""

import csv
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from advisor.advice.prices.rows import SALES, ApiPriceRow, PriceRow, api_price_rows, last_day
from advisor.catalog.csv_tables import read
from advisor.errors import DataError, UnknownName
from advisor.failures import NetworkError
from advisor.formatting import money, money_per_hour
from advisor.machine.catalog import GPUS
from advisor.refresh.addresses import address, text_of
from advisor.refresh.fetched import Fetched
from advisor.units import GIB

ANSWER = TypeVar("ANSWER")
PLAUSIBLE_HOUR = (0.02, 100.0)
"""Least and most for a GPU hour [USD]: in October 2026 from 0.03 (Quadro P2000) to 17.80 (B300),
https://github.com/toolshedlabs-hash/gpu-price-feed, https://github.com/ewyluda/gpu-price-index."""
PLAUSIBLE_TOKENS = (0.001, 1000.0)
"""Least and most for a million tokens [USD]; cached ones may be free."""
MOST_GPUS = 8  # most GPUs of one machine; larger offers are several machines


TokenPrices = Callable[[str, str], tuple[float, float, float | None] | None]
"""Function from provider and model to the prices of a million input, output and cached input tokens
[USD]; None for cached ones that cost as much as others."""


def within(seconds: float, fetch: Callable[[], ANSWER], what: str) -> ANSWER:
    """Result of third-party code that uses the network, within a time limit [s].

    Raises:
        NetworkError: it failed, or took too long.
    """
    answers: list[ANSWER] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(fetch())
        except Exception as error:  # noqa: BLE001 - other people's code, asking other people's servers
            failures.append(error)

    # A daemon: a server that never answers must not keep the program from ending.
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if answers:
        return answers[0]
    if failures:
        why = f"{failures[0]}"[:200]
    else:
        why = f"no answer within {seconds:g} s"
    raise NetworkError(f"{what} gave no prices ({why}).")


def rents(seconds: float, today: date) -> Fetched[PriceRow]:
    """Rents of today; raises NetworkError as `within`."""
    return rents_of(within(seconds, by_gpuhunt, "gpuhunt"), today)


def calls(seconds: float, today: date) -> Fetched[ApiPriceRow]:
    """Prices of APIs of today; raises NetworkError as `within`."""
    return calls_of(within(seconds, by_genai_prices, "genai-prices"), today)


PLAUSIBLE_SALE = (5.0, 1e6)
"""Least and most for a card [USD]: from used ones of 2012 to a rack's."""


def sales(seconds: float, today: date) -> Fetched[PriceRow]:
    """Prices for sale of the table that ADVISOR_PRICES_URL names; no open source with an interface
    has them.

    Raises:
        NetworkError: no table is named, it cannot be read, or it has other columns.
    """
    if not has_sales():
        raise NetworkError(
            "No open source with an interface lists prices of cards. ADVISOR_PRICES_URL may name "
            "a CSV file with the columns of data/prices/prices.csv."
        )
    url = address(SALES)
    return sales_of(text_of(url, seconds), today, url)


def has_sales() -> bool:
    """Whether a table of prices for sale is named."""
    return bool(os.environ.get("ADVISOR_PRICES_URL", "").strip())


def sales_of(text: str, today: date, url: str) -> Fetched[PriceRow]:
    """Purchase prices of a CSV file with the columns of data/prices/prices.csv."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prices.csv"
        path.write_text(text, encoding="utf-8")
        try:
            listed = read(path, PriceRow)
        except (DataError, csv.Error) as error:
            raise NetworkError(f"{url[:80]} is no table of prices: {error}") from error
    rows: list[PriceRow] = []
    left_out: list[str] = []
    for row in listed:
        why = _not_for_sale(row, today)
        if why:
            left_out.append(f"{row.provider[:40]} {row.gpu[:40]}: {why}")
        else:
            named = replace(row, gpu=GPUS.find(row.gpu).name, retrieved=today.isoformat())
            rows.append(replace(named, source=row.source or url))
    return Fetched(rows=tuple(rows), left_out=tuple(left_out))


def _not_for_sale(row: PriceRow, today: date) -> str:
    """Why a row is no price for sale that can be right; empty for one that can."""
    least, most = PLAUSIBLE_SALE
    if (row.kind, row.currency, row.per) != ("purchase", "USD", "once"):
        return "no purchase in US dollars"
    if not 1 <= row.gpu_count <= MOST_GPUS or not least <= row.usd / row.gpu_count <= most:
        return f"{money(row.usd)} for {row.gpu_count} cannot be"
    day = last_day(row.date)
    if day is None or row.date > today.isoformat():
        return f"its date is {row.date[:20]!r}"
    try:
        GPUS.find(row.gpu)
    except UnknownName:
        return "no such card is known"
    return ""


def rents_of(machines: Iterable[Any], today: date) -> Fetched[PriceRow]:
    """Cheapest rent by provider, GPU and number of GPUs, of gpuhunt's machines with a known GPU."""
    cheapest: dict[tuple[str, str, int, bool], PriceRow] = {}
    left_out: list[str] = []
    least, most = PLAUSIBLE_HOUR
    for machine in machines:
        row = _rent(machine, today)
        if row is None:
            continue
        if not least <= row.usd / row.gpu_count <= most:
            left_out.append(f"{row.provider} {row.gpu} at {money_per_hour(row.usd)}")
            continue
        key = (row.provider, row.gpu, row.gpu_count, row.spot)
        if key not in cheapest or row.usd < cheapest[key].usd:
            cheapest[key] = row
    return Fetched(rows=tuple(cheapest.values()), left_out=tuple(left_out))


def _rent(machine: Any, today: date) -> PriceRow | None:
    """Rent of a machine of gpuhunt: `price` in USD per hour, `gpu_memory` in GB per GPU."""
    if not machine.gpu_name or not 1 <= machine.gpu_count <= MOST_GPUS:
        return None
    if machine.gpu_memory:
        memory = machine.gpu_memory * GIB
    else:
        memory = None
    try:
        gpu = GPUS.find(machine.gpu_name, memory)
    except UnknownName:
        return None
    return PriceRow(
        gpu=gpu.name,
        kind="rent",
        provider=machine.provider,
        instance=machine.instance_name,
        condition="",
        gpu_count=machine.gpu_count,
        memory_gib=None,
        usd=machine.price,
        currency="USD",
        per="hour",
        spot=machine.spot,
        date=today.isoformat(),
        retrieved=today.isoformat(),
        source=f"gpuhunt, {machine.provider}",
    )


def calls_of(prices: TokenPrices, today: date) -> Fetched[ApiPriceRow]:
    """Prices in a list of genai-prices, of the providers and models in the shipped table."""
    rows: list[ApiPriceRow] = []
    left_out: list[str] = []
    least, most = PLAUSIBLE_TOKENS
    for shipped in (row for models in api_price_rows().values() for row in models):
        price = prices(shipped.provider, shipped.model_id)
        if price is None:
            continue
        sent, answered, again = price
        if least <= sent <= most and least <= answered <= most and 0 <= (again or 0) <= sent:
            rows.append(
                replace(
                    shipped,
                    usd_per_mtok_in=sent,
                    usd_per_mtok_out=answered,
                    usd_per_mtok_cached=again,
                    date=today.isoformat(),
                    retrieved=today.isoformat(),
                    source="genai-prices, fetched",
                )
            )
        else:
            per = f"{money(sent)} and {money(answered)} a million tokens"
            left_out.append(f"{shipped.provider} {shipped.model_id} at {per}")
    return Fetched(rows=tuple(rows), left_out=tuple(left_out))


def by_gpuhunt() -> list[Any]:
    """Machines with GPUs of all providers that gpuhunt lists without login."""
    return list(_package("gpuhunt").query(min_gpu_count=1))


def by_genai_prices() -> TokenPrices:
    """Newest list of genai-prices.

    Raises:
        NetworkError: the package is not installed.
    """
    package = _package("genai_prices")
    with package.UpdatePrices() as update:
        update.wait()

    def price(provider: str, model: str) -> tuple[float, float, float | None] | None:
        # Prices rise with the length of a request; a short one is the usual.
        try:
            sent, answered, again = (
                package.calc_price(package.Usage(**tokens), model_ref=model, provider_id=provider)
                for tokens in (
                    {"input_tokens": 1000},
                    {"output_tokens": 1000},
                    {"input_tokens": 1000, "cache_read_tokens": 1000},
                )
            )
        except LookupError:
            return None
        each = [1000.0 * float(part.total_price) for part in (sent, answered, again)]
        if again.model_price.cache_read_mtok is not None:
            cached = each[2]
        else:
            cached = None
        return each[0], each[1], cached

    return price


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise NetworkError(
            f"{name} is not installed: pip install 'offload-advisor[prices]'"
        ) from error
