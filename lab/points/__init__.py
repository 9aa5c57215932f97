"""Points of the ledger: published figures beside predictions that were made without them.

One file for each kind of source, which gives its points to `ledger`.
"""

import math
from collections.abc import Mapping
from typing import Any

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import Margins, Range
from advisor.errors import InputError
from advisor.evidence.accuracy.regimes import Traits, regime_of
from advisor.machine.spec import MachineSpec
from lab import rounded

NOBODY: Mapping[str, float | None] = {}


def decode_of(row: Any, estimate: Estimate) -> Range:
    """Predicted speed of a row; raises InputError where its run is impossible [tokens/s]."""
    if estimate.decode is None:
        raise InputError(f"{row.id}: {estimate.refusal or 'its speed is not known.'}")
    return estimate.decode


def margins_of(speed: Range) -> Margins:
    """Margins of a range around its value."""
    below = speed.value / speed.low
    above = speed.high / speed.value
    return Margins(below=math.log(float(below)), above=math.log(float(above)))


def point_of(
    row: Any,
    traits: Traits,
    *,
    group: str,
    measured: float,
    predicted: float,
    margins: Margins,
    peers: Mapping[str, float | None] = NOBODY,
    first_seen: str = "",
) -> AccuracyPoint:
    """Point of a published row of any file, in the regime of its traits; other arguments are
    attributes of `AccuracyPoint`, with no speed of a public advisor that has no formula for it.
    """
    return AccuracyPoint(
        id=row.id,
        regime=regime_of(traits),
        group=group,
        gpu="" if row.gpu == MachineSpec.NO_GPU else row.gpu,
        cpu=getattr(row, "cpu", ""),
        model=row.model,
        format=row.quant,
        runtime=row.runtime,
        date=row.date,
        first_seen=getattr(row, "first_seen", "") or first_seen,
        measured=measured,
        predicted=predicted,
        below=float(margins.below),
        above=float(margins.above),
        source=row.source_url,
        peers="; ".join(f"{name}={rounded(speed, 6):g}" for name, speed in peers.items() if speed),
    )
