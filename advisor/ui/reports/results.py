"""Measured results of a report: form, comparison with the prediction, contribution."""

from datetime import UTC, datetime

import streamlit as st

from advisor.advice.diagnosis.reported_speeds import reported
from advisor.errors import InputError
from advisor.reports.document.measured import MeasuredResult, measured_card
from advisor.reports.document.parts import PlacementCard
from advisor.reports.document.words import PLACEMENTS
from advisor.reports.files.contribution import contribution
from advisor.reports.store.saved import SavedReport
from advisor.reports.store.store import ReportStore
from advisor.ui.parts import outcome
from advisor.ui.parts.code_block import copyable

FILE_HELP = (
    "JSON of llama-bench, Ollama, LM Studio or vLLM, or an answer of llama-server or vLLM with its "
    "own timing."
)
FORM = "result_form"
"""Place of the outcome below the form."""
AGREE = "I measured this myself and agree that it is published."


def panel(store: ReportStore, report: SavedReport) -> None:
    """Form for a new result, and its contribution."""
    fitting = sorted(
        (card for card in report.document.placements if card.fits),
        key=lambda card: not card.shown,
    )
    if not fitting:
        return
    with st.expander("Add a measured speed", key=f"measure_{report.id}"):
        _form(store, report, fitting)
        if report.results:
            _contribute(report)


def _form(store: ReportStore, report: SavedReport, cards: list[PlacementCard]) -> None:
    with st.form(f"result_{report.id}", border=False):
        st.selectbox(
            "Runtime and placement", cards, key=f"result_card_{report.id}",
            format_func=lambda own: f"{own.runtime}, {PLACEMENTS[own.placement]}",
        )  # fmt: skip
        st.number_input("Speed [tokens/s]", 0.0, None, None, key=f"result_speed_{report.id}")
        st.file_uploader(
            "Or a result file", type="json", help=FILE_HELP, key=f"result_file_{report.id}"
        )
        st.text_input("Note", max_chars=200, key=f"result_note_{report.id}")
        st.form_submit_button(
            "Attach", key=f"attach_{report.id}", on_click=outcome.attempt,
            args=(FORM, lambda: _attach(store, report)),
        )  # fmt: skip
    outcome.show(FORM)


def _attach(store: ReportStore, report: SavedReport) -> str:
    """Attach the typed speed, or the file's, and say so.

    Raises:
        InputError: neither is given, or the file is not understood.
        StoreError: the result cannot be saved.
    """
    card, speed, file, note = (
        st.session_state[f"result_{part}_{report.id}"] for part in ("card", "speed", "file", "note")
    )
    if card is None or (not speed and file is None):
        raise InputError("Type a speed or choose a file.")
    content = (file.getvalue(), file.name) if file is not None else None
    store.attach(report.id, _result(report, card, speed, content, note))
    return "Attached; it is shown beside its prediction."


def _result(
    report: SavedReport,
    card: PlacementCard,
    speed: float | None,
    content: tuple[bytes, str] | None,
    note: str,
) -> MeasuredResult:
    speeds = reported(*content) if content is not None else None
    chosen = measured_card(report.document, card.runtime, card.placement)
    return MeasuredResult(
        runtime=chosen.runtime,
        placement=chosen.placement,
        decode_tps=speeds.measured.decode if speeds else float(speed or 0.0),
        prefill_tps=speeds.measured.prompt if speeds else None,
        source=speeds.source if speeds else "typed",
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        note=note,
    )


def _contribute(report: SavedReport) -> None:
    """CSV row of the newest result, shown after consent; nothing is sent."""
    if not st.checkbox(AGREE, key=f"agree_{report.id}"):
        return
    made = contribution(report, len(report.results))
    st.caption("A row for data/measurements/llama_cpp.csv, and the text of a pull request.")
    copyable(made.line)
    copyable(f"{made.title}\n\n{made.text}")
