"""Descriptions of charts: words, numbers and colours that every painter shares."""

import pytest
from saved_reports import sample

from advisor.reports import charts
from advisor.reports.charts import COLOURS
from advisor.reports.document import TIME_PARTS, OptionRow, TimePart


def times(*names: str) -> list[TimePart]:
    return [TimePart(placement="cpu-offload", part=name, seconds=0.25) for name in names]


def test_parts_of_a_token_have_words_and_shares() -> None:
    (bar,) = charts.token_time(times("resident", "in_place", "token", "layers")).bars
    assert [part.size for part in bar.parts] == [25.0] * 4
    assert [part.name for part in bar.parts] == [
        TIME_PARTS[name] for name in ("resident", "in_place", "layers", "token")
    ]
    assert bar.figure.startswith("1.0 s a token, 25 % ")


def test_a_known_part_has_the_same_colour_in_every_chart() -> None:
    alone = charts.token_time(times("paged")).bars[0].parts[0].colour
    among = {part.name: part.colour for part in charts.token_time(times(*TIME_PARTS)).bars[0].parts}
    assert among[TIME_PARTS["paged"]] == alone
    assert sorted(among.values()) == list(range(len(COLOURS)))


def test_parts_of_other_versions_differ_in_colour() -> None:
    colours = [
        part.colour for part in charts.token_time(times("GPU", "in_place", "RAM")).bars[0].parts
    ]
    assert len(set(colours)) == 3
    many = charts.token_time(times(*(f"part {number}" for number in range(20))))
    assert {part.colour for part in many.bars[0].parts} == set(range(len(COLOURS)))


def test_a_chart_has_a_text_for_people_who_cannot_see_it() -> None:
    alt = charts.memory_use(sample().memory).alt
    assert "Offload to RAM, VRAM: 22.6 GB of 24.0 GB" in alt
    assert "in_place" not in charts.token_time(times(*TIME_PARTS)).alt


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({"upfront_usd": 700.0, "monthly_usd": 19.4}, "$700 once, $19 a month"),
        ({"upfront_usd": 0.0, "monthly_usd": 0.0}, "free"),
        ({"usd_per_million_tokens": 0.6}, "$0.60 per million tokens"),
        ({}, ""),
    ],
)
def test_costs_are_worded_as_people_word_them(costs: dict[str, float], words: str) -> None:
    assert charts.cost_words(OptionRow(kind="add", name="x", **costs)) == words
