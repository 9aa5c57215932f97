"""What a runtime is to the advisor: how it places a model, reads it, and is told to."""

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
        name: as people call it.
        key: as data/generated/efficiency.csv names it.
        at_once: users that are served together where all weights lie on the GPUs, of runtimes that
            let the others wait; None for runtimes that must hold all.
        build: of which fork it is, as `catalog.constants.Scope` names builds; empty for none.
        version: what its command was written for, with the date it was checked.
        strategies: placements it can do.
        becomes: the format a model of a given format takes in it, on a machine; raises Refusal
            where the pair cannot be.
        place: where it puts the model.
        schedule: how it reads it there.
        command: text to paste that does it.
        takes_layers: a person may fix how many layers lie on the GPU.
        light_cache: the type of cache, of half the size or less, that it can be told to keep; empty
            for none.
        unfitted: further half width of its ranges, as the logarithm of a factor, where nothing is
            fitted to it.
        usual: people meet it without looking for it; the cards prefer such a one.
        language: that the command is written in, for colouring.
        notes: what people should know beside the command, a sentence or two each.
    """

    name: str
    key: str
    version: str
    strategies: tuple[PlacementStrategy, ...]
    becomes: Callable[[str, Machine], Becomes]
    place: Callable[[Model, Machine, Workload, PlacementStrategy, Settings], Placement]
    schedule: Callable[[Model, Placement, Machine, Workload], Phases]
    command: Callable[[Model, Placement, Machine, Workload], str]
    at_once: Callable[[Model, Machine, Workload], Array] | None = None
    build: str = ""
    takes_layers: bool = False
    light_cache: str = ""
    unfitted: float = 0.0
    usual: bool = True
    language: str = "bash"
    notes: tuple[str, ...] = ()
