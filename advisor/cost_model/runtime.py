"""Interface of a runtime: its formats, placement, schedule and command."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.backends import NumaPolicy
from advisor.machine.machine import Host, Machine
from advisor.model.model import Model
from advisor.model.packings import Packing
from advisor.units import Array, Quantity


@dataclass(frozen=True, kw_only=True)
class LoadedFormat:
    """Format of a model once a runtime has loaded it."""

    format: str  # name of the format
    reason: str = ""  # why it is another than the requested format; empty where it is that one


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

    @property
    def takes_gguf(self) -> bool:
        """Whether the server loads GGUF files; other servers load checkpoints."""
        return self.files is WeightFiles.GGUF


OF_LLAMA_CPP = frozenset({"llama.cpp", "ollama", "lm-studio"})
"""Keys of runtimes whose engine is llama.cpp."""
Command = Callable[[Model, Placement, Machine, Workload], str]
"""Shell text that starts a runtime in a placement."""


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
    # users decoded together with all weights on the GPUs; None where further users need not wait
    at_once: Callable[[Model, Machine, Workload, Settings], Array] | None = None
    # property of machines, true or false, that decides the placement: those that differ in it are
    # placed by separate calls; None where one call places all
    apart: Callable[[Model, Machine, Workload], npt.NDArray[np.bool_]] | None = None
    # tokens of a prompt computed in a step of its own; None where tokens of other users join it
    chunk: Callable[[Machine], Array] | None = None
    build: str = ""  # fork it belongs to, as in `catalog.constants.Scope`; empty for none
    # upper bound on the weights of layers that the GPUs hold beside the cache of one user; None for
    # all of their memory [B]
    room_for_layers: Callable[[Model, Machine, Workload], Array] | None = None
    # number of layers on each of unequal cards, empty for equal parts; None where all are alike
    stages: Callable[[Model, Machine], tuple[int, ...]] | None = None
    # model in the files that its makers publish, where these are of another size than the format's;
    # None where they are not
    own_files: Callable[[Model], Model] | None = None
    # model with the cache of an older build, by its month, or of today's without one; None where
    # builds do not differ
    as_built: Callable[[Model, str], Model] | None = None
    takes_layers: bool = False  # the number of layers on the GPU can be set
    binds_nodes: bool = False  # its command places threads and memory on sockets (`--numa`)
    computes_in_ram: bool = False  # the processor computes weights in RAM; else they move to GPUs
    takes_several_formats: bool = False  # it takes a model of `Model.in_many_formats`
    takes_several_counts: bool = False  # it takes several numbers of one card (`Machine.counts`)
    reads_over_link: bool = False  # its kernels can read weights in RAM, without a copy
    quantized_kv_type: str = ""  # largest cache type of at most half of 16 bits; empty for none
    divides_experts: bool = False  # GPUs that share layers can each hold whole experts
    caches_experts: bool = False  # GPUs can cache experts of the RAM (`Settings.expert_cache`)
    parts_layers: bool = False  # feed-forward alone can stay in RAM (`Settings.cpu_ffn`)
    drafts: bool = False  # its command lets other layers or models draft tokens
    # drafting by default, as fields of a `Workload`; None for none. A mapping has no hash, and a
    # runtime is a key of caches.
    own_drafts: Mapping[str, Any] | None = field(default=None, hash=False)
    schedules_drafts: bool = False  # its schedule has the runs of who drafts
    extra_uncertainty: float = 0.0  # half width for what is not fitted, as a factor's logarithm
    alone: bool = False  # a machine runs a single copy of it at a time
    mainstream: bool = True  # in common use; the result cards prefer such runtimes
    setup: ServerSetup | None = None  # installation on a rented machine; None where unknown
    # context where none is set [tokens]; None for the model's own
    default_context: Callable[[Machine], int] | None = None

    @property
    def of_llama_cpp(self) -> bool:
        """Whether the runtime's engine is llama.cpp."""
        return self.key in OF_LLAMA_CPP

    @property
    def in_tiers(self) -> bool:
        """Whether the runtime keeps experts in VRAM, RAM and on the drive."""
        return self.engine == "tiers"

    @property
    def program(self) -> str:
        """Name of the program that computes: a fork, an engine in tiers, or the original."""
        if self.in_tiers:
            return self.key
        return self.build or self.engine

    def scheduled(self, **options: Any) -> "Runtime":
        """Runtime with some options of its schedule set in another way ("overlap=False")."""
        return replace(self, schedule=partial(self.schedule, **options))

    def format_words(self, words: str) -> str:
        """Words of a format, with the tool that the runtime means by bits alone ("4.0bpw")."""
        return Packing.of_runtime(words, self.name)

    def lacks(self, strategy: PlacementStrategy) -> str:
        """Reason why the runtime has no estimate of a placement; empty where it has one."""
        if strategy in self.strategies:
            return ""
        return {
            PlacementStrategy.GPU_RESIDENT: f"{self.name} always leaves a part outside the GPU.",
            PlacementStrategy.CPU_OFFLOAD: f"{self.name} leaves nothing in RAM.",
            PlacementStrategy.NVME_OFFLOAD: f"{self.name} does not run a model from the drive.",
        }[strategy]

    def binds(self, host: Host) -> bool:
        """Whether a stated policy for memory nodes changes the runtime's speed on a host."""
        return bool(host.numa) and self.binds_nodes and host.sockets > 1 and host.engine is None

    def bound(self, machine: Machine) -> Machine:
        """Machine reduced to the one socket to which a stated policy binds it.

        It has that socket's part of the memory, of its rate and of the cores; it is unchanged
        without such a policy.
        """
        host = machine.host
        if not self.binds(host) or not NumaPolicy.on_one_node(host.numa):
            return machine
        of_socket = (host.cores_there or host.cores) // host.sockets

        def part(figure: Quantity) -> Quantity:
            source = f"one of {host.sockets} sockets' part of {figure.source}"
            return replace(figure, value=figure.value / host.sockets, source=source)

        alone = replace(
            host,
            sockets=1,
            cores=min(host.cores, of_socket),
            cores_there=None if host.threads is None else of_socket,
            memory=part(host.memory),
            bandwidth=part(host.bandwidth),
        )
        return replace(machine, host=alone)


def variant(original: Runtime, *, name: str, command: Command, **changes: Any) -> Runtime:
    """Runtime that places and computes as another runtime does, with a name and a command of its
    own.

    Not taken over are the original's set-up, its older builds, and what its command or users make
    of it: `BY_COMMAND`.
    Further fields that differ are stated.
    """
    bare = {"setup": None, "as_built": None, **dict.fromkeys(BY_COMMAND, False)}
    return replace(original, name=name, command=command, **{**bare, **changes})


BY_COMMAND = (
    "drafts", "mainstream", "binds_nodes", "takes_several_counts", "caches_experts", "parts_layers",
)  # fmt: skip
"""Properties of a runtime that a variant does not have unless it states them."""
