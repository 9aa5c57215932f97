"""Points of our own runs of llama.cpp under memory limits, each predicted without itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Constants, fitted_constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import estimate
from advisor.cost_model.loads import ForwardPass, Load, step_load
from advisor.cost_model.placement import DISK, Placement, PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import page_fault_seconds
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.evidence.accuracy import regimes
from advisor.evidence.accuracy.regimes import regime_of
from advisor.evidence.published.predict import understood
from advisor.evidence.published.row import PublishedRow
from advisor.machine.machine import Disk, Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.machine.spec import NO_GPU
from advisor.model import catalog
from advisor.model.build import build
from advisor.model.model import Floats, Model
from advisor.model.spec import ArchitectureSpec
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.llama_cpp.paging import WATCHED, Reread, Rereading, reread
from advisor.units import GB, GIB, KIB, Array
from lab.points import margins_of, point_of

# Rows of data/measurements/own.csv: our own runs of real engines beside their predictions.

OWN = DATA / "measurements" / "own.csv"
PAGED = "nvme"
"""Category of rows with weights read from the drive."""
SHAPE = (
    "hidden", "intermediate", "moe_intermediate", "experts", "experts_per_token", "heads",
    "kv_heads", "head_dim", "vocab", "tied",
)  # fmt: skip
"""Columns that describe a synthetic model; fields of `ArchitectureSpec` with the same names."""
TOKENS = 16
"""Tokens generated in each of these runs [tokens]."""


@dataclass(frozen=True, kw_only=True)
class OwnRow:
    """One row; columns as in data/measurements/README.md."""

    id: str
    category: str
    runtime: str
    gpu: str
    cpu: str
    threads: int
    ram_bw_gbs: float
    disk_gbs: float | None
    disk_map_gbs: float | None
    read_ahead_kib: float | None
    cache_gib: float | None
    read_gb: float | None
    os: str
    model: str
    params_b: float
    active_params_b: float | None
    n_layers: int
    hidden: int
    intermediate: int
    moe_intermediate: int
    experts: int
    experts_per_token: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool
    quant: str
    model_size_gib: float
    ngl: int
    context_depth: int
    batch: int
    rounds: int
    pp_tps: float | None
    tg_tps: float
    tg_spread: float
    predicted_pp_tps: float | None
    predicted_tps: float
    date: str
    source_url: str
    source_note: str
    doubtful: bool


def paged(row: OwnRow) -> bool:
    """Whether llama.cpp mapped a file of about the memory limit or larger."""
    return row.category == PAGED and row.gpu.casefold() == NO_GPU


def rows() -> tuple[OwnRow, ...]:
    """Rows of the shipped file."""
    return read(OWN, OwnRow)


def model_of(row: OwnRow) -> Model:
    """Synthetic model of a row."""
    shape = {name: getattr(row, name) for name in SHAPE}
    facts = ArchitectureSpec(name=row.model, layers=row.n_layers, **shape)
    return catalog.in_format(build(facts), row.quant)


def machine_of(row: OwnRow) -> Machine:
    """Machine of a row, with the drive's rate measured during the run."""
    cells = {name: "" if value is None else str(value) for name, value in asdict(row).items()}
    machine = understood(PublishedRow(cells)).machine
    if machine.disk is None or not (row.disk_map_gbs and row.read_ahead_kib):
        return machine
    drive = replace(
        machine.disk,
        mapped=_figure(row, row.disk_map_gbs * GB),
        read_ahead=_figure(row, row.read_ahead_kib * KIB),
    )
    return replace(machine, disk=drive)


def _figure(row: OwnRow, value: float) -> Quantity:
    return Quantity(value=value, kind=Provenance.MEASURED, source=row.source_url, date=row.date)


FOUND = np.arange(51) / 100
RENEWED = 1e7 * np.arange(10, 101, dtype=np.float64)[:, None]
GROWTH = np.arange(31) / 20
WINDOWS, MOST = np.arange(21)[:, None] / 4, 1.0 + np.arange(21) / 20
"""Grids of values tried for the page-cache constants; the two fitted together are two axes."""
AGAIN = 0.01
"""Share of a token's bytes above which a run counts as reading from the drive again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Watched:
    """A row and its estimate with the page cache observed during the run."""

    row: OwnRow
    model: Model
    placement: Placement
    machine: Machine
    disk: Disk
    constants: Constants  # constants of the estimate
    decode: Range  # its speed
    load: Load  # reads of the mapped file per token
    read: float  # bytes read from the drive per token [B]
    other: float  # predicted time of a token without the drive [s]

    @property
    def needed(self) -> float:
        """All bytes read per token, from memory and drive [B]."""
        return float(self.model.read_bytes_per_token)

    @property
    def pages(self) -> bool:
        """Whether a part of each token's bytes came from the drive."""
        return self.read > AGAIN * self.needed


def watched() -> tuple[Watched, ...]:
    """Runs with a measured drive rate."""
    return tuple(_watched(row) for row in rows() if paged(row) and not row.doubtful)


def _watched(row: OwnRow) -> Watched:
    depth, settings = row.context_depth, Settings(page_cache=(row.cache_gib or 0.0) * GIB)
    work = Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)
    run = estimate(
        model_of(row), machine_of(row), work, LLAMA_CPP, PlacementStrategy.NVME_OFFLOAD,
        fitted_constants(), settings,
    )  # fmt: skip
    machine, step = run.machine, run.step
    if not (run.placement and step and run.decode and run.constants and machine and machine.disk):
        raise InputError(f"{row.id}: {run.refusal or 'the speed of its drive is not known.'}")
    token = ForwardPass(tokens=1.0, sequences=1.0, depth=work.decode_depth, kv_type="f16")
    return Watched(
        row=row,
        model=run.model,
        placement=run.placement,
        machine=machine,
        disk=machine.disk,
        constants=run.constants,
        decode=run.decode,
        load=step_load(run.model, run.placement, DISK, token),
        read=(row.read_gb or 0.0) * GB,
        other=float(step.total) - float(step.parts.get(Route.PAGED, 0.0)),
    )


def predicted(run: Watched, constants: Rereading = WATCHED) -> Reread:
    """Predicted bytes that a token reads from the drive again [B]."""
    return reread(run.model, run.placement, run.load, run.machine, constants)


def fitted(runs: Sequence[Watched]) -> Rereading:
    """Page-cache constants fitted to some runs, each by least squares.

    The share of pages kept is fitted to the share of bytes that dense models read again; the
    windows and their limit to the logarithm of bytes that models with experts read; the cost of
    renewing pages to the logarithm of the times of scans.
    """
    dense = [run for run in runs if not run.row.experts]
    routed = [run for run in runs if run.row.experts]
    scans = [run for run in dense if run.pages]
    with_scan = replace(
        WATCHED, kept=_least(_missed(dense, replace(WATCHED, kept=FOUND)), FOUND)[0]
    )
    late = _late(scans, replace(with_scan, renewed=RENEWED, growth=GROWTH))
    rate, growth = _least(late, RENEWED, GROWTH)
    renewed = replace(with_scan, renewed=rate, growth=growth)
    far = _sum(
        np.log(predicted(run, replace(renewed, windows=WINDOWS, most=MOST)).total / run.read) ** 2
        for run in routed
        if run.pages
    )
    windows, most = _least(far, WINDOWS, MOST)
    return replace(renewed, windows=windows, most=most)


def _least(loss: Floats, *tried: Floats) -> tuple[float, ...]:
    """Values with the smallest loss, of those tried."""
    at = np.unravel_index(np.argmin(loss), loss.shape)
    return tuple(float(np.broadcast_to(constant, loss.shape)[at]) for constant in tried)


def _missed(runs: Iterable[Watched], constants: Rereading) -> Floats:
    """Sum of squared errors of the bytes read, as shares of a token's bytes."""
    return _sum(((predicted(run, constants).total - run.read) / run.needed) ** 2 for run in runs)


def _late(runs: Iterable[Watched], constants: Rereading) -> Floats:
    """Sum of squares of log(predicted time / measured time)."""
    return _sum(np.log(seconds(run, constants) * run.row.tg_tps) ** 2 for run in runs)


def _sum(losses: Iterable[Array]) -> Floats:
    return np.asarray(sum(losses, start=np.zeros(())))


def points() -> Iterator[AccuracyPoint]:
    """Points of runs that read from the drive, each with constants fitted to the others."""
    runs = watched()
    for paged in (each for each in runs if each.pages):
        yield _point(paged, fitted([other for other in runs if other is not paged]))


def _point(run: Watched, constants: Rereading) -> AccuracyPoint:
    row = run.row
    return point_of(
        replace(row, gpu=""),
        regime=regime_of({"category": regimes.PAGED}),
        group=f"{row.source_url} {row.cpu} {row.model}",
        measured=row.tg_tps,
        predicted=1.0 / float(seconds(run, constants)),
        margins=margins_of(run.decode),
    )


def seconds(run: Watched, constants: Rereading) -> Array:
    """Time of a token, with the drive's part computed from given constants [s]."""
    again = predicted(run, constants)
    paged = again.total, run.disk, run.constants, again.pieces, again.renewal
    return run.other + page_fault_seconds(*paged)
