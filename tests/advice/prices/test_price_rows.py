"""Which of several purchase prices is used, and what is shown where there is none."""

from dataclasses import replace
from datetime import date

import pytest

from advisor.advice.prices.price import bought, cards_for_sale, of_condition, selling_price
from advisor.advice.prices.rows import (
    LAUNCH,
    REASONS,
    PriceRow,
    no_price,
    price_rows,
    standing,
)
from advisor.catalog.csv_tables import texts
from advisor.cli.main import main
from advisor.machine.catalog import GPUS, MACHINES
from advisor.request.wants import Condition

WITHOUT_PRICE = texts("prices/without_price.csv", "gpu", "reason")
SHOP = PriceRow(
    gpu="RTX 3090",
    kind="purchase",
    provider="street, low",
    instance="",
    condition="used",
    gpu_count=1,
    memory_gib=None,
    usd=900.0,
    currency="USD",
    per="once",
    spot=False,
    date="2026-08-08",
    retrieved="2026-11-23",
    source="https://example.com",
)


def best(*rows: PriceRow) -> PriceRow:
    return max(rows, key=standing)


def test_a_newer_price_is_used_and_a_month_counts_from_its_end() -> None:
    august = replace(SHOP, usd=1000.0, date="2026-08")
    assert best(SHOP, august) == august
    assert best(august, SHOP) == august
    july = replace(SHOP, usd=800.0, date="2026-07")
    assert best(july, SHOP) == SHOP


def test_of_a_day_the_lowest_price_for_a_card_is_used() -> None:
    assert best(SHOP, replace(SHOP, usd=950.0)) == SHOP
    pair = replace(SHOP, usd=1700.0, gpu_count=2)
    assert best(SHOP, pair) == pair


def test_a_price_of_a_shop_is_used_before_a_launch_price_even_undated() -> None:
    undated = replace(SHOP, date="")
    assert best(replace(SHOP, provider=LAUNCH, date="2026-09"), undated) == undated


@pytest.mark.parametrize(
    ("gpu", "usd", "condition", "date"),
    [
        # the reports and shops of each date are in prices.csv
        ("RTX 5090", 5000, "new", "2026-09-22"),
        ("RTX 4090", 2360, "used", "2026-09-09"),
        ("RTX 3090", 1120, "used", "2026-09-09"),
        ("RTX A6000", 4650, "new", "2026-08"),
        ("RX 7900 XT", 640, "used", "2026-08"),
        ("RTX 6000 Ada", 6974, "new", "2025-07-23"),
        ("Arc Pro B70", 950, "new", "2026-09-09"),
    ],
)
def test_the_price_in_use_has_its_condition_and_date(gpu, usd, condition, date) -> None:
    row = selling_price(gpu)
    assert row is not None
    assert (row.usd, row.condition, row.date) == (usd, condition, date)


def test_every_gpu_since_2020_has_a_price_or_a_reason() -> None:
    sold = {row.gpu for row in price_rows() if row.kind == "purchase"}
    sold |= {
        row.gpu
        for row in MACHINES.rows().values()
        if row.per == "once" and row.usd and GPUS.rows()[row.gpu].unified
    }
    recent = {name for name, row in GPUS.rows().items() if row.released >= "2020"}
    assert set(WITHOUT_PRICE) == recent - sold
    assert set(WITHOUT_PRICE.values()) == set(REASONS)


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("Laptop",), "laptop"), (("SXM",), "server"), (("Embedded",), "device"),
     (("Apple",), "mac"), (("UHD", "Adreno"), "processor"), (("CMP",), "page")],
)  # fmt: skip
def test_reasons_agree_with_names(words: tuple[str, ...], reason: str) -> None:
    assert {why for gpu, why in WITHOUT_PRICE.items() if any(w in gpu for w in words)} == {reason}


def test_who_asks_for_a_price_that_is_missing_reads_why() -> None:
    assert no_price("RTX 4090 Laptop 16GB") == "no price on record: sold only within laptops"
    assert no_price("GTX 480") == "no price on record"
    price = bought("H100 SXM", 1)
    assert (price.usd, price.note) == (
        None,
        "no price on record: sold only within servers; type yours",
    )


def test_the_command_lists_every_price_of_a_gpu(capsys) -> None:
    assert main(["prices", "--of", "3090"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("RTX 3090: $990 (street, low, eBay")
    assert "used or new), 2026-07" in lines[0]
    assert any(line.startswith("2x RTX 3090: $0.44 an hour (runpod (community)") for line in lines)
    assert main(["prices", "--of", "RTX 5080 Laptop"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("RTX 5080 Laptop: no price on record: sold only within laptops")
    assert main(["prices", "--of", "RTX 9999"]) == 2
    assert "RTX 9999" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gpu", "condition", "usd", "priced_as"),
    [
        # data/prices/usual_prices.csv has both conditions of the first; the second's only new price
        # is its maker's of 2020; the third has new ones alone, which stand in
        ("RTX 3060 12GB", Condition.USED, 220, "used"),
        ("RTX 3060 12GB", Condition.NEW, 470, "new"),
        ("RTX 3060 12GB", Condition.ANY, 220, "used"),
        ("RTX 3090", Condition.NEW, 1499, "list"),
        ("RTX 5060 Ti 8GB", Condition.USED, 430, "new"),
    ],
)
def test_a_card_costs_what_it_does_in_the_wanted_condition(gpu, condition, usd, priced_as) -> None:
    price = bought(gpu, 2, condition=condition)
    assert (price.usd, price.condition) == (2 * usd, priced_as)


def test_a_card_whose_only_new_price_is_of_its_launch_is_not_for_sale_new() -> None:
    today = date(2026, 11, 29)
    assert "RTX 3090" in cards_for_sale((), today)
    assert "RTX 3090" in cards_for_sale((), today, Condition.USED)
    assert "RTX 3090" not in cards_for_sale((), today, Condition.NEW)


def test_a_price_is_of_a_wanted_condition() -> None:
    assert of_condition("used", Condition.USED)
    assert of_condition("used or new", Condition.USED), "the lower of both is that of a used one"
    assert not of_condition("used or new", Condition.NEW)
    assert of_condition("list", Condition.NEW)
    assert of_condition("", Condition.NEW), "as somebody typed it"
