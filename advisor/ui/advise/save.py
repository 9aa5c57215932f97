"""Buttons that keep a comparison: as a report, or as a link."""

from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

from advisor.errors import InputError
from advisor.reports.document.document import ReportDocument
from advisor.reports.store.annotations import LONGEST_NAME, LONGEST_NOTES
from advisor.request.command_line import command
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts import outcome
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.session import author, base, own_store
from advisor.ui.sidebar import uploads

NO_LINK = "A link cannot carry what was pasted or uploaded."


def save_button(answer: AdviseAnswer) -> None:
    """Name, notes, and the button that saves the report."""
    title = answer.advice.title[:LONGEST_NAME]
    with st.popover("Save report", icon=":material/bookmark:", key="save_report"):
        with st.form("save", border=False):
            st.text_input("Name", max_chars=LONGEST_NAME, placeholder=title, key="report_name")
            st.text_area("Notes", max_chars=LONGEST_NOTES, key="report_notes")
            st.text_input("Tags, with commas between", key="report_tags")
            st.text_input(
                "Made by", author(), max_chars=LONGEST_NAME, key="report_author",
                help="Shown in the report; optional.",
            )  # fmt: skip
            st.form_submit_button(
                "Save", type="primary", key="save_now", on_click=outcome.attempt,
                args=("save", lambda: _save(answer, title)),
            )  # fmt: skip
        outcome.show("save")


def _save(answer: AdviseAnswer, title: str) -> str:
    """Save the comparison that the visitor sees, and say so.

    Raises:
        InputError: nobody is logged in where reports have owners.
        StoreError: the report cannot be saved.
    """
    name, notes, tags, made_by = (
        str(st.session_state[f"report_{part}"] or "")
        for part in ("name", "notes", "tags", "author")
    )
    store = own_store()
    if store is None:
        raise InputError("Log in on the Reports page first; reports belong to whoever saves them.")
    report = store.save(
        _document(answer), name or title, notes, tags=tags.split(","), author=made_by
    )
    return f"Saved under Reports as {report.name}."


def _document(answer: AdviseAnswer) -> ReportDocument:
    link = "" if uploads.is_given(answer.choices.model) else answer.choices.permalink(base())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(
        answer.document, created_at=now, link=link, command=command(answer.choices.copied)
    )


def link_button(answer: AdviseAnswer) -> None:
    """Address that reopens the comparison, with a button to copy it."""
    no_link = uploads.is_given(answer.choices.model)
    with st.popover(
        "Copy link", icon=":material/link:", key="copy_link", disabled=no_link,
        help=NO_LINK if no_link else None,
    ):  # fmt: skip
        if no_link:
            return
        st.caption("This address reopens the comparison. The button on its right copies it.")
        copyable(answer.choices.permalink(base()))
