"""Saved reports as a list one can search."""

import streamlit as st
from markupsafe import Markup

from advisor import formatting
from advisor.errors import AdvisorError
from advisor.reports.store import ReportHead, ReportStore
from advisor.ui.parts.markup import block, notice, show

EMPTY = Markup(
    "<div class='oa-empty'><b>No reports yet</b><br>Make a comparison on the Advise page and "
    "choose Save report.<br>It keeps the numbers, their sources and a link that reopens it.</div>"
)


def listing(store: ReportStore) -> None:
    """Search field and rows, newest first."""
    show(block("oa-title", "Reports", "h1"))
    if message := st.session_state.pop("report_message", ""):
        notice(message)
    total = store.list()
    if not total:
        show(EMPTY)
        return
    words = st.text_input(
        "Search", type="search", placeholder="Name, notes, model or GPU", key="report_search"
    )
    found = store.list(words or "")
    show(block("oa-soft", f"{len(found)} of {len(total)} reports", "p"))
    for head in found:
        _row(store, head)


def _row(store: ReportStore, head: ReportHead) -> None:
    with st.container(border=True, key=f"report_{head.id}"):
        words, actions = st.columns([4, 1.2], vertical_alignment="center")
        with words:
            show(block("oa-name", head.name))
            show(block("oa-soft", formatting.moment(head.created_at.isoformat())))
            show(block("oa-why", head.summary, "p"))
        with actions, st.container(horizontal=True, horizontal_alignment="right"):
            st.button("Open", key=f"open_{head.id}", on_click=_open, args=(head.id,))
            delete_button(store, head)


def _open(number: int) -> None:
    st.query_params["report"] = str(number)


def delete_button(store: ReportStore, head: ReportHead) -> None:
    """Asks once more before a report is gone."""
    with st.popover("Delete", key=f"delete_{head.id}"):
        show(block("", Markup("Delete <b>{}</b> for good?").format(head.name), "p"))
        st.button(
            "Delete for good", type="primary", key=f"really_{head.id}",
            on_click=_delete, args=(store, head),
        )  # fmt: skip


def _delete(store: ReportStore, head: ReportHead) -> None:
    try:
        store.delete(head.id)
    except AdvisorError as error:
        st.session_state["report_message"] = str(error)
        return
    st.session_state["report_message"] = f"Deleted: {head.name}."
    st.query_params.pop("report", None)
