"""Headings and conclusion of reports side by side."""

from dataclasses import replace

import pytest
from saved_reports import sample, saved

from advisor.reports.comparison import compared, conclusion, distinct
from advisor.reports.document import OptionRow, PlacementCard, ReportDocument


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (
            ("8B, Q4_K_M, on RTX 3090, 64 GB", "8B, Q4_K_M, on RTX 4090, 64 GB"),
            ("RTX 3090", "RTX 4090"),
        ),
        (("mine, Q4_K_M", "mine, Q8_0", "mine, AWQ"), ("Q4_K_M", "Q8_0", "AWQ")),
        (("office", "office, with a card"), ("office", "office, with a card")),
        (("at home", "in the office"), ("at home", "in the office")),
    ],
)
def test_headings_leave_out_what_all_names_share(names, labels) -> None:
    assert distinct(names) == labels


def card(speed: float, gpu: str, hours: float, **changes: object) -> ReportDocument:
    """Report with one speed, and the waiting of what is kept."""
    shown = PlacementCard(
        runtime="llama.cpp",
        placement="gpu-resident",
        title="x",
        fits=True,
        decode_tps=speed,
        shown=True,
    )
    kept = OptionRow(kind="keep", name=gpu, decode_tps=speed, hours_lost=hours)
    return replace(sample(), placements=(shown,), options=(kept,), gpu=gpu, **changes)


def test_the_conclusion_says_how_much_faster_what_it_costs_and_what_it_saves() -> None:
    slow = card(4.9, "RTX 3060 12GB", 1.0)
    offered = OptionRow(kind="replace", name="RTX 3090", decode_tps=26.0, upfront_usd=990.0)
    slow = replace(slow, options=(*slow.options, offered))
    fast = card(26.0, "RTX 3090", 0.6)
    told = conclusion(("A", "B"), (slow, fast))
    # 26 / 4.9 = 5.3; 1.0 - 0.6 hours are 24 minutes
    assert told == (
        "B is 5.3 times as fast as A: 26 instead of 4.9 tokens/s. Its card, RTX 3090, costs $990. "
        "It saves 24 min of waiting a month."
    )


def test_alike_and_impossible_answers_are_concluded_in_words() -> None:
    alike = card(10.0, "RTX 3090", 1.0)
    none = replace(sample(), placements=())
    assert conclusion(("A", "B"), (alike, alike)) == "They are equally fast: 10 tokens/s."
    assert conclusion(("A", "B"), (alike, none)) == "A alone runs it."
    assert conclusion(("A", "B"), (none, none)) == "None of them runs it."


def test_options_are_named_by_their_kind() -> None:
    reports = [saved(id=1), saved(id=2, name="other")]
    labels = [row[0] for table in compared(reports).tables for row in table.rows]
    assert not any(label.startswith("option ") for label in labels)
