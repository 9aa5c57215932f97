"""Published row, with typed cells.

Sources leave cells empty and spell them freely, and files of other people may lack columns. So a
cell is checked when it is read, and an invalid cell that nothing reads does no harm.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError

LIMITS = {
    "params_b": (1e-4, 1e5), "active_params_b": (0.0, 1e5), "n_layers": (0.0, 1e4),
    "gpu_count": (0.0, 64.0),
}  # fmt: skip
"""Least and largest plausible numbers by column; in other columns `OTHER_LIMITS`."""
OTHER_LIMITS = (0.0, 1e9)
T = TypeVar("T")


def number(name: str, text: str) -> float | None:
    """Number of a cell, None where it is empty; raises InputError for an implausible text."""
    try:
        value = float(text) if text else None
    except ValueError as error:
        raise InputError(f"{name} is {text[:40]!r}; a number or nothing is expected.") from error
    least, most = LIMITS.get(name, OTHER_LIMITS)
    if value is not None and not least <= value <= most:
        raise InputError(
            f"{name} is {text[:40]!r}; a number from {least:g} to {most:,.0f} is expected."
        )
    return value


LONGEST_CELL = 2_000  # letters of a cell; the longest published one has 507
UNREADABLE = "unreadable"  # key of a row that cannot be read, whose text says why


def _text(name: str, cell: str) -> str:
    if len(cell) > LONGEST_CELL:
        raise InputError(f"{name} has {len(cell):,} letters; at most {LONGEST_CELL:,} are read.")
    return cell


def _whole(name: str, cell: str) -> int | None:
    value = number(name, cell)
    if value is None:
        return None
    return round(value)


def _first_number(name: str, cell: str) -> float | None:
    """First number of a cell, as of "4 to 6"; None for words alone."""
    digits = re.search(r"\d+(?:\.\d+)?", cell)
    if digits:
        return number(name, digits[0])
    return None


def _flag(_: str, cell: str) -> bool:
    return cell == "True"


class Cell(Generic[T]):
    """Column of a row, read by a function of its name and its text without blanks around it."""

    def __init__(self, read: Callable[[str, str], T]) -> None:
        self._read = read

    def __set_name__(self, owner: type["PublishedRow"], name: str) -> None:
        self._name = name

    def __get__(self, row: "PublishedRow", owner: type["PublishedRow"]) -> T:
        return self._read(self._name, (row.cells.get(self._name) or "").strip())


class PublishedRow:
    """Published run; data/measurements/README.md describes the columns and their units.

    Reading an invalid or implausible number raises InputError.

    Attributes:
        cells: texts by column.
        notes: sentences on defaults and on interpreted spellings, as its cells are understood.
    """

    def __init__(self, cells: Mapping[str, str]) -> None:
        self.cells = cells
        self.notes: list[str] = []

    @property
    def source_words(self) -> str:
        """Both texts in which a source says which program ran and how."""
        return f"{self.runtime} {self.source_note}"

    id = Cell(_text)
    machine = Cell(_text)
    category = Cell(_text)
    runtime = Cell(_text)
    gpu = Cell(_text)
    gpu_count = Cell(_whole)
    cpu = Cell(_text)
    threads = Cell(_whole)
    ram_channels = Cell(number)
    ram_mts = Cell(number)
    ram_bw_gbs = Cell(number)
    pcie_gen = Cell(_whole)
    pcie_lanes = Cell(_whole)
    h2d_gbs = Cell(number)
    disk_gbs = Cell(number)
    model = Cell(_text)
    params_b = Cell(number)
    active_params_b = Cell(number)
    n_layers = Cell(_whole)
    quant = Cell(_text)
    model_size_gib = Cell(number)
    ngl = Cell(number)
    n_cpu_moe = Cell(number)
    fraction_gpu = Cell(number)
    fraction_disk = Cell(number)
    context_depth = Cell(number)
    prompt_len = Cell(number)
    gen_len = Cell(number)
    batch = Cell(number)
    pp_tps = Cell(number)
    tg_tps = Cell(number)
    tg_tps_total = Cell(number)
    seconds_per_token = Cell(number)
    other_metric = Cell(_text)
    date = Cell(_text)
    source_url = Cell(_text)
    source_note = Cell(_text)
    doubtful = Cell(_flag)
    publisher = Cell(_text)
    first_seen = Cell(_text)
    os = Cell(_text)
    # columns of engines that keep experts in tiers
    engine = Cell(_text)
    engine_version = Cell(_text)
    vram_gb = Cell(number)
    ram_gb = Cell(number)
    experts_gib = Cell(number)
    n_experts = Cell(_whole)
    vram_cache_gib = Cell(number)
    vram_cache_share = Cell(number)
    ram_cache_gib = Cell(number)
    nvme_gbs = Cell(number)
    hit_rate_vram = Cell(number)
    hit_rate_ram = Cell(number)
    pcie_share = Cell(number)
    draft = Cell(_text)
    draft_k = Cell(_first_number)
    acceptance = Cell(number)
    tokens_per_round = Cell(number)
    context_limit = Cell(number)
    prompt_tokens = Cell(number)
    prefill_chunk = Cell(number)


COLUMNS = tuple(name for name, cell in vars(PublishedRow).items() if isinstance(cell, Cell))
"""Columns that are read."""
BESIDE = (
    "id", "pp_tps", "tg_tps", "tg_tps_total", "seconds_per_token", "source_url", "doubtful",
    "publisher", "first_seen",
)  # fmt: skip
"""Columns that no prediction reads: what was measured, and who published it."""
STATED = tuple(name for name in COLUMNS if name not in BESIDE)  # columns that predictions read
ANSWERED = (
    "id", "tg_tps", "tg_low", "tg_high", "tg_tps_total", "e2e_tps_total", "pp_tps", "pp_low",
    "pp_high", "ttft_s", "fits", "bottleneck", "note",
)  # fmt: skip
"""Columns of an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceWordsRow:
    """One row of data/measurements/source_words.csv: words of sources, with their meaning."""

    of: str  # what they tell: a backend, a processor outside the catalogue, a drive, ..
    pattern: str  # pattern of the words; the first of its kind that fits counts
    means: str  # name in this program; empty where the words state a number, or whether at all
    why: str  # reason, where it is not plain


@cache
def _patterns(of: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = read(DATA / "measurements/source_words.csv", SourceWordsRow)
    return tuple((re.compile(row.pattern), row.means) for row in rows if row.of == of)


def meaning(of: str, text: str) -> str:
    """Meaning of a source's words; empty where no pattern of the kind fits."""
    return next((means for pattern, means in _patterns(of) if pattern.search(text)), "")


def stated(of: str, text: str) -> re.Match[str] | None:
    """Words of a kind in a source's text; None where no pattern fits."""
    ((pattern, _),) = _patterns(of)
    return pattern.search(text)


def figures(of: str, text: str) -> list[float]:
    """Numbers that a source's words of a kind state."""
    ((pattern, _),) = _patterns(of)
    return [float(next(filter(None, words.groups()))) for words in pattern.finditer(text)]


def figure(of: str, text: str) -> float | None:
    """First figure in a source's words; None where no pattern fits."""
    return next(iter(figures(of, text)), None)


CATEGORIES = {
    "resident": ("gpu-resident", "all weights in GPUs"),
    "batched": ("gpu-resident", "the same, for several sequences at once"),
    "cpu": ("cpu-offload", "all in RAM, computed by the processor"),
    "partial": ("cpu-offload", "some layers in the GPU, the rest in RAM"),
    "moe_offload": ("cpu-offload", "experts in RAM"),
    "stream_cpu": ("cpu-offload", "weights in RAM, copied to the GPU"),
    "kv_offload": ("cpu-offload", "the KV cache in RAM"),
    "nvme": ("nvme-offload", "what RAM does not hold on the drive"),
    "moe_tiered": ("cpu-offload", "experts in VRAM, RAM and on the drive by an engine for them"),
}
"""Words of the column `category`, each with its placement, and what it means."""


def columns_in_words() -> str:
    """Columns that are read, and the words of `category`, for the help of a command."""
    places = ", ".join(f"{word} ({meaning})" for word, (_, meaning) in CATEGORIES.items())
    return (
        f"Columns, all but the model optional: {', '.join(COLUMNS)}. Words of category: {places};"
        " empty where GPU, layers and runtime tell."
    )
