"""Display devices from /sys of Linux, with names from the system's pci.ids."""

import re
from dataclasses import dataclass
from pathlib import Path

from advisor.probes.system import number, text

_GENERATION = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_ID_LISTS = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids")


@dataclass(frozen=True, kw_only=True)
class PciDevice:
    """One display device.

    Attributes:
        folder: its folder in /sys.
        bus: PCI address ("0000:01:00.0"); empty for a device that is not on PCI.
        vendor: PCI number of the vendor.
        device: PCI number of the device.
        revision: revision of the device.
        name: name in pci.ids, else the numbers of vendor and device.
        driver: kernel module in use; None for none.
        link_generation_now: present PCIe generation; lower while the GPU is idle.
        link_generation_max: highest PCIe generation of card and slot together.
        link_width_now: PCIe lanes in use.
        link_width_max: most PCIe lanes of card and slot together.
    """

    folder: Path
    bus: str
    vendor: int
    device: int
    revision: int
    name: str
    driver: str | None
    link_generation_now: int | None
    link_generation_max: int | None
    link_width_now: int | None
    link_width_max: int | None


def display_devices(root: Path = Path("/")) -> tuple[PciDevice, ...]:
    """Display devices by card number; empty without /sys."""
    cards = (path for path in (root / "sys/class/drm").glob("card*") if path.name[4:].isdigit())
    ordered = sorted(cards, key=lambda path: int(path.name[4:]))
    devices = (_device(root, (path / "device").resolve()) for path in ordered)
    return tuple(device for device in devices if device is not None)


def _device(root: Path, folder: Path) -> PciDevice | None:
    vendor, device = _hex(folder / "vendor"), _hex(folder / "device")
    if vendor is None or device is None:
        return None
    driver = folder / "driver"
    slot = _slot(folder)
    return PciDevice(
        folder=folder,
        bus=folder.name.casefold() if _bridges(folder) else "",
        vendor=vendor,
        device=device,
        revision=_hex(folder / "revision") or 0,
        name=_name(root, vendor, device),
        driver=driver.resolve().name if driver.exists() else None,
        link_generation_now=_generation(slot, "current_link_speed"),
        link_generation_max=_least(
            _generation(slot, "max_link_speed"), _generation(_card(slot, folder), "max_link_speed")
        ),
        link_width_now=number(slot / "current_link_width") or None,
        link_width_max=_least(
            number(slot / "max_link_width"), number(_card(slot, folder) / "max_link_width")
        ),
    )


def _bridges(folder: Path) -> tuple[Path, ...]:
    """PCI devices from the root port down to the device itself."""
    chain = (folder, *folder.parents)
    return tuple(reversed([part for part in chain if re.fullmatch(r"\w+:\w+:\w+\.\w", part.name)]))


def _slot(folder: Path) -> Path:
    """Root port, whose link is the slot's.

    On cards with a switch of their own (AMD, Intel Arc) the device shows the link behind the
    switch.
    """
    return next(iter(_bridges(folder)), folder)


def _card(slot: Path, folder: Path) -> Path:
    """Card's end of the slot's link."""
    chain = _bridges(folder)
    return chain[1] if len(chain) > 1 else slot


def _generation(folder: Path, name: str) -> int | None:
    match = re.match(r"([\d.]+) GT/s", text(folder / name))
    return _GENERATION.get(match[1]) if match else None


def _least(*sides: int | None) -> int | None:
    return min((side for side in sides if side), default=None)


def _hex(path: Path) -> int | None:
    words = text(path)
    return int(words, 16) if re.fullmatch(r"0x[0-9a-fA-F]+", words) else None


def _name(root: Path, vendor: int, device: int) -> str:
    for path in _ID_LISTS:
        names = text(root / path)
        block = re.search(rf"^{vendor:04x}  .*\n((?:[\t#].*\n)*)", names, re.MULTILINE)
        match = block and re.search(rf"^\t{device:04x}  (.+)$", block[1], re.MULTILINE)
        if match:
            return str(match[1])
    return f"GPU {vendor:04x}:{device:04x}"
