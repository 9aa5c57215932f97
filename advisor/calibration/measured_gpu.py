"""A GPU with the rates that were measured on it, where the catalogue has datasheet values."""

from dataclasses import replace

from advisor.calibration.local_store import Calibration
from advisor.catalog.constants import fitted_constants
from advisor.machine import from_catalog
from advisor.machine.machine import Gpu, Link
from advisor.machine.quantity import Quantity
from advisor.probes.gpu.facts import figure_name


def gpu(card: Gpu, place: int, measured: Calibration, *, keep_link: bool = False) -> Gpu:
    """GPU with measured rates where there are any.

    Args:
        card: as the catalogue and its driver have it.
        place: in the order of the drivers, the first being 0.
        measured: what the probes found.
        keep_link: its link was typed in, which wins over what was measured.
    """
    if not keep_link and not card.unified:
        card = replace(card, link=_link(card.link, place, measured))
    read = measured.figure(figure_name("device_read", place))
    return card if read is None else replace(card, bandwidth=peak(card.bandwidth, read))


def peak(sheet: Quantity, read: Quantity) -> Quantity:
    """Peak memory bandwidth of a GPU whose plain read was measured [B/s].

        peak = min( datasheet , read / share )

    The shares of peak that runtimes reach were fitted against the datasheets of healthy GPUs. A
    measured read that took the peak's place would count its own losses and those of the share. So
    it only lowers the peak, and only where the GPU reads less than the slowest healthy one would
    (`device_read_share`): where it is slowed by heat or power, has slower memory than its name
    says, or is a part of a card.

    Args:
        sheet: datasheet peak [B/s].
        read: what a kernel that only reads reached [B/s].
    """
    share = fitted_constants().value("device_read_share")
    reached = replace(read, value=read.value / share, source=f"{read.source}, read / {share:g}")
    return reached if reached.value < sheet.value else sheet


def _link(link: Link, place: int, measured: Calibration) -> Link:
    """Link with measured copy rates; missing ones follow from pinned copies."""

    def figure(name: str) -> Quantity | None:
        return measured.figure(figure_name(name, place))

    pinned = figure("h2d_pinned")
    if pinned is None:
        return link
    derived = from_catalog.given_link(pinned)
    generation, lanes = figure("pcie_generation"), figure("pcie_width")
    return replace(
        derived,
        name=f"PCIe {generation.value:.0f} x{lanes.value:.0f}"
        if generation and lanes and link.name.startswith("PCIe")
        else link.name,
        pageable=figure("h2d_pageable") or derived.pageable,
        zero_copy=figure("zero_copy_read") or derived.zero_copy,
    )
