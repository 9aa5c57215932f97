"""Two to six reports side by side."""

import streamlit as st

from advisor.errors import InputError
from advisor.reports.comparison import compared
from advisor.reports.store import ReportStore
from advisor.ui.parts import comparison_charts
from advisor.ui.parts.markup import block, show, table
from advisor.ui.reports.today import show_changes


def view(store: ReportStore, numbers: str) -> None:
    """The reports of an address.

    Args:
        store: of the reports.
        numbers: with commas between, as the address has them.

    Raises:
        InputError: no numbers, too few or too many.
        StoreError: no such report, or a damaged one.
    """
    st.button("All reports", icon=":material/arrow_back:", on_click=_close, type="tertiary")
    parts = numbers.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"{numbers[:40]!r} are no numbers of reports; choose some of the list.")
    reports = [store.load(int(part)) for part in parts]
    comparison = compared(reports)
    show(block("oa-title", " and ".join(comparison.names), "h1"))
    if comparison.chart.bars:
        comparison_charts.headed(comparison.chart, key="compared")
    for words in comparison.tables:
        st.subheader(words.title)
        show(table(words.headings, words.rows, label=words.title))
    with st.expander("And today?", key="compare_today"):
        if st.button("Recompute all with today's version and prices", key="compare_again"):
            for name, report in zip(comparison.names, reports, strict=True):
                show(block("oa-name", name, "h3"))
                show_changes(report)


def _close() -> None:
    st.query_params.pop("compare", None)
