"""A scenario of data/claims/claim_cases.csv as model, machine, workload and placement.

Keys are fields of the dataclasses they belong to, so that a row can state whatever the package can
compute: `gpu=RTX 4090; gpu_layers=40; context=4096`. Numbers may be arrays along one sweep.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from advisor import runtimes
from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.errors import DataError
from advisor.evidence.claims.rows import Inputs
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.runtimes import Runtime
from advisor.units import GIB, Array

OWN = ("model", "format", "runtime", "placement", "cache_gb", "upgrade", "reading_tps", "cited")
"""Keys that are not fields of a dataclass: model, its format, runtime and placement; page cache
[GiB];
GPU that would replace the present one; reading speed of a person [tokens/s]; a figure published by
others."""

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
        unknown = set(self.inputs) - KEYS
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
    def machine(self) -> Machine:
        """Machine; typical parts for missing inputs."""
        return machine(MachineSpec(**_fields(MachineSpec, self.inputs)))

    @cached_property
    def work(self) -> Workload:
        """Workload."""
        return Workload(**_fields(Workload, self.inputs))

    @cached_property
    def money(self) -> MoneyInputs:
        """Money inputs."""
        return MoneyInputs(**_fields(MoneyInputs, self.inputs))

    @property
    def settings(self) -> Settings:
        """Fixed choices of the placement."""
        cache: Any = self.inputs.get("cache_gb")
        page_cache: Array | None = None if cache is None else cache * GIB
        stated = _fields(Settings, self.inputs)
        # a stated number of layers counts as on the Advise page: the output head comes last
        stated = {"head_first": "gpu_layers" not in stated, **stated}
        return Settings(**{**stated, "page_cache": page_cache})

    @property
    def runtime(self) -> Runtime:
        """Runtime; llama.cpp by default."""
        return runtimes.runtime(self.text("runtime", "llama.cpp"))

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
            PlacementStrategy(self.text("placement", PlacementStrategy.CPU_OFFLOAD)),
            fitted_constants(),
            self.settings,
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


def _fields(noun: type, inputs: Mapping[str, object]) -> dict[str, Any]:
    names = {field.name for field in fields(noun)}
    return {key: value for key, value in inputs.items() if key in names}


KEYS = frozenset(OWN).union(
    field.name for noun in (MachineSpec, Workload, Settings, MoneyInputs) for field in fields(noun)
)
"""All keys of a scenario."""
