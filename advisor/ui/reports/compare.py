"""Two to six reports side by side."""

from collections.abc import Iterable, Sequence

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
from advisor.reports.content import WordTable, parted
from advisor.reports.store.saved import SavedReport
from advisor.ui.parts import audience, drawing
from advisor.ui.parts.markup import block, heading, notice, show, table
from advisor.ui.question.models import pick
from advisor.ui.reports.listing import back_button

LETTERS = "ABCDEF"  # letters of the reports that stand side by side

# Saved comparison computed again with today's version and prices.


def panel(reports: Sequence[SavedReport]) -> None:
    """Show a button, and the answers of today under the letters of their reports."""
    several = len(reports) > 1
    which = "all " if several else ""
    with st.expander("Compare with today", key="compare_today"):
        st.button(
            f"Recompute {which}with today's version and prices",
            key="compare_again",
            on_click=_recompute,
            args=(reports,),
        )
        for letter, report in zip(LETTERS, reports, strict=False):
            if several:
                show(block("oa-name", letter, "h3"))
            _show_changes(report)


def _recompute(reports: Iterable[SavedReport]) -> None:
    """Keep what changed since each report, or why it has no answer today (for callbacks)."""
    for report in reports:
        try:
            st.session_state[f"changes_{report.id}"] = _changes(report)
        except AdvisorError as error:
            st.session_state[f"changes_{report.id}"] = str(error)


def _show_changes(report: SavedReport) -> None:
    """Changed answers and their reasons, beside the saved ones; nothing until they are wanted."""
    changed: tuple[Change, ...] | str | None = st.session_state.get(f"changes_{report.id}")
    if isinstance(changed, str):
        notice(changed, "error")
    elif changed == ():
        notice("Nothing changed: today's answer is the same.")
    elif changed is not None:
        tables(change_tables(changed))


def tables(every: Iterable[WordTable]) -> None:
    """Tables of words under their titles."""
    for words in every:
        st.markdown(f"**{words.title}**")
        show(table(words.headings, words.rows, label=words.title))


def _changes(report: SavedReport) -> tuple[Change, ...]:
    """Changes since the report; raises AdvisorError where its inputs have no answer here today."""
    request = request_of(report.document)
    if resolve.way(request.model) is ReferenceKind.PATH and not audience.reads_local_files():
        raise InputError(
            "This report is of a file on the machine where it was made, which this server may not "
            f"read; `report compare {report.id} --today` recomputes it there."
        )
    resolved = pick(request.model).in_format(request.format)
    return changes(report.document, recomputed(request, resolved))


def view(reports: Sequence[SavedReport]) -> None:
    """Reports side by side; raises InputError where they are too few or many."""
    back_button()
    comparison = compared(reports, LETTERS[: len(reports)])
    show(heading("", comparison.conclusion, "oa-title"))
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
    panel(reports)
