"""Editing and sharing of a report."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.reports.store.annotations import LONGEST_NAME, LONGEST_NOTES
from advisor.reports.store.saved import ReportHead, SavedReport
from advisor.reports.store.store import ReportStore
from advisor.ui.parts import outcome
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.session import base
from advisor.ui.question.current import address
from advisor.ui.reports.listing import PLACE

NOTES = "report_notes_form"
"""Place of the outcome below the notes."""


def form(store: ReportStore, report: SavedReport) -> None:
    """Form for name, notes and tags; conflicting edits of others are kept and shown."""
    # The report as it was when this visitor opened it: a rerun must not hide the other's change.
    seen: ReportHead = st.session_state.setdefault(f"seen_{report.id}", report)
    st.subheader("Name, tags and notes")
    with st.form(f"notes_{report.id}", border=False):
        st.text_input("Name", seen.name, max_chars=LONGEST_NAME, key=f"name_{report.id}")
        st.text_input("Tags, with commas between", ", ".join(seen.tags), key=f"tags_{report.id}")
        st.text_area(
            "Notes", seen.notes, max_chars=LONGEST_NOTES, key=f"text_{report.id}"
        )  # fmt: skip
        st.form_submit_button(
            "Save", key=f"keep_{report.id}", on_click=_keep, args=(store, seen)
        )  # fmt: skip
    outcome.show(NOTES)


def _keep(store: ReportStore, seen: ReportHead) -> None:
    name, notes, tags = (
        str(st.session_state[f"{part}_{seen.id}"]) for part in ("name", "text", "tags")
    )
    try:
        kept = store.annotate(seen.id, name=name, notes=notes, tags=tags.split(","), seen=seen)
    except AdvisorError as error:
        outcome.keep(NOTES, ("error", str(error)))
        return
    st.session_state[f"seen_{seen.id}"] = kept.head
    conflicts = [("warning", str(conflict)) for conflict in kept.conflicts]
    outcome.keep(NOTES, *(conflicts or [("note", "Saved.")]))


def share_button(store: ReportStore, report: SavedReport) -> None:
    """Button that makes a public link, or withdraws it."""
    with st.popover("Share", icon=":material/share:", key=f"share_{report.id}"):
        public = bool(report.share)
        st.toggle(
            "Anyone with the link can read it", public, key=f"public_{report.id}",
            on_change=_share, args=(store, report.id), kwargs={"public": not public},
        )  # fmt: skip
        if public:
            link = address(f"{base()}reports", {"shared": report.share})
            copyable(link)
        else:
            show(block("oa-soft", "Only those who can open this list see it.", "p"))


def _share(store: ReportStore, number: int, *, public: bool) -> None:
    try:
        store.share(number, public=public)
    except AdvisorError as error:
        outcome.keep(PLACE, ("error", str(error)))
