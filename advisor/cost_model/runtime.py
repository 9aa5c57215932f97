"""Protocol of a runtime: its placement, schedule, command and formats."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Becomes:
    """The format a model has once a runtime has loaded it.

    Attributes:
        format: name of the format it runs in.
        reason: why it is not the one that was asked for; empty where it is.
    """

    format: str
    reason: str = ""


class WeightFiles(StrEnum):
    """Kind of files that a server loads."""

    GGUF = "GGUF"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True, kw_only=True)
class ServerSetup:
    """Installation and start of a server on a rented Ubuntu machine with NVIDIA drivers.

    Attributes:
        files: which files it loads.
        port: on which it listens.
        install: shell lines that install it, and skip what is done.
        start: shell lines that start it, given shell text for the repository of the weights.
    """

    files: WeightFiles
    port: int
    install: tuple[str, ...]
    start: Callable[[Model, Placement, Machine, Workload, str], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """One runtime.

    Attributes:
        name: display name.
        key: its name in data/generated/efficiency.csv.
        at_once: users served at the same time when all weights are on the GPUs, for runtimes that
            queue the others; None for runtimes that hold every request.
        engine: program whose placement and way of reading it shares; of variants that of the
            original.
        computes_in_ram: the processor computes the weights in RAM; else they go to the GPU.
        reads_over_link: its kernels can read weights in RAM over the link, without a copy.
        apart: what it decides by the size of a machine and cannot decide for several at once;
            machines that differ in it are placed apart. None where there is no such thing.
        build: fork it belongs to, as named in `catalog.constants.Scope`; empty for none.
        version: release its command is written for, with the date of the check.
        strategies: supported placements.
        becomes: format in which it runs a model of a given format on a machine; raises Refusal for
            a pair it cannot run.
        place: placement of the model's bytes.
        schedule: work of a prompt and of each token.
        command: shell text that starts it.
        takes_layers: the number of layers on the GPU can be set.
        quantized_kv_type: largest KV cache type of half the 16-bit size or less; empty for none.
        extra_uncertainty: further half width of its ranges where no constant is fitted to it, as
            the logarithm of a factor.
        mainstream: in common use, so that the cards prefer it.
        setup: how a rented machine serves with it; None where it is not known.
        default_context: context where none is set, by machine [tokens]; None for the model's own.
        language: syntax of the command, for highlighting.
        notes: remarks shown beside the command, a sentence or two each.
    """

    name: str
    key: str
    engine: str
    version: str
    strategies: tuple[PlacementStrategy, ...]
    becomes: Callable[[str, Machine], Becomes]
    place: Callable[[Model, Machine, Workload, PlacementStrategy, Settings], Placement]
    schedule: Callable[[Model, Placement, Machine, Workload], Phases]
    command: Callable[[Model, Placement, Machine, Workload], str]
    at_once: Callable[[Model, Machine, Workload], Array] | None = None
    apart: Callable[[Model, Machine, Workload], npt.NDArray[np.bool_]] | None = None
    build: str = ""
    takes_layers: bool = False
    computes_in_ram: bool = False
    reads_over_link: bool = False
    quantized_kv_type: str = ""
    extra_uncertainty: float = 0.0
    mainstream: bool = True
    setup: ServerSetup | None = None
    default_context: Callable[[Machine], int] | None = None
    language: str = "bash"
    notes: tuple[str, ...] = ()
