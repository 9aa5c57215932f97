"""Saved comparison computed again with today's version and prices."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import streamlit as st

import advisor
from advisor.errors import AdvisorError, InputError
from advisor.model import resolve
from advisor.model.resolve import ReferenceKind
from advisor.reports.document.document import ReportDocument
from advisor.reports.side_by_side.changes import Change, change_tables, changes
from advisor.reports.store.saved import SavedReport
from advisor.ui.advise.answer import answer
from advisor.ui.parts.markup import notice, show, table
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.field_kinds import Amount, Size
from advisor.ui.sidebar.fields import fields as form_fields
from advisor.ui.sidebar.machine_panel import calibrated_at
from advisor.ui.sidebar.model_choice import local_files, pick

LONGEST_RUN = 120.0
"""Time limit for the recomputation of a report of the command line [s]."""


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
        st.session_state[key] = _changes_or_refusal(report)
    changed: tuple[Change, ...] | str = st.session_state[key]
    if isinstance(changed, str):
        notice(changed, "error")
        return
    if not changed:
        notice("Nothing changed: today's answer is the same.")
    for words in change_tables(changed):
        st.markdown(f"**{words.title}**")
        show(table(words.headings, words.rows, label=words.title))


def _changes_or_refusal(report: SavedReport) -> tuple[Change, ...] | str:
    try:
        return _changes(report)
    except AdvisorError as error:
        return str(error)


def _changes(report: SavedReport) -> tuple[Change, ...]:
    """Changes since; a report of the command line is recomputed by the command line.

    Raises:
        InputError: inputs or a command of another version, or of a file that may not be read.
        AdvisorError: inputs that no longer have an answer.
    """
    document = report.document
    if document.inputs:
        return changes(document, recomputed(document.inputs))
    words = [part for word in shlex.split(document.command) for part in word.split("=")]
    if not local_files() and any(resolve.way(word) is ReferenceKind.PATH for word in words):
        raise InputError(
            "This report is of a file on the machine where it was made, which this server may not "
            f"read; `report compare {report.id} --today` recomputes it there."
        )
    return _by_command_line(report.id)


def _by_command_line(number: int) -> tuple[Change, ...]:
    """Answer of `report compare NUMBER --today`, since the page lacks some of its options.

    Raises:
        InputError: the message of the command line.
    """
    try:
        ran = subprocess.run(  # noqa: S603  this program, and a number
            (sys.executable, "-m", "advisor", "report", "compare", str(number), "--today",
             "--json"),
            capture_output=True, encoding="utf-8", timeout=LONGEST_RUN,
            cwd=Path(advisor.__file__).parents[1],
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"Report {number} could not be recomputed: {error}.") from error
    if ran.returncode != 0:
        raise InputError(ran.stderr.strip().removeprefix("advisor: ")[-500:])
    (answered,) = json.loads(ran.stdout)["today"]
    return tuple(Change(**change) for change in answered["changes"])


def recomputed(inputs: Mapping[str, str]) -> ReportDocument:
    """Today's document for the inputs of a report.

    Raises:
        InputError: inputs of another version.
        AdvisorError: inputs that no longer have an answer.
    """
    choices = _choices(inputs)
    return answer(choices, pick(choices.model), calibrated_at()).document


def _choices(inputs: Mapping[str, str]) -> Choices:
    known = form_fields()
    values: dict[str, Any] = {}
    for own in fields(Choices):
        if own.name in inputs:
            field = known.get(own.name)
            text = inputs[own.name]
            values[own.name] = _number(field, text) if isinstance(field, Amount | Size) else text
    try:
        return Choices(**values)
    except TypeError as error:
        raise InputError(f"The report was made with other inputs than today's: {error}.") from error


def _number(field: Amount | Size, text: str) -> float | int:
    try:
        value = field.amount(text)
    except (ValueError, InputError) as error:
        raise InputError(
            f"{field.label} is {text[:80]!r} in the report; a number is needed."
        ) from error
    return round(value) if field.whole else value
