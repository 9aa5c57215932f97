"""Offers worked by hand from prices made up for the purpose. A month has 30.4375 days."""

import pytest

from advisor.advice.prices import rows as price_rows_module
from advisor.advice.prices.rows import PriceRow, price_rows
from advisor.advice.upgrades import offers
from advisor.catalog.inputs import MONEY, Input
from advisor.errors import InputError
from advisor.request.money import MoneyInputs


def price(**fields: object) -> PriceRow:
    usual: dict[str, object] = {
        "gpu": "RTX 4090", "kind": "rent", "provider": "Someone", "instance": "", "condition": "",
        "gpu_count": 1, "currency": "USD",
        "memory_gib": None, "usd": 0.5, "per": "hour", "spot": False, "date": "2026-03",
        "retrieved": "2026-11-21", "source": "https://example.com",
    }  # fmt: skip
    return PriceRow(**{**usual, **fields})


def sale(**fields: object) -> PriceRow:
    return price(**{"kind": "purchase", "usd": 1800, "per": "once", **fields})


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch):
    """Offers for RTX 4090s when these are the prices, by kind."""

    def ask(
        *rows: PriceRow,
        count: int = 1,
        power: float | None = None,
        busy: float = 100.0,
        **money: object,
    ):
        for module in (offers, price_rows_module):
            monkeypatch.setattr(module, "price_rows", lambda: rows)
        outcome = offers.offers("RTX 4090", count, power, busy, MoneyInputs(**money))
        return {option.kind: option for option in outcome}

    return ask


def test_no_price_no_offer(ask) -> None:
    assert ask() == {}
    assert ask(price(gpu="RTX 3090")) == {}


def test_rent_by_hand(ask) -> None:
    # 2 GPUs x 0.50 USD x 8 h x 30.4375 days = 243.50 USD
    rent = ask(price(), count=2, rented_hours_per_day=8)["rent"]
    assert rent.monthly == pytest.approx(243.5)
    assert rent.note == "$0.50 an hour each, Someone, priced 2026-03"
    assert rent.source == "https://example.com"


def test_the_cheapest_gpu_not_the_cheapest_machine(ask) -> None:
    # 8 for 2.40 USD are 0.30 each
    rent = ask(price(usd=0.4), price(usd=2.4, gpu_count=8, date=""))["rent"]
    assert rent.monthly == pytest.approx(0.3 * 24 * 30.4375)
    assert rent.note.endswith("Someone, read 2026-11-21")


def test_interruptible_machines_are_no_offer(ask) -> None:
    assert ask(price(usd=0.1, spot=True)) == {}


def test_a_typed_rent_replaces_the_market(ask) -> None:
    own = (("RTX 4090", 0.2), ("H100 SXM", 1.0))
    rent = ask(price(usd=0.1), count=2, own_rent=own)["rent"]
    assert rent.monthly == pytest.approx(0.4 * 24 * 30.4375)
    assert (rent.note, rent.source) == ("$0.20 an hour each, as you typed", "")


def test_purchase_by_hand(ask) -> None:
    # 2 x 1800 USD / 36 months = 100 USD; 2 x 450 W x 100 h = 90 kWh x 0.20 USD = 18 USD
    sold = ask(sale(), count=2, power=450, busy=100, usd_per_kwh=0.2)["purchase"]
    assert sold.monthly == pytest.approx(100 + 18)
    assert sold.note == "$1,800 each (Someone), priced 2026-03, over 36 months with power"


def test_unknown_power_is_left_out(ask) -> None:
    assert ask(sale(), purchase_months=18)["purchase"].monthly == pytest.approx(100)


def test_the_newest_low_street_price_wins_over_the_launch(ask) -> None:
    rows = (
        sale(provider="launch MSRP", usd=1599, date="2026-09"),
        sale(provider="street, low", usd=2200, date="2026-02"),
        sale(provider="street, low", usd=2100, date="2026-06-22"),
        sale(provider="street, high", usd=2800, date="2026-08"),
    )
    assert ask(*rows, purchase_months=21)["purchase"].monthly == pytest.approx(100)
    assert "$1,599" in ask(rows[0])["purchase"].note
    assert ask(rows[3]) == {}


def test_both_ways_are_offered(ask) -> None:
    assert set(ask(price(), sale())) == {"rent", "purchase"}


@pytest.mark.parametrize("gpu", sorted({row.gpu for row in price_rows()}))
def test_every_offer_of_the_catalogue_says_whose_and_when(gpu: str) -> None:
    for offer in offers.offers(gpu, 1, 300, 100.0, MoneyInputs()):
        assert offer.monthly > 0
        assert offer.source.startswith("https://")
        assert "priced 20" in offer.note or "read 20" in offer.note


@pytest.mark.parametrize("entry", MONEY, ids=lambda entry: entry.name)
def test_inputs_have_limits(entry: Input) -> None:
    low, high = entry.limits
    for allowed in (low, high):
        MoneyInputs(**{entry.name: allowed})
    for wrong in (-1, high * 1.01, float("nan"), float("inf")):
        with pytest.raises(InputError, match="allowed is"):
            MoneyInputs(**{entry.name: wrong})
