"""Rows of data/measurements/own.csv, as the engine benchmark writes them."""

import csv
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from advisor.machine import Machine
from advisor.model import Model
from advisor.units import GB, GIB

COLUMNS = (
    "id", "category", "runtime", "gpu", "gpu_count", "cpu", "threads", "ram_bw_gbs", "disk_gbs",
    "disk_map_gbs", "read_ahead_kib", "cache_gib", "os", "model", "params_b", "active_params_b",
    "quant", "model_size_gib", "n_layers", "ngl", "n_cpu_moe", "context_depth", "batch", "pp_tps",
    "tg_tps", "tg_spread", "predicted_tps", "date", "source_url", "source_note", "doubtful",
)  # fmt: skip
"""Those of llama_cpp.csv that apply, and what a drive adds."""


def row(
    model: Model,
    machine: Machine,
    *,
    category: str,
    depth: int,
    measured: float,
    spread: float,
    predicted: float,
    cache: float | None = None,
) -> dict[str, object]:
    """One measurement."""
    experts, disk = model.architecture.experts, machine.disk
    active = model.architecture.active_params / 1e9 if experts else ""
    paged = disk if cache is not None else None
    mapped = paged.mapped if paged else None
    return dict.fromkeys(COLUMNS, "") | {
        "category": category,
        "runtime": f"llama.cpp (xllamacpp {version('xllamacpp')})",
        "cpu": machine.host.name,
        "threads": machine.host.cores,
        "ram_bw_gbs": f"{float(machine.host.bandwidth.value) / GB:.1f}",
        "disk_gbs": f"{float(paged.sequential.value) / GB:.2f}" if paged else "",
        "disk_map_gbs": f"{float(mapped.value) / GB:.2f}" if mapped else "",
        "read_ahead_kib": f"{float(paged.read_ahead.value) / 1024:.0f}" if paged else "",
        "cache_gib": f"{cache / GIB:.3f}" if cache is not None else "",
        "os": f"{platform.system()} {platform.release()}",
        "model": f"{model.name} (synthetic)",
        "params_b": f"{model.architecture.params / 1e9:.2f}",
        "active_params_b": active and f"{active:.2f}",
        "quant": model.format,
        "model_size_gib": f"{model.file_bytes / GIB:.3f}",
        "n_layers": model.layers,
        "ngl": 0,
        "context_depth": depth,
        "batch": 1,
        "tg_tps": f"{measured:.3f}",
        "tg_spread": f"{spread:.2f}",
        "predicted_tps": f"{predicted:.3f}",
        "date": datetime.now(UTC).date().isoformat(),
        "source_url": "benchmarks/engine.py",
        "source_note": "python -m benchmarks.engine",
        "doubtful": False,
    }


def append(path: Path, rows: list[dict[str, object]]) -> None:
    """Write rows behind those that a file has; ids go on."""
    old = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    numbered = [one | {"id": f"own{number:04}"} for number, one in enumerate(rows, len(old) + 1)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*old, *numbered])
