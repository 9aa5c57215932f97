"""How probes tell how far they are."""

import pytest

from advisor.probes import measurement
from advisor.probes.measurement import ProbeStep, Watch


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The present, as its last item."""
    times = [100.0]
    monkeypatch.setattr(measurement, "now", lambda: times[-1])
    return times


def test_a_stretch_of_the_bar_is_reported_as_its_share():
    told: list[ProbeStep] = []
    watch = Watch(progress=told.append, start=0.5).stretch(1, 2)
    assert not watch.stop(0.0)
    assert not watch.stop(2.0)
    assert [step.share for step in told] == [0.75, 1.0]


def test_stretches_lie_side_by_side_and_keep_their_words():
    told: list[ProbeStep] = []
    watch = Watch(progress=told.append).between(0.2, 0.6, "copies")
    watch.stretch(0, 4, "small ones").stop(1.0)
    watch.stretch(1, 4).stop(0.0)
    # 0.2 + a quarter of 0.4
    assert [step.share for step in told] == pytest.approx([0.3, 0.3])
    assert [step.doing for step in told] == ["small ones", "copies"]


def test_time_left_is_of_the_plan_or_of_the_time_it_takes(clock):
    told: list[ProbeStep] = []
    watch = Watch(progress=told.append, seconds=20.0, began=100.0)
    watch.stop(0.0)
    clock.append(105.0)
    watch.stop(0.25)
    clock.append(140.0)  # it takes longer than planned
    watch.stop(0.75)
    watch.stop(1.0)
    assert [step.seconds_left for step in told] == [20.0, 15.0, 10.0, 0.0]


def test_a_probe_runs_without_progress_and_stop():
    assert Watch().stop(0.5) is False


def test_cancellation_is_checked_each_time():
    request = iter([False, True])
    watch = Watch(cancelled=lambda: next(request))
    assert [watch.stop(0.1), watch.stop(0.2)] == [False, True]
