"""GPU of the catalogue with measured rates in place of datasheet values."""

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
        card: GPU of the catalogue, with the driver's memory size and link.
        place: index in the drivers' order, from 0.
        measured: measurements to use.
        keep_link: the link was typed, so that measured link rates are ignored.
    """
    if not keep_link and not card.unified:
        card = replace(card, link=_link(card.link, place, measured))
    read = measured.figure(figure_name("device_read", place))
    return card if read is None else replace(card, bandwidth=peak(card.bandwidth, read))


def peak(sheet: Quantity, read: Quantity) -> Quantity:
    """Peak memory bandwidth of a GPU with a measured read rate [B/s].

        peak = min( datasheet , read / share )

    The fitted shares of peak refer to datasheet peaks. A measured read rate in place of the peak
    would count losses twice. It therefore only lowers the peak, where the GPU reads more slowly
    than the slowest healthy GPU (`device_read_share`): limited by heat or power, with slower memory
    than its name implies, or a partition of a card.

    Args:
        sheet: datasheet peak [B/s].
        read: rate of a kernel that only reads [B/s].
    """
    share = fitted_constants().value("device_read_share")
    reached = replace(read, value=read.value / share, source=f"{read.source}, read / {share:g}")
    return reached if reached.value < sheet.value else sheet


def _link(link: Link, place: int, measured: Calibration) -> Link:
    """Link with measured copy rates; missing ones are derived from pinned copies."""

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
