"""Our own runs: types, ranges, provenance, and the constants that rest on them."""

import numpy as np
import own_rows
import pytest

from advisor.runtimes.llama_cpp.passes import OBSERVED
from lab.points import paged as paged_points
from lab.points.paged import OWN, rows
from lab.points.paged import paged as is_paged

ROWS = rows()
IN_RAM = [row for row in ROWS if row.category == "cpu"]
FROM_DRIVE = [row for row in ROWS if row.category == "nvme"]
PAGED = [row for row in ROWS if is_paged(row)]
LITTLE = 128  # KiB read ahead, as Linux does of itself
ON_GPU = [row for row in ROWS if row.gpu != own_rows.NO_GPU]


def test_every_row_has_a_number_of_its_own() -> None:
    assert [row.id for row in ROWS] == [f"own{number:04}" for number in range(1, len(ROWS) + 1)]
    assert len(IN_RAM) + len(PAGED) + len(ON_GPU) == len(ROWS)


def test_numbers_are_in_their_ranges(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(str(row.id)):
            own_rows.check_ranges(row)


def test_a_row_states_what_ran_where_and_how(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(str(row.id)):
            own_rows.check_what_ran_where_and_how(row)


def test_the_shape_gives_the_size_that_is_stated(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(str(row.id)):
            own_rows.check_shape(row)


def test_rows_from_the_drive_tell_of_drive_and_cache(subtests: pytest.Subtests) -> None:
    for row in FROM_DRIVE:
        with subtests.test(row.id):
            own_rows.check_drive(row)


@pytest.mark.skipif(not ON_GPU, reason="no row of a machine with a GPU yet")
def test_rows_on_gpus_keep_the_promises_of_the_probe() -> None:
    own_rows.check_promises(entry for entry in ON_GPU if not entry.doubtful)


def test_rows_keep_the_promises_of_the_probe() -> None:
    errors = [abs(row.predicted_tps / row.tg_tps - 1.0) for row in IN_RAM]
    assert np.median(errors) <= own_rows.MEDIAN
    assert max(errors) <= own_rows.WORST
    assert all(entry.rounds >= 3 for entry in IN_RAM)


def test_models_are_of_all_kinds() -> None:
    assert len({(row.model, row.quant) for row in IN_RAM}) >= 8
    assert {row.quant for row in IN_RAM} >= {"Q4_K_M", "Q6_K", "Q8_0", "F16", "Q4_0"}
    assert {row.context_depth for row in IN_RAM} == {128, 4096}
    assert min(row.params_b for row in IN_RAM) < 0.7
    assert max(row.params_b for row in IN_RAM) > 7.9
    assert any(entry.experts for entry in IN_RAM)
    assert any(entry.experts for entry in PAGED)
    assert any(not entry.experts for entry in PAGED)


def test_the_constants_of_paging_match_the_rows() -> None:
    assert paged_points.fitted(paged_points.watched()) == OBSERVED


def test_each_paged_row_is_predicted_without_itself() -> None:
    points = list(paged_points.points())
    assert [item.id for item in points] == [
        watched.row.id for watched in paged_points.watched() if watched.pages
    ]
    read_ahead = {watched.row.id: watched.row.read_ahead_kib for watched in paged_points.watched()}
    # Small experts are hit more often than in proportion, which shows where little comes in beside.
    hit = [item for item in points if "MoE 2.6B" in item.model and read_ahead[item.id] == LITTLE]
    assert len(hit) == 3
    for point in points:
        factor = point.predicted / point.measured
        most = own_rows.FROM_DRIVE
        assert (0.3 if point in hit else 1 / most) < factor < most, point.id
        assert point.low < point.predicted < point.high


def test_a_row_left_out_does_not_teach_its_own_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = paged_points.watched()
    taught: list[set[str]] = []
    monkeypatch.setattr(
        paged_points,
        "fitted",
        lambda others: taught.append({other.row.id for other in others}) or OBSERVED,
    )
    list(paged_points.points())
    whole = {run.row.id for run in runs}
    assert taught == [whole - {run.row.id} for run in runs if run.pages]


def test_rereads_match_observed_ones() -> None:
    # Of a scan that does not fit all is read again, of one that fits nothing.
    for watched in paged_points.watched():
        if not watched.row.experts:
            share = watched.again(OBSERVED).total / watched.needed
            assert share == pytest.approx(watched.read / watched.needed, abs=0.25), watched.row.id


def test_the_file_ends_as_lines_do() -> None:
    assert OWN.read_bytes().endswith(b"\n")
    assert b"\r" not in OWN.read_bytes()
