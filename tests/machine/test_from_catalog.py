"""Every part of the catalogue made into the noun that the cost model takes."""

import pytest

from advisor.errors import InputError
from advisor.machine import from_catalog
from advisor.machine.catalog import DISKS, GPUS, HOSTS, published
from advisor.machine.machine import Link
from advisor.units import GB, GIB, MIB, Provenance, Quantity


def test_a_gpu_in_si_units_with_its_origin() -> None:
    gpu = from_catalog.gpu("RTX 3090")
    assert (gpu.memory.value, gpu.bandwidth.value) == (24_126 * MIB, 936 * GB)  # llama.cpp's log
    assert gpu.tensor_flops["fp16"] == pytest.approx(71e12, rel=0.01)
    assert {gpu.memory.kind, gpu.bandwidth.kind} == {Provenance.DATASHEET}
    assert gpu.bandwidth.source.startswith("https://")
    assert gpu.bandwidth.date


def test_every_gpu_can_be_made(subtests: pytest.Subtests) -> None:
    for name in GPUS.rows():
        with subtests.test(str(name)):
            gpu = from_catalog.gpu(name)
            rates = (gpu.link.pinned, gpu.link.pageable, gpu.link.zero_copy)
            assert all(0 < rate.value <= gpu.bandwidth.value for rate in rates)
            assert all(rate.kind is Provenance.DERIVED for rate in rates)
            assert max(gpu.tensor_flops.values()) > 0
            assert gpu.memory.value <= GPUS.rows()[name].memory_gib * GIB


def test_every_host_can_be_made(subtests: pytest.Subtests) -> None:
    for name, row in HOSTS.rows().items():
        with subtests.test(name):
            if row.bandwidth_gbs is None:
                with pytest.raises(InputError, match="give it in GB/s"):
                    from_catalog.host(name, Quantity.given(64 * GIB))
                continue
            host = from_catalog.host(name, Quantity.given(64 * GIB))
            assert 0 < host.bandwidth.value < row.bandwidth_gbs * GB
            of_page = name in published("RAM")
            assert host.bandwidth.kind is (Provenance.DERIVED if of_page else Provenance.ASSUMED)
            assert host.cores >= 1


def test_a_board_reads_ram_at_the_rate_that_stream_measured_on_it() -> None:
    # BCM2711: 5.56 GB/s of 32 bits x 3200 MT/s = 12.8 GB/s (sci-pi.org.uk/bench/stream.html)
    pi = from_catalog.host("Raspberry Pi 4", Quantity.given(8 * GIB))
    assert pi.bandwidth.value == 5.56 * GB
    assert pi.bandwidth.source == "https://www.sci-pi.org.uk/bench/stream.html"
    assert all(name in HOSTS.rows() for name in published("RAM"))
    assert all(
        row.value < (HOSTS.rows()[name].bandwidth_gbs or 0.0)
        for name, row in published("RAM").items()
    )


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        # four modules with a vector unit each; sixteen cores in eight modules; no modules
        ("FX-8320", 4),
        ("FX-4100", 2),
        ("Opteron 6378", 8),
        ("2x Opteron 6378", 16),
        ("A4-5000", 4),
        ("Phenom II X4 955", 4),
        ("Opteron 6172", 12),
        ("Core i7-3770", 4),
    ],
)
def test_cores_that_share_a_vector_unit_count_once(name: str, threads: int) -> None:
    assert from_catalog.usual_threads(HOSTS.find(name)) == threads


def test_every_drive_can_be_made(subtests: pytest.Subtests) -> None:
    for name, row in DISKS.rows().items():
        with subtests.test(name):
            rate = from_catalog.disk(name).sequential
            assert rate.value == row.sequential_read_gbs * GB
            assert rate.kind is Provenance.DATASHEET


@pytest.mark.parametrize(("generation", "lanes", "of_sixteen"), [(4, 16, 1), (4, 8, 2), (3, 4, 4)])
def test_lanes_share_a_link(generation: int, lanes: int, of_sixteen: int) -> None:
    whole = Link.pcie(generation, 16)
    part = Link.pcie(generation, lanes)
    assert part.pinned.value * of_sixteen == pytest.approx(whole.pinned.value)
    assert part.name == f"PCIe {generation} x{lanes}"


def test_ways_over_a_link_are_ordered() -> None:
    # Pageable memory is copied once more, and a kernel that reads over the link waits for it.
    link = Link.pcie(5, 16)
    assert link.pageable.value < link.pinned.value
    assert link.zero_copy.value < link.pinned.value


def test_a_given_rate_is_kept() -> None:
    assert Link.given(Quantity.given(20e9)).pinned == Quantity.given(20e9)


@pytest.mark.parametrize(
    ("name", "has"),
    [("P100 PCIe 16GB", 0.0), ("RX 5700 XT", 0.0), ("P40", 1.0), ("RX 6800 XT", 1.0),
     ("RTX 4090", 1.0), ("Apple M4 Max 40c", 1.0), ("Arc B580", 1.0)],
)  # fmt: skip
def test_cards_without_dot_products_of_integers(name: str, has: float) -> None:
    # Compute capability 6.0 and RDNA 1 have none; Metal's kernels multiply in floats.
    assert from_catalog.gpu(name).dot_products == has


@pytest.mark.parametrize(
    ("name", "segment"),
    [("11th Gen Intel Core i7-1185G7 @ 3.00GHz", "thin laptop"),
     ("Core Ultra 7 258V", "thin laptop"),
     ("Intel Core i5-6300U CPU @ 2.40GHz", "thin laptop"), ("Core i7-12700H", "laptop"),
     ("AMD Ryzen 7 PRO 5850U with Radeon Graphics", "thin laptop"), ("Ryzen 9 7940HS", "laptop"),
     ("Ryzen 5 5600G", "desktop"), ("Core i7-6700", "desktop"), ("Apple M4 Max", "Apple"),
     ("EPYC 9175F", "server"), ("EPYC 9355", "server")],
)  # fmt: skip
def test_chips_with_another_clock_are_a_segment_of_their_own(name: str, segment: str) -> None:
    assert from_catalog.ram_segment(HOSTS.find(name)) == segment


@pytest.mark.parametrize(
    ("fast", "slow", "ratio"),
    [("EPYC 9175F", "EPYC 9115", 4.2 / 2.6),  # GHz of AMD's pages, base
     ("2x EPYC 9355", "EPYC 9355", 1.0),
     ("AMD EPYC 9355 32-Core Processor", "Xeon Platinum 8480+", 3.55 / 2.0),
     ("Core i7-12700", "Core i7-12700T", (2.1 / 1.4) ** 0.4),
     ("Core i5-6300U", "Core i7-6600U", 1.0)],  # thin laptops: the machine's maker decides
)  # fmt: skip
def test_clock_of_all_cores_follows_the_base_clock(fast: str, slow: str, ratio: float) -> None:
    beside = from_catalog.clock_beside(HOSTS.find(fast))
    assert beside / from_catalog.clock_beside(HOSTS.find(slow)) == pytest.approx(ratio)


def test_a_processor_of_unknown_clock_has_the_usual_one() -> None:
    typical = HOSTS.find("Server 8-channel DDR4-3200 (typical)")
    assert from_catalog.clock_beside(typical) == 1.0
    assert HOSTS.known("a processor that nobody knows") is None
    assert from_catalog.clock_beside(None) == 1.0
