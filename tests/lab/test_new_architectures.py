"""Width of ranges of layers that nobody timed, by architectures that were left out of the fit."""

import pytest

from advisor.model.architecture import NEW_LAYERS
from lab.new_architectures import FEWEST, NewArchitectureRow, kept, width


def test_the_constant_holds_four_in_five_of_the_architectures_that_were_left_out() -> None:
    table = kept()
    assert len(table) >= 10
    assert all(row.publishers >= FEWEST for row in table)
    assert width(table) == pytest.approx(NEW_LAYERS, abs=0.015)


def test_the_width_is_the_distance_within_which_four_in_five_lie() -> None:
    errors = (0.5, -0.4, 0.3, -0.2, 0.1, 0.0)
    table = [
        NewArchitectureRow(kinds="", publishers=2, rows=2, error=error, source="")
        for error in errors
    ]
    assert width(table) == pytest.approx(0.4)  # five of six, the fourth of five steps
