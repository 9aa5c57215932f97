"""Edit: one thing changed, in words, with its cost; and the estimate after it.

Changes that make a machine faster, causes of a measured speed, and curves
are lists of edits; they differ in what is changed and in which answers count.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from advisor.advice.speeds import Speed
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import Range
from advisor.errors import InputError, Refusal
from advisor.runtimes.compare import as_run
from advisor.units import Array, Quantity, seconds

Part = TypeVar("Part")


class Rates(NamedTuple):
    """Speeds of decoding and of the prompt [tokens/s]."""

    decode: Range  # of generation, for each user [tokens/s]
    prompt: Range  # of the prompt [tokens/s]


def rates(estimate: Estimate) -> Rates:
    """Decode and prefill speeds; raises InputError for an impossible combination."""
    if estimate.decode is None or estimate.prefill is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    return Rates(estimate.decode, estimate.prefill)


def scaled(part: Part, path: str, factor: Array) -> Part:
    """Part with the rate at a path of its fields multiplied ("gpus.bandwidth").

    A path with several parts changes each; a path that ends at a part ("gpus.link") changes all
    rates of it.
    """
    if isinstance(part, tuple):
        return tuple(scaled(each, path, factor) for each in part)  # type: ignore[return-value]
    if isinstance(part, Quantity):
        return replace(part, value=part.value * factor)
    first, _, rest = path.partition(".")
    values: dict[str, Any] = {first: getattr(part, first)} if first else rates_in(part)
    changed = {name: scaled(value, rest, factor) for name, value in values.items()}
    return replace(part, **changed)  # type: ignore[type-var]


def rates_in(part: object) -> dict[str, Quantity]:
    """Quantities among the fields of a part, by field."""
    return {name: value for name, value in vars(part).items() if isinstance(value, Quantity)}


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Change of one thing in an estimate."""

    words: str = ""  # change in words; empty where there is a single one of its kind
    changes: Mapping[str, Any] = field(default_factory=dict)  # of an `Estimate`, or of inputs
    moves: bool = True  # the model is placed anew; else its parts stay where they are
    read: Callable[[Estimate], Rates] = rates  # speeds as somebody counts them
    cost: str = ""  # cost in words; empty for what nobody buys
    part: str = ""  # kind of the part to buy, as in data/prices/host_parts.csv; empty for none
    ram: float = 0.0  # memory to buy [B]; 0 for none
    of_prompt: bool = False  # it reads prompts sooner, and writes as before
    # what its format loses over the present one [nats]; None where more than people accept
    loss: float | None = None
    unreported: bool = False  # an engine that nobody but its makers reported on the card
    undoes: bool = False  # a setting that somebody states is left to the engine again

    @property
    def of_format(self) -> bool:
        """Whether the model's format alone is changed."""
        return self.changes.keys() == {"model"}

    def keeps_formats(self, kv_type: str) -> bool:
        """Whether neither the format of the weights nor that of the cache, `kv_type` at present,
        changes.
        """
        work = self.changes.get("work")
        return "model" not in self.changes and (work is None or work.kv_type == kv_type)

    def of(self, before: Estimate) -> Estimate:
        """Estimate after the edit."""
        if self.moves:
            return before.again(**self.changes)
        return replace(before, **self.changes)


@dataclass(frozen=True, kw_only=True)
class Edited(Edit):
    """Edit with its answer."""

    speed: Speed  # speed after it, in the fastest placement
    gain: float  # factor of the decode speed over the present one; of a whole answer's for prompts

    @property
    def effect(self) -> str:
        """Gain of the change in words ("1.64 times as fast", "the first word after 14 s")."""
        if self.of_prompt:
            return f"the first word after {seconds(self.speed.first_token)}"
        return f"{self.gain:.2f} times as fast"


def placements(after: Estimate) -> Iterator[Estimate]:
    """Placements that may hold the model of an estimate, each still to be timed.

    The model is in the format that its runtime loads; it is empty where the runtime refuses the
    model.
    """
    with suppress(Refusal):
        model = as_run(after.model, after.runtime, after.machine)
        for strategy in after.runtime.strategies:
            if strategy.could_hold(model, after.machine):
                yield replace(after, model=model, strategy=strategy)
