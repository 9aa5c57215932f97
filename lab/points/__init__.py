"""Points of the ledger: published figures beside predictions that were made without them.

One file for each kind of source, which gives its points to `ledger`.
"""

import math
from collections.abc import Mapping
from typing import Any

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.cost_model.uncertainty import Margins, Range
from lab import rounded


def margins_of(speed: Range | None) -> Margins:
    """Margins of a range around its value; 0 where there is none."""
    if speed is None:
        return Margins(below=0.0, above=0.0)
    below, above = speed.value / speed.low, speed.high / speed.value
    return Margins(below=math.log(float(below)), above=math.log(float(above)))


def point_of(
    row: Any,
    *,
    regime: str,
    group: str,
    measured: float,
    predicted: float,
    margins: Margins,
    peers: Mapping[str, float] | None = None,
    first_seen: str = "",
) -> AccuracyPoint:
    """Point of a published row of any file; other arguments are attributes of `AccuracyPoint`."""
    return AccuracyPoint(
        id=row.id,
        regime=regime,
        group=group,
        gpu=row.gpu,
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
        peers="; ".join(f"{name}={rounded(speed, 6):g}" for name, speed in (peers or {}).items()),
    )
