"""How fast a model runs on a machine in a runtime, one estimate for each placement."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import STACKED, ConstantRow, Constants, RecordedConstants, Scope
from advisor.cost_model.assumptions import Assumption, assumptions
from advisor.cost_model.measured_constants import constants_on
from advisor.cost_model.placement import (
    Placement,
    PlacementStrategy,
    Settings,
    Tier,
    missing_bytes,
    needed_bytes,
    weight_bytes,
)
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN, StepTime, schedule_seconds
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT, Range, margins
from advisor.cost_model.workload import DRAFTS, Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.units import Array

BOUND_BY = {
    Route.RESIDENT: "GPU memory bandwidth",
    Route.IN_PLACE: "RAM bandwidth",
    Route.STREAMED: "the link to the GPU",
    Route.PAGED: "the drive",
    Route.STAGED: "the drive",
    LAYERS: "fixed cost per layer",
    CROSSINGS: "hand-overs between processors",
    TOKEN: "fixed cost per token",
}
"""What binds when most of a step's time goes to a part."""

USUAL_BACKENDS = {"NVIDIA": "cuda", "AMD": "rocm", "Intel": "sycl", "Apple": "metal"}
"""How runtimes reach a vendor's GPUs unless told otherwise."""


def usual_backend(machine: Machine) -> str:
    """The backend of a machine's first GPU; "cpu" where there is none."""
    if not machine.gpus:
        return "cpu"
    vendors = machine.gpus[0].vendor.split(STACKED)
    return STACKED.join(USUAL_BACKENDS.get(vendor, "vulkan") for vendor in vendors)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The answer for one runtime and placement.

    Attributes:
        how: the runtime.
        strategy: which of the three placements.
        model: the model in the format it has there.
        work: what is served: of what was asked, the users that run together.
        waiting: users who wait meanwhile.
        becomes: why that is not the format asked for; empty where it is.
        refusal: why the pair cannot be; empty where it can. Nothing below is set then.
        placement: where every part lies.
        fits: every memory holds what it must.
        missing: what is short [B].
        machine: where; None where the pair was refused.
        constants: shares and fixed costs of its scope.
        planned: how the runtime reads the model, where that is known already.

    Times are worked out when they are first asked for.
    """

    how: Runtime
    strategy: PlacementStrategy
    model: Model
    work: Workload
    waiting: Array = 0.0
    becomes: str = ""
    refusal: str = ""
    placement: Placement | None = None
    fits: bool | npt.NDArray[np.bool_] = False
    missing: Array = 0.0
    machine: Machine | None = None
    constants: Constants | None = None
    planned: Phases | None = None

    @cached_property
    def phases(self) -> Phases | None:
        """How the runtime reads the model; None where the pair was refused."""
        if self.planned is not None or self.machine is None or self.placement is None:
            return self.planned
        return self.how.schedule(self.model, self.placement, self.machine, self.work)

    @cached_property
    def step(self) -> StepTime | None:
        """Where a token's time goes; None where the pair was refused."""
        time = self._timed(self.phases.decode) if self.phases else None
        return time and with_drafting(time, self.model, self.work)

    @cached_property
    def prompt(self) -> StepTime | None:
        """Where the prompt's time goes; None where the pair was refused."""
        return self._timed(self.phases.prefill) if self.phases else None

    def _timed(self, schedule: Schedule) -> StepTime | None:
        if self.machine is None or self.constants is None:
            return None
        return schedule_seconds(schedule, self.machine, self.constants)

    @cached_property
    def decode(self) -> Range | None:
        """Tokens per second for each user."""
        return self._rate(self.work.tokens_per_step, self.step, IN_DECODE)

    @cached_property
    def prefill(self) -> Range | None:
        """Prompt tokens per second, all users together."""
        fresh = np.maximum(self.work.fresh, 1) * self.work.users
        return self._rate(fresh, self.prompt, IN_PROMPT)

    def _rate(self, amount: Array, time: StepTime | None, constant: str) -> Range | None:
        if time is None or self.machine is None or self.constants is None:
            return None
        known = margins(time, self.machine, self.constants, constant)
        beside = np.hypot(self.how.extra_uncertainty, self.model.architecture.shape_uncertainty)
        return known.wider(beside).around(amount / time.total)

    @cached_property
    def first_token(self) -> Range | None:
        """Seconds until the first token."""
        rate = self._rate(1.0, self.prompt, IN_PROMPT)
        return rate and Range(value=1 / rate.value, low=1 / rate.high, high=1 / rate.low)

    @property
    def reply(self) -> Array:
        """Seconds for a whole reply; not a number where the pair was refused."""
        if self.step is None or self.prompt is None:
            return np.nan
        steps = self.work.output / self.work.tokens_per_step
        return self.prompt.total + steps * self.step.total

    @property
    def load(self) -> Array | None:
        """Seconds to read the file from the drive; None where its speed is not known."""
        disk = self.machine.disk if self.machine else None
        return self.model.file_bytes / disk.sequential.value if disk else None

    @cached_property
    def held(self) -> Mapping[Tier, tuple[Array, ...]]:
        """Bytes per tier and device."""
        return _held(self.model, self.placement, self.work) if self.placement else {}

    @property
    def runtime(self) -> str:
        """Name of the runtime."""
        return self.how.name

    @cached_property
    def command(self) -> str:
        """What to type; nothing for a pair that was refused."""
        if self.machine is None or self.placement is None:
            return ""
        return self.how.command(self.model, self.placement, self.machine, self.work)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Every input that was not simply counted, with its origin."""
        if self.machine is None or self.placement is None:
            return ()
        return assumptions(self.machine, self.placement, self._constants_used())

    def _constants_used(self) -> tuple[tuple[ConstantRow, ...], ...]:
        """Constants that the times and their ranges rest on, each with its factors."""
        if self.machine is None or self.phases is None or self.constants is None:
            return ()
        recorded = RecordedConstants(self.constants)
        for schedule, constant in (
            (self.phases.decode, IN_DECODE),
            (self.phases.prefill, IN_PROMPT),
        ):
            time = schedule_seconds(schedule, self.machine, recorded)
            margins(time, self.machine, recorded, constant)
        return recorded.used

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that carry bytes in a step."""
        parts = self.step.parts if self.step else {}
        return tuple(route for route in Route if np.any(np.asarray(parts.get(route, 0.0)) > 0))

    @property
    def bottleneck(self) -> str:
        """What most of a token's time goes to; of the first point of a sweep."""
        if self.step is None:
            return ""
        parts = self.step.parts
        largest = max(parts, key=lambda name: float(np.ravel(parts[name])[0]))
        return BOUND_BY.get(largest, largest)


def estimate(
    model: Model,
    machine: Machine,
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
    constants: Constants,
    settings: Settings | None = None,
    becomes: str = "",
    *,
    backend: str = "",
    build: str = "",
) -> Estimate:
    """One runtime, one placement.

    Args:
        model: in the format that the runtime runs.
        machine: where; its figures may be arrays.
        work: what is asked; its numbers may be arrays.
        runtime: which.
        strategy: which of the three placements.
        constants: shares of peak and fixed costs.
        settings: layers and cache that the person fixed.
        becomes: why the format is not the one asked for.
        backend: the runtime's way to the GPU; empty for the usual one of its vendor.
        build: as `Scope.build`; empty for the runtime's own of today.
    """
    outcome = Estimate(how=runtime, strategy=strategy, model=model, work=work, becomes=becomes)
    if runtime.at_once is not None and strategy is PlacementStrategy.GPU_RESIDENT and machine.gpus:
        outcome = _queued(outcome, runtime.at_once(model, machine, work))
        work = outcome.work
    try:
        placement = runtime.place(model, machine, work, strategy, settings or Settings())
    except Refusal as refusal:
        return replace(outcome, refusal=str(refusal), missing=whole_bytes(model, work))
    scope = Scope(
        runtime=runtime.key,
        decode_class=model.decode_class,
        backend=backend or usual_backend(machine),
        build=runtime.build or build,
    )
    missing = missing_bytes(model, placement, machine, work)
    return replace(
        outcome,
        placement=placement,
        fits=np.asarray(missing) <= 0,
        missing=missing,
        machine=machine,
        constants=constants_on(machine.host, model, constants.bound(scope)),
    )


def _queued(outcome: Estimate, at_once: Array) -> Estimate:
    """The same with as many users as are served together, where that is at least one."""
    users = np.asarray(outcome.work.users, dtype=float)
    running = np.where(at_once >= 1, np.minimum(users, at_once), users)
    if np.all(running == users):
        return outcome
    return replace(outcome, work=replace(outcome.work, users=running), waiting=users - running)


def with_drafting(time: StepTime, model: Model, work: Workload) -> StepTime:
    """A step with the time of its drafts: each token drafted reads the drafting layers and a head.

    t = t_step (1 + k share), share = (layers n + head) / bytes that a token reads
    """
    if not work.draft or not np.any(work.drafted):
        return time
    read = model.read_bytes_per_token
    layers = DRAFTS[work.draft]
    share = (layers * (read - model.output) / model.layers + model.output * (layers > 0)) / read
    factor = 1.0 + np.asarray(work.drafted) * share
    parts: dict[str, Array] = {name: seconds * factor for name, seconds in time.parts.items()}
    return replace(time, total=time.total * factor, parts=parts)


def _held(model: Model, placement: Placement, work: Workload) -> dict[Tier, tuple[Array, ...]]:
    held: dict[Tier, tuple[Array, ...]] = dict.fromkeys(Tier, ())
    for location in placement.locations:
        needed = needed_bytes(model, placement, location, work)
        held[location.tier] = (*held[location.tier], needed)
    return held


def parts_held(model: Model, placement: Placement, work: Workload) -> dict[Tier, dict[str, float]]:
    """Bytes per tier by what they are for: weights, cache, buffers [B]."""
    parts: dict[Tier, dict[str, float]] = {}
    for location in placement.locations:
        weights = float(weight_bytes(model, placement, location))
        buffers = float(placement.buffers.get(location, 0.0))
        cache = float(needed_bytes(model, placement, location, work)) - weights - buffers
        tier = parts.setdefault(location.tier, {"weights": 0.0, "KV cache": 0.0, "buffers": 0.0})
        tier["weights"] += weights
        tier["KV cache"] += cache
        tier["buffers"] += buffers
    return parts


def whole_bytes(model: Model, work: Workload) -> Array:
    """Weights and cache: what is missing where a pair cannot be at all [B]."""
    cache = np.sum(model.kv_bytes(work.context, work.kv_type), axis=-1) * work.users
    return np.asarray(model.file_bytes + cache)
