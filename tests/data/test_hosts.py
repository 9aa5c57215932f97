"""data/hardware/hosts.csv: every row sourced, its bandwidth from its channels, its cores
countable."""

import pytest
from provenance import is_past, is_public

from advisor.catalog.constants import Constants
from advisor.cost_model.processors import vectors
from advisor.machine import from_catalog
from advisor.machine.catalog import HOSTS
from advisor.units import GIB, Quantity

ROWS = HOSTS.rows()
UNPUBLISHED = {"Azure Cobalt 100"}
MEGATRANSFERS = {
    "DDR4": (2133, 3200),
    "DDR5": (4400, 8800),
    "LPDDR4": (3200, 3200),
    "LPDDR4X": (4266, 4267),
    "LPDDR5": (5500, 6400),
    "LPDDR5X": (7467, 9600),
}
"""Slowest and fastest of each kind of memory that JEDEC names and hosts in the file have."""


def test_there_are_at_least_thirty() -> None:
    assert len(ROWS) >= 30


def test_it_has_a_public_source_and_no_date_to_come() -> None:
    for row in ROWS.values():
        assert is_public(row.source)
        assert not row.source_date or is_past(row.source_date)
        assert is_past(row.released) or "(typical)" in row.name


def test_every_row_is_dated() -> None:
    assert all(is_past(row.retrieved) for row in ROWS.values())


def test_bandwidth_is_channels_times_eight_bytes_times_rate() -> None:
    for row in ROWS.values():
        if row.name in UNPUBLISHED:
            assert row.bandwidth_gbs is None
            continue
        assert row.memory_channels is not None
        assert row.memory_mts is not None
        by_hand = row.memory_channels * 8 * row.memory_mts / 1000
        assert row.bandwidth_gbs == pytest.approx(by_hand, rel=0.01)


def test_memory_runs_at_rates_of_its_kind() -> None:
    for row in ROWS.values():
        slowest, fastest = MEGATRANSFERS[row.memory_type]
        assert row.memory_mts is None or slowest <= row.memory_mts <= fastest


def test_cores_can_be_counted() -> None:
    for row in ROWS.values():
        assert 2 <= row.cores <= 256
        assert row.performance_cores is None or 0 <= row.performance_cores <= row.cores
        assert row.threads is None or row.cores <= row.threads <= 2 * row.cores
        assert row.cores % row.sockets == 0
        assert row.pcie_lanes is None or 1 <= row.pcie_lanes <= 256


def test_two_sockets_say_so_and_double_one() -> None:
    for row in ROWS.values():
        assert row.sockets == (2 if row.name.startswith("2x ") else 1)
        single = ROWS.get(row.name.removeprefix("2x "))
        if row.sockets == 2 and single:
            assert row.cores == 2 * single.cores
            assert row.memory_channels == 2 * single.memory_channels
            assert row.instruction_sets == single.instruction_sets


def test_its_arithmetic_and_its_segment_are_known() -> None:
    for row in ROWS.values():
        memory = Quantity.given(64 * GIB)
        host = from_catalog.host(row.name, memory, bandwidth=Quantity.given(50e9))
        assert vectors(host)
        assert 0 < Constants.fitted().value("ram_sustained_share", row.segment) < 1


def test_names_and_aliases_mean_one_host() -> None:
    meant: dict[str, str] = {}
    for row in ROWS.values():
        for spelling in {row.name, *map(str.strip, row.aliases.split(";"))} - {""}:
            assert meant.setdefault(spelling.casefold(), row.name) == row.name


@pytest.mark.parametrize(
    ("name", "gbs"),
    [
        # makers' pages, per socket: channels and rate of the fastest memory they support
        ("Ryzen 9 7950X", 83.2),  # 2 x DDR5-5200
        ("Core i9-14900K", 89.6),  # ark.intel.com: "Max Memory Bandwidth 89.6 GB/s"
        ("EPYC 9654", 460.8),  # amd.com: "Per Socket Mem BW 460.8 GB/s"
        ("EPYC 7763", 204.8),  # amd.com: "Per Socket Mem BW 204.8 GB/s"
        ("Xeon Platinum 8480+", 307.2),  # 8 x DDR5-4800
        ("Ryzen AI Max+ 395", 256),  # 256 bit of LPDDR5X-8000
    ],
)
def test_it_is_as_its_maker_publishes_it(name: str, gbs: float) -> None:
    assert ROWS[name].bandwidth_gbs == pytest.approx(gbs)


@pytest.mark.parametrize(
    "segment", ["desktop", "laptop", "workstation", "server", "unified", "board"]
)
def test_every_kind_of_machine_is_there(segment: str) -> None:
    assert any(row.segment == segment for row in ROWS.values())
