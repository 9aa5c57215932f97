"""GPUs of a Mac by sysctl and system_profiler. Never raises."""

import json
import platform
import re
from functools import cache
from typing import Any

from advisor.probes.gpu.facts import GpuFacts
from advisor.probes.system import command, sysctl
from advisor.units import GIB, MIB

_UNIT = {"MB": MIB, "GB": GIB}


def gpus() -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPUs, and remarks on them, a sentence each."""
    cards = _cards()
    if platform.machine() == "arm64":
        return _own_chip(cards)
    gpus_seen = tuple(_card(card) for card in cards)
    return gpus_seen, () if gpus_seen else ("No GPU of this Mac can be seen; choose one by hand.",)


def _own_chip(cards: tuple[dict[str, Any], ...]) -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPU of an Apple chip; chips of the same name differ in their GPU cores."""
    chip = command("sysctl", "-n", "machdep.cpu.brand_string") or "Apple GPU"
    cores = next((str(card["sppci_cores"]) for card in cards if "sppci_cores" in card), "")
    gpu = GpuFacts(
        name=f"{chip} {cores}-core GPU" if cores.isdigit() else chip,
        vendor="Apple",
        memory_total=sysctl("hw.memsize"),
        unified=True,
    )
    limit = sysctl("iogpu.wired_limit_mb")
    share = f"{limit} MiB of it" if limit else "about two thirds to three quarters of it"
    return (gpu,), (f"{chip}: GPU and host share one memory; the GPU may use {share}.",)


def _card(card: dict[str, Any]) -> GpuFacts:
    """GPU of a Mac with an Intel processor; `spdisplays_vram` is text such as "8 GB"."""
    size = re.match(r"(\d+) (MB|GB)", str(card.get("spdisplays_vram", "")))
    name = str(card.get("sppci_model") or card.get("_name") or "GPU")
    maker = re.search(r"AMD|Intel|NVIDIA", f"{card.get('spdisplays_vendor', '')} {name}")
    return GpuFacts(
        name=name,
        vendor=maker[0] if maker else "",
        memory_total=int(int(size[1]) * _UNIT[size[2]]) if size else None,
    )


@cache
def _cards() -> tuple[dict[str, Any], ...]:
    """Entries of system_profiler, which takes up to a second; empty on failure."""
    try:
        report = json.loads(command("system_profiler", "-json", "SPDisplaysDataType"))
        return tuple(entry for entry in report["SPDisplaysDataType"] if isinstance(entry, dict))
    except (ValueError, KeyError, TypeError):
        return ()
