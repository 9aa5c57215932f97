"""The GPU benchmark with a pretended llama-bench, machine and probes."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpu_server
import own_rows
import pytest
from gpu_server import FIGURES, PAGEABLE, PINNED, SERVER, measurements, read_rows, run, session

from advisor.errors import InputError
from advisor.failures import ProbeError
from advisor.machine.machine import Machine
from advisor.probes.gpu import cuda
from advisor.probes.measurement import Measurement
from advisor.units import GIB, MIB
from benchmarks import gpu_engine
from benchmarks.engine_parts import cases, gpu_llama, gpu_machine, readings, rows
from lab.points.paged import OwnRow

ONE_ROUND = ("--only", "llama", "--model", "TinyLlama")
SPEED = 100.0
"""Of the pretended llama-bench, whatever it is asked; a quarter less at each depth but the first
[tokens/s]."""
BENCH = """#!{python}
import itertools, json, sys
words = sys.argv[1:]
asked = dict(zip(words[::2], words[1::2]))
with open({log!r}, "a") as log:
    log.write(json.dumps(asked) + "\\n")
with open(asked["-m"], "rb") as file:
    assert file.read(4) == b"GGUF"
shared = {{
    "build_commit": "8cf427ff", "build_number": 11549,
    "cpu_info": "AMD EPYC 9654 96-Core Processor", "gpu_info": {gpu!r}, "backends": {backends!r},
    "model_filename": asked["-m"], "model_type": "llama 8B Q8_0", "model_size": 4677120000,
    "model_n_params": 7615616512, "n_batch": 2048, "n_ubatch": 512, "n_threads": int(asked["-t"]),
    "cpu_mask": "0x0", "cpu_strict": False, "poll": 50, "type_k": "f16", "type_v": "f16",
    "n_gpu_layers": int(asked["-ngl"]), "n_cpu_moe": int(asked.get("-ncmoe", 0)),
    "split_mode": "layer", "main_gpu": 0, "no_kv_offload": False, "flash_attn": 1,
    "devices": "auto", "tensor_split": "0.00", "embeddings": False,
    "n_gen": int(asked["-n"]), "test_time": "2026-11-21T11:58:51Z",
}}
runs = []
prompts = [int(size) for size in asked["-p"].split(",")]
depths = [int(depth) for depth in asked.get("-d", "0").split(",")]
for place, (prompt, depth) in enumerate(itertools.product(prompts, depths)):
    rate = {speed} * 0.75**place * (10 if prompt else 1)
    seconds = (prompt or int(asked["-n"])) / rate
    runs.append(shared | {{
        "n_depth": depth, "n_prompt": prompt, "avg_ns": int(seconds * 1e9),
        "stddev_ns": 0, "avg_ts": rate, "stddev_ts": 0.0,
        "samples_ns": [int(seconds * 1e9)] * int(asked["-r"]),
        "samples_ts": [rate] * int(asked["-r"]),
    }})
print(json.dumps(runs, indent=2))
"""
"""Options and keys as in tools/llama-bench/README.md at 5a32f10, `gpu_info` among them."""


def program(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / "llama-bench"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def bench(monkeypatch: Any, folder: Path, gpu: str = "NVIDIA H200", backends: str = "CUDA") -> Path:
    """A llama-bench on the PATH, and the file in which it keeps what it was asked."""
    log = folder / "asked"
    text = BENCH.format(
        python=sys.executable, log=str(log), gpu=gpu, backends=backends, speed=SPEED
    )
    program(folder / "bin", text)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return log


def asked_of(log: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return gpu_server.pretend(monkeypatch)


def test_the_machine_has_its_probed_values(server: Machine) -> None:
    (gpu,) = server.gpus
    assert gpu.name == "H200 SXM"
    assert gpu.memory.value == 143_771 * MIB
    assert (gpu.link.pinned.value, gpu.link.pageable.value) == (PINNED, PAGEABLE)
    assert (server.host.cores, server.host.bandwidth.value) == (16, 150e9)
    bare = gpu_machine.as_found(readings.Readings(Path(), SERVER, measurements(1.0)))
    assert bare.gpus[0].link.pinned.value != PINNED


def test_ram_may_be_stated_where_the_system_shows_less(server: Machine) -> None:
    small = replace(SERVER, memory=int(8 * GIB))
    result = readings.Readings(Path(), small, measurements(1.0))
    assert gpu_machine.measured(result).host.memory.value == 8 * GIB
    assert gpu_machine.measured(result, 128).host.memory.value == 128 * GIB
    assert gpu_engine.free(16) == 16 * GIB
    assert gpu_engine.free(None) == 100 * GIB


def test_a_probe_that_measures_nothing_is_reported(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    def refuse(_: float) -> list[Measurement]:
        raise ProbeError("No engine is here.")

    probes = {"engine": (refuse, 1.0), "GPU": (measurements, 1.0)}
    monkeypatch.setattr(gpu_machine, "PROBES", probes)
    result = readings.Readings(tmp_path / "readings.json", SERVER)
    gpu_machine.probe(result, ("engine", "GPU"))
    assert [probe.name for probe in result.probes] == list(FIGURES)
    assert readings.read(result.path) == result
    assert "engine probe measured nothing: No engine is here." in capsys.readouterr().err


def test_llama_bench_gets_the_options_of_the_placement(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = bench(monkeypatch, tmp_path)
    told = list[str]()
    chosen = [case for case in gpu_llama.cases() if "MoE 7B" in case.name or "Tiny" in case.name]
    gpu_llama.read_once(chosen, session(tmp_path, server, told))
    calls = {(record["-ngl"], record.get("-ncmoe"), record["-ub"]) for record in asked_of(log)}
    # 22 layers of TinyLlama and 16 of the other; the head counts as one more.
    assert calls == {
        *((layers, None, "512") for layers in ("23", "12", "17", "9")),
        *(("17", "16", size) for size in ("512", "2048")),
    }
    assert {(call["-p"], call["-n"], call.get("-d")) for call in asked_of(log)} == {
        ("0", "64", "512,4096"),
        ("512,4096", "0", None),
    }
    assert {record["-t"] for record in asked_of(log)} == {"16"}
    assert len(told) == 2 * 6
    assert "MoE 7B-A1B Q4_K_M, experts in RAM, at 4096: 75.00 tokens/s" in told
    assert not list(tmp_path.glob("*.gguf"))


def test_predicted_stands_beside_measured(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    bench(monkeypatch, tmp_path)
    table = tmp_path / "rows.csv"
    run(*ONE_ROUND, "--keep", str(tmp_path / "kept"), "--csv", str(table))
    printed = capsys.readouterr().out
    assert printed.count("TinyLlama-1.1B Q6_K") == 4
    rows = read_rows(table)
    assert [(row.category, row.ngl, row.context_depth) for row in rows] == [
        ("resident", 22, 512),
        ("resident", 22, 4096),
        ("partial", 11, 512),
        ("partial", 11, 4096),
    ]
    assert [row.tg_tps for row in rows] == [100.0, 75.0] * 2
    assert [row.pp_tps for row in rows] == [1000.0, 750.0] * 2
    for case in [case for case in gpu_llama.cases() if "Tiny" in case.name]:
        for row in (row for row in rows if row.category == case.category):
            own = cases.predicted(case, server, row.context_depth)
            assert own.decode is not None
            assert row.predicted_tps == pytest.approx(float(own.decode.value), rel=1e-3)
            ratio = f"({row.predicted_tps / row.tg_tps:.2f} times"
            assert ratio in printed
    assert "all in the GPU: median error" in printed
    assert "half in the GPU: median error" in printed


def test_rows_are_accepted_by_the_checks_of_the_file(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench(monkeypatch, tmp_path)
    table = tmp_path / "rows.csv"
    shutil.copy(own_rows.ROOT / "data/measurements/own.csv", table)
    before = table.read_text(encoding="utf-8")
    run("--only", "llama", "--model", "MoE 7B", "--csv", str(table))
    assert table.read_text(encoding="utf-8").startswith(before)
    added = read_rows(table)[len(before.splitlines()) - 1 :]
    assert [row.category for row in added] == [
        *["resident"] * 2,
        *["partial"] * 2,
        *["moe_offload"] * 4,
    ]
    for row in added:
        own_rows.check_ranges(row)
        own_rows.check_what_ran_where_and_how(row)
        own_rows.check_shape(row)
    assert added[0].runtime == "llama.cpp (llama-bench 11549 8cf427ff, CUDA)"
    assert ["-ub 2048" in row.source_note for row in added] == [False] * 6 + [True] * 2
    assert added[0].source_note.endswith(
        "; to the GPU 52.0 GB/s from pinned memory, 11.0 GB/s from pageable"
    )


def changed(row: OwnRow, **cells: object) -> OwnRow:
    return OwnRow({**row.cells, **{name: str(value) for name, value in cells.items()}})


def test_promises_are_judged_by_engine_and_place(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench(monkeypatch, tmp_path)
    run(*ONE_ROUND, "--csv", str(tmp_path / "rows.csv"))
    rows = read_rows(tmp_path / "rows.csv")
    right = [changed(row, predicted_tps=row.tg_tps * 1.09) for row in rows]
    own_rows.check_promises(right)
    wrong = [changed(row, predicted_tps=row.tg_tps * 2) for row in right]
    own_rows.check_promises([*wrong[:2], *right[2:]])  # no promise of what lies in the GPU
    with pytest.raises(AssertionError, match="partial"):
        own_rows.check_promises([*right[:2], wrong[2], right[3]])
    experts = [changed(row, category="moe_offload") for row in right]
    own_rows.check_promises(experts)
    with pytest.raises(AssertionError, match="moe_offload"):
        own_rows.check_promises([*experts[:3], changed(wrong[3], category="moe_offload")])
    drive = [changed(entry, category="nvme") for entry in right]
    own_rows.check_promises(changed(row, predicted_tps=row.tg_tps * 1.4) for row in drive)
    with pytest.raises(AssertionError, match="nvme"):
        own_rows.check_promises(changed(row, predicted_tps=row.tg_tps * 1.6) for row in drive)


def test_readings_are_compared_anew_without_the_machine(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    bench(monkeypatch, tmp_path)
    kept = tmp_path / "kept"
    first = tmp_path / "first.csv"
    second = tmp_path / "second.csv"
    run(*ONE_ROUND, "--keep", str(kept), "--csv", str(first), "--rounds", "2")
    capsys.readouterr()
    monkeypatch.setattr(gpu_machine, "missing", lambda: "it has no GPU")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(rows, "system", lambda: "Windows 11")
    monkeypatch.setattr(rows, "today", lambda: "2030-01-01")
    run("--rounds", "0", "--keep", str(kept), "--csv", str(second), "--cpu", "AMD EPYC, 16 cores")
    records = read_rows(second)
    assert [record.rounds for record in records] == [2] * 4
    assert {record.cpu for record in records} == {"AMD EPYC, 16 cores"}
    assert [{**record.cells, "cpu": SERVER.cpu} for record in records] == [
        record.cells for record in read_rows(first)
    ]


def test_another_machines_readings_are_not_added_to(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench(monkeypatch, tmp_path)
    run(*ONE_ROUND, "--keep", str(tmp_path))
    monkeypatch.setattr(gpu_engine, "fingerprint", lambda: replace(SERVER, cores=8))
    with pytest.raises(InputError, match="holds another machine's readings; give another folder"):
        run(*ONE_ROUND, "--keep", str(tmp_path))


def test_readings_of_the_other_benchmark_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "readings.json"
    before = {"target": "x", "depth": 128, "share": 0.5, "seconds": 0.1, "prompt": None}
    path.write_text(json.dumps({"probes": [], "runs": [before]}), encoding="utf-8")
    rows = readings.read(path)
    assert [case.seconds for case in rows.of("x", 128, 0.5)] == [0.1]
    rows.keep()
    assert readings.read(path) == rows


def test_nothing_is_begun_after_the_time(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    log = bench(monkeypatch, tmp_path)
    run(*ONE_ROUND, "--seconds", "0", "--models", str(tmp_path / "new"))
    assert len(asked_of(log)) == 1  # whether it sees a GPU
    assert "tokens/s" not in capsys.readouterr().out


def test_the_model_timed_least_comes_first(server: Machine, tmp_path: Path) -> None:
    result = readings.Readings(tmp_path / "readings.json", SERVER)
    chosen = [case for case in gpu_llama.cases() if "Tiny" in case.name or "3.1-8B" in case.name]
    assert next(iter(cases.least_first(chosen, result))) == "Llama-3.1-8B Q8_0"
    for case in chosen[:2]:
        for depth in case.depths:
            option = readings.Run(target=case.name, place=case.place, depth=depth, seconds=1.0)
            result.runs.append(option)
    assert next(iter(cases.least_first(chosen, result))) == "TinyLlama-1.1B Q6_K"


def test_no_driver_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def refuse() -> None:
        raise ProbeError("This machine has no NVIDIA driver.")

    monkeypatch.setattr(cuda, "driver", refuse)
    run()
    assert capsys.readouterr().out == "gpu_engine: skipped, This machine has no NVIDIA driver.\n"


def test_a_gpu_missing_from_the_catalogue_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(cuda, "driver", SimpleNamespace)
    monkeypatch.setattr(cuda, "devices", lambda _: ["one"])
    unknown = replace(SERVER, gpus=("NVIDIA Z9999",), gpu_memory=(0,))
    monkeypatch.setattr(gpu_machine, "fingerprint", lambda: unknown)
    run()
    text = "gpu_engine: skipped, data/hardware/gpus.csv has no row of NVIDIA Z9999; add one.\n"
    assert capsys.readouterr().out == text
    monkeypatch.setattr(gpu_machine, "fingerprint", lambda: SERVER)
    assert gpu_machine.missing() == ""


def test_no_llama_bench_is_reported(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    run("--only", "llama")
    assert "llama: skipped, no llama-bench on the PATH; build llama" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho oops >&2; exit 3", "could not run it: it ended with code 3: ...oops"),
        ("#!/bin/sh\necho 'no json ]'", "printed no JSON"),
        ("#!/bin/sh\necho '[]'", "printed no run"),
        ("#!/bin/sh\nexec sleep 600", "had not ended after 0 s"),
    ],
)
def test_a_llama_bench_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str
) -> None:
    program(tmp_path / "bin", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    if "sleep" in text:
        monkeypatch.setattr(gpu_llama, "LONGEST", 0.1)
    assert words in gpu_llama.missing()


def test_a_llama_bench_without_a_gpu_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench(monkeypatch, tmp_path, gpu="", backends="CPU")
    assert gpu_llama.missing().endswith("sees no GPU (its backends: CPU).")
    bench(monkeypatch, tmp_path)
    assert gpu_llama.missing() == ""


def test_a_case_that_fails_does_not_stop_the_others(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = bench(monkeypatch, tmp_path)
    told = list[str]()
    chosen = [case for case in gpu_llama.cases() if "Tiny" in case.name]
    small = replace(server.gpus[0], memory=replace(server.gpus[0].memory, value=GIB))
    narrow = replace(server, gpus=(small,))
    gpu_llama.read_once(chosen, session(tmp_path, narrow, told))
    assert {record["-ngl"] for record in asked_of(log)} == {"12"}
    assert told[0].startswith("TinyLlama-1.1B Q6_K, all in the GPU: skipped, ")
    assert "GB of memory are missing" in told[0]


def test_too_little_memory_is_reported(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench(monkeypatch, tmp_path)
    told: list[str] = []
    chosen = [case for case in gpu_llama.cases() if "Tiny" in case.name]
    gpu_llama.read_once(chosen, session(tmp_path, server, told, free=lambda: 0.5 * GIB))
    assert len(told) == 2
    # 1.1 billion weights in Q6_K, 210 bytes for 256 of them.
    assert all("it needs 0.8 GiB of memory and 0.5 GiB are free." in entry for entry in told)
