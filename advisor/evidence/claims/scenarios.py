"""A scenario of data/claims/claim_cases.csv as model, machine, workload and placement.

Keys are those of a request, so that a row can state whatever can be asked:
`gpu=RTX 4090; gpu_layers=40; context=4096`. Numbers may be arrays along one sweep.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.errors import DataError
from advisor.evidence.claims.rows import Inputs
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.request.request import Nouns, Request
from advisor.runtimes import LLAMA_CPP, Runtime

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
    """One case, ready to be computed.

    Attributes:
        inputs: inputs from the data files; missing ones have the defaults of the Advise page.
    """

    inputs: Inputs

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
