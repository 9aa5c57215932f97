"""Published figures on the Accuracy page: filters, chart, selected point, table."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup
from plotly import express
from plotly.graph_objects import Figure

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.accuracy.scoring import score_of
from advisor.failures import StoreError
from advisor.formatting import percent
from advisor.reports.store.saved import SavedReport
from advisor.ui.parts.drawing import palette
from advisor.ui.parts.markup import block, facts, joined, notice, say, show, table
from advisor.ui.parts.session import own_store
from advisor.ui.parts.speed_table import settings_of
from advisor.units import number, range_of, tokens_per_second

# Chart of predicted against measured speeds, with a colour and shape per kind of run.

SHAPES = {
    "circle": "\u25cf", "square": "\u25a0", "diamond": "\u25c6", "triangle-up": "\u25b2",
    "triangle-down": "\u25bc", "cross": "\u271a", "x": "\u2716", "star": "\u2605",
    "triangle-left": "\u25c0", "triangle-right": "\u25b6", "pentagon": "\u2b1f",
    "hexagon": "\u2b22",
}  # fmt: skip
"""Plotly's names of shapes, and the letters that look like them."""
COLOURS = 7
"""Colours in use: with the twelve shapes, which share no divisor with seven, 84 different marks."""
BAND = 1.25  # edge of the band about the line of equals: 25 % too fast, or as many times too slow
OWN = "your reports"  # kind of run of a visitor's own results; they count in no score
KIND = "Kind of run"


def looks() -> dict[str, tuple[str, str]]:
    """Colour and shape of each kind of run, the same in every selection."""
    kinds = [*(regime.name for regime in REGIMES), OWN]
    colours = palette().series[:COLOURS]
    marks = zip(cycle(colours), cycle(SHAPES), strict=False)
    return dict(zip(kinds, marks, strict=False))


def scatter(points: Sequence[AccuracyPoint], places: Sequence[int]) -> Figure:
    """Chart of points; each carries its index in the ledger."""
    shown = frame(points)
    marks = looks()
    speeds = [speed for point in points for speed in (point.measured, point.predicted)]
    low = min(speeds) / 1.6
    high = max(speeds) * 1.6
    figure = express.scatter(
        shown,
        "Measured",
        "Predicted",
        color=KIND,
        symbol=KIND,
        log_x=True,
        log_y=True,
        custom_data=[places, list(map(hover, points))],
        range_x=(low, high),
        range_y=(low, high),
        color_discrete_map={kind: colour for kind, (colour, _) in marks.items()},
        symbol_map={kind: shape for kind, (_, shape) in marks.items()},
        labels={"Measured": "measured, tokens/s", "Predicted": "predicted, tokens/s"},
        render_mode="svg",
        category_orders={KIND: list(shown[KIND].value_counts().index)},  # few lie upon many
    )
    figure.update_traces(
        hovertemplate="%{customdata[1]}<extra></extra>",
        marker={"size": 7.5, "opacity": 0.8},
        selected={"marker": {"opacity": 1.0, "size": 14}},
        unselected={"marker": {"opacity": 0.35}},
    )
    soft = palette().soft
    for factor in (1 / BAND, BAND, 1.0):
        figure.add_scatter(
            x=[low, high],
            y=[factor * low, factor * high],
            mode="lines",
            hoverinfo="skip",
            line={"color": soft, "width": 1.2, "dash": "solid" if factor == 1.0 else "dot"},
            fill="tonexty" if factor == BAND else "none",
            fillcolor="rgba(138, 144, 153, 0.14)",
        )
    figure.data = figure.data[-3:] + figure.data[:-3]  # beneath the points
    figure.update_xaxes(fixedrange=True, showgrid=True)
    figure.update_yaxes(fixedrange=True)
    return figure.update_layout(
        height=470,
        showlegend=False,
        dragmode=False,
        clickmode="event+select",
        hoverlabel={"align": "left"},
        margin={"t": 10, "b": 10},
    )


def hover(point: AccuracyPoint) -> str:
    """Hover text of a point, in lines, with every name escaped."""
    where = point.gpu or point.cpu or "no GPU"
    return str(
        Markup("<br>").join(
            (
                Markup("<b>{}</b>").format(f"{point.model} {point.format}".strip()),
                where,
                point.regime,
                f"measured {tokens_per_second(point.measured)}",
                f"predicted {number(point.predicted)} ({range_of(point.low, point.high)})",
                off(point),
            )
        )
    )


def off(point: AccuracyPoint) -> str:
    """Words on the error of a prediction."""
    if abs(point.error) < 0.005:
        return "right within half a percent"
    return f"{percent(abs(point.error))} too {'fast' if point.error > 0 else 'slow'}"


def keys(points: Iterable[AccuracyPoint]) -> Markup:
    """Legend of the kinds shown: colours and shapes."""
    there = {point.regime for point in points}
    item = Markup("<span><b style='color:{}'>{}</b> {}</span>")
    kinds = (
        item.format(colour, SHAPES[shape], kind)
        for kind, (colour, shape) in looks().items()
        if kind in there
    )
    line = Markup("<span>line: as measured; band: 25 % either way</span>")
    return block("oa-key", joined((*kinds, line)))


# Measured results of saved reports, as points beside the published ones.


def points() -> tuple[AccuracyPoint, ...]:
    """Point for each result whose prediction has a range."""
    try:
        store = own_store()
        if store is not None:
            reports = store.measured()
        else:
            reports = ()
    except StoreError as error:
        notice(str(error), "warning")
        return ()
    return tuple(point for report in reports for point in _points(report))


def _points(report: SavedReport) -> Iterator[AccuracyPoint]:
    for place, judged in enumerate(report.judged, 1):
        card = judged.card
        if card is None or not (card.decode_tps and card.decode_tps_low and card.decode_tps_high):
            continue
        document = report.document
        result = judged.result
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
    KIND: lambda point: point.regime,
}
"""Filters of the points."""


def figures(points: Sequence[AccuracyPoint]) -> None:
    """Filters, chart, details of the selected point and table."""
    places = _narrowed(points)
    if not places:
        notice("No published figure has all of these; remove a filter.")
        return
    shown = [points[at] for at in places]
    say(_summary(shown, len(points)))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        clicked = _chart(shown, places)
    with right:
        _details(points[clicked] if clicked is not None else None)
        st.dataframe(
            frame(shown),
            key="ledger_table",
            hide_index=True,
            height=360,
            alt=f"{len(shown)} measured speeds with their predictions and sources",
            column_config=settings_of("figures"),
        )


def _narrowed(points: Sequence[AccuracyPoint]) -> Sequence[int]:
    """Filters, and the places of the points that pass every one."""
    places: Sequence[int] = range(len(points))
    for column, (name, of) in zip(st.columns(len(FILTERS)), FILTERS.items(), strict=True):
        values = list(dict.fromkeys(sorted(map(of, points), key=str.casefold)))
        chosen = column.multiselect(
            name, values, placeholder="All", key=f"ledger_{name}", persist_state="session"
        )
        places = [at for at in places if not chosen or of(points[at]) in chosen]
    return places


def _summary(shown: Sequence[AccuracyPoint], total: int) -> str:
    own = sum(point.regime == OWN for point in shown)
    published = [point for point in shown if point.regime != OWN]
    if own:
        yours = f", {own} of them from your reports"
    else:
        yours = ""
    if not published:
        return f"{len(shown):,} of {total:,} figures{yours}."
    every = score_of(ALL, published)
    return (
        f"{len(shown):,} of {total:,} figures{yours}. Median error {percent(every.median, 1)}; "
        f"{percent(every.covered)} lie in their range."
    )


def _chart(shown: Sequence[AccuracyPoint], places: Sequence[int]) -> int | None:
    """Draw the chart and return the index of the selected point."""
    event = st.plotly_chart(
        scatter(shown, places),
        key="ledger_chart",
        alt=f"Predicted against measured speed of {len(shown)} runs; the table has each of them.",
        config={"displayModeBar": False, "responsive": True},
        on_select="rerun",
        selection_mode="points",
    )
    show(keys(shown))
    return selected(event, places)


def selected(event: Any, places: Sequence[int]) -> int | None:
    """Index of the point in a selection; None if no shown point is selected."""
    for clicked in event["selection"]["points"]:
        at, _ = clicked.get("customdata", (None, ""))
        if at in places:
            return int(at)
    return None


def _details(point: AccuracyPoint | None) -> None:
    """Details of the selected point, with a link to its source."""
    with st.container(border=True, key="ledger_details"):
        if point is None:
            show(block("oa-soft", "Click a point to see its figures and open its source."))
            return
        on = ", ".join(filter(None, (point.gpu, point.cpu, point.runtime)))
        named = block("oa-name", f"{point.model} {point.format}".strip())
        show(
            named
            + block("oa-soft", on)
            + facts(
                {
                    "measured": tokens_per_second(point.measured),
                    "predicted": tokens_per_second(point.predicted),
                    "range": range_of(point.low, point.high) + ("" if point.held else ", missed"),
                    "off by": off(point),
                    "kind of run": point.regime,
                    "when": point.date or "not stated",
                    "row": point.id,
                }
            )
        )
        if point.regime == OWN:
            show(block("oa-soft", f"Measured by you; {point.source}"))
        elif point.published:
            st.link_button("Open the source", point.source, icon=":material/open_in_new:")
        else:
            show(block("oa-soft", f"Our own run, by {point.source}"))
        with st.expander("Public formulas"):
            show(_said(point))


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


def frame(shown: Sequence[AccuracyPoint]) -> pd.DataFrame:
    """Points as a data frame."""
    return pd.DataFrame(
        {
            "Model": [f"{point.model} {point.format}".strip() for point in shown],
            "Off by": [100.0 * point.error for point in shown],
            "Measured": [point.measured for point in shown],
            "Predicted": [point.predicted for point in shown],
            "Source": [point.source if point.published else None for point in shown],
            "On": [point.gpu or point.cpu for point in shown],
            "In range": ["yes" if point.held else "no" for point in shown],
            KIND: [point.regime for point in shown],
        }
    )
