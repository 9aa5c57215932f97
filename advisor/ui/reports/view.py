"""One saved report, as it was saved."""

import streamlit as st
from markupsafe import Markup

from advisor.errors import InputError
from advisor.formatting import show_money_in
from advisor.reports.charts import charts
from advisor.reports.charts.chart_parts import Bar, BarChart
from advisor.reports.content.front_page import CardWords, FrontPage, front_page, option_note
from advisor.reports.content.sections import ReportSection, sections
from advisor.reports.document.document import ReportDocument
from advisor.reports.files.export import FORMS
from advisor.reports.store.saved import SavedReport
from advisor.reports.store.store import ReportStore
from advisor.ui.parts import comparison_charts, outcome
from advisor.ui.parts.bars import track
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, joined, notice, show, table
from advisor.ui.parts.session import base
from advisor.ui.question.current import address
from advisor.ui.reports import edit, results, today
from advisor.ui.reports.listing import PLACE, delete_button


def view(store: ReportStore, number: str) -> None:
    """Report of a number in the address.

    Raises:
        InputError: not a number.
        StoreError: a missing or damaged report.
    """
    st.button("All reports", icon=":material/arrow_back:", on_click=_close, type="tertiary")
    outcome.show(PLACE)
    if not number.isascii() or not number.isdigit():
        raise InputError(f"{number[:40]!r} is not the number of a report; choose from the list.")
    report = store.load(int(number))
    show_money_in(report.document.shown_in)
    _front(front_page(report))
    _actions(report)
    with st.container(horizontal=True):
        delete_button(store, report)
        edit.share_button(store, report)
    results.panel(store, report)
    today.panel(report)
    _behind(report.document)
    edit.form(store, report)


def shared(store: ReportStore, secret: str) -> None:
    """Report behind a public link, without controls.

    Raises:
        StoreError: the link shows no report.
    """
    report = store.load_shared(secret)
    show_money_in(report.document.shown_in)
    _front(front_page(report))
    _actions(report)
    _behind(report.document)


def _close() -> None:
    outcome.forget()
    for name in ("report", "compare"):
        st.query_params.pop(name, None)


def _front(page: FrontPage) -> None:
    """First page, in the order of exported files."""
    show(block("oa-title", page.name, "h1"))
    if page.title:
        show(block("oa-sub", page.title))
    show(block("oa-verdict", page.verdict, "p"))
    if page.reasons:
        show(block("oa-why", page.reasons, "p"))
    for column, card in zip(st.columns(3), page.cards, strict=False):
        with column, st.container(border=True, height="stretch"):
            show(_card(card))
    for sentence in page.results:
        notice(sentence)
    _options(page)
    for text in (page.unable, *page.facts):
        if text:
            show(block("oa-soft", text, "p"))
    if page.notes:
        show(block("oa-notes", page.notes, "p"))


def _options(page: FrontPage) -> None:
    if not page.options:
        return
    chart = charts.options(page.options)
    st.subheader(chart.title)
    notes = map(option_note, page.options)
    show(joined(_option(bar, chart, note) for bar, note in zip(chart.bars, notes, strict=True)))


def _option(bar: Bar, chart: BarChart, note: str) -> Markup:
    """Option in words that wrap on a phone, with its bar between them."""
    parts = [track(bar, chart.end, chart.unit)] if bar.parts else []
    words = Markup("{}: <b>{}</b>").format(bar.head, bar.figure)
    return block("oa-option", joined([words, *parts, block("oa-soft", note)]))


def _card(card: CardWords) -> Markup:
    lines = (block("oa-soft", line, "p") for line in card.lines)
    return joined(
        (
            block("oa-name", card.name),
            block("oa-speed", card.figure),
            block("oa-range", card.range),
            *lines,
        )
    )


def _actions(report: SavedReport) -> None:
    inputs = report.document.inputs
    with st.container(horizontal=True):
        if inputs:
            st.link_button("Open in Advise", address(base(), inputs), icon=":material/open_in_new:")
        for form in FORMS.values():
            st.download_button(
                form.label, lambda form=form: form.make(report),  # type: ignore[misc]  # mypy infers no lambda with a default
                file_name=f"offload-report-{report.id}.{form.suffix}", mime=form.mime,
                on_click="ignore", key=f"as_{form.suffix}", icon=":material/download:",
            )  # fmt: skip


def _behind(document: ReportDocument) -> None:
    """Sections behind the first page; all but the charts are folded."""
    for section in sections(document):
        if section.charts:
            _charts(section)
        if section.tables or section.commands:
            with st.expander(section.title, key=f"section_{section.title}"):
                _texts(section)


def _charts(section: ReportSection) -> None:
    for place in range(0, len(section.charts), 2):
        pair = section.charts[place : place + 2]
        for column, chart in zip(st.columns(2, gap="medium"), pair, strict=False):
            with column:
                comparison_charts.headed(chart)


def _texts(section: ReportSection) -> None:
    for words in section.tables:
        if words.title != section.title:
            st.markdown(f"**{words.title}**")
        show(table(words.headings, words.rows, label=words.title))
    for heading, command in section.commands:
        show(block("oa-soft", heading, "p"))
        copyable(command)
