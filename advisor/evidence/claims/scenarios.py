"""A scenario of data/claims/claim_cases.csv as model, machine, workload and placement.

Keys are those of a request, so that a row can state whatever can be asked:
`gpu=RTX 4090; gpu_layers=40; context=4096`. Numbers may be arrays along one sweep.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.errors import DataError
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.request.request import Nouns, Request
from advisor.runtimes import LLAMA_CPP, Runtime

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
    measure: str  # quantity that is computed, a key of `measures.MEASURES`
    low: float | None  # lower end of the claimed range, in `unit`; empty for none
    high: float | None  # upper end of the claimed range, in `unit`; empty for none
    unit: str  # unit of both ends, a key of `ranges.UNITS`
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


@cache
def claim_rows() -> tuple[ClaimRow, ...]:
    """Claims, in the order of the file."""
    return read(DATA / "claims/claims.csv", ClaimRow)


@cache
def case_rows() -> tuple[CaseRow, ...]:
    """Cases, in the order of the file."""
    return read(DATA / "claims/claim_cases.csv", CaseRow)


def inputs(text: str) -> dict[str, object]:
    """Inputs of a scenario's text.

    Raises:
        DataError: a part that is not key=value.
    """
    return {key: _value(value) for key, value in assignments(text, "claims/claims.csv")}


def changed(before: Inputs, text: str) -> dict[str, object]:
    """Inputs with changes; an empty value removes its key."""
    both = {**before, **inputs(text)}
    return {key: value for key, value in both.items() if not _empty(value)}


def inherited(own: str, claims: str) -> str:
    """A case's own value, else the claim's; `none` gives an empty value."""
    chosen = own or claims
    return "" if chosen == "none" else chosen


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _empty(value: object) -> bool:
    return isinstance(value, str) and not value


OF_CLAIMS = ("upgrade", "cited")
"""Inputs of claims alone: GPU that would replace the present one; a figure published by others."""

PHRASES = {
    "model": "{}",
    "format": "{}",
    "runtime": "{}",
    "placement": "{}",
    "gpu": "{}",
    "gpu_count": "{} of them",
    "cpu": "{}",
    "ram_gb": "{:,} GB of RAM",
    "pcie_gen": "PCIe {}",
    "disk": "{}",
    "gpu_layers": "{} layers on the GPU",
    "cpu_moe": "experts of {} layers in RAM",
    "cache_gb": "{} GB of page cache",
    "context": "{:,} tokens of context",
    "prompt": "a prompt of {:,}",
    "output": "a reply of {:,}",
    "users": "{:,} users",
    "swa_full": "windows kept whole",
    "replies_per_day": "{:,} replies a day",
    "usd_per_hour_of_time": "${} for an hour of waiting",
    "upgrade": "{} instead",
    "reading_tps": "read along at {} tokens/s",
}
"""Phrases for the inputs of a scenario, in this order; other inputs are part of the figure's
words."""
PLACED = {
    PlacementStrategy.GPU_RESIDENT: "all in the GPU",
    PlacementStrategy.CPU_OFFLOAD: "the rest in RAM",
    PlacementStrategy.NVME_OFFLOAD: "the rest on the drive",
}
"""Placements in words."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One case, ready to be computed."""

    inputs: Inputs  # inputs from the data files; missing ones have the defaults of the Advise page

    def __post_init__(self) -> None:
        unknown = set(self.inputs) - {*BY_NAME, *OF_CLAIMS}
        if unknown:
            raise DataError(
                f"data/claims/claims.csv: no input is called {', '.join(sorted(unknown))}."
            )

    def text(self, key: str, default: str = "") -> str:
        """Text input by key."""
        return str(self.inputs.get(key, default))

    def number(self, key: str) -> float | None:
        """Numeric input by key; None where it is missing."""
        value: Any = self.inputs.get(key)
        return None if value is None else float(value)

    @cached_property
    def request(self) -> Request:
        """What the inputs ask, but for those of claims alone."""
        inputs: dict[str, Any] = {**self.inputs}
        return Request(**{name: value for name, value in inputs.items() if name not in OF_CLAIMS})

    @cached_property
    def nouns(self) -> Nouns:
        """Nouns of the request, each built on first use."""
        return self.request.nouns()

    @cached_property
    def machine(self) -> Machine:
        """Machine; typical parts for missing inputs."""
        return machine(self.request.spec)

    @property
    def work(self) -> Workload:
        """Workload."""
        return self.nouns.work

    @property
    def money(self) -> MoneyInputs:
        """Money inputs."""
        return self.nouns.money

    @property
    def runtime(self) -> Runtime:
        """Runtime; llama.cpp by default."""
        return self.nouns.runtime or LLAMA_CPP

    @cached_property
    def model(self) -> Model:
        """Model in the runtime's format."""
        as_stored = catalog.model(self.text("model"), self.text("format"))
        return as_run(as_stored, self.runtime, self.machine)

    @cached_property
    def estimate(self) -> Estimate:
        """Estimate of the scenario."""
        return estimate(
            self.model,
            self.machine,
            self.work,
            self.runtime,
            self.nouns.strategy or PlacementStrategy.CPU_OFFLOAD,
            fitted_constants(),
            self.nouns.settings,
        )

    @property
    def refusal(self) -> str:
        """Reason why the runtime cannot place the model; empty where it can or none is given."""
        return (
            self.estimate.refusal if "model" in self.inputs and "placement" in self.inputs else ""
        )

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that take time; none without a model and a GPU."""
        return self.estimate.routes if "model" in self.inputs and "gpu" in self.inputs else ()

    @property
    def words(self) -> str:
        """The scenario in one line."""
        return in_words(self.inputs)


def in_words(inputs: Inputs) -> str:
    """Inputs in one line, the model first."""
    plain = {**inputs}
    if "placement" in inputs:
        plain["placement"] = PLACED[PlacementStrategy(str(inputs["placement"]))]
    return ", ".join(phrase.format(plain[key]) for key, phrase in PHRASES.items() if key in plain)
