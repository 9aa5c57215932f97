"""Whole machines for sale and for rent: each once, at its newest price, with its day."""

from datetime import date

from advisor.advice.prices.price import (
    bought,
    machines_called,
    priced_name,
    rented,
    selling_price,
)
from advisor.advice.prices.rows import (
    LAUNCH,
    is_lapsed,
    is_stale,
    machines_for_sale,
    price_rows,
    rent_rows,
)
from advisor.advice.table.timed_machines import whole_machines
from advisor.machine.catalog import GPUS, MACHINES


def test_every_machine_with_a_price_of_its_own_is_for_sale() -> None:
    names = " ".join(machines_for_sale())
    for word in ("Mac Studio", "DGX Spark", "Framework Desktop", "Mac mini M4 Pro, 24 GB"):
        assert word in names
    for machine in machines_for_sale().values():
        assert GPUS.find(machine.price.gpu).unified
        assert machine.price.usd > 0
    assert len(whole_machines()) == len(machines_for_sale())


def test_a_machine_in_both_tables_has_the_newer_price() -> None:
    sizes = [
        (m.price.gpu, m.price.memory_gib)
        for m in machines_for_sale().values()
        if "Framework" in m.name
    ]
    assert len(sizes) == len(set(sizes))
    # 1,999 at launch, 2,459 from January 2026, 3,449 in September, with 2 TB 3,740
    row = selling_price("Framework Desktop, 128 GB, with 2 TB (Radeon 8060S (Ryzen AI Max+ 395))")
    assert row is not None
    assert (row.usd, row.date) == (3740, "2026-09-03")


def test_a_price_without_a_date_is_old() -> None:
    assert is_stale("", date(2026, 11, 22))


def test_macs_of_the_autumn_cost_what_their_maker_asks() -> None:
    """List prices of 25 August 2026, checked on 3 September (sunkcost, data/hardware.json)."""
    for name, usd in (
        ("Mac mini M6, 16 GB (Apple M6 12c)", 899),
        ("Mac mini M5 Pro, 64 GB (Apple M5 Pro 16c)", 2699),
        ("Mac Studio M5 Max, 128 GB (Apple M5 Max 40c)", 5099),
        ("Mac Studio M5 Ultra, 96 GB (Apple M5 Ultra 64c)", 5499),
    ):
        price = bought(name, 1)
        assert (price.usd, price.date, price.listed) == (usd, "2026-09-03", False)


def test_a_mac_that_is_no_longer_made_is_in_no_advice() -> None:
    """Mac Studios with M4 Max and M3 Ultra ended on 25 August 2026; their prices are of 2025."""
    for name in ("Mac Studio, 96 GB (Apple M3 Ultra 60c)", "Mac Studio, 36 GB (Apple M4 Max 32c)"):
        assert is_lapsed(selling_price(name), date(2026, 11, 29))


def test_a_machine_is_found_by_the_words_of_its_name_in_any_order() -> None:
    assert machines_called("framework desktop 64 GB") == machines_called("Framework Desktop 64GB")
    (name,) = machines_called("64GB Framework Desktop")
    assert name.startswith("Framework Desktop, 64 GB")
    assert priced_name("Mac Studio M5 Max 128GB") == "Mac Studio M5 Max, 128 GB (Apple M5 Max 40c)"
    sizes = [name.split(", ")[1][:3] for name in machines_called("Mac Studio M5 Max")]
    assert sorted(sizes) == ["128", "36 ", "48 ", "64 "]
    assert machines_called("") == machines_called("4090") == []


def test_the_price_of_its_announcement_is_a_launch_price() -> None:
    # Apple M4 Pro: released in October 2024, priced by a page of that month
    price = bought("Mac mini M4 Pro, 24 GB", 1)
    assert price.usd == 1599
    assert price.listed
    assert is_stale(price.date, date(2026, 11, 22))


def test_it_runs_with_the_memory_that_its_price_is_for() -> None:
    for name, machine in whole_machines().items():
        size = machines_for_sale()[name].price.memory_gib
        assert size is not None
        assert machine.host.memory.value == size * 2**30
        assert 0.5 <= machine.gpus[0].memory.value / (size * 2**30) < 1


def test_a_typed_price_of_a_chip_is_that_of_the_machine_around_it() -> None:
    price = bought("DGX Spark (GB10)", 1, (("GB10", 3500.0),))
    assert (price.usd, price.typed) == (3500, True)


def test_clouds_let_machines_that_only_the_list_of_machines_has() -> None:
    # VM.GPU.A10.2 of Oracle Cloud: 4 USD an hour for two A10
    in_prices = {(row.gpu, row.gpu_count) for row in price_rows() if row.kind == "rent"}
    assert ("A10", 2) not in in_prices
    price, usd, gpus = rented("A10", 2) or (None, 0.0, 0)
    assert (usd, gpus) == (4, 2)
    assert price is not None
    assert "VM.GPU.A10.2" in price.note
    clouds = {row.name for row in MACHINES.rows().values() if row.per == "hour" and row.usd}
    assert clouds <= {row.instance for row in rent_rows()}


def test_rents_are_of_one_machine_and_the_cheapest_first() -> None:
    rents = [row.usd for row in rent_rows()]
    assert rents == sorted(rents)
    assert not any(row.spot for row in rent_rows())
    assert all(row.provider != LAUNCH for row in rent_rows())
