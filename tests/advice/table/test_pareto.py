"""The front of cost and speed, on cases small enough to see."""

import numpy as np
import pytest

from advisor.advice.table.option import beaten, on_front


def test_by_hand() -> None:
    # 10 USD: 5; 20 USD: 4 (beaten by the first); 30 USD: 9; 30 USD: 8 (as dear, slower); 40 USD: 9
    cost = [10, 20, 30, 30, 40]
    speed = [5, 4, 9, 8, 9]
    assert on_front(cost, speed).tolist() == [True, False, True, False, False]
    # 30 USD and 8 is not beaten in both: what is faster is as dear
    assert beaten(cost, speed).tolist() == [False, True, False, False, False]


def test_equal_options_are_on_the_front_together() -> None:
    assert on_front([10, 10, 10], [5, 5, 4]).tolist() == [True, True, False]


def test_options_without_a_number_are_never_on_the_front_and_never_folded() -> None:
    cost = [np.nan, 10, 20]
    speed = [9, np.nan, 5]
    assert on_front(cost, speed).tolist() == [False, False, True]
    assert not np.any(beaten(cost, speed))


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_as_cheap_and_as_fast_as_the_front(seed: int) -> None:
    random = np.random.default_rng(seed)
    cost = random.integers(1, 30, 60).astype(float)
    speed = random.integers(1, 30, 60).astype(float)
    front = on_front(cost, speed)
    for index in range(60):
        better = (cost <= cost[index]) & (speed >= speed[index])
        strictly = better & ((cost < cost[index]) | (speed > speed[index]))
        assert front[index] == (not np.any(strictly))
    assert not np.any(front & beaten(cost, speed))
