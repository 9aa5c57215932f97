"""The ledger: every row once, judged by a model that did not see its group."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from advisor.catalog.accuracy_points import PEERS, POINTS, AccuracyPoint
from advisor.cli.main import main
from advisor.evidence.accuracy.regimes import COVERAGE, REGIMES, coverage, regime_of
from advisor.evidence.accuracy.scoring import (
    FLOOR,
    SIMULATED,
    UNSEEN_SCORE,
    Ledger,
    chance,
    scores,
    shipped_ledger,
)
from advisor.evidence.accuracy.text import (
    FRONT,
    floor_sentence,
    front_page,
    markdown,
    plain,
    record,
)
from advisor.evidence.published.row import PublishedRow
from lab.ledger import ledger, noise_floor, tables
from lab.llama_cpp import published
from lab.points.llama_cpp import fitted, ram_rate, runs, sweeps

ROOT = Path(__file__).parents[3]
SPEEDS = ("measured", "predicted", "below", "above")
SLOWEST_ROW = "dense split, RAM from its slowest row"


@pytest.fixture(scope="module")
def whole_ledger() -> Ledger:
    return ledger()


@pytest.fixture(scope="module")
def resident(whole_ledger: Ledger) -> list[AccuracyPoint]:
    return [
        point
        for point in whole_ledger.points
        if point.regime.startswith("resident") and point.peers
    ]


def point(
    measured: float, predicted: float, half_width: float = 0.2, **more: object
) -> AccuracyPoint:
    return AccuracyPoint(
        **{
            "id": "x",
            "regime": "r",
            "group": "g",
            "gpu": "",
            "cpu": "",
            "model": "m",
            "measured": measured,
            "predicted": predicted,
            "below": half_width,
            "above": half_width,
            "source": "https://example.com",
            **more,
        }
    )


def row(**changed: str) -> PublishedRow:
    first = published()[0]
    return PublishedRow({**first.cells, **changed})


def test_scores_by_hand() -> None:
    # Errors of 10, 20 and 50 %; exp(0.2) = 1.22: the first two lie within their range.
    (score, everything) = scores([point(10, 11), point(10, 12), point(10, 15)])
    assert score.rows == everything.rows == 3
    assert score.median == pytest.approx(0.2)
    assert score.mean == pytest.approx(0.8 / 3)
    assert score.within == pytest.approx(2 / 3)
    assert score.covered == pytest.approx(2 / 3)


def test_each_group_weighs_the_same_in_scores_by_group() -> None:
    # Errors of 10, 10 and 10 % in one group, of 50 % in another: the groups' medians are 10 and 50.
    points = [point(10, 11), point(10, 11), point(10, 11), point(10, 15, group="other")]
    (score, _) = scores(points)
    assert score.median == pytest.approx(0.1)
    assert score.group_median == pytest.approx(0.3)
    assert score.covered == pytest.approx(0.75)
    assert score.group_covered == pytest.approx(0.5)
    assert score.width == pytest.approx(np.exp(0.4))


def test_public_formulas_are_scored_on_the_rows_they_answer() -> None:
    record = "llmfit=20"
    points = [point(10, 11, peers=record), point(10, 12, peers=record), point(10, 15)]
    peer = scores(points)[0].best_peer
    assert peer is not None
    assert (peer.name, peer.rows) == ("llmfit", 2)
    assert (peer.median, peer.own_median) == pytest.approx((1.0, 0.15))


def test_a_formula_that_answers_few_rows_is_no_best() -> None:
    points = [point(10, 11, peers="llmfit=10"), point(10, 12), point(10, 15)]
    assert scores(points)[0].best_peer is None


def test_chance_counts_groups_and_not_rows() -> None:
    # One group: held or not. Ten of one row each, binomial of 10 and 0.8: P(X <= 5) = 0.033 and
    # P(X <= 6) = 0.121; P(X <= 9) = 0.893. Ten rows of one group tell no more than one.
    assert chance([1]) == chance([10]) == (0.0, 1.0)
    assert chance([1] * 10) == (0.6, 1.0)
    assert chance([7] * 10) == (0.6, 1.0)
    # Groups of 8, 1 and 1: 100 / 66 is one and a half, so two even ones.
    assert chance([8, 1, 1]) == chance([1, 1])


def test_kinds_of_a_single_build_or_of_several_users_come_last() -> None:
    names = ("several users, CPU alone", "MLX", "serving engines", "resident, dense")
    ordered = [score.regime for score in scores([point(1, 1, regime=name) for name in names])]
    assert ordered[:2] == ["resident, dense", "serving engines"]
    assert set(ordered[2:4]) == {"MLX", "several users, CPU alone"}


def test_ranges_of_a_point() -> None:
    item = point(10, 8, half_width=np.log(1.25))
    assert (item.low, item.high) == pytest.approx((6.4, 10.0))
    assert item.held
    assert item.error == pytest.approx(-0.2)
    assert not point(10.1, 8, half_width=np.log(1.25)).held


def test_each_regime_can_be_reached_and_has_its_name_once() -> None:
    assert len({item.name for item in REGIMES}) == len(REGIMES)
    usual = {"deep": False, "experts": False, "ram": "", "together": False, "build": ""}
    for regime in REGIMES:
        assert regime_of({**usual, **regime.traits}) == regime.name
    assert regime_of({"category": "stream_cpu"}) == "stream_cpu"


def test_it_covers_the_published_rows_and_names_their_source(whole_ledger: Ledger) -> None:
    assert len(whole_ledger.points) > 650
    own = [point for point in whole_ledger.points if not point.published]
    assert {point.source for point in own} == {"benchmarks/engine.py", "benchmarks/gpu_engine.py"}
    assert all((ROOT / point.source).exists() for point in own)
    assert all(point.measured > 0 and point.predicted > 0 for point in whole_ledger.points)
    assert {point.regime for point in whole_ledger.points} <= {regime.name for regime in REGIMES}
    assert whole_ledger.scores[-1].rows == sum(score.rows for score in whole_ledger.scores[:-1])


def test_the_shipped_record_equals_the_commands_output(whole_ledger: Ledger) -> None:
    written = tables(whole_ledger)
    for path in (COVERAGE, FLOOR, SIMULATED, UNSEEN_SCORE):
        assert path.read_text(encoding="utf-8") == written[path]


def test_the_shipped_points_equal_the_commands_output(whole_ledger: Ledger) -> None:
    shipped = shipped_ledger()
    written = tables(whole_ledger)[POINTS]
    assert POINTS.read_text(encoding="utf-8").count("\n") == written.count("\n")
    for rows, own in (
        (shipped.points, whole_ledger.points),
        (shipped.doubtful, whole_ledger.doubtful),
    ):
        for row, point in zip(rows, own, strict=True):
            assert asdict(row) == {
                **asdict(point),
                "group": point.group.strip(),  # ends with "on " where no hardware is stated
                **{name: pytest.approx(getattr(point, name), rel=1e-5) for name in SPEEDS},
                "scored": row.scored,
            }
    held = [(score.regime, round(score.covered * score.rows)) for score in shipped.scores]
    assert held == [(row.regime, row.held) for row in coverage().values()]


def test_no_figure_is_counted_twice(whole_ledger: Ledger) -> None:
    keys = [
        (point.id, point.regime.startswith("prompt") or "first token" in point.regime)
        for point in whole_ledger.points
    ]
    assert len(set(keys)) == len(keys)


def test_rows_of_a_group_left_out_are_judged_harder_than_in_the_fit(
    resident: list[AccuracyPoint],
) -> None:
    # Left-out errors that were as small as noise would mean that nothing was left out.
    off = np.abs(np.log([point.predicted / point.measured for point in resident]))
    assert float(np.quantile(off, 0.9)) > 0.1


def test_resident_predictions_beat_the_best_public_formula(
    whole_ledger: Ledger, resident: list[AccuracyPoint]
) -> None:
    error = np.abs([point.error for point in resident])
    assert float(np.median(error)) < 0.12
    for score in whole_ledger.scores:
        if score.regime.startswith("resident"):
            assert all(peer.median > peer.own_median for peer in score.peers)


def test_public_formulas_have_their_published_errors(
    whole_ledger: Ledger, resident: list[AccuracyPoint]
) -> None:
    # Scored elsewhere on the rows of the first file: the best is 19 % off at the median in the GPU.
    resident = [point for point in resident if point.id.startswith("lc")]
    medians = []
    for peer in PEERS:
        items = [point for point in resident if peer.name in point.peer_speeds]
        error = np.abs([item.peer_speeds[peer.name] / item.measured - 1 for item in items])
        if len(items) == len(resident):
            medians.append(float(np.median(error)))
    assert 0.14 < min(medians) < 0.24


def test_a_peak_bandwidth_over_bytes_is_a_bound_but_for_a_few(
    resident: list[AccuracyPoint],
) -> None:
    # Nothing reads faster than its memory: what passes it has a file of another size than stated.
    passed = [
        point
        for point in resident
        if point.peer_speeds["bandwidth over bytes"] < 0.95 * point.measured
    ]
    assert len(passed) < 0.02 * len(resident)


def test_ranges_hold_about_four_times_in_five(whole_ledger: Ledger) -> None:
    """Strangers set the level, so curated figures, of which most are, lie within more often."""
    assert 0.75 <= whole_ledger.scores[-1].covered <= 0.88
    assert 0.75 <= whole_ledger.scores[-1].group_covered <= 0.88
    assert whole_ledger.scores[-1].width < 2.5
    many = [score for score in whole_ledger.scores if score.groups >= 40]
    assert len(many) >= 6
    for score in many:
        assert 0.7 <= score.group_covered <= 0.93, score.regime


def test_layers_moved_to_the_gpu_are_predicted_from_the_slowest_run(whole_ledger: Ledger) -> None:
    split = [point for point in whole_ledger.points if point.regime == SLOWEST_ROW]
    assert len(split) >= 4
    assert float(np.median([abs(point.error) for point in split])) < 0.12


def test_the_ram_rate_of_a_sweep_gives_its_slowest_run_back() -> None:
    (sweep,) = sweeps(runs(published()), {timed.row.id for timed in fitted().timed})
    layers = [run.case.settings.gpu_layers for run in sweep]
    assert layers == sorted(layers)
    assert 10e9 < ram_rate(sweep[0]) < 90e9  # one or two channels of a desktop


def test_a_sweep_needs_the_same_source_and_card() -> None:
    changed = {"category": "partial", "ngl": "10", "cpu": "", "tg_tps": "30"}
    record = row(id="a", **changed)
    other = row(id="b", **{**changed, "ngl": "20"})
    assert len(list(sweeps(runs((record, other))))) == 1
    assert not list(
        sweeps(runs((record, PublishedRow({**other.cells, "source_url": "https://other"}))))
    )
    assert not list(sweeps(runs((record, PublishedRow({**other.cells, "ngl": "999"})))))


def test_two_sources_of_one_setting_by_hand() -> None:
    # 100 beside 120 is 20 %; the third is of the same source, the fourth at another depth.
    rows = (
        row(id="a", tg_tps="100"),
        row(id="b", tg_tps="120", source_url="https://other"),
        row(id="c", tg_tps="150"),
        row(id="d", tg_tps="300", source_url="https://third", context_depth="8192"),
    )
    floor = noise_floor(runs(rows[:2]))
    assert (floor.pairs, floor.settings) == (1, 1)
    assert floor.median == pytest.approx(0.2)
    # 120 beside 150 is 25 %: the median of the two pairs is 22.5 %.
    assert noise_floor(runs(rows)).median == pytest.approx(0.225)


def test_the_noise_floor_is_that_of_published_rows(whole_ledger: Ledger) -> None:
    assert whole_ledger.floor.pairs >= 20
    assert 0.03 < whole_ledger.floor.median < 0.20


def test_the_record_is_json_and_says_it_all(whole_ledger: Ledger) -> None:
    kept = json.loads(json.dumps(record(whole_ledger), allow_nan=False))
    assert [regime["regime"] for regime in kept["regimes"]] == [
        score.regime for score in whole_ledger.scores
    ]
    assert len(kept["points"]) == len(whole_ledger.points)
    assert {peer["name"] for peer in kept["peers"]} == {peer.name for peer in PEERS}
    assert kept["noise_floor"]["pairs"] == whole_ledger.floor.pairs


def test_the_terminal_shows_every_regime_and_formula(whole_ledger: Ledger) -> None:
    shown = plain(whole_ledger)
    for score in whole_ledger.scores:
        assert score.regime in shown
    for peer in PEERS:
        assert peer.name[:14] in shown
    assert floor_sentence(whole_ledger.floor) in shown


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        (["--json"], "{"),
        (["--markdown"], "On "),
        (["--markdown", "docs/accuracy.md"], "| regime"),
        ([], " "),
    ],
)
def test_the_command_prints_it(whole_ledger, monkeypatch, capsys, options, begins: str) -> None:
    monkeypatch.setattr("advisor.evidence.accuracy.scoring.shipped_ledger", lambda: whole_ledger)
    assert main(["accuracy", *options]) == 0
    assert capsys.readouterr().out.startswith(begins)


@pytest.mark.parametrize(
    ("document", "table"), [("README.md", front_page), ("docs/accuracy.md", markdown)]
)
def test_documents_show_these_numbers(whole_ledger: Ledger, document: str, table) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert table(whole_ledger) in text, f"python -m advisor accuracy --markdown {document}"


def test_readme_hides_no_placement_and_no_wide_miss(whole_ledger: Ledger) -> None:
    """Regimes of measured tokens that README leaves out are no worse than its worst."""
    errors = {score.regime: score.group_median for score in whole_ledger.scores}
    worst = max(errors[name] for name in FRONT)
    assert max(errors.values()) <= worst
