"""Links that open Advise with the machine of a row filled in."""

from dataclasses import replace
from typing import Any

from advisor.advice.finder.search import Hit
from advisor.calibration.imported_store import THIS
from advisor.machine.catalog import host_rows, machine_rows
from advisor.machine.machine import Machine
from advisor.request.choices import listed
from advisor.request.request import Request
from advisor.ui.advise.ways import of_machine
from advisor.ui.question import current
from advisor.units import GIB


def advise_link(hit: Hit, request: Request, host: Machine) -> str:
    """Address of the Advise page for a row.

    Args:
        hit: row.
        request: what is asked.
        host: machine that the cards are put into.
    """
    form = hit.speed.format.removesuffix("-hf")
    shown = replace(
        request,
        format=form if form in listed("format") else None,
        kv_type=hit.kv_type,
        context=int(hit.context),
        runtime=hit.speed.runtime if hit.speed.runtime in listed("runtime") else None,
        **_machine(hit, request, host),
    )
    return current.link(shown)


def _machine(hit: Hit, request: Request, host: Machine) -> dict[str, Any]:
    if hit.whole and hit.name in machine_rows():
        return of_machine(machine=hit.name)
    if hit.whole:
        memory = float(hit.machine.host.memory.value) / GIB
        return of_machine(gpu=hit.machine.gpus[0].name, ram_gb=memory)
    if (request.machine or "").casefold() == THIS:
        return {"gpu": hit.name, "gpu_count": hit.count}
    return of_machine(
        gpu=hit.name,
        gpu_count=hit.count,
        cpu=host.host.name if host.host.name in host_rows() else None,
        ram_gb=round(float(host.host.memory.value) / GIB, 2),
        ram_gbs=request.ram_gbs,
        disk=request.disk,
        disk_gbs=request.disk_gbs,
    )
