"""Two to six reports side by side."""

import streamlit as st

from advisor.errors import InputError
from advisor.reports.side_by_side.comparison import compared
from advisor.reports.store.store import ReportStore
from advisor.ui.parts import comparison_charts
from advisor.ui.parts.markup import block, show, table
from advisor.ui.reports.today import show_changes, want_changes


def view(store: ReportStore, numbers: str) -> None:
    """Comparison of the reports in an address.

    Args:
        store: store of the reports.
        numbers: numbers of the reports, separated by commas.

    Raises:
        InputError: not numbers, or too few or many.
        StoreError: a missing or damaged report.
    """
    st.button("All reports", icon=":material/arrow_back:", on_click=_close, type="tertiary")
    parts = numbers.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"{numbers[:40]!r} are not numbers of reports; choose from the list.")
    reports = [store.load(int(part)) for part in parts]
    comparison = compared(reports)
    show(block("oa-title", " and ".join(comparison.labels), "h1"))
    if comparison.labels != comparison.names:
        show(block("oa-sub", "; ".join(comparison.names), "p"))
    if comparison.chart.bars:
        comparison_charts.headed(comparison.chart)
    for words in comparison.tables:
        st.subheader(words.title)
        show(table(words.headings, words.rows, label=words.title))
    with st.expander("Compare with today", key="compare_today"):
        st.button(
            "Recompute all with today's version and prices", key="compare_again",
            on_click=want_changes, args=(reports,),
        )  # fmt: skip
        for name, report in zip(comparison.names, reports, strict=True):
            show(block("oa-name", name, "h3"))
            show_changes(report)


def _close() -> None:
    st.query_params.pop("compare", None)
