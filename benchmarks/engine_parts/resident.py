"""Decode speed of models in RAM: probe and engine in turns, medians compared."""

import os
import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np

from advisor.calibration import local_store
from advisor.calibration.local_machine import this_machine
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.probes.host import inventory, ram
from advisor.probes.llama_cpp import engine
from advisor.probes.llama_cpp.job import EngineJob
from advisor.probes.llama_cpp.synthetic_model import Synthetic, write
from advisor.runtimes import LLAMA_CPP
from benchmarks.engine_parts import talk
from benchmarks.engine_parts.models import CONTEXTS, Target
from benchmarks.engine_parts.readings import Readings, Run

TOKENS, TOKEN_SECONDS = 16, 1.5
RAM_SECONDS, ENGINE_SECONDS, FEW = 2.5, 30.0, 3
"""Time for the probes, and how many targets lie between two of them: the speed of a shared machine
drifts within minutes."""
VOCAB = 1000


def read(
    targets: Sequence[Target], found: Readings, quantile: float, folder: Path,
    over: Callable[[], bool],
) -> None:  # fmt: skip
    """Every target once, those first that were timed least, and the probes before each few.

    Args:
        targets: to run.
        found: what was read before, to which this is added.
        quantile: of a round's tokens that stands for the round; 0.5 for the median.
        folder: for model files and caches.
        over: asked before each whether to stop.
    """
    least_first = sorted(targets, key=lambda one: len(found.of(one.name, max(CONTEXTS))))
    for number, target in enumerate(least_first):
        if over():
            return
        if number % FEW == 0:
            found.probes.extend((*ram.measure(RAM_SECONDS), *engine.measure(ENGINE_SECONDS)))
        found.runs.extend(_timed(target, quantile, folder))
        found.keep()


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
            seconds=float(np.quantile(one.seconds, quantile)),
            prompt=one.prompt,
        )
        for depth, one in zip(CONTEXTS, both, strict=True)
    )


def _kept(synthetic: Synthetic, folder: Path, seconds: float) -> AbstractContextManager[talk.Ask]:
    """How to ask a process that has a model loaded."""
    path = folder / f"model-{os.getpid()}.gguf"
    with path.open("wb") as file:
        write(file, synthetic)
    job = EngineJob(
        path=path, threads=inventory.facts().cores, vocab=VOCAB, depths=CONTEXTS, tokens=TOKENS,
        seconds=seconds,
    )  # fmt: skip
    return talk.loaded(job, folder)


def calibrated(found: Readings) -> Machine:
    """This machine with the medians of its probes saved; no GPU, which no target uses."""
    local_store.save(found.medians())
    return replace(this_machine(), gpus=())


def predicted(model: Model, machine: Machine, depth: int) -> Estimate:
    """A model with all its weights in RAM, after a prompt of so many tokens."""
    work = Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)
    table = fitted_constants()
    return estimate(model, machine, work, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, table)


def rates(runs: Sequence[Run]) -> list[float]:
    """Tokens per second of each run."""
    return [1.0 / one.seconds for one in runs]


def prompt_rate(runs: Sequence[Run]) -> float | None:
    """Median speed of the prompt over runs; None where none was timed [tokens/s]."""
    found = [one.prompt for one in runs if one.prompt is not None]
    return statistics.median(found) if found else None
