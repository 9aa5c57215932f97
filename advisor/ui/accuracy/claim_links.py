"""Links that open a scenario of a claim on the Advise page."""

from collections.abc import Mapping

from advisor.machine.catalog import find_gpu
from advisor.ui.sidebar.fields import CONTEXTS, fields
from advisor.ui.sidebar.option_words import ANOTHER, NO_GPU

FIELD_OF = {
    "model": "model",
    "format": "format",
    "gpu": "gpu",
    "gpu_count": "gpus",
    "cpu": "cpu",
    "ram_gb": "ram",
    "ram_gbs": "ramspeed",
    "disk": "drive",
    "disk_gbs": "drivespeed",
    "users": "users",
    "prompt": "prompt",
    "output": "output",
    "kv_type": "kv",
    "ubatch": "ubatch",
    "gpu_layers": "layers",
    "cpu_moe": "experts",
    "cache_gb": "cache",
    "replies_per_day": "replies",
    "usd_per_hour_of_time": "hour",
}
"""Inputs of the Advise page for those of a scenario."""
SHOWN_THERE = {"runtime", "placement", "upgrade", "vram_gb", "reading_tps"}
"""Inputs of a scenario that the Advise page shows side by side, or lacks."""
TOGETHER = {"context", "pcie_gen", "pcie_lanes"}
"""Inputs of a scenario that the Advise page combines."""


def parameters(inputs: Mapping[str, object]) -> dict[str, str]:
    """Parameters of the link; empty where the Advise page cannot show the scenario.

    Args:
        inputs: inputs of the scenario.
    """
    if "model" not in inputs or set(inputs) - set(FIELD_OF) - SHOWN_THERE - TOGETHER:
        return {}
    values = {FIELD_OF[key]: f"{value}" for key, value in inputs.items() if key in FIELD_OF}
    values = {"machine": ANOTHER, "gpu": NO_GPU, **values, **_context(inputs), **_link(inputs)}
    if _unified(inputs):
        values["pool"] = values.pop("ram", "")
    known = fields()
    fitting = all(not known[key].problem(text) for key, text in values.items() if text)
    return {key: text for key, text in values.items() if text} if fitting else {}


def _context(inputs: Mapping[str, object]) -> dict[str, str]:
    tokens = inputs.get("context", 8192)
    label = next((label for label, size in CONTEXTS.items() if size == tokens), f"{tokens}")
    return {"context": label}


def _link(inputs: Mapping[str, object]) -> dict[str, str]:
    if "pcie_gen" not in inputs:
        return {}
    return {"link": f"PCIe {inputs['pcie_gen']} x{inputs.get('pcie_lanes', 16)}"}


def _unified(inputs: Mapping[str, object]) -> bool:
    return "gpu" in inputs and find_gpu(str(inputs["gpu"])).unified
