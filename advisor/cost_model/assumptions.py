"""Assumptions of an estimate: bandwidths of the machine and constants of the cost model."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from advisor.catalog.constants import ConstantRow
from advisor.cost_model.placement import Placement, Tier
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """Input of an estimate with its origin.

    Attributes:
        what: description of the input.
        figure: value with kind, source and date.
        unit: unit of the value.
    """

    what: str
    figure: Quantity
    unit: str


def assumptions(
    machine: Machine, placement: Placement, constants: Iterable[tuple[ConstantRow, ...]]
) -> tuple[Assumption, ...]:
    """Bandwidths and constants that an estimate uses.

    Args:
        machine: machine that runs the model.
        placement: location of the model's parts.
        constants: constants used, each as its row followed by its factors.
    """
    tiers = {location.tier for location in placement.locations}
    inputs = [
        Assumption(what=f"{gpu.name} memory bandwidth", figure=gpu.bandwidth, unit="B/s")
        for gpu in {gpu.name: gpu for gpu in machine.gpus}.values()
        if Tier.VRAM in tiers
    ]
    if Tier.RAM in tiers:
        inputs.append(
            Assumption(what="RAM, sustained read", figure=machine.host.bandwidth, unit="B/s")
        )
        inputs += [
            Assumption(what=f"link, {gpu.link.name}", figure=gpu.link.pinned, unit="B/s")
            for gpu in machine.gpus[:1]
        ]
    if Tier.DISK in tiers and machine.disk:
        inputs.append(
            Assumption(what="drive, sequential read", figure=machine.disk.sequential, unit="B/s")
        )
        if machine.disk.mapped is not None:
            map_rate = machine.disk.mapped
            inputs.append(Assumption(what="drive, cold memory map", figure=map_rate, unit="B/s"))
    return (*inputs, *_constants_used(constants))


def _constants_used(constants: Iterable[tuple[ConstantRow, ...]]) -> Iterable[Assumption]:
    for rows in constants:
        first = rows[0]
        if first.constant.startswith(("spread", "lean")):
            continue
        value = math.prod(row.value for row in rows)
        sure = f", give or take {100 * first.spread:.0f} %" if first.spread else ""
        count = f" ({first.rows} rows{sure})" if first.rows else ""
        yield Assumption(
            what=first.note or first.constant,
            figure=Quantity(
                value=value,
                kind=Provenance(first.kind),
                source=f"{first.source}{count}",
                date=first.date,
            ),
            unit=first.unit,
        )
