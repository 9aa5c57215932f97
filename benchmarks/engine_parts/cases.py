"""What the GPU benchmark runs: a model, where its weights lie, and what is predicted of it."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, ProbeError, Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.model.spec import ArchitectureSpec
from advisor.runtimes import Runtime
from advisor.units import GB, GIB
from benchmarks.engine_parts import rows
from benchmarks.engine_parts.readings import Readings, Run

TOKENS = 64
"""Generated at a time, at most."""
LEFT = 2 * GB
"""Room that a file leaves on the drive [B]."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One model in one place.

    Attributes:
        name: shape and format.
        place: where its weights lie, in words.
        category: of its row.
        facts: its shape.
        model: as the formulas know it.
        runtime: that runs it.
        strategy: where the rest lies.
        settings: the split, where it is not the runtime's own.
        depths: tokens in the cache while tokens are timed.
        ubatch: tokens of a prompt computed together.
    """

    name: str
    place: str
    category: str
    facts: ArchitectureSpec
    model: Model
    runtime: Runtime
    strategy: PlacementStrategy
    settings: Settings = field(default_factory=Settings)
    depths: tuple[int, ...]
    ubatch: int = 512

    def __str__(self) -> str:
        return f"{self.name}, {self.place}"

    def runs(self, record: Readings, depth: int) -> Sequence[Run]:
        """What was read of it."""
        return record.of(self.name, depth, place=self.place)


@dataclass(frozen=True, kw_only=True)
class Session:
    """What runs are made with.

    Attributes:
        record: what was read before, to which they add.
        folder: for model files.
        machine: as measured so far.
        probe: measures the machine anew, the drive not with it.
        over: asked before each run whether to stop.
        free: memory that a run may take [B].
        say: tells whoever waits.
    """

    record: Readings
    folder: Path
    machine: Callable[[], Machine]
    probe: Callable[[], None]
    over: Callable[[], bool]
    free: Callable[[], float]
    say: Callable[[str], None]

    def add(self, runs: Iterable[Run]) -> None:
        """Keep what was timed, and tell of it."""
        for run in runs:
            self.record.runs.append(replace(run, os=rows.system(), date=rows.today()))
            rate = f"{1.0 / run.seconds:.2f} tokens/s"
            self.say(f"{run.target}, {run.place}, at {run.depth}: {rate}")
        self.record.keep()

    def needs(self, size: float) -> None:
        """Refuses what takes more memory than is free.

        Raises:
            ProbeError: it does.
        """
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
    free, needed = shutil.disk_usage(folder).free, case.model.file_bytes + LEFT
    if free >= needed:
        return ""
    return f"it needs {needed / GB:.1f} GB of disk in {folder} and {free / GB:.1f} GB are free."


def predicted(case: Case, machine: Machine, depth: int) -> Estimate:
    """What the program says of it."""
    return estimate(
        case.model, machine, work(case, depth), case.runtime, case.strategy, fitted_constants(),
        case.settings,
    )  # fmt: skip


def placed(case: Case, machine: Machine) -> Placement:
    """Where its weights are to lie on this machine.

    Raises:
        Refusal: it cannot run there, or does not fit.
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
    """Every case once, those first that were timed least, and the probes before each few.

    Args:
        cases: to run.
        session: to run them with.
        written: writes a model's weights for all of its cases.
        timed: runs a case with these weights.
        few: number of runs between two probes of the machine.
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
