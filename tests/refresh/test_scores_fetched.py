"""Newer scores from rows of the leaderboard's data set."""

import json

import pytest

from advisor.advice.finder.runnable import quality_rows
from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError
from advisor.refresh.scores import rated, renewed
from lab.leaderboard import as_csv


def line(name: str, rating: float, category: str = "overall", **more: object) -> dict[str, object]:
    return {
        "category": category,
        "model_name": name,
        "rating": rating,
        "rating_lower": rating - 5.6,
        "rating_upper": rating + 5.6,
        **more,
    }


def board(*rows: dict[str, object], day: str = "2026-11-20") -> str:
    return json.dumps({"meta": {"leaderboard_publish_date": day}, "rows": rows})


def test_the_overall_scores_of_a_copy_and_of_the_viewer_are_read() -> None:
    copy = board(line("a", 1437.6), line("a", 1500.0, "coding"))
    viewer = {"rows": [{"row": line("a", 1437.6, leaderboard_publish_date="2026-11-20")}]}
    for text in (copy, json.dumps(viewer)):
        (row,) = rated(text).values()
        assert (row.score, row.plus_minus, row.date) == (1438, 6, "2026-11-20")


def test_a_newer_score_replaces_an_older_one_and_none_goes() -> None:
    before = quality_rows()
    name = before["gpt-oss-20b"].rated_as
    new = renewed(before, rated(board(line(name, 1600.0))), "https://a.page", "2026-11-23")
    assert {row.model for row in new} == set(before)
    assert (new[0].model, new[0].score, new[0].source) == ("gpt-oss-20b", 1600, "https://a.page")
    old = renewed(before, rated(board(line(name, 1600.0), day="2025-01-01")), "x", "2026-11-23")
    assert set(old) == set(before.values())


def test_what_is_written_is_what_is_shipped() -> None:
    shipped = (DATA / "models/quality.csv").read_text(encoding="utf-8")
    assert as_csv(tuple(quality_rows().values())) == shipped


@pytest.mark.parametrize(
    "text", ["", "[]", '{"rows": 3}', '{"rows": []}', board(line("a", 1.0), day="soon")]
)
def test_another_file_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputError, match=r"scores|day"):
        rated(text)
