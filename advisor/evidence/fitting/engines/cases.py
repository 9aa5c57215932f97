"""Runs of serving engines, simulated and published, timed by the cost model at once.

Cases whose stages have one shape are one sweep, so that a fit over thousands of them is quick.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import DATA
from advisor.cost_model.engine_kernels import PEAKS, EngineKernels, generation, peak_flops
from advisor.cost_model.schedule import Phases, Schedule, alone
from advisor.cost_model.timing import HOST_MEMORY, NVLINK, schedule_seconds
from advisor.evidence.fitting.vectorize import machines, shape, stacked
from advisor.machine.machine import Machine
from advisor.model.model import Floats

GRID = DATA / "measurements" / "simulated_engines.csv"
SIMULATED, PUBLISHED = "simulated", "published"


@dataclass(frozen=True, kw_only=True)
class EngineCase:
    """One timed run of a serving engine.

    Attributes:
        id: of its row.
        group: model and GPU of a simulated run, source and hardware of a published one: what is
            left out together.
        evidence: `SIMULATED` or `PUBLISHED`.
        engine: key of its runtime.
        release: year of the engine, as `Scope.build`; empty for today's.
        machine: where it ran.
        phases: what the engine does for it.
        prompts: how often its prompt is part of the time, 1 or 0.
        steps: how many steps are.
        seconds: the time for them [s].
        tokens: that all users together got in that time, by which a time becomes a speed.
    """

    id: str
    group: str
    evidence: str
    engine: str
    release: str
    machine: Machine
    phases: Phases
    prompts: float
    steps: float
    seconds: float
    tokens: float = 1.0


def computed_only(phases: Phases) -> Phases:
    """Phases of a resident model without what it does not move, so that more cases are alike."""
    return Phases(prefill=_computed_only(phases.prefill), decode=_computed_only(phases.decode))


def _computed_only(schedule: Schedule) -> Schedule:
    flows = (flow for stage in schedule.stages for flow in stage.flows if flow.load is not None)
    return replace(
        schedule, stages=tuple(alone(replace(flow, alike=1, device=0)) for flow in flows)
    )


@dataclass(frozen=True, kw_only=True)
class EngineSweep:
    """Cases of one shape."""

    index: npt.NDArray[np.int64]
    phases: Phases
    machine: Machine
    prompts: Floats
    steps: Floats

    def timed(self, constants: "CaseConstants") -> Floats:
        """Seconds of each case, prompts and steps as often as they count, shape (cases,) [s]."""
        counted = ((self.prompts, self.phases.prefill), (self.steps, self.phases.decode))
        parts = [
            np.where(count > 0, count * _seconds(phase, self.machine, constants), 0.0)
            for count, phase in counted
            if np.any(count > 0)
        ]
        return np.asarray(sum(parts))


class CaseConstants:
    """Value of each constant in each case of a sweep, in place of the table's."""

    def __init__(self, values: Mapping[str, Floats], index: npt.NDArray[np.int64]) -> None:
        self._values, self._index = values, index
        self.used: set[str] = set()

    def value(self, constant: str, family: str = "") -> Floats:
        """The constant of each case, shape (cases,)."""
        name = f"{constant} {family}" if family in (NVLINK, HOST_MEMORY) else constant
        self.used.add(name)
        return self._values[name][self._index]


@dataclass(frozen=True, eq=False)
class EngineCases:
    """Cases side by side; arrays have shape (cases,)."""

    cases: tuple[EngineCase, ...]

    @cached_property
    def seconds(self) -> Floats:
        """Measured or simulated [s]."""
        return np.array([case.seconds for case in self.cases])

    @cached_property
    def columns(self) -> Mapping[str, npt.NDArray[np.str_]]:
        """Properties that constants may differ by."""
        return {
            "engine": np.array([case.engine for case in self.cases]),
            "release": np.array([case.release for case in self.cases]),
            "evidence": np.array([case.evidence for case in self.cases]),
            "group": np.array([case.group for case in self.cases]),
            "family": np.array([generation(case.machine.gpus[0]) for case in self.cases]),
        }

    @cached_property
    def sweeps(self) -> tuple[EngineSweep, ...]:
        """The cases by the shape of their schedules."""
        alike: dict[object, list[int]] = {}
        for index, case in enumerate(self.cases):
            alike.setdefault(_shape(case), []).append(index)
        return tuple(self._sweep(indices) for indices in alike.values())

    def _sweep(self, indices: Sequence[int]) -> EngineSweep:
        cases = [self.cases[index] for index in indices]
        return EngineSweep(
            index=np.array(indices),
            phases=stacked([case.phases for case in cases]),
            machine=_machines([case.machine for case in cases]),
            prompts=np.array([case.prompts for case in cases]),
            steps=np.array([case.steps for case in cases]),
        )

    def timed(self, values: Mapping[str, Floats]) -> Floats:
        """What the cost model says of each case, shape (cases,) [s].

        Args:
            values: each constant in each case, shape (cases,); of paths between GPUs, with the path
                behind the name where it has its own.
        """
        total = np.zeros(len(self.cases))
        for sweep in self.sweeps:
            total[sweep.index] = sweep.timed(CaseConstants(values, sweep.index))
        return total

    @cached_property
    def uses(self) -> tuple[set[str], ...]:
        """Names of the constants that each sweep asks for."""
        ones = np.ones(len(self.cases))
        names = []
        for sweep in self.sweeps:
            constants = CaseConstants(defaultdict(lambda: ones), sweep.index)
            sweep.timed(constants)
            names.append(constants.used)
        return tuple(names)

    def changed(self, values: Mapping[str, Floats], name: str, before: Floats) -> Floats:
        """The same with one constant changed, where the other times are known, shape (cases,) [s].

        Args:
            values: each constant in each case.
            name: of the constant.
            before: seconds with its old value.
        """
        total = before.copy()
        for sweep, uses in zip(self.sweeps, self.uses, strict=True):
            if name in uses:
                total[sweep.index] = sweep.timed(CaseConstants(values, sweep.index))
        return total


def _seconds(schedule: Schedule, machine: Machine, constants: CaseConstants) -> Floats:
    return np.asarray(schedule_seconds(schedule, machine, constants).total)  # type: ignore[arg-type]


def _shape(case: EngineCase) -> object:
    kernels = [
        (own.prompt, own.dense, own.experts)
        for phase in (case.phases.prefill, case.phases.decode)
        for stage in phase.stages
        for flow in stage.flows
        if isinstance(own := flow.kernels, EngineKernels)
    ]
    return (shape(case.phases, case.machine), tuple(kernels), case.prompts > 0, case.steps > 0)


def _machines(cases: Sequence[Machine]) -> Machine:
    """Machines as one, with the peak that each format of kernels meets on each GPU."""
    together = machines(cases, ["fp16"] * len(cases))
    peaks = {
        PEAKS[form][0]: np.array([float(peak_flops(case.gpus[0], form)) for case in cases])
        for form in ("f16", "fp8", "nvfp4")
    }
    card = replace(together.gpus[0], tensor_flops=peaks)  # type: ignore[arg-type]
    return replace(together, gpus=(card,) * len(together.gpus))
