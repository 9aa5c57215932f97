"""Scores by publisher and card, by hand."""

import math

import pytest

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.evidence.accuracy.scoring import stranger_score
from advisor.evidence.accuracy.text import newest, stranger_scores


def point(group: str, predicted: float, **more: object) -> AccuracyPoint:
    """A figure of 10 tokens/s with a range of 1.2 times to either side."""
    usual = {
        "id": group, "regime": "resident, dense", "group": group, "gpu": "", "cpu": "",
        "model": "m", "measured": 10.0, "predicted": predicted, "source": "https://e.com",
        "below": math.log(1.2), "above": math.log(1.2),
    }  # fmt: skip
    return AccuracyPoint(**{**usual, **more})  # type: ignore[arg-type]


def test_a_sweep_counts_as_much_as_a_single_run() -> None:
    # A sweep of 10 % and three single runs of 0, 20 and 100 %: the median of 0, 10, 20 and 100.
    sweep = [point("a on RTX 3090", 11.0) for _ in range(50)]
    alone = [point("b on RTX 3090", 10.0), point("c on M2", 12.0), point("d on M2", 20.0)]
    score = stranger_score("x", [*sweep, *alone])
    assert (score.groups, score.publishers, score.rows) == (4, 4, 53)
    assert score.error == pytest.approx(0.15)
    assert score.held == pytest.approx(3 / 4)
    assert score.width == pytest.approx(1.44)
    # Width of each, and of the last ten times what lies outside: ln(2 / 1.2) = 0.511.
    outside = 10.0 * math.log(2.0 / 1.2)
    assert score.interval == pytest.approx(2 * math.log(1.2) + outside / 4)


def test_runs_are_scored_by_their_date_and_by_the_age_of_the_architecture() -> None:
    runs = [
        point("a on x", 10.0, date="2026-09-04", first_seen="2026-08"),
        point("b on x", 12.0, date="2026-02", first_seen="2024-07"),
        point("c on x", 12.0, date="2024-02"),
    ]
    assert [(score.name, score.groups) for score in stranger_scores(runs, "by age")] == [
        ("younger than 3 months", 1),
        ("older", 1),
    ]
    assert [score.name for score in stranger_scores(runs, "by date")] == [
        "before 2025",
        "2026, to April",
        "2026, from August",
    ]
    assert newest(runs) == "2026-09"
