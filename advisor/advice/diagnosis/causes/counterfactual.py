"""An estimate to be doubted, and what would be if one thing about it were otherwise.

Nothing is computed here: each change makes another estimate, which times itself as ever.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from advisor.catalog.constants import Constants
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

CORE_RATES = (
    "core_decode_rate",
    "core_flops",
    "core_attention_flops",
    "core_batch_attention_flops",
)
"""Constants that slower cores lower together."""
CPU_RATES = ("cpu_read_share", *CORE_RATES)
"""The same with the way to RAM."""
GPU_READS = ("gpu_read_share", "gpu_kv_share")
GPU_TIMES = ("gpu_layer", "gpu_expert_layer", "gpu_state_layer")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One cause in one degree, and the speeds that would follow.

    Attributes:
        detail: the degree in words ("1 of 2 channels"); empty where there is but one.
        decode: tokens per second for each user.
        prompt: prompt tokens per second.
    """

    detail: str
    decode: Range
    prompt: Range


Trials = Iterator[Trial]


def trial(detail: str, estimate: Estimate) -> Trial:
    """What a changed estimate says."""
    decode, prompt = rates(estimate)
    return Trial(detail=detail, decode=decode, prompt=prompt)


def rates(estimate: Estimate) -> tuple[Range, Range]:
    """Generation and prompt of an estimate.

    Raises:
        InputError: a pair that was refused has none.
    """
    if estimate.decode is None or estimate.prefill is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    return estimate.decode, estimate.prefill


def times(speed: Range, factor: Array) -> Range:
    """A speed and its range, multiplied."""
    return Range(value=speed.value * factor, low=speed.low * factor, high=speed.high * factor)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """An estimate that was not refused, with all that it was made of.

    Attributes:
        estimate: the estimate.
        machine: where.
        placement: where every part lies.
        constants: in the scope it was made with.
        system: "Linux", "Windows" or "macOS"; empty where unknown.
    """

    estimate: Estimate
    machine: Machine
    placement: Placement
    constants: Constants
    system: str = ""

    @property
    def model(self) -> Model:
        """The model in the format it has there."""
        return self.estimate.model

    @property
    def work(self) -> Workload:
        """What was asked."""
        return self.estimate.work

    @property
    def in_llama_cpp(self) -> bool:
        """The runtime is llama.cpp or has it inside; most causes are options of it."""
        return self.estimate.how.takes_layers

    @cached_property
    def host_row(self) -> HostRow | None:
        """The catalogue's row of the processor; None for one it does not hold."""
        with suppress(UnknownName):
            return find_host(self.machine.host.name)
        return None

    @property
    def kept(self) -> Settings:
        """The split as it is, so that a change leaves it alone."""
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
        """Keys and values of layers on the GPU lie in RAM."""
        in_ram = float(np.sum(self.placement.kv.get(RAM, 0.0)))
        return in_ram > self.model.layers - float(self.placement.gpu_layers)

    def takes(self, *routes: Route) -> bool:
        """A token or the prompt spends time on one of these routes."""
        parts = [
            time.parts for time in (self.estimate.step, self.estimate.prompt) if time is not None
        ]
        return any(float(part.get(route, 0.0)) > 0 for part in parts for route in routes)

    def on_host(self, **changes: object) -> Estimate:
        """The same with another host."""
        host = replace(self.machine.host, **changes)  # type: ignore[arg-type]
        return replace(self.estimate, machine=replace(self.machine, host=host))

    def on_gpus(self, change: Callable[[Gpu], Gpu]) -> Estimate:
        """The same with other GPUs."""
        gpus = tuple(change(gpu) for gpu in self.machine.gpus)
        return replace(self.estimate, machine=replace(self.machine, gpus=gpus))

    def scaled(self, factors: Mapping[str, float], source: str) -> Estimate:
        """The same with some constants multiplied."""
        return replace(self.estimate, constants=self.constants.scaled(factors, source))

    def rescheduled(self, change: Callable[[Schedule], Schedule]) -> Estimate:
        """The same, read in another way."""
        how = self.estimate.how

        def schedule(
            model: Model, placement: Placement, machine: Machine, work: Workload
        ) -> Phases:
            phases = how.schedule(model, placement, machine, work)
            return Phases(prefill=change(phases.prefill), decode=change(phases.decode))

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
        """The same placed anew; what is left out stays."""
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
    """What causes ask about.

    Raises:
        InputError: a pair that was refused.
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
    """It was not refused, and every memory holds what it must."""
    return not estimate.refusal and bool(estimate.fits)


def scaled_link(gpu: Gpu, factor: Array) -> Gpu:
    """A GPU whose link gives its rates times a factor."""
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
