"""Measured results of saved reports, as points beside the published ones."""

import math
from collections.abc import Iterator

from advisor.cost_model.uncertainty import Margins
from advisor.errors import StoreError
from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.reports.document.measured import JudgedResult
from advisor.reports.store.saved import SavedReport
from advisor.ui.parts.markup import notice
from advisor.ui.parts.session import own_store

OWN = "your reports"
"""Kind of run under which they are shown; they count in no score."""


def points() -> tuple[AccuracyPoint, ...]:
    """A point for each result whose prediction has a range."""
    try:
        store = own_store()
        reports = store.measured() if store is not None else ()
    except StoreError as error:
        notice(str(error), "warning")
        return ()
    return tuple(point for report in reports for point in _points(report))


def _points(report: SavedReport) -> Iterator[AccuracyPoint]:
    for place, judged in enumerate(report.judged, 1):
        margins = _margins(judged)
        card = judged.card
        if card is None or not card.decode_tps or margins is None:
            continue
        document, result = report.document, judged.result
        yield AccuracyPoint(
            id=f"report {report.id}, {place}",
            regime=OWN,
            group=OWN,
            gpu="" if document.gpu == "no GPU" else document.gpu,
            cpu="",
            model=document.model,
            format=document.request.get("format", ""),
            runtime=result.runtime,
            date=result.when[:10],
            measured=result.decode_tps,
            predicted=card.decode_tps,
            margins=margins,
            source=f"report {report.id}, {report.name} ({result.source})",
        )


def _margins(judged: JudgedResult) -> Margins | None:
    """Margins of the predicted range; None without a range."""
    card = judged.card
    if card is None or not (card.decode_tps and card.decode_tps_low and card.decode_tps_high):
        return None
    return Margins(
        below=math.log(card.decode_tps / card.decode_tps_low),
        above=math.log(card.decode_tps_high / card.decode_tps),
    )
