"""Published figures on the Accuracy page: filters, chart, selected point, table."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.errors import StoreError
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.accuracy.scoring import score_of
from advisor.formatting import number, percent, range_of, tokens_per_second
from advisor.reports.store.saved import SavedReport
from advisor.ui.parts import drawing
from advisor.ui.parts.drawing import Point, PointChart
from advisor.ui.parts.markup import block, joined, notice, say, show, table
from advisor.ui.parts.session import own_store
from advisor.ui.parts.speed_table import settings_of

# Chart of predicted against measured speeds, with a colour and shape per kind of run.

SHAPES = ("circle", "square", "diamond", "triangle", "cross", "star", "pentagon")
BAND = 1.25
"""Edge of the band about the line of equals: 25 % too fast, or as many times too slow."""


def chart(shown: Sequence[AccuracyPoint]) -> PointChart:
    """Chart of points, of which one can be clicked."""
    known = (*(regime.name for regime in REGIMES), OWN)  # so that filters change no mark
    turned = (SHAPES[(place + place // len(SHAPES)) % len(SHAPES)] for place in range(len(known)))
    return PointChart(
        lead=f"Predicted against measured speed of {len(shown)} runs; the table has each of them.",
        shapes=dict(zip(known, turned, strict=True)), factors=(1.0, BAND, 1 / BAND), height=470,
        x_label="measured, tokens/s", y_label="predicted, tokens/s",
        points=[
            Point(
                kind=point.regime, x=point.measured, y=point.predicted, tip=tip(point), id=point.id,
                counts=False,
            )
            for point in shown
        ],
    )  # fmt: skip


def tip(point: AccuracyPoint) -> str:
    """Words of a point under the pointer."""
    where = point.gpu or point.cpu or NO_GPU
    range_words = range_of(point.low, point.high)
    return (
        f"{point.model} {point.format}, {where}, {point.regime}: measured "
        f"{tokens_per_second(point.measured)}, predicted {number(point.predicted)} "
        f"({range_words}), {off(point)}"
    )


def off(point: AccuracyPoint) -> str:
    """Error of a prediction, in words."""
    if abs(point.error) < 0.005:
        return "right within half a percent"
    return f"{percent(abs(point.error))} too {'fast' if point.error > 0 else 'slow'}"


# Measured results of saved reports, as points beside the published ones.

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
        card = judged.card
        if card is None or not (card.decode_tps and card.decode_tps_low and card.decode_tps_high):
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
            below=math.log(card.decode_tps / card.decode_tps_low),
            above=math.log(card.decode_tps_high / card.decode_tps),
            source=f"report {report.id}, {report.name} ({result.source})",
        )


NO_GPU = "no GPU"
FILTERS: Mapping[str, Callable[[AccuracyPoint], str]] = {
    "GPU": lambda point: point.gpu or NO_GPU,
    "Model": lambda point: point.model,
    "Kind of run": lambda point: point.regime,
}
"""Filters of the points."""


def figures(points: Sequence[AccuracyPoint]) -> None:
    """Filters, chart, details of the selected point and table."""
    shown = narrowed(points, _wanted(points))
    if not shown:
        notice("No published figure has all of these; remove a filter.")
        return
    say(_summary(shown, len(points)))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show(drawing.points(chart(shown)))
        say("Line: as measured; dotted: 25 % either way.", "oa-caption")
    with right:
        clicked = st.text_input("Clicked point", key="clicked")  # hidden; the page's script types
        _details(next((point for point in shown if point.id == clicked), None))
        st.dataframe(
            frame(shown), key="ledger_table", hide_index=True, height=360,
            alt=f"{len(shown)} measured speeds with their predictions and sources",
            column_config=settings_of("figures"),
        )  # fmt: skip


def _wanted(points: Sequence[AccuracyPoint]) -> dict[str, list[str]]:
    """Chosen value of each filter; None for all."""
    wanted = {}
    for column, (name, of) in zip(st.columns(len(FILTERS)), FILTERS.items(), strict=True):
        with column:
            values = list(dict.fromkeys(sorted(map(of, points), key=str.casefold)))
            key = f"ledger_{name}"
            wanted[name] = st.multiselect(
                name, values, placeholder="All", key=key, persist_state="session"
            )
    return wanted


def narrowed(
    points: Sequence[AccuracyPoint], wanted: Mapping[str, Sequence[str]]
) -> list[AccuracyPoint]:
    """Points that pass every filter."""
    filters = {FILTERS[name]: chosen for name, chosen in wanted.items() if chosen}
    return [point for point in points if all(of(point) in one for of, one in filters.items())]


def _summary(shown: Sequence[AccuracyPoint], total: int) -> str:
    own = sum(point.regime == OWN for point in shown)
    published = [point for point in shown if point.regime != OWN]
    yours = f", {own} of them from your reports" if own else ""
    if not published:
        return f"{len(shown):,} of {total:,} figures{yours}."
    every = score_of(ALL, published)
    return (
        f"{len(shown):,} of {total:,} figures{yours}. Median error {percent(every.median, 1)}; "
        f"{percent(every.covered)} lie in their range."
    )


def _details(point: AccuracyPoint | None) -> None:
    """Details of the selected point, with a link to its source."""
    with st.container(border=True, key="ledger_details"):
        if point is None:
            show(block("oa-soft", "Click a point to see its figures and open its source."))
            return
        on = ", ".join(filter(None, (point.gpu, point.cpu, point.runtime)))
        facts = joined(block("", text, "span") for pair in _facts(point) for text in pair)
        named = block("oa-name", f"{point.model} {point.format}".strip())
        show(named + block("oa-soft", on) + block("oa-facts", facts))
        if point.regime == OWN:
            show(block("oa-soft", f"Measured by you; {point.source}"))
        elif point.published:
            st.link_button("Open the source", point.source, icon=":material/open_in_new:")
        else:
            show(block("oa-soft", f"Our own run, by {point.source}"))
        with st.expander("Public formulas"):
            show(_said(point))


def _facts(point: AccuracyPoint) -> tuple[tuple[str, str], ...]:
    return (
        ("measured", tokens_per_second(point.measured)),
        ("predicted", tokens_per_second(point.predicted)),
        ("range", range_of(point.low, point.high) + ("" if point.held else ", missed")),
        ("off by", off(point)),
        ("kind of run", point.regime),
        ("when", point.date or "not stated"),
        ("row", point.id),
    )


def _said(point: AccuracyPoint) -> Any:
    rows = [
        (peer.name, number(speed), percent(speed / point.measured - 1.0))
        for peer in PEERS
        if (speed := point.peer_speeds.get(peer.name)) is not None
    ]
    if not rows:
        return block("oa-soft", "No public formula covers it.", "p")
    headings = ("Advisor", "tokens/s", "Off by")
    return table(headings, rows, label="What public formulas say", numeric=(1, 2))


def frame(shown: Sequence[AccuracyPoint]) -> dict[str, list[Any]]:
    """Points as columns of a table."""
    return {
        "Model": [f"{point.model} {point.format}".strip() for point in shown],
        "Off by": [100.0 * point.error for point in shown],
        "Measured": [point.measured for point in shown],
        "Predicted": [point.predicted for point in shown],
        "Source": [point.source if point.published else None for point in shown],
        "On": [point.gpu or point.cpu for point in shown],
        "In range": ["yes" if point.held else "no" for point in shown],
        "Kind of run": [point.regime for point in shown],
    }
