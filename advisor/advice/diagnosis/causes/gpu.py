"""Causes on the GPU: a slower link, a power limit, or another placement than assumed."""

from dataclasses import replace
from functools import partial

import numpy as np

from advisor.advice.diagnosis.causes.counterfactual import (
    Situation,
    Trials,
    fits,
    slower_gpu,
    trial,
)
from advisor.cost_model.layer_division import layers_that_fit
from advisor.cost_model.placement import RAM, PlacementStrategy, Settings, Tier
from advisor.cost_model.schedule import Flow, Route, Schedule, Stage, Transfer, alone
from advisor.formatting import memory
from advisor.machine import from_catalog
from advisor.machine.catalog import find_gpu
from advisor.machine.quantity import Provenance
from advisor.runtimes.llama_cpp.buffers import kv_cache_bytes
from advisor.runtimes.llama_cpp.layer_split import gpu_budget
from advisor.units import GIB

POWER_LIMITS = ((1 / 2, 0.93, 0.77), (1 / 3, 0.68, 0.55), (2 / 7, 0.17, 0.14))
"""Power limit relative to the default, with the remaining share of generation and prompt speed: RTX
PRO 6000 at 300 and 200 of 600 W (data/measurements/llama_cpp.csv, lc0627 to lc0630), RTX 3090 at
100 of 350 W (https://llmgarage.ai/power-limit-tokens-per-second-benchmark, 2026-02)."""
OTHERS_IN_VRAM = (0.0, 1.0, 2.0, 4.0)
"""VRAM of the desktop, a browser or another model; assumed [GiB]."""
FEWER = (0.9, 0.75, 0.5, 0.25, 0.0)
"""Layers really on the GPU, as shares of the assumed number."""


def narrow_link(situation: Situation) -> Trials:
    """A link with fewer lanes or of an older generation than the card supports."""
    if not situation.takes(Route.STREAMED, Route.STAGED) or situation.machine.unified:
        return
    card = situation.machine.gpus[0]
    row = find_gpu(card.name)
    if card.link.pinned.kind is Provenance.MEASURED or not row.pcie_gen or not row.pcie_lanes:
        return
    known = ((row.pcie_gen, 8), (row.pcie_gen, 4), (3, row.pcie_lanes), (1, row.pcie_lanes), (1, 4))
    for generation, lanes in dict.fromkeys(known):
        link = from_catalog.pcie(generation, lanes)
        if link.pinned.value < 0.95 * card.link.pinned.value:
            slower = situation.on_gpus(lambda gpu, link=link: replace(gpu, link=link))  # type: ignore[misc]  # mypy infers no lambda with a default
            yield trial(link.name, slower)


def gpu_limits(situation: Situation) -> Trials:
    """A GPU with a lower power limit; prompts slow down sooner than generation."""
    if not situation.takes(Route.RESIDENT):
        return
    for power, decode, prompt in POWER_LIMITS:
        factors = {**slower_gpu(decode), "gpu_flop_share": prompt}
        yield trial(
            f"{power:.0%} of its usual power", situation.scaled(factors, "sweeps over power")
        )


def spilled(situation: Situation) -> Trials:
    """VRAM overflow into RAM, which the GPU reads over the link.

    Windows does this without a message; on other systems the allocation fails.
    """
    if not situation.machine.gpus or situation.machine.unified:
        return
    held = np.array([float(size) for size in situation.estimate.held[Tier.VRAM]])
    room = np.array([float(gpu.memory.value) for gpu in situation.machine.gpus])
    for others in OTHERS_IN_VRAM:
        short = np.maximum(held + others * GIB / len(room) - room, 0.0)
        share = float(np.sum(short) / np.sum(held))
        if 0 < share < 1:
            lost = f"{memory(float(np.sum(short)))} spilled"
            detail = f"{lost} beside {others:.0f} GiB of other programs" if others else lost
            yield trial(detail, situation.rescheduled(partial(_over_link, share)))


def _over_link(share: float, schedule: Schedule) -> Schedule:
    stages: list[Stage] = []
    for stage in schedule.stages:
        stages.append(Stage(flows=tuple(_kept(flow, share) for flow in stage.flows)))
        stages += [alone(_carried(flow, share)) for flow in stage.flows if _reads_vram(flow)]
    return replace(schedule, stages=tuple(stages))


def _reads_vram(flow: Flow) -> bool:
    return flow.route is Route.RESIDENT and flow.load is not None


def _kept(flow: Flow, share: float) -> Flow:
    if flow.load is None or not _reads_vram(flow):
        return flow
    less = {name: getattr(flow.load, name) * (1 - share) for name in ("weights", "experts", "kv")}
    return replace(flow, load=replace(flow.load, **less))


def _carried(flow: Flow, share: float) -> Flow:
    read = 0.0 if flow.load is None else flow.load.weights + flow.load.kv
    return Flow(
        route=Route.STREAMED, moved=read * share, device=flow.device, transfer=Transfer.ZERO_COPY
    )


def cpu_alone(situation: Situation) -> Trials:
    """No GPU in use: the runtime was built without GPU support, or does not find the GPU."""
    if not situation.in_llama_cpp or not situation.takes(Route.RESIDENT):
        return
    without = replace(situation.machine, gpus=())
    for strategy in (PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.NVME_OFFLOAD):
        moved = situation.placed(Settings(), strategy=strategy, machine=without, backend="cpu")
        if fits(moved):
            yield trial("", moved)
            return


def fewer_layers(situation: Situation) -> Trials:
    """Fewer layers on the GPU than assumed."""
    if not situation.in_llama_cpp or not situation.machine.gpus:
        return
    now, layers = int(situation.placement.gpu_layers), situation.model.layers
    tried = {round(now * share) for share in FEWER} | ({now - 1} if now == layers else set())
    for count in sorted(tried - {now}, reverse=True):
        changed = situation.placed(
            replace(situation.kept, gpu_layers=float(count)), strategy=_beside(situation)
        )
        if fits(changed):
            yield trial(f"{count} of {layers} layers", changed)


def _beside(situation: Situation) -> PlacementStrategy:
    """Strategy for what VRAM does not hold."""
    resident = situation.estimate.strategy is PlacementStrategy.GPU_RESIDENT
    return PlacementStrategy.CPU_OFFLOAD if resident else situation.estimate.strategy


def whole_layers(situation: Situation) -> Trials:
    """Whole layers on the GPU, as many as fit, with their experts."""
    if (
        not situation.in_llama_cpp
        or not situation.machine.gpus
        or not float(situation.placement.cpu_moe)
    ):
        return
    model, work = situation.model, situation.work
    cache = kv_cache_bytes(model, work, work.swa_full) * float(work.users)
    budget = gpu_budget(model, situation.machine, work)
    count = float(layers_that_fit(model.layer_bytes + cache, budget))
    changed = situation.placed(replace(situation.kept, gpu_layers=count, cpu_moe=0.0))
    if fits(changed):
        yield trial(f"{count:.0f} of {model.layers} layers, whole", changed)


def cache_in_ram(situation: Situation) -> Trials:
    """KV cache in RAM, with attention computed by the processor in every layer."""
    if not situation.in_llama_cpp or not situation.takes(Route.RESIDENT) or situation.cache_in_ram:
        return
    layers = np.ones(situation.model.layers)
    moved = replace(situation.placement, kv={RAM: layers})
    yield trial("", replace(situation.estimate, placement=moved))


def more_layers(situation: Situation) -> Trials:
    """More layers, or experts of more layers, on the GPU than a placement with a margin allows."""
    now, layers = float(situation.placement.gpu_layers), float(situation.model.layers)
    moe = float(situation.placement.cpu_moe)
    if not situation.in_llama_cpp or not situation.machine.gpus or (now >= layers and not moe):
        return
    for more in (1.0, 2.0, 4.0, 8.0):
        if now < layers:
            changed = replace(situation.kept, gpu_layers=min(now + more, layers))
            detail = f"{min(now + more, layers):.0f} layers on the GPU"
        else:
            changed = replace(situation.kept, cpu_moe=max(moe - more, 0.0))
            detail = f"experts of {max(moe - more, 0.0):.0f} layers in RAM"
        estimate = situation.placed(changed)
        if fits(estimate):
            yield trial(detail, estimate)
