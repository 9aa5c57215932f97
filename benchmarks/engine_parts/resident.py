"""Decode speed of models in RAM: probe and engine in turns, each run beside its own prediction."""

import math
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from advisor.calibration.local_machine import Calibration, this_machine
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.probes import host, ram
from advisor.probes.llama_cpp import engine
from advisor.probes.llama_cpp.job import EngineJob
from advisor.probes.llama_cpp.synthetic_model import Synthetic, write
from advisor.probes.measurement import Measurement
from advisor.runtimes import LLAMA_CPP
from benchmarks.engine_parts import talk
from benchmarks.engine_parts.models import CONTEXTS, Target
from benchmarks.engine_parts.readings import Readings, Run, spread

TOKENS = 16
TOKEN_SECONDS = 1.5
RAM_SECONDS = 2.5
ENGINE_SECONDS = 30.0
"""Time for the probes, which take turns with the targets: the speed of a shared machine drifts
within minutes."""
REFERENCE = "engine_read_q4_k"  # figure of every probe by which the machine's steadiness is told
VOCAB = 1000


def read(
    targets: Sequence[Target],
    record: Readings,
    quantile: float,
    folder: Path,
    over: Callable[[], bool],
    *,
    probing: float = ENGINE_SECONDS,
) -> None:
    """Every target once in turns with the probes of the engine, which take `probing` [s] each,
    those first that were timed least; a quantile of a round's tokens stands for the round, 0.5 for
    the median.
    """
    for target in sorted(targets, key=lambda entry: len(record.of(entry.name, max(CONTEXTS)))):
        if over():
            break
        _probe(record, probing)
        turn = len(record.probes)
        record.runs.extend(replace(run, turn=turn) for run in _timed(target, quantile, folder))
        record.keep()
    _probe(record, probing)
    record.keep()


def _probe(record: Readings, seconds: float) -> None:
    record.probes.extend((*ram.measure(RAM_SECONDS), *engine.measure(seconds)))


def _timed(target: Target, quantile: float, folder: Path) -> tuple[Run, ...]:
    """One run at each depth, the deep one with a cache that its twin filled."""
    shallow, deep = CONTEXTS
    name = target.name.replace(" ", "-")
    if not (folder / name).exists():
        with _kept(target.twin, folder, TOKEN_SECONDS / 100) as ask:
            ask({"depth": deep, "save": name})
    with _kept(target.synthetic, folder, TOKEN_SECONDS) as ask:
        both = ask({"depth": shallow}), ask({"depth": deep, "slot": name})
    return tuple(
        Run(
            target=target.name,
            depth=depth,
            seconds=float(np.quantile(run.seconds, quantile)),
            prompt=run.prompt,
        )
        for depth, run in zip(CONTEXTS, both, strict=True)
    )


def _kept(synthetic: Synthetic, folder: Path, seconds: float) -> AbstractContextManager[talk.Ask]:
    """How to ask a process that has a model loaded."""
    path = folder / f"model-{os.getpid()}.gguf"
    with path.open("wb") as file:
        write(file, synthetic)
    job = EngineJob(
        path=path,
        threads=host.facts().cores,
        vocab=VOCAB,
        depths=CONTEXTS,
        tokens=TOKENS,
        seconds=seconds,
    )
    return talk.loaded(job, folder)


def calibrated(measured: Iterable[Measurement]) -> Machine:
    """This machine with measurements of it; no GPU, which no target uses."""
    latest = {entry.name: entry for entry in measured}
    return replace(this_machine(measured=Calibration(measurements=latest)), gpus=())


def steadiness(record: Readings) -> tuple[int, float, float]:
    """Number of probes, half the range of their read rate, and its median change between two."""
    rates = [entry.value for entry in record.rounds[REFERENCE]]
    steps = [abs(math.log(after / before)) for before, after in pairwise(rates)]
    return len(rates), spread(rates), statistics.median(steps) if steps else 0.0


def predicted(model: Model, machine: Machine, depth: int) -> Estimate:
    """A model with all its weights in RAM, after a prompt of so many tokens."""
    work = Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)
    table = Constants.fitted()
    return estimate(model, machine, work, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, table)
