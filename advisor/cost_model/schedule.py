"""Schedule of a phase: stages, and the routes of the bytes inside them.

Stages follow each other, so their times add. Flows inside one stage run side by side, so the
longest counts, and together they cannot take more from a shared memory than it gives.
"""

from dataclasses import dataclass
from enum import StrEnum

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
    """How bytes cross the link."""

    PINNED = "pinned"
    PAGEABLE = "pageable"
    ZERO_COPY = "zero_copy"


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """How a framework computes a batch on a GPU: kernel after kernel, layer after layer.

    Attributes:
        number: type that matrices are multiplied in, a key of `Gpu.tensor_flops`.
        sequences: sequences that get a token from the step.
        unpacked: values of compressed weights and caches that are turned into that type first.
    """

    number: str
    sequences: Array = 0.0
    unpacked: Array = 0.0


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Bytes on one route in one stage: either read and computed, or only moved.

    Attributes:
        route: which of the five.
        load: what is read and computed at the end of the route (resident, in place).
        moved: what is only moved (streamed, paged, staged), or the cache that a framework's
            attention reads in RAM (in place) [B].
        pieces: of what is paged, pieces that do not follow each other in the file [B].
        renewal: time for which old pages make room for what is paged [s].
        device: GPU that computes or receives.
        transfer: how moved bytes cross the link; None for those that go no further than RAM.
        repacked: the CPU reads weights in its own layout; never so for pages of a file.
        kernels: how a framework computes the load on a GPU; None for llama.cpp's own way.
        alike: GPUs that do the same with their own share at the same time; what they take from RAM
            adds up.
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
    """Flows that run side by side."""

    flows: tuple[Flow, ...]


def alone(flow: Flow) -> Stage:
    """A stage of one flow, which nothing overlaps."""
    return Stage(flows=(flow,))


REDUCES_PER_LAYER = 2.0
"""All-reduces in a layer that GPUs share: behind attention and behind the feed-forward part."""


class ExchangePath(StrEnum):
    """Path of activations between GPUs."""

    PEER = "peer"
    NETWORK = "network"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Activations that GPUs send each other in one run, one exchange after another.

    Attributes:
        way: the slowest that they cross.
        times: exchanges in a run.
        moved: bytes of each that cross it, one way [B].
        reduces: all of them add up or gather what each has, else one hands on to the next.
        gpus: that take part.
    """

    way: ExchangePath
    times: Array
    moved: Array
    reduces: bool = False
    gpus: int = 2


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """One phase of a runtime: its stages, how often they run, what a step costs besides.

    Attributes:
        stages: in order; their times add.
        repeats: how often the stages run in the phase (micro-batches of a prompt).
        crossings: hand-overs of activations between processors in one run of the stages.
        workers: GPUs that hold the layers in turn and may work on several repeats at once.
        exchanges: what GPUs that share layers, or stand in several machines, send each other.
    """

    stages: tuple[Stage, ...]
    repeats: Array = 1.0
    crossings: Array = 0.0
    workers: int = 1
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Phases:
    """Schedules of a reply: the prompt once, then a step for each token."""

    prefill: Schedule
    decode: Schedule
