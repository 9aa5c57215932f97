"""Decode speed of models in RAM: probe and engine in turns, medians compared."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from advisor import calibration, catalog
from advisor.assemble import this_machine
from advisor.estimate import Range, estimate
from advisor.machine import Machine
from advisor.measurement import Measurement
from advisor.model import Model
from advisor.placement import Strategy
from advisor.probes import engine, host, ram
from advisor.probes.engine_job import Job
from advisor.probes.engine_xllamacpp import asked
from advisor.probes.synthetic_model import Synthetic, write
from advisor.runtimes import LLAMA_CPP
from advisor.workload import Workload
from benchmarks.engine_parts.models import CONTEXTS, Target

ROOT = Path(__file__).parent.parent.parent
RAM_SECONDS, ENGINE_SECONDS, TOKENS, TOKEN_SECONDS = 1.5, 60.0, 16, 1.5
VOCAB = 1000


@dataclass(kw_only=True)
class Readings:
    """What was read in all rounds.

    Attributes:
        probes: by name, a measurement of each round.
        tokens: by target and depth, the seconds of a token in each round [s].
    """

    probes: dict[str, list[Measurement]] = field(default_factory=dict)
    tokens: dict[tuple[str, int], list[float]] = field(default_factory=dict)


def read(targets: list[Target], rounds: int, quantile: float, folder: Path) -> Readings:
    """Probe, then every target, again and again.

    Args:
        targets: to run.
        rounds: how often.
        quantile: of a round's tokens that stands for the round; 0.5 for the median.
        folder: for model files and caches.
    """
    found = Readings()
    for number in range(rounds):
        for one in (*ram.measure(RAM_SECONDS), *engine.measure(ENGINE_SECONDS)):
            found.probes.setdefault(one.name, []).append(one)
        for target in targets:
            times = _timed(target, folder, fill=number == 0)
            for depth, seconds in times.items():
                one_round = float(np.quantile(seconds, quantile))
                found.tokens.setdefault((target.name, depth), []).append(one_round)
        print(f"engine: round {number + 1} of {rounds} is done.", file=sys.stderr)
    return found


def _timed(target: Target, folder: Path, *, fill: bool) -> dict[int, list[float]]:
    """Seconds of tokens at each depth."""
    deep, name = max(CONTEXTS), target.name.replace(" ", "-")
    if fill:
        with _kept(target.twin, folder, TOKEN_SECONDS / 100) as ask:
            ask({"depth": deep, "save": name})
    with _kept(target.synthetic, folder, TOKEN_SECONDS) as ask:
        shallow = ask({"depth": min(CONTEXTS)})
        return {min(CONTEXTS): shallow, deep: ask({"depth": deep, "slot": name})}


@contextmanager
def _kept(synthetic: Synthetic, folder: Path, seconds: float) -> Iterator:  # type: ignore[type-arg]
    """A process with the model loaded, and how to ask it; gone when the block ends."""
    path = folder / f"model-{os.getpid()}.gguf"
    with path.open("wb") as file:
        write(file, synthetic)
    threads = host.facts().cores
    job = Job(
        path=path, threads=threads, vocab=VOCAB, depths=CONTEXTS, tokens=TOKENS, seconds=seconds
    )
    command = (
        *(sys.executable, "-m", "benchmarks.engine_parts.kept"),
        json.dumps(asked(job) | {"slots": f"{folder}/"}),
    )
    log = folder / "log"
    with log.open("w", encoding="utf-8") as said, subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    ) as process:  # fmt: skip

        def answer() -> dict[str, list[float]]:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                words = log.read_text(encoding="utf-8", errors="replace")[-1000:]
                raise SystemExit(f"engine: llama.cpp ended with code {process.wait()}: {words}")
            found: dict[str, list[float]] = json.loads(line)
            return found

        def ask(what: dict[str, object]) -> list[float]:
            if process.stdin:
                process.stdin.write(json.dumps(what) + "\n")
                process.stdin.flush()
            times = answer()["token_seconds"]
            if "save" in what:
                answer()
            return times

        try:
            answer()
            path.unlink()
            yield ask
        finally:
            process.kill()
            path.unlink(missing_ok=True)


def calibrated(found: Readings) -> Machine:
    """This machine with the medians of its probes saved; no GPU, which no target uses."""
    calibration.save(
        replace(
            readings[0],
            value=statistics.median(one.value for one in readings),
            spread=_spread([one.value for one in readings]),
        )
        for readings in found.probes.values()
    )
    return replace(this_machine(), gpus=())


def predicted(model: Model, machine: Machine, depth: int) -> Range:
    """Decode speed at a depth, all weights in RAM."""
    work = Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)
    table = catalog.efficiency()
    one = estimate(model, machine, work, LLAMA_CPP, Strategy.CPU_OFFLOAD, table)
    if one.decode is None:
        raise SystemExit(f"engine: {one.refusal}")
    return one.decode


def _spread(values: list[float]) -> float:
    """Half the range over the median."""
    return (max(values) - min(values)) / (2 * statistics.median(values))
