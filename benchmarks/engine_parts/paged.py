"""Decode speed of models larger than the memory they may use: drive and engine in turns."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.probes import host
from advisor.probes.disk import read_rates
from advisor.probes.host import read_ahead
from advisor.probes.llama_cpp.job import EngineJob
from advisor.runtimes import LLAMA_CPP
from advisor.units import MIB, Provenance, Quantity
from benchmarks.engine_parts import talk
from benchmarks.engine_parts.capped import capped, forget, inside, looked_at
from benchmarks.engine_parts.models import Target, filled
from benchmarks.engine_parts.readings import Readings, Run

DISK_SECONDS = 3.0
TOKENS = 8
TOKEN_SECONDS = 5.0
DEPTH = 16
PROCESS = 25 * MIB
"""What the process takes beside the model's own buffers, as seen here; a cap need not be exact, as
what it leaves for pages is looked at [B]."""
WITHIN = 1.5
WORK = Workload(prompt=DEPTH, output=TOKENS, context=DEPTH + 4 * TOKENS)


def read(
    models: Sequence[Target],
    record: Readings,
    folder: Path,
    machine: Machine,
    over: Callable[[], bool],
) -> None:
    """Each model under each cap, those first that were timed least; the drive before and after."""
    ahead = float(read_ahead(folder) or 0)
    for model in sorted(models, key=lambda each: len(record.of(each.name, DEPTH, each.shares[-1]))):
        if over():
            return
        with filled(model.synthetic, folder) as path:
            before = _drive(path)
            for share in model.shares:
                run = _timed(model, share, path, machine)
                after = _drive(path)
                direct, mapped = map(statistics.fmean, zip(before, after, strict=True))
                record.runs.append(replace(run, direct=direct, mapped=mapped, ahead=ahead))
                before = after
        record.keep()


def _drive(path: Path) -> tuple[float, float]:
    """Direct reads of a file, and its cold map [B/s]."""
    by_name = {
        measurement.name: measurement.value
        for measurement in read_rates.measure(DISK_SECONDS, path=path)
    }
    return by_name["disk_read_direct"], by_name["disk_read_mmap"]


def _timed(model: Target, share: float, path: Path, machine: Machine) -> Run:
    """One run with room for so much of the file."""
    forget(path)
    link = path.with_name(f"linked-{path.name}")  # the process's own name for it, which goes
    link.hardlink_to(path)
    job = EngineJob(
        path=link,
        threads=host.facts().cores,
        vocab=1000,
        depths=(DEPTH,),
        prompt=0,
        tokens=TOKENS,
        seconds=TOKEN_SECONDS,
        plain=True,
        mapped=True,
    )
    placed = LLAMA_CPP.place(
        model.synthetic.model,
        machine,
        WORK,
        PlacementStrategy.NVME_OFFLOAD,
        Settings(page_cache=0.0),
    )
    held = float(placed.needed_bytes(model.synthetic.model, Location.RAM, WORK)) + PROCESS
    with (
        capped(int(share * path.stat().st_size + held)) as group,
        looked_at(group) as sizes,
        talk.loaded(job, path.parent, partial(inside, group)) as ask,
    ):
        what: dict[str, object] = {"depth": DEPTH, "any": model.synthetic.model.has_experts}
        ask(what)
        sizes.clear()
        answer = ask(what)
    return Run(
        target=model.name,
        depth=DEPTH,
        share=share,
        seconds=statistics.fmean(answer.seconds),
        read=statistics.fmean(answer.read),
        cache=statistics.median(sizes),
    )


def on_drive(machine: Machine, runs: Sequence[Run]) -> Machine:
    """The machine with the drive as it was read meanwhile."""
    if machine.disk is None:
        raise SystemExit("engine: the drive is not known.")
    direct, mapped, ahead = (
        Quantity(
            value=statistics.median(getattr(run, name) for run in runs),
            kind=Provenance.MEASURED,
            source="probed on this machine",
        )
        for name in ("direct", "mapped", "ahead")
    )
    drive = replace(machine.disk, sequential=direct, mapped=mapped)
    return replace(machine, disk=replace(drive, read_ahead=ahead) if ahead.value else drive)


def predicted(model: Target, machine: Machine, cache: float) -> Estimate:
    """A model of which so much lies in the page cache."""
    return estimate(
        model.synthetic.model,
        machine,
        WORK,
        LLAMA_CPP,
        PlacementStrategy.NVME_OFFLOAD,
        Constants.fitted(),
        Settings(page_cache=cache),
    )
