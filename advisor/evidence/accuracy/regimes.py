"""Regimes: kinds of runs that are scored separately."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.formatting import percent
from advisor.lazy import lazy
from advisor.model.model import Model
from advisor.units import Provenance

STREAMED = "streamed"
STAGED = "NVMe"
BATCHED = "batched"
RESIDENT = "resident, other engines"
EXPERTS = "experts offloaded, other engines"
"""Kinds of runs of frameworks."""
# timed part of a run
GENERATION = "generation"
PROMPT = "prompt"
BOTH = "prompt and generation"
STATED = "stated"
DATASHEET = "datasheet"
INFERRED = "inferred"
"""Origin of a run's RAM rate: its source, the processor's datasheet, or another run."""
ALL = "all"
PAGED = "paged"
"""Category of runs whose mapped file is larger than memory, read page by page by llama.cpp."""
DEEP = 3000  # tokens in the cache from which a run counts as deep context [tokens]

Traits = Mapping[str, object]
"""Traits of a run by name: `category` (of its file, or a kind of framework run), `timed`, `deep`,
`experts`, `ram`, `batch_stated`, `build`, `together`."""


@dataclass(frozen=True, kw_only=True)
class Regime:
    """Kind of run; a trait that its row leaves empty may have any value."""

    name: str  # name in tables
    text: str  # description in a sentence
    front: int = 0  # place in the table of README; 0 for none
    family: str  # engines whose tokens it scores: "llama.cpp", "other engines"; empty for others
    category: str
    timed: str
    deep: bool | None
    experts: bool | None
    ram: str
    batch_stated: bool | None
    build: str
    together: bool | None

    @lazy
    def traits(self) -> Traits:
        """Traits that a run must have."""
        stated = vars(self).items()
        return {key: value for key, value in stated if key not in NAMED and value not in ("", None)}


NAMED = ("name", "text", "front", "family")
REGIMES = read(DATA / "regimes.csv", Regime)
"""All regimes, in the order of tables; a run belongs to the first that matches."""


def regime_of(traits: Traits) -> str:
    """Name of a run's regime; its category where none matches."""
    names = (regime.name for regime in REGIMES if regime.traits.items() <= traits.items())
    return next(names, str(traits.get("category", "other")))


def description(name: str) -> str:
    """Description of a regime in a sentence; empty for an unknown name."""
    return next((regime.text for regime in REGIMES if regime.name == name), "")


FAMILIES = {
    "In the GPU": ("resident", "LocalScore, on", "MLX", "drafted"),
    "Partly in RAM": ("dense split", "experts in RAM", "streamed from RAM", "experts streamed"),
    "Processor alone": ("CPU alone", "LocalScore, processor"),
    "From the drive": ("read from a drive", "paged", "experts in tiers"),
    "Reading a prompt": ("prompt", "first token"),
    "Servers, several users": ("batch", "serving", "server", "several users"),
}
"""Beginnings of the kinds of run in each family."""


def family_of(kind: str) -> str:
    """Family of a kind of run."""
    return next(name for name, begins in FAMILIES.items() if kind.startswith(begins))


COVERAGE = DATA / "generated/coverage.csv"


@dataclass(frozen=True, kw_only=True)
class CoverageRow:
    """One row of data/generated/coverage.csv: coverage of one regime."""

    regime: str  # name in `regimes.REGIMES`
    rows: int  # published figures that were predicted without their group
    groups: int  # groups of figures, each of one source on one machine
    held: int  # number of figures within their 80 % range
    held_groups: float  # share of figures within their range, with equal weight for each group
    median_error: float  # median of the absolute relative error [share]
    group_error: float  # median of the groups' median errors [share]
    width: float  # median of upper end over lower end of the range
    source: str  # the command that wrote the line


@cache
def coverage() -> Mapping[str, CoverageRow]:
    """Rows of data/generated/coverage.csv by regime."""
    return {row.regime: row for row in read(COVERAGE, CoverageRow)}


def coverage_like(estimate: Estimate) -> CoverageRow | None:
    """Coverage of published runs like an estimate's decoding; None where there are none."""
    if estimate.placement is None:
        return None
    traits = _of_llama_cpp if estimate.runtime.computes_in_ram else _of_framework
    return coverage().get(regime_of(traits(estimate, estimate.placement)))


def certainty(estimate: Estimate | None) -> str:
    """Sentence on how near published runs like an estimate were predicted; empty without such
    runs.
    """
    if estimate is None:
        return ""
    row = coverage_like(estimate)
    if row is None:
        runs = "No published run is like this one."
    else:
        near = percent(row.median_error)
        runs = f"{row.rows} measured runs like this, half of them within {near}."
    if is_guessed(estimate.model):
        return f"{runs} {GUESSED}"
    return runs


GUESSED = "The model's layers are assumed, as nobody has described it."
"""Reserve of a model that only its name or a family like its own tells."""


def is_guessed(model: Model) -> bool:
    """Whether a model's layers are counted as those of another model."""
    return bool(model.architecture.shape_uncertainty)


def _of_framework(estimate: Estimate, _: Placement) -> Traits:
    kinds = {PlacementStrategy.CPU_OFFLOAD: STREAMED, PlacementStrategy.NVME_OFFLOAD: STAGED}
    if float(estimate.work.users) > 1:
        together = BATCHED
    else:
        together = RESIDENT
    return {"category": kinds.get(estimate.strategy, together), "timed": GENERATION}


def _of_llama_cpp(estimate: Estimate, placement: Placement) -> Traits:
    """Traits of a run of llama.cpp or one of its forks."""
    if float(placement.cpu_moe) > 0:
        split = "moe_offload"
    else:
        split = "partial"
    category = {
        PlacementStrategy.GPU_RESIDENT: "resident",
        PlacementStrategy.NVME_OFFLOAD: PAGED,
        PlacementStrategy.CPU_OFFLOAD: split if float(placement.gpu_layers) > 0 else "cpu",
    }[estimate.strategy]
    stated = estimate.machine.host.bandwidth.kind in (Provenance.MEASURED, Provenance.GIVEN)
    if category == "partial":
        origin = INFERRED
    else:
        origin = STATED
    return {
        "category": category,
        "timed": GENERATION,
        "build": estimate.runtime.build,
        "together": float(estimate.work.users) > 1,
        "deep": float(estimate.work.decode_depth) >= DEEP,
        "experts": estimate.model.architecture.experts is not None,
        "ram": origin if stated else DATASHEET,
    }
