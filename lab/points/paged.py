"""Points of our own runs of llama.cpp under memory limits, each predicted without itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import estimate
from advisor.cost_model.loads import ForwardPass, step_load
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import page_fault_seconds
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.evidence.accuracy import regimes
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import Cell, PublishedRow, number
from advisor.machine.machine import Disk, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import ArchitectureSpec
from advisor.model.build import build
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.llama_cpp.passes import OBSERVED, Reread, Rereading, reread
from advisor.units import GB, GIB, KIB, Array, Provenance, Quantity
from lab.points import decode_of, margins_of, point_of
from lab.published import published_rows

# Rows of data/measurements/own.csv: our own runs of real engines beside their predictions.

OWN = DATA / "measurements" / "own.csv"
PAGED = "nvme"  # category of rows with weights read from the drive
SHAPE = (
    "hidden", "intermediate", "moe_intermediate", "experts", "experts_per_token", "heads",
    "kv_heads", "head_dim", "vocab",
)  # fmt: skip
"""Columns of numbers that describe a synthetic model; fields of `ArchitectureSpec` with the same
names."""
TOKENS = 16  # tokens generated in each of these runs [tokens]


class OwnRow(PublishedRow):
    """One row: a published run's columns, and what only our own runs state beside them."""

    disk_map_gbs = Cell(number)
    read_ahead_kib = Cell(number)
    cache_gib = Cell(number)
    read_gb = Cell(number)
    experts = Cell(number)
    rounds = Cell(number)
    predicted_tps = Cell(number)


def rows(path: Path = OWN) -> tuple[OwnRow, ...]:
    """Rows of the shipped file, or of one that a benchmark wrote."""
    return tuple(OwnRow(row.cells) for row in published_rows(path))


def paged(row: OwnRow) -> bool:
    """Whether llama.cpp mapped a file of about the memory limit or larger."""
    return row.category == PAGED and row.gpu.casefold() == MachineSpec.NO_GPU


def model_of(row: OwnRow) -> Model:
    """Synthetic model of a row."""
    shape: dict[str, Any] = {name: int(row.cells[name]) for name in SHAPE}
    tied = row.cells["tied"] == "True"
    layers = int(row.cells["n_layers"])
    facts = ArchitectureSpec(name=row.model, layers=layers, tied=tied, **shape)
    return catalog.in_format(build(facts), row.quant)


def machine_of(row: OwnRow) -> Machine:
    """Machine of a row, with the drive's rate measured during the run."""
    machine = understood(row).machine
    if machine.disk is None or not (row.disk_map_gbs and row.read_ahead_kib):
        return machine
    mapped, read_ahead = (
        Quantity(value=value, kind=Provenance.MEASURED, source=row.source_url, date=row.date)
        for value in (row.disk_map_gbs * GB, row.read_ahead_kib * KIB)
    )
    return replace(machine, disk=replace(machine.disk, mapped=mapped, read_ahead=read_ahead))


# Page-cache constants fitted to these rows.

SHARES = np.arange(51) / 100
RENEWED = 1e7 * np.arange(10, 101, dtype=np.float64)[:, None]
GROWTH = np.arange(31) / 20
WINDOWS = np.arange(21)[:, None] / 4
MOST = 1.0 + np.arange(21) / 20
"""Grids of values tried for the constants; of two that are fitted together, each is an axis."""
AGAIN = 0.01  # share of a token's bytes above which a run counts as reading from the drive again


@dataclass(frozen=True, kw_only=True, eq=False)
class WatchedRun:
    """A row and its estimate with the page cache observed during the run."""

    row: OwnRow
    again: Callable[[Rereading], Reread]  # predicted bytes that a token reads from the drive again
    disk: Disk
    constants: Constants  # constants of the estimate
    decode: Range  # its speed
    needed: float  # all bytes read per token, from memory and drive [B]
    read: float  # bytes read from the drive per token [B]
    other: float  # predicted time of a token without the drive [s]

    @property
    def pages(self) -> bool:
        """Whether a part of each token's bytes came from the drive."""
        return self.read > AGAIN * self.needed

    def seconds(self, constants: Rereading) -> Array:
        """Time of a token, with the drive's part computed from given constants [s]."""
        again = self.again(constants)
        paged = again.total, self.disk, self.constants, again.pieces, again.renewal
        return self.other + page_fault_seconds(*paged)


def watched() -> tuple[WatchedRun, ...]:
    """Runs with a measured drive rate."""
    return tuple(_watched(row) for row in rows() if paged(row) and not row.doubtful)


def _watched(row: OwnRow) -> WatchedRun:
    depth = row.context_depth or 0.0
    settings = Settings(page_cache=(row.cache_gib or 0.0) * GIB)
    work = Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)
    run = estimate(
        model_of(row),
        machine_of(row),
        work,
        LLAMA_CPP,
        PlacementStrategy.NVME_OFFLOAD,
        Constants.fitted(),
        settings,
    )
    step = run.step
    disk = run.machine.disk
    if not (run.placement and step and run.constants and disk):
        raise InputError(f"{row.id}: {run.refusal or 'the speed of its drive is not known.'}")
    token = ForwardPass(tokens=1.0, sequences=1.0, depth=work.decode_depth, kv_type="f16")
    load = step_load(run.model, run.placement, Location.DISK, token)
    return WatchedRun(
        row=row,
        again=partial(reread, run.model, run.placement, load, run.machine),
        disk=disk,
        constants=run.constants,
        decode=decode_of(row, run),
        needed=float(run.model.read_bytes_per_token),
        read=(row.read_gb or 0.0) * GB,
        other=float(step.total) - float(step.parts.get(Route.PAGED, 0.0)),
    )


def fitted(runs: Sequence[WatchedRun]) -> Rereading:
    """Page-cache constants fitted to some runs, each by least squares.

    The share of pages kept is fitted to the share of bytes that dense models read again; the cost
    of renewing pages to the logarithm of the times of scans; the windows and their limit to the
    logarithm of bytes that models with experts read.
    """
    dense = [run for run in runs if not run.row.experts]
    scans = [run for run in dense if run.pages]
    routed = [run for run in runs if run.row.experts and run.pages]
    best = _best(
        replace(OBSERVED, retained=SHARES),
        lambda tried: ((run.again(tried).total - run.read) / run.needed for run in dense),
    )
    best = _best(
        replace(best, renewed=RENEWED, growth=GROWTH),
        lambda tried: (np.log(run.seconds(tried) * (run.row.tg_tps or 0.0)) for run in scans),
    )
    return _best(
        replace(best, windows=WINDOWS, most=MOST),
        lambda tried: (np.log(run.again(tried).total / run.read) for run in routed),
    )


def _best(tried: Rereading, errors: Callable[[Rereading], Iterable[Array]]) -> Rereading:
    """Constants with the smallest sum of squared errors, of the values tried."""
    loss = np.asarray(sum((error**2 for error in errors(tried)), start=np.zeros(())))
    at = np.unravel_index(np.argmin(loss), loss.shape)
    values = {name: np.broadcast_to(value, loss.shape)[at] for name, value in vars(tried).items()}
    return Rereading(**{name: float(value) for name, value in values.items()})


def points() -> Iterator[AccuracyPoint]:
    """Points of runs that read from the drive, each with constants fitted to the others."""
    runs = watched()
    for run in runs:
        if run.pages:
            constants = fitted([other for other in runs if other is not run])
            yield point_of(
                run.row,
                {"category": regimes.PAGED},
                group=f"{run.row.source_url} {run.row.cpu} {run.row.model}",
                measured=run.row.tg_tps or 0.0,
                predicted=1.0 / float(run.seconds(constants)),
                margins=margins_of(run.decode),
            )
