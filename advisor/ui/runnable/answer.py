"""Models that run on a machine, computed once per request."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.finder.runnable import Runnable, runnable
from advisor.machine.machine import Machine
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP, Runtime


@dataclass(frozen=True, kw_only=True)
class RunnableAnswer:
    """Data of the page."""

    request: Request  # what is asked; its model does not count
    machine: Machine  # machine they run on
    runtime: Runtime  # runtime that runs them
    reading_tps: float  # speed at which a model keeps up with a reader [tokens/s]
    scored: tuple[Runnable, ...]  # models with a published score, ordered
    unscored: tuple[Runnable, ...]  # other models, fastest first


@st.cache_resource(max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Request: repr})
def answer(
    request: Request,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> RunnableAnswer:
    """Answer to a request; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: impossible inputs; the message says why.
    """
    nouns = request.nouns()
    how = nouns.runtime or LLAMA_CPP
    reading = nouns.money.reading_tps
    rows = runnable(nouns.machine, nouns.work, reading_tps=reading, runtime=how)
    return RunnableAnswer(
        request=request,
        machine=nouns.machine,
        runtime=how,
        reading_tps=reading,
        scored=tuple(row for row in rows if row.quality is not None),
        unscored=tuple(row for row in rows if row.quality is None),
    )
