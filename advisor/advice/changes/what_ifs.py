"""Changes other than a bigger GPU: smaller format, smaller cache, faster memory, link or drive.

All changes are valued in the runtime of the best placement now.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from advisor.advice.changes.drafting import drafted_work
from advisor.advice.changes.several_formats import speeds_of_formats
from advisor.advice.changes.software_changes import software_changes
from advisor.advice.compare import as_run, could_hold, decode_tps, own_settings
from advisor.advice.speeds import Speed, speed_of
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import BOUND_BY, Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal, UnknownName
from advisor.formatting import memory as memory_words
from advisor.formatting import number
from advisor.machine import from_catalog
from advisor.machine.catalog import soldered
from advisor.machine.machine import USUAL_READ_AHEAD, Gpu, Link, Machine
from advisor.machine.quantity import Provenance
from advisor.model import catalog
from advisor.model.format_loss import format_loss_rows
from advisor.model.model import Model
from advisor.runtimes import Runtime
from advisor.units import KIB, MIB

SMALLER_FORMATS = ("Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""GGUF formats suggested in place of larger ones, largest first."""
FEW_FORMATS = ("FP8", "bnb-int8", "AWQ")
"""Formats of other files that are suggested in place of larger ones, largest first."""
NEAR, ANY_STEP = 0.6, 0.2
"""Smallest size of a suggested format relative to the present one, among GGUF and other formats."""
READ_AHEAD = (USUAL_READ_AHEAD.value, 2.0 * MIB)
"""Read-ahead: Linux's default, and a size above which more gains little (`python -m
benchmarks.engine`) [B]."""
FAST_RAM, FASTER_RAM = "fast-ram", 1.25
"""Part to buy for faster RAM, and its rate relative to the present one."""
WORTH_NAMING = 1.02
"""A change must be this many times faster to be shown."""


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """Change other than a bigger GPU.

    Attributes:
        change: change in words.
        cost: its cost in words.
        decode: decode speed after the change [tokens/s].
        gain: factor of that speed over the present one.
        speed: that speed with its range and the time to first token.
        part: kind of the part to buy, as in data/prices/host_parts.csv; empty for none.
        ram: memory to buy [B]; 0 for none.
    """

    change: str
    cost: str
    decode: float
    gain: float
    speed: Speed
    part: str = ""
    ram: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TriedChange:
    """Change with its speed; None where the model does not run with it, or hardly faster."""

    change: str
    cost: str
    speed: Speed | None
    part: str = ""
    ram: float = 0.0


TriedChanges = Iterable[TriedChange]
Fastest = Callable[[Model, Machine, Workload], Speed | None]


def what_ifs(
    model: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    settings: Settings | None = None,
) -> tuple[WhatIf, ...]:
    """Changes of format, cache, memory and link that make the best placement faster, by gain.

    A fixed split stays fixed, as undoing it would be no effect of the change.
    """
    if best is None:
        return ()
    now = decode_tps(best)
    own = own_settings(best.how, settings)
    fastest = partial(_fastest, best.how, own, WORTH_NAMING * now)
    tried = [
        *_smaller_formats(machine, work, best, own),
        *_smaller_cache(model, machine, work, best.how, fastest),
        *_drafted(model, machine, work, best.how, fastest),
        *_faster_memory(model, machine, work, best, fastest),
        *_faster_link(model, machine, work, best, fastest),
        *_other_read_ahead(model, machine, work, best, fastest),
        *(
            TriedChange(
                change=change.words, cost=change.cost, speed=fastest(model, change.machine, work)
            )
            for change in software_changes(machine, best)
        ),
    ]
    changes = [
        WhatIf(
            change=trial.change,
            cost=trial.cost,
            decode=trial.speed.decode,
            gain=trial.speed.decode / now,
            speed=trial.speed,
            part=trial.part,
            ram=trial.ram,
        )
        for trial in tried
        if trial.speed
    ]
    return tuple(sorted(changes, key=lambda change: change.gain, reverse=True))


def _fastest(
    runtime: Runtime,
    settings: Settings,
    least: float,
    stored: Model,
    machine: Machine,
    work: Workload,
) -> Speed | None:
    """Speed in the first placement that fits, which is the fastest; None below the least."""
    try:
        model = as_run(stored, runtime, machine)
    except Refusal:
        return None
    for strategy in runtime.strategies:
        if strategy is PlacementStrategy.GPU_RESIDENT and not could_hold(model, machine):
            continue
        placed = estimate(model, machine, work, runtime, strategy, fitted_constants(), settings)
        if bool(placed.fits):
            return speed_of(placed) if decode_tps(placed) >= least else None
    return None


def _smaller_formats(
    machine: Machine, work: Workload, best: Estimate, settings: Settings
) -> TriedChanges:
    """Smaller formats that the runtime loads directly."""
    now, runtime, least = best.model, best.how, WORTH_NAMING * decode_tps(best)
    smaller = []
    steps = [(name, NEAR) for name in SMALLER_FORMATS]
    for name, part in (*steps, *((name, ANY_STEP) for name in FEW_FORMATS)):
        model = _in_format(now, runtime, machine, name)
        if model and part * now.file_bytes < model.file_bytes < 0.97 * now.file_bytes:
            smaller.append(model)
    if runtime.takes_several_formats and runtime.apart is None:
        speeds = speeds_of_formats(smaller, machine, work, runtime, settings, least)
    else:
        speeds = [_fastest(runtime, settings, least, each, machine, work) for each in smaller]
    for model, speed in zip(smaller, speeds, strict=True):
        yield TriedChange(
            change=f"{model.format} instead of {now.format}",
            cost=f"{SOME_QUALITY}{_loss(model.format, now.format)}",
            speed=speed,
        )


SOME_QUALITY = "free, some quality"
"""Beginning of the cost of a change that the model's replies show."""


def _loss(smaller: str, now: str) -> str:
    """Published loss of a smaller format as a multiple of the present one's; empty if unknown."""
    rows = format_loss_rows()
    if smaller not in rows or now not in rows:
        return ""
    times = rows[smaller].kl_divergence / rows[now].kl_divergence
    return f" ({number(times, 2)} times the loss of {now}, measured on {rows[smaller].model})"


def _in_format(model: Model, runtime: Runtime, machine: Machine, form: str) -> Model | None:
    """Model in a format that the runtime loads directly; None where it does not."""
    try:
        taken = runtime.loaded_format(form, machine).format == form
        return catalog.in_format(model.architecture, form) if taken else None
    except Refusal:
        return None


def _smaller_cache(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, fastest: Fastest
) -> TriedChanges:
    if work.kv_type in ("f16", "bf16", "f32") and runtime.quantized_kv_type:
        lighter = replace(work, kv_type=runtime.quantized_kv_type)
        change = f"KV cache in {runtime.quantized_kv_type}"
        yield TriedChange(change=change, cost="free", speed=fastest(model, machine, lighter))
    shorter = max(float(work.context) / 2, float(work.prompt) + float(work.output))
    if shorter < float(work.context):
        less = replace(work, context=shorter)
        change = f"context of {shorter:,.0f} tokens"
        yield TriedChange(change=change, cost="free", speed=fastest(model, machine, less))


SAME_TEXT = "free, the same text"
"""Cost of a change that the model's replies do not show."""


def _drafted(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, fastest: Fastest
) -> TriedChanges:
    """Tokens drafted by layers of the model itself."""
    drafted = drafted_work(model.name, work, runtime)
    if drafted is not None:
        change = f"draft {drafted.drafted:g} token a step by its own layers ({drafted.draft})"
        yield TriedChange(change=change, cost=SAME_TEXT, speed=fastest(model, machine, drafted))


def _faster_memory(
    model: Model, machine: Machine, work: Workload, best: Estimate, fastest: Fastest
) -> TriedChanges:
    fixed = machine.unified or soldered(machine.host.name)
    if best.bottleneck == BOUND_BY[Route.IN_PLACE] and not fixed:
        figure = machine.host.bandwidth
        host = replace(machine.host, bandwidth=replace(figure, value=figure.value * FASTER_RAM))
        faster = replace(machine, host=host)
        speed = fastest(model, faster, work)
        yield TriedChange(change="RAM 25 % faster", cost="your price", speed=speed, part=FAST_RAM)
    if best.strategy is PlacementStrategy.NVME_OFFLOAD and not fixed:
        enough = replace(machine.host.memory, value=best.model.file_bytes * 1.15)
        larger = replace(machine, host=replace(machine.host, memory=enough))
        change = f"{memory_words(float(enough.value))} of RAM, to hold the model"
        speed = fastest(model, larger, work)
        size = float(enough.value)
        yield TriedChange(change=change, cost="your price", speed=speed, part="ram", ram=size)
    if best.strategy is PlacementStrategy.NVME_OFFLOAD:
        yield from _second_drive(model, machine, work, fastest)


def _second_drive(model: Model, machine: Machine, work: Workload, fastest: Fastest) -> TriedChanges:
    """Two equal drives read together, as a striped volume."""
    disk = machine.disk
    if disk is None:
        return
    twice = replace(disk.sequential, value=2.0 * disk.sequential.value)
    mapped = disk.mapped and replace(disk.mapped, value=2.0 * disk.mapped.value)
    striped = replace(machine, disk=replace(disk, sequential=twice, mapped=mapped))
    change = "a second drive, striped with the first"
    speed = fastest(model, striped, work)
    yield TriedChange(change=change, cost="your price", speed=speed, part="drive")


def _faster_link(
    model: Model, machine: Machine, work: Workload, best: Estimate, fastest: Fastest
) -> TriedChanges:
    """Full link of the card, where the slot has a slower one."""
    if best.bottleneck != BOUND_BY[Route.STREAMED] or machine.unified:
        return
    links = [_own_link(gpu) for gpu in machine.gpus]
    gpus = tuple(replace(gpu, link=link) for gpu, link in zip(machine.gpus, links, strict=True))
    if gpus != machine.gpus:
        faster = replace(machine, gpus=gpus)
        change = f"a slot with {links[0].name}, as the card can"
        yield TriedChange(change=change, cost="your price", speed=fastest(model, faster, work))


def _other_read_ahead(
    model: Model, machine: Machine, work: Workload, best: Estimate, fastest: Fastest
) -> TriedChanges:
    """Shorter read-ahead for experts, which are scattered, or longer for sequential reads."""
    disk = machine.disk
    if best.bottleneck != BOUND_BY[Route.PAGED] or disk is None:
        return
    now = disk.read_ahead
    if now.kind is not Provenance.MEASURED:
        return
    for size in READ_AHEAD:
        if size != now.value:
            drive = replace(disk, read_ahead=replace(now, value=size))
            speed = fastest(model, replace(machine, disk=drive), work)
            change = f"read_ahead_kb of the drive at {size / KIB:.0f}, now {now.value / KIB:.0f}"
            yield TriedChange(change=change, cost="free", speed=speed)


def _own_link(gpu: Gpu) -> Link:
    """Link of the card at full speed; the present one if it is not slower, or unknown."""
    try:
        own = from_catalog.gpu(gpu.name).link
    except UnknownName:
        return gpu.link
    return own if float(own.pinned.value) > float(gpu.link.pinned.value) else gpu.link
