"""Inputs of the machine: GPUs, processor, memory, drive and link."""

from advisor.machine import from_spec
from advisor.machine.catalog import disk_rows, gpu_rows, host_rows, machine_rows
from advisor.ui.sidebar.field_kinds import Field, Pick
from advisor.ui.sidebar.option_words import (
    ANOTHER,
    AS_SEEN,
    AUTO,
    NAMED,
    NO_GPU,
    NONE,
    NVLINK,
    PCI,
    THIS,
)
from advisor.ui.sidebar.registry_fields import number, size
from advisor.units import gibibytes, gigabytes_per_second

CLOUD = "cloud"
"""Kind of the presets that nobody owns."""
ANY_NAME = "Or type any name that people or drivers use"


def machine_fields() -> tuple[Field, ...]:
    """Inputs that describe the machine."""
    return (*_source(), *_gpus(), *_host())


def _source() -> tuple[Field, ...]:
    """Machine at hand, described by its parts, or named."""
    owned = (row.name for row in machine_rows().values() if row.kind != CLOUD)
    rented = (row.name for row in machine_rows().values() if row.kind == CLOUD)
    presets = (*owned, *rented)
    return (
        Pick(
            key="machine", label="Machine", kind="machine", options=(THIS, ANOTHER, NAMED),
            default=THIS,
        ),
        Pick(
            key="owned", label="Machine", kind="machine", options=presets, default=presets[0],
            free=True,
            help="Choose one, or type what it is called: Mac Studio M3 Ultra 512GB, Legion with "
            "4070, 2x 3090 Threadripper, g6e.xlarge.",
        ),
    )  # fmt: skip


def _gpus() -> tuple[Field, ...]:
    gpus = tuple(gpu_rows())
    return (
        Pick(
            key="gpu", label="GPU", kind="GPU", options=(NO_GPU, *gpus), default="RTX 3090",
            free=True, help=f"{ANY_NAME}: 4090 laptop, 2x 3090, NVIDIA GeForce RTX 3060.",
        ),
        Pick(
            key="mygpu", label="GPU", kind="GPU", options=(AS_SEEN, NO_GPU, *gpus), default=AS_SEEN,
            free=True,
            help=f"Choose one to see what this machine would do with it. {ANY_NAME}.",
        ),
        number("gpus", "gpu_count", 1, default=1),
        Pick(
            key="gpu2", label="Second GPU of another kind", kind="GPU", options=(NONE, *gpus),
            default=NONE, free=True,
            help="A second card of another kind, as many people have after an upgrade.",
        ),
        Pick(
            key="bridge", label="Link between the two", kind="link", options=(PCI, NVLINK),
            default=PCI,
            help="Connection between the two cards, which matters when they share layers.",
        ),
    )  # fmt: skip


def _host() -> tuple[Field, ...]:
    links = (AUTO, *(f"PCIe {gen} x{lanes}" for gen in (3, 4, 5) for lanes in (4, 8, 16)))
    return (
        Pick(
            key="cpu", label="Processor", kind="CPU", options=tuple(host_rows()),
            default=from_spec.TYPICAL_HOST, free=True,
            help=f"{ANY_NAME}: i7-13700K, 2x EPYC 7763, Ryzen 7 5800X3D.",
        ),
        size("ram", "ram_gb", gibibytes, default=from_spec.TYPICAL_RAM_GIB),
        size("pool", "ram_gb", gibibytes, placeholder="as in the catalogue", label="Memory (GB)"),
        size("ramspeed", "ram_gbs", gigabytes_per_second, placeholder="estimated"),
        Pick(
            key="drive", label="Drive", kind="drive", options=tuple(disk_rows()),
            default=from_spec.TYPICAL_DISK,
        ),
        size("drivespeed", "disk_gbs", gigabytes_per_second, placeholder="estimated"),
        Pick(
            key="link", label="Link to the GPU", kind="link", options=links, default=AUTO,
            help="Auto: the link of the GPU's datasheet.",
        ),
    )  # fmt: skip
