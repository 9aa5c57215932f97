"""Two to six reports side by side."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.errors import AdvisorError, InputError
from advisor.model import resolve
from advisor.model.resolve import ReferenceKind
from advisor.reports.comparison import (
    Change,
    change_tables,
    changes,
    compared,
    recomputed,
    request_of,
)
from advisor.reports.content import parted
from advisor.reports.store.saved import SavedReport
from advisor.reports.store.store import ReportStore
from advisor.ui.parts import audience, drawing
from advisor.ui.parts.markup import block, notice, show, table
from advisor.ui.question.models import pick
from advisor.ui.reports.listing import back_button

LETTERS = "ABCDEF"
"""Letters of the reports that stand side by side."""

# Saved comparison computed again with today's version and prices.


def panel(report: SavedReport) -> None:
    """Button and today's answer."""
    with st.expander("Compare with today", key=f"today_{report.id}"):
        st.button(
            "Recompute with today's version and prices", key=f"again_{report.id}",
            on_click=want_changes, args=([report],),
        )  # fmt: skip
        show_changes(report)


def want_changes(reports: Iterable[SavedReport]) -> None:
    """Have today's answer computed by the next run, again if it was before (for callbacks)."""
    for report in reports:
        st.session_state[_key(report)] = None


def _key(report: SavedReport) -> str:
    return f"changes_{report.id}"


def show_changes(report: SavedReport) -> None:
    """Changed answers and their reasons, beside the saved ones; nothing until they are wanted."""
    key = _key(report)
    if key not in st.session_state:
        return
    if st.session_state[key] is None:  # kept, since any other input runs the page again
        try:
            st.session_state[key] = _changes(report)
        except AdvisorError as error:
            st.session_state[key] = str(error)
    changed: tuple[Change, ...] | str = st.session_state[key]
    if isinstance(changed, str):
        notice(changed, "error")
        return
    if not changed:
        notice("Nothing changed: today's answer is the same.")
    for words in change_tables(changed):
        st.markdown(f"**{words.title}**")
        show(table(words.headings, words.rows, label=words.title))


def _changes(report: SavedReport) -> tuple[Change, ...]:
    """Changes since the report.

    Raises:
        InputError: inputs or a command of another version, or of a file that may not be read.
        AdvisorError: inputs that no longer have an answer.
    """
    request = request_of(report.document)
    if resolve.way(request.model) is ReferenceKind.PATH and not audience.reads_local_files():
        raise InputError(
            "This report is of a file on the machine where it was made, which this server may not "
            f"read; `report compare {report.id} --today` recomputes it there."
        )
    resolved = pick(request.model).in_format(request.format)
    return changes(report.document, recomputed(request, resolved))


def view(store: ReportStore, numbers: str) -> None:
    """Comparison of the reports in an address.

    Raises:
        InputError: not numbers, or too few or many.
        StoreError: a missing or damaged report.
    """
    back_button()
    parts = numbers.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"{numbers[:40]!r} are not numbers of reports; choose from the list.")
    reports = [store.load(int(part)) for part in parts]
    comparison = compared(reports, LETTERS[: len(reports)])
    for letter, name, report in zip(LETTERS, comparison.names, reports, strict=False):
        title = Markup("<b class='oa-letter'>{}</b> {}").format(letter, name)
        told = block("oa-part", parted(report.document.verdict)[0])
        show(block("oa-side", block("oa-name", title, "h2") + told))  # its name stands here alone
    if comparison.chart.bars:
        drawing.headed(comparison.chart)
    with st.container(key="sides"):
        for words in comparison.tables:
            st.subheader(words.title)
            show(table(words.headings, words.rows, label=words.title))
    with st.expander("Compare with today", key="compare_today"):
        st.button(
            "Recompute all with today's version and prices", key="compare_again",
            on_click=want_changes, args=(reports,),
        )  # fmt: skip
        for letter, report in zip(LETTERS, reports, strict=False):
            show(block("oa-name", letter, "h3"))
            show_changes(report)
