"""Every configuration that NVIDIA's aiconfigurator carries, described; the same by name alone.

The package is an oracle, not a dependency: without it these tests are skipped.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.named import named
from advisor.model.config.read import describe

pytest.importorskip("aiconfigurator_core", reason="pip install -r requirements-oracles.txt")


def configs() -> list[Path]:
    import aiconfigurator_core

    folder = Path(next(iter(aiconfigurator_core.__path__))) / "model_configs"
    return sorted(path for path in folder.glob("*_config.json") if "hf_quant" not in path.name)


def identity(path: Path) -> str:
    return path.name.removesuffix("_config.json").replace("--", "/")


def kv_and_read_bytes(architecture: Architecture) -> tuple[float, float]:
    model = catalog.in_format(architecture, "BF16-hf")
    return float(np.sum(model.kv_bytes(32768.0, "f16"))), model.read_bytes_per_token


@pytest.mark.parametrize("path", configs(), ids=identity)
def test_none_is_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert describe(json.loads(text), identity(path)).architecture.layers > 0


def test_names_have_the_bytes_of_their_configs() -> None:
    """KV bytes and bytes read per token within 2 %, for 95 % of them."""
    off = []
    for path in configs():
        told = describe(path.read_text(encoding="utf-8"), identity(path)).architecture
        by_name = kv_and_read_bytes(named(identity(path)).architecture)
        if by_name != pytest.approx(kv_and_read_bytes(told), rel=0.02):
            off.append(identity(path))
    assert len(off) <= 0.05 * len(configs()), off
