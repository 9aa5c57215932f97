"""Simulated machine with an H200, for tests of the GPU benchmark."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.calibration.measurement_file import Fingerprint
from advisor.machine.machine import Machine
from advisor.probes import host
from advisor.probes.measurement import Measurement
from advisor.units import GIB, MIB
from benchmarks import gpu_engine
from benchmarks.engine_parts import cases, gpu_llama, gpu_machine, readings
from lab.points.paged import OwnRow, rows

SERVER = Fingerprint(
    cpu="AMD EPYC 9654 96-Core Processor",
    cores=16,
    memory=int(128 * GIB),
    gpus=("NVIDIA H200",),
    instruction_sets=("avx2", "avx512f"),
    gpu_memory=(int(143_771 * MIB),),
    driver="580.159.04",
)
PINNED = 52e9
PAGEABLE = 11e9
READ = 4.2e12
FIGURES = {"h2d_pinned": PINNED, "h2d_pageable": PAGEABLE, "device_read": READ, "ram_read": 150e9}


def measurements(_: float) -> list[Measurement]:
    return [
        Measurement(
            name=name,
            value=value,
            unit="B/s",
            spread=0.01,
            threads=16,
            when="2026-11-21T12:00:00+00:00",
        )
        for name, value in FIGURES.items()
    ]


def pretend(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Let the benchmark find the simulated machine, whose probes answer at once."""
    monkeypatch.setattr(gpu_machine, "missing", lambda: "")
    monkeypatch.setattr(gpu_engine, "fingerprint", lambda: SERVER)
    monkeypatch.setattr(gpu_machine, "PROBES", {"GPU": (measurements, 1.0)})
    monkeypatch.setattr(gpu_engine, "PROBED", {"llama": ("GPU",), "transformers": ("GPU",)})
    monkeypatch.setattr(gpu_llama, "write", lambda file, *_, **__: file.write(b"GGUF"))
    facts = replace(host.facts(), cores=16, memory_available=int(100 * GIB))
    monkeypatch.setattr(host, "facts", lambda: facts)
    return gpu_machine.measured(readings.Readings(Path(), SERVER, measurements(1.0)))


def session(folder: Path, machine: Machine, told: list[str], **more: Any) -> cases.Session:
    return cases.Session(
        **{
            "record": readings.Readings(folder / "readings.json", SERVER),
            "folder": folder,
            "machine": lambda: machine,
            "probe": lambda: None,
            "over": lambda: False,
            "free": lambda: 100 * GIB,
            "say": told.append,
            **more,
        }
    )


def run(*words: str) -> None:
    gpu_engine.main(gpu_engine.parsed(words))


def read_rows(path: Path) -> tuple[OwnRow, ...]:
    return rows(path)
