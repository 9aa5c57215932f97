"""AMD and Intel GPUs from /sys/class/drm of Linux, with AMD's library where installed.

Files of amdgpu: https://docs.kernel.org/gpu/amdgpu/driver-misc.html (mem_info_*) and
https://docs.kernel.org/gpu/amdgpu/thermal.html (power1_cap in microwatts, pp_dpm_* in MHz). Of xe:
tile*/physical_vram_size_bytes, as Intel's compute runtime reads it; i915 has lmem_total_bytes
outside the mainline kernel only.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from advisor.probes.gpu import amd_smi
from advisor.probes.gpu.facts import GpuFacts
from advisor.probes.gpu.pci import PciDevice
from advisor.probes.system import number, text

AMD, INTEL = 0x1002, 0x8086
AMD_IDS = ("usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids")
MICRO, MEGA = 1e-6, 1e6


def gpus(cards: tuple[PciDevice, ...], root: Path = Path("/")) -> tuple[GpuFacts, ...]:
    """GPUs by AMD and Intel among the display devices.

    Args:
        cards: all display devices.
        root: folder that contains /usr.
    """
    names = amd_smi.market_names() if any(card.vendor == AMD for card in cards) else {}
    return (
        *(_amd(card, names, root) for card in cards if card.vendor == AMD),
        *(_intel(card) for card in cards if card.vendor == INTEL),
    )


def _amd(card: PciDevice, names: Mapping[str, str], root: Path) -> GpuFacts:
    total = number(card.folder / "mem_info_vram_total")
    used = number(card.folder / "mem_info_vram_used")
    name = names.get(card.bus) or text(card.folder / "product_name") or _listed(card, root)
    return GpuFacts(
        name=name or _bracketed(card.name),
        vendor="AMD",
        memory_total=total,
        memory_free=total - used if total is not None and used is not None else None,
        link_generation_now=card.link_generation_now,
        link_generation_max=card.link_generation_max,
        link_width_now=card.link_width_now,
        link_width_max=card.link_width_max,
        power_limit=_watts(card, "power1_cap"),
        clock_max=_fastest(card.folder / "pp_dpm_sclk"),
        memory_clock_max=_fastest(card.folder / "pp_dpm_mclk"),
        driver=card.driver,
        bus=card.bus,
    )


def _intel(card: PciDevice) -> GpuFacts:
    tiles = [number(path) for path in card.folder.glob("tile*/physical_vram_size_bytes")]
    local = [number(path) for path in card.folder.glob("drm/card*/lmem_total_bytes")]
    return GpuFacts(
        name=_bracketed(card.name),
        vendor="Intel",
        memory_total=sum(size or 0 for size in tiles or local) or None,
        link_generation_now=card.link_generation_now,
        link_generation_max=card.link_generation_max,
        link_width_now=card.link_width_now,
        link_width_max=card.link_width_max,
        power_limit=_watts(card, "power1_max"),
        driver=card.driver,
        bus=card.bus,
    )


def _bracketed(name: str) -> str:
    """Product name, which pci.ids writes after that of the chip: "Navi 31 [RX 7900 XT]"."""
    match = re.search(r"\[(.+)\]", name)
    return match[1] if match else name


def _listed(card: PciDevice, root: Path) -> str:
    """AMD's name for a device and revision, which distinguishes cards with the same chip."""
    pattern = rf"^{card.device:04X},\s*{card.revision:02X},\s*(.+)$"
    for path in AMD_IDS:
        match = re.search(pattern, text(root / path), re.MULTILINE | re.IGNORECASE)
        if match:
            return match[1].strip()
    return ""


def _watts(card: PciDevice, name: str) -> float | None:
    limits = [number(path) for path in sorted(card.folder.glob(f"hwmon/hwmon*/{name}"))]
    return next((limit * MICRO for limit in limits if limit), None)


def _fastest(levels: Path) -> float | None:
    """Highest clock in a file with lines such as "0: 96Mhz *" [Hz]."""
    clocks = re.findall(r"^\d+:\s*(\d+)\s*mhz", text(levels), re.MULTILINE | re.IGNORECASE)
    return max((int(clock) * MEGA for clock in clocks), default=None)
