"""Interface of a runtime: its formats, placement, schedule and command."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class LoadedFormat:
    """Format of a model once a runtime has loaded it."""

    format: str  # name of the format
    # reason for a format other than the requested one; empty for the requested one
    reason: str = ""


class WeightFiles(StrEnum):
    """Kind of files that a server loads."""

    GGUF = "GGUF"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True, kw_only=True)
class ServerSetup:
    """Installation and start of a server on a rented Ubuntu machine with NVIDIA drivers."""

    files: WeightFiles  # kind of files it loads
    port: int  # port it listens on
    install: tuple[str, ...]  # shell lines that install it, and skip finished steps
    # shell lines that start it; the last argument is shell text for the repository of the weights
    start: Callable[[Model, Placement, Machine, Workload, str], tuple[str, ...]]


Command = Callable[[Model, Placement, Machine, Workload], str]
"""Shell text that starts a runtime in a placement."""


class AtOnce(Protocol):
    """Function that gives the users decoded together."""

    def __call__(
        self, model: Model, machine: Machine, work: Workload, settings: Settings = ..., /
    ) -> Array:
        """Users decoded together [users]."""


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Description of a runtime."""

    name: str  # display name
    key: str  # name in data/generated/efficiency.csv
    engine: str  # program whose placement and schedule it uses; for a variant, the original
    version: str  # release that the command is written for, with the date of the check
    strategies: tuple[PlacementStrategy, ...]  # supported placement strategies
    # format in which a model of a given format is loaded on a machine, with the reason where it
    # differs; raises Refusal for a format that the runtime cannot run there
    loaded_format: Callable[[str, Machine], LoadedFormat]
    # placement of the model's parts; raises Refusal where there is none
    place: Callable[[Model, Machine, Workload, PlacementStrategy, Settings], Placement]
    # schedules of the prompt and of a token
    schedule: Callable[[Model, Placement, Machine, Workload], Phases]
    command: Command  # shell text that starts it
    # users decoded together with all weights on the GPUs, for runtimes that queue further users;
    # None for runtimes that accept every request
    at_once: AtOnce | None = None
    # property of a machine, as a true or false array, that the placement depends on and that one
    # call cannot vary: machines that differ in it are placed separately; None where all machines
    # can be placed in one call
    apart: Callable[[Model, Machine, Workload], npt.NDArray[np.bool_]] | None = None
    # tokens of a prompt computed together, in steps of their own; None where steps mix prompts with
    # tokens of other users [tokens]
    chunk: Callable[[Machine], Array] | None = None
    build: str = ""  # fork it belongs to, as in `catalog.constants.Scope`; empty for none
    # upper bound on the weights of repeating layers that the GPUs hold beside the cache of one user
    # [B]; None for all of their memory
    room_for_layers: Callable[[Model, Machine, Workload], Array] | None = None
    takes_layers: bool = False  # the number of layers on the GPU can be set
    # its command says how threads and memory lie on several sockets (`--numa`)
    binds_nodes: bool = False
    # the processor computes the weights in RAM; else they move to the GPU
    computes_in_ram: bool = False
    # its placement and schedule take a model whose numbers are arrays, as `model.many_formats`
    # makes it
    takes_several_formats: bool = False
    # its placement in GPUs and its schedule take a stack of machines with several numbers of one
    # kind of card (`Machine.counts`)
    takes_several_counts: bool = False
    # its kernels can read weights in RAM over the link, without a copy
    reads_over_link: bool = False
    # largest KV cache type of half the 16-bit size or less; empty for none
    quantized_kv_type: str = ""
    divides_experts: bool = False  # GPUs that share layers can each hold whole experts
    # it keeps experts in RAM that were used last on the GPU (`Settings.expert_cache`)
    caches_experts: bool = False
    # the feed-forward of some layers can stay in RAM alone (`Settings.cpu_ffn`)
    parts_layers: bool = False
    drafts: bool = False  # its command lets other layers or models draft tokens
    # additional half width of its ranges where no constant is fitted to it, as the logarithm of a
    # factor
    extra_uncertainty: float = 0.0
    mainstream: bool = True  # in common use; the result cards prefer such runtimes
    # installation and start on a rented machine; None where unknown
    setup: ServerSetup | None = None
    # context where none is set, by machine [tokens]; None for the model's own
    default_context: Callable[[Machine], int] | None = None


def variant(original: Runtime, *, name: str, command: Command, **own: Any) -> Runtime:
    """A runtime that places and computes as another one does, with a name and a command of its own.

    What belongs to the original's command is not taken over: its set-up, that it drafts,
    binds memory nodes and is in common use; nor that it takes several numbers of cards at once.
    Further fields that differ are stated.
    """
    bare: dict[str, Any] = {"setup": None}
    flags = ("drafts", "mainstream", "binds_nodes", "takes_several_counts", "caches_experts",
             "parts_layers")  # fmt: skip
    bare |= dict.fromkeys(flags, False)
    return replace(original, name=name, command=command, **{**bare, **own})
