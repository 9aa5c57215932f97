"""Decode speed of models larger than the memory they may use: drive and engine in turns."""

import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from advisor import catalog
from advisor.architecture import ArchitectureFacts
from advisor.catalog import find_model
from advisor.estimate import estimate
from advisor.machine import Figure, Kind, Machine
from advisor.placement import RAM, Settings, Strategy, needed_bytes
from advisor.probes import disk, host
from advisor.probes.engine_job import Job, output_of
from advisor.probes.engine_xllamacpp import command, timings
from advisor.probes.synthetic_model import Synthetic, in_type, write
from advisor.probes.system import read_ahead
from advisor.runtimes import LLAMA_CPP
from advisor.units import MIB
from advisor.workload import Workload
from benchmarks.engine_parts.capped import capped, inside

SHARES = (0.5, 0.66, 0.8)
"""Memory, in sizes of the file."""
DISK_SECONDS, TOKENS, DEPTH = 6.0, 8, 16
PROCESS = 30 * MIB
"""What the process takes beside the model's own buffers, assumed [B]."""
WITHIN = 1.5


@dataclass(frozen=True, kw_only=True)
class Paged:
    """One model under one cap.

    Attributes:
        synthetic: the model.
        share: memory, in sizes of the file.
        cache: what of it is left for pages [B].
        rates: tokens per second, one figure a round.
        drives: the drive as it was read before each.
    """

    synthetic: Synthetic
    share: float
    cache: float
    rates: list[float]
    drives: list[tuple[float, float]]

    @property
    def measured(self) -> float:
        """Median over rounds [tokens/s]."""
        return statistics.median(self.rates)


def models() -> list[Synthetic]:
    """A dense one, and one with experts."""
    experts = ArchitectureFacts(
        name="MoE 2.6B-A0.5B", layers=12, hidden=2048, moe_intermediate=1024, experts=32,
        experts_per_token=4, heads=16, kv_heads=8, head_dim=128, vocab=4096,
    )  # fmt: skip
    return [in_type(find_model("TinyLlama-1.1B"), "Q8_0"), in_type(experts, "Q4_K")]


def read(folder: Path, rounds: int, machine: Machine) -> list[Paged]:
    """The drive, then each model under each cap, again and again."""
    found: list[Paged] = []
    for synthetic in models():
        with _filled(folder, synthetic) as path:
            for share in SHARES:
                size = path.stat().st_size
                one = Paged(
                    synthetic=synthetic,
                    share=share,
                    cache=share * size - _held(synthetic, machine),
                    rates=[],
                    drives=[],
                )
                for _ in range(rounds):
                    by_name = {each.name: each for each in disk.measure(DISK_SECONDS, path=path)}
                    rates = by_name["disk_read_direct"].value, by_name["disk_read_mmap"].value
                    one.drives.append(rates)
                    one.rates.append(1 / statistics.median(_tokens(path, int(share * size))))
                found.append(one)
    return found


@contextmanager
def _filled(folder: Path, synthetic: Synthetic) -> Iterator[Path]:
    path = folder / f"paged-{os.getpid()}.gguf"
    try:
        with path.open("wb") as file:
            write(file, synthetic, filled=True)
            os.fsync(file.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)


def _tokens(path: Path, memory: int) -> tuple[float, ...]:
    """Seconds of tokens with so much memory for weights, cache and program [s]."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    job = Job(
        path=path, threads=host.facts().cores, vocab=1000, depths=(DEPTH,), prompt=0,
        tokens=TOKENS, seconds=6.0, plain=True, mapped=True,
    )  # fmt: skip
    with capped(memory) as group:
        printed, failure = output_of(inside(group, command(job)), lambda: False)
    if failure:
        raise SystemExit(f"engine: llama.cpp under a memory cap failed: {failure}.")
    return timings(printed).token_seconds[DEPTH]


def _work() -> Workload:
    return Workload(prompt=DEPTH, output=TOKENS, context=DEPTH + 4 * TOKENS)


def _held(synthetic: Synthetic, machine: Machine) -> float:
    """Memory that is not for pages of the file [B]."""
    placed = LLAMA_CPP.place(
        synthetic.model, machine, _work(), Strategy.NVME_OFFLOAD, Settings(page_cache=0.0)
    )
    return float(needed_bytes(synthetic.model, placed, RAM, _work())) + PROCESS


def predicted(one: Paged, machine: Machine, folder: Path) -> tuple[float, Machine]:
    """Tokens per second, and the machine with the drive as it was read meanwhile."""
    direct, mapped = (statistics.median(side) for side in zip(*one.drives, strict=True))
    if machine.disk is None:
        raise SystemExit("engine: the drive is not known.")

    def figure(value: float) -> Figure:
        return Figure(value=value, kind=Kind.MEASURED, source="probed on this machine")

    drive = replace(machine.disk, sequential=figure(direct), mapped=figure(mapped))
    ahead = read_ahead(folder)
    drive = replace(drive, read_ahead=figure(float(ahead))) if ahead else drive
    where = replace(machine, disk=drive)
    found = estimate(
        one.synthetic.model, where, _work(), LLAMA_CPP, Strategy.NVME_OFFLOAD,
        catalog.efficiency(), Settings(page_cache=one.cache),
    )  # fmt: skip
    if found.decode is None:
        raise SystemExit(f"engine: {found.refusal}")
    return float(found.decode.value), where
