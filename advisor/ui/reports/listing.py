"""List of saved reports with search, filters and pages."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import streamlit as st
from markupsafe import Markup, escape

from advisor import formatting
from advisor.errors import InputError
from advisor.reports.comparison import FEWEST, MOST
from advisor.reports.content import parted
from advisor.reports.store.saved import ReportHead, SavedReport
from advisor.reports.store.store import PAGE, ReportQuery, ReportStore
from advisor.ui.parts import outcome
from advisor.ui.parts.markup import block, joined, say, show
from advisor.ui.question import current

EMPTY = Markup(
    "<div class='oa-empty'><b>No reports yet</b><br>Save, in the bar above, keeps the answer to "
    "the present question as it is today: its numbers, their sources and a link that reopens it."
    "</div>"
)
ADVISE = Path(__file__).parents[1] / "pages" / "advise.py"
ANY = "any"
PLACE = "reports"  # place of outcomes, in the list and above an open report
DELETED = "report_deleted"
CHOSEN = "report_chosen"


def listing(store: ReportStore) -> None:
    """Search field, filters and rows, newest first."""
    with st.container(key="idea"):
        show(block("oa-title", "Reports", "h1"))
    outcome.show(PLACE)
    if (number := st.session_state.get(DELETED)) is not None:
        _restore_button(store, number, "Undo delete", "undo_delete")
    total = store.page(limit=1).total
    if not total and not store.page(ReportQuery(deleted=True), limit=1).total:
        show(EMPTY)
        st.page_link(
            ADVISE, label="See the answer first", query_params=current.parameters(current.present())
        )
        return
    query = _query(store)
    place = st.session_state.get("report_page", 1)
    page = store.page(query, offset=(place - 1) * PAGE)
    if place > 1 and not page.heads:  # another search has fewer pages
        page = store.page(query)
    with st.container(horizontal=True, vertical_alignment="center", key="report_count"):
        say(f"{page.total} of {total} reports")
        _compare_button()
    with st.container(key="report_list"):
        for head in page.heads:
            _row(store, head, deleted=query.deleted)
    if page.total > PAGE:
        st.pagination(-(-page.total // PAGE), key="report_page")


def _query(store: ReportStore) -> ReportQuery:
    """Query of the search field and the filters."""
    words = st.text_input(
        "Search", type="search", placeholder="Name, notes, tags, model or GPU", key="report_search"
    )
    choices = store.choices()
    with st.expander("Filters", key="report_filters"), st.container(horizontal=True):
        filters = {"Model": choices.models, "GPU": choices.gpus, "Tag": choices.tags}
        model, gpu, tag = (
            st.selectbox(label, (ANY, *values), key=f"report_{label.lower()}")
            for label, values in filters.items()
        )
        since = st.date_input("Saved since", None, key="report_since")
        until = st.date_input("Saved until", None, key="report_until")
        deleted = st.toggle("Deleted reports", key="report_deleted_ones")
    return ReportQuery(
        words=words or "",
        model=_chosen(model),
        gpu=_chosen(gpu),
        tag=_chosen(tag),
        since=_start(since),
        until=_start(until + timedelta(days=1)) if isinstance(until, date) else None,
        deleted=deleted,
    )


def _chosen(choice: str | None) -> str:
    """Chosen value of a filter; empty for any."""
    if choice is None or choice == ANY:
        return ""
    return choice


def _start(day: object) -> datetime | None:
    if isinstance(day, date):
        return datetime.combine(day, time(), UTC)
    return None


def _compare_button() -> None:
    chosen = sorted(st.session_state.get(CHOSEN, ()))
    right = FEWEST <= len(chosen) <= MOST
    st.button(
        f"Compare {len(chosen)}" if chosen else "Compare",
        key="compare_chosen",
        disabled=not right,
        help=None if right else f"Tick {FEWEST} to {MOST} reports.",
        on_click=_open,
        args=("compare", ",".join(map(str, chosen))),
    )


def _row(store: ReportStore, head: ReportHead, *, deleted: bool) -> None:
    """Verdict with its speed, name and date; a tick to compare."""
    with st.container(border=True, key=f"report_{head.id}"):
        tick, words, actions = st.columns([0.35, 5, 2.2], vertical_alignment="center", gap="small")
        with words:
            show(_told(head))
        with actions, st.container(horizontal=True, horizontal_alignment="right"):
            if deleted:
                _restore_button(store, head.id, "Restore", f"restore_{head.id}")
                return
            st.button("Open", key=f"open_{head.id}", on_click=_open, args=("report", str(head.id)))
            delete_button(store, head)
        chosen = set(st.session_state.get(CHOSEN, ()))
        tick.checkbox(
            "Compare",
            head.id in chosen,
            help="Tick two to compare",
            key=f"choose_{head.id}",
            on_change=st.session_state.update,
            args=({CHOSEN: chosen ^ {head.id}},),
            label_visibility="collapsed",
        )


def _told(head: ReportHead) -> Markup:
    """Report in three lines: name, verdict, and what it is of."""
    by = f"{head.author}, " if head.author else ""
    when = formatting.moment(head.created_at.isoformat())
    what = ", ".join(part for part in (head.model, head.gpu) if part)
    tags = (block("oa-badge", tag, "span") for tag in head.tags)
    return joined(
        (
            block("oa-name", head.name),
            block("oa-part", parted(head.summary)[0]),
            block("oa-soft", joined((escape(f"{by}{when}. {what} "), *tags))),
        )
    )


def opened(store: ReportStore, numbers: str) -> list[SavedReport]:
    """Reports by the numbers in an address.

    Raises:
        InputError: the text is no list of numbers.
        StoreError: no report has one of the numbers.
    """
    parts = numbers.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"{numbers[:40]!r} names no reports by number; choose from the list.")
    return [store.load(int(part)) for part in parts]


def back_button() -> None:
    """Button from a report, or from reports side by side, to the list."""
    st.button("All reports", icon=":material/arrow_back:", on_click=_close, type="tertiary")


def _close() -> None:
    outcome.forget()
    for name in ("report", "compare"):
        st.query_params.pop(name, None)


def _open(name: str, value: str) -> None:
    outcome.forget()
    st.query_params[name] = value


def delete_button(store: ReportStore, head: ReportHead) -> None:
    """Button that deletes a report, with undo."""

    def delete() -> str:
        store.delete(head.id)
        st.session_state[DELETED] = head.id
        st.session_state[CHOSEN] = set(st.session_state.get(CHOSEN, ())) - {head.id}
        st.query_params.pop("report", None)
        return f"Deleted: {head.name}. It can be restored for 30 days."

    outcome.button("Delete", PLACE, delete, key=f"delete_{head.id}")


def _restore_button(store: ReportStore, number: int, label: str, key: str) -> None:
    def restore() -> str:
        st.session_state.pop(DELETED, None)
        return f"Restored: {store.restore(number).name}."

    outcome.button(label, PLACE, restore, key=key)
