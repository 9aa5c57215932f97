"""Runs of serving engines, simulated and published, timed together by the cost model.

Cases with stages of the same shape form one sweep of arrays, so a fit over thousands is fast.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.cost_model.engine_kernels import PEAKS, EngineKernels, generation, peak_flops
from advisor.cost_model.loads import prompt_step
from advisor.cost_model.schedule import Phases, Schedule, alone
from advisor.cost_model.timing import HOST_MEMORY, NVLINK, schedule_seconds
from advisor.cost_model.uncertainty import DEEP, EXPERTS, SEVERAL, TOGETHER, depth_reached
from advisor.cost_model.workload import Workload
from advisor.evidence.fitting.vectorize import machines, shape, stacked_phases
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model

SIMULATED, PUBLISHED = "simulated", "published"


@dataclass(frozen=True, kw_only=True)
class EngineCase:
    """One timed run of a serving engine."""

    id: str  # id of its row
    # cases left out together: model and GPU of a simulated run, source and hardware of a published
    # one
    group: str
    evidence: str  # `SIMULATED` or `PUBLISHED`
    engine: str  # key of the runtime
    release: str  # year of the engine, as `Scope.build`; empty for today's
    machine: Machine  # machine it ran on
    phases: Phases  # schedules of its prompt and of a step
    # number of prompts in the time: 1, 0, or the part of it that others' prompts take from a token
    # of several users
    prompts: float
    steps: float  # number of steps in the time
    seconds: float  # measured or simulated time [s]
    tokens: float = 1.0  # tokens of all users in that time [tokens]
    publisher: str  # publisher of the run, or `SIMULATED`
    # degree of each trait that may widen its range, as `run_traits` gives them
    traits: Mapping[str, float]


def run_traits(model: Model, machine: Machine, work: Workload, *, prompt: bool) -> dict[str, float]:
    """Traits of a run that may widen its range, each 0 to 1."""
    depth = prompt_step(work).depth if prompt else work.decode_depth
    return {
        EXPERTS: float(model.has_experts),
        DEEP: float(depth_reached(depth)),
        SEVERAL: float(len(machine.gpus) > 1),
        TOGETHER: float(np.asarray(work.users) > 1),
    }


def computed_only(phases: Phases) -> Phases:
    """Phases of a GPU-resident model without transfers of 0 bytes, so more cases share a shape."""
    return phases.each(_computed_only)


def _computed_only(schedule: Schedule) -> Schedule:
    flows = (flow for stage in schedule.stages for flow in stage.flows if flow.load is not None)
    return replace(
        schedule, stages=tuple(alone(replace(flow, alike=1, device=0)) for flow in flows)
    )


@dataclass(frozen=True, kw_only=True)
class EngineSweep:
    """Cases with schedules of the same shape."""

    index: npt.NDArray[np.int64]
    phases: Phases
    machine: Machine
    prompts: Floats
    steps: Floats

    def timed(self, constants: "CaseConstants") -> Floats:
        """Predicted time of each case, of its prompts and steps, shape (cases,) [s]."""
        counted = ((self.prompts, self.phases.prefill), (self.steps, self.phases.decode))
        parts = [
            np.where(count > 0, count * _seconds(phase, self.machine, constants), 0.0)
            for count, phase in counted
            if np.any(count > 0)
        ]
        return np.asarray(sum(parts))


class CaseConstants:
    """Constants with one value for each case of a sweep, in place of the table's values."""

    def __init__(self, values: Mapping[str, Floats], index: npt.NDArray[np.int64]) -> None:
        self._values, self._index = values, index
        self.used: set[str] = set()

    def value(self, constant: str, family: str = "") -> Floats:
        """Value of a constant in each case, shape (cases,)."""
        name = f"{constant} {family}" if family in (NVLINK, HOST_MEMORY) else constant
        self.used.add(name)
        return self._values[name][self._index]


@dataclass(frozen=True, eq=False)
class EngineCases:
    """All cases; arrays have shape (cases,)."""

    cases: tuple[EngineCase, ...]

    @cached_property
    def seconds(self) -> Floats:
        """Measured or simulated time [s]."""
        return np.array([case.seconds for case in self.cases])

    @cached_property
    def columns(self) -> Mapping[str, npt.NDArray[np.str_]]:
        """Values of the columns that constants may differ by."""
        return {
            "engine": np.array([case.engine for case in self.cases]),
            "release": np.array([case.release for case in self.cases]),
            "evidence": np.array([case.evidence for case in self.cases]),
            "group": np.array([case.group for case in self.cases]),
            "family": np.array([generation(case.machine.gpus[0]) for case in self.cases]),
        }

    @cached_property
    def sweeps(self) -> tuple[EngineSweep, ...]:
        """Sweeps: cases grouped by the shape of their schedules."""
        alike: dict[object, list[int]] = {}
        for index, case in enumerate(self.cases):
            alike.setdefault(_shape(case), []).append(index)
        return tuple(self._sweep(indices) for indices in alike.values())

    def _sweep(self, indices: Sequence[int]) -> EngineSweep:
        cases = [self.cases[index] for index in indices]
        return EngineSweep(
            index=np.array(indices),
            phases=stacked_phases([case.phases for case in cases]),
            machine=_machines([case.machine for case in cases]),
            prompts=np.array([case.prompts for case in cases]),
            steps=np.array([case.steps for case in cases]),
        )

    def timed(self, values: Mapping[str, Floats]) -> Floats:
        """Predicted time of each case, shape (cases,) [s].

        Args:
            values: constants by name, each of shape (cases,); the name of a constant of one path
                between GPUs ends in the path.
        """
        total = np.zeros(len(self.cases))
        for sweep in self.sweeps:
            total[sweep.index] = sweep.timed(CaseConstants(values, sweep.index))
        return total

    @cached_property
    def uses(self) -> tuple[set[str], ...]:
        """Names of the constants that each sweep uses."""
        ones = np.ones(len(self.cases))
        names = []
        for sweep in self.sweeps:
            constants = CaseConstants(defaultdict(lambda: ones), sweep.index)
            sweep.timed(constants)
            names.append(constants.used)
        return tuple(names)

    def changed(self, values: Mapping[str, Floats], name: str, before: Floats) -> Floats:
        """Predicted time after a change of one constant, shape (cases,) [s].

        Only the sweeps that use it are computed again.

        Args:
            values: constants by name, each of shape (cases,).
            name: name of the changed constant.
            before: times before the change, shape (cases,) [s].
        """
        total = before.copy()
        for sweep, uses in zip(self.sweeps, self.uses, strict=True):
            if name in uses:
                total[sweep.index] = sweep.timed(CaseConstants(values, sweep.index))
        return total


def _seconds(schedule: Schedule, machine: Machine, constants: CaseConstants) -> Floats:
    return np.asarray(schedule_seconds(schedule, machine, constants).total)  # type: ignore[arg-type]  # arrays stand for numbers


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
    """Machines of several cases as one, with each GPU's peak in its case's number format."""
    together = machines(cases, ["fp16"] * len(cases))
    peaks = {
        PEAKS[form][0]: np.array([float(peak_flops(case.gpus[0], form)) for case in cases])
        for form in ("f16", "fp8", "nvfp4")
    }
    card = replace(together.gpus[0], tensor_flops=peaks)  # type: ignore[arg-type]  # arrays stand for numbers
    return replace(together, gpus=(card,) * len(together.gpus))
