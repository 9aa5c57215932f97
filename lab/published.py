"""Rows of measurement files: who published each on what machine, and its RAM in theory."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from advisor.catalog.csv_tables import DATA
from advisor.evidence.accuracy.scoring import source_of
from advisor.evidence.published.engines import engine
from advisor.evidence.published.machine import looked_up, ram_peak
from advisor.evidence.published.row import PublishedRow
from advisor.machine.catalog import HOSTS
from advisor.units import GB

PARTS = ("", "_more", "_2026", "_autumn", "_freed")
"""Ends of the names of the files of published rows, oldest first."""
SENT = "_sent"  # end of those that `lab.intake` writes
FOLDER = DATA / "measurements"


def row_files(kind: str, *, since: int = 0) -> tuple[Path, ...]:
    """Files of a kind of rows ("llama_cpp"), from a place of `PARTS` on, and those that people sent
    where there are any.
    """
    sent = FOLDER / f"{kind}{SENT}.csv"
    published = (FOLDER / f"{kind}{part}.csv" for part in PARTS[since:])
    return (*published, *([sent] if sent.exists() else ()))


def published_rows(path: Path) -> Iterator[PublishedRow]:
    """Rows of a measurement file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from map(PublishedRow, csv.DictReader(file))


def publisher_of(row: PublishedRow) -> str:
    """Person, repository or site that published a row: the stated one, else its source."""
    return row.publisher or source_of(row.source_url)


def hardware_of(row: PublishedRow) -> str:
    """GPU and processor of a row; the GPU alone for GPU-resident runs."""
    gpu = "" if row.category == "cpu" else row.gpu
    if row.category == "resident":
        cpu = ""
    else:
        cpu = row.cpu
    return " and ".join(filter(None, (gpu, cpu)))


def group_of(row: PublishedRow) -> str:
    """Publisher and hardware of a published row."""
    return f"{publisher_of(row)} on {hardware_of(row)}"


def ram_in_theory(row: PublishedRow, host: str) -> float | None:
    """Theoretical RAM bandwidth of a row with a processor of the catalogue; None where its rate is
    sustained or unknown [B/s].
    """
    listed = looked_up(HOSTS.find, host)
    if listed is None:
        return None
    if row.ram_bw_gbs:
        if ram_peak(row):
            return row.ram_bw_gbs * GB
        return None
    if listed.bandwidth_gbs is None:
        return None
    if row.ram_mts:
        return (row.ram_channels or listed.memory_channels or 2.0) * 8e6 * row.ram_mts
    return listed.bandwidth_gbs * GB


def engine_publishers(paths: Iterable[Path]) -> Mapping[str, int]:
    """Number of publishers of each engine in some files, by the key of its runtime."""
    names = defaultdict[str, set[str]](set)
    for row in (row for path in paths for row in published_rows(path)):
        named = engine(row.runtime, row.category)
        if named is not None:
            names[named.key].add(publisher_of(row))
    return {key: len(publishers) for key, publishers in names.items()}
