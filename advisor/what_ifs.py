"""Changes short of a bigger GPU: a smaller format, a lighter cache, faster memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from advisor import catalog
from advisor.compare import as_run, decode_tps
from advisor.estimate import Estimate, estimate
from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import Settings, Strategy
from advisor.runtimes import LLAMA_CPP
from advisor.wording import memory as memory_words
from advisor.workload import Workload

SMALLER_FORMATS = ("Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""Formats to suggest below the one chosen, largest first."""
WORTH_NAMING = 1.02
"""A change must be this many times faster to be shown."""


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """A change short of a bigger GPU.

    Attributes:
        change: what to do.
        cost: what it costs, in words.
        decode: speed afterwards [tokens/s].
        gain: that over the speed now.
    """

    change: str
    cost: str
    decode: float
    gain: float


Tried = Iterable[tuple[str, str, float]]
Fastest = Callable[[Model, Machine, Workload], float]


def what_ifs(
    asked: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    settings: Settings | None = None,
) -> tuple[WhatIf, ...]:
    """Changes of format, cache and memory that make the best placement faster, by gain.

    A split that the person fixed stays: undoing it is no gain of the change.
    """
    if best is None:
        return ()
    now = decode_tps(best)
    fastest = partial(_fastest, settings)
    tried = [
        *_smaller_formats(asked, machine, work, fastest),
        *_smaller_cache(asked, machine, work, fastest),
        *_faster_memory(asked, machine, work, best, fastest),
    ]
    found = [
        WhatIf(change=change, cost=cost, decode=speed, gain=speed / now)
        for change, cost, speed in tried
        if speed >= WORTH_NAMING * now
    ]
    return tuple(sorted(found, key=lambda one: one.gain, reverse=True))


def _fastest(settings: Settings | None, asked: Model, machine: Machine, work: Workload) -> float:
    """Speed of the first placement that fits: each is slower than the one before it [tokens/s]."""
    model = as_run(asked, LLAMA_CPP, machine)
    for strategy in Strategy:
        one = estimate(model, machine, work, LLAMA_CPP, strategy, catalog.efficiency(), settings)
        if not one.refusal and bool(one.fits):
            return decode_tps(one)
    return 0.0


def _smaller_formats(asked: Model, machine: Machine, work: Workload, fastest: Fastest) -> Tried:
    for name in SMALLER_FORMATS:
        smaller = catalog.in_format(asked.architecture, name)
        if 0.6 * asked.file_bytes < smaller.file_bytes < 0.97 * asked.file_bytes:
            change = f"{name} instead of {asked.format}"
            yield change, "free, some quality", fastest(smaller, machine, work)


def _smaller_cache(asked: Model, machine: Machine, work: Workload, fastest: Fastest) -> Tried:
    if work.kv_type in ("f16", "bf16", "f32"):
        lighter = replace(work, kv_type="q8_0")
        yield "KV cache in q8_0", "free", fastest(asked, machine, lighter)
    shorter = max(float(work.context) / 2, float(work.prompt) + float(work.output))
    if shorter < float(work.context):
        less = replace(work, context=shorter)
        yield f"context of {shorter:,.0f} tokens", "free", fastest(asked, machine, less)


def _faster_memory(
    asked: Model, machine: Machine, work: Workload, best: Estimate, fastest: Fastest
) -> Tried:
    if best.bottleneck == "RAM bandwidth" and not machine.unified:
        figure = machine.host.bandwidth
        host = replace(machine.host, bandwidth=replace(figure, value=figure.value * 1.25))
        faster = replace(machine, host=host)
        yield "RAM 25 % faster", "your price", fastest(asked, faster, work)
    if best.strategy is Strategy.NVME_OFFLOAD:
        enough = replace(machine.host.memory, value=best.model.file_bytes * 1.15)
        larger = replace(machine, host=replace(machine.host, memory=enough))
        change = f"{memory_words(float(enough.value))} of RAM, to hold the model"
        yield change, "your price", fastest(asked, larger, work)
