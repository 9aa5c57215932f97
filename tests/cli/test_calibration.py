"""`calibration list|show|export|import|delete`, `probe --export` and `--machine NAME`."""

import io
import json
from dataclasses import asdict, replace

import pytest
from imported_machine import PARTS, RAM, SERVER

from advisor.calibration import imported_names, imported_store, local_machine
from advisor.calibration.measurement_file import to_json
from advisor.cli import calibration
from advisor.cli.main import main
from advisor.probes import suite


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    for module in (local_machine, calibration):
        monkeypatch.setattr(module, "fingerprint", lambda: PARTS)


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "server.json"
    path.write_text(json.dumps(to_json(SERVER)))
    return path


def test_nothing_measured(run):
    code, out, _ = run("calibration", "list")
    assert code == 0
    assert out.startswith("this ")
    assert "nothing measured" in out
    assert "probe --save" in run("calibration", "show", "this")[1]


def test_import_list_show_delete(run, file):
    code, out, _ = run("calibration", "import", file, "--name", "server")
    assert (code, out.split(".")[0]) == (0, "Kept as server: 3 figures")
    assert "NVIDIA GeForce RTX 4090, 256.0 GB of RAM" in run("calibration", "list")[1]
    shown = run("calibration", "show", "server")[1]
    assert "150 GB/s  within 2%  20 November 2026" in shown
    assert run("calibration", "delete", "server")[0] == 0
    code, _, err = run("calibration", "show", "server")
    assert code == 2
    assert "No machine is called 'server'" in err


def test_rename(run, file):
    run("calibration", "import", file, "--name", "server")
    code, out, _ = run("calibration", "rename", "server", "rack 4")
    assert (code, out) == (0, "Renamed server to rack 4.\n")
    assert imported_names.names() == ("rack 4",)
    assert run("calibration", "rename", "server", "x")[0] == 2


def test_json(run, file):
    run("calibration", "import", file, "--name", "server")
    listed = json.loads(run("calibration", "list", "--json")[1])
    assert [(entry["name"], entry["figures"]) for entry in listed] == [("this", 0), ("server", 3)]
    assert listed[1]["fingerprint"]["gpus"] == ["NVIDIA GeForce RTX 4090"]
    shown = json.loads(run("calibration", "show", "server", "--json")[1])
    assert shown["measurements"][0]["name"] == "ram_read"
    assert shown["stale"] == ""


def test_an_export_can_be_imported(run, tmp_path):
    local_machine.save([RAM])
    path = tmp_path / "out.json"
    assert run("calibration", "export", "this", "-o", path)[0] == 0
    assert json.loads(run("calibration", "export", "this")[1]) == json.loads(path.read_text())
    run("calibration", "import", path, "--name", "copy")
    assert imported_store.probed("copy") == imported_store.probed("this")


def test_a_plain_list_takes_its_parts_from_the_command_line(run, tmp_path, monkeypatch):
    plain = json.dumps([asdict(RAM)]).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(plain)))
    options = ("--cpu", "EPYC 7763", "--gpu", "RTX 3090", "--gpu", "RTX 3090", "--ram-gb", "64")
    assert run("calibration", "import", "-", "--name", "bare", *options)[0] == 0
    assert "EPYC 7763, RTX 3090, RTX 3090, 64.0 GB" in run("calibration", "list")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import", "none.json", "--name", "x"), "none.json cannot be read"),
        (("import", "{file}", "--name", "this"), "give another name"),
        (("import", "{file}", "--name", "x", "--ram-gb", "-1"), "(--ram-gb) is -1"),
        (("import", "{file}", "--name", "x", "--ram-gb", "nan"), "(--ram-gb) is nan"),
        (("export", "this", "-o", "no/such/folder.json"), "cannot be written"),
        (("import", "/dev/zero", "--name", "x"), "a pipe or a device"),
        (("delete", "nobody"), "No machine is called 'nobody'"),
    ],
)
def test_an_impossible_combination_is_reported(run, file, arguments, words):
    code, _, err = run("calibration", *(argument.format(file=file) for argument in arguments))
    assert code == 2
    assert words in err


def test_a_damaged_machine_does_not_hide_the_others(run, file, tmp_path):
    run("calibration", "import", file, "--name", "good")
    run("calibration", "import", file, "--name", "bad")
    (tmp_path / "data" / "machines" / "bad.json").write_text("{")
    code, out, _ = run("calibration", "list")
    assert code == 0
    assert "cannot be read" in out
    assert "good             3 figures" in out


def test_a_probe_is_exported_with_the_parts_and_not_saved(run, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "measure", lambda *_, **__: (RAM,))
    path = tmp_path / "machine.json"
    code, out, _ = run("probe", "ram", "--json", "--export", path)
    assert code == 0
    assert json.loads(out)[0]["name"] == "ram_read"
    run("calibration", "import", path, "--name", "server")
    assert imported_store.probed("server").fingerprint == PARTS
    assert imported_store.measured("this").measurements == {}


def estimate(run, *options):
    code, out, err = run("estimate", "--model", "Llama-3-8B", "--json", *options)
    assert code == 0, err
    load = next(item for item in json.loads(out) if item["placement"] == "cpu-offload")
    return {row["what"]: row for row in load["assumptions"]}, load


def test_a_named_machine_is_estimated_with_its_figures(run):
    imported_store.keep(SERVER, "server")
    half = replace(SERVER, history=(replace(RAM, value=75e9),))
    imported_store.keep(half, "half")
    options = ("--runtime", "llama.cpp", "--gpu-layers", "0", "--machine")
    (assumed, full), (_, halved) = (estimate(run, *options, name) for name in ("server", "half"))
    assert full["decode_tps"] > halved["decode_tps"]
    assert any(row["source"] == "probed on server" for row in assumed.values())


def test_several_machines_are_described_not_named(run):
    imported_store.keep(SERVER, "server")
    code, _, err = run("estimate", "--model", "Llama-3-8B", "--machine", "server", "--machines", 2)
    assert code == 2
    assert "leave one of them out" in err
