"""Machines that were measured elsewhere: kept by name, carried, believed, forgotten."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest
from imported_machine import DISK, PARTS, RAM, SERVER

from advisor.calibration import imported_names, imported_store, local_machine, measurement_file
from advisor.calibration.imported_store import named_machine
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import MeasurementHistory, imported, to_json
from advisor.errors import InputError, UnknownName
from advisor.failures import StoreError
from advisor.machine.spec import MachineSpec
from advisor.probes.measurement import CurvePoint
from advisor.units import Provenance

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    return tmp_path / "machines"


def text(history: MeasurementHistory = SERVER, **changes: object) -> str:
    return json.dumps({**to_json(history), **changes})


def test_an_export_is_imported_whole():
    assert imported(text(), "a file") == SERVER


def test_a_plain_list_of_a_probe_has_no_parts():
    rows = [asdict(RAM), asdict(DISK)]
    del rows[1]["curve"]
    assert imported(json.dumps(rows), "a file") == MeasurementHistory(
        fingerprint=None, history=(RAM, DISK)
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("", "no measurements"),
        ("{}", "'fingerprint' is missing"),
        ("7", "no measurements"),
        ("[7]", "no measurements"),
        ("[]", "holds no measurement;"),
        ('[{"name": "x"}]', "measurements[0].value is missing"),
        ("[" * 100_000, "no measurements"),
        (b"\xff\xfe", "no measurements"),
        (text(version=99), "version 99"),
        (text(version="new"), "no measurements"),
        (text(fingerprint={"cpu": "x"}), "fingerprint.cores is missing"),
        (text(measurements=[{**asdict(RAM), "value": -1}]), "measurements[0].value is -1"),
        (text(measurements=[{**asdict(RAM), "unit": "GB/s"}]), "ram_read is in GB/s; units are"),
        (text(measurements=[{**asdict(RAM), "when": "today"}]), "today"),
    ],
)
def test_a_file_of_something_else_is_refused_in_words(wrong, words):
    with pytest.raises(InputError, match="probe --json") as refused:
        imported(wrong, "some.json")
    assert words in str(refused.value)
    assert str(refused.value).startswith("some.json holds")


def test_a_file_larger_than_any_is_refused(monkeypatch):
    monkeypatch.setattr(measurement_file, "LARGEST", 100)
    with pytest.raises(InputError, match="more than 100 bytes"):
        imported(text(), "some.json")


def test_a_machine_measured_as_often_as_is_kept_can_be_carried():
    curve = tuple(
        CurvePoint(threads=n, block=n, value=1 / 3 * 1e9, best=2 / 3 * 1e9) for n in range(9)
    )
    # 14 figures with a curve (RAM, three of the drive, ten of a GPU), 20 of llama.cpp without.
    names = [f"ram_read_node{n}" for n in range(14)] + [f"engine_read_{n}" for n in range(20)]
    history = tuple(
        replace(RAM, name=name, note="x" * 300, curve=curve if "ram" in name else ())
        for name in names
        for _ in range(measurement_file.MOST_KEPT)
    )
    written = json.dumps(to_json(MeasurementHistory(fingerprint=PARTS, history=history)), indent=1)
    assert len(written) < measurement_file.LARGEST


def test_machines_are_kept_by_name():
    imported_store.keep(SERVER, "server")
    imported_store.keep(replace(SERVER, fingerprint=None), "Büro 2")
    assert imported_names.names() == ("Büro 2", "server")
    assert imported_store.probed("SERVER") == SERVER
    assert imported_store.measured("server", NOW).figure("ram_read").source == "probed on server"


def test_imported_measurements_age_as_those_of_this_machine():
    imported_store.keep(SERVER, "server")
    assert imported_store.measured("server", NOW).stale == ""
    later = datetime(2027, 11, 21, tzinfo=UTC)
    assert "over 92 days ago" in imported_store.measured("server", later).stale


def test_measuring_again_grows_the_history():
    imported_store.keep(SERVER, "server")
    again = replace(RAM, value=160e9, when="2026-11-21T10:00:00+00:00")
    # The plain list says nothing of the parts; those that are known stay.
    kept = imported_store.keep(MeasurementHistory(fingerprint=None, history=(again,)), "Server")
    assert kept.fingerprint == PARTS
    assert len(imported_store.probed("server").history) == 4
    assert imported_store.probed("server").latest["ram_read"] == again
    assert imported_names.names() == ("server",)


def test_a_name_stands_for_one_machine():
    imported_store.keep(SERVER, "server")
    other = replace(SERVER, fingerprint=replace(PARTS, cores=8))
    with pytest.raises(InputError, match=r"another machine already.*64 cores, and 8.*another name"):
        imported_store.keep(other, "server")
    assert imported_store.probed("server") == SERVER


@pytest.mark.parametrize(
    "name", ["", " ", "this", "This", "a/b", "..", ".hidden", "a\\b", "x" * 41, "a\n", "a."]
)
def test_names_that_cannot_be(name, folder):
    if name == "a\n":
        name = "a\nb"
    with pytest.raises(InputError, match=r"another name|cannot be the name"):
        imported_store.keep(SERVER, name)
    assert not folder.exists()


def test_unknown_names_come_with_close_ones():
    imported_store.keep(SERVER, "server")
    for ask in (imported_store.probed, imported_store.delete, imported_store.measured):
        with pytest.raises(UnknownName, match="Did you mean server"):
            ask("srever")


def test_deleting_forgets_one(monkeypatch):
    monkeypatch.setattr(local_machine, "fingerprint", lambda: PARTS)
    imported_store.keep(SERVER, "server")
    local_machine.save([RAM])
    imported_store.delete("server")
    assert imported_names.names() == ()
    assert imported_store.measured("this").figure("ram_read").value == 150e9
    imported_store.delete("this")
    assert imported_store.measured("this") == Calibration()
    assert imported_store.probed("this") == MeasurementHistory(fingerprint=PARTS, history=())


def test_a_damaged_file_is_reported_and_can_be_deleted(folder):
    imported_store.keep(SERVER, "server")
    (folder / "server.json").write_text("{")
    with pytest.raises(StoreError, match="Delete that machine and import it again"):
        imported_store.probed("server")
    imported_store.delete("server")
    assert imported_names.names() == ()


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="set ADVISOR_DATA_DIR"):
        imported_store.keep(SERVER, "server")


def test_a_named_machine_is_predicted_with_its_own_figures():
    imported_store.keep(SERVER, "server")
    machine = named_machine("server")
    assert machine.host.name == PARTS.cpu
    assert (machine.host.cores, machine.host.memory.value) == (64, 256 * 2**30)
    assert [gpu.name for gpu in machine.gpus] == ["RTX 4090"]
    figures = (machine.host.bandwidth, machine.disk.sequential, machine.gpus[0].link.pinned)
    assert [figure.value for figure in figures] == [150e9, 6.4e9, 21e9]
    assert {figure.kind for figure in figures} == {Provenance.MEASURED}
    assert {figure.source for figure in figures} == {"probed on server"}


def test_typed_values_take_precedence_over_imported_ones():
    imported_store.keep(SERVER, "server")
    machine = named_machine("server", MachineSpec(ram_gbs=99, gpu="none"))
    assert machine.host.bandwidth.value == 99e9
    assert machine.gpus == ()


def test_without_its_measurements_figures_are_assumed():
    imported_store.keep(SERVER, "server")
    machine = named_machine("server", measured=Calibration())
    assert machine.host.bandwidth.kind is Provenance.ASSUMED


def test_a_machine_of_unknown_size_asks_for_it():
    imported_store.keep(MeasurementHistory(fingerprint=None, history=(RAM,)), "bare")
    with pytest.raises(InputError, match=r"how much RAM bare has.*--ram-gb"):
        named_machine("bare")
    machine = named_machine("bare", MachineSpec(ram_gb=128))
    assert machine.host.memory.value == 128 * 2**30
    assert machine.host.bandwidth.value == 150e9
    assert machine.host.cores == 64  # the most threads that read


def test_typed_parts_fill_those_missing_from_the_file():
    bare = MeasurementHistory(fingerprint=None, history=(RAM,))
    assert imported_store.with_parts(bare) == bare
    history = imported_store.with_parts(bare, cpu="EPYC 7763", gpus=["RTX 3090"], memory=64 * 2**30)
    imported_store.keep(history, "bare")
    machine = named_machine("bare")
    assert [gpu.name for gpu in machine.gpus] == ["RTX 3090"]
    assert machine.host.cores == 64  # AMD: EPYC 7763 has 64 cores
    assert imported_store.with_parts(SERVER, cpu="other", memory=1) == SERVER


def test_this_is_the_machine_we_are_on(monkeypatch):
    monkeypatch.setattr(local_machine, "load", lambda: Calibration())
    assert named_machine("this").host == local_machine.this_machine().host


def test_a_machine_is_renamed(folder):
    imported_store.keep(SERVER, "server")
    imported_store.keep(replace(SERVER, history=(RAM,)), "other")
    assert imported_store.rename("SERVER", " Server 2 ") == "Server 2"
    assert imported_names.names() == ("other", "Server 2")
    assert imported_store.probed("server 2") == SERVER
    assert imported_store.rename("server 2", "server 2") == "server 2"  # other capitals alone
    with pytest.raises(InputError, match="Another machine is called OTHER already"):
        imported_store.rename("server 2", "OTHER")
    assert len(imported_store.probed("other").history) == 1
    for wrong in ("", "a/b", "this"):
        with pytest.raises(InputError, match=r"cannot be the name|give another name"):
            imported_store.rename("server 2", wrong)
    with pytest.raises(InputError, match="only others have names"):
        imported_store.rename("this", "mine")
    with pytest.raises(UnknownName):
        imported_store.rename("nobody", "x")


def test_a_machine_that_cannot_be_renamed_is_reported(monkeypatch):
    imported_store.keep(SERVER, "server")

    def refused(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(imported_store.Path, "rename", refused)
    with pytest.raises(StoreError, match=r"server cannot be renamed in .* \(Read-only"):
        imported_store.rename("server", "x")


def test_a_name_that_nobody_imported_is_a_usual_machine():
    machine = named_machine("Mac Studio M3 Ultra 512GB")
    assert machine.host.memory.value == 512 * 2**30
    with pytest.raises(UnknownName):
        named_machine("potato")
