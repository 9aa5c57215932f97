"""A scenario of data/claims/claim_cases.csv as model, machine, workload and placement.

Keys are those of a request, so that a row can state whatever can be asked:
`gpu=RTX 4090; gpu_layers=40; context=4096`. Numbers may be arrays along one sweep.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor import formatting, units
from advisor.catalog.csv_tables import DATA, assignments, read, texts
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Range
from advisor.errors import DataError
from advisor.lazy import lazy
from advisor.machine.from_spec import machine
from advisor.machine.machine import Link, Machine
from advisor.model import catalog
from advisor.model.config.values import literal
from advisor.model.model import Model
from advisor.request.request import Nouns, Request
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import as_run
from advisor.units import GB, GIB, Array, number

# Claims of articles and their cases, from data/.
#
# A claim has one row in data/claims/claims.csv. Each machine or placement that it is checked on
# has one row in data/claims/claim_cases.csv, whose empty fields take the claim's values.

Inputs = Mapping[str, object]
"""Inputs of a scenario by name, from `key=value; ...`; numeric text becomes a number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """One row of data/claims/claims.csv."""

    number: int  # number of the claim, from 1
    topic: str  # subject in a few words
    claim: str  # the claim, in our words
    measure: str  # quantity that is computed, a key of `findings.MEASURES`
    low: float | None  # lower end of the claimed range, in `unit`; empty for none
    high: float | None  # upper end of the claimed range, in `unit`; empty for none
    unit: str  # unit of both ends, a key of `UNITS`
    figure: str  # words after the figure
    assumed: str  # assumptions where the claim leaves something open
    scenario: str  # inputs shared by all cases, `key=value; ...`
    against: str  # changes that give the denominator's scenario; empty where the figure is no ratio
    vary: str  # inputs that may make the claim hold, separated by semicolons
    mechanism: str  # explanation, without figures of ours
    source: str  # source of the facts in `assumed` and `mechanism`
    source_date: str  # date when the source was read


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRow:
    """One row of data/claims/claim_cases.csv; an empty field takes the claim's value."""

    claim: int  # number of the claim
    condition: str  # clauses that distinguish this case from the others, separated by semicolons
    inputs: str  # changes to the claim's scenario, `key=value; ...`; `key=` removes an input
    measure: str  # measure of this case
    # lower end of the claimed range; with a `unit`, both ends are taken from this row
    low: float | None
    high: float | None  # upper end of the claimed range
    unit: str  # unit of both ends
    figure: str  # words after the figure
    against: str  # changes that give the denominator's scenario; `none` for none
    vary: str  # inputs that may make the claim hold; `none` for none
    beside: bool = False  # shown for comparison only, without influence on the verdict
    source: str  # source of a cited figure
    source_date: str  # date when the source was read

    def of(self, claim: ClaimRow) -> "CaseRow":
        """Case in which a claim's values fill the empty fields; `none` means no value."""
        ends = self if self.unit else claim
        filled: dict[str, Any] = {"low": ends.low, "high": ends.high, "unit": ends.unit}
        for name in ("measure", "figure", "against", "vary"):
            text = getattr(self, name) or getattr(claim, name)
            filled[name] = "" if text == "none" else text
        return replace(self, inputs=f"{claim.scenario}; {self.inputs}", **filled)


CLAIMS = read(DATA / "claims/claims.csv", ClaimRow)
CASES = read(DATA / "claims/claim_cases.csv", CaseRow)


def inputs(text: str) -> dict[str, object]:
    """Inputs of a scenario's text; of a key that is stated twice the last value counts."""
    return {key: literal(value) for key, value in assignments(text, "claims/claims.csv")}


OF_CLAIMS = ("upgrade", "cited")
"""Inputs of claims alone: GPU that would replace the present one; a figure published by others."""


PHRASES = texts("claims/phrases.csv", "input", "phrase")
"""Phrases for the inputs of a scenario, in this order; others are part of the figure's words."""
PLACED = {
    PlacementStrategy.GPU_RESIDENT: "all in the GPU",
    PlacementStrategy.CPU_OFFLOAD: "the rest in RAM",
    PlacementStrategy.NVME_OFFLOAD: "the rest on the drive",
}
"""Placements in words."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Case of a claim, ready to be computed."""

    inputs: Inputs  # inputs from the data files; missing ones have the defaults of the Advise page

    def __post_init__(self) -> None:
        unknown = set(self.inputs) - {*INPUTS, *OF_CLAIMS}
        if unknown:
            raise DataError(
                f"data/claims/claims.csv: no input is called {', '.join(sorted(unknown))}."
            )

    def changed(self, changes: Inputs) -> "Scenario":
        """Scenario with other values of some inputs; an empty value removes its key."""
        both = {**self.inputs, **changes}
        removed = {key for key, value in both.items() if isinstance(value, str) and not value}
        return Scenario(inputs={key: both[key] for key in both if key not in removed})

    def number(self, key: str) -> float | None:
        """Numeric input by key; None where it is missing."""
        value: Any = self.inputs.get(key)
        if value is None:
            return None
        return float(value)

    @lazy
    def request(self) -> Request:
        """Request of the inputs, without inputs of claims alone; its context holds prompt and
        reply.
        """
        inputs: dict[str, Any] = {**self.inputs}
        request = Request(
            **{name: value for name, value in inputs.items() if name not in OF_CLAIMS}
        )
        needed = np.add(request.prompt, request.output)
        if np.all(needed <= request.context):
            return request
        return replace(request, context=np.maximum(request.context, needed))

    @lazy
    def nouns(self) -> Nouns:
        """Nouns of the request, each built on first use."""
        return self.request.nouns()

    @lazy
    def machine(self) -> Machine:
        """Machine; typical parts for missing inputs."""
        return machine(self.request.spec)

    @property
    def link(self) -> Link:
        """Link of the first GPU."""
        return self.machine.gpus[0].link

    @property
    def runtime(self) -> Runtime:
        """Runtime; llama.cpp by default."""
        return self.nouns.runtime or LLAMA_CPP

    @lazy
    def model(self) -> Model:
        """Model in the runtime's format."""
        as_stored = catalog.in_format(catalog.architecture(self.request.model), self.request.format)
        return as_run(as_stored, self.runtime, self.machine)

    @lazy
    def estimate(self) -> Estimate:
        """Estimate of the scenario."""
        return estimate(
            self.model,
            self.machine,
            self.nouns.work,
            self.runtime,
            self.nouns.strategy or PlacementStrategy.CPU_OFFLOAD,
            settings=self.nouns.settings,
        )

    @property
    def refusal(self) -> str:
        """Reason why the runtime cannot place the model; empty where it can or none is given."""
        both = {"model", "placement"} <= self.inputs.keys()
        if both:
            return self.estimate.refusal
        return ""

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that take time; none without a model and a GPU."""
        if {"model", "gpu"} <= self.inputs.keys():
            return self.estimate.routes
        return ()

    @property
    def words(self) -> str:
        """Scenario in one line, the model first."""
        plain = {**self.inputs}
        if "placement" in plain:
            plain["placement"] = PLACED[PlacementStrategy(str(plain["placement"]))]
        return ", ".join(text.format(plain[key]) for key, text in PHRASES.items() if key in plain)


# Claimed ranges, and the comparison of a figure with them, in numbers and words.
#
# A claim holds in a case where our estimate lies in the claimed range. People round, so a range
# with two ends is widened by a tenth at each. An estimate is the middle of its 80 % range on a
# logarithmic scale; a case whose estimate lies outside the claimed range, but whose 80 % range
# reaches it, is called near and does not hold.

TO_SPARE = 0.1  # widening of a claimed range at each end, for rounding, as a share of the end


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Unit of data/claims/claims.csv."""

    size: float  # size of the unit in SI units
    say: Callable[[float], str]  # formatter of a value in SI units
    name: str = ""  # name after a number; empty for the unit itself
    singular: str = ""  # name after 1; empty where it is the same


def _followed(name: str, size: float = 1.0, digits: int = 2) -> Callable[[float], str]:
    return lambda value: f"{number(value / size, digits)} {name}"


def _settings(count: float) -> str:
    return f"{count:.0f} setting{'' if count == 1 else 's'}"


def _replies(count: float) -> str:
    if np.isfinite(count):
        return f"{number(count)} replies a day"
    return "no number of them"


UNITS = {
    "tokens/s": Unit(size=1.0, say=units.tokens_per_second),
    "GB/s": Unit(size=GB, say=formatting.rate),
    "GB": Unit(size=GB, say=_followed("GB", GB, 3)),
    "GiB": Unit(size=GIB, say=lambda size: units.memory(size) if size else "nothing"),
    "µs": Unit(size=1e-6, say=_followed("µs", 1e-6)),
    "%": Unit(size=0.01, say=_followed("%", 0.01)),
    "times": Unit(size=1.0, say=_followed("times")),
    "count": Unit(size=1.0, say=lambda count: f"{count:,.0f}"),
    "layers": Unit(size=1.0, say=_followed("layers", digits=1)),
    "settings": Unit(size=1.0, say=_settings, singular="setting"),
    "replies": Unit(size=1.0, say=_replies, name="replies a day"),
}
"""Units of claims."""


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """Range that a claim states."""

    low: float | None  # lower end in `unit`; None for none
    high: float | None  # upper end in `unit`; None for none
    unit: str  # unit of both ends
    figure: str = ""  # words after the figure

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise DataError(
                f"data/claims/claims.csv: no unit is called {self.unit!r}; {', '.join(UNITS)}."
            )

    @property
    def open(self) -> bool:
        """Whether the claim states no range."""
        return self.low is None and self.high is None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends in SI units, widened for rounding."""
        size = UNITS[self.unit].size
        spare = TO_SPARE
        if self.low is None or self.high is None:
            spare = 0.0
        if self.low is None:
            low = -np.inf
        else:
            low = self.low * (1 - spare) * size
        if self.high is None:
            high = np.inf
        else:
            high = self.high * (1 + spare) * size
        return low, high

    @property
    def name(self) -> str:
        """Name of the unit in sentences."""
        return UNITS[self.unit].name or self.unit

    def say(self, value: float) -> str:
        """Value in SI units, in words, without `figure`."""
        return UNITS[self.unit].say(value)

    @property
    def words(self) -> str:
        """Range in words."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,g} to {self.high:,g} {self.name}"
        if self.low is not None:
            return f"at least {self._end(self.low)}"
        if self.high is not None:
            return f"at most {self._end(self.high)}"
        return ""

    def _end(self, value: float) -> str:
        if value == 1:
            single = UNITS[self.unit].singular
        else:
            single = ""
        return f"{value:,g} {single or self.name}"


_shown = np.vectorize(lambda value: float(f"{value:.1e}"), otypes=[float])
"""Figure rounded to the two digits shown, so that a displayed 30 never counts as below 30."""


def holds(figure: Range, claimed: Claimed) -> npt.NDArray[np.bool_]:
    """Whether the estimate, as displayed, lies in the claimed range; false for NaN."""
    low, high = claimed.ends
    value = _shown(figure.value)
    return np.asarray((value >= low) & (value <= high))


def reaches(figure: Range, claimed: Claimed) -> bool:
    """Whether the 80 % range and the claimed range overlap."""
    low, high = claimed.ends
    return bool(np.all((np.asarray(figure.high) >= low) & (np.asarray(figure.low) <= high)))


def exact(value: Array) -> Range:
    """Range of a counted figure, whose ends are the figure itself."""
    return Range(value=value, low=value, high=value)


def ratio(above: Range, below: Range, *, together: bool) -> Range:
    """Ratio of two figures.

    With h the half width of each as the logarithm of a factor, that of the ratio is |h1 - h2| where
    the errors of both are the same because the same parts limit them (`together`), else hypot(h1,
    h2).
    """
    first = _half_width(above)
    second = _half_width(below)
    wide = np.exp(np.abs(first - second) if together else np.hypot(first, second))
    divisor = np.where(np.asarray(below.value) == 0, np.nan, below.value)
    value = np.asarray(above.value) / divisor
    return Range(value=value, low=value / wide, high=value * wide)


def _half_width(figure: Range) -> Array:
    if np.array_equal(figure.low, figure.high, equal_nan=True):
        return 0.0
    return np.log(np.asarray(figure.high) / figure.value)
