"""Run under diagnosis: a possible estimate, and edits of it.

The cost model computes the speeds after an edit; here only its inputs are changed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from advisor.advice.edits.edit import Edit, Rates
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import RAM, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.machine.catalog import find_host
from advisor.machine.machine import Gpu, Machine
from advisor.machine.rows import HostRow
from advisor.model.model import Model
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class MeasuredRun(Estimate):
    """Estimate of a run that was measured, which therefore is possible.

    Attributes:
        system: "Linux", "Windows" or "macOS"; empty where unknown.
        prompt_work: request that timed the prompt; None for that of the generation.
    """

    machine: Machine
    placement: Placement
    constants: Constants
    system: str = ""
    prompt_work: Workload | None = None

    @property
    def in_llama_cpp(self) -> bool:
        """Whether the runtime has the options of llama.cpp, which most causes change."""
        return self.how.takes_layers

    @cached_property
    def host_row(self) -> HostRow | None:
        """Catalogue row of the processor; None if it is not listed."""
        with suppress(UnknownName):
            return find_host(self.machine.host.name)
        return None

    @property
    def layout(self) -> Settings:
        """Settings that keep the present placement while something else changes."""
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
        in_ram = float(np.sum(self.placement.kv.get(RAM, 0.0)))
        return in_ram > self.model.layers - float(self.placement.gpu_layers)

    def takes(self, *routes: Route) -> bool:
        """Whether a token or the prompt spends time on one of these routes."""
        parts = [time.parts for time in (self.step, self.prompt) if time is not None]
        return any(float(part.get(route, 0.0)) > 0 for part in parts for route in routes)

    def speeds(self, edit: Edit) -> Rates | None:
        """Speeds after an edit; None where memory is too small for what it moves."""
        after = edit.of(self)
        if edit.moves and not fits(after):
            return None
        decode, prompt = edit.read(after)
        if self.prompt_work is not None:
            lengths = {name: getattr(self.prompt_work, name) for name in ("prompt", "cached")}
            timed = replace(after, work=replace(after.work, **lengths))
            prompt = edit.read(timed)[1]
        return decode, prompt

    def placed(self, words: str, settings: Settings, **changes: Any) -> Edit:
        """The model placed anew with these settings."""
        nouns = {"constants": self.constants, "settings": settings, **changes}
        return Edit(words=words, changes=nouns)

    def on_host(self, words: str, **changes: Any) -> Edit:
        """Another host, with every part where it lies."""
        host = replace(self.machine.host, **changes)
        return timed(words, machine=replace(self.machine, host=host))

    def on_gpus(self, words: str, change: Callable[[Gpu], Gpu], **changes: Any) -> Edit:
        """Other GPUs, with every part where it lies."""
        gpus = tuple(change(gpu) for gpu in self.machine.gpus)
        return timed(words, machine=replace(self.machine, gpus=gpus), **changes)

    def scaled(self, words: str, factors: Mapping[str, float], source: str) -> Edit:
        """Some constants multiplied."""
        return timed(words, constants=self.constants.scaled(factors, source))

    def rescheduled(self, words: str, change: Callable[[Schedule], Schedule]) -> Edit:
        """Another schedule."""
        how = self.how

        def schedule(
            model: Model, placement: Placement, machine: Machine, work: Workload
        ) -> Phases:
            return how.schedule(model, placement, machine, work).each(change)

        return timed(words, how=replace(how, schedule=schedule))


Edits = Iterator[Edit]


def measured_run(estimate: Estimate, system: str = "") -> MeasuredRun:
    """Run of an estimate.

    Raises:
        InputError: an impossible combination.
    """
    if estimate.machine is None or estimate.placement is None or estimate.constants is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    nouns: dict[str, Any] = {
        field.name: getattr(estimate, field.name) for field in fields(Estimate)
    }
    return MeasuredRun(**nouns, system=system)


def timed(words: str, **changes: Any) -> Edit:
    """An edit that leaves every part where it lies."""
    return Edit(words=words, changes=changes, moves=False)


def fits(estimate: Estimate) -> bool:
    """Whether an estimate exists and every memory is large enough."""
    return not estimate.refusal and bool(estimate.fits)


def times(speed: Range, factor: Array) -> Range:
    """A speed and its range, multiplied by a factor."""
    return Range(value=speed.value * factor, low=speed.low * factor, high=speed.high * factor)


def scaled_link(gpu: Gpu, factor: Array) -> Gpu:
    """A GPU with the rates of its link multiplied by a factor."""
    rates = ("pinned", "pageable", "zero_copy")
    figures = {name: getattr(gpu.link, name) for name in rates}
    changed = {name: replace(rate, value=rate.value * factor) for name, rate in figures.items()}
    return replace(gpu, link=replace(gpu.link, **changed))
