"""Models that run on a machine, computed once per set of inputs."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.finder.runnable import Runnable, runnable
from advisor.machine.machine import Machine
from advisor.runtimes import Runtime
from advisor.runtimes import runtime as runtime_named
from advisor.ui.sidebar.choices import Choices


@dataclass(frozen=True, kw_only=True)
class RunnableAnswer:
    """Data of the page.

    Attributes:
        choices: choices of the sidebar.
        machine: machine they run on.
        runtime: runtime that runs them.
        reading_tps: speed at which a model keeps up with a reader [tokens/s].
        scored: models with a published score, ordered.
        unscored: other models, fastest first.
    """

    choices: Choices
    machine: Machine
    runtime: Runtime
    reading_tps: float
    scored: tuple[Runnable, ...]
    unscored: tuple[Runnable, ...]


@st.cache_resource(max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Choices: repr})
def answer(
    choices: Choices,
    reading_tps: float,
    runtime: str,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> RunnableAnswer:
    """Answer to the inputs; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: impossible inputs; the message says why.
    """
    nouns, how = choices.request.nouns(), runtime_named(runtime)
    machine = nouns.machine
    rows = runnable(machine, nouns.work, reading_tps=reading_tps, runtime=how)
    return RunnableAnswer(
        choices=choices,
        machine=machine,
        runtime=how,
        reading_tps=reading_tps,
        scored=tuple(row for row in rows if row.quality is not None),
        unscored=tuple(row for row in rows if row.quality is None),
    )
