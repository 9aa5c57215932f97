"""Rows of data/measurements/own.csv, as the engine benchmarks write them."""

import csv
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from advisor.machine.machine import Machine
from advisor.model.architecture import ArchitectureSpec
from advisor.model.model import Model
from advisor.units import GB, GIB
from benchmarks.engine_parts.readings import Run, spread
from lab.points.paged import OWN, SHAPE

COLUMNS = tuple(OWN.read_text(encoding="utf-8").partition("\n")[0].split(","))
"""Columns of the shipped rows, and of those that a benchmark writes."""


def row(
    facts: ArchitectureSpec,
    model: Model,
    machine: Machine,
    rates: Sequence[float],
    predicted: float,
    **told: object,
) -> dict[str, object]:
    """A measurement of so many tokens/s in each round, beside what was predicted; `told` are other
    columns, as they are to be written.
    """
    arch = model.architecture
    host = machine.host
    return dict.fromkeys(COLUMNS, "") | {
        "gpu": "none",
        "cpu": host.name,
        "threads": host.cores,
        "ram_bw_gbs": f"{float(host.bandwidth.value) / GB:.1f}",
        "os": system(),
        "model": f"{model.name} (synthetic)",
        "params_b": f"{arch.params / 1e9:.3f}",
        "active_params_b": f"{arch.active_params / 1e9:.3f}" if arch.experts else "",
        "n_layers": model.layers,
        **{name: getattr(facts, name) for name in (*SHAPE, "tied")},
        "quant": model.format,
        "model_size_gib": f"{model.file_bytes / GIB:.3f}",
        "ngl": 0,
        "batch": 1,
        "rounds": len(rates),
        "tg_tps": f"{median(rates):.3f}",
        "tg_spread": f"{spread(rates):.2f}",
        "predicted_tps": f"{predicted:.3f}",
        "date": today(),
        "doubtful": False,
        **told,
    }


def system() -> str:
    """Kernel and its version, without what a distribution adds."""
    return f"{platform.system()} {platform.release().split('-')[0]}"


def today() -> str:
    """The date in UTC (ISO)."""
    return datetime.now(UTC).date().isoformat()


def prompt(rate: float | None, predicted: float) -> dict[str, str]:
    """Columns of the speed of the prompt; none where it was not timed."""
    if rate:
        return {"pp_tps": f"{rate:.2f}", "predicted_pp_tps": f"{predicted:.2f}"}
    return {}


def drive(machine: Machine, runs: Sequence[Run]) -> dict[str, object]:
    """Columns of runs from the drive."""
    disk = machine.disk
    if disk is None or disk.mapped is None:
        return {}
    cache, read = (median(getattr(run, name) for run in runs) for name in ("cache", "read"))
    return {
        "cache_gib": f"{cache / GIB:.3f}",
        "read_gb": f"{read / GB:.4f}",
        "disk_gbs": f"{float(disk.sequential.value) / GB:.3f}",
        "disk_map_gbs": f"{float(disk.mapped.value) / GB:.3f}",
        "read_ahead_kib": f"{float(disk.read_ahead.value) / 1024:.0f}",
    }


def append(path: Path, rows: Sequence[dict[str, object]], cpu: str | None) -> None:
    """Write rows behind those that a file has, with the name of the processor where it is given;
    ids go on.
    """
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
    else:
        lines = []
    old = list(csv.DictReader(lines))
    named = {"cpu": cpu} if cpu else {}
    numbered = [
        row | named | {"id": f"own{number:04}"} for number, row in enumerate(rows, len(old) + 1)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*old, *numbered])
