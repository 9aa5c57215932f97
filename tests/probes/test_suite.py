"""The parts that can be measured, and their times within the stated limits."""

from pathlib import Path

import pytest

from advisor.probes import suite


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the probes were asked for."""
    result: list[tuple[object, ...]] = []
    modules = {
        "ram": suite.ram, "gpu": suite.transfer, "disk": suite.read_rates, "engine": suite.engine
    }  # fmt: skip
    for name, module in modules.items():
        monkeypatch.setattr(
            module, "measure", lambda *given, name=name, **more: result.append((name, *given, more))
        )
    return result


def test_each_part_has_its_probe(questions):
    for part in suite.QUICK:
        suite.measure(part, 1.0, None, None, Path("model.gguf"))
    assert questions == [
        ("ram", 1.0, None, None, {}),
        ("disk", 1.0, None, None, {"path": Path("model.gguf")}),
        ("gpu", 1.0, None, None, {}),
        ("engine", 1.0, None, None, {"path": Path("model.gguf")}),
    ]


def test_a_drive_that_was_read_also_tells_how_far_it_is_read_ahead(monkeypatch, tmp_path):
    monkeypatch.setattr(suite.read_rates, "measure", lambda *_, **__: ("read",))
    monkeypatch.setattr(
        suite.read_rates.host, "read_ahead", lambda place: 2**17 if place == tmp_path else 1
    )
    read, ahead = suite.measure("disk", 1.0, path=tmp_path)
    assert (read, ahead.name, ahead.value, ahead.unit) == ("read", "disk_read_ahead", 131072.0, "B")
    monkeypatch.setattr(suite.read_rates.host, "read_ahead", lambda _: None)
    assert suite.measure("disk", 1.0, path=tmp_path) == ("read",)
    monkeypatch.setattr(suite.read_rates, "measure", lambda *_, **__: ())  # cancelled
    assert suite.measure("disk", 1.0, path=tmp_path) == ()


def test_a_folder_is_no_model(questions):
    suite.measure("engine", 1.0, path=Path("models"))
    assert questions == [("engine", 1.0, None, None, {"path": None})]


def test_promised_times_hold():
    assert suite.QUICK.keys() == suite.FULL.keys()
    assert sum(suite.QUICK.values()) < 20
    assert sum(suite.FULL.values()) < 90
