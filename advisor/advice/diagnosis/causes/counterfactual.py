"""Counterfactual estimates: an estimate recomputed with a single thing changed.

The cost model computes the speeds; this module only changes its inputs.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.conditions import CORE_RATES, GPU_READS, GPU_TIMES
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import RAM, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.machine.catalog import find_host
from advisor.machine.machine import Gpu, Machine
from advisor.machine.quantity import Quantity
from advisor.machine.rows import HostRow
from advisor.model.model import Model
from advisor.units import Array

CPU_RATES = ("cpu_read_share", *CORE_RATES)
"""Constants in proportion to the speed of the cores and of RAM."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One cause in one degree, with the resulting speeds.

    Attributes:
        detail: degree in words ("1 of 2 channels"); empty for a cause with a single degree.
        decode: speed of generation, for each user [tokens/s].
        prompt: speed of the prompt [tokens/s].
    """

    detail: str
    decode: Range
    prompt: Range


Trials = Iterator[Trial]


def trial(detail: str, estimate: Estimate) -> Trial:
    """Trial of a changed estimate."""
    decode, prompt = rates(estimate)
    return Trial(detail=detail, decode=decode, prompt=prompt)


def rates(estimate: Estimate) -> tuple[Range, Range]:
    """Decode and prefill speeds of an estimate.

    Raises:
        InputError: an impossible combination, which has no speeds.
    """
    if estimate.decode is None or estimate.prefill is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    return estimate.decode, estimate.prefill


def times(speed: Range, factor: Array) -> Range:
    """A speed and its range, multiplied by a factor."""
    return Range(value=speed.value * factor, low=speed.low * factor, high=speed.high * factor)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Estimate under diagnosis, with its machine, placement and constants.

    Attributes:
        estimate: estimate to be changed.
        machine: its machine.
        placement: location of the model's parts.
        constants: constants in the scope of the estimate.
        system: "Linux", "Windows" or "macOS"; empty where unknown.
    """

    estimate: Estimate
    machine: Machine
    placement: Placement
    constants: Constants
    system: str = ""

    @property
    def model(self) -> Model:
        """Model in its loaded format."""
        return self.estimate.model

    @property
    def work(self) -> Workload:
        """Workload of the estimate."""
        return self.estimate.work

    @property
    def in_llama_cpp(self) -> bool:
        """Whether the runtime has the options of llama.cpp, which most causes change."""
        return self.estimate.how.takes_layers

    @cached_property
    def host_row(self) -> HostRow | None:
        """Catalogue row of the processor; None if it is not listed."""
        with suppress(UnknownName):
            return find_host(self.machine.host.name)
        return None

    @property
    def kept(self) -> Settings:
        """Settings that keep the present placement while something else changes."""
        on_drive = self.estimate.strategy is PlacementStrategy.NVME_OFFLOAD
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
        parts = [
            time.parts for time in (self.estimate.step, self.estimate.prompt) if time is not None
        ]
        return any(float(part.get(route, 0.0)) > 0 for part in parts for route in routes)

    def on_host(self, **changes: object) -> Estimate:
        """Estimate with another host."""
        host = replace(self.machine.host, **changes)  # type: ignore[arg-type]  # fields of a host
        return replace(self.estimate, machine=replace(self.machine, host=host))

    def on_gpus(self, change: Callable[[Gpu], Gpu]) -> Estimate:
        """Estimate with other GPUs."""
        gpus = tuple(change(gpu) for gpu in self.machine.gpus)
        return replace(self.estimate, machine=replace(self.machine, gpus=gpus))

    def scaled(self, factors: Mapping[str, float], source: str) -> Estimate:
        """Estimate with some constants multiplied."""
        return replace(self.estimate, constants=self.constants.scaled(factors, source))

    def rescheduled(self, change: Callable[[Schedule], Schedule]) -> Estimate:
        """Estimate with another schedule."""
        how = self.estimate.how

        def schedule(
            model: Model, placement: Placement, machine: Machine, work: Workload
        ) -> Phases:
            return how.schedule(model, placement, machine, work).each(change)

        return replace(self.estimate, how=replace(how, schedule=schedule))

    def placed(
        self,
        settings: Settings,
        *,
        strategy: PlacementStrategy | None = None,
        machine: Machine | None = None,
        work: Workload | None = None,
        model: Model | None = None,
        backend: str = "",
    ) -> Estimate:
        """Estimate with a new placement; None and empty arguments keep the present value."""
        scope = self.constants.scope
        return estimate(
            model or self.model,
            machine or self.machine,
            work or self.work,
            self.estimate.how,
            strategy or self.estimate.strategy,
            self.constants,
            settings,
            backend=backend or scope.backend,
            build=scope.build,
        )


def situation(estimate: Estimate, system: str = "") -> Situation:
    """Situation of an estimate.

    Raises:
        InputError: an impossible combination.
    """
    if estimate.machine is None or estimate.placement is None or estimate.constants is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    return Situation(
        estimate=estimate,
        machine=estimate.machine,
        placement=estimate.placement,
        constants=estimate.constants,
        system=system,
    )


def fits(estimate: Estimate) -> bool:
    """Whether an estimate exists and every memory is large enough."""
    return not estimate.refusal and bool(estimate.fits)


def slower_cpu(share: float) -> Mapping[str, float]:
    """Factors of the constants of a processor whose cores and RAM reach a share of their speed."""
    return dict.fromkeys(CPU_RATES, share)


def slower_gpu(share: float) -> Mapping[str, float]:
    """Factors of the constants of a GPU that reads at a share of its rate."""
    return {**dict.fromkeys(GPU_READS, share), **dict.fromkeys(GPU_TIMES, 1 / share)}


def scaled_link(gpu: Gpu, factor: Array) -> Gpu:
    """A GPU with the rates of its link multiplied by a factor."""
    link = gpu.link

    def changed(figure: Quantity) -> Quantity:
        return replace(figure, value=figure.value * factor)

    return replace(
        gpu,
        link=replace(
            link,
            pinned=changed(link.pinned),
            pageable=changed(link.pageable),
            zero_copy=changed(link.zero_copy),
        ),
    )
