"""Run under diagnosis: a possible estimate, and edits of it.

The cost model computes the speeds after an edit; here only its inputs are changed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from advisor.advice.edits.edit import Edit, Rates, rates, rates_in, scaled
from advisor.catalog.constants import Constants
from advisor.catalog.records import like
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.lazy import lazy
from advisor.machine.backends import NumaPolicy
from advisor.machine.catalog import HOSTS
from advisor.machine.rows import HostRow
from advisor.runtimes import runtime
from advisor.units import Array, Provenance, Quantity

Edits = Iterator[Edit]
Part = TypeVar("Part")


@dataclass(frozen=True, kw_only=True)
class MeasuredRun(Estimate):
    """Possible estimate of a run that was measured."""

    placement: Placement
    constants: Constants
    system: str = ""  # "Linux", "Windows" or "macOS"; empty where unknown
    # request that timed the prompt; None for that of the generation
    prompt_work: Workload | None = None

    @lazy
    def host_row(self) -> HostRow | None:
        """Catalogue row of the processor; None if it is not listed."""
        with suppress(UnknownName):
            return HOSTS.find(self.machine.host.name)
        return None

    @property
    def layout(self) -> Settings:
        """Settings that keep the present placement while another value changes."""
        on_drive = self.strategy is PlacementStrategy.NVME_OFFLOAD
        output = self.placement.output
        head = sum(float(share) for where, share in output.items() if where.tier is Tier.VRAM)
        return Settings(
            gpu_layers=self.placement.gpu_layers,
            cpu_moe=self.placement.cpu_moe,
            page_cache=self.placement.page_cache if on_drive else None,
            head_first=head > 0,
            kv_in_ram=self.cache_in_ram,
            load_mode=self.placement.load_mode,
        )

    @property
    def cache_in_ram(self) -> bool:
        """Whether the KV cache of GPU layers is in RAM."""
        in_ram = float(np.sum(self.placement.kv.get(Location.RAM, 0.0)))
        return in_ram > self.model.layers - float(self.placement.gpu_layers)

    def meets(self, conditions: str) -> bool:
        """Whether a run meets all of the conditions of a row, separated by semicolons."""
        named = (name.strip() for name in conditions.split(";"))
        return all(CONDITIONS[name](self) for name in named if name)

    def takes(self, *routes: Route) -> bool:
        """Whether a token or the prompt spends time on one of these routes."""
        parts = [time.parts for time in (self.step, self.prompt) if time is not None]
        return any(float(part.get(route, 0.0)) > 0 for part in parts for route in routes)

    def speeds(self, after: Estimate, read: Callable[[Estimate], Rates] = rates) -> Rates:
        """Speeds of an estimate of this run, of the lengths that were measured."""
        speeds = read(after)
        if self.prompt_work is None:
            return speeds
        lengths = {name: getattr(self.prompt_work, name) for name in ("prompt", "cached")}
        timed = replace(after, work=replace(after.work, **lengths))
        return speeds._replace(prompt=read(timed).prompt)

    def placed(self, words: str, settings: Settings, **changes: Any) -> Edit:
        """Edit that places the model again with these settings."""
        nouns = {"constants": self.constants, "settings": settings, **changes}
        return Edit(words=words, changes=nouns)

    def with_rates(self, words: str, path: str, factor: Array, **changes: Any) -> Edit:
        """Edit that multiplies rates at a path of the machine's fields, with every part where it
        lies.
        """
        machine = scaled(self.machine, path, factor)
        if np.all(machine.host.bandwidth.value < self.machine.host.bandwidth.value):
            gpus = tuple(gpu.with_copies(machine.host) for gpu in machine.gpus)
            machine = replace(machine, gpus=gpus)
        return timed(words, machine=machine, **changes)

    def rescheduled(self, words: str, change: Callable[[Schedule], Schedule]) -> Edit:
        """Edit that changes the schedule of the same run."""

        def schedule(*nouns: Any) -> Phases:
            return self.runtime.schedule(*nouns).each(change)

        return timed(words, runtime=replace(self.runtime, schedule=schedule))


def measured_run(estimate: Estimate, system: str = "") -> MeasuredRun:
    """Run of an estimate; raises InputError for an impossible combination."""
    if estimate.placement is None or estimate.constants is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    return like(MeasuredRun, estimate, system=system, prompt_work=None)


def timed(words: str, read: Callable[[Estimate], Rates] = rates, **changes: Any) -> Edit:
    """Edit that keeps every part where it lies and counts the speeds in another way."""
    return Edit(words=words, changes=changes, moves=False, read=read)


def fits(estimate: Estimate) -> bool:
    """Whether an estimate exists and every memory is large enough."""
    return not estimate.refusal and bool(estimate.fits)


def multiplied(estimate: Estimate, decode: Array = 1.0, prompt: Array = 1.0) -> Rates:
    """Speeds of generation and prompt, multiplied."""
    speeds = rates(estimate)
    return Rates(speeds.decode.times(decode), speeds.prompt.times(prompt))


def quantity_at(part: Any, path: str) -> Quantity | None:
    """First quantity at a path of fields, in the form of `scaled`; None for a missing part."""
    for name in path.split("."):
        if isinstance(part, tuple):
            first = next(iter(part), None)
        else:
            first = part
        part = getattr(first, name, None)
    if part is None or isinstance(part, Quantity):
        return part
    return next(iter(rates_in(part).values()))


MARLIN_FROM = ("Ampere", "Ada", "Hopper", "Blackwell")
"""NVIDIA's generations for which vLLM has Marlin's kernels."""
CONDITIONS: Mapping[str, Callable[[MeasuredRun], bool]] = {
    "llama.cpp": lambda run: run.runtime.takes_layers,
    "usual build": lambda run: not run.constants.scope.build,
    "CUDA graphs": lambda run: run.runtime in (runtime("vLLM"), runtime("SGLang")),
    "AWQ by Marlin": lambda run: (
        run.runtime is runtime("vLLM")
        and run.model.format == "AWQ"
        and bool(run.machine.gpus)
        and run.machine.gpus[0].vendor == "NVIDIA"
        and run.machine.gpus[0].family.split()[0] in MARLIN_FROM
    ),
    "serving engine": lambda run: run.runtime.at_once is not None,
    "several users": lambda run: float(run.work.users) > 1,
    "GPU": lambda run: bool(run.machine.gpus),
    "several GPUs": lambda run: len(run.machine.gpus) > 1 and run.machine.nodes == 1,
    "no GPU": lambda run: not run.machine.gpus,
    "separate memory": lambda run: not run.machine.unified,
    "drive": lambda run: run.machine.disk is not None,
    "several sockets": lambda run: (
        run.machine.host.sockets > 1 and not NumaPolicy.on_one_node(run.machine.host.numa)
    ),
    "usual threads": lambda run: not run.machine.host.thread_excess,
    "efficiency cores": lambda run: (
        run.host_row is not None and 0 < (run.host_row.performance_cores or 0) < run.host_row.cores
    ),
    "unmeasured modules": lambda run: (
        not (run.machine.unified or (run.host_row and run.host_row.memory_type.startswith("LP")))
        and run.machine.host.bandwidth.kind is not Provenance.MEASURED
    ),
    "split": lambda run: run.strategy is PlacementStrategy.CPU_OFFLOAD,
    "GPU computes": lambda run: run.takes(Route.RESIDENT),
    "processor computes": lambda run: run.takes(Route.IN_PLACE),
    "RAM is read": lambda run: run.takes(Route.IN_PLACE, Route.STREAMED),
    "link is used": lambda run: run.takes(Route.STREAMED, Route.STAGED),
    "drive is read": lambda run: run.takes(Route.PAGED, Route.STAGED),
}
"""Conditions under `needs` in data/diagnosis/, which a run meets or not."""
