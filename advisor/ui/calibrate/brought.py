"""Runs of other tools on the page Your machine, compared with predictions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

import streamlit as st

from advisor.advice.diagnosis.diagnose import measurable
from advisor.advice.diagnosis.results import LARGEST, READ, reported
from advisor.errors import InputError
from advisor.evidence.accuracy import brought_runs
from advisor.evidence.accuracy.brought_runs import LONGEST, BroughtRun
from advisor.failures import StoreError
from advisor.request.estimates import estimates_of
from advisor.ui.parts import outcome
from advisor.ui.parts.markup import columned, notice, say, show
from advisor.ui.question import current
from advisor.units import tokens_per_second

PLACE = "brought_runs"
FILE = "brought_file"
BY = "brought_by"
GONE = "brought_gone"
HOW = (
    "Takes what llama-bench (-o json), llama-benchy (--format json), vllm bench serve "
    "(--save-result), Ollama or LM Studio wrote. It is compared with the question of Advise, so "
    "ask there for the machine and model that it ran on. Shown beside predictions, never fitted. "
    "On the command line, `runs share` fills the form that sends a run to everybody."
)


COLUMNS: Mapping[str, Callable[[BroughtRun], object]] = {
    "Run": lambda run: _words(run),
    "By": lambda run: run.by or "you",
    "Measured": lambda run: tokens_per_second(run.decode),
    "Predicted": lambda run: tokens_per_second(run.predicted),
    "Ratio": lambda run: f"{run.ratio:.2f}",
    "With": lambda run: run.source,
    "Brought": lambda run: run.date,
}


def section() -> None:
    """Show a box for a result, and the results that were kept."""
    say(HOW)
    with st.form(PLACE, border=False):
        st.file_uploader("A tool's result", type=list(READ), key=FILE)
        st.text_input("Who measured", key=BY, max_chars=LONGEST, placeholder="you, if empty")
        outcome.button("Keep", PLACE, _keep, key="brought_keep", submits=True, type="primary")
    outcome.show(PLACE)
    try:
        runs = brought_runs.kept()
    except StoreError as error:
        notice(str(error), "error")
        return
    if runs:
        _list(runs)


def _keep() -> str:
    file = st.session_state[FILE]
    if file is None:
        raise InputError("Choose a file first.")
    if file.size > LARGEST:
        raise InputError(f"{file.name[:80]} has {file.size:,} bytes; {LARGEST:,} are allowed.")
    tried = measurable(estimates_of(current.present().nouns()))
    if not tried:
        raise InputError("The model of Advise does not fit its machine; ask for another first.")
    result = reported(file.getvalue(), file.name[:80])
    run = brought_runs.brought(
        tried[0],
        result,
        st.session_state[BY],
        date.today().isoformat(),
        here=current.present().here,
    )
    brought_runs.keep(run)
    return f"Kept: {_words(run)}, {run.ratio:.2f} times the prediction."


def _words(run: BroughtRun) -> str:
    return f"{run.model}, {run.format}, on {run.machine}"


def _list(runs: Sequence[BroughtRun]) -> None:
    show(columned(COLUMNS, runs, label="Runs of others", numeric=(2, 3, 4)))
    with st.popover("Delete a run"):
        numbers = range(1, len(runs) + 1)
        st.selectbox(
            "Run",
            numbers,
            key=GONE,
            format_func=lambda at: f"{at}. {_words(runs[at - 1])} by {runs[at - 1].by or 'you'}",
        )
        outcome.button(
            "Delete for good",
            PLACE,
            key="brought_delete",
            action=lambda: f"Deleted {_words(brought_runs.drop(int(st.session_state[GONE])))}.",
        )
