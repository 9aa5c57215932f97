"""Ranges: hand-worked half widths, and what they may and may not do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.constants import Scope, fitted_constants
from advisor.cost_model.uncertainty import (
    DEEP,
    EXPERTS,
    SPLIT,
    THIN,
    TOGETHER,
    Margins,
    circumstances,
    degrees,
    depth_reached,
    rarity,
    shortness,
    widened,
)
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec

FACTORS = {EXPERTS: 1.5, THIN: 2.0}
shares = st.floats(0.0, 1.0)
factors = st.floats(1.0, 2.5)


def test_squares_of_traits_add() -> None:
    # 0.2 sqrt(1 + (1.5^2 - 1) + (2^2 - 1)) = 0.2 sqrt(5.25) = 0.458258
    assert widened(0.2, FACTORS, {EXPERTS: 1.0, THIN: 1.0}) == pytest.approx(0.458258, rel=1e-6)


def test_a_trait_alone_widens_by_its_factor() -> None:
    assert widened(0.2, FACTORS, {EXPERTS: 0.0, THIN: 1.0}) == pytest.approx(0.2 * 2.0)


def test_half_a_trait_adds_half_of_its_square() -> None:
    # 0.2 sqrt(1 + 0.5 (2^2 - 1)) = 0.2 sqrt(2.5) = 0.316228
    assert widened(0.2, FACTORS, {THIN: 0.5}) == pytest.approx(0.316228, rel=1e-6)


@given(half=st.floats(0.01, 1.0), first=factors, second=factors, degree=shares)
def test_traits_together_are_wider_than_each_and_narrower_than_their_product(
    half: float, first: float, second: float, degree: float
) -> None:
    both = widened(half, {EXPERTS: first, THIN: second}, {EXPERTS: 1.0, THIN: degree})
    alone = widened(half, {EXPERTS: first, THIN: second}, {EXPERTS: 1.0, THIN: 0.0})
    assert alone <= both * (1 + 1e-12)
    assert both <= half * first * second * (1 + 1e-12)


def test_traits_of_gpus_count_by_their_share_of_the_time() -> None:
    # a quarter of the time on GPUs: 4 x 0.25 x 0.75 = 0.75 divided
    counted = degrees({EXPERTS: 1.0, DEEP: 0.5, TOGETHER: 1.0}, 0.25)
    assert counted == {EXPERTS: 0.25, DEEP: 0.125, TOGETHER: 1.0, SPLIT: 0.75}


def test_depth_grows_from_1000_to_4000_tokens() -> None:
    assert depth_reached(np.array([500.0, 2500.0, 9000.0])).tolist() == [0.0, 0.5, 1.0]


def test_prompts_are_short_up_to_400_tokens() -> None:
    assert shortness(np.array([58.0, 250.0, 2048.0])).tolist() == [1.0, 0.5, 0.0]
    assert float(shortness(np.inf)) == 0.0


def test_a_range_is_a_factor_each_way_from_the_value() -> None:
    shown = Margins(below=np.log(2.0), above=np.log(1.25)).around(np.asarray(8.0))
    assert (float(shown.low), float(shown.high)) == pytest.approx((4.0, 10.0))


def test_an_independent_uncertainty_adds_by_squares() -> None:
    wider = Margins(below=0.3, above=0.5).wider(0.4)
    assert (float(wider.below), float(wider.above)) == pytest.approx((0.5, 0.640312), rel=1e-6)


def test_rarity_is_one_over_one_more_than_the_publishers() -> None:
    assert [float(rarity(number)) for number in (0, 1, 3)] == [1.0, 0.5, 0.25]


def test_of_unlike_cards_the_rarest_counts() -> None:
    constants = fitted_constants().bound(Scope(runtime="llama.cpp", backend="cuda"))

    def thin(gpu: str) -> float:
        built = machine(MachineSpec(gpu=gpu, ram_gb=64))
        run = circumstances(built, constants, experts=False, depth=0.0, users=1.0)
        return float(np.max(run.traits[THIN]))

    alone = {name: thin(name) for name in ("RTX 3090", "GTX 1080 Ti")}
    assert min(alone.values()) < max(alone.values())
    assert thin("RTX 3090 + GTX 1080 Ti") == max(alone.values())
