"""Scores of rows that nothing was fitted to."""

import math

import pytest

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.evidence.accuracy.fresh import fresh_scores, last_scores
from advisor.evidence.published.row import PublishedRow
from lab import fresh


def point(group: str, predicted: float, *, date: str = "2026-10") -> AccuracyPoint:
    """A figure of 10 tokens/s beside its prediction, with a range of a factor of two."""
    return AccuracyPoint(
        id="1",
        regime="resident, dense",
        group=group,
        gpu="",
        cpu="",
        model="",
        date=date,
        measured=10.0,
        predicted=predicted,
        below=math.log(2.0) / 2.0,
        above=math.log(2.0) / 2.0,
        source="",
    )


def test_a_score_by_hand() -> None:
    # One publisher with two figures, 10 % and 30 % too fast, and another 50 % too slow, which the
    # range of 3.5 to 7.1 tokens/s does not hold: ln(10 / 7.07) = 0.347 outside, ten times that.
    points = [point("a on x", 11.0), point("a on x", 13.0), point("b on y", 5.0)]
    score = fresh.score("all", points, "2026-11-28", "abc")
    assert (score.rows, score.groups, score.publishers) == (3, 2, 2)
    assert score.error == pytest.approx((0.2 + 0.5) / 2)
    assert score.row_error == pytest.approx(0.3)
    assert score.held == pytest.approx(0.5)
    assert score.row_held == pytest.approx(2 / 3, abs=1e-3)
    assert score.bias == pytest.approx(math.sqrt(math.sqrt(1.1 * 1.3) * 0.5), rel=1e-3)
    assert score.interval == pytest.approx(math.log(2.0) + 0.347 * 10.0 / 2.0, rel=1e-2)


def test_a_doubtful_row_is_not_scored() -> None:
    row = {
        "id": "1",
        "runtime": "llama.cpp CUDA",
        "gpu": "RTX 3090",
        "model": "Llama-3.1-8B",
        "quant": "Q4_K_M",
        "ngl": "999",
        "tg_tps": "130",
        "publisher": "somebody",
    }
    told = list(fresh.figures([PublishedRow(row), PublishedRow({**row, "doubtful": "True"})]))
    assert [figure.family for figure in told] == ["llama.cpp family"]
    assert told[0].point.group == "somebody on RTX 3090"


def test_kept_scores_are_of_strangers_as_they_were_met() -> None:
    families = {row.kind for row in last_scores()}
    assert {"llama.cpp family", "other engines", "drafted"} <= families
    assert [row.day for row in fresh_scores()] == sorted(row.day for row in fresh_scores())
