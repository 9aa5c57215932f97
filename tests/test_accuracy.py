"""The ledger: every row once, judged by a model that did not see its group."""

from pathlib import Path

import numpy as np
import pytest

from advisor.accuracy import Point, markdown, points, scores


@pytest.fixture(scope="module")
def found() -> tuple[Point, ...]:
    return points()


def point(measured: float, predicted: float, half_width: float = 0.2) -> Point:
    return Point(
        id="x", regime="r", gpu="", cpu="", model="m", measured=measured, predicted=predicted,
        half_width=half_width, source="https://example.com",
    )  # fmt: skip


def test_scores_by_hand() -> None:
    # Errors of 10, 20 and 50 %; exp(0.2) = 1.22: the first two lie within their range.
    (one, everything) = scores([point(10, 11), point(10, 12), point(10, 15)])
    assert one.rows == everything.rows == 3
    assert one.median == pytest.approx(0.2)
    assert one.mean == pytest.approx(0.8 / 3)
    assert one.within == pytest.approx(2 / 3)
    assert one.covered == pytest.approx(2 / 3)


def test_it_covers_the_published_rows_and_names_their_source(found: tuple[Point, ...]) -> None:
    assert len(found) > 650
    assert all(one.source.startswith("https://") for one in found)
    assert all(one.measured > 0 and one.predicted > 0 for one in found)


def test_rows_of_a_group_left_out_are_judged_harder_than_in_the_fit(
    found: tuple[Point, ...],
) -> None:
    # Left-out errors that were as small as noise would mean that nothing was left out.
    resident = [one for one in found if one.regime.startswith("resident")]
    off = np.abs(np.log([one.predicted / one.measured for one in resident]))
    assert float(np.quantile(off, 0.9)) > 0.1


def test_resident_predictions_beat_the_best_public_formula(found: tuple[Point, ...]) -> None:
    # Published formulas scored on these rows: the best is 19 % off at the median, 40 % at the mean.
    resident = [one for one in found if one.regime.startswith("resident")]
    error = np.abs(np.array([one.predicted / one.measured for one in resident]) - 1)
    assert float(np.median(error)) < 0.10
    assert float(np.mean(error)) < 0.20


def test_ranges_hold_about_four_times_in_five(found: tuple[Point, ...]) -> None:
    assert 0.74 <= scores(found)[-1].covered <= 0.88


def test_readme_shows_these_numbers(found: tuple[Point, ...]) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert markdown(scores(found)) in readme, "python -m advisor accuracy --markdown"
