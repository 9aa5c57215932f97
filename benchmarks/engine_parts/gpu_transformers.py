"""Transformers with Accelerate: weights in the GPU, in RAM, and on the drive.

Each model is loaded by the very lines that the program prints, limits of memory among them. What is
to come from the drive runs under a memory cap, set when the model is loaded, that leaves next to no
room for pages of the file; the drive is read just before.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from advisor.cost_model.placement import PlacementStrategy
from advisor.failures import ProbeError
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import ArchitectureSpec
from advisor.model.build import build
from advisor.model.catalog import find_model
from advisor.probes import host
from advisor.probes.disk import read_rates
from advisor.runtimes import ACCELERATE
from advisor.units import GIB, MIB
from benchmarks.engine_parts import capped, checkpoint, talk, transformers_child
from benchmarks.engine_parts.cases import TOKENS, Case, Session, in_turns, placed, work
from benchmarks.engine_parts.readings import Run

FORM = "BF16-hf"
NAMES = ("TinyLlama-1.1B", "Llama-3.2-3B")
"""Shapes: one with a head of its own, one whose head is its table."""
DEPTH = 128
PLACES = {
    PlacementStrategy.GPU_RESIDENT: ("all in the GPU", "resident"),
    PlacementStrategy.CPU_OFFLOAD: ("weights in RAM", "stream_cpu"),
    PlacementStrategy.NVME_OFFLOAD: ("weights on the drive", "nvme"),
}
"""Name and category of each."""
SECONDS = 6.0
LEAST = 16
LEAST_FROM_DRIVE = 4
"""Time for a run's tokens [s], and how many there are at least."""
LONGEST = 240.0  # time for a process, loading and all [s]
DISK_SECONDS = 3.0
PROCESS = 4 * GIB  # RAM for Python, its libraries and the GPU's driver, beside weights [B]
PART = 0.1
LEAST_PAGES = 512 * MIB
"""Room under the cap for pages of files: a part of the weights, and what it is at least [B]."""
IMPORTS = 180.0  # seconds in which libraries are to be imported
SEES_GPU = "import torch, transformers, accelerate; print(torch.cuda.is_available())"


def cases() -> list[Case]:
    """Each model in its places."""
    return [
        Case(
            name=f"{facts.name} {FORM}",
            place=place,
            category=category,
            facts=facts,
            model=catalog.in_format(build(facts), FORM),
            runtime=ACCELERATE,
            strategy=strategy,
            depths=(DEPTH,),
        )
        for facts in map(_plain, NAMES)
        for strategy, (place, category) in PLACES.items()
    ]


def _plain(name: str) -> ArchitectureSpec:
    return replace(find_model(name), max_context=checkpoint.CONTEXT)


def missing() -> str:
    """Why Transformers cannot be run on the GPU; empty where it can."""
    try:
        done = subprocess.run(
            (sys.executable, "-c", SEES_GPU),
            capture_output=True,
            text=True,
            timeout=IMPORTS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"torch, transformers and accelerate took over {IMPORTS:.0f} s to import."
    if done.returncode:
        last = (done.stderr.strip() or "no words").splitlines()[-1]
        return f"it needs torch with CUDA, transformers and accelerate ({last})."
    if done.stdout.split()[-1:] == ["True"]:
        return ""
    return "torch sees no GPU; install its CUDA build."


def read_once(chosen: Sequence[Case], session: Session) -> None:
    """Every case once, and the probes before each model."""
    in_turns(chosen, session, _written, _timed, len(PLACES))


def _timed(case: Case, weights: Path, session: Session) -> Sequence[Run]:
    from_drive = case.strategy is PlacementStrategy.NVME_OFFLOAD
    in_ram = case.strategy is PlacementStrategy.CPU_OFFLOAD
    session.needs(PROCESS + in_ram * case.model.file_bytes)
    job = {"folder": str(weights.parent), "load": lines(case, session.machine(), weights.parent)}
    if not from_drive:
        return [_run(case, _generated(job, session.folder))]
    reason = capped.missing()
    if reason:
        raise ProbeError(reason)
    rates = {
        measurement.name: measurement.value
        for measurement in read_rates.measure(DISK_SECONDS, path=weights)
    }
    capped.forget(weights)
    with capped.capped(host.facts().memory_total) as group:
        generated = _generated(job, session.folder, group, room(case))
    direct = rates["disk_read_direct"]
    mapped = rates.get("disk_read_mmap", 0.0)
    return [replace(_run(case, generated), direct=direct, mapped=mapped)]


def room(case: Case) -> int:
    """Memory for pages of files under the cap [B]."""
    return int(max(PART * case.model.file_bytes, LEAST_PAGES))


def lines(case: Case, machine: Machine, folder: Path) -> str:
    """The printed lines that load the model, from a folder instead of the Hub."""
    model = replace(case.model, name=str(folder))
    printed = ACCELERATE.command(model, placed(case, machine), machine, work(case, DEPTH))
    return printed[: printed.index("tokenizer = ")]


@dataclass(frozen=True, kw_only=True)
class Generated:
    """What a process timed."""

    runtime: str  # with its version
    first: float  # time to the first token, the prompt read [s]
    steps: Sequence[tuple[float, float]]  # seconds of each other token, and bytes read for it
    cache: float = 0.0  # pages of files that the control group held meanwhile [B]


def _generated(
    job: dict[str, str], folder: Path, group: Path | None = None, pages: int = 0
) -> Generated:
    """Tokens of a process that loads the model, in a control group with room for some pages of
    files once it is loaded [B]; its words go to the folder.
    """
    command = (sys.executable, "-m", transformers_child.__name__, json.dumps(job))
    enter = partial(capped.inside, group) if group else tuple
    with ExitStack() as stack:
        log = folder / "transformers.log"
        exchange = stack.enter_context(talk.begun(enter(command), log, LONGEST))
        runtime = exchange(None)["runtime"]
        first = exchange({"depth": DEPTH, "tokens": 1})["first"]
        if group:
            capped.limit(group, capped.kept(group) + pages)
        first = exchange({"depth": DEPTH, "tokens": 1})["first"]
        if group:
            sizes = stack.enter_context(capped.looked_at(group))
        else:
            sizes = [0]
        tokens = tokens_in(SECONDS, first, LEAST_FROM_DRIVE if group else LEAST)
        run = {"depth": DEPTH, "tokens": tokens + 1}
        if not group:  # torch 2.11 prepares attention anew for each length that it first sees:
            exchange(run)  # 36 ms a token on an H100, more than the token itself
        answer = exchange(run)
    if sizes:
        cache = statistics.median(sizes)
    else:
        cache = 0.0
    return Generated(runtime=runtime, first=answer["first"], steps=answer["steps"], cache=cache)


def tokens_in(seconds: float, each: float, least: int) -> int:
    """How many tokens fit into a time, at least so many and at most a case's."""
    return max(least, min(TOKENS, int(seconds / each)))


def _run(case: Case, generated: Generated) -> Run:
    seconds, read = zip(*generated.steps, strict=True)
    mean = (
        case.strategy is PlacementStrategy.NVME_OFFLOAD
    )  # the drive may be slow now and fast then
    return Run(
        target=case.name,
        place=case.place,
        runtime=generated.runtime,
        depth=DEPTH,
        seconds=(statistics.fmean if mean else statistics.median)(seconds),
        prompt=DEPTH / generated.first,
        read=statistics.fmean(read),
        cache=generated.cache,
    )


@contextmanager
def _written(case: Case, folder: Path) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix=f"model-{os.getpid()}-", dir=folder))
    try:
        weights = checkpoint.write(place, case.facts)
        with weights.open("rb+") as file:
            os.fsync(file.fileno())
        yield weights
    finally:
        shutil.rmtree(place)
