"""What the GPU benchmark runs: a model, where its weights lie, and what is predicted of it."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError, Refusal
from advisor.failures import ProbeError
from advisor.machine.machine import Machine
from advisor.model.architecture import ArchitectureSpec
from advisor.model.model import Model
from advisor.units import GB, GIB
from benchmarks.engine_parts import rows
from benchmarks.engine_parts.readings import Readings, Run

TOKENS = 64  # generated at a time, at most
LEFT = 2 * GB  # room that a file leaves on the drive [B]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One model in one place."""

    name: str  # shape and format
    place: str  # where its weights lie, in words
    category: str  # category of its row
    facts: ArchitectureSpec  # shape of the model
    model: Model  # model for the formulas
    runtime: Runtime
    strategy: PlacementStrategy  # where the rest lies
    settings: Settings = field(
        default_factory=Settings
    )  # the split, where it is not the runtime's own
    depths: tuple[int, ...]  # tokens in the cache while tokens are timed
    ubatch: int = 512  # tokens of a prompt computed together

    def __str__(self) -> str:
        return f"{self.name}, {self.place}"

    def runs(self, record: Readings, depth: int) -> Sequence[Run]:
        """What was read of it."""
        return record.of(self.name, depth, place=self.place)


@dataclass(frozen=True, kw_only=True)
class Session:
    """What runs are made with."""

    record: Readings  # what was read before, to which they add
    folder: Path  # folder for model files
    machine: Callable[[], Machine]  # machine as measured so far
    probe: Callable[[], None]  # measures the machine anew, the drive not with it
    over: Callable[[], bool]  # asked before each run whether to stop
    free: Callable[[], float]  # memory that a run may take [B]
    say: Callable[[str], None]  # tells whoever waits

    def add(self, runs: Iterable[Run]) -> None:
        """Keep what was timed, and tell of it."""
        for run in runs:
            self.record.runs.append(replace(run, os=rows.system(), date=rows.today()))
            rate = f"{1.0 / run.seconds:.2f} tokens/s"
            self.say(f"{run.target}, {run.place}, at {run.depth}: {rate}")
        self.record.keep()

    def needs(self, size: float) -> None:
        """Raises ProbeError for what takes more memory than is free [B]."""
        free = self.free()
        if free < size:
            raise ProbeError(
                f"it needs {size / GIB:.1f} GiB of memory and {free / GIB:.1f} GiB are free."
            )


def work(case: Case, depth: int) -> Workload:
    """One user who generates after a prompt of so many tokens."""
    return Workload(
        prompt=depth, output=TOKENS, context=depth + TOKENS, ubatch=case.ubatch, bench=True
    )


def short_of_disk(case: Case, folder: Path) -> str:
    """Why the file of a model finds no room in a folder; empty where it does."""
    free = shutil.disk_usage(folder).free
    needed = case.model.file_bytes + LEFT
    if free >= needed:
        return ""
    return f"it needs {needed / GB:.1f} GB of disk in {folder} and {free / GB:.1f} GB are free."


def predicted(case: Case, machine: Machine, depth: int) -> Estimate:
    """What the program says of it."""
    return estimate(
        case.model,
        machine,
        work(case, depth),
        case.runtime,
        case.strategy,
        Constants.fitted(),
        case.settings,
    )


def speeds_of(estimate: Estimate) -> tuple[Range, Range]:
    """Speeds of tokens and of the prompt; raises InputError for an estimate without [tokens/s]."""
    if estimate.decode is None or estimate.prefill is None:
        raise InputError(estimate.refusal)
    return estimate.decode, estimate.prefill


def placed(case: Case, machine: Machine) -> Placement:
    """Where its weights are to lie on this machine; raises Refusal where it cannot run there, or
    does not fit.
    """
    estimate = predicted(case, machine, max(case.depths))
    if estimate.placement is None:
        raise Refusal(estimate.refusal)
    if not estimate.fits:
        raise Refusal(f"{float(estimate.missing) / GB:.1f} GB of memory are missing.")
    return estimate.placement


def in_turns(
    cases: Sequence[Case],
    session: Session,
    written: Callable[[Case, Path], AbstractContextManager[Path]],
    timed: Callable[[Case, Path, Session], Sequence[Run]],
    few: int,
) -> None:
    """Every case once, those first that were timed least, and the probes before each few of them;
    `written` holds a model's weights for all of its cases, which `timed` runs.
    """
    done = 0
    for cases_of_model in least_first(cases, session.record).values():
        short = short_of_disk(cases_of_model[0], session.folder)
        if short:
            session.say(f"{cases_of_model[0].name}: skipped, {short}")
            continue
        if session.over():
            return
        with written(cases_of_model[0], session.folder) as weights:
            for case in cases_of_model:
                if session.over():
                    return
                if done % few == 0:
                    session.probe()
                done += 1
                try:
                    session.add(timed(case, weights, session))
                except (AdvisorError, OSError) as error:
                    session.say(f"{case}: skipped, {error}")


def least_first(cases: Sequence[Case], record: Readings) -> Mapping[str, list[Case]]:
    """Cases by model, the model that was timed least first; its file serves all of them."""
    by_model: dict[str, list[Case]] = {}
    for case in cases:
        by_model.setdefault(case.name, []).append(case)

    def timed(name: str) -> int:
        return min(len(case.runs(record, case.depths[-1])) for case in by_model[name])

    return {name: by_model[name] for name in sorted(by_model, key=timed)}
