"""The ledger by group: worst first, cards seen and unseen, the bootstrap."""

import pytest

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.evidence.accuracy.scoring import (
    DOUBTED,
    SEEN,
    UNSEEN,
    bootstrap,
    by_card,
    with_doubtful,
    worst_groups,
)


def points(
    group: str, ratios: tuple[float, ...], gpu: str = "RTX 4090", url: str = "a"
) -> list[AccuracyPoint]:
    return [
        AccuracyPoint(
            id=f"{group}{at}",
            regime="resident, dense",
            group=group,
            gpu=gpu,
            cpu="",
            model="m",
            measured=10.0,
            predicted=10.0 * ratio,
            below=0.1,
            above=0.1,
            source=f"https://example.com/{url}",
        )
        for at, ratio in enumerate(ratios)
    ]


def test_twice_is_as_bad_as_half_and_single_figures_are_not_named() -> None:
    every = [
        *points("half", (0.5, 0.5)),
        *points("near", (1.05, 1.05)),
        *points("slip", (9.0,)),
        *points("thrice", (3.0, 3.0)),
    ]
    worst = worst_groups(every)
    assert [point.group for point in worst] == ["thrice", "half", "near"]
    assert worst[0].error == pytest.approx(2.0)
    assert worst[1].error == pytest.approx(-0.5)
    assert worst[2].covered == 1.0
    assert worst[0].width == pytest.approx(1.2214, rel=1e-3)  # e^0.2


def test_a_card_is_seen_where_another_source_measured_it() -> None:
    every = [
        *points("x", (1.0, 1.0), "RTX 4090", "a"),
        *points("y", (1.0,), "rtx 4090", "b"),
        *points("z", (2.0,), "Arc B580", "a"),
        *points("cpu", (1.0,), "", "a"),
    ]
    seen, unseen = by_card(every)
    assert (seen.regime, seen.rows) == (SEEN, 3)
    assert (unseen.regime, unseen.rows) == (UNSEEN, 1)
    assert unseen.median == pytest.approx(1.0)


def test_the_bootstrap_draws_groups_the_same_way_twice() -> None:
    half_held = [
        point for at in range(10) for point in points(f"g{at}", (1.0 if at % 2 else 2.0,) * 3)
    ]
    low, high = bootstrap(half_held)
    assert (low, high) == bootstrap(half_held)
    # Ten groups of which half hold: a binomial of ten, 0.5 give or take 0.26.
    assert low == pytest.approx(0.25, abs=0.06)
    assert high == pytest.approx(0.75, abs=0.06)
    assert bootstrap(points("one", (1.0, 1.0))) == (1.0, 1.0)


def test_doubtful_rows_are_scored_beside_the_others() -> None:
    good = points("g", (1.0, 1.0))
    bad = points("b", (4.0,))
    scored = with_doubtful(good, bad)
    assert scored.regime == DOUBTED
    assert scored.rows == 3
    assert scored.covered == pytest.approx(2 / 3)
