"""Button of the Calibrate page that starts the probes, with progress and stop."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from advisor.formatting import memory
from advisor.paths import data_folder
from advisor.probes import suite
from advisor.ui.parts import audience
from advisor.ui.parts.markup import notice, say
from advisor.ui.parts.probe_job import ProbeJob
from advisor.ui.question import this_machine
from advisor.units import GB

PACE = "calibrate_pace"
"""Session key of the choice."""
LITTLE_SPACE = 10 * GB
"""Free space below which writing a test file is worth a warning [B]."""
POLITE = (
    "It takes at most a quarter of the free memory, and on the drive a temporary file that is "
    "removed again. The other pages can be used meanwhile."
)


def section() -> None:
    """Choice of probes and button, then progress, then the result."""
    if not audience.probes():
        notice(
            "Measuring is switched off on this server. Your own computer is measured by the "
            "program there"
            + ("" if audience.is_public() else "; Another computer takes its result"), "warning",
        )  # fmt: skip
        return
    job = this_machine.prober().job
    if job is not None and job.running:
        this_machine.watch("calibrate")
        return
    _start()
    this_machine.ended()


def unsaved() -> ProbeJob | None:
    """Measurements of this session that could not be saved; None if there are none."""
    mine = this_machine.mine()
    if mine is None or not mine.measurements:
        return None
    return None if mine.running or mine.cancelled or mine.saved else mine


def _start() -> None:
    choice, button = st.columns([2, 1], vertical_alignment="bottom")
    paces = {
        f"Quick, about {sum(suite.QUICK.values()):.0f} s": False,
        f"Full, about {sum(suite.FULL.values()):.0f} s": True,
    }
    with choice:
        st.radio(
            "How thoroughly", list(paces), horizontal=True, key=PACE,
            persist_state="session",
            help="The full pass repeats more often and draws every point of the curves.",
        )  # fmt: skip
    with button:
        st.button(
            "Measure this machine", type="primary", icon=":material/speed:", width="stretch",
            key="calibrate_start", on_click=_begin, args=(paces,),
        )  # fmt: skip
    say(POLITE)
    free = free_space(data_folder())
    if free is not None and free < LITTLE_SPACE:
        notice(
            f"Only {memory(free)} is free on the drive; it is read with a smaller file, and less "
            "exactly",
            "warning",
        )


def _begin(paces: Mapping[str, bool]) -> None:
    this_machine.start(tuple(suite.QUICK), full=paces[st.session_state[PACE]])


def free_space(folder: Path) -> float | None:
    """Free space on the drive of a folder, which may not exist yet; None where unknown [B]."""
    there = next((existing for existing in (folder, *folder.parents) if existing.exists()), None)
    try:
        return None if there is None else float(shutil.disk_usage(there).free)
    except OSError:
        return None
