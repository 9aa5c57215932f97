"""Runs that people brought: what a tool measured, kept in the data folder.

They stand beside predictions with their ratio, and among what others measured; no fit reads them.
Those of this machine are known speeds of it, which narrow its answers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache

from advisor import given_files
from advisor.advice.diagnosis.diagnose import Measured, diagnose
from advisor.calibration.known_here import LARGEST, runs_file
from advisor.calibration.measurement_file import alone, write
from advisor.catalog.accuracy_points import AccuracyPoint, accuracy_points
from advisor.catalog.records import checked
from advisor.cost_model.estimate import Estimate
from advisor.errors import InputError, UnknownName
from advisor.evidence.accuracy.regimes import coverage_like
from advisor.evidence.accuracy.scoring import grouped
from advisor.failures import StoreError
from advisor.machine.from_spec import cards_of
from advisor.paths import data_folder
from advisor.permission import permitted
from advisor.request.known_speed import KnownSpeed

MOST = 1000  # runs that are kept
LONGEST = 60  # most characters of who measured


@dataclass(frozen=True, kw_only=True)
class BroughtRun:
    """Run of a tool on a machine, with its prediction at the time when it was added."""

    by: str  # who measured; empty for oneself
    source: str  # name of the tool, and the tool's name of the model
    machine: str  # cards, else the processor
    model: str  # name in the catalogue
    format: str
    regime: str  # kind of run, as published ones have; empty for one that nobody published
    date: str  # day when it was brought
    decode: float  # speed of generation, for each user [tokens/s]
    predicted: float  # speed that was predicted for it [tokens/s]
    # the same as a known speed, where it ran on the machine that keeps it; else empty
    known: str = ""

    def __post_init__(self) -> None:
        if not min(self.decode, self.predicted) > 0:
            raise InputError(f"The speeds are {self.decode:g} and {self.predicted:g}, not above 0.")

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Key of the run among published ones: card, model, format and kind."""
        return self.machine, self.model, self.format.upper(), self.regime

    @property
    def ratio(self) -> float:
        """Measured over predicted speed."""
        return self.decode / self.predicted


def kept() -> tuple[BroughtRun, ...]:
    """Runs in the data folder, oldest first, none where this computer's are hidden; raises
    StoreError where they cannot be read.
    """
    path = runs_file()
    if not permitted().here or not path.exists():
        return ()
    try:
        rows = json.loads(given_files.kept(path, LARGEST))
        runs: tuple[BroughtRun, ...] = checked(tuple[BroughtRun, ...], rows, "runs")
    except (InputError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read ({error}); move it away.") from error
    return runs


def brought(
    estimate: Estimate, measured: Measured, by: str, date: str, *, here: bool = False
) -> BroughtRun:
    """Run with its prediction for the lengths that were measured.

    A run of this machine (`here`) corrects later predictions for it.

    Raises:
        InputError: a name that is too long, or an impossible combination.
    """
    by = " ".join(by.split())
    if len(by) > LONGEST:
        raise InputError(f"The name of who measured has {len(by)} characters; {LONGEST} are kept.")
    speed = diagnose(estimate, measured).predicted.decode
    row = coverage_like(estimate)
    machine = estimate.machine
    cards = [gpu.name for gpu in machine.gpus]
    return BroughtRun(
        by=by,
        source=measured.source,
        machine=" + ".join(cards) or machine.host.name,
        model=estimate.model.name,
        format=estimate.model.format,
        regime=row.regime if row else "",
        date=date,
        decode=measured.decode,
        predicted=float(speed.value),
        known=_known(estimate, measured) if here and not by else "",
    )


def _known(estimate: Estimate, measured: Measured) -> str:
    """Run as a known speed of the machine."""
    settings = estimate.settings
    speed = KnownSpeed(
        model=f"{estimate.model.name} {estimate.model.format}",
        speed=measured.decode,
        context=measured.depth,
        users=float(estimate.work.users),
        gpu_layers=None if settings.gpu_layers is None else float(settings.gpu_layers),
        cpu_moe=None if settings.cpu_moe is None else float(settings.cpu_moe),
        runtime=estimate.runtime.name,
    )
    return speed.text


def keep(run: BroughtRun) -> None:
    """Save a run, once.

    Raises InputError for too many runs, and StoreError where the folder cannot be written.
    """
    with _changing() as runs:
        if len(runs) >= MOST:
            raise InputError(f"{MOST} runs are kept; delete some first.")
        runs += [run] if run not in runs else []


def drop(number: int) -> BroughtRun:
    """Run at a place of the list, counted from 1, after its deletion.

    Raises InputError for a wrong place, and StoreError where the folder cannot be written.
    """
    with _changing() as runs:
        if not 1 <= number <= len(runs):
            raise InputError(f"There is no run {number}; {len(runs)} are kept.")
        return runs.pop(number - 1)


@contextmanager
def _changing() -> Iterator[list[BroughtRun]]:
    """Kept runs, saved afterwards."""
    with alone(data_folder(), "runs.json cannot be written"):
        runs = list(kept())
        yield runs
        write(runs_file(), [asdict(run) for run in runs])


@dataclass(frozen=True, kw_only=True)
class Others:
    """Measurements of other people with the same card, model and format in the same kind of run."""

    runs: int  # number of figures
    publishers: int  # number of who published them
    low: float  # slowest [tokens/s]
    high: float  # fastest [tokens/s]
    years: str  # years of publication ("2024 to 2026"); empty where none is stated


def measured_by_others(estimate: Estimate) -> Others | None:
    """Speeds of an estimate's card, model and format that others published, or that people brought
    here; None where there are none.

    They are shown beside a prediction. Doubtful rows and cards of several kinds are left out.
    """
    row = coverage_like(estimate)
    machine = estimate.machine
    if row is None or len(machine.gpus) != 1:
        return None
    key = machine.gpus[0].name, estimate.model.name, estimate.model.format.upper(), row.regime
    points = _points().get(key, ())
    runs: list[BroughtRun] = []
    with suppress(StoreError):
        runs += [run for run in kept() if run.key == key]
    if not points and not runs:
        return None
    speeds = [*(point.measured for point in points), *(run.decode for run in runs)]
    publishers = {point.group.partition(" on ")[0] for point in points} | {run.by for run in runs}
    dates = [*(point.date for point in points), *(run.date for run in runs)]
    years = sorted({day[:4] for day in dates if day})
    return Others(
        runs=len(speeds),
        publishers=len(publishers),
        low=min(speeds),
        high=max(speeds),
        years=" to ".join(dict.fromkeys((years[0], years[-1]))) if years else "",
    )


@cache
def _points() -> Mapping[tuple[str, str, str, str], Sequence[AccuracyPoint]]:
    """Published figures by card, model, format and regime."""
    points = (point for point in accuracy_points() if point.scored)
    return grouped(
        points, lambda point: (_card(point.gpu), point.model, point.format.upper(), point.regime)
    )


@cache
def _card(published: str) -> str:
    """Name in the catalogue of a published card; empty for several and for unknown ones."""
    with suppress(UnknownName):
        cards = cards_of(published)
        if len(cards) == 1 and cards[0].count == 1:
            return cards[0].row.name
    return ""
