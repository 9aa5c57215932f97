"""Ranges: hand-worked half widths, and what they may and may not do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.constants import ConstantRow, Constants, Scope
from advisor.cost_model.timing import StepTime
from advisor.cost_model.uncertainty import (
    OPERATORS,
    SERVED,
    SEVERAL,
    SHORT,
    SPLIT,
    THIN,
    TOGETHER,
    UNKNOWN,
    Circumstances,
    Margins,
    circumstances,
    degrees,
    margins,
    of_few,
    rarity,
    shortness,
    unmeasured_kinds,
    widened,
)
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from lab.stack import Columns

FACTORS = {SEVERAL: 1.5, THIN: 2.0}
shares = st.floats(0.0, 1.0)
factors = st.floats(1.0, 2.5)


def test_squares_of_traits_add() -> None:
    # 0.2 sqrt(1 + (1.5^2 - 1) + (2^2 - 1)) = 0.2 sqrt(5.25) = 0.458258
    assert widened(0.2, FACTORS, {SEVERAL: 1.0, THIN: 1.0}) == pytest.approx(0.458258, rel=1e-6)


def test_a_trait_alone_widens_by_its_factor() -> None:
    assert widened(0.2, FACTORS, {SEVERAL: 0.0, THIN: 1.0}) == pytest.approx(0.2 * 2.0)


def test_half_a_trait_adds_half_of_its_square() -> None:
    # 0.2 sqrt(1 + 0.5 (2^2 - 1)) = 0.2 sqrt(2.5) = 0.316228
    assert widened(0.2, FACTORS, {THIN: 0.5}) == pytest.approx(0.316228, rel=1e-6)


@given(half=st.floats(0.01, 1.0), first=factors, second=factors, degree=shares)
def test_traits_together_are_wider_than_each_and_narrower_than_their_product(
    half: float, first: float, second: float, degree: float
) -> None:
    both = widened(half, {SEVERAL: first, THIN: second}, {SEVERAL: 1.0, THIN: degree})
    alone = widened(half, {SEVERAL: first, THIN: second}, {SEVERAL: 1.0, THIN: 0.0})
    assert alone <= both * (1 + 1e-12)
    assert both <= half * first * second * (1 + 1e-12)


def test_traits_of_gpus_count_by_their_share_of_the_time() -> None:
    # a quarter of the time on GPUs: 4 x 0.25 x 0.75 = 0.75 divided
    counted = degrees({SEVERAL: 1.0, THIN: 0.5, TOGETHER: 1.0}, 0.25)
    assert counted == {SEVERAL: 0.25, THIN: 0.125, TOGETHER: 1.0, SPLIT: 0.75}


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
    constants = Constants.fitted().bound(Scope(runtime="llama.cpp", backend="cuda"))

    def thin(gpu: str) -> float:
        built = machine(MachineSpec(gpu=gpu, ram_gb=64))
        run = circumstances(built, constants, users=1.0)
        return float(np.max(run.traits[THIN]))

    alone = {name: thin(name) for name in ("RTX 3090", "GTX 1080 Ti")}
    assert min(alone.values()) < max(alone.values())
    assert thin("RTX 3090 + GTX 1080 Ti") == max(alone.values())


def of_parts(**seconds: float) -> StepTime:
    return StepTime(total=sum(seconds.values()), parts=dict(seconds), hidden=0.0)


def run_on(spec: MachineSpec, **more: object) -> Circumstances:
    constants = Constants.fitted().bound(Scope(runtime="llama.cpp", backend="cuda"))
    given = {"users": 1.0, **more}
    return circumstances(machine(spec), constants, **given)  # type: ignore[arg-type]


CARD = MachineSpec(gpu="RTX 3090", ram_gb=64)


def test_a_range_reaches_as_far_to_either_side() -> None:
    table = Columns({"spread": 0.2, "trait": 1.0, "engine_publishers": 1000.0}, 1.0)
    run = Circumstances(on_gpu=True, traits={}, unmeasured={})
    shown = margins(of_parts(resident=1.0), run, table, Margins.IN_DECODE)  # type: ignore[arg-type]
    assert (float(shown.below), float(shown.above)) == pytest.approx((0.2, 0.2), rel=2e-3)


@pytest.mark.parametrize(
    ("publishers", "quantile"),
    [(3, 1.886), (4, 1.638), (6, 1.476), (11, 1.372), (31, 1.310), (1000, 1.282)],
)
def test_few_publishers_of_an_engine_widen_its_range_as_students_t_does(
    publishers: int, quantile: float
) -> None:
    # 90 % points of Student's t with one degree of freedom less (any table of it).
    expected = quantile / 1.2816 * np.sqrt(1.0 + 1.0 / publishers)
    assert float(of_few(publishers)) == pytest.approx(expected, rel=0.01)


def test_traits_of_a_run_are_those_of_its_machine_and_load() -> None:
    ones = (SEVERAL, TOGETHER, SERVED, SHORT)
    single = run_on(CARD).traits
    assert [float(single[name]) for name in ones] == [0.0] * 4
    loaded = run_on(replace(CARD, gpu_count=2), users=2.0, served=True, fresh=50.0).traits
    assert [float(loaded[name]) for name in ones] == [1.0] * 4
    none = run_on(MachineSpec(gpu="none", cpu="Ryzen 9 7950X", ram_gb=64))
    assert (none.on_gpu, none.traits[THIN], none.traits[UNKNOWN]) == (False, 0.0, 0.0)
    assert 0.0 < float(single[THIN]) < 1.0


def test_a_rate_that_was_given_is_no_doubt() -> None:
    # of a usual machine all four rates are taken from its kind
    assert set(run_on(CARD).unmeasured.values()) == {1.0}
    for field, part in (("ram_gbs", "in_place"), ("pcie_gbs", "streamed"), ("disk_gbs", "staged")):
        known = run_on(replace(CARD, **{field: 5.0})).unmeasured
        assert known[part] == 0.0, field
        assert known.keys() == {"in_place", "streamed", "paged", "staged"}
        assert sum(known.values()) >= 2.0, "the others are as before"


def test_kinds_of_layers_are_unmeasured_below_two_publishers() -> None:
    rows = [
        ConstantRow(
            constant="publishers",
            value=count,
            unit="",
            kind="assumed",
            source="made up",
            family=kind,
        )
        for kind, count in zip(OPERATORS[:3], (0.0, 1.0, 2.0), strict=True)
    ]
    assert unmeasured_kinds(frozenset(OPERATORS[:3]), Constants(rows)) == OPERATORS[:2]
    assert unmeasured_kinds(frozenset(OPERATORS[2:3]), Constants(rows)) == ()
