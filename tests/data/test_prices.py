"""data/prices/prices.csv: source, date and GPU of each price, and plausible amounts."""

import pytest
from provenance import is_past, is_public

from advisor.advice.prices.rows import API_SPREAD, api_price_rows, api_usual_speeds, price_rows
from advisor.machine.catalog import GPUS

ROWS = price_rows()
RENTS = [row for row in ROWS if row.kind == "rent"]
SALES = [row for row in ROWS if row.kind == "purchase"]


def test_it_has_a_dated_public_source() -> None:
    for row in ROWS:
        assert is_public(row.source)
        assert is_past(row.retrieved)
        assert not row.date or is_past(row.date)
        assert row.date[:7] <= row.retrieved[:7]
        assert row.provider


def test_it_is_for_a_gpu_of_the_catalogue_by_its_very_name() -> None:
    for row in ROWS:
        assert row.gpu in GPUS.rows()
        assert row.memory_gib is None or row.memory_gib <= GPUS.rows()[row.gpu].memory_gib


def test_prices_are_plausible() -> None:
    for row in ROWS:
        each = row.usd / row.gpu_count
        low, high = {"rent": (0.05, 20), "purchase": (50, 100_000)}[row.kind]
        assert low <= each <= high
        assert row.per == {"rent": "hour", "purchase": "once"}[row.kind]
        assert 1 <= row.gpu_count <= 8


def test_an_offer_states_condition_and_currency() -> None:
    for row in ROWS:
        assert row.currency == "USD"
        known = {"rent": {""}, "purchase": {"new", "used", "used or new", "list"}}[row.kind]
        assert row.condition in known
        assert (row.condition == "list") == (row.provider == "launch MSRP")


def test_gpus_of_people_sold_since_2020_have_a_price() -> None:
    # what people run models on at home; each with a dated price in prices.csv
    sold = {row.gpu for row in SALES if row.date}
    series = {
        "RTX 30": ("60 12GB", "60 Ti", "70", "70 Ti", "80 10GB", "80 Ti", "90", "90 Ti"),
        "RTX 40": ("60", "60 Ti 8GB", "70", "70 Super", "70 Ti", "70 Ti Super", "80", "80 Super",
                   "90"),
        "RTX 50": ("50", "60", "60 Ti 16GB", "70", "70 Ti", "80", "90"),
        "RX 6": ("600", "600 XT", "700 XT", "800", "800 XT", "900 XT", "950 XT"),
        "RX 7": ("600", "600 XT", "700 XT", "800 XT", "900 GRE", "900 XT", "900 XTX"),
        "RX 90": ("60 XT 16GB", "70", "70 XT"),
        "Arc B5": ("70", "80"),
    }  # fmt: skip
    wanted = {f"{start}{end}" for start, ends in series.items() for end in ends}
    assert wanted <= set(GPUS.rows())
    assert wanted <= sold


def test_cached_input_is_not_dearer_than_other_input() -> None:
    rows = [row for models in api_price_rows().values() for row in models]
    cached = [row for row in rows if row.usd_per_mtok_cached is not None]
    assert len(cached) > 40
    assert all(0 <= row.usd_per_mtok_cached <= row.usd_per_mtok_in for row in cached)


def test_only_rents_are_interruptible() -> None:
    assert not any(row.spot for row in SALES)


def test_spot_is_below_the_same_machine_on_demand() -> None:
    by_provider = {(row.provider, row.instance): row.usd for row in RENTS if not row.spot}
    pairs = [(row.usd, by_provider.get((row.provider, row.instance))) for row in RENTS if row.spot]
    assert all(spot < plain for spot, plain in pairs if plain is not None)


def test_low_street_prices_are_below_high_ones_of_the_same_day() -> None:
    sold = {(row.gpu, row.provider, row.date): row.usd for row in SALES}
    for (gpu, provider, date), usd in sold.items():
        if provider == "street, low":
            assert usd <= sold.get((gpu, "street, high", date), usd)


@pytest.mark.parametrize(
    ("gpu", "usd"),
    [("RTX 4090", 1599), ("RTX 5090", 1999), ("RTX 3090", 1499), ("RX 9070 XT", 599)],
)
def test_launch_prices_have_the_launch_date(gpu: str, usd: float) -> None:
    # nvidianews.nvidia.com and amd.com, announcements of 2020-09, 2022-09, 2025-01 and 2025-02
    (launch,) = [row for row in SALES if row.gpu == gpu and row.provider == "launch MSRP"]
    assert launch.usd == usd


def test_machines_with_several_cards_have_dated_rents() -> None:
    dated = {(row.gpu, row.gpu_count) for row in RENTS if row.date >= "2026-10" and not row.spot}
    for gpu in (
        "RTX 3090",
        "RTX 4090",
        "RTX 5090",
        "RTX A6000",
        "RTX 6000 Ada",
        "RTX PRO 6000 Blackwell",
    ):
        assert {(gpu, 1), (gpu, 2), (gpu, 4), (gpu, 8)} <= dated
    assert {("H100 SXM", 2), ("H100 SXM", 4), ("A100 PCIe 40GB", 2), ("L40S", 4)} <= dated


def test_runpod_asks_the_same_for_each_card_of_a_machine() -> None:
    # its list has a price for a GPU and the most of one machine; two RTX 4090 at 0.34 are 0.68
    rows = [row for row in RENTS if row.provider.startswith("runpod (") and not row.spot]
    each = {(row.gpu, row.provider): row.usd for row in rows if row.gpu_count == 1 and row.date}
    several = [row for row in rows if row.gpu_count > 1 and row.date]
    assert len(several) > 40
    for row in several:
        assert row.usd == pytest.approx(row.gpu_count * each[row.gpu, row.provider])
        assert f"machines of up to {row.gpu_count}" in row.source or row.gpu_count < 8


def test_there_is_something_to_rent_and_to_buy_for_most_budgets() -> None:
    rented = {row.gpu for row in RENTS}
    sold = {row.gpu for row in SALES}
    assert {"RTX 4090", "A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200", "L40S"} <= rented
    assert {"RTX 3090", "RTX 4090", "RTX 5090", "RTX PRO 6000 Blackwell", "GB10"} <= sold


def test_usual_speeds_of_apis_are_of_models_with_a_price_dated_and_public() -> None:
    models = set(api_price_rows())
    for name, row in api_usual_speeds().items():
        assert name in models
        assert 10 < row.decode_tps < 1000, name
        assert 0.05 < row.first_token_s < 10, name
        assert is_public(row.source), name
        assert is_past(row.date), name
        assert row.date <= row.retrieved, name


def test_no_provider_lies_further_from_its_models_median_than_said() -> None:
    usual = api_usual_speeds()
    shares = [
        row.decode_tps / usual[row.model].decode_tps
        for rows in api_price_rows().values()
        for row in rows
        if row.decode_tps and row.model in usual
    ]
    assert len(shares) >= 5
    assert all(0.9 / API_SPREAD < share < 1.1 * API_SPREAD for share in shares)
