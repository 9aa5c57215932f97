"""Case: what a published row describes, and its batch where the row states none."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.evidence.published import run_settings
from advisor.evidence.published.engines import (
    ACCELERATE,
    DEEPSPEED,
    VLLM,
    with_drafts,
)
from advisor.evidence.published.row import (
    PublishedRow,
    figure,
)
from advisor.evidence.published.run_settings import lengths
from advisor.lazy import lazy
from advisor.machine.machine import KnownRun, Machine
from advisor.model.model import Model
from advisor.runtimes.weight_streaming import ACTIVATIONS
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Case:
    """Interpretation of a row: machine, model, request, runtime."""

    model: Model  # model in the format of the run
    machine: Machine  # machine
    prompt: Workload  # request that timed the prompt
    # request that timed the generation; equal to `prompt` unless the two were timed separately, as
    # by llama-bench
    work: Workload
    runtime: Runtime  # runtime that reads weights in the same way
    strategy: PlacementStrategy  # placement
    settings: Settings  # stated split of the model
    backend: str  # stated backend of the runtime; empty for none
    build: str  # age or fork of the runtime, as in `constants.Scope`
    notes: tuple[str, ...] = ()  # sentences on defaults
    guessed: bool = False  # whether the batch was not stated and follows from memory
    # copies of the model that share the requests; `machine` and `work` are of each
    replicas: float = 1.0

    @property
    def steps(self) -> Array:
        """Number of steps after the prompt; papers also count the token that the prompt gives."""
        return self.work.output - (0.0 if self.runtime.computes_in_ram else 1.0)

    def on_known(self, known: tuple[KnownRun, ...]) -> "Case":
        """Case on a machine with known runs."""
        if not known:
            return self
        return replace(self, machine=replace(self.machine, known=known))

    @lazy
    def of_prompt(self) -> "Case":
        """Case with the request that timed the prompt."""
        if self.prompt == self.work:
            return self
        return replace(self, work=self.prompt)

    @lazy
    def placement(self) -> Placement:
        """Placement during the request `work`."""
        return self.runtime.place(self.model, self.machine, self.work, self.strategy, self.settings)

    @lazy
    def phases(self) -> Phases:
        """Schedules of the request `work`; raises Refusal as `placement`."""
        return self.runtime.schedule(self.model, self.placement, self.machine, self.work)

    @lazy
    def estimate(self) -> Estimate:
        """Estimate of the request `work`."""
        return estimate(
            self.model,
            self.machine,
            self.work,
            self.runtime,
            self.strategy,
            Constants.fitted(),
            self.settings,
            backend=self.backend,
            build=self.build,
        )


# Batch of a framework or server, as stated or as large as memory allows.

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
LOGITS = 6.0  # size of such a logit: 16 bits, and 32 for the softmax [B]
CACHE_COPIES = 2.0
"""Memory of their cache relative to its size: each step copies it into a longer one (OPT-6.7B and
30B on a T4, batches of FlexGen's authors)."""


def batched(row: PublishedRow, case: Case) -> Case:
    """Case of a framework or server with its batch, as stated or the most that memory allows."""
    case = _resident_where_it_fits(case)
    users = max(_sequences(row, case) / case.replicas, 1.0)
    work = with_drafts(row, replace(case.work, users=users))
    guessed = users > 1 and not row.batch and case.runtime.key != SERVER
    prompt = run_settings.prompt_apart(row, work)
    return replace(case, prompt=prompt, work=work, guessed=guessed)


def _sequences(row: PublishedRow, case: Case) -> float:
    """Sequences in a batch: as stated, or for throughput runs the most that fit in memory."""
    running = figure("requests at once", row.other_metric)
    if row.batch or running is not None:
        return row.batch or max(running or 0.0, 1.0)
    runtime = case.runtime
    settings = case.settings
    if not (all(lengths(row)) or runtime.key in THROUGHPUT or row.category == "batched"):
        return 1.0
    if runtime.engine in ON_TRANSFORMERS and settings.kv_in_ram is None:
        settings = replace(settings, kv_in_ram=False)  # the cache bounds the batch unless it moves
    if runtime.engine in ON_TRANSFORMERS and settings.gpu_layers is None:
        settings = replace(settings, gpu_layers=0.0)  # weights that stay would take its room
    tried = replace(case, settings=settings)
    sequences = largest(lambda users: _fits(replace(tried, work=replace(case.work, users=users))))
    reached = Constants.fitted().bound(Scope(runtime=runtime.key)).value("batch_share")
    sequences = max(float(np.floor(sequences * reached)), 1.0)
    row.notes.append(f"the batch is not stated: {sequences:g}, as many as memory allows, stand in")
    return sequences


def guessed_batch(model: Model) -> float:
    """Additional half width of a range where the batch is not stated, as the logarithm of a
    factor.
    """
    table = Constants.fitted()
    if model.has_experts:
        return table.value("spread_guessed_experts")
    return table.value("spread_guessed")


def _resident_where_it_fits(case: Case) -> Case:
    """Case that keeps the whole model on the GPU where it fits; for servers only.

    Other engines stream all weights by design.
    """
    if case.runtime.engine != VLLM.engine or case.settings.gpu_layers is not None:
        return case
    if not _fits(replace(case, strategy=PlacementStrategy.GPU_RESIDENT)):
        return case
    settings = replace(case.settings, gpu_layers=float(case.model.layers))
    return replace(case, settings=settings)


def largest(fits: Callable[[float], bool]) -> float:
    """Largest batch that fits, from 1 to `MOST_USERS`, by bisection."""
    fitting = bisect_left(range(1, MOST_USERS + 1), True, key=lambda users: not fits(users))
    return float(max(fitting, 1))


def _fits(case: Case) -> bool:
    model = case.model
    machine = case.machine
    work = case.work
    try:
        placement = case.placement
    except Refusal:
        return False
    plain = case.runtime.engine in ON_TRANSFORMERS
    logits = LOGITS * model.architecture.vocab * work.fresh * work.users * plain
    beyond = logits / max(len(machine.gpus), 1) - ACTIVATIONS * plain
    weights = float(placement.weight_bytes(model, Location.RAM))
    limits = {
        Tier.VRAM: min(float(gpu.memory.value) for gpu in machine.gpus) - beyond,
        Tier.RAM: max(float(machine.host.memory.value) * RAM_USED, weights),
        Tier.DISK: DRIVE_FOR_CACHE + model.file_bytes,
    }
    twice = (CACHE_COPIES - 1.0) * plain
    return all(
        float(
            placement.needed_bytes(model, location, work)
            + twice * placement.kv_bytes(model, location, work)
        )
        <= limits[location.tier]
        for location in placement.locations
    )
