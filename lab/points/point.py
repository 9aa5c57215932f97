"""Point of a published row, and the margins of its prediction."""

import math
from collections.abc import Mapping

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import Margins
from advisor.evidence.accuracy.point import AccuracyPoint
from advisor.evidence.published.row import PublishedRow


def margins_of(answer: Estimate) -> Margins:
    """Margins of the 80 % range of an estimate's tokens per second; 0 where it has none."""
    known = answer.decode
    if known is None:
        return Margins(below=0.0, above=0.0)
    below, above = known.value / known.low, known.high / known.value
    return Margins(below=math.log(float(below)), above=math.log(float(above)))


def point_of(
    row: PublishedRow,
    *,
    regime: str,
    group: str,
    measured: float,
    predicted: float,
    margins: Margins,
    peers: Mapping[str, float] | None = None,
    first_seen: str = "",
) -> AccuracyPoint:
    """Point of a published row; other arguments are attributes of `AccuracyPoint`."""
    return AccuracyPoint(
        id=row.id,
        regime=regime,
        group=group,
        gpu=row.gpu,
        cpu=row.cpu,
        model=row.model,
        format=row.quant,
        runtime=row.runtime,
        date=row.date,
        first_seen=row.first_seen or first_seen,
        measured=measured,
        predicted=predicted,
        margins=margins,
        source=row.source_url,
        peers=peers or {},
    )
