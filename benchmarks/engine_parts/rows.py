"""Rows of data/measurements/own.csv, as the engine benchmarks write them."""

import csv
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.model.spec import ArchitectureSpec
from advisor.units import GB, GIB
from lab.points.paged import OWN, SHAPE

COLUMNS = tuple(OWN.read_text(encoding="utf-8").partition("\n")[0].split(","))
"""Columns of the shipped rows, and of those that a benchmark writes."""


def row(
    facts: ArchitectureSpec, model: Model, machine: Machine, **told: object
) -> dict[str, object]:
    """One measurement; `told` are columns, speeds and sizes as they are to be written."""
    arch, host = model.architecture, machine.host
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


def drive(machine: Machine) -> dict[str, object]:
    """Columns of the drive."""
    disk = machine.disk
    if disk is None or disk.mapped is None:
        return {}
    return {
        "disk_gbs": f"{float(disk.sequential.value) / GB:.3f}",
        "disk_map_gbs": f"{float(disk.mapped.value) / GB:.3f}",
        "read_ahead_kib": f"{float(disk.read_ahead.value) / 1024:.0f}",
    }


def append(path: Path, rows: Sequence[dict[str, object]]) -> None:
    """Write rows behind those that a file has; ids go on."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    old = list(csv.DictReader(lines))
    numbered = [row | {"id": f"own{number:04}"} for number, row in enumerate(rows, len(old) + 1)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*old, *numbered])
