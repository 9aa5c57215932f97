"""data/prices/usual_prices.csv: cards of the catalogue, ranges around prices, siblings in order."""

from advisor.advice.prices.rows import last_day, usual_price, usual_prices
from advisor.machine.catalog import GPUS

# of a family: each costs no less than the one before it, in one condition
SIBLINGS = (
    (
        "used",
        ("RTX 3060 Ti", "RTX 3070", "RTX 3070 Ti", "RTX 3080 10GB", "RTX 3080 Ti", "RTX 3090"),
    ),
    ("used", ("RTX 3090", "RTX 3090 Ti")),
    ("used", ("RTX 4060", "RTX 4070", "RTX 4070 Super", "RTX 4070 Ti", "RTX 4070 Ti Super")),
    ("used", ("RTX 4070 Ti Super", "RTX 4080", "RTX 4080 Super", "RTX 4090")),
    ("new", ("RTX 5050", "RTX 5060", "RTX 5060 Ti 8GB", "RTX 5060 Ti 16GB", "RTX 5070")),
    ("new", ("RTX 5070", "RTX 5070 Ti", "RTX 5080", "RTX 5090")),
    ("used", ("RX 6800", "RX 6800 XT", "RX 6900 XT", "RX 6950 XT")),
    ("used", ("RX 7600", "RX 7700 XT", "RX 7800 XT", "RX 7900 GRE", "RX 7900 XT", "RX 7900 XTX")),
    ("new", ("RX 9060 XT 16GB", "RX 9070 GRE", "RX 9070", "RX 9070 XT")),
)


def test_every_row_is_a_card_with_a_range_around_its_price() -> None:
    assert len(usual_prices()) >= 70
    for (gpu, condition), row in usual_prices().items():
        assert gpu in GPUS.rows()
        assert condition in ("new", "used")
        assert 0 < row.low <= row.usd <= row.high, gpu
        assert last_day(row.date) is not None
        assert row.source.startswith("https://")


def test_siblings_stand_in_their_order() -> None:
    for condition, names in SIBLINGS:
        prices = [usual_prices()[name, condition].usd for name in names]
        assert prices == sorted(prices), names


def test_new_and_used_are_apart() -> None:
    new = usual_price("RTX 5090", "new")
    used = usual_price("RTX 5090", "used")
    assert new is not None
    assert used is not None
    assert used.usd < new.usd
    assert usual_price("RTX 5090") == new, "new where it is sold new"
    assert usual_price("RTX 4090") == usual_price("RTX 4090", "used")


def test_a_card_that_is_no_longer_made_is_bought_used() -> None:
    # released in January 2021, seen in July 2026: 5.4 years
    assert usual_price("RTX 3060 12GB") == usual_price("RTX 3060 12GB", "used")
    # released in August 2023, seen in September 2026: 3.1 years
    assert usual_price("L40S") == usual_price("L40S", "new")
