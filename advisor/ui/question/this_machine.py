"""The computer that the program runs on: detected parts, and the button that measures it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from advisor.calibration import local_machine
from advisor.calibration.local_machine import this_machine
from advisor.errors import AdvisorError
from advisor.machine.machine import Machine
from advisor.paths import data_folder
from advisor.permission import permitted
from advisor.ui.parts import audience, markup, probe_job, unforeseen

PAGE = Path(__file__).parents[1] / "pages" / "calibrate.py"
REMEMBERED = 600  # seconds until the drivers are asked again
JOB = "probe_job"
STARTED = "started"
"""Where a session keeps the job that it started, and the parameter of the address that tells whose
it is, so that it can be stopped after a reload."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Parts of this machine as detected."""

    machine: Machine  # its parts
    stale: str  # reason to measure again; empty while measurements are valid


def seen() -> Seen | None:
    """This machine as detected; None if detection fails, or where it is not shown."""
    if not permitted().here:
        return None
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
    """Prober of the server."""
    return probe_job.Prober()


def page_link() -> None:
    """Link to the page Your machine, which measures all parts and takes machines from elsewhere."""
    st.page_link(PAGE, label="Measure every part, or another computer")


def measure(where: str, offer: Callable[[], None] | None = None) -> None:
    """Show the offer to measure RAM and drive, then progress, then the result.

    Parts without a result have a reason.
    """
    if not audience.probes():
        markup.say(
            "This server is not measured: others reach it, too, or its operator switched that off. "
            "Type the speeds of RAM and drive instead."
        )
        return
    job = prober().job
    if job is not None and job.running:
        watch(where)
        return
    if offer is not None:
        offer()
    else:
        st.button(
            f"Measure RAM and drive (about {math.ceil(probe_job.ProbeJob().whole)} s)",
            key=f"measure_{where}",
            icon=":material/speed:",
            width="stretch",
            on_click=start,
        )
    if own := mine():
        markup.notice(*own.outcome())
        for part, why in own.troubles.items():
            markup.say(f"{probe_job.HEADS.get(part, part)}: {why}")


def start(parts: Sequence[str] = probe_job.SHORT, *, full: bool = False) -> None:
    """Start measuring, or follow a measurement that already runs (for callbacks)."""
    before = prober().job
    job = prober().start(parts, full=full)
    if job is not before:
        st.session_state[JOB] = job
        st.query_params[STARTED] = job.token


def mine() -> probe_job.ProbeJob | None:
    """Job that this visitor started, also before the page was reloaded."""
    job = prober().job
    if job is not None and st.query_params.get(STARTED) == job.token:
        st.session_state[JOB] = job
    started: probe_job.ProbeJob | None = st.session_state.get(JOB)
    return started


@st.fragment(run_every=0.5)
@unforeseen.named()
def watch(where: str) -> None:
    """Show the progress of each part, and a button for the visitor who started it."""
    job = prober().job
    if job is None or not job.running:
        st.rerun()
    if mine() is not job:
        markup.notice(
            "This machine is being measured, by another visitor or in another tab, and two at once "
            "would slow each other. "
            f"You can start in about {job.seconds_left:.0f} s; those figures will count here too"
        )
    for part in job.parts:
        step = job.steps.get(part)
        st.progress(min(step.share, 1.0) if step else 0.0, text=job.told(part))
    if mine() is job and job.cancelled:
        st.caption("Stopping after the current repeat.")
    elif mine() is job:
        st.button("Stop", key=f"{where}_stop", on_click=job.cancel, icon=":material/stop:")
