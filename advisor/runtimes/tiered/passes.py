"""Rounds of a reply and chunks of a prompt in an engine with experts in tiers.

A round reads the dense parts and the experts that VRAM holds. Misses are then computed by the cores
where they lie, beside a share of them that goes over the link to the GPU, beside those that come
from the drive: the longest counts, unless the cores wait for the drive. A prompt is read in chunks,
for each of which all of its experts outside VRAM are copied; part of the copying is unpacking,
which nothing hides.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from advisor.catalog.csv_tables import texts
from advisor.cost_model.kernels import TierKernels
from advisor.cost_model.loads import ForwardPass, Load, prompt_step, step_load, token_step
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    TierSettings,
    all_of,
)
from advisor.cost_model.schedule import Flow, Phases, Route, Schedule
from advisor.cost_model.workload import Workload
from advisor.machine.backends import OperatingSystem
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.expert_use import ExpertUse, Lookups, lookups
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import MEASURED, PROBED, RamTier, TieredEngine
from advisor.runtimes.tiered.placement import (
    beyond_memory,
    in_cache_format,
)
from advisor.units import Array

UNSTATED = TierSettings()  # everything is left to the engine
OF_RAM = 0.75
"""Share of the RAM's rate that the cores reach, in the engines' choice of a link share; 0.7 of the
nominal rate on 99 runs of Strata, 0.87 of the measured one on two P100."""
OF_CORE = 3.0e9
"""Rate of a core in the engines' choice of a link share [B/s]: 21 GB/s of six cores in Maya (an
expert of 6.8 MB in 0.32 ms on an i5-12600T), 45 to 52 GB/s of 32 virtual processors in Strata
(taxah92's V100, 10 October 2026)."""
WHOLE_LINK = 0.55
"""Share of the misses that Strata gives to a fast link where it knows the link's rate alone
(`pcie_frac` in its src/program/generate.cpp)."""
FULL_LINK = 20.0e9
"""Rate of a link that gets all of it; a slower one gets a part in proportion (Strata 0.1.37). On a
V100 the link of 13.1 GB/s had 0.36 in 0.1.41 [B/s]."""
BELOW_BEST = 0.6
"""Weight of the link beside the cores in Strata's measured share: 0.15 where the link gave 13.1 and
the cores 45.4 GB/s, 0.35 at 57.9 and 55.5 GB/s (start-up logs of 0.1.42 on a V100 and of its NVFP4
fork on an RTX 5090)."""
LEAST_SHARE = 0.1
MOST_SHARE = 0.6
"""Ends of the range in which Strata looks for its share."""
UNPACKED = 0.46
"""Part of a chunk's copying that overlaps with nothing: unpacking and the first layer."""
DRAFT_LAYERS = 1.0  # layers that a run of the drafting head reads
INDEXED = 2048.0
"""Tokens that a layer with an indexer attends to (DeepSeek-V3.2, section 2.1: top 2,048)."""


@lru_cache(maxsize=256)
def unevenness(name: str) -> float:
    """Unevenness of a model's experts in caches of these engines, by the model's name.

    The caches hit somewhat less often than the unevenness within one text tells, so theirs is a
    table of its own.
    """
    by_pattern = texts("models/tier_expert_use.csv", "pattern", "unevenness")
    values = (value for part, value in by_pattern.items() if re.search(part, name, re.IGNORECASE))
    return float(next(values))  # the last pattern takes every name


def use_of(model: Model) -> ExpertUse | None:
    """Use of a model's experts; None for a model without experts."""
    experts = model.architecture.experts
    if experts is None:
        return None
    return ExpertUse(experts.total, experts.used, unevenness(model.name))


def pool_rate(machine: Machine) -> Array:
    """Rate at which the cores compute experts, as engines measure it for their link share [B/s]."""
    cores = OF_CORE * machine.host.cores
    return np.asarray(np.minimum(OF_RAM * machine.host.bandwidth.value, cores))


def best_link_share(machine: Machine) -> float:
    """Share of the missed experts that go over the link so that link and cores end together, 0 to
    1.
    """
    link = float(np.ravel(machine.gpus[0].link.pinned.value)[0])
    return link / (link + float(np.ravel(pool_rate(machine))[0]))


def link_share(engine: TieredEngine, machine: Machine, stated: TierSettings) -> Array:
    """Share of the missed experts that go over the link, as stated or by the engine's rule, 0 to
    1.
    """
    if not engine.uses_gpus(machine):
        return np.zeros(())
    if not engine.computes:
        return np.ones(())
    if stated.link_share is not None:
        return np.asarray(stated.link_share, dtype=float)
    link = np.asarray(machine.gpus[0].link.pinned.value)
    if engine.link_share == MEASURED:
        return np.asarray(link / (link + pool_rate(machine)))
    if engine.probes_link(machine):
        return probed_share(link)
    if engine.link_share == PROBED:
        return strata_share(link, pool_rate(machine))
    return np.asarray(float(engine.link_share))


def probed_share(link: Array) -> Array:
    """Link share that Strata takes by the rate of a link alone [B/s], 0 to 1."""
    return np.asarray(WHOLE_LINK * np.minimum(link / FULL_LINK, 1.0))


def strata_share(link: Array, cores: Array) -> Array:
    """Link share that Strata finds by measured rates of a link and of the cores [B/s], 0 to 1."""
    part = BELOW_BEST * link
    return np.asarray(np.clip(part / (part + cores), LEAST_SHARE, MOST_SHARE))


@dataclass(frozen=True, kw_only=True)
class Tiers:
    """Placement by an engine, with further values that its passes need."""

    engine: TieredEngine
    model: Model
    placement: Placement
    machine: Machine

    @property
    def stated(self) -> TierSettings:
        """Settings that a run states for its tiers."""
        return self.placement.tiers or UNSTATED

    @property
    def on_gpu(self) -> bool:
        """Whether GPUs compute."""
        return self.engine.uses_gpus(self.machine)

    @property
    def share(self) -> Array:
        """Share of the experts in VRAM, 0 to 1."""
        return np.asarray(self.placement.expert_cache) / self.model.expert_bytes

    @property
    def far(self) -> Array:
        """Share of the experts on the drive alone, 0 to 1."""
        if self.placement.strategy is not PlacementStrategy.NVME_OFFLOAD:
            return np.zeros(())
        ram_share = np.asarray(self.placement.page_cache) / self.model.expert_bytes
        return beyond_memory(self.engine, self.share, ram_share)


def schedule(
    engine: TieredEngine,
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
) -> Phases:
    """Schedule of the chunks of the prompt, and of a round for each group of tokens."""
    request = in_cache_format(engine, work)
    tiers = Tiers(engine=engine, model=model, placement=placement, machine=machine)
    return Phases(
        of_prompt=lambda: _chunks(tiers, request), of_token=lambda: _round(tiers, request)
    )


def _attended(model: Model, step: ForwardPass) -> ForwardPass:
    """Step over the tokens that layers attend to; an indexer limits their number."""
    roles = (tensor.role for tensor in model.architecture.tensors)
    if any(role.startswith("indexer.") for role in roles):
        return replace(step, depth=np.minimum(np.asarray(step.depth, dtype=float), INDEXED))
    return step


def _dense(tiers: Tiers, device: int, step: ForwardPass) -> Load:
    """Load of a GPU without its experts."""
    place = Location.vram(device)
    nothing = np.zeros(tiers.model.layers)
    weights = {**tiers.placement.weights[place], Group.ROUTED_EXPERTS: nothing}
    alone = replace(tiers.placement, weights={place: weights})
    return step_load(tiers.model, alone, place, _attended(tiers.model, step))


def _experts(tiers: Tiers, step: ForwardPass, share: Array) -> Load:
    """Load of a share of all experts, as bytes read and work on them."""
    everywhere = np.ones(tiers.model.layers)
    alone = replace(
        tiers.placement,
        weights={Location.RAM: {Group.ROUTED_EXPERTS: everywhere}},
        kv={},
        output={},
    )
    whole = step_load(tiers.model, alone, Location.RAM, step).routed
    size = tiers.model.expert_bytes * share
    touched = np.maximum(size / np.maximum(whole.experts, 1.0), 0.0)
    return replace(whole.times(touched), weights=size, experts=size)


def _in_vram(tiers: Tiers, step: ForwardPass) -> Lookups:
    """Lookups of a round in the cache of the VRAM; with the hits of a run that states them."""
    use = use_of(tiers.model)
    if use is None:
        nothing = np.zeros(())
        return Lookups(touched=nothing, missed=nothing)
    texts = np.asarray(step.sequences, dtype=float)
    rows = np.asarray(step.tokens, dtype=float) / texts
    fill = tiers.stated.fill or tiers.engine.vram_fill
    lookup = lookups(use, tiers.share, rows, fill, texts)
    if tiers.stated.served is None:
        return lookup
    stated = lookup.touched * (1.0 - np.asarray(tiers.stated.served, dtype=float))
    return Lookups(touched=lookup.touched, missed=(lookup.missed + stated) / 2.0)


def _from_drive(tiers: Tiers, step: ForwardPass, near: Lookups) -> Array:
    """Share of a layer's experts that a round reads from the drive."""
    use = use_of(tiers.model)
    if use is None or not np.any(tiers.far):
        return np.zeros(())
    texts = np.asarray(step.sequences, dtype=float)
    rows = np.asarray(step.tokens, dtype=float) / texts
    lookup = lookups(use, 1.0 - tiers.far, rows, tiers.engine.ram_fill, texts)
    if tiers.stated.served_ram is not None:
        stated = np.asarray(tiers.stated.served_ram, dtype=float)
        base = near.missed if tiers.engine.ram_tier == RamTier.COPY else lookup.touched
        return np.asarray(base * (1.0 - stated))
    if tiers.on_gpu and not tiers.machine.unified:
        return np.asarray(np.where(tiers.far > 0, np.minimum(lookup.missed, near.missed), 0.0))
    return np.asarray(np.where(tiers.far > 0, lookup.missed, 0.0))


def _round(tiers: Tiers, work: Workload) -> Schedule:
    """Schedule of a round of a reply: the GPUs in turn, then the missed experts by all routes at
    once.
    """
    step = token_step(work)
    lookup = _in_vram(tiers, step)
    if not tiers.on_gpu:
        lookup = Lookups(touched=lookup.touched, missed=lookup.touched)
    elif tiers.machine.unified:
        lookup = Lookups(touched=lookup.touched, missed=np.zeros_like(lookup.touched))
    several = len(tiers.machine.gpus) > 1
    kernels = TierKernels(
        several=several,
        way=tiers.engine.way,
        sleeping=tiers.stated.sleeping,
        waits=np.where(tiers.engine.waits | (lookup.missed > 0.0), 1.0, 0.0),
    )
    stages: list[tuple[Flow, ...]] = []
    for device in range(len(tiers.machine.gpus) if tiers.on_gpu else 0):
        load = _dense(tiers, device, step)
        if device == 0:
            load = load + _drafting(tiers, load, work)
        part = np.mean(tiers.placement.weights[Location.vram(device)][Group.NORMS], axis=-1)
        hits = _experts(tiers, step, lookup.served * part)
        vulkan = tiers.engine.on_vulkan(tiers.machine.gpus[device].vendor)
        flow = Flow(
            route=Route.RESIDENT,
            load=load + hits,
            device=device,
            kernels=replace(kernels, vulkan=vulkan, early=_early(tiers, device)),
        )
        stages.append((flow,))
    missed = _missed(tiers, work, step, lookup, kernels)
    return Schedule(stages=(*stages, *_in_turn(tiers.engine, missed)))


def _early(tiers: Tiers, device: int) -> bool:
    """Whether a GPU computes with kernels that were written for another vendor's."""
    return tiers.engine.early_port and tiers.machine.gpus[device].vendor == "AMD"


def _in_turn(engine: TieredEngine, flows: tuple[Flow, ...]) -> tuple[tuple[Flow, ...], ...]:
    """Stages of flows that take place at once, or where the cores wait for the drive, after it."""
    drive = tuple(flow for flow in flows if engine.in_turn and flow.route is Route.STAGED)
    others = tuple(flow for flow in flows if flow not in drive)
    return tuple(stage for stage in (drive, others) if stage)


def _drafting(tiers: Tiers, load: Load, work: Workload) -> Load:
    """Load of the drafting runs: in each run one layer, with the experts of one token, and the
    head of the drafts.
    """
    model = tiers.model
    runs = np.asarray(work.drafted, dtype=float) * bool(work.draft)
    head = np.minimum(model.output, tiers.engine.draft_head)
    layer_bytes = (model.read_bytes_per_token - model.output) / model.layers + head
    return replace(load.times(0.0), weights=runs * layer_bytes, layers=runs * DRAFT_LAYERS)


def _missed(
    tiers: Tiers, work: Workload, step: ForwardPass, near: Lookups, kernels: TierKernels
) -> tuple[Flow, ...]:
    """Flows of the missed experts over cores, link and drive; no link where GPU and cores share one
    memory.
    """
    over = link_share(tiers.engine, tiers.machine, tiers.stated)
    size = tiers.model.expert_bytes
    here = _experts(tiers, step, near.missed * (1.0 - over))
    if not tiers.on_gpu:
        alone = _dense_of_cores(tiers, step)
        here = here + alone + _drafting(tiers, alone, work)
    pool = tiers.on_gpu and tiers.machine.unified
    flows = [] if pool else [Flow(route=Route.IN_PLACE, load=here, kernels=kernels)]
    if tiers.on_gpu and not pool:
        moved = size * near.missed * over
        flows.append(Flow(route=Route.STREAMED, moved=moved, kernels=kernels))
    far = size * _from_drive(tiers, step, near) + _dense_from_drive(tiers)
    if np.any(far):
        flows.append(Flow(route=Route.STAGED, moved=far, transfer=None, kernels=kernels))
    return tuple(flows)


def _dense_of_cores(tiers: Tiers, step: ForwardPass) -> Load:
    """Load of the dense weights on a machine without GPUs, wherever they lie, without the cache."""
    nothing = np.zeros(tiers.model.layers)
    dense = {**all_of(np.ones(tiers.model.layers)), Group.ROUTED_EXPERTS: nothing}
    alone = replace(tiers.placement, kv={}, weights={Location.RAM: dense})
    return step_load(tiers.model, alone, Location.RAM, step)


def _dense_from_drive(tiers: Tiers) -> Array:
    """Dense weights that each round reads from the drive [B]."""
    shares = dict(tiers.placement.weights.get(Location.DISK, {}))
    shares.pop(Group.ROUTED_EXPERTS, None)
    sizes = tiers.model.bytes_per_layer
    parts = (np.vecdot(share, sizes[group]) for group, share in shares.items())
    return sum(parts, start=np.zeros(()))


def _chunks(tiers: Tiers, work: Workload) -> Schedule:
    """Schedule of the chunks of a prompt; several GPUs work on a chunk one after another."""
    whole = prompt_step(work)
    chunk = tiers.engine.chunk if tiers.stated.chunk is None else tiers.stated.chunk
    count = np.ceil(whole.tokens / chunk)
    step = replace(whole, tokens=whole.tokens / count)
    use = use_of(tiers.model)
    rows = np.asarray(step.tokens, dtype=float) / np.asarray(step.sequences, dtype=float)
    if use is None:
        touched = np.zeros(())
    else:
        touched = np.asarray(use.touched(rows)) / use.total
    starts = 1.0 + BEGINNING / count
    kernels = TierKernels(
        prompt=True,
        way=tiers.engine.way,
        windows=tiers.machine.system == OperatingSystem.WINDOWS,
        pool=tiers.on_gpu and tiers.machine.unified,
        starts=starts,
    )
    if not tiers.on_gpu:
        stages = _chunk_of_cores(tiers, step, touched, kernels)
    else:
        stages = _chunk_of_gpus(tiers, step, touched, kernels)
    workers = len(tiers.machine.gpus) if tiers.on_gpu else 1
    return Schedule(stages=stages, repeats=count, workers=workers)


def _chunk_of_gpus(
    tiers: Tiers, step: ForwardPass, touched: Array, kernels: TierKernels
) -> tuple[tuple[Flow, ...], ...]:
    """Stages of a chunk: unpacking, copying beside computing on each GPU, the drive.

    Experts in VRAM save little of the copying, since their slots are lent to the copies.
    """
    lent = np.where(tiers.share >= 1.0, 0.0, 1.0 - LENT * tiers.share)
    moved = tiers.model.expert_bytes * touched * lent
    stages: list[tuple[Flow, ...]] = []
    for device in range(len(tiers.machine.gpus)):
        part = np.mean(tiers.placement.weights[Location.vram(device)][Group.NORMS], axis=-1)
        load = _dense(tiers, device, step) + _experts(tiers, step, touched * part)
        copied = moved * part
        if kernels.pool:
            copied = tiers.model.expert_bytes * touched * part
        unpacking = Flow(
            route=Route.STREAMED, moved=UNPACKED * copied, device=device, kernels=kernels
        )
        copying = replace(unpacking, moved=(1.0 - UNPACKED) * copied)
        computing = Flow(
            route=Route.RESIDENT,
            load=load,
            device=device,
            kernels=replace(kernels, early=_early(tiers, device)),
        )
        stages.append((unpacking,))
        stages.append((computing, copying))
    far = tiers.model.expert_bytes * touched * tiers.far
    if np.any(far):
        stages.append((Flow(route=Route.STAGED, moved=far, transfer=None, kernels=kernels),))
    return tuple(stages)


BEGINNING = 1.8
"""Time before the first chunk, in starts of a chunk: 0.3 s beside 0.18 s in prompts of Strata."""
LENT = 0.3
"""Part of the cached experts that a chunk need not copy: most of their slots are lent to it."""


def _chunk_of_cores(
    tiers: Tiers, step: ForwardPass, touched: Array, kernels: TierKernels
) -> tuple[tuple[Flow, ...], ...]:
    """Stages of a chunk that the cores compute: the drive beside them."""
    load = _dense_of_cores(tiers, step) + _experts(tiers, step, touched)
    flows = [Flow(route=Route.IN_PLACE, load=load, kernels=kernels)]
    far = tiers.model.expert_bytes * touched * tiers.far + _dense_from_drive(tiers)
    if np.any(far):
        flows.append(Flow(route=Route.STAGED, moved=far, transfer=None, kernels=kernels))
    return _in_turn(tiers.engine, tuple(flows))
