"""Buttons that keep a comparison: as a report, or as a link."""

from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

from advisor.errors import AdvisorError
from advisor.reports.document.document import ReportDocument
from advisor.reports.store.annotations import LONGEST_NAME, LONGEST_NOTES
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import notice
from advisor.ui.parts.session import author, base, own_store
from advisor.ui.sidebar import uploads

NO_LINK = "A link cannot carry what was pasted or uploaded."


def save_button(answer: AdviseAnswer) -> None:
    """Name, notes, and the button that saves the report."""
    title = answer.advice.title[:LONGEST_NAME]
    with st.popover("Save report", icon=":material/bookmark:", key="save_report"):
        with st.form("save", border=False):
            name = st.text_input(
                "Name", max_chars=LONGEST_NAME, placeholder=title, key="report_name"
            )
            notes = st.text_area("Notes", max_chars=LONGEST_NOTES, key="report_notes")
            tags = st.text_input("Tags, with commas between", key="report_tags")
            made_by = st.text_input(
                "Made by", author(), max_chars=LONGEST_NAME, key="report_author",
                help="Stands in the report; leave it empty to say nothing.",
            )  # fmt: skip
            pressed = st.form_submit_button("Save", type="primary", key="save_now")
        if pressed:
            _save(answer, name or title, notes, tags.split(","), made_by)


def _save(answer: AdviseAnswer, name: str, notes: str, tags: list[str], made_by: str) -> None:
    try:
        store = own_store()
        if store is None:
            notice("Log in on the Reports page first; reports belong to whoever saves them.")
            return
        store.save(_document(answer), name, notes, tags=tags, author=made_by)
    except AdvisorError as error:
        notice(str(error), "error")
        return
    notice("Saved. You find it under Reports.")


def _document(answer: AdviseAnswer) -> ReportDocument:
    link = "" if uploads.is_given(answer.choices.model) else answer.choices.permalink(base())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(answer.document, created_at=now, link=link, command=answer.choices.command())


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
