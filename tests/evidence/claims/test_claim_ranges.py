"""A figure beside the claimed range: the comparison, ranges of ratios, the words."""

import numpy as np
import pytest

from advisor.cost_model.uncertainty import Range
from advisor.errors import DataError
from advisor.evidence.claims.scenarios import Claimed, exact, holds, ratio, reaches


@pytest.mark.parametrize(
    ("ours", "low", "high", "held"),
    [
        (4.0, 3, 6, True),
        (2.7, 3, 6, True),  # people round: a tenth to spare
        (2.6, 3, 6, False),
        (6.6, 3, 6, True),
        (6.8, 3, 6, False),
        (4.9, 5, None, False),  # a limit is a limit
        (4.96, 5, None, True),  # shown as 5.0
        (5.1, None, 5, False),
        (np.inf, 3, None, True),
        (np.nan, None, 6, False),
    ],
)
def test_a_figure_holds_within_rounding(ours, low, high, held) -> None:
    claimed = Claimed(low=low, high=high, unit="tokens/s")
    assert bool(holds(exact(ours), claimed)) is held


def test_a_range_that_reaches_the_claim_does_not_make_it_hold() -> None:
    ours = Range(value=2.0, low=1.0, high=4.0)
    claimed = Claimed(low=3, high=6, unit="tokens/s")
    assert not holds(ours, claimed)
    assert reaches(ours, claimed)
    assert not reaches(Range(value=2.0, low=1.5, high=2.5), claimed)


def test_common_errors_cancel_in_a_ratio() -> None:
    above = Range(value=8.0, low=4.0, high=16.0)
    below = Range(value=2.0, low=1.0, high=4.0)
    together, apart = (ratio(above, below, together=number) for number in (True, False))
    assert (together.value, together.low, together.high) == (4, 4, 4)
    # ln 2 twice, at right angles: e^(0.693 x 1.414) = 2.67
    assert apart.high / apart.value == pytest.approx(2.665, rel=1e-3)
    assert apart.value / apart.low == pytest.approx(2.665, rel=1e-3)


def test_the_reciprocal_of_a_range_swaps_its_ends() -> None:
    assert Range(value=2.0, low=1.0, high=4.0).inverse == Range(value=0.5, low=0.25, high=1.0)


@pytest.mark.parametrize(
    ("low", "high", "unit", "words"),
    [
        (3, 6, "tokens/s", "3 to 6 tokens/s"),
        (0.5, 1.5, "tokens/s", "0.5 to 1.5 tokens/s"),
        (200, None, "GB", "at least 200 GB"),
        (None, 40, "replies", "at most 40 replies a day"),
        (None, 1, "settings", "at most 1 setting"),
        (None, None, "%", ""),
    ],
)
def test_a_range_is_worded_as_in_the_claim(low, high, unit, words) -> None:
    assert Claimed(low=low, high=high, unit=unit).words == words


def test_an_unknown_unit_is_reported() -> None:
    with pytest.raises(DataError, match="no unit is called 'furlong'"):
        Claimed(low=1, high=2, unit="furlong")
