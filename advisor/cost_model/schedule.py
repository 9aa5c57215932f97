"""Schedule of a phase: stages, and the routes of the bytes in each stage.

Stages run one after another, so their times add. The flows of a stage run in parallel, so the
longest counts; together they are limited by the bandwidth of a memory that they share.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from advisor.catalog.constants import Constants
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import FlowTime, host_kernel_seconds
from advisor.lazy import lazy
from advisor.machine.machine import Gpu, Machine
from advisor.units import Array


class Route(StrEnum):
    """Route of bytes from their memory to the processor that reads them."""

    RESIDENT = "resident"
    IN_PLACE = "in_place"
    STREAMED = "streamed"
    PAGED = "paged"
    STAGED = "staged"

    @property
    def limit(self) -> str:
        """Limit of a step that takes most of its time on the route, in words."""
        return {
            Route.RESIDENT: "GPU memory bandwidth",
            Route.IN_PLACE: "RAM bandwidth",
            Route.STREAMED: "the link to the GPU",
            Route.PAGED: "the drive",
            Route.STAGED: "the drive",
        }[self]


class Transfer(StrEnum):
    """Kind of transfer over the link: copied from pinned or pageable memory, or read by kernels."""

    PINNED = "pinned"
    PAGEABLE = "pageable"
    ZERO_COPY = "zero_copy"


@dataclass(frozen=True, kw_only=True)
class Kernels(ABC):
    """Kernels of an engine that computes in another way than llama.cpp."""

    sequences: Array = 0.0  # sequences that get a token from the step

    @abstractmethod
    def gpu_seconds(self, load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
        """Time of a step on a GPU [s]."""

    def flow_seconds(self, flow: "Flow", machine: Machine, constants: Constants) -> FlowTime | None:
        """Time of a flow that the engine computes; None for a flow that moves bytes [s].

        Raises:
            InputError: the speed of the drive is needed and not known.
        """
        if flow.load is None:
            return None
        if flow.route is Route.RESIDENT:
            return self.gpu_seconds(flow.load, machine.gpus[flow.device], constants)
        return FlowTime(moving=host_kernel_seconds(flow.load, machine.host, constants))

    def layers_only(self) -> "Kernels":
        """Kernels of further layers in a step, whose sequences are counted with other layers."""
        return replace(self, sequences=0.0)


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Bytes on one route in one stage, read and computed, or only moved."""

    route: Route  # route of the bytes
    load: Load | None = None  # bytes and FLOPs at the end of the route; None for bytes only moved
    # bytes only moved, or the cache that a framework's attention reads in RAM (in place) [B]
    moved: Array = 0.0
    pieces: Array = 0.0  # part of the paged bytes that is scattered over the file [B]
    renewal: Array = 0.0  # time to evict old pages for the paged bytes [s]
    device: int = 0  # index of the GPU that computes or receives
    transfer: Transfer | None = Transfer.PINNED  # over the link; None for bytes that stay in RAM
    repacked: bool = True  # the CPU reads weights in its own layout; false for pages of a file
    kernels: Kernels | None = None  # those of an engine; None for those of llama.cpp
    alike: int = 1  # GPUs that run the same flow at once, whose reads of RAM add up

    @property
    def pinned(self) -> bool:
        """Whether the bytes come from page-locked memory."""
        return self.transfer is Transfer.PINNED


Stage = tuple[Flow, ...]  # flows that run in parallel
REDUCES_PER_LAYER = 2.0
"""All-reduces in a layer that GPUs share: after attention and after the feed-forward part."""


class ExchangePath(StrEnum):
    """Path of activations between GPUs."""

    PEER = "peer"
    NETWORK = "network"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Activations exchanged between GPUs in one run of the stages, one exchange after another."""

    way: ExchangePath  # slowest path that they cross
    times: Array  # number of exchanges in a run
    moved: Array  # bytes of an exchange that cross the path, one way [B]
    reduces: bool = False  # all-reduce or all-gather of all GPUs; else a GPU sends to the next
    gpus: int = 2  # number of GPUs that take part
    messages: Array = 0.0  # over TCP, each of which its sender waits for


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One phase of a runtime: its stages, their repetitions, and exchanges between processors."""

    stages: tuple[Stage, ...]  # stages in order; their times add
    repeats: Array = 1.0  # number of runs of the stages in the phase (micro-batches of a prompt)
    first: Array = 1.0  # size of the first run over the mean of all
    crossings: Array = 0.0  # hand-overs of activations between processors in one run of the stages
    workers: Array = 1  # GPUs with layers of their own, which may run different repeats at once
    exchanges: tuple[Exchange, ...] = ()  # between GPUs that share layers, and between machines
    then: "Schedule | None" = None  # further stages of the phase with repeats of their own

    def spilled(self, share: float) -> "Schedule":
        """Schedule in which a share of the bytes in VRAM is read over the link instead."""
        stages: list[Stage] = []
        for stage in self.stages:
            there = []
            carried = []
            for flow in stage:
                if flow.route is not Route.RESIDENT or flow.load is None:
                    there.append(flow)
                    continue
                loads = {name: getattr(flow.load, name) for name in ("weights", "experts", "kv")}
                less = {name: size * (1 - share) for name, size in loads.items()}
                there.append(replace(flow, load=replace(flow.load, **less)))
                moved = (loads["weights"] + loads["kv"]) * share
                over = Transfer.ZERO_COPY
                carried.append(
                    (Flow(route=Route.STREAMED, moved=moved, device=flow.device, transfer=over),)
                )
            stages += [tuple(there), *carried]
        return replace(self, stages=tuple(stages))

    def each(self, change: "Callable[[Schedule], Schedule]") -> "Schedule":
        """Schedule with a function applied to it, and to each schedule that follows it."""
        if self.then is None:
            return change(self)
        return replace(change(replace(self, then=None)), then=self.then.each(change))


@dataclass(frozen=True, kw_only=True, eq=False)
class Phases:
    """Schedules of a reply, made at first use: of the prompt, and of a step for each token."""

    of_prompt: Callable[[], Schedule]  # function that makes the schedule of the prompt
    of_token: Callable[[], Schedule]  # function that makes the schedule of a step

    @lazy
    def prefill(self) -> Schedule:
        """Schedule of the prompt."""
        return self.of_prompt()

    @lazy
    def decode(self) -> Schedule:
        """Schedule of a step."""
        return self.of_token()

    def each(self, change: Callable[[Schedule], Schedule]) -> "Phases":
        """Phases with both schedules changed."""
        return Phases(
            of_prompt=lambda: self.prefill.each(change), of_token=lambda: self.decode.each(change)
        )
