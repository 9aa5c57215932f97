"""Rows of processors that the catalogue has no row of: by their generation, with several sockets,
or with the cores that a system states.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from advisor.machine.rows import CpuGenerationRow, CpuModelRow, HostRow


def apple_cores(host: HostRow, text: str) -> HostRow:
    """Apple chip with the cores that its system states: "12P+4E"."""
    match = re.search(r"\b(\d{1,2})p\s*\+\s*(\d{1,2})e\b", text)
    if match is None or host.vendor != "Apple":
        return host
    fast, slow = int(match[1]), int(match[2])
    return replace(host, cores=fast + slow, performance_cores=fast, threads=fast + slow)


def several_sockets(row: HostRow, sockets: int, hosts: Mapping[str, HostRow]) -> HostRow:
    """Row of several packages on one board."""
    if sockets == 1 or row.sockets > 1:
        return row
    known = hosts.get(f"{sockets}x {row.name}")
    if known is not None:
        return known

    def times(value: float | None) -> float | None:
        return None if value is None else value * sockets

    return replace(
        row,
        name=f"{sockets}x {row.name}",
        aliases="",
        cores=row.cores * sockets,
        performance_cores=row.performance_cores and row.performance_cores * sockets,
        threads=row.threads and row.threads * sockets,
        sockets=sockets,
        ccds=row.ccds and row.ccds * sockets,
        memory_channels=times(row.memory_channels),
        bandwidth_gbs=times(row.bandwidth_gbs),
        max_memory_gib=times(row.max_memory_gib),
        llc_mib=times(row.llc_mib),
        pcie_lanes=row.pcie_lanes and row.pcie_lanes * sockets,
    )


def derived_row(
    name: str, generation: CpuGenerationRow, cores: int, model: CpuModelRow | None
) -> HostRow:
    """Row of a model, from its generation and from what the list has of the model itself."""
    channels = (model and model.memory_channels) or generation.memory_channels
    rate = (model and model.memory_mts) or generation.memory_mts
    return HostRow(
        name=name,
        aliases="",
        vendor=generation.vendor,
        segment=generation.segment,
        cores=cores,
        performance_cores=model.performance_cores if model else None,
        threads=None,
        sockets=1,
        ccds=None,
        memory_type=(model and model.memory_type) or generation.memory_type,
        memory_channels=channels,
        memory_mts=rate,
        bandwidth_gbs=channels * 8 * rate / 1000,
        max_memory_gib=None,
        instruction_sets=generation.instruction_sets,
        llc_mib=None,
        pcie_gen=None,
        pcie_lanes=None,
        released="",
        source=generation.source,
        source_date=generation.source_date,
        retrieved=generation.retrieved,
        note=generation.note,
    )


SMALL = {
    "pro": "PRO",
    "epyc": "EPYC",
    "ai": "AI",
    "hx": "HX",
    "fx": "FX",
    "plus": "Plus",
    "ampereone": "AmpereOne",
    "lcd": "LCD",
    "ii": "II",
    "oled": "OLED",
}


def title(candidate: str) -> str:
    """Name in the vendor's spelling: "ryzen 9 9955hx3d" is "Ryzen 9 9955HX3D"."""
    words = []
    for word in candidate.split():
        if word in SMALL:
            words.append(SMALL[word])
        elif re.fullmatch(r"v\d|[wim]\d-\w+", word):
            words.append(word[0] + word[1:].upper() if "-" in word else word)
        else:
            words.append(word.upper() if any(c.isdigit() for c in word) else word.title())
    return " ".join(words)
