"""Buttons of the bar that keep an answer: as a report, or as a link."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from advisor.errors import AdvisorError, InputError
from advisor.evidence.accuracy.regimes import certainty
from advisor.reports.card import card_of
from advisor.ui import preview
from advisor.ui.parts import outcome, tabs
from advisor.ui.parts.markup import copyable, notice, show
from advisor.ui.parts.session import author, login_configured, own_store
from advisor.ui.question import current, models
from advisor.ui.question.answer import current_answer

SAVED = "saved_report"  # session key of the number of the report saved last
PICTURE = Markup(
    "<a href='{0}' target='_blank'><img class='oa-shared' src='{0}' alt='{1}' width='1200' "
    "height='630'></a>"
)
REPORTS = Path(__file__).parents[1] / "pages" / "reports.py"


def buttons() -> None:
    """Save and Share."""
    tabs.popped("Save", "save_report", _form)
    given = models.is_given(current.present().model)
    tabs.popped("Share", "copy_link", _link, disabled=given, help=models.NO_LINK if given else None)


def _form() -> None:
    """Name, notes, and the button that saves the answer to the present question."""
    from advisor.reports.store.saved import LONGEST_NAME, LONGEST_NOTES

    try:
        title = current_answer().advice.title[:LONGEST_NAME]
    except AdvisorError as error:
        notice(str(error), "error")
        return
    with st.form("save", border=False):
        st.text_input("Name", max_chars=LONGEST_NAME, placeholder=title, key="report_name")
        st.text_area("Notes", max_chars=LONGEST_NOTES, key="report_notes")
        st.text_input("Tags, with commas between", key="report_tags")
        st.text_input(
            "Made by",
            author(),
            max_chars=LONGEST_NAME,
            key="report_author",
            help="Shown in the report; optional.",
        )
        key = "save_now"
        outcome.button("Save", "save", lambda: _save(title), key=key, submits=True, type="primary")
    outcome.show("save")
    if number := st.session_state.get(SAVED):
        st.page_link(REPORTS, label="Open the report", query_params={"report": str(number)})


def _save(title: str) -> str:
    """Save the answer shown; raises InputError without a login that is needed, or StoreError."""
    name, notes, tags, made_by = (
        str(st.session_state[f"report_{part}"] or "")
        for part in ("name", "notes", "tags", "author")
    )
    store = own_store()
    if store is None:
        raise InputError(
            "Log in on the Reports page first; reports belong to whoever saves them."
            if login_configured()
            else "Reports are not kept on this server; copy the link instead."
        )
    from advisor.reports.from_advice import answer_document  # with charts, for who saves

    answer = current_answer()
    request = answer.nouns.request
    document = replace(
        answer_document(answer, certainty(answer.advice.best)),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        link="" if models.is_given(request.model) else current.link(request),
        command=models.command_of(request),
    )
    report = store.save(document, name or title, notes, tags=tags.split(","), author=made_by)
    st.session_state[SAVED] = report.id
    return f"Saved under Reports as {report.name}."


def _link() -> None:
    """Address that reopens the page, and the answer in a line, as a picture and as a badge."""
    request = current.present()
    if models.is_given(request.model):
        return
    link = current.link(request)
    st.caption("Link: reopens the page as it is, and shows its picture where previews are made.")
    copyable(link)
    try:
        card = card_of(current_answer())
    except AdvisorError:
        return
    place, _, question = link.partition("?")
    st.caption("Text")
    copyable(card.text)
    st.caption("Badge, in Markdown")
    copyable(f"[![{card.text}]({place}{preview.BADGE}?{question})]({link})")
    st.caption("Picture, 1200 x 630")
    show(PICTURE.format(f"{place}{preview.PICTURE}?{question}", card.text))
