"""Checks of the rows of our own runs, in the file or fresh from a benchmark."""

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from advisor.evidence.published.row import number
from advisor.machine.catalog import GPUS
from advisor.units import GIB
from lab.points.paged import PAGED, OwnRow, machine_of, model_of, paged

ROOT = Path(__file__).parents[2]
NO_GPU = "none"
RANGES = {
    "threads": (1, 1024), "ram_bw_gbs": (5, 2000), "disk_gbs": (0.05, 100),
    "disk_map_gbs": (0.05, 100), "read_ahead_kib": (0, 2**16), "cache_gib": (0.01, 1024),
    "read_gb": (0, 1024), "params_b": (0.1, 40), "active_params_b": (0.1, 10), "n_layers": (1, 200),
    "model_size_gib": (0.1, 100), "context_depth": (1, 2**20), "rounds": (1, 1000),
    "pp_tps": (0.1, 1e5), "tg_tps": (0.01, 1e4), "tg_spread": (0, 0.5),
    "predicted_pp_tps": (0.1, 1e5), "predicted_tps": (0.01, 1e4),
}  # fmt: skip
LLAMA_BENCH = r"llama\.cpp \(llama-bench (\d+ [0-9a-f]+|b\d+), [\w, ]+\)"
ACCELERATE = r"Accelerate \(transformers [\d.]+, accelerate [\d.]+, torch [\d.+\w]+\)"
ENGINES = {
    "cpu": r"llama\.cpp \(xllamacpp [\d.]+\)",
    "resident": f"{LLAMA_BENCH}|{ACCELERATE}",
    "partial": LLAMA_BENCH,
    "moe_offload": LLAMA_BENCH,
    "stream_cpu": ACCELERATE,
}
"""By category, how its rows name their engine; of rows from the drive it depends on the GPU."""
MEDIAN = 0.10
WORST = 0.20
FROM_DRIVE = 1.5
"""What the probes promise."""
DEEP = 4096
"""Depth from which the processor's attention, beside a GPU, is slower than its probe says."""


def check_ranges(row: OwnRow) -> None:
    for name, (low, high) in RANGES.items():
        value = number(name, row.cells[name])
        assert value is None or low <= value <= high, (name, value)
    assert row.batch == 1
    if row.gpu == NO_GPU:
        assert (row.category in ("cpu", PAGED), row.ngl) == (True, 0)
        return
    assert row.gpu in GPUS.rows()
    whole = row.category in ("resident", "moe_offload")
    assert (row.ngl == row.n_layers) if whole else (0 <= row.ngl < row.n_layers)
    assert bool(row.experts) or row.category != "moe_offload"


def check_what_ran_where_and_how(row: OwnRow) -> None:
    if row.gpu == NO_GPU:
        from_drive = ENGINES["cpu"]
    else:
        from_drive = ACCELERATE
    assert re.fullmatch(ENGINES.get(row.category, from_drive), row.runtime), row.runtime
    assert re.search(r"(AMD|Intel|Apple|Ampere)", row.cpu)
    assert row.os.startswith("Linux ")
    assert date(2026, 11, 1) <= date.fromisoformat(row.date) <= date.today()
    assert (ROOT / row.source_url).exists()
    module = row.source_url.removesuffix(".py").replace("/", ".")
    assert row.source_note.startswith(f"python -m {module}")
    if row.gpu != NO_GPU:
        assert re.search(r"[\d.]+ GB/s from pinned memory", row.source_note)


def check_shape(row: OwnRow) -> None:
    model = model_of(row)
    assert model.architecture.params / 1e9 == pytest.approx(row.params_b, abs=0.001)
    assert model.file_bytes / GIB == pytest.approx(row.model_size_gib, abs=0.001)
    assert machine_of(row).host.cores == row.threads
    assert [gpu.name for gpu in machine_of(row).gpus] == ([] if row.gpu == NO_GPU else [row.gpu])


def check_drive(row: OwnRow) -> None:
    assert row.disk_gbs
    assert row.cache_gib
    assert row.read_gb is not None
    if paged(row):
        assert row.disk_map_gbs
        assert row.read_ahead_kib


def check_promises(rows: Iterable[OwnRow]) -> None:
    """Check the probes' promises on rows of GPUs, for each engine and placement.

    They time no kernels of a GPU, so they promise nothing of models that lie in it whole.
    """
    kinds: dict[tuple[str, str], list[OwnRow]] = {}
    for row in rows:
        if row.category != "resident":
            kinds.setdefault((row.runtime.split()[0], row.category), []).append(row)
    for kind, of_kind in kinds.items():
        ratio = np.array([row.predicted_tps / row.tg_tps for row in of_kind])
        if kind[1] == PAGED:
            assert max(np.abs(np.log(ratio))) <= np.log(FROM_DRIVE), kind
            continue
        shallow = [row.category != "partial" or row.context_depth < DEEP for row in of_kind]
        assert np.median(np.abs(ratio - 1.0)) <= MEDIAN, kind
        assert max(np.abs(ratio - 1.0)[shallow]) <= WORST, kind
