"""Published figures on the Accuracy page: filters, chart, selected point, table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.regimes import ALL
from advisor.evidence.accuracy.scoring import score_of
from advisor.evidence.accuracy.text import percent
from advisor.evidence.peers import PEERS
from advisor.formatting import number, range_of, tokens_per_second
from advisor.ui.accuracy import chart
from advisor.ui.accuracy.own_results import OWN
from advisor.ui.parts.markup import block, joined, notice, show, table
from advisor.ui.parts.plot import DescribedFigure

NO_GPU = "no GPU"
FILTERS: Mapping[str, Callable[[AccuracyPoint], str]] = {
    "GPU": lambda point: point.gpu or NO_GPU,
    "Model": lambda point: point.model,
    "Kind of run": lambda point: point.regime,
}
"""Filters of the points."""


def figures(points: Sequence[AccuracyPoint]) -> None:
    """Filters, chart, details of the selected point and table."""
    st.subheader("Predicted beside measured", anchor="figures")
    places = narrowed(points, _wanted(points))
    if not places:
        notice("No published figure has all of these; remove a filter.")
        return
    shown = [points[at] for at in places]
    show(block("oa-soft", _summary(shown, len(points)), "p"))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        clicked = _chart(shown, places)
    with right:
        _details(points[clicked] if clicked is not None else None)
        _table(shown)


def _wanted(points: Sequence[AccuracyPoint]) -> dict[str, list[str]]:
    """Chosen value of each filter; None for all."""
    wanted = {}
    for column, (name, of) in zip(st.columns(len(FILTERS)), FILTERS.items(), strict=True):
        with column:
            wanted[name] = st.multiselect(
                name,
                list(dict.fromkeys(sorted(map(of, points), key=str.casefold))),
                placeholder="All",
                key=f"ledger_{name}",
                persist_state="session",
            )
    return wanted


def narrowed(points: Sequence[AccuracyPoint], wanted: Mapping[str, Sequence[str]]) -> list[int]:
    """Indices of the points that pass every filter."""
    return [
        at
        for at, point in enumerate(points)
        if all(not chosen or FILTERS[name](point) in chosen for name, chosen in wanted.items())
    ]


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
        DescribedFigure(chart.scatter(shown, places)),
        key="ledger_chart",
        alt=f"Predicted against measured speed of {len(shown)} runs; the table has each of them.",
        theme=None,
        config={"displayModeBar": False, "responsive": True},
        on_select="rerun",
        selection_mode="points",
    )
    show(chart.keys(shown))
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
        show(block("oa-name", f"{point.model} {point.format}".strip()))
        show(block("oa-soft", ", ".join(filter(None, (point.gpu, point.cpu, point.runtime)))))
        show(
            block(
                "oa-facts",
                joined(block("", text, "span") for pair in _facts(point) for text in pair),
            )
        )
        if point.regime == OWN:
            show(block("oa-soft", f"Measured by you; {point.source}"))
        elif point.published:
            st.link_button("Open the source", point.source, icon=":material/open_in_new:")
        else:
            show(block("oa-soft", f"Our own run, by {point.source}; data/measurements/own.csv"))
        with st.expander("Public formulas"):
            show(_said(point))


def _facts(point: AccuracyPoint) -> tuple[tuple[str, str], ...]:
    return (
        ("measured", tokens_per_second(point.measured)),
        ("predicted", tokens_per_second(point.predicted)),
        ("range", range_of(point.low, point.high) + ("" if point.held else ", missed")),
        ("off by", chart.off(point)),
        ("kind of run", point.regime),
        ("when", point.date or "not stated"),
        ("row", point.id),
    )


def _said(point: AccuracyPoint) -> Any:
    rows = [
        (peer.name, number(speed), percent(speed / point.measured - 1.0))
        for peer in PEERS
        if (speed := point.peers.get(peer.name)) is not None
    ]
    if not rows:
        return block("oa-soft", "No public formula covers it.", "p")
    headings = ("Advisor", "tokens/s", "Off by")
    return table(headings, rows, label="What public formulas say", numeric=(1, 2))


def _table(shown: Sequence[AccuracyPoint]) -> None:
    """Table of all points, sortable."""
    st.dataframe(
        frame(shown),
        key="ledger_table",
        hide_index=True,
        height=360,
        alt=f"{len(shown)} measured speeds with their predictions and sources",
        column_config={
            "Model": st.column_config.TextColumn(width=150),
            "Off by": st.column_config.NumberColumn(
                format="%.0f %%", width=65, help="Above zero: too fast"
            ),
            "Measured": st.column_config.NumberColumn(format="%.3g", width=75, help="tokens/s"),
            "Predicted": st.column_config.NumberColumn(format="%.3g", width=75, help="tokens/s"),
            "Source": st.column_config.LinkColumn(display_text="open", width=60),
        },
    )


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
