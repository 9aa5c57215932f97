"""Published figures on the Accuracy page: filters, chart, selected point, table."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup
from plotly.basedatatypes import BaseFigure

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.errors import StoreError
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.accuracy.scoring import score_of
from advisor.formatting import number, percent, range_of, tokens_per_second
from advisor.reports.store.saved import SavedReport
from advisor.ui.parts.drawing import Palette, palette
from advisor.ui.parts.markup import block, facts, joined, notice, say, show, table
from advisor.ui.parts.session import own_store
from advisor.ui.parts.speed_table import settings_of

Figure = dict[str, Any]


class DescribedFigure(BaseFigure):  # type: ignore[misc]  # Plotly is untyped
    """A figure that goes to the browser as it is described.

    Plotly would check every property in Python each time a chart is drawn, and send its own theme
    along: a third of a redraw. The tests check each chart instead.
    """

    def __init__(self, figure: Figure) -> None:
        self._described = figure

    def to_dict(self) -> Figure:
        """Data and layout."""
        return self._described


# Chart of predicted against measured speeds, with a colour and shape per kind of run.

SHAPES = (
    ("circle", "\u25cf"), ("square", "\u25a0"), ("diamond", "\u25c6"), ("triangle-up", "\u25b2"),
    ("triangle-down", "\u25bc"), ("cross", "\u271a"), ("x", "\u2716"), ("star", "\u2605"),
    ("triangle-left", "\u25c0"), ("triangle-right", "\u25b6"), ("pentagon", "\u2b1f"),
    ("hexagon", "\u2b22"),
)  # fmt: skip
"""Plotly's name of a shape, and the letter that looks like it."""
COLOURS = 7
"""Colours in use: with the twelve shapes, which share no divisor with seven, 84 different marks."""
DECADES = 2.5
"""Width of an axis from which whole decades are marks enough; else 1, 2 and 5 of each."""
BAND = 1.25
"""Edge of the band about the line of equals: 25 % too fast, or as many times too slow."""


def scatter(points: Sequence[AccuracyPoint], places: Sequence[int]) -> Figure:
    """Chart of points; each carries its index in the ledger."""
    look = palette()
    speeds = [speed for point in points for speed in (point.measured, point.predicted)]
    low, high = min(speeds) / 1.6, max(speeds) * 1.6
    kinds: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        kinds.setdefault(point.regime, []).append(index)
    data = [
        *_band(look, low, high),
        *(
            _trace(look, name, [(points[at], places[at]) for at in inside])
            for name, inside in sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        ),
    ]
    return {"data": data, "layout": _layout(look, low, high)}


def _band(look: Palette, low: float, high: float) -> Iterable[Figure]:
    edge = {"type": "scatter", "mode": "lines", "x": [low, high], "hoverinfo": "skip"}
    shade = look.series[6]
    red, green, blue = (int(shade[at : at + 2], 16) for at in (1, 3, 5))
    for factor, fill in ((1 / BAND, "none"), (BAND, "tonexty")):
        yield {
            **edge,
            "y": [low * factor, high * factor],
            "line": {"color": shade, "width": 0.8, "dash": "dot"},
            "fill": fill,
            "fillcolor": f"rgba{(red, green, blue, 0.14)}",
        }
    yield {**edge, "y": [low, high], "line": {"color": look.ink, "width": 1.2}}


def _trace(look: Palette, name: str, shown: Sequence[tuple[AccuracyPoint, int]]) -> Figure:
    place = _place(name)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [point.measured for point, _ in shown],
        "y": [point.predicted for point, _ in shown],
        "customdata": [at for _, at in shown],
        "text": [hover(point) for point, _ in shown],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": SHAPES[place % len(SHAPES)][0],
            "color": look.series[place % COLOURS],
            "size": 7.5,
            "opacity": 0.8,
            "line": {"width": 0},
        },
        "selected": {"marker": {"opacity": 1.0, "size": 14}},
        "unselected": {"marker": {"opacity": 0.35}},
    }


def _place(name: str) -> int:
    """Index of a kind of run in the table of kinds, so that filters change no colour."""
    known = [regime.name for regime in REGIMES]
    return known.index(name) if name in known else len(known)


def hover(point: AccuracyPoint) -> str:
    """Hover text of a point, in lines, with every name escaped."""
    where = point.gpu or point.cpu or "no GPU"
    return str(Markup("<br>").join((
        Markup("<b>{}</b>").format(f"{point.model} {point.format}".strip()),
        where, point.regime, f"measured {tokens_per_second(point.measured)}",
        f"predicted {number(point.predicted)} ({range_of(point.low, point.high)})", off(point),
    )))  # fmt: skip


def off(point: AccuracyPoint) -> str:
    """Error of a prediction, in words."""
    if abs(point.error) < 0.005:
        return "right within half a percent"
    return f"{percent(abs(point.error))} too {'fast' if point.error > 0 else 'slow'}"


def _layout(look: Palette, low: float, high: float) -> Figure:
    ends = [math.log10(low), math.log10(high)]
    font = {"size": 13, "family": "Source Sans, sans-serif"}
    axis = {
        "gridcolor": look.line, "zeroline": False, "color": look.soft,
        "tickfont": {"color": look.ink}, "automargin": True, "fixedrange": True, "type": "log",
        "range": ends, "dtick": 1 if ends[1] - ends[0] > DECADES else "D2", "tickformat": "~g",
    }  # fmt: skip
    return {
        "height": 470, "margin": {"l": 60, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": look.ink, **font}, "showlegend": False,
        "xaxis": {**axis, "title": {"text": "measured, tokens/s"}},
        "yaxis": {**axis, "title": {"text": "predicted, tokens/s"}},
        "hoverlabel": {"align": "left", "font": font},
        "hovermode": "closest", "dragmode": False, "clickmode": "event+select",
    }  # fmt: skip


def keys(points: Iterable[AccuracyPoint]) -> Markup:
    """Legend of the kinds shown: colours and shapes."""
    look = palette()
    shown = sorted({point.regime for point in points}, key=_place)
    item = Markup("<span><b style='color:{}'>{}</b> {}</span>")
    kinds = (
        item.format(
            look.series[_place(name) % COLOURS], SHAPES[_place(name) % len(SHAPES)][1], name
        )
        for name in shown
    )
    line = Markup("<span>line: as measured; band: 25 % either way</span>")
    return block("oa-key", joined((*kinds, line)))


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
            frame(shown), key="ledger_table", hide_index=True, height=360,
            alt=f"{len(shown)} measured speeds with their predictions and sources",
            column_config=settings_of("figures"),
        )  # fmt: skip


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
    yours = f", {own} of them from your reports" if own else ""
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
        DescribedFigure(scatter(shown, places)), key="ledger_chart", theme=None,
        alt=f"Predicted against measured speed of {len(shown)} runs; the table has each of them.",
        config={"displayModeBar": False, "responsive": True}, on_select="rerun",
        selection_mode="points",
    )  # fmt: skip
    show(keys(shown))
    return selected(event, places)


def selected(event: Any, places: Sequence[int]) -> int | None:
    """Index of the point in a selection; None if no shown point is selected."""
    for clicked in event["selection"]["points"]:
        at = clicked.get("customdata")
        at = at[0] if isinstance(at, list) else at
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
        show(named + block("oa-soft", on) + facts({
            "measured": tokens_per_second(point.measured),
            "predicted": tokens_per_second(point.predicted),
            "range": range_of(point.low, point.high) + ("" if point.held else ", missed"),
            "off by": off(point), "kind of run": point.regime, "when": point.date or "not stated",
            "row": point.id,
        }))  # fmt: skip
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
            "Kind of run": [point.regime for point in shown],
        }
    )
