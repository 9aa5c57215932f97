"""The GPU benchmark's part for Transformers: without them, and with them on the processor."""

import csv
import importlib.util
import json
import math
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpu_server
import own_rows
import pytest
from gpu_server import read_rows, run, session

from advisor.cost_model.placement import Location, PlacementStrategy
from advisor.errors import Refusal
from advisor.failures import ProbeError
from advisor.machine.machine import Machine
from advisor.model.architecture import ArchitectureSpec
from advisor.model.build import build
from advisor.model.catalog import in_format
from advisor.probes.measurement import Measurement
from advisor.runtimes import ACCELERATE
from advisor.units import GB, GIB, MIB
from benchmarks.engine_parts import capped, cases, checkpoint, gpu_transformers, talk

needs_transformers = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("accelerate", "transformers", "torch")),
    reason="accelerate, transformers and torch are not installed (requirements-oracles.txt)",
)
LITTLE = ArchitectureSpec(
    name="little",
    layers=6,
    hidden=256,
    intermediate=704,
    heads=4,
    kv_heads=2,
    head_dim=64,
    vocab=2048,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return gpu_server.pretend(monkeypatch)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo 'ModuleNotFoundError: No module named x' >&2; exit 1", "named x"),
        ("echo False", "torch sees no GPU"),
        ("exec sleep 600", "took over 0 s to import"),
        ("echo True", ""),
    ],
)
def test_a_python_without_the_required_packages_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    if "sleep" in text:
        monkeypatch.setattr(gpu_transformers, "IMPORTS", 0.1)
    assert words in gpu_transformers.missing()
    assert bool(words) == bool(gpu_transformers.missing())


def test_too_little_disk_is_reported(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []
    usage = SimpleNamespace(free=3 * GB)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    gpu_transformers.read_once(gpu_transformers.cases(), session(tmp_path, server, told))
    assert len(told) == 2  # once for each model
    # 1.1 billion weights of two bytes, and 2 GB that stay free.
    assert "it needs 4.2 GB of disk" in told[0]


def little(strategy: PlacementStrategy) -> cases.Case:
    place, category = gpu_transformers.PLACES[strategy]
    return cases.Case(
        name="little BF16-hf",
        place=place,
        category=category,
        facts=LITTLE,
        model=in_format(build(LITTLE), "BF16-hf"),
        runtime=ACCELERATE,
        strategy=strategy,
        depths=(gpu_transformers.DEPTH,),
    )


def test_a_checkpoint_holds_what_the_formulas_count(tmp_path: Path) -> None:
    weights = checkpoint.write(tmp_path, LITTLE).read_bytes()
    (length,) = struct.unpack("<Q", weights[:8])
    header = json.loads(weights[8 : 8 + length])
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    # Two tables of 2048 x 256; a layer has attention of 256 x (256 + 128 + 128 + 256), three
    # matrices of 256 x 704 and two norms; one norm more at the end.
    params = 2 * 2048 * 256 + 6 * (256 * 768 + 3 * 256 * 704 + 512) + 256
    assert max(ends) == 2 * params == len(weights) - 8 - length
    assert in_format(build(LITTLE), "BF16-hf").file_bytes == 2 * params
    values = struct.unpack("<H", weights[-2:])[0] << 16
    assert abs(struct.unpack("<f", struct.pack("<I", values))[0]) < 6 * checkpoint.DEVIATION


def test_the_printed_lines_load_the_model_with_the_placements_limits(
    server: Machine, tmp_path: Path
) -> None:
    small = [case for case in gpu_transformers.cases() if "TinyLlama" in case.name]
    for case in small:
        text = gpu_transformers.lines(case, server, tmp_path)
        compile(text, "lines", "exec")
        limits = cases.placed(case, server).limits
        assert f'0: "{int(limits[Location.vram(0)] / MIB)}MiB"' in text
        assert f'"cpu": "{int(limits[Location.RAM] / MIB)}MiB"' in text
        assert repr(str(tmp_path)) in text
        assert 'device_map="auto"' in text
    (drive,) = (
        estimate for estimate in small if estimate.strategy is PlacementStrategy.NVME_OFFLOAD
    )
    assert '"cpu": "0MiB"' in gpu_transformers.lines(drive, server, tmp_path)


def test_where_a_model_does_not_fit_it_is_refused(server: Machine, tmp_path: Path) -> None:
    small = replace(server.gpus[0], memory=replace(server.gpus[0].memory, value=1.5 * GIB))
    with pytest.raises(Refusal, match="GB of memory are missing"):
        cases.placed(gpu_transformers.cases()[0], replace(server, gpus=(small,)))


@pytest.mark.parametrize(("each", "tokens"), [(0.001, 64), (0.2, 30), (2.0, 16)])
def test_tokens_fill_their_time(each: float, tokens: int) -> None:
    assert gpu_transformers.tokens_in(6.0, each, 16) == tokens


def generated(seconds: Sequence[float]) -> gpu_transformers.Generated:
    steps = [(second, 2.0 * GB) for second in seconds]
    named = "Accelerate (transformers 5.23.0, accelerate 1.15.0, torch 2.13.0+cu130)"
    return gpu_transformers.Generated(runtime=named, first=0.5, steps=steps, cache=0.2 * GIB)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, int]]:
    """Transformers that take a second a token, and what was to be capped."""
    calls: list[tuple[bool, int]] = []

    def answer(
        job: Any, folder: Path, group: Path | None = None, pages: int = 0
    ) -> gpu_transformers.Generated:
        calls.append((group is not None, pages))
        return generated((1.0, 1.0, 4.0))

    class Group:
        def __enter__(self) -> Path:
            return Path()

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(gpu_transformers, "missing", lambda: "")
    monkeypatch.setattr(gpu_transformers, "_generated", answer)
    monkeypatch.setattr(
        gpu_transformers, "cases", lambda: [little(strategy) for strategy in PlacementStrategy]
    )
    monkeypatch.setattr(capped, "missing", lambda: "")
    monkeypatch.setattr(capped, "capped", lambda _: Group())
    drive = [
        Measurement(name=name, value=value, unit="B/s", spread=0.0, threads=4, when="2026-11-21")
        for name, value in (("disk_read_direct", 3e9), ("disk_read_mmap", 1e9))
    ]
    monkeypatch.setattr(gpu_transformers.read_rates, "measure", lambda *_, **__: drive)
    return calls


def test_a_model_from_the_drive_runs_under_a_cap_beside_the_drives_own_speed(
    server: Machine, pretended: list[tuple[bool, int]], tmp_path: Path, capsys: Any
) -> None:
    table = tmp_path / "rows.csv"
    run("--only", "transformers", "--csv", str(table), "--keep", str(tmp_path / "kept"))
    assert pretended == [(False, 0), (False, 0), (True, int(512 * MIB))]
    with table.open(encoding="utf-8") as file:
        by_category = {entry["category"]: entry for entry in csv.DictReader(file)}
    assert list(by_category) == ["resident", "stream_cpu", "nvme"]
    # The drive's tokens are averaged, as it may be slow now and fast then: 3 in 6 seconds.
    assert [entry["tg_tps"] for entry in by_category.values()] == ["1.000", "1.000", "0.500"]
    drive = by_category["nvme"]
    assert (drive["disk_gbs"], drive["read_gb"], drive["cache_gib"]) == ("3.000", "2.0000", "0.200")
    assert drive["pp_tps"] == "256.00"  # 128 tokens in half a second
    (row,) = (row for row in read_rows(table) if row.category == "nvme")
    own_rows.check_drive(row)
    for record in read_rows(table):
        own_rows.check_what_ran_where_and_how(record)
        assert math.isfinite(record.predicted_tps)
    assert "weights on the drive: median error" in capsys.readouterr().out
    assert not list(tmp_path.glob("**/*.safetensors"))


def test_without_a_right_to_groups_all_but_the_drive_runs(
    server: Machine,
    pretended: list[tuple[bool, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    monkeypatch.setattr(capped, "missing", lambda: "no right to make a control group; be root")
    run("--only", "transformers")
    assert len(pretended) == 2
    text = "weights on the drive: skipped, no right to make a control group; be root"
    assert text in capsys.readouterr().err


def test_a_folder_in_memory_is_no_drive(
    server: Machine,
    pretended: list[tuple[bool, int]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ProbeError("/tmp lies on tmpfs, which is memory and not a drive.")

    monkeypatch.setattr(gpu_transformers.read_rates, "measure", refuse)
    run("--only", "transformers")
    assert len(pretended) == 2
    assert "skipped, /tmp lies on tmpfs" in capsys.readouterr().err


def test_output_of_an_ended_process_is_reported(tmp_path: Path) -> None:
    script = "import sys; input(); print('{\"a\": 1}\\noops', flush=True); sys.exit('it broke')"
    command = (sys.executable, "-c", script)
    with talk.begun(command, tmp_path / "log") as exchange:
        assert exchange({"depth": 1}) == {"a": 1}
        with pytest.raises(ProbeError, match="The process said 'oops"):
            exchange(None)
        with pytest.raises(ProbeError, match="ended with code 1: it broke"):
            exchange(None)


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import time; time.sleep(600)")
    with talk.begun(command, tmp_path / "log", 0.2) as exchange, pytest.raises(ProbeError):
        exchange(None)


def test_a_cap_excludes_unmapped_pages(tmp_path: Path) -> None:
    for name, text in (
        ("memory.current", "9000"),
        ("memory.stat", "anon 5000\nfile 4000\nfile_mapped 300\n"),
    ):
        (tmp_path / name).write_text(text, encoding="ascii")
    assert capped.kept(tmp_path) == 9000 - 4000 + 300
    assert capped.cached(tmp_path) == 4000
    (tmp_path / "memory.max").touch()
    capped.limit(tmp_path, 5300)
    assert (tmp_path / "memory.max").read_text(encoding="ascii") == "5300"


def on_processor(text: str) -> str:
    """The printed lines where a GPU's share falls to the processor."""
    sizes = re.findall(r'"(\d+)MiB"', text)
    return re.sub(r"max_memory={.*}", f'max_memory={{"cpu": "{sum(map(int, sizes))}MiB"}}', text)


@needs_transformers
def test_transformers_reads_the_checkpoint_whole(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForCausalLM

    weights = load_file(checkpoint.write(tmp_path, LITTLE))
    chosen = AutoConfig.from_pretrained(tmp_path)
    theirs = AutoModelForCausalLM.from_config(chosen, dtype=torch.bfloat16).state_dict()
    assert {name: weight.shape for name, weight in weights.items()} == {
        name: their.shape for name, their in theirs.items()
    }
    assert all(weight.dtype == torch.bfloat16 for weight in weights.values())
    assert bool((weights["model.norm.weight"] == 1.0).all())
    assert float(weights["lm_head.weight"].float().std()) == pytest.approx(0.02, rel=0.02)


@needs_transformers
@pytest.mark.parametrize("strategy", PlacementStrategy)
def test_a_process_times_tokens_of_the_printed_lines(
    server: Machine, strategy: PlacementStrategy, tmp_path: Path
) -> None:
    """On the processor: what the GPU would hold lies in RAM, what the drive holds on the drive."""
    weights = checkpoint.write(tmp_path, LITTLE)
    text = gpu_transformers.lines(little(strategy), server, weights.parent)
    job = {"folder": str(tmp_path), "load": on_processor(text)}
    command = (
        sys.executable, "-m", "benchmarks.engine_parts.transformers_child", json.dumps(job),
    )  # fmt: skip
    with talk.begun(command, tmp_path / "log") as exchange:
        ready = exchange(None)
        answer = exchange({"depth": 16, "tokens": 5})
    from_drive = strategy is PlacementStrategy.NVME_OFFLOAD
    assert ready["places"] == (["cpu", "disk"] if from_drive else ["cpu"])
    assert re.fullmatch(own_rows.ACCELERATE, ready["runtime"])
    assert len(answer["steps"]) == 4
    assert all(seconds > 0 and read >= 0 for seconds, read in answer["steps"])
    assert answer["first"] > 0


@needs_transformers
def test_a_round_of_transformers_is_timed_and_compared(
    server: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setattr(gpu_transformers, "missing", lambda: "")
    monkeypatch.setattr(
        gpu_transformers, "cases", lambda: [little(strategy) for strategy in PlacementStrategy]
    )
    printed = gpu_transformers.lines
    monkeypatch.setattr(gpu_transformers, "lines", lambda *about: on_processor(printed(*about)))
    table = tmp_path / "rows.csv"
    run("--only", "transformers", "--csv", str(table), "--keep", str(tmp_path / "kept"))
    categories = [row.category for row in read_rows(table)]
    told = capsys.readouterr()
    assert categories[:2] == ["resident", "stream_cpu"], told.err
    if capped.missing() or "nvme" not in categories:
        assert "weights on the drive: skipped, " in told.err
        pytest.skip(f"no run from the drive here: {told.err.splitlines()[-1]}")
    (row,) = (row for row in read_rows(table) if row.category == "nvme")
    own_rows.check_drive(row)


def test_the_child_needs_no_engine_of_ours() -> None:
    """It runs in whatever Python has torch: nothing heavy of this package is imported."""
    code = "import sys, benchmarks.engine_parts.transformers_child; print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=own_rows.ROOT, capture_output=True, text=True, check=True
    )
    assert "numpy" not in done.stdout
    assert "psutil" not in done.stdout
