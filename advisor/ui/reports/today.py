"""A saved comparison made again, with today's version and prices, beside what it said then."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import streamlit as st

from advisor.errors import AdvisorError, InputError
from advisor.reports.changes import change_tables, changes
from advisor.reports.document import ReportDocument
from advisor.reports.saved import SavedReport
from advisor.ui.advise.answer import answer
from advisor.ui.parts.markup import notice, show, table
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.fields import Amount
from advisor.ui.sidebar.fields import fields as form_fields
from advisor.ui.sidebar.machine_panel import calibrated_at
from advisor.ui.sidebar.model_choice import pick


def panel(report: SavedReport) -> None:
    """A button, and the answer of today."""
    with st.expander("And today?", key=f"today_{report.id}"):
        if st.button("Recompute with today's version and prices", key=f"again_{report.id}"):
            show_changes(report)


def show_changes(report: SavedReport) -> None:
    """What is answered now and why, beside what was said then."""
    try:
        now = recomputed(report.document.inputs)
    except AdvisorError as error:
        notice(str(error), "error")
        return
    changed = change_tables(changes(report.document, now))
    if not changed:
        notice("Nothing changed: today's answer is the same.")
    for words in changed:
        st.markdown(f"**{words.title}**")
        show(table(words.headings, words.rows, label=words.title))


def recomputed(inputs: Mapping[str, str]) -> ReportDocument:
    """The document of today for the inputs of a report.

    Raises:
        InputError: a report that was not saved on the page, or with inputs of another version.
        AdvisorError: inputs that have no answer any more.
    """
    if not inputs:
        raise InputError(
            "This report was saved on the command line; `report compare ID --today` recomputes it."
        )
    choices = _choices(inputs)
    return answer(choices, pick(choices.model), calibrated_at()).document


def _choices(inputs: Mapping[str, str]) -> Choices:
    known = form_fields()
    values: dict[str, Any] = {}
    for own in fields(Choices):
        if own.name in inputs:
            field = known.get(own.name)
            text = inputs[own.name]
            values[own.name] = _number(field, text) if isinstance(field, Amount) else text
    try:
        return Choices(**values)
    except TypeError as error:
        raise InputError(f"The report was made with other inputs than today's: {error}.") from error


def _number(field: Amount, text: str) -> float | int:
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(
            f"{field.label} is {text[:80]!r} in the report; a number is due."
        ) from error
    return round(value) if field.whole else value
