"""data/hardware/disks.csv: from a hard disk to RAID 0 of PCIe 5 drives, none faster than its
link."""

import pytest
from provenance import is_past, is_public

from advisor.machine.catalog import DISKS

ROWS = DISKS.rows()

# Lanes x transfers x coding / 8: SATA 6 Gbit/s x 8b/10b, USB 10 Gbit/s x 128b/132b, PCIe x4 of
# 8, 16 and 32 GT/s x 128b/130b [GB/s of one drive].
LINK_LIMIT = {
    "SATA": 0.6,
    "USB 3.2 Gen 2": 1.22,
    "PCIe 3.0 x4": 3.94,
    "PCIe 4.0 x4": 7.88,
    "PCIe 5.0 x4": 15.76,
}


def test_it_has_a_public_source_and_no_date_to_come() -> None:
    for row in ROWS.values():
        assert is_public(row.source)
        assert all(is_past(when) for when in (row.source_date, row.released) if when)


def test_every_row_is_dated() -> None:
    assert all(is_past(row.retrieved) for row in ROWS.values())


def test_values_are_plausible() -> None:
    for row in ROWS.values():
        assert 1 <= row.drives <= 8
        assert 0.1 <= row.sequential_read_gbs <= 15 * row.drives
        iops = row.random_read_4k_iops
        assert iops is None or 75 * row.drives <= iops <= 3e6 * row.drives


def test_no_drive_is_faster_than_its_link() -> None:
    for row in ROWS.values():
        limit = next(
            (gbs for link, gbs in LINK_LIMIT.items() if row.interface.startswith(link)), None
        )
        if limit is not None:
            assert row.sequential_read_gbs <= limit * row.drives


@pytest.mark.parametrize("generation", [3, 4, 5])
@pytest.mark.parametrize("drives", [2, 4])
def test_raid_0_reads_as_fast_as_its_drives_together(generation: int, drives: int) -> None:
    single = ROWS[f"NVMe PCIe {generation}.0 x4 (typical)"]
    raid = ROWS[f"RAID 0, {drives}x NVMe PCIe {generation}.0 (theory)"]
    assert raid.drives == drives
    assert raid.sequential_read_gbs == drives * single.sequential_read_gbs
    assert raid.random_read_4k_iops == drives * single.random_read_4k_iops


def test_measured_raid_stays_below_theory() -> None:
    # DeepNVMe, DeepSpeed blog of 2024-08: 4 drives of 3.25 GB/s each, 13 GB/s in theory
    assert ROWS["RAID 0, 4x NVMe Gen4 (DeepNVMe, measured)"].sequential_read_gbs < 4 * 3.25


def test_each_generation_is_faster_than_the_one_before() -> None:
    names = [
        "7200 rpm HDD (typical)",
        "SATA SSD (typical)",
        "USB 3.2 Gen 2 external SSD (typical)",
        *(f"NVMe PCIe {generation}.0 x4 (typical)" for generation in (3, 4, 5)),
    ]
    rates = [ROWS[name].sequential_read_gbs for name in names]
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    ("name", "gbs"),
    [
        # up to so many MB/s on the makers' pages
        ("Samsung 970 EVO Plus", 3.5),
        ("Samsung 980 PRO", 7.0),
        ("Samsung 990 PRO", 7.45),
        ("Crucial T705", 14.5),
    ],
)
def test_it_is_as_its_maker_publishes_it(name: str, gbs: float) -> None:
    assert ROWS[name].sequential_read_gbs == pytest.approx(gbs, rel=0.02)


def test_names_and_aliases_mean_one_drive() -> None:
    meant: dict[str, str] = {}
    for row in ROWS.values():
        for spelling in {row.name, *map(str.strip, row.aliases.split(";"))} - {""}:
            assert meant.setdefault(spelling.casefold(), row.name) == row.name
