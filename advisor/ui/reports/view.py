"""View of a saved report, unchanged since it was saved."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor.advice.diagnosis.diagnose import Measured
from advisor.advice.diagnosis.results import reported
from advisor.advice.judgement import Judgement, placed
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import AdvisorError, InputError
from advisor.formatting import moment, show_money_in
from advisor.reports import content
from advisor.reports.charts import BarChart, LineChart
from advisor.reports.document import PLACEMENTS, PlacementCard, ReportDocument
from advisor.reports.files.contribution import contribution
from advisor.reports.files.export import FORMS
from advisor.reports.from_advice import result_of
from advisor.reports.store.saved import LONGEST_NAME, LONGEST_NOTES, ReportHead, SavedReport
from advisor.reports.store.store import ReportStore
from advisor.request.request import Request
from advisor.ui.advise import placements
from advisor.ui.parts import drawing, outcome, tabs
from advisor.ui.parts.drawing import track
from advisor.ui.parts.markup import block, copyable, head, heading, joined, notice, say, show
from advisor.ui.parts.session import base
from advisor.ui.question.current import address
from advisor.ui.reports import compare as today
from advisor.ui.reports.listing import PLACE, back_button, delete_button
from advisor.units import memory, number

# Editing and sharing of a report.

NOTES = "report_notes_form"  # place of the outcome below the notes


def _notes(store: ReportStore, report: SavedReport) -> None:
    """Form for name, notes and tags; conflicting edits of others are kept and shown."""
    # The report as it was when this visitor opened it: a rerun must not hide the other's change.
    seen: ReportHead = st.session_state.setdefault(f"seen_{report.id}", report)
    with st.form(f"notes_{report.id}", border=False):
        st.text_input("Name", seen.name, max_chars=LONGEST_NAME, key=f"name_{report.id}")
        st.text_input("Tags, with commas between", ", ".join(seen.tags), key=f"tags_{report.id}")
        st.text_area("Notes", seen.notes, max_chars=LONGEST_NOTES, key=f"text_{report.id}")
        st.form_submit_button("Save", key=f"keep_{report.id}", on_click=_keep, args=(store, seen))
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


NEVER = "when it is withdrawn"
ENDS = {
    NEVER: None,
    "after a week": timedelta(days=7),
    "after a month": timedelta(days=30),
    "after a year": timedelta(days=365),
}
"""When a link ends, by the words of the choice."""
MOST_EVENTS = 8  # events of a report that are listed


def _share_button(store: ReportStore, report: SavedReport) -> None:
    """Button that makes a public link, or withdraws it."""
    with st.popover("Share", icon=":material/share:", key=f"share_{report.id}"):
        public = bool(report.share)
        if not public:
            st.selectbox("The link ends", list(ENDS), key=f"ends_{report.id}")

        def share() -> str:
            after = ENDS[st.session_state.get(f"ends_{report.id}", NEVER)]
            until = None if after is None else datetime.now(UTC) + after
            store.share(report.id, public=not public, until=until)
            return ""  # the switch shows it

        st.toggle(
            "Anyone with the link can read it",
            public,
            key=f"public_{report.id}",
            on_change=outcome.attempt,
            args=(PLACE, share),
        )
        if public:
            copyable(address(f"{base()}reports", {"shared": report.share}))
            if report.share_until is not None:
                say(f"The link ends on {moment(report.share_until.isoformat())}.")
        else:
            say("Only those who can open this list see it.")
        for event in store.events(report.id, limit=MOST_EVENTS):
            say(f"{moment(event.at.isoformat())}: {event.words}.")


# Measured results of a report: form, comparison with the prediction, contribution.

FILE_HELP = (
    "JSON of llama-bench, Ollama, LM Studio or vLLM, or an answer of llama-server or vLLM with its "
    "own timing."
)
FORM = "result_form"  # place of the outcome below the form
AGREE = "I measured this myself and agree that it is published."


def _results(store: ReportStore, report: SavedReport) -> None:
    """Form for a new result; after consent the CSV row of the newest, of which nothing is sent."""
    fitting = sorted(
        (card for card in report.document.placements if card.fits), key=lambda card: not card.shown
    )
    if not fitting:
        return
    with st.expander("Add a measured speed", key=f"measure_{report.id}"):
        _form(store, report, fitting)
        if report.results and st.checkbox(AGREE, key=f"agree_{report.id}"):
            made = contribution(report, len(report.results))
            st.caption("A row for the table of measured runs, and the text of a pull request.")
            copyable(made.line)
            copyable(f"{made.title}\n\n{made.text}")


def _form(store: ReportStore, report: SavedReport, cards: list[PlacementCard]) -> None:
    with st.form(f"result_{report.id}", border=False):
        st.selectbox(
            "Runtime and placement",
            cards,
            key=f"result_card_{report.id}",
            format_func=lambda own: f"{own.runtime}, {PLACEMENTS[own.placement]}",
        )
        st.number_input("Speed [tokens/s]", 0.0, None, None, key=f"result_speed_{report.id}")
        st.file_uploader(
            "Or a result file", type="json", help=FILE_HELP, key=f"result_file_{report.id}"
        )
        st.text_input("Note", max_chars=200, key=f"result_note_{report.id}")
        key = f"attach_{report.id}"
        outcome.button("Attach", FORM, lambda: _attach(store, report), key=key, submits=True)
    outcome.show(FORM)


def _attach(store: ReportStore, report: SavedReport) -> str:
    """Attach the typed speed or the file's; raises InputError without any, or StoreError."""
    card, speed, file, note = (
        st.session_state[f"result_{part}_{report.id}"] for part in ("card", "speed", "file", "note")
    )
    if card is None or (not speed and file is None):
        raise InputError("Type a speed or choose a file.")
    if file is None:
        speeds = Measured(decode=speed)
    else:
        speeds = reported(file.getvalue(), file.name)
    made = result_of(report.document, card.runtime, card.placement, speeds, note)
    store.attach(report.id, made)
    return "Attached; it is shown beside its prediction."


COSTS = "What it costs"
TABS = {
    "Run it": ("Commands",),
    COSTS: ("What the verdict depends on", "All options"),
    "Where the time goes": ("Memory and time",),
    "All runtimes": ("Every runtime",),
    "Sources": ("Inputs", "Values"),
}
"""Sections of a report by tab, by the beginnings of their titles."""
YOURS = "Notes and measurements"


def view(report: SavedReport, store: ReportStore | None = None) -> None:
    """Show a report as it was saved; with its store, also the buttons of its owner."""
    if store is not None:
        back_button()
        outcome.show(PLACE)
    _frozen(report)
    with st.container(horizontal=True, key="report_actions"):
        _actions(report)
        if store is not None:
            _share_button(store, report)
            delete_button(store, report)
    bodies = _bodies(report)
    if store is not None:
        today.panel([report])
        bodies[YOURS] = lambda: _yours(store, report)
    if bodies:
        tabs.opened(bodies, "report_tab")


def _yours(store: ReportStore, report: SavedReport) -> None:
    _results(store, report)
    _notes(store, report)


def _decided(decision: content.DecisionWords | None) -> Markup:
    """Recommendation of a report and what it rests on; nothing in older reports."""
    if decision is None:
        return Markup()
    rows = ((block("oa-soft", label, "span"), text) for label, text in decision.rows)
    told = joined(Markup("<p>{} {}</p>").format(*row) for row in rows)
    first = block("oa-said", decision.question, "p")
    words = Markup("<p><b>{}</b> {}</p>").format(decision.recommendation, decision.beside)
    return block("oa-decision", first + words + told)


def _frozen(report: SavedReport) -> None:
    """Answer as Advise showed it: verdict, placements, what was measured, who made it."""
    show_money_in(report.document.shown_in)
    page = content.front_page(report)
    if page.title:
        name = f"{page.name}: {page.title}"
    else:
        name = page.name
    if page.reasons:
        told = block("oa-way", page.reasons, "p")
    else:
        told = Markup()
    parts = block("oa-name", name), _decided(page.decision), verdict_heading(page.verdict), told
    ways = (block("oa-soft", text, "p") for text in (*page.ways, page.certainty) if text)
    show(joined((*parts, _placements(report.document), *ways)))
    for sentence in page.results:
        notice(sentence)
    show(joined(block("oa-soft", text) for text in (page.unable, *page.facts) if text))
    if page.notes:
        say(page.notes, "oa-notes")


def verdict_heading(verdict: str) -> Markup:
    """First sentence of a verdict, in the tone of its speed words."""
    level = next((level for level in Judgement if level in verdict), None)
    words, colon, rest = verdict.partition(": ")
    if level is None or not colon:
        return heading("", verdict, "")
    return heading(f"{words}:", f" {rest}", f"oa-{placements.tone(level)}-text")


def _placements(document: ReportDocument) -> Markup:
    """Placements in one row as on Advise, the fastest framed."""
    reading = float(document.inputs.get("reading_tps") or Request().reading_tps)
    shown = content.shown_cards(document)
    fastest = max(shown, key=lambda card: card.decode_tps or 0.0, default=None)
    return block("oa-cards", joined(_placement(card, card is fastest, reading) for card in shown))


def _placement(card: PlacementCard, fastest: bool, reading: float) -> Markup:
    words = content.card_words(card)
    speed = card.decode_tps
    missing = card.missing_bytes
    if not card.fits or not speed:
        badge = placements.IMPOSSIBLE
        figure = "Not possible"
        if missing is not None:
            badge = placements.TOO_BIG
            figure = f"{memory(missing)} too big"
        return placements.grey(words.name, badge, figure, words.lines)
    level = placed(speed, PlacementStrategy(card.placement), card.runtime, reading)
    badge = placements.BADGES[level]
    if not fastest:
        lines = (words.range, *words.lines)
        return placements.grey(words.name, badge, f"{number(speed)} tokens/s", lines)
    low = card.decode_tps_low
    high = card.decode_tps_high
    if low is None or high is None:
        ends = None
    else:
        ends = (low, high)
    return placements.winner(head(words.name, *badge), speed, ends, reading, words.lines)


def _actions(report: SavedReport) -> None:
    inputs = report.document.inputs
    if inputs:
        st.link_button("Open in Advise", address(base(), inputs), icon=":material/open_in_new:")
    with st.popover("Download", icon=":material/download:", key="download"):
        for form in FORMS.values():
            st.download_button(
                form.label,
                lambda form=form: form.make(report),  # type: ignore[misc]  # mypy infers no lambda with a default
                file_name=f"offload-report-{report.id}.{form.suffix}",
                mime=form.mime,
                on_click="ignore",
                key=f"as_{form.suffix}",
                width="stretch",
            )


def _bodies(report: SavedReport) -> dict[str, Callable[[], None]]:
    """Sections behind the answer by tab, drawn when opened."""
    every = content.sections(report.document)
    options = content.front_page(report).options.charts
    bodies: dict[str, Callable[[], None]] = {}
    for title, beginnings in TABS.items():
        if inside := [part for part in every if part.title.startswith(beginnings)]:
            bodies[title] = partial(_sections, inside, options if title == COSTS else ())
    return bodies


def _sections(
    inside: Iterable[content.ReportSection], options: Iterable[BarChart | LineChart]
) -> None:
    """Sections of a tab, after options in words that wrap on a phone, with their bars between."""
    for bars in (chart for chart in options if isinstance(chart, BarChart)):
        for bar in bars.bars:
            words = Markup("{}: <b>{}</b>").format(bar.head, bar.figure)
            if bar.parts:
                drawn = track(bar, bars.end, bars.unit)
            else:
                drawn = Markup()
            show(block("oa-option", words + drawn + block("oa-soft", bar.note)))
    for section in inside:
        for place in range(0, len(section.charts), 2):
            pair = section.charts[place : place + 2]
            for column, each in zip(st.columns(2, gap="medium"), pair, strict=False):
                with column:
                    drawing.headed(each)
        today.tables(section.tables)
        for name, command in section.commands:
            say(name)
            copyable(command)
