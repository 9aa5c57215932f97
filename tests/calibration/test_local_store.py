"""The store of this machine's measurements, and when they are stale."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from advisor import given_files
from advisor.calibration import local_machine, measurement_file
from advisor.calibration.local_machine import Fingerprint, load, save
from advisor.failures import StoreError
from advisor.probes.measurement import CurvePoint, Measurement
from advisor.units import Provenance

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HERE = Fingerprint(cpu="Example 9", cores=8, memory=64 * 2**30, gpus=("RTX 4090",))
RAM = Measurement(
    name="ram_read",
    value=38.3e9,
    unit="B/s",
    spread=0.03,
    threads=8,
    when="2026-11-20T10:00:00+00:00",
    note="1: 18.2, 8: 38.3 GB/s",
    curve=(
        CurvePoint(threads=1, block=0, value=18.2e9, best=18.9e9),
        CurvePoint(threads=8, block=0, value=38.3e9, best=39.1e9),
    ),
)
DISK = replace(RAM, name="disk_read_direct", value=3.2e9)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    machine(monkeypatch, HERE)
    return tmp_path / "data"


def machine(monkeypatch, fingerprint: Fingerprint) -> None:
    monkeypatch.setattr(local_machine, "fingerprint", lambda: fingerprint)


def test_nothing_saved_is_empty(folder):
    calibration = load(NOW)
    assert calibration == local_machine.Calibration()
    assert calibration.figure("ram_read") is None
    assert not folder.exists()


def test_saved_values_are_restored(folder):
    assert save([RAM, DISK]) == folder / "calibration.json"
    calibration = load(NOW)
    assert calibration.measurements == {"ram_read": RAM, "disk_read_direct": DISK}
    assert (calibration.stale, calibration.changed, calibration.notes) == ("", False, ())
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]


def test_measurements_of_earlier_versions_have_no_curve(folder):
    content = json.loads(row())
    del content["measurements"][0]["curve"]
    (folder / "calibration.json").write_text(json.dumps(content))
    assert load(NOW).measurements == {"ram_read": replace(RAM, curve=())}


def test_a_figure_tells_its_origin():
    save([RAM])
    figure = load(NOW).figure("ram_read")
    assert (figure.value, figure.kind) == (38.3e9, Provenance.MEASURED)
    assert (figure.source, figure.date) == ("probed on this machine", "2026-11-20")
    assert load(NOW).figure("h2d_pinned") is None


def test_saving_replaces_the_same_name_and_keeps_the_others():
    save([RAM, DISK])
    save([replace(RAM, value=40e9)])
    calibration = load(NOW)
    assert calibration.figure("ram_read").value == 40e9
    assert calibration.figure("disk_read_direct").value == 3.2e9


@pytest.mark.parametrize(("days", "stale"), [(91, False), (92, False), (93, True)])
def test_measurements_age(days, stale):
    save([RAM, replace(DISK, when="2026-12-20T00:00:00+00:00")])
    calibration = load(datetime.fromisoformat(RAM.when) + timedelta(days=days))
    assert bool(calibration.stale) is stale
    if stale:
        assert calibration.stale == "Measured over 92 days ago: RAM; measure again."
        assert calibration.figure("ram_read") is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cpu": "Other 7"}, "Measured on Example 9, and this is Other 7"),
        ({"cores": 4}, "8 cores, and 4"),
        ({"memory": 32 * 2**30}, "64.0 GB of RAM, and this has 32.0 GB"),
        ({"gpus": ()}, "RTX 4090, and this has no GPU"),
    ],
)
def test_another_machine_makes_them_stale_and_unused(monkeypatch, change, words):
    save([RAM])
    machine(monkeypatch, replace(HERE, **change))
    calibration = load(NOW)
    assert words in calibration.stale
    assert calibration.changed
    assert calibration.figure("ram_read") is None


def test_saving_on_another_machine_drops_earlier_measurements(monkeypatch):
    save([RAM])
    machine(monkeypatch, replace(HERE, cores=4))
    save([DISK])
    assert list(load(NOW).measurements) == ["disk_read_direct"]
    assert load(NOW).stale == ""


def test_a_new_kernel_may_keep_a_little_memory(monkeypatch):
    save([RAM])
    machine(monkeypatch, replace(HERE, memory=int(HERE.memory * 0.98)))
    assert load(NOW).stale == ""


def row(**changes: object) -> str:
    save([RAM])
    content = json.loads((local_machine.data_folder() / "calibration.json").read_text())
    content["measurements"][0] |= changes
    return json.dumps(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": -1},
        {"value": "fast"},
        {"value": None},
        {"unit": "GB/s"},
        {"spread": float("nan")},
        {"threads": float("inf")},
        {"when": "yesterday"},
        {"when": 5},
        {"curve": 5},
        {"curve": [{"threads": 1, "block": 0, "value": float("nan"), "best": 1.0}]},
        {"curve": [{"threads": 1}]},
    ],
)
def test_a_row_that_cannot_be(folder, changes):
    text = row(**changes)
    (folder / "calibration.json").write_text(text)
    assert_set_aside(folder, text)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '"x"', "{}", "null", "[" * 100_000])
def test_a_damaged_file(folder, text):
    folder.mkdir()
    (folder / "calibration.json").write_text(text)
    assert_set_aside(folder, text)


def assert_set_aside(folder, text):
    calibration = load(NOW)
    assert calibration.measurements == {}
    assert "calibration.json.damaged" in calibration.notes[0]
    assert (folder / "calibration.json.damaged").read_text() == text
    assert load(NOW) == local_machine.Calibration()
    save([RAM])
    assert load(NOW).figure("ram_read") is not None


def test_bytes_that_are_no_text(folder):
    folder.mkdir()
    (folder / "calibration.json").write_bytes(b"\xff\xfe\x00")
    assert "damaged" in load(NOW).notes[0]


def test_a_damaged_file_that_cannot_be_moved(folder, monkeypatch):
    folder.mkdir()
    (folder / "calibration.json").write_text("{")

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(local_machine.Path, "replace", refused)
    assert "delete it" in load(NOW).notes[0]


def test_a_file_that_cannot_be_read(folder):
    (folder / "calibration.json").mkdir(parents=True)
    assert "cannot be read" in load(NOW).notes[0]


def test_an_unreadable_file_is_not_overwritten(folder, monkeypatch):
    save([RAM])
    text = (folder / "calibration.json").read_text()

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(local_machine.Path, "read_text", refused)
        with pytest.raises(StoreError, match=r"cannot be read.*Nothing was saved"):
            save([DISK])
    assert (folder / "calibration.json").read_text() == text


def test_a_file_of_a_newer_version_stays_as_it_is(folder):
    text = json.dumps({**json.loads(row()), "version": 2})
    (folder / "calibration.json").write_text(text)
    assert "written by a newer version of this program" in load(NOW).notes[0]
    with pytest.raises(StoreError, match=r"newer version.*Nothing was saved"):
        save([DISK])
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]
    assert (folder / "calibration.json").read_text() == text


SAVES = """
import sys
from advisor.calibration import local_machine
from advisor.calibration.measurement_file import Fingerprint
from advisor.probes.measurement import Measurement
here = Fingerprint(cpu="Example 9", cores=8, memory=64 * 2**30, gpus=("RTX 4090",))
local_machine.fingerprint = lambda: here
for number in range(10):
    name = f"ram_read_node{number}_of_{sys.argv[1]}"
    local_machine.save([Measurement(name=name, value=1e9, unit="B/s", spread=0.0, threads=1,
                                  when="2026-11-20T10:00:00+00:00")])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no lock for a folder")
def test_programs_that_save_at_once_lose_nothing_of_each_other(folder):
    savers = [subprocess.Popen((sys.executable, "-c", SAVES, who)) for who in "abc"]
    assert [saver.wait() for saver in savers] == [0, 0, 0]
    assert len(load(NOW).measurements) == 30
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]


def test_remains_of_a_killed_program_are_overwritten(folder):
    folder.mkdir()
    (folder / "calibration.json.new").write_text('{"half": ')
    save([RAM])
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]


def test_an_interrupted_write_leaves_nothing(folder, monkeypatch):
    save([RAM])

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(given_files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save([DISK])
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file" / "inside"))
    with pytest.raises(StoreError, match="set ADVISOR_DATA_DIR to a folder"):
        save([RAM])


def test_a_failed_write_keeps_the_old_file(folder, monkeypatch):
    save([RAM])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(local_machine.Path, "replace", full)
        with pytest.raises(StoreError, match="No space left"):
            save([replace(RAM, value=1.0)])
    assert [path.name for path in folder.iterdir()] == ["calibration.json"]
    assert load(NOW).figure("ram_read").value == RAM.value


def test_the_fingerprint_of_this_machine(monkeypatch):
    monkeypatch.undo()
    fingerprint = local_machine.fingerprint()
    assert fingerprint.cores >= 1
    assert fingerprint.memory > 0


def test_every_measurement_stays_with_its_date_and_the_latest_counts():
    later = replace(RAM, value=41e9, when="2026-11-21T10:00:00+00:00")
    save([later, DISK])
    save([RAM])  # measured before, saved after
    calibration = load(NOW)
    assert calibration.measurements["ram_read"] == later
    assert [entry.value for entry in calibration.history if entry.name == "ram_read"] == [
        38.3e9,
        41e9,
    ]


def test_the_same_measurement_saved_twice_is_one():
    save([RAM])
    save([RAM])
    assert load(NOW).history == (RAM,)


def test_a_long_history_loses_its_oldest(monkeypatch):
    monkeypatch.setattr(measurement_file, "MOST_KEPT", 3)
    days = [replace(RAM, when=f"2026-11-{day:02}T10:00:00+00:00") for day in range(1, 6)]
    save([*days, DISK])
    history = load(NOW).history
    assert [
        measurement.when[8:10] for measurement in history if measurement.name == "ram_read"
    ] == ["03", "04", "05"]
    assert DISK in history


def test_hardware_that_changes_back_has_its_measurements_again(monkeypatch):
    save([RAM])
    machine(monkeypatch, replace(HERE, cores=4))
    save([replace(RAM, value=20e9)])
    machine(monkeypatch, HERE)
    assert load(NOW).figure("ram_read").value == 38.3e9
    save([DISK])
    machine(monkeypatch, replace(HERE, cores=4))
    assert load(NOW).figure("ram_read").value == 20e9


COPY = replace(RAM, name="h2d_pinned", value=25e9)


def test_another_driver_makes_them_stale_and_stays_used(monkeypatch):
    machine(monkeypatch, replace(HERE, driver="550.54"))
    save([COPY])
    machine(monkeypatch, replace(HERE, driver="580.10"))
    calibration = load(NOW)
    assert calibration.stale == "Measured with GPU driver 550.54, and this is 580.10; probe again."
    assert calibration.figure("h2d_pinned").value == 25e9


def test_only_a_new_look_at_the_gpu_settles_the_driver(monkeypatch):
    machine(monkeypatch, replace(HERE, driver="550.54"))
    save([COPY])
    machine(monkeypatch, replace(HERE, driver="580.10"))
    save([RAM])
    assert "550.54" in load(NOW).stale
    save([replace(COPY, when="2026-11-21T10:00:00+00:00")])
    assert load(NOW).stale == ""


def test_a_file_without_a_driver_says_nothing_of_it(monkeypatch):
    save([COPY])
    machine(monkeypatch, replace(HERE, driver="580.10"))
    assert load(NOW).stale == ""


def test_forgetting_leaves_nothing(folder):
    save([RAM])
    local_machine.forget()
    local_machine.forget()
    assert load(NOW) == local_machine.Calibration()
    assert list(folder.iterdir()) == []


def test_a_file_that_cannot_be_deleted_is_reported(folder):
    (folder / "calibration.json").mkdir(parents=True)
    with pytest.raises(StoreError, match="by hand"):
        local_machine.forget()


ENGINE = [
    replace(RAM, name="engine_read_q4_k", value=24e9, threads=4),
    replace(RAM, name="engine_read_q4_k_m", value=23e9, threads=4),
    replace(RAM, name="engine_plain_q4_k", value=20e9, threads=4),
    replace(RAM, name="engine_prompt_f16", value=60e9, unit="FLOP/s", threads=4),
    replace(RAM, name="engine_attention_128_4", value=15e9, unit="FLOP/s", threads=4),
    replace(RAM, name="engine_layer", value=150e-6, unit="s", threads=4),
]


def test_timings_of_llama_cpp_become_an_engine_speed():
    save([RAM, *ENGINE])
    speed = load(NOW).engine(38e9)
    assert (speed.cores, speed.ram) == (4, 38e9)
    assert {kind: quantity.value for kind, quantity in speed.read.items()} == {
        "Q4_K": 24e9,
        "Q4_K_M": 23e9,
    }
    assert speed.plain["Q4_K"].value == 20e9
    assert speed.prompt["F16"].value == 60e9
    assert speed.attention["128_4"].value == 15e9
    assert (speed.layer.value, speed.layer.kind) == (150e-6, Provenance.MEASURED)
    assert speed.expert_layer is None


def test_without_a_rate_nothing_was_timed():
    save([RAM, ENGINE[-1]])
    assert load(NOW).engine(38e9) is None


def test_another_machine_was_not_timed(monkeypatch):
    save(ENGINE)
    machine(monkeypatch, replace(HERE, cpu="Another 5"))
    assert load(NOW).engine(38e9) is None
