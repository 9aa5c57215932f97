"""One saved report: what it said then, whatever the program says now."""

import json
from collections.abc import Callable
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor import formatting
from advisor.errors import AdvisorError, InputError
from advisor.reports.document import PlacementCard, ReportDocument, to_json
from advisor.reports.store import LONGEST_NAME, LONGEST_NOTES, ReportStore, SavedReport
from advisor.ui.advise.tables import price_note
from advisor.ui.parts import comparison_charts
from advisor.ui.parts.markup import block, joined, notice, show, table
from advisor.ui.parts.plot import draw
from advisor.ui.parts.session import base
from advisor.ui.reports.listing import delete_button
from advisor.ui.sidebar.choices import address


def view(store: ReportStore, number: str) -> None:
    """The report of a number as the address has it.

    Raises:
        InputError: not a number.
        StoreError: no such report, or a damaged one.
    """
    st.button("All reports", icon=":material/arrow_back:", on_click=_close, type="tertiary")
    if not number.isascii() or not number.isdigit():
        raise InputError(f"{number[:40]!r} is not the number of a report; choose one of the list.")
    saved = store.load(int(number))
    document = saved.document
    when = f"Saved {formatting.moment(saved.created_at.isoformat())}, version {saved.app_version}"
    about = when if saved.name == document.title else f"{document.title}. {when}"
    show(block("oa-title", saved.name, "h1") + block("oa-sub", about))
    show(block("oa-verdict", document.verdict, "p"))
    _actions(store, saved)
    _cards(document)
    _charts(document)
    _tables(document)
    _notes(store, saved)


def _close() -> None:
    st.query_params.pop("report", None)


def _actions(store: ReportStore, saved: SavedReport) -> None:
    document = saved.document
    forms: tuple[tuple[str, str, str, Callable[[], str]], ...] = (
        ("HTML", "html", "text/html", partial(_exported, "html", document)),
        ("CSV", "csv", "text/csv", partial(_exported, "csv", document)),
        ("Markdown", "md", "text/markdown", partial(_exported, "markdown", document)),
        ("JSON", "json", "application/json", lambda: json.dumps(to_json(document), indent=1)),
    )
    with st.container(horizontal=True):
        st.link_button(
            "Open in Advise", address(base(), document.inputs), icon=":material/open_in_new:"
        )
        for label, suffix, mime, make in forms:
            st.download_button(
                label, make, file_name=f"offload-report-{saved.id}.{suffix}", mime=mime,
                on_click="ignore", key=f"as_{suffix}", icon=":material/download:",
            )  # fmt: skip
        delete_button(store, saved)


def _exported(form: str, document: ReportDocument) -> str:
    from advisor.reports import export  # draws with Matplotlib, which takes most of a second

    made: str = getattr(export, form)(document)
    return made


def _cards(document: ReportDocument) -> None:
    for column, card in zip(st.columns(3), comparison_charts.best_cards(document), strict=False):
        with column, st.container(border=True, height="stretch"):
            show(_card(card))


def _card(card: PlacementCard) -> Markup:
    title = comparison_charts.PLACEMENT_NAMES[card.placement]
    badge = "fits" if card.fits else "does not fit"
    head = Markup("<span class='oa-name'>{}</span><span class='oa-badge oa-{}'>{}</span>").format(
        title, "good" if card.fits else "bad", badge
    )
    return joined((block("oa-head", head), *_figures(card)))


def _figures(card: PlacementCard) -> list[Markup]:
    if not card.fits or card.decode_tps is None:
        short = (
            f"{formatting.memory(card.missing_bytes)} short"
            if card.missing_bytes
            else "not possible"
        )
        return [block("oa-speed oa-none", short), block("oa-why", card.explanation, "p")]
    amount, _, unit = formatting.tokens_per_second(card.decode_tps).partition(" ")
    facts = [("Runtime", card.runtime), ("Bound by", card.bottleneck)]
    if card.ttft_s is not None:
        facts.insert(0, ("First token", formatting.seconds(card.ttft_s)))
    rows = joined(Markup("<span>{}</span><span>{}</span>").format(*fact) for fact in facts)
    low, high = card.decode_tps_low or 0.0, card.decode_tps_high or 0.0
    return [
        block("oa-speed", Markup("{}<span>{}</span>").format(amount, unit)),
        block("oa-range", f"{formatting.range_of(low, high)} tokens/s"),
        block("oa-facts", rows),
    ]


def _charts(document: ReportDocument) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        if document.memory:
            st.subheader("Where the bytes are")
            draw(
                comparison_charts.memory_use(document.memory),
                key="saved_memory",
                alt="Bytes per tier",
            )
            show(comparison_charts.memory_keys())
        if document.layer_sweep is not None and len(document.layer_sweep.x) > 1:
            st.subheader("Speed against layers on the GPU")
            draw(
                comparison_charts.layers(document.layer_sweep),
                key="saved_layers",
                alt="Speed by layers",
            )
    with right:
        if document.token_time:
            st.subheader("Where each token's time goes")
            draw(
                comparison_charts.token_time(document.token_time),
                key="saved_time",
                alt="Time by route",
            )
            show(comparison_charts.time_keys(document.token_time))
        if document.cost_curves:
            st.subheader("Cost of a month, waiting included")
            draw(
                comparison_charts.costs(document.cost_curves),
                key="saved_costs",
                alt="Cost by tokens",
            )


def _tables(document: ReportDocument) -> None:
    if document.upgrades:
        st.subheader("Bigger GPUs")
        headings = ("GPU", "Speed", "A month", "Saves a month", "Verdict", "Price")
        rows = [
            (
                row.gpu if row.count == 1 else f"{row.count}x {row.gpu}",
                formatting.tokens_per_second(row.decode_tps) if row.decode_tps else "does not fit",
                formatting.money(row.monthly_usd) if row.monthly_usd is not None else "no price",
                formatting.hours(row.saves_hours) if row.saves_hours else "",
                row.verdict,
                price_note(row.price_note),
            )
            for row in document.upgrades[:12]
        ]
        show(table(headings, rows, label="Bigger GPUs", numeric=(1, 2, 3)))
    with st.expander("What it rests on"):
        figures = [(o.what, o.value, o.kind, o.source, o.date) for o in document.assumptions]
        show(table(("Figure", "Value", "Kind", "Source", "Date"), figures, label="Assumptions"))
    with st.expander("What was asked"):
        show(table(("Input", "Value"), list(document.inputs.items()), label="Inputs"))


def _notes(store: ReportStore, saved: SavedReport) -> None:
    st.subheader("Notes")
    with st.form(f"notes_{saved.id}", border=False):
        name = st.text_input("Name", saved.name, max_chars=LONGEST_NAME, key=f"name_{saved.id}")
        notes = st.text_area(
            "Notes", saved.notes, max_chars=LONGEST_NOTES, key=f"text_{saved.id}",
            label_visibility="collapsed",
        )  # fmt: skip
        pressed = st.form_submit_button("Keep", key=f"keep_{saved.id}")
    if pressed:
        try:
            store.annotate(saved.id, name=name, notes=notes)
        except AdvisorError as error:
            notice(str(error), "error")
        else:
            notice("Kept.")
