"""Forecasts: none changes unseen, and later figures alone judge them."""

import csv
from pathlib import Path

import pytest

from advisor.evidence.published.row import PublishedRow
from lab import forecasts
from lab.forecasts import FORECASTS, digest, judged, later

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
RUN = {
    "id": "1",
    "category": "resident",
    "runtime": "llama.cpp CUDA",
    "gpu": "RTX 3090",
    "model": "Llama-3.1-8B",
    "quant": "Q4_K_M",
    "ngl": "999",
    "context_depth": "0",
    "tg_tps": "140",
    "date": "2026-12",
    "source_note": "test=tg128",
}


def forecast_days() -> set[str]:
    with FORECASTS.open(encoding="utf-8", newline="") as file:
        return {row["day"] for row in csv.DictReader(file)}


def test_the_page_states_the_digest_of_every_day() -> None:
    text = PAGE.read_text(encoding="utf-8")
    days = forecast_days()
    assert days
    for day in days:
        assert f"- {day}: `{digest(day)}`" in text


@pytest.mark.parametrize(
    ("date", "after"),
    [
        ("2026-12", True),
        ("2026-11", False),
        ("2026-11-24", True),
        ("2026-11-23", False),
        ("2026", False),
        ("2027", True),
    ],
)
def test_a_figure_judges_what_was_forecast_before_it(date: str, after: bool) -> None:
    assert later(date, "2026-11-23") is after


def test_a_later_run_of_the_same_card_and_model_judges_a_forecast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = list(judged([PublishedRow(RUN), PublishedRow({**RUN, "date": "2026-10"})]))
    assert {row.day for row in pairs} == forecast_days()
    for row in pairs:
        assert row.measured == 140.0
        assert row.gpu == "RTX 3090"
    others = {**RUN, "quant": "Q5_K_M"}
    assert not list(judged([PublishedRow(others)]))
    monkeypatch.setattr(forecasts, "published", lambda: ())
    assert forecasts.main() == 0
