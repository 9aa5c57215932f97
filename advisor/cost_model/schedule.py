"""Schedule of a phase: stages, and the routes of the bytes in each stage.

Stages run one after another, so their times add. The flows of a stage run in parallel, so the
longest counts; together they are limited by the bandwidth of a memory that they share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from advisor.cost_model.loads import Load
from advisor.units import Array


class Route(StrEnum):
    """Route of bytes from their memory to the processor that reads them."""

    RESIDENT = "resident"
    IN_PLACE = "in_place"
    STREAMED = "streamed"
    PAGED = "paged"
    STAGED = "staged"


class Transfer(StrEnum):
    """Way of bytes over the link: copied from pinned or pageable memory, or read by kernels."""

    PINNED = "pinned"
    PAGEABLE = "pageable"
    ZERO_COPY = "zero_copy"


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """Batch of a framework on a GPU, computed kernel by kernel in every layer.

    Attributes:
        number: number type of matrix products, a key of `Gpu.tensor_flops`.
        sequences: sequences that get a token from the step.
        unpacked: number of compressed weights and cache values converted to that type first.
    """

    number: str
    sequences: Array = 0.0
    unpacked: Array = 0.0


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Bytes on one route in one stage: either read and computed, or only moved.

    Attributes:
        route: route of the bytes.
        load: load at the end of the route (resident, in place); None for bytes only moved.
        moved: bytes only moved (streamed, paged, staged), or the cache that a framework's
            attention reads in RAM (in place) [B].
        pieces: part of the paged bytes that is scattered over the file [B].
        renewal: time to evict old pages for the paged bytes [s].
        device: index of the GPU that computes or receives.
        transfer: way over the link; None for bytes that stay in RAM.
        repacked: the CPU reads weights in its own layout; false for pages of a file.
        kernels: batch of a framework on a GPU; None for llama.cpp.
        alike: GPUs that run the same flow at once, each with its share; their reads of RAM add up.
    """

    route: Route
    load: Load | None = None
    moved: Array = 0.0
    pieces: Array = 0.0
    renewal: Array = 0.0
    device: int = 0
    transfer: Transfer | None = Transfer.PINNED
    repacked: bool = True
    kernels: Kernels | None = None
    alike: int = 1


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Flows that run in parallel."""

    flows: tuple[Flow, ...]


def alone(flow: Flow) -> Stage:
    """Stage of a single flow."""
    return Stage(flows=(flow,))


REDUCES_PER_LAYER = 2.0
"""All-reduces in a layer that GPUs share: after attention and after the feed-forward part."""


class ExchangePath(StrEnum):
    """Path of activations between GPUs."""

    PEER = "peer"
    NETWORK = "network"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Activations exchanged between GPUs in one run of the stages, one exchange after another.

    Attributes:
        way: slowest path that they cross.
        times: number of exchanges in a run.
        moved: bytes of an exchange that cross the path, one way [B].
        reduces: all-reduce or all-gather of all GPUs; else a GPU sends to the next.
        gpus: number of GPUs that take part.
        messages: messages over TCP of an exchange; 0 for one that its sender does not wait for.
    """

    way: ExchangePath
    times: Array
    moved: Array
    reduces: bool = False
    gpus: int = 2
    messages: Array = 0.0


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One phase of a runtime: its stages, their repetitions, and exchanges between processors.

    Attributes:
        stages: stages in order; their times add.
        repeats: number of runs of the stages in the phase (micro-batches of a prompt).
        crossings: hand-overs of activations between processors in one run of the stages.
        workers: GPUs that each hold some of the layers and may work on different repeats at once.
        exchanges: exchanges between GPUs that share layers or are in different machines.
    """

    stages: tuple[Stage, ...]
    repeats: Array = 1.0
    crossings: Array = 0.0
    workers: int = 1
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Phases:
    """Schedules of a reply, each made at first use: of the prompt, and of a step for each token.

    Attributes:
        of_prompt: function that makes the schedule of the prompt.
        of_token: function that makes the schedule of a step.
    """

    of_prompt: Callable[[], Schedule]
    of_token: Callable[[], Schedule]

    @cached_property
    def prefill(self) -> Schedule:
        """Schedule of the prompt."""
        return self.of_prompt()

    @cached_property
    def decode(self) -> Schedule:
        """Schedule of a step."""
        return self.of_token()

    def each(self, change: Callable[[Schedule], Schedule]) -> "Phases":
        """Phases with both schedules changed."""
        return Phases(of_prompt=lambda: change(self.prefill), of_token=lambda: change(self.decode))
