"""Timed runs side by side: those of one shape as a single case, with arrays as numbers."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Constants
from advisor.cost_model.schedule import Flow, Schedule
from advisor.cost_model.timing import StepTime, peer_path, schedule_seconds
from advisor.evidence.published.case import Case
from advisor.evidence.published.row import PublishedRow
from advisor.machine.machine import Host, Machine
from advisor.machine.stacked import stacked
from advisor.model.model import Floats
from advisor.units import Quantity
from lab.held_out import READ


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A timed run, or a part of one; `case` interprets its row."""

    row: PublishedRow
    case: Case
    timed: str  # timed part, as in `held_out`
    id: str  # id of the row, with the timed part where it has several
    group: str  # source and hardware; runs of a group share their error
    publisher: str
    scope: Mapping[str, str]  # values of the columns that constants may differ by
    machine: Machine  # machine of which constants are looked up
    # theoretical RAM bandwidth, of which a share is sustained [B/s]; None where the machine's is
    # stated
    ram_in_theory: float | None = None
    parts: tuple[tuple[float, Schedule], ...]  # its schedules, and how often each ran
    seconds: float  # measured or simulated time [s]
    tokens: float = 1.0  # tokens of all users in that time [tokens]
    noise: float  # standard deviation of usual runs around the model, as a logarithm
    weight: float = 1.0  # weight in the fit beside runs of the same noise; 0 if only scored
    # factors on constants by the software that its source states, from published comparisons
    effects: Mapping[str, float] = field(default_factory=dict)


class Values(Protocol):
    """Values of constants."""

    def value(self, constant: str, family: str = "") -> Any:
        """Value of a constant, for all runs or of shape (runs,)."""

    def value_by_family(self, constant: str, family: str) -> Any:
        """Value of a constant between GPUs, where runs each state their path."""


class Columns:
    """Constants by name, fitted ones with a value per run, and another table's or one value for all
    others.

    The name of a constant of one path between GPUs ends in the path.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        others: Values | float,
        at: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self._values = values
        self._others = others
        self._at = at
        self.used: set[str] = set()

    def value(self, constant: str, family: str = "") -> Any:
        """Value of a constant in each run, shape (runs,), or the same for all."""
        for name in (f"{constant} {family}", constant):
            if name in self._values:
                self.used.add(name)
                return self._of_runs(name)
        if isinstance(self._others, float):
            return self._others
        return self._others.value(constant, family)

    def value_by_family(self, constant: str, family: str) -> Any:
        """Value of a constant between GPUs: runs of one shape share their path."""
        return self.value(constant, family)

    def _of_runs(self, name: str) -> Any:
        """Values of a fitted constant, those of the stack's runs alone where it is part of more."""
        if self._at is None:
            return self._values[name]
        return self._values[name][self._at]


@dataclass(frozen=True, kw_only=True)
class CaseStack:
    """Runs of one shape as one case; every number is an array of shape (runs,)."""

    at: npt.NDArray[np.int64]  # indices of the runs among all
    parts: tuple[tuple[Floats, Schedule], ...]  # schedules, and how often each ran
    machine: Machine  # machine, with the RAM's theoretical bandwidth or the stated one
    ram_stated: npt.NDArray[np.bool_]  # whether the RAM bandwidth is stated, so no share applies

    def time(self, constants: Values) -> StepTime:
        """Predicted time of all schedules together, and its parts [s]."""
        machine = self.machine
        if not self.ram_stated.all():
            share = np.minimum(constants.value("ram_sustained_share"), Host.MOST_SUSTAINED)
            share = share * constants.value("ram_unstated_share")
            rate = machine.host.bandwidth.value * np.where(self.ram_stated, 1.0, share)
            machine = replace(machine, host=replace(machine.host, bandwidth=Quantity.given(rate)))
        parts: dict[str, Any] = {}
        total = np.zeros(len(self.at))
        hidden = np.zeros(len(self.at))
        for count, schedule in self.parts:
            time = schedule_seconds(schedule, machine, constants)  # type: ignore[arg-type]  # arrays stand for numbers
            total = total + count * time.total
            hidden = hidden + count * time.hidden
            for name, seconds in time.parts.items():
                parts[name] = parts.get(name, 0.0) + count * seconds
        return StepTime(total=total, parts=parts, hidden=hidden)


@dataclass(frozen=True, eq=False)
class Cases:
    """Runs of a regime; arrays have shape (runs,)."""

    timed: tuple[Timed, ...]
    table: Values | None = None  # constants that are not fitted; None for the shipped ones
    doubted: tuple[Timed, ...] = ()  # runs that are left out: no physics explains their speed

    @cached_property
    def seconds(self) -> Floats:
        """Measured or simulated time [s]."""
        return np.array([run.seconds for run in self.timed])

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Group of each run."""
        return tuple(run.group for run in self.timed)

    @cached_property
    def read(self) -> npt.NDArray[np.bool_]:
        """Mask of the runs that time a prompt alone."""
        return np.array([run.timed == READ for run in self.timed])

    @cached_property
    def noise(self) -> Floats:
        """Standard deviation of usual runs around the model, as a logarithm."""
        return np.array([run.noise for run in self.timed])

    def column(self, name: str) -> npt.NDArray[np.str_]:
        """Values of a column that constants may differ by."""
        return np.array([run.scope[name] for run in self.timed])

    @cached_property
    def stacks(self) -> tuple[CaseStack, ...]:
        """Runs by the shape of their schedules and machine."""
        alike: dict[Hashable, list[int]] = {}
        for index, run in enumerate(self.timed):
            alike.setdefault(_shape(run), []).append(index)
        return tuple(_stack(at, [self.timed[index] for index in at]) for at in alike.values())

    @cached_property
    def effects(self) -> Mapping[str, Floats]:
        """Factors on the constants that stated software changes, each of shape (runs,)."""
        names = {name for run in self.timed for name in run.effects}
        return {
            name: np.array([run.effects.get(name, 1.0) for run in self.timed]) for name in names
        }

    def columns(self, values: Mapping[str, Floats], stack: CaseStack) -> Columns:
        """Constants of a stack's runs, under the software that their sources state."""
        return self._columns(self._under(values), stack)

    def _columns(self, under: Mapping[str, Floats], stack: CaseStack) -> Columns:
        table = Constants.fitted() if self.table is None else self.table
        return Columns(under, table, stack.at)

    def _under(self, values: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Constants of all runs under the software that their sources state, shape (runs,)."""
        changed = {name: values[name] * by for name, by in self.effects.items() if name in values}
        return {**values, **changed}

    @cached_property
    def _used(self) -> dict[int, set[str]]:
        """Names of the constants that each stack uses, once it was timed."""
        return {}

    def predicted(
        self, values: Mapping[str, Floats], changed: str = "", before: Floats | None = None
    ) -> Floats:
        """Predicted time of each run with constants of shape (runs,) [s]. Where one constant alone
        changed, stacks that do not use it keep their times before it.
        """
        if before is None:
            total = np.empty(len(self.timed))
        else:
            total = before.copy()
        under = self._under(values)
        for place, stack in enumerate(self.stacks):
            if before is None or changed in self._used.get(place, (changed,)):
                columns = self._columns(under, stack)
                total[stack.at] = stack.time(columns).total
                self._used[place] = columns.used
        return total


def _shape(run: Timed) -> Hashable:
    """Key of runs that can be stacked: what their schedules and machines have beside numbers."""
    if run.machine.gpus:
        path = peer_path(run.machine.gpus[0])
    else:
        path = ""
    schedules = tuple((_steps(schedule), schedule.workers) for _, schedule in run.parts)
    return schedules, len(run.machine.gpus), path, run.machine.disk is None


def _steps(schedule: Schedule) -> Hashable:
    """Stages and exchanges of a schedule without their numbers."""
    stages = (tuple(_kind(flow) for flow in stage) for stage in schedule.stages)
    return (*stages, tuple((exchange.way, exchange.reduces) for exchange in schedule.exchanges))


def _kind(flow: Flow) -> Hashable:
    """Words of a flow and of its kernels, their number types and phase among them."""
    kernels = vars(flow.kernels).values() if flow.kernels else ()
    words = (word for word in kernels if isinstance(word, (str, bool)))
    loaded = flow.load is not None
    return (flow.route, flow.device, flow.transfer, flow.alike, loaded, type(flow.kernels), *words)


def _stack(at: Sequence[int], runs: Sequence[Timed]) -> CaseStack:
    machine = stacked([run.machine for run in runs])
    rams = [run.ram_in_theory or run.machine.host.bandwidth.value for run in runs]
    # A processor's own constants are columns; without a name and sets it has no others.
    host = replace(
        machine.host,
        name="",
        instruction_sets=frozenset(),
        bandwidth=Quantity.given(np.array(rams)),
    )
    counts = zip(*([count for count, _ in run.parts] for run in runs), strict=True)
    schedules = zip(*([schedule for _, schedule in run.parts] for run in runs), strict=True)
    return CaseStack(
        at=np.array(at),
        parts=tuple(zip(map(np.array, counts), map(together, schedules), strict=True)),
        machine=replace(machine, host=host, network=None),
        ram_stated=np.array([run.ram_in_theory is None for run in runs]),
    )


def together(cases: Sequence[Any]) -> Any:
    """Schedules of the same shape as one, with arrays of shape (runs,) as numbers.

    Texts are those of the first.
    """
    first = cases[0]
    if is_dataclass(first):
        kind: Any = type(first)
        names = [field.name for field in fields(first)]
        return kind(**{name: together([getattr(case, name) for case in cases]) for name in names})
    if isinstance(first, tuple):
        return tuple(together(parts) for parts in zip(*cases, strict=True))
    if isinstance(first, int) and all(case == first for case in cases):
        return first
    if isinstance(first, (int, float, np.ndarray)):
        return np.array([float(np.ravel(case)[0]) for case in cases])
    return first
