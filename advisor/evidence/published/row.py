"""Published row, with typed cells.

Sources leave cells empty and spell them freely, and files of other people may lack columns. So a
cell is checked when it is read, and an invalid cell that nothing reads does no harm.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from advisor.errors import InputError
from advisor.model.model import Floats

LIMITS = {
    "params_b": (1e-4, 1e5), "active_params_b": (0.0, 1e5), "n_layers": (0.0, 1e4),
    "gpu_count": (0.0, 64.0),
}  # fmt: skip
"""Least and largest plausible numbers by column; in other columns `OTHER_LIMITS`."""
OTHER_LIMITS = (0.0, 1e9)


class _Cell:
    """Column of a row."""

    def __set_name__(self, owner: type["PublishedRow"], name: str) -> None:
        self.name = name


class Text(_Cell):
    """Text without blanks around it; empty where the cell is missing."""

    def __get__(self, row: "PublishedRow", owner: type["PublishedRow"]) -> str:
        return (row.cells.get(self.name) or "").strip()


class Number(_Cell):
    """A number; None where the cell is empty."""

    def __get__(self, row: "PublishedRow", owner: type["PublishedRow"]) -> float | None:
        return number(self.name, row.cells.get(self.name))


class Whole(_Cell):
    """A whole number, rounded; None where the cell is empty."""

    def __get__(self, row: "PublishedRow", owner: type["PublishedRow"]) -> int | None:
        value = number(self.name, row.cells.get(self.name))
        return None if value is None else round(value)


class Flag(_Cell):
    """Whether the cell says "True"."""

    def __get__(self, row: "PublishedRow", owner: type["PublishedRow"]) -> bool:
        return (row.cells.get(self.name) or "").strip() == "True"


def number(name: str, cell: str | None) -> float | None:
    """Number of a cell; None where it is empty.

    Args:
        name: column.
        cell: its text.

    Raises:
        InputError: no number, or an implausible one.
    """
    text = (cell or "").strip()
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


class PublishedRow:
    """Published run; data/measurements/README.md describes the columns and their units.

    Reading an invalid or implausible number raises InputError.

    Args:
        cells: text by column.
    """

    def __init__(self, cells: Mapping[str, str]) -> None:
        self.cells = cells

    id = Text()
    category = Text()
    runtime = Text()
    gpu = Text()
    gpu_count = Whole()
    cpu = Text()
    threads = Whole()
    ram_channels = Number()
    ram_mts = Number()
    ram_bw_gbs = Number()
    pcie_gen = Whole()
    pcie_lanes = Whole()
    h2d_gbs = Number()
    disk_gbs = Number()
    model = Text()
    params_b = Number()
    active_params_b = Number()
    n_layers = Whole()
    quant = Text()
    model_size_gib = Number()
    ngl = Number()
    n_cpu_moe = Number()
    fraction_gpu = Number()
    fraction_disk = Number()
    context_depth = Number()
    prompt_len = Number()
    gen_len = Number()
    batch = Number()
    pp_tps = Number()
    tg_tps = Number()
    tg_tps_total = Number()
    seconds_per_token = Number()
    other_metric = Text()
    date = Text()
    source_url = Text()
    source_note = Text()
    doubtful = Flag()
    publisher = Text()
    first_seen = Text()
    os = Text()


def columns() -> tuple[str, ...]:
    """Columns that are read."""
    return tuple(name for name, cell in vars(PublishedRow).items() if isinstance(cell, _Cell))


CATEGORIES = {
    "resident": "all weights in GPUs",
    "batched": "the same, for several sequences at once",
    "cpu": "all in RAM, computed by the processor",
    "partial": "some layers in the GPU, the rest in RAM",
    "moe_offload": "experts in RAM",
    "stream_cpu": "weights in RAM, copied to the GPU",
    "kv_offload": "the KV cache in RAM",
    "nvme": "what RAM does not hold on the drive",
}
"""Words of the column `category`: where the weights lie, and what reads them."""


def published_rows(path: Path) -> Iterator[PublishedRow]:
    """Rows of a measurement file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from map(PublishedRow, csv.DictReader(file))


# Publisher of a published row; rows of one publisher on one machine share their error.

THREAD = re.compile(
    r"https?://(?:www\.)?github\.com/([^/]+/[^/]+)/(?:issues|pull|discussions)/(\d+)"
)
REPOSITORY = re.compile(r"https?://(?:www\.)?github\.com/([^/]+/[^/#?]+)")


def source_of(url: str) -> str:
    """Publisher of a measurement: a thread on GitHub, a repository, or else the page."""
    thread = THREAD.match(url)
    if thread:
        return f"{thread[1]}#{thread[2]}"
    repository = REPOSITORY.match(url)
    return repository[1] if repository else re.sub(r"^https?://(?:www\.)?", "", url)


def publisher_of(row: PublishedRow) -> str:
    """Person, repository or site that published a row: the stated one, else its source."""
    return row.publisher or source_of(row.source_url)


def hardware_of(row: PublishedRow) -> str:
    """GPU and processor of a row; the GPU alone for GPU-resident runs."""
    gpu = "" if row.category == "cpu" else row.gpu
    cpu = "" if row.category == "resident" else row.cpu
    return " and ".join(filter(None, (gpu, cpu)))


def group_of(row: PublishedRow) -> str:
    """Publisher and hardware of a published row."""
    return f"{publisher_of(row)} on {hardware_of(row)}"


# Doubtful rows: physically impossible speeds, by a rule that was fixed before any scoring.
#
# A speed is doubtful if a perfect program could not reach it on the stated machine, or if a
# program that wastes 95 % of the machine would be faster. Then something else ran than the row
# states: another card, pages from a drive, layers on the processor. Doubts of the sources
# themselves are in the column `doubtful`.

PERFECT: Mapping[str, float] = {
    "core_decode_rate": 100e9,  # more than a core can read
    "core_clock": 1.0,
    "core_matrix_clock": 1.0,
    "core_flops": 4e12,  # AMX: 2048 operations of 8 bits a cycle, half as many of 16
    "core_attention_flops": 4e12,
    "core_batch_attention_flops": 4e12,
    "gpu_layer": 0.0,
    "gpu_expert_layer": 0.0,
    "gpu_state_layer": 0.0,
    "gpu_scan_layer": 0.0,
    "gpu_stream_layer": 0.0,
    "gpu_latent_layer": 0.0,
    "gpu_expert_read_share": 1.0,
    "gpu_latent_value": 0.0,
    "cpu_layer": 0.0,
    "cpu_expert_layer": 0.0,
    "crossing": 0.0,
    "token": 0.0,
    "others_cache_share": 0.0,
    "gpu_tile": 0.0,
    "gpu_expert_tile": 0.0,
    "host_copy": 1e15,
    "all_reduce": 0.0,
    "network_hop": 0.0,
}
"""Constants of a perfect program; every share is 1."""
WASTEFUL: Mapping[str, float] = {
    **PERFECT,
    "core_decode_rate": 0.5e9,
    "core_clock": 1.0,
    "core_matrix_clock": 1.0,
    "core_flops": 2e9,
    "core_attention_flops": 0.1e9,
    "core_batch_attention_flops": 0.5e9,
    "gpu_layer": 1e-3,
    "gpu_expert_layer": 1e-3,
    "gpu_state_layer": 1e-3,
    "gpu_scan_layer": 5e-3,
    "gpu_stream_layer": 3e-3,
    "gpu_latent_layer": 1e-3,
    "gpu_expert_read_share": 0.3,
    "gpu_latent_value": 2e4,
    "cpu_layer": 1e-4,
    "cpu_expert_layer": 2e-3,
    "crossing": 1e-3,
    "token": 10e-3,
    "others_cache_share": 1.0,
    "gpu_tile": 256.0,
    "gpu_expert_tile": 256.0,
    "host_copy": 1e9,
    "all_reduce": 1e-3,
    "network_hop": 10e-3,
}
"""Constants of a program that wastes nearly everything; every share is `WASTED`."""
WASTED = 0.05
ROUNDED = 0.85
"""Smallest ratio of a row's time to the perfect time: datasheets round, boost clocks exceed them,
and RAM is overclocked."""


class Bound:
    """Constants with one value in every scope.

    Args:
        values: values of constants that are no shares.
        share: value of all others.
    """

    def __init__(self, values: Mapping[str, float], share: float) -> None:
        self._values = values
        self._share = share

    def value(self, constant: str, family: str = "") -> float:  # noqa: ARG002 - bounds know no scope
        """Value of a constant."""
        return self._values.get(constant, self._share)


FASTEST, SLOWEST = Bound(PERFECT, 1.0), Bound(WASTEFUL, WASTED)


def doubtful(seconds: Floats, fastest: Floats, slowest: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the rows with an impossible time, shape (rows,).

    Args:
        seconds: measured time, shape (rows,) [s].
        fastest: time predicted with the constants `FASTEST`, shape (rows,) [s].
        slowest: time predicted with the constants `SLOWEST`, shape (rows,) [s].
    """
    return np.asarray((seconds < ROUNDED * fastest) | (seconds > slowest))
