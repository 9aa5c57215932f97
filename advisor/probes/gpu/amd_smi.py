"""Names of AMD GPUs from AMD's library `amdsmi`, where installed. Never raises.

The Python package comes with ROCm; without the driver's library, its import prints to the screen
and raises KeyError (seen with 7.0.2).
"""

import io
from contextlib import redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import Any


def market_names() -> dict[str, str]:
    """Known product names by PCI address."""
    smi = _imported()
    if smi is None:
        return {}
    try:
        smi.amdsmi_init()
    except smi.AmdSmiException:
        return {}
    try:
        named = [_named(smi, card) for card in smi.amdsmi_get_processor_handles()]
        smi.amdsmi_shut_down()
    except smi.AmdSmiException:
        return {}
    return {bus: name for bus, name in named if name}


def _imported() -> ModuleType | None:
    try:
        with redirect_stdout(io.StringIO()):
            return import_module("amdsmi")
    except (ImportError, KeyError, OSError, AttributeError):
        return None


def _named(smi: ModuleType, card: Any) -> tuple[str, str]:
    """PCI address and name; "N/A" or the device's number where the library has no name."""
    name = str(smi.amdsmi_get_gpu_asic_info(card)["market_name"])
    known = name != "N/A" and not name.startswith("0x")
    return str(smi.amdsmi_get_gpu_device_bdf(card)).casefold(), name if known else ""
