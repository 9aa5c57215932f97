"""Known runs: the arithmetic by hand, and what must hold of any runs."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from advisor.cost_model import known_runs
from advisor.cost_model.known_runs import Component, TimedRun, Weighed, lesson
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Margins
from advisor.machine.from_spec import machine
from advisor.machine.machine import KnownRun, Machine
from advisor.machine.spec import MachineSpec

ON_GPU = {str(Route.RESIDENT): 1.0}
ON_HOST = {str(Route.IN_PLACE): 1.0}
PARTS = (
    Component(
        family=known_runs.OF_LLAMA_CPP, part="gpu", same="", sd=0.3, groups=9, source="by hand"
    ),
    Component(
        family=known_runs.OF_LLAMA_CPP, part="cpu", same="", sd=0.3, groups=9, source="by hand"
    ),
    Component(
        family=known_runs.OF_LLAMA_CPP, part="", same="run", sd=0.1, groups=9, source="by hand"
    ),
)
"""Machines of the same name differ by 0.3 in each part, runs of one machine by 0.1."""


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "components", lambda _: PARTS)
    Weighed.of.cache_clear()
    yield
    Weighed.of.cache_clear()


@pytest.fixture
def _without_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "FAULTS", 0.0)


HERE = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
ELSEWHERE = machine(MachineSpec(gpu="RTX 4090", ram_gb=64))


def run(factor: float, shares: dict[str, float] = ON_GPU, where: Machine = HERE) -> KnownRun:
    """A run that takes a factor of the predicted time."""
    return KnownRun(
        words="a run",
        measured=100.0 / factor,
        predicted=100.0,
        shares=tuple(shares.items()),
        prompt=False,
        family=known_runs.OF_LLAMA_CPP,
        engine="llama.cpp",
        format="Q4_K_M",
        experts=False,
        model="a model",
        cards=where.cards,
        host=where.host.name,
    )


def taught(
    *known: KnownRun, shares: dict[str, float] = ON_GPU, where: Machine = HERE
) -> known_runs.Lesson | None:
    """What known runs teach about another one's time on a machine."""
    return lesson(TimedRun(shares=shares, prompt=False), replace(where, known=known))


@pytest.mark.usefixtures("_without_faults")
def test_one_run_by_hand() -> None:
    # c = 0.3^2 = 0.09, C = V = 0.3^2 + 0.1^2 = 0.10: 0.9 of the distance, 1 - 0.81 of the variance
    learnt = taught(run(1.2))
    assert learnt is not None
    assert float(learnt.log_ratio) == pytest.approx(0.9 * math.log(1.2))
    assert float(learnt.narrower) == pytest.approx(math.sqrt(0.19))
    # The variance after it is 0.019: 1 / 0.019 - 1 / 0.10 = 42.6316, over 1.2816^2 = 1.642499.
    assert float(learnt.information) == pytest.approx(42.6316 / 1.642499, rel=1e-4)


@pytest.mark.usefixtures("_without_faults")
def test_two_runs_by_hand() -> None:
    # C = [[0.10, 0.09], [0.09, 0.10]] has the determinant 0.0019 and the inverse
    # [[0.10, -0.09], [-0.09, 0.10]] / 0.0019; c = (0.09, 0.09), so c' A is 0.09 * 0.01 / 0.0019
    # = 0.473684 for each, and the variance 0.10 - 2 * 0.09 * 0.473684 = 0.0147368.
    learnt = taught(run(1.2), run(1.1))
    assert learnt is not None
    assert float(learnt.log_ratio) == pytest.approx(0.4736842 * math.log(1.2 * 1.1), rel=1e-6)
    assert float(learnt.narrower) == pytest.approx(math.sqrt(0.0147368 / 0.10), rel=1e-5)


def test_the_weight_of_a_run_four_times_too_slow_by_hand() -> None:
    # r = ln 4 = 1.386294, s^2 = 0.10, f = ln 4: s^2 + f^2 = 2.021812
    # 0.95 exp(-1.921812 / 0.20) / sqrt(0.10)     = 0.95 * 6.7136e-5 / 0.316228 = 2.0169e-4
    # 0.05 exp(-1.921812 / 4.043624) / 1.421904   = 0.05 * 0.621717 / 1.421904  = 2.1862e-2
    # w = 2.0169e-4 / (2.0169e-4 + 2.1862e-2) = 0.009141; D = 0.10 (1 / w - 1) = 10.84
    # A first weight is of the prediction alone, and so are the later ones of a single run.
    (weight,) = Weighed.of((run(4.0),)).weights
    assert weight == pytest.approx(0.009141, rel=1e-3)
    learnt = taught(run(4.0))
    assert learnt is not None
    assert float(learnt.log_ratio) == pytest.approx(0.09 / (0.10 + 10.84) * math.log(4.0), rel=1e-3)


def test_a_fault_counts_once_another_run_agrees() -> None:
    alone = taught(run(4.0))
    together = taught(run(4.0), run(3.8))
    assert alone is not None
    assert together is not None
    assert float(alone.log_ratio) < 0.1 * math.log(4.0)
    assert float(together.log_ratio) > 0.8 * math.log(4.0)


def test_a_fault_among_sound_runs_is_told_from_them() -> None:
    weights = Weighed.of((run(1.1), run(4.0), run(1.05))).weights
    assert weights[1] < known_runs.Weighed.DOUBTED
    assert min(weights[0], weights[2]) > 0.9


def test_a_run_as_predicted_moves_nothing_and_narrows() -> None:
    learnt = taught(run(1.0))
    assert learnt is not None
    assert float(learnt.log_ratio) == 0.0
    assert float(learnt.narrower) < 1.0


@pytest.mark.usefixtures("_without_faults")
@pytest.mark.parametrize("shares", [ON_GPU, ON_HOST, {**ON_GPU, str(Route.IN_PLACE): 0.3}])
def test_more_runs_never_widen(shares: dict[str, float]) -> None:
    runs = [run(1.1), run(1.2, ON_HOST), run(0.9), run(1.3)]
    widths = []
    for count in range(1, len(runs) + 1):
        learnt = taught(*runs[:count], shares=shares)
        widths.append(1.0 if learnt is None else float(learnt.narrower))
    assert widths == sorted(widths, reverse=True)


def test_the_order_of_runs_does_not_matter() -> None:
    runs = (run(1.1), run(4.0), run(0.8, ON_HOST), run(1.2))
    learnt = [taught(*order) for order in permutations(runs)]
    ratios = [float(each.log_ratio) for each in learnt if each]
    assert np.ptp(ratios) < 1e-12
    assert np.ptp([float(each.narrower) for each in learnt if each]) < 1e-12


def test_a_run_teaches_the_parts_that_it_took() -> None:
    other = taught(run(1.2), shares=ON_HOST)
    assert other is not None
    assert float(other.log_ratio) == 0.0
    assert float(other.narrower) == 1.0
    half = taught(run(1.2), shares={str(Route.RESIDENT): 0.5, str(Route.IN_PLACE): 0.5})
    whole = taught(run(1.2))
    assert half is not None
    assert whole is not None
    assert 0.0 < float(half.log_ratio) < float(whole.log_ratio)


def test_runs_of_another_card_teach_nothing_of_this_one() -> None:
    assert taught(run(1.5, where=ELSEWHERE)) is None
    host = taught(run(1.2, ON_HOST, where=ELSEWHERE), shares=ON_HOST)
    assert host is not None, "the same processor is in both"
    assert float(host.log_ratio) > 0.0


def test_a_range_that_is_narrow_already_is_narrowed_less() -> None:
    # 1 / 0.5^2 + 12 = 1 / 0.25^2 halves one; 1 / 0.1^2 + 12 = 112 leaves the other 0.0945.
    wide = Margins(below=0.5, above=0.5).informed(12.0)
    narrow = Margins(below=0.1, above=0.1).informed(12.0)
    assert float(wide.above) == pytest.approx(0.25)
    assert float(narrow.below) == pytest.approx(112.0**-0.5)
    assert float(Margins(below=0.3, above=0.3).informed(0.0).above) == pytest.approx(0.3)


def test_a_machine_without_known_runs_learns_nothing() -> None:
    assert taught() is None


def test_a_sweep_is_taught_like_its_points() -> None:
    on_gpu = np.array([0.2, 0.5, 0.9])
    swept = taught(
        run(1.2), shares={str(Route.RESIDENT): on_gpu, str(Route.IN_PLACE): 1.0 - on_gpu}
    )
    assert swept is not None
    for place, share in enumerate(on_gpu):
        single = taught(
            run(1.2), shares={str(Route.RESIDENT): share, str(Route.IN_PLACE): 1.0 - share}
        )
        assert single is not None
        assert swept.log_ratio[place] == pytest.approx(float(single.log_ratio))
        assert swept.narrower[place] == pytest.approx(float(single.narrower))
