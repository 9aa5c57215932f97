"""Prices fetched again, from recorded answers, and failures to fetch them."""

import time
from dataclasses import dataclass
from datetime import date

import pytest

from advisor.advice.prices import rows as tables
from advisor.advice.prices.rows import CALLS, RENTS, PriceRow, provider_key
from advisor.catalog import renewed
from advisor.catalog.records import csv_text
from advisor.cli.main import main
from advisor.cli.prices import price_ages
from advisor.failures import NetworkError
from advisor.refresh import prices
from advisor.refresh.prices import calls_of, rents_of, within

TODAY = date(2026, 11, 28)


@dataclass
class Listed:
    """As gpuhunt 0.1.34's CatalogItem has it."""

    provider: str
    instance_name: str
    price: float
    gpu_count: int
    gpu_name: str | None
    gpu_memory: float | None
    spot: bool = False


RECORDED = [
    Listed("vastai", "34563", 0.19, 1, "RTX3090", 24),
    Listed("vastai", "99120", 0.24, 1, "RTX3090", 24),
    Listed("vastai", "7001", 0.11, 1, "RTX3090", 24, spot=True),
    Listed("runpod", "NVIDIA A100-SXM4-80GB", 1.49, 1, "A100", 80),
    Listed("aws", "p5.48xlarge", 55.04, 8, "H100", 80),
    Listed("aws", "m7i.large", 0.1, 0, None, None),
    Listed("gcp", "ct5p", 4.2, 4, "v5p", 95),
    Listed("lambdalabs", "typing error", 0.0, 1, "H100", 80),
    Listed("lambdalabs", "typing error", 1e9, 1, "H100", 80),
]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_OFFLINE", raising=False)
    for cached in (tables.rent_rows, tables.api_price_rows):
        cached.cache_clear()
    yield
    for cached in (tables.rent_rows, tables.api_price_rows):
        cached.cache_clear()


def keep_fetched(table, rows) -> None:
    renewed.keep(table, csv_text(rows), TODAY)


def test_the_cheapest_of_each_provider_is_taken_and_nonsense_is_not() -> None:
    fetched = rents_of(RECORDED, TODAY)
    rows = fetched.rows
    taken = {(row.provider, row.gpu, row.gpu_count, row.spot): row.usd for row in rows}
    assert taken["vastai", "RTX 3090", 1, False] == 0.19
    assert taken["vastai", "RTX 3090", 1, True] == 0.11
    assert taken["aws", "H100 SXM", 8, False] == 55.04
    assert ("lambdalabs", "H100 SXM", 1, False) not in taken
    assert not any(gpu.startswith("v5p") for _, gpu, _, _ in taken)
    assert {row.date for row in rows} == {"2026-11-28"}
    assert fetched.left_out == (
        "lambdalabs H100 SXM at $0.00 an hour",
        "lambdalabs H100 SXM at $1,000,000,000 an hour",
    )


@pytest.mark.parametrize(
    ("price", "count", "kept_of"),
    [(0.01, 1, 0), (0.0, 8, 0), (1e7, 1, 0), (-1.0, 1, 0), (float("nan"), 1, 0),
     (0.10, 8, 0), (0.02, 1, 1), (17.8, 1, 1), (142.416, 8, 1)],
)  # fmt: skip
def test_rents_that_nobody_asks_are_left_out(price: float, count: int, kept_of: int) -> None:
    # 0.10 for eight is 0.0125 for each; AWS asks 142.416 for eight B300, 17.80 for each
    fetched = rents_of([Listed("aws", "a name", price, count, "B300", 269)], TODAY)
    assert (len(fetched.rows), len(fetched.left_out)) == (kept_of, 1 - kept_of)


def test_a_provider_that_the_list_lacks_keeps_its_prices_on_record() -> None:
    before = [row for row in tables.rent_rows() if provider_key(row.provider) == "nebius"]
    assert before
    keep_fetched(RENTS, rents_of([row for row in RECORDED if row.provider != "nebius"], TODAY).rows)
    tables.rent_rows.cache_clear()
    after = [row for row in tables.rent_rows() if provider_key(row.provider) == "nebius"]
    assert after == before


@pytest.mark.parametrize(
    "price", [(0.0, 0.0, None), (1e7, 2e7, None), (0.5, 0.0, 0.1), (0.5, 1.0, 0.6), (-1, 1, None)]
)
def test_token_prices_of_nothing_or_millions_are_left_out(price) -> None:
    # the fourth: cached input dearer than other input
    fetched = calls_of(lambda *_: price, TODAY)
    assert fetched.rows == ()
    assert len(fetched.left_out) == sum(map(len, tables.api_price_rows().values()))
    assert fetched.left_out[0].endswith(" a million tokens")


def test_what_was_fetched_stands_for_what_the_provider_asked_before() -> None:
    before = {row.provider for row in tables.rent_rows()}
    assert "vast.ai" in before
    keep_fetched(RENTS, rents_of(RECORDED, TODAY).rows)
    tables.rent_rows.cache_clear()
    after = tables.rent_rows()
    assert not {"vast.ai", "Vast.ai"} & {row.provider for row in after}
    cheapest = next(row for row in after if row.gpu == "RTX 3090")
    assert (cheapest.provider, cheapest.usd) == ("vastai", 0.19)
    assert not any(row.spot for row in after)


def test_providers_are_told_by_their_plain_names() -> None:
    assert provider_key("Vast.ai") == provider_key("vastai") == provider_key("vast.ai")
    assert provider_key("runpod (secure)") == "runpod"
    assert provider_key("Amazon Web Services") == provider_key("aws")


def test_api_prices_of_today_stand_in_place_of_the_bundled_ones() -> None:
    rows = calls_of(
        lambda provider, _: (0.5, 1.5, 0.1) if provider == "openrouter" else None, TODAY
    ).rows
    assert rows
    assert {row.provider for row in rows} == {"openrouter"}
    keep_fetched(CALLS, rows)
    tables.api_price_rows.cache_clear()
    known = {row.provider: row for row in tables.api_price_rows()["DeepSeek-R1"]}
    assert (known["openrouter"].usd_per_mtok_in, known["openrouter"].date) == (0.5, "2026-11-28")
    assert known["openrouter"].usd_per_mtok_cached == 0.1


def test_a_damaged_file_is_left_aside() -> None:
    keep_fetched(RENTS, rents_of(RECORDED, TODAY).rows)
    renewed.renewals(RENTS)[0].path.write_text("gpu,usd\nRTX 3090,cheap\n")
    assert renewed.rows(RENTS, PriceRow) == ()
    tables.rent_rows.cache_clear()
    assert "vast.ai" in {row.provider for row in tables.rent_rows()}


def test_a_source_that_never_answers_is_not_waited_for() -> None:
    with pytest.raises(NetworkError, match=r"no answer within 0.05 s\)"):
        within(0.05, lambda: time.sleep(5), "gpuhunt")


def test_a_source_that_fails_is_reported(monkeypatch, capsys) -> None:
    def down(*_: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(prices, "by_gpuhunt", down)
    monkeypatch.setattr(prices, "by_genai_prices", down)
    assert main(["prices", "refresh", "--seconds", "5"]) == 2
    told = "".join(capsys.readouterr())
    assert "gpuhunt gave no prices (Name or service not known). The table stays as it is." in told
    assert "genai-prices gave no prices" in told
    assert not renewed.renewals(RENTS)


def test_lists_without_a_usable_price_are_a_sentence_and_change_nothing(
    monkeypatch, capsys
) -> None:
    nonsense = [row for row in RECORDED if row.instance_name == "typing error"]
    for machines, why in (
        (nonsense, "lambdalabs H100 SXM at $0.00 an hour; lambdalabs H100 SXM at"),
        ([], "it has none of the known names"),
    ):
        monkeypatch.setattr("advisor.refresh.prices.by_gpuhunt", lambda machines=machines: machines)
        monkeypatch.setattr("advisor.refresh.prices.by_genai_prices", lambda: lambda *_: None)
        assert main(["prices", "refresh"]) == 2
        told = "".join(capsys.readouterr())
        assert f"The source of rents gave no usable row ({why}" in told
        assert told.count("The table stays as it is.") == 2
    assert not renewed.renewals(RENTS)
    assert not renewed.renewals(CALLS)


def test_implausible_offers_are_named(monkeypatch, capsys) -> None:
    monkeypatch.setattr(prices, "by_gpuhunt", lambda: RECORDED)
    monkeypatch.setattr(
        "advisor.refresh.prices.by_genai_prices", lambda: lambda *_: (0.0, 0.0, None)
    )
    assert main(["prices", "refresh"]) == 0
    told = "".join(capsys.readouterr())
    assert "Left out: lambdalabs H100 SXM at $0.00 an hour; " in told
    assert "gave no usable row" in told
    assert len(renewed.rows(RENTS, PriceRow)) == 4


def test_one_source_is_enough(monkeypatch, capsys) -> None:
    def missing() -> object:
        return prices._package("no_such_package")

    monkeypatch.setattr(prices, "by_gpuhunt", missing)
    monkeypatch.setattr(
        "advisor.refresh.prices.by_genai_prices", lambda: lambda *_: (0.1, 0.2, None)
    )
    assert main(["prices", "refresh"]) == 0
    told = "".join(capsys.readouterr())
    assert "pip install 'offload-advisor[prices]'" in told
    assert "rows kept" in told
    assert renewed.renewals(CALLS)


def test_the_command_says_how_old_prices_are(capsys) -> None:
    assert main(["prices"]) == 0
    assert "older than 90 days" in capsys.readouterr().out
    assert main(["prices", "refresh", "--seconds", "0"]) == 2


def test_the_age_of_prices_is_counted_by_hand() -> None:
    # 90 days before 2026-11-22 is 2026-08-24; a month counts from its end
    days = ("2026-08-24", "2026-08-23", "2026-08", "2025", "")
    assert price_ages("rents", days, date(2026, 11, 22)) == {
        "what": "rents",
        "prices": 5,
        "oldest": "2025",
        "newest": "2026-08-24",
        "older_than_90_days": 2,
        "without_date": 1,
    }
