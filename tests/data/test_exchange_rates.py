"""data/prices/exchange_rates.csv: one dated rate for each currency."""

from advisor.advice.prices.rows import last_day
from advisor.request.lists import CURRENCIES
from advisor.request.money import shipped_rates


def test_rates_are_dated_and_of_currencies_of_the_page() -> None:
    for code, rate in shipped_rates().items():
        assert code in CURRENCIES
        assert last_day(rate.date) is not None
        assert rate.source.startswith("https://")


def test_rates_are_those_of_their_sources() -> None:
    """0.7497 pounds, 160.77 yen and 0.7993 francs a dollar; 4.2318 zloty a euro of $1.1761."""
    usd = {code: rate.usd for code, rate in shipped_rates().items()}
    assert abs(usd["GBP"] * 0.7497 - 1) < 1e-4
    assert abs(usd["JPY"] * 160.77 - 1) < 1e-4
    assert abs(usd["CHF"] * 0.7993 - 1) < 1e-4
    assert abs(usd["PLN"] * 4.2318 / 1.1761 - 1) < 1e-4
    assert usd["EUR"] == 1.1435
