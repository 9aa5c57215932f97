"""A GPU with measured rates: replaced values, and values that are only lowered."""

from dataclasses import fields, replace

import pytest

from advisor.calibration import local_machine
from advisor.calibration import local_machine as measured_gpu
from advisor.calibration.local_machine import SOURCE, Calibration
from advisor.catalog.constants import Constants
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import gpu_seconds
from advisor.cost_model.schedule import Transfer
from advisor.cost_model.timing import link_seconds
from advisor.machine import from_catalog
from advisor.machine.spec import MachineSpec
from advisor.probes.gpu.detect import GpuFacts
from advisor.probes.measurement import Measurement
from advisor.units import Provenance

CARD = GpuFacts(
    name="NVIDIA GeForce RTX 4090",
    vendor="NVIDIA",
    memory_total=24564 * 2**20,
    link_generation_max=4,
    link_width_now=16,
)
MEASURED = {
    "h2d_pinned": 13.1e9,
    "h2d_pageable": 7.4e9,
    "zero_copy_read": 9.6e9,
    "pcie_generation": 4.0,
    "pcie_width": 8.0,
    "device_read": 921e9,
}


def kept(**values: float) -> Calibration:
    return Calibration(
        measurements={
            name: Measurement(
                name=name,
                value=value,
                unit="B/s",
                spread=0.01,
                threads=1,
                when="2026-11-20T10:00:00+00:00",
            )
            for name, value in values.items()
        }
    )


@pytest.fixture
def this_machine(monkeypatch: pytest.MonkeyPatch):
    """This machine, pretended to have some cards and some measurements."""

    def this_machine(values: dict[str, float], cards=(CARD,), **typed: object):
        monkeypatch.setattr(local_machine.gpu_probe, "gpus", lambda: (cards, ()))
        monkeypatch.setattr(local_machine, "load", lambda: kept(**values))
        return local_machine.this_machine(MachineSpec(**typed)).gpus

    return this_machine


def test_measured_copies_replace_the_catalogues(this_machine):
    (gpu,) = this_machine(MEASURED)
    figures = (gpu.link.pinned, gpu.link.pageable, gpu.link.zero_copy)
    assert [figure.value for figure in figures] == [13.1e9, 7.4e9, 9.6e9]
    assert {(figure.kind, figure.source, figure.date) for figure in figures} == {
        (Provenance.MEASURED, SOURCE, "2026-11-20")
    }
    assert gpu.link.name == "PCIe 4 x8"


def test_they_reach_the_prediction(this_machine):
    (gpu,) = this_machine(MEASURED)
    seconds = link_seconds(13.1e9, gpu.link, Transfer.PINNED, Constants.fitted())
    assert seconds == pytest.approx(1.0, rel=1e-4)  # 13.1 GB at 13.1 GB/s


def test_unmeasured_rates_follow_from_pinned_copies(this_machine):
    (gpu,) = this_machine({"h2d_pinned": 20e9})
    copied = Constants.fitted().value("pageable_copy")
    assert gpu.link.pageable.value == pytest.approx(min(20e9, copied))
    assert gpu.link.pageable.kind is Provenance.DERIVED
    assert gpu.link.name == "PCIe 4 x16"


@pytest.mark.parametrize("typed", [{"pcie_gbs": 9}, {"pcie_gen": 3}, {"pcie_lanes": 4}])
def test_a_typed_link_takes_precedence(this_machine, typed):
    (gpu,) = this_machine(MEASURED | {"device_read": 500e9}, **typed)
    (untouched,) = this_machine({}, **typed)
    assert gpu.link == untouched.link
    assert gpu.bandwidth.kind is Provenance.MEASURED


def test_a_healthy_card_keeps_its_datasheet(this_machine):
    # clpeak reads 921 GB/s on an RTX 4090 of 1008: github.com/krrishnarraj/clpeak/issues/106
    (gpu,) = this_machine(MEASURED)
    assert (gpu.bandwidth.value, gpu.bandwidth.kind) == (1008e9, Provenance.DATASHEET)


def test_a_slowed_card_has_a_lower_peak(this_machine):
    (gpu,) = this_machine(MEASURED | {"device_read": 450e9})
    # the slowest healthy cards read 0.9 of their peak
    assert gpu.bandwidth.value == pytest.approx(500e9)
    assert gpu.bandwidth.kind is Provenance.MEASURED
    assert "read / 0.9" in gpu.bandwidth.source


def test_its_losses_count_once(this_machine):
    (healthy,), (slowed,) = (
        this_machine({"device_read": rate}) for rate in (0.9 * 1008e9, 0.45 * 1008e9)
    )
    load = Load(**{field.name: 0.0 for field in fields(Load)} | {"weights": 10e9})
    time, other = (gpu_seconds(load, gpu, Constants.fitted()) for gpu in (healthy, slowed))
    assert other.moving == pytest.approx(2 * time.moving)


def test_each_card_has_its_own_figures(this_machine):
    first, second = this_machine(
        {"h2d_pinned": 25e9, "h2d_pinned_gpu1": 6e9}, cards=(CARD, replace(CARD, bus="other"))
    )
    assert (first.link.pinned.value, second.link.pinned.value) == (25e9, 6e9)


def test_unified_memory_has_no_link_to_measure():
    gpu = from_catalog.gpu("GB10")
    assert measured_gpu.gpu(gpu, 0, kept(h2d_pinned=20e9)).link == gpu.link


def test_a_link_that_is_not_pcie_keeps_its_name():
    gpu = from_catalog.gpu("GH200 96GB")
    measured = kept(h2d_pinned=400e9, pcie_generation=5.0, pcie_width=16.0)
    assert measured_gpu.gpu(gpu, 0, measured).link.name == "NVLink-C2C"


def test_nothing_measured_changes_nothing():
    gpu = from_catalog.gpu("RTX 4090")
    assert measured_gpu.gpu(gpu, 0, Calibration()) == gpu
