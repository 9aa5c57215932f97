"""The engine benchmark in turns: the probes that a run is compared with, and how steady it was.

Probes and engine are stubs of a machine whose speed changes; no clock is judged.
"""

from pathlib import Path

import pytest

from advisor.probes.measurement import Measurement
from benchmarks.engine_parts import resident
from benchmarks.engine_parts.models import targets
from benchmarks.engine_parts.readings import Readings, Run


def measured(value: float, name: str = resident.REFERENCE) -> Measurement:
    return Measurement(name=name, value=value, unit="B/s", spread=0.0, threads=2, when="")


@pytest.fixture
def readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Readings:
    """Readings of two targets on a machine that each probe finds 10 % slower than the last."""
    rates = iter(20e9 * 0.9**number for number in range(10))
    monkeypatch.setattr(resident.ram, "measure", lambda _: ())
    monkeypatch.setattr(resident.engine, "measure", lambda _: (measured(next(rates)),))
    monkeypatch.setattr(
        resident,
        "_timed",
        lambda target, *_: tuple(
            Run(target=target.name, depth=depth, seconds=0.1) for depth in resident.CONTEXTS
        ),
    )
    kept = Readings(tmp_path / "readings.json")
    resident.read(targets()[:2], kept, 0.5, tmp_path, lambda: False, probing=1.0)
    return kept


def test_a_probe_stands_before_and_after_every_run(readings: Readings) -> None:
    first, second = targets()[:2]
    # Probes of 20, 18 and 16.2 GB/s: runs of the first target lie between the first two.
    for target, rate in ((first, (20e9 * 18e9) ** 0.5), (second, (18e9 * 16.2e9) ** 0.5)):
        for depth in resident.CONTEXTS:
            (run,) = readings.of(target.name, depth)
            (near,) = readings.around(run)
            assert near.value == pytest.approx(rate)


def test_a_run_without_a_turn_is_compared_with_all_probes(readings: Readings) -> None:
    (whole,) = readings.around(Run(target="older", depth=128, seconds=0.1))
    assert whole.value == pytest.approx(18e9)


def test_a_figure_that_one_probe_lacks_is_that_of_the_other(readings: Readings) -> None:
    readings.probes.append(measured(5e9, "engine_read_q8_0"))
    (run,) = readings.of(targets()[1].name, resident.CONTEXTS[0])
    near = {entry.name: entry.value for entry in readings.around(run)}
    assert near["engine_read_q8_0"] == pytest.approx(5e9)


def test_it_says_how_steady_the_machine_was(readings: Readings) -> None:
    probes, drift, step = resident.steadiness(readings)
    assert probes == 3
    # (20 - 16.2) / (2 x 18) and ln(20 / 18)
    assert drift == pytest.approx(3.8 / 36)
    assert step == pytest.approx(0.1054, abs=1e-4)


def test_when_time_is_up_the_last_run_has_a_probe_after_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(resident.ram, "measure", lambda _: ())
    monkeypatch.setattr(resident.engine, "measure", lambda _: (measured(1e9),))
    kept = Readings(tmp_path / "readings.json")
    resident.read(targets()[:2], kept, 0.5, tmp_path, lambda: True)
    assert len(kept.probes) == 1
    assert not kept.runs
