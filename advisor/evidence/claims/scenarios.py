"""A scenario of data/claims/claim_cases.csv as model, machine, workload and placement.

Keys are the fields of the nouns they go to, so that a row can say whatever the package can compute:
`gpu=RTX 4090; gpu_layers=40; context=4096`. Numbers may be arrays along one sweep.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from advisor import runtimes
from advisor.advice.compare import as_run
from advisor.advice.offers import MoneyInputs
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
from advisor.runtimes import Runtime
from advisor.units import GIB, Array

OWN = ("model", "format", "runtime", "placement", "cache_gb", "upgrade", "reading_tps", "cited")
"""Keys that are no field of a noun: which model, in what format, runtime and placement; page cache
[GiB]; the GPU that would replace this one; how fast people read along [tokens/s]; a figure that
others published."""

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
"""How a scenario is said in words, in this order; what is not here shows in the figure."""
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
        inputs: what the data files say of it; what they leave open is as on the Advise page.
    """

    inputs: Inputs

    def __post_init__(self) -> None:
        unknown = set(self.inputs) - KEYS
        if unknown:
            raise DataError(
                f"data/claims/claims.csv: no input is called {', '.join(sorted(unknown))}."
            )

    def text(self, key: str, default: str = "") -> str:
        """A name that was said."""
        return str(self.inputs.get(key, default))

    def number(self, key: str) -> float | None:
        """A number that was said; None where it was not."""
        value: Any = self.inputs.get(key)
        return None if value is None else float(value)

    @cached_property
    def machine(self) -> Machine:
        """Where; open figures are those of typical parts."""
        return machine(MachineSpec(**_fields(MachineSpec, self.inputs)))

    @cached_property
    def work(self) -> Workload:
        """What is asked."""
        return Workload(**_fields(Workload, self.inputs))

    @cached_property
    def money(self) -> MoneyInputs:
        """What time is worth."""
        return MoneyInputs(**_fields(MoneyInputs, self.inputs))

    @property
    def settings(self) -> Settings:
        """What is fixed about the placement."""
        cache: Any = self.inputs.get("cache_gb")
        page_cache: Array | None = None if cache is None else cache * GIB
        stated = _fields(Settings, self.inputs)
        # a stated number of layers counts as on the Advise page: the output head comes last
        stated = {"head_first": "gpu_layers" not in stated, **stated}
        return Settings(**{**stated, "page_cache": page_cache})

    @property
    def runtime(self) -> Runtime:
        """In what it runs."""
        return runtimes.runtime(self.text("runtime", "llama.cpp"))

    @cached_property
    def model(self) -> Model:
        """The model in the format that the runtime takes."""
        as_stored = catalog.model(self.text("model"), self.text("format"))
        return as_run(as_stored, self.runtime, self.machine)

    @cached_property
    def estimate(self) -> Estimate:
        """How it runs there."""
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
        """Why the runtime does not place the model there; empty where it does or none is meant."""
        return (
            self.estimate.refusal if "model" in self.inputs and "placement" in self.inputs else ""
        )

    @property
    def routes(self) -> tuple[Route, ...]:
        """Routes that carry its bytes; none where no model is meant."""
        return self.estimate.routes if "model" in self.inputs and "gpu" in self.inputs else ()

    @property
    def words(self) -> str:
        """All of it in a line."""
        return in_words(self.inputs)


def in_words(inputs: Inputs) -> str:
    """Inputs in a line, the model first."""
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
"""Everything that a scenario may say."""
