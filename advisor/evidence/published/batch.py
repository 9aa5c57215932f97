"""Batch size of a published row, by default the largest that fits.

Papers on offloading report generated tokens per second of a whole batch, with the time of its
prompts, at the largest batch that fits; many do not state it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from advisor.catalog.constants import Scope, fitted_constants
from advisor.cost_model.placement import (
    RAM,
    PlacementStrategy,
    Settings,
    Tier,
    kv_bytes,
    needed_bytes,
    weight_bytes,
)
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_settings import lengths
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import ACCELERATE, DEEPSPEED, VLLM, Runtime
from advisor.runtimes.weight_streaming import ACTIVATIONS

# Value read from a published row, with notes on defaults and interpretations.

T = TypeVar("T")


@dataclass(frozen=True)
class Noted(Generic[T]):
    """Value with its notes."""

    value: T  # value
    notes: tuple[str, ...] = ()  # sentences on defaults and on interpreted spellings


MOST_USERS = 2048
"""Largest number of sequences in a server's step (TensorRT-LLM's default for its builds)."""
RAM_USED = 0.78
"""Share of RAM filled by a batch: FlexGen's authors used 0.70 to 0.92 of 208 GiB, most about this
(weights and cache in their bench_suite.py)."""
DRIVE_FOR_CACHE = 0.65e12
"""Largest cache on a drive where a row states none [B]: FlexGen's runs put 620 to 710 GB on a drive
of 1.5 TB beside the weights."""
THROUGHPUT = ("deepspeed", "flexgen", "tensorrt-llm")
"""Engines for throughput, whose unstated batches were as large as memory allowed."""
SERVER = "tensorrt-llm"
"""Engine whose published runs are saturated with requests, so its batch is not a guess."""
ON_TRANSFORMERS = (ACCELERATE.engine, DEEPSPEED.engine)
"""Engines on Transformers, which computed logits of whole prompts until version 4.45."""
LOGITS = 6.0
"""Size of such a logit: 16 bits, and 32 for the softmax [B]."""
CACHE_COPIES = 2.0
"""Memory of their cache relative to its size: each step copies it into a longer one (OPT-6.7B and
30B on a T4, batches of FlexGen's authors)."""


def batch(
    row: PublishedRow,
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
    chosen: Settings,
) -> Noted[float]:
    """Sequences in a batch: as stated, else the most that fit in memory for throughput runs."""
    stated = row.batch or _running(row)
    if stated:
        return Noted(stated)
    if not (all(lengths(row)) or runtime.key in THROUGHPUT or row.category == "batched"):
        return Noted(1.0)

    plain = runtime.engine in ON_TRANSFORMERS
    if plain and chosen.kv_in_ram is None:
        chosen = replace(chosen, kv_in_ram=False)  # the cache bounds the batch unless it moves
    if plain and chosen.gpu_layers is None:
        chosen = replace(chosen, gpu_layers=0.0)  # weights that stay would take its room

    def fits(users: float) -> bool:
        return _fits(model, machine, replace(work, users=users), runtime, strategy, chosen)

    sequences = largest(fits)
    reached = fitted_constants().bound(Scope(runtime=runtime.key)).value("batch_share")
    sequences = max(float(np.floor(sequences * reached)), 1.0)
    note = f"the batch is not stated: {sequences:g}, as many as memory allows, stand in"
    return Noted(sequences, (note,))


def _running(row: PublishedRow) -> float | None:
    """Mean number of concurrent requests where the load was set in requests a second."""
    search = re.search(r"mean running requests[^=]*= ?(\d+(?:\.\d+)?)", row.other_metric)
    return max(float(search[1]), 1.0) if search else None


def guessed_batch(model: Model) -> float:
    """Extra half width of a range for an unstated batch, as the logarithm of a factor."""
    table = fitted_constants()
    if model.has_experts:
        return table.value("spread_guessed_experts")
    return table.value("spread_guessed")


def kept_where_all_fits(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, chosen: Settings
) -> Settings:
    """Settings that keep the whole model on the GPU where it fits; for servers only.

    Other engines stream all weights by design.
    """
    if runtime.engine != VLLM.engine or chosen.gpu_layers is not None:
        return chosen
    if not _fits(model, machine, work, runtime, PlacementStrategy.GPU_RESIDENT, chosen):
        return chosen
    return replace(chosen, gpu_layers=float(model.layers))


def largest(fits: Callable[[float], bool]) -> float:
    """Largest batch that fits, from 1 to `MOST_USERS`, by bisection."""
    low, high = 1, MOST_USERS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return float(low)


def _fits(
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
    chosen: Settings,
) -> bool:
    try:
        placement = runtime.place(model, machine, work, strategy, chosen)
    except Refusal:
        return False
    plain = runtime.engine in ON_TRANSFORMERS
    logits = LOGITS * model.architecture.vocab * work.fresh * work.users * plain
    beyond = logits / max(len(machine.gpus), 1) - ACTIVATIONS * plain
    weights = float(weight_bytes(model, placement, RAM))
    limits = {
        Tier.VRAM: min(float(gpu.memory.value) for gpu in machine.gpus) - beyond,
        Tier.RAM: max(float(machine.host.memory.value) * RAM_USED, weights),
        Tier.DISK: DRIVE_FOR_CACHE + model.file_bytes,
    }
    twice = (CACHE_COPIES - 1.0) * plain
    return all(
        float(
            needed_bytes(model, placement, location, work)
            + twice * kv_bytes(model, placement, location, work)
        )
        <= limits[location.tier]
        for location in placement.locations
    )
