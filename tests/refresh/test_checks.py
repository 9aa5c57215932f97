"""Checks of whole tables: the package's own tables pass, and what cannot be is named."""

import json
from dataclasses import fields, replace

import pytest

from advisor.advice.finder.runnable import quality_rows
from advisor.advice.prices.rows import (
    PriceRow,
    api_price_rows,
    price_rows,
    rent_rows,
    usual_prices,
)
from advisor.machine.catalog import GPUS
from advisor.model.by_name.hub_list import RenewedModelRow, doubted_models, hub_list, of_sizes
from advisor.model.by_name.listed import listed
from advisor.refresh import checks
from advisor.request.money import RateRow

RENT = next(row for row in rent_rows() if row.gpu == "RTX 4090")
SALE = next(row for row in price_rows() if row.gpu == "RTX 4090" and row.kind == "purchase")
CALLS = [row for rows in api_price_rows().values() for row in rows]


@pytest.mark.parametrize(
    "doubts",
    [
        checks.of_rents(rent_rows()),
        checks.of_sales(price_rows()),
        checks.of_calls(CALLS),
        checks.of_scores(tuple(quality_rows().values())),
        checks.of_cards(GPUS.rows()),
        checks.of_usual_prices(usual_prices()),
    ],
    ids=("rents", "sales", "calls", "scores", "cards", "usual prices"),
)
def test_the_tables_of_the_package_pass(doubts) -> None:
    assert [doubt.why for doubt in doubts] == []


def test_every_known_difference_is_one() -> None:
    rows = GPUS.rows()
    for card, greater, field in checks.known_differences():
        if field == "usd":
            prices = usual_prices()
            assert prices[card, "used"].usd > prices[greater, "used"].usd
        else:
            assert getattr(rows[card], field) > getattr(rows[greater], field)


@pytest.mark.parametrize(("usd", "doubted"), [(1.0, 0), (3.9, 0), (4.1, 1), (0.11, 0), (0.09, 1)])
def test_a_rent_far_from_its_segment_is_named(usd: float, doubted: int) -> None:
    usual = [replace(RENT, usd=1.0, gpu_count=1, provider=f"p{at}") for at in range(4)]
    rows = [*usual, replace(RENT, usd=usd, gpu_count=1, provider="odd")]
    doubts = [*checks.of_rents(rows)]
    assert [doubt.row.provider for doubt in doubts] == ["odd"] * doubted


def test_a_price_double_its_segment_is_named() -> None:
    usual = [replace(SALE, usd=2000.0, provider=f"shop {at}") for at in range(4)]
    doubts = [*checks.of_sales([*usual, replace(SALE, usd=4100.0), replace(SALE, usd=950.0)])]
    assert {doubt.row.usd for doubt in doubts} == {4100.0, 950.0}
    assert "where 6 ask $2,000 in the middle" in doubts[0].why


def test_a_sale_dearer_than_the_greater_card_is_named() -> None:
    def sale(gpu: str, usd: float) -> PriceRow:
        return replace(SALE, gpu=gpu, usd=usd, gpu_count=1, condition="used")

    above = [sale("RTX 3090 Ti", 850.0), sale("RTX 3090 Ti", 950.0)]
    assert [*checks.of_sales([*above, sale("RTX 3090", 1300.0)])] == []  # 1.44 times the middle
    odd = sale("RTX 3090", 1400.0)
    assert [doubt.row for doubt in checks.of_sales([*above, odd])] == [odd]
    assert [*checks.of_sales([above[0], odd])] == []  # a single price may be the odd one


@pytest.mark.parametrize(
    "change",
    [{"scale": ""}, {"rated_as": ""}, {"date": ""}, {"source": ""}, {"score": 40.0},
     {"score": float("nan")}, {"score": 1e9}, {"plus_minus": 900.0}, {"score": 1900.0}],
)  # fmt: skip
def test_a_score_without_its_board_or_beyond_it_is_named(change) -> None:
    row = next(iter(quality_rows().values()))
    assert len([*checks.of_scores([replace(row, **change)])]) == 1
    assert [*checks.of_scores([row])] == []


def test_a_sibling_that_is_faster_or_dearer_than_it_can_be_is_named() -> None:
    rows = {name: GPUS.find(name) for name in ("RTX 4070", "RTX 4070 Ti", "RTX 4070 Ti SUPER")}
    assert [*checks.of_cards(rows)] == []
    faster = {**rows, "RTX 4070": replace(rows["RTX 4070"], bandwidth_gbs=5040.0)}
    assert "RTX 4070 has 5040 bandwidth_gbs, RTX 4070 Ti " in next(checks.of_cards(faster)).why
    prices = {("RTX 3090", "used"): replace(usual_prices()["RTX 3090", "used"], usd=1e5)}
    prices |= {("RTX 3090 Ti", "used"): replace(prices["RTX 3090", "used"], usd=1120.0)}
    assert "RTX 3090 Ti at $1120" in next(checks.of_usual_prices(prices)).why


def test_a_rate_that_doubles_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    euro = RateRow(currency="EUR", usd=1.15, date="2026-11-27", retrieved="", source="")
    monkeypatch.setattr(checks, "rate_rows", lambda: {"EUR": euro})
    assert [*checks.of_rates([euro, replace(euro, usd=1.3)])] == []
    assert next(checks.of_rates([replace(euro, usd=115.0)])).why == "EUR at $115 after $1.15"


@pytest.mark.parametrize(
    ("name", "params", "active", "doubted"),
    [
        ("owner/Model-7B", 7.6e9, 7.6e9, False),
        ("owner/Model-7B", 70e9, 70e9, True),
        ("owner/Model", 70e9, 70e9, False),
        ("owner/Model-26B-A3B", 26.5e9, 3e9, False),
        ("owner/Model-26B-A3B", 2.6e9, 0.3e9, True),
        # 4 billion weights in use, as Gemma counts them, and 100 billion words of text
        ("owner/Model-E4B", 7.5e9, 4.2e9, False),
        ("owner/Model-8B-1.58-100B-tokens", 8e9, 8e9, False),
    ],
)
def test_a_name_of_another_size_is_named(
    name: str, params: float, active: float, doubted: bool
) -> None:
    assert bool(checks.contradicted_name(name, params, active)) == doubted


LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 128256,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
}  # fmt: skip
OF_8B = 8_030_261_248  # Llama-3.1-8B: its safetensors on the Hub


@pytest.mark.parametrize(
    ("name", "parameters", "doubted"),
    [("owner/Next-8B", 0, False), ("owner/Next-70B", 0, True), ("owner/Next-70B", OF_8B, False),
     ("owner/Next-70B", 70_000_000_000, True)],
)  # fmt: skip
def test_a_config_of_another_size_than_its_name_is_named_unless_its_files_agree(
    name: str, parameters: int, doubted: bool
) -> None:
    row = RenewedModelRow(
        name=name,
        architecture="llama",
        parameters=parameters,
        layers=32,
        hidden=4096,
        heads=32,
        kv_heads=8,
        head_dim=128,
        vocab=128256,
        feed_forward=14336,
        shared_feed_forward=0,
        experts=0,
        experts_used=0,
        context=8192,
        released="2026-11-28",
        downloads=1,
        weight_bytes=0,
        refused="",
        config=json.dumps(LLAMA),
        tensors="",
        date="2026-11-28",
        source="",
    )
    doubts = [*checks.of_models([row])]
    assert [doubt.row for doubt in doubts] == [row] * doubted
    assert all(
        "its name says 70 B weights, its sizes count 8.03 B" in doubt.why for doubt in doubts
    )


# The package's list of models: what cannot be right is in its table, and nothing else.

SAMPLED = 25  # one in so many listed models is counted here; `python -m lab.listed_models` all


def test_every_doubted_model_of_the_list_is_named_and_no_other() -> None:
    rows = [*hub_list()]
    doubted = doubted_models()
    assert doubted.keys() <= {row.name for row in rows}
    sample = [row for at, row in enumerate(rows) if at % SAMPLED == 0 or row.name in doubted]
    assert {doubt.row.name: doubt.why for doubt in checks.of_models(sample)} == doubted


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("Qwen/Qwen3-8B", {"layers": 72}, "its files hold 8.191 B weights, its sizes count 15"),
        ("Qwen/Qwen3-8B-AWQ", {"layers": 288}, "its name says 8 B weights, its sizes count 56"),
        (
            "Qwen/Qwen3-8B-AWQ",
            {"context": 8192},
            "below the 40,960 of Qwen/Qwen3-8B, which it pack",
        ),
    ],
)
def test_a_listed_model_that_cannot_be_right_is_named(name: str, change, why: str) -> None:
    row = hub_list().named(name)
    assert row is not None
    assert [*checks.of_models([row])] == []
    assert why in next(checks.of_models([replace(row, **change)])).why


def test_a_fetched_copy_whose_context_is_below_its_bases_is_kept_out() -> None:
    base = hub_list().named("Qwen/Qwen3-8B")
    assert base is not None
    columns = (field.name for field in fields(RenewedModelRow))
    sizes = {name: getattr(base, name) for name in columns if hasattr(base, name)}
    copy = RenewedModelRow(
        **{**sizes, "name": "somebody/Qwen3-8B-oQ4", "context": 8192},
        downloads=1,
        weight_bytes=0,
        refused="",
        config=json.dumps({**LLAMA, "model_type": "qwen3"}),
        tensors="",
        date="2026-11-28",
        source="",
    )
    assert "below the 40,960 of Qwen/Qwen3-8B" in next(checks.of_models([copy])).why
    assert [*checks.of_models([replace(copy, context=40_960)])] == []


def test_a_copy_with_as_long_a_context_in_other_words_is_none() -> None:
    """128,000 and 131,072 tokens: LFM2.5-2.6B and its copies."""
    row = hub_list().named("mlx-community/LFM2.5-2.6B-4bit")
    base = hub_list().named("LiquidAI/LFM2.5-2.6B")
    assert row is not None
    assert base is not None
    assert row.context < base.context
    assert [*checks.of_models([row])] == []


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        # max_position_embeddings of their config.json, which count their stretched positions
        ("unsloth/Llama-3.1-8B-unsloth-bnb-4bit", 131_072),
        ("unsloth/gemma-3-12b-it", 131_072),
        ("huihui-ai/Llama-3.2-1B-Instruct-abliterated", 131_072),
        # a name that states its context is meant
        ("gradientai/Llama-3-8B-Instruct-Gradient-1048k", 1_048_576),
        ("nvidia/Llama-3.1-Nemotron-8B-UltraLong-1M-Instruct", 1_073_152),
    ],
)
def test_positions_that_are_stretched_are_counted_once(name: str, limit: int) -> None:
    row = hub_list().named(name)
    assert row is not None
    assert row.max_context == limit
    assert listed(row).architecture.max_context == limit


def test_no_model_takes_its_sizes_from_a_doubted_one() -> None:
    packed = hub_list().named("mlx-community/Laguna-XS.2-4bit")
    assert packed is not None
    assert packed.name in doubted_models()
    assert packed not in [*of_sizes(packed)]
    assert packed in [*hub_list().of_sizes(packed)]
