"""The computer that the program runs on: detected parts, and the button that measures it."""

import math
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from advisor.calibration import local_machine
from advisor.calibration.local_machine import this_machine
from advisor.errors import AdvisorError
from advisor.machine.machine import Machine
from advisor.paths import data_folder
from advisor.ui.parts import audience, markup, probe_job, unforeseen

PAGE = Path(__file__).parents[1] / "pages" / "calibrate.py"
REMEMBERED = 600  # seconds until the drivers are asked again
JOB, RESULT = "probe_job", "probe_result"
"""Where a session keeps the job that it started, and how it ended."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """This machine as detected."""

    machine: Machine  # its parts
    stale: str  # reason to measure again; empty while measurements are valid


def seen() -> Seen | None:
    """This machine as detected; None if detection fails."""
    try:
        return _seen(calibrated_at())
    except AdvisorError:
        return None


def calibrated_at() -> int:
    """Time of the last saved measurement, a key for cached answers."""
    try:
        return (data_folder() / local_machine.FILE_NAME).stat().st_mtime_ns
    except OSError:
        return 0


@st.cache_resource(ttl=REMEMBERED, max_entries=4, show_spinner=False)
def _seen(saved: int) -> Seen:  # noqa: ARG001 - a part of the key
    return Seen(machine=this_machine(), stale=local_machine.load().stale)


@st.cache_resource(show_spinner=False)
def prober() -> probe_job.Prober:
    """The server's prober."""
    return probe_job.Prober()


def page_link() -> None:
    """Link to the page Your machine, which measures all parts and takes machines from elsewhere."""
    st.page_link(PAGE, label="Measure every part, or another computer")


def measure(where: str) -> None:
    """Button, then progress, then the result."""
    if not audience.probes():
        markup.show(
            markup.block(
                "oa-soft", "This server is not measured: others reach it, too, or its operator "
                "switched that off. Type the speeds of RAM and drive instead.",
            )
        )  # fmt: skip
        return
    job = prober().job
    if job is not None and job.running:
        _watch(where)
        return
    st.button(
        f"Measure RAM and drive (about {math.ceil(probe_job.ProbeJob().whole)} s)",
        key=f"measure_{where}",
        icon=":material/speed:",
        width="stretch",
        on_click=_start,
    )
    if message := st.session_state.get(RESULT):
        markup.notice(message)


def _start() -> None:
    st.session_state[JOB] = prober().start()


@st.fragment(run_every=0.5)
@unforeseen.named()
def _watch(where: str) -> None:
    job = prober().job
    if job is None or not job.running:
        if job is not None and st.session_state.pop(JOB, None) is job:
            st.session_state[RESULT] = job.summary()
        st.rerun()
    mine = st.session_state.get(JOB) is job
    st.progress(min(job.share, 1.0), text=f"Measuring the {job.doing or 'machine'}")
    if mine:
        st.button("Stop", key=f"stop_{where}", on_click=job.cancel, width="stretch")
    else:
        st.caption("Another tab measures this machine; its figures are used here too.")
