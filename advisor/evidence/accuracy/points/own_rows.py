"""Rows of data/measurements/own.csv: our own runs of real engines beside their predictions."""

from dataclasses import asdict, dataclass, replace

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.workload import Workload
from advisor.evidence.published.predict import understood
from advisor.evidence.published.row import PublishedRow
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.machine.spec import NO_GPU
from advisor.model import catalog
from advisor.model.build import build
from advisor.model.model import Model
from advisor.model.spec import ArchitectureSpec
from advisor.units import GB, KIB

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
    machine = understood(_as_published(row)).machine
    if machine.disk is None or not (row.disk_map_gbs and row.read_ahead_kib):
        return machine
    drive = replace(
        machine.disk,
        mapped=_figure(row, row.disk_map_gbs * GB),
        read_ahead=_figure(row, row.read_ahead_kib * KIB),
    )
    return replace(machine, disk=drive)


def work_of(row: OwnRow) -> Workload:
    """Request of a row."""
    depth = row.context_depth
    return Workload(prompt=depth, output=TOKENS, context=depth + TOKENS)


def _as_published(row: OwnRow) -> PublishedRow:
    cells = asdict(row).items()
    return PublishedRow({name: "" if value is None else str(value) for name, value in cells})


def _figure(row: OwnRow, value: float) -> Quantity:
    return Quantity(value=value, kind=Provenance.MEASURED, source=row.source_url, date=row.date)
