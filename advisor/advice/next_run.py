"""Next run to make: the run of about two minutes that would narrow an answer's range most.

A run that comes out as predicted moves nothing and narrows the range as much as any other: what it
leaves of the variance does not depend on its speed (`cost_model.known_runs`). So the range after it
is known before it is made.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.machine.machine import KnownRun, Machine
from advisor.model import resolve
from advisor.model.catalog import Download
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP
from advisor.units import number, range_of

BENCH = Workload(prompt=512, output=128, bench=True)
"""What `llama-bench` times unless told otherwise: a prompt of 512 and 128 tokens (its README at
5a32f10, read 2026-11-21) [tokens]."""
DENSE = "Qwen3-4B"
EXPERTS = "OLMoE-1B-7B"
"""Small models that many keep, of 2.5 and 4.2 GB: a minute to download at 300 to 500 Mbit/s."""
ENOUGH = 1.15
"""Factor between the ends of the range before and after from which a run is worth it."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Run of llama-bench."""

    model: str  # name in the catalogue
    options: str = ""  # options of its placement
    strategy: PlacementStrategy = PlacementStrategy.GPU_RESIDENT
    settings: Settings = field(default_factory=Settings)

    @property
    def known(self) -> str:
        """Text of the known speed that the run would give, with a gap for its number."""
        behind = self.options.removeprefix("-")
        return f"{self.model} Q4_K_M TPS {behind}".strip()


IN_RAM = PlacementStrategy.CPU_OFFLOAD
BENCHES = (
    Bench(model=DENSE),
    Bench(model=DENSE, options="-ngl 0", strategy=IN_RAM, settings=Settings(gpu_layers=0.0)),
    Bench(model=EXPERTS),
    Bench(model=EXPERTS, options="-ncmoe 99", strategy=IN_RAM, settings=Settings(cpu_moe=99.0)),
)
"""Runs that are tried: in the GPU and in RAM, without experts and with them."""


@dataclass(frozen=True, kw_only=True)
class NextRun:
    """Run that would narrow an answer's range most, and the range that it would leave."""

    command: str
    known: str  # how its speed is told, with TPS in place of the number
    before: Range  # decoding speed today [tokens/s]
    after: Range  # the same if the run comes out as predicted [tokens/s]

    @property
    def words(self) -> str:
        """Value of the run in words."""
        now = range_of(float(self.before.low), float(self.before.high), number)
        then = range_of(float(self.after.low), float(self.after.high), number)
        return f"takes about two minutes and makes {then} tokens/s of {now}"

    @property
    def narrower(self) -> float:
        """Width of the range after the run as a share of the width before it, both as
        logarithms.
        """
        return _width(self.after) / _width(self.before)


def next_run(best: Estimate) -> NextRun | None:
    """Run that would narrow the range of an estimate most; None where no run is worth it."""
    before = best.decode
    if before is None:
        return None
    tried = [
        NextRun(command=command(bench), known=bench.known, before=before, after=after)
        for bench in BENCHES
        if (after := _after(best, bench)) is not None
    ]
    first = min(tried, key=lambda run: run.narrower, default=None)
    if first is None or _width(before) - _width(first.after) < math.log(ENOUGH):
        return None
    return first


def _width(speed: Range) -> float:
    return math.log(float(speed.high) / float(speed.low))


def command(bench: Bench) -> str:
    """Command of a run, which downloads its model."""
    words = f"llama-bench -hf {Download.of_gguf(_model(bench.model))} {bench.options}"
    return words.strip()


@cache
def _model(name: str) -> Model:
    return resolve.from_name(f"{name} Q4_K_M").model


def _after(best: Estimate, bench: Bench) -> Range | None:
    """Speed of an estimate after a run that comes out as predicted; None where it cannot run."""
    machine = best.machine
    if not machine.gpus and bench.options:
        return None
    runs = tuple(_runs(bench, replace(machine, known=())))
    if not runs:
        return None
    taught = replace(machine, known=(*machine.known, *runs))
    return replace(best, machine=taught, planned=best.phases).decode


def _runs(bench: Bench, machine: Machine) -> Iterator[KnownRun]:
    """Timed runs of a bench, of its tokens and its prompt, at the predicted speeds."""
    model = _model(bench.model)
    strategy = bench.strategy if machine.gpus else IN_RAM
    tried = estimate(model, machine, BENCH, LLAMA_CPP, strategy, None, bench.settings)
    if tried.decode_tps is None or tried.prefill is None or not bool(tried.fits):
        return
    for prompt, speed in ((False, tried.decode_tps), (True, tried.prefill.value)):
        yield tried.known_run(float(speed), bench.model, prompt=prompt)
