"""Decode speed of models larger than the memory they may use: drive and engine in turns."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import RAM, PlacementStrategy, Settings, needed_bytes
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.model.catalog import find_model
from advisor.model.spec import ArchitectureSpec
from advisor.probes import host
from advisor.probes.disk import read_rates
from advisor.probes.host import read_ahead
from advisor.probes.llama_cpp.job import EngineJob
from advisor.probes.llama_cpp.synthetic_model import Synthetic, in_format
from advisor.runtimes import LLAMA_CPP
from advisor.units import MIB
from benchmarks.engine_parts import talk
from benchmarks.engine_parts.capped import capped, forget, inside, looked_at
from benchmarks.engine_parts.models import filled
from benchmarks.engine_parts.readings import Readings, Run

DISK_SECONDS, TOKENS, TOKEN_SECONDS, DEPTH = 3.0, 8, 5.0, 16
PROCESS = 25 * MIB
"""What the process takes beside the model's own buffers, as seen here; a cap need not be exact, as
what it leaves for pages is looked at [B]."""
WITHIN = 1.5


@dataclass(frozen=True, kw_only=True)
class Larger:
    """A model that is to be larger than memory.

    Attributes:
        name: shape and format.
        synthetic: the model.
        shares: of its file for which memory has room, beside what the process needs.
    """

    name: str
    synthetic: Synthetic
    shares: tuple[float, ...]


SMALL_PIECES = ArchitectureSpec(
    name="MoE 2.6B-A0.5B", layers=12, hidden=2048, moe_intermediate=1024, experts=32,
    experts_per_token=4, heads=16, kv_heads=8, head_dim=128, vocab=4096,
)  # fmt: skip
LARGE_PIECES = ArchitectureSpec(
    name="MoE 3.5B-A1.0B", layers=8, hidden=2048, moe_intermediate=4096, experts=16,
    experts_per_token=4, heads=16, kv_heads=8, head_dim=128, vocab=4096,
)  # fmt: skip


def larger() -> list[Larger]:
    """Two dense ones, and two with experts, which lie in small and in large pieces."""
    dense = ((find_model("TinyLlama-1.1B"), "Q8_0"), (find_model("Llama-3.2-1B"), "Q6_K"))
    # Random weights in Q4_0 are below zero on average, and would send all tokens to like experts.
    routed = ((SMALL_PIECES, "Q4_K_M"), (LARGE_PIECES, "Q4_K_M"))
    scans, hits = (0.5, 0.75, 0.9, 1.05), (0.4, 0.6, 0.8)
    return [
        Larger(name=f"{facts.name} {form}", synthetic=in_format(facts, form), shares=shares)
        for shares, models in ((scans, dense), (hits, routed))
        for facts, form in models
    ]


def read(
    models: Sequence[Larger], record: Readings, folder: Path, machine: Machine,
    over: Callable[[], bool],
) -> None:  # fmt: skip
    """Each model under each cap, those first that were timed least; the drive before and after."""
    ahead = float(read_ahead(folder) or 0)
    for model in sorted(
        models, key=lambda larger: len(record.of(larger.name, DEPTH, larger.shares[-1]))
    ):
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


def _timed(model: Larger, share: float, path: Path, machine: Machine) -> Run:
    """One run with room for so much of the file."""
    forget(path)
    link = path.with_name(f"linked-{path.name}")  # the process's own name for it, which goes
    link.hardlink_to(path)
    job = EngineJob(
        path=link, threads=host.facts().cores, vocab=1000, depths=(DEPTH,), prompt=0,
        tokens=TOKENS, seconds=TOKEN_SECONDS, plain=True, mapped=True,
    )  # fmt: skip
    held = _held(model.synthetic, machine)
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
        target=model.name, depth=DEPTH, share=share, seconds=statistics.fmean(answer.seconds),
        read=statistics.fmean(answer.read), cache=statistics.median(sizes),
    )  # fmt: skip


def _work() -> Workload:
    return Workload(prompt=DEPTH, output=TOKENS, context=DEPTH + 4 * TOKENS)


def _held(synthetic: Synthetic, machine: Machine) -> float:
    """Memory that is not for pages of the file [B]."""
    placed = LLAMA_CPP.place(
        synthetic.model, machine, _work(), PlacementStrategy.NVME_OFFLOAD, Settings(page_cache=0.0)
    )
    return float(needed_bytes(synthetic.model, placed, RAM, _work())) + PROCESS


def on_drive(machine: Machine, runs: Sequence[Run]) -> Machine:
    """The machine with the drive as it was read meanwhile."""
    if machine.disk is None:
        raise SystemExit("engine: the drive is not known.")
    direct, mapped, ahead = (
        statistics.median(getattr(run, name) for run in runs)
        for name in ("direct", "mapped", "ahead")
    )
    drive = replace(machine.disk, sequential=_figure(direct), mapped=_figure(mapped))
    drive = replace(drive, read_ahead=_figure(ahead)) if ahead else drive
    return replace(machine, disk=drive)


def _figure(value: float) -> Quantity:
    return Quantity(value=value, kind=Provenance.MEASURED, source="probed on this machine")


def predicted(model: Larger, machine: Machine, cache: float) -> Estimate:
    """A model of which so much lies in the page cache."""
    return estimate(
        model.synthetic.model, machine, _work(), LLAMA_CPP, PlacementStrategy.NVME_OFFLOAD,
        fitted_constants(), Settings(page_cache=cache),
    )  # fmt: skip
