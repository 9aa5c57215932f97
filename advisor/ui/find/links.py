"""Links that open Advise with the machine of a row filled in."""

from dataclasses import replace
from typing import Any

from advisor.advice.finder.search import Hit
from advisor.formatting import context_size
from advisor.machine.catalog import host_rows, machine_rows
from advisor.machine.machine import Machine
from advisor.ui.parts.session import base
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.field_kinds import Pick
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.option_words import ANOTHER, ANY, NAMED, THIS
from advisor.units import GB, GIB


def advise_link(hit: Hit, choices: Choices, host: Machine) -> str:
    """Address of the Advise page for a row.

    Args:
        hit: row.
        choices: choices of the sidebar.
        host: machine that the cards are put into.
    """
    shown = replace(
        choices,
        format=_listed("format", hit.speed.format),
        kv=hit.kv_type,
        context=context_size(hit.context),
        runtime=hit.speed.runtime if _listed("runtime", hit.speed.runtime) else ANY,
    )
    return _on_machine(shown, hit, host).permalink(base())


def _listed(key: str, name: str) -> str | None:
    """Name as the input's list spells it."""
    field = fields()[key]
    short = name.removesuffix("-hf")
    return short if isinstance(field, Pick) and short in field.options else None


def _on_machine(choices: Choices, hit: Hit, host: Machine) -> Choices:
    if hit.whole and hit.name in machine_rows():
        return replace(choices, machine=NAMED, owned=hit.name)
    if hit.whole:
        gpu, pool = hit.machine.gpus[0].name, float(hit.machine.host.memory.value) / GIB
        return replace(choices, machine=ANOTHER, gpu=gpu, gpus=1, pool=pool)
    if choices.machine == THIS:
        return replace(choices, mygpu=hit.cards)
    if choices.machine == ANOTHER:
        return replace(choices, gpu=hit.name, gpus=hit.count, gpu2=None, bridge=None)
    return replace(choices, **_parts(host), gpu=hit.name, gpus=hit.count)


def _parts(host: Machine) -> dict[str, Any]:
    """A named machine as parts, since its cards are changed."""
    known = host.host.name in host_rows()
    disk = host.disk.sequential.value / GB if host.disk else None
    return {
        "machine": ANOTHER,
        "owned": None,
        "cpu": host.host.name if known else None,
        "ram": round(float(host.host.memory.value) / GIB, 2),
        "ramspeed": round(float(host.host.bandwidth.value) / GB, 2),
        "drivespeed": disk,
    }
