"""Protocol of a runtime: its placement, schedule, command and formats."""

from collections.abc import Callable
from dataclasses import dataclass

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
    build: str = ""
    takes_layers: bool = False
    computes_in_ram: bool = False
    reads_over_link: bool = False
    quantized_kv_type: str = ""
    extra_uncertainty: float = 0.0
    mainstream: bool = True
    language: str = "bash"
    notes: tuple[str, ...] = ()
