"""Models that run on a machine, computed once per request."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.finder.runnable import Runnable, ranked_models, rating, runnable
from advisor.machine.machine import Machine
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP, Runtime


@dataclass(frozen=True, kw_only=True)
class RunnableAnswer:
    """Models with a score, or those without."""

    request: Request  # what is asked; its model does not count
    machine: Machine  # machine they run on
    runtime: Runtime  # runtime that runs them
    reading_tps: float  # speed at which a model keeps up with a reader [tokens/s]
    rows: tuple[Runnable, ...]  # in their order


@st.cache_resource(max_entries=64, ttl=3600, show_spinner=False, hash_funcs={Request: repr})
def answer(
    request: Request,
    calibrated: int,  # noqa: ARG001 - a part of the key
    *,
    rated: bool,
    whole: bool,
) -> RunnableAnswer:
    """Answer to a request.

    Args:
        request: what is asked.
        calibrated: changes with every new measurement of this machine.
        rated: models with a score, of their own or of their predecessor; else the others.
        whole: only models that the GPUs hold whole.

    Raises:
        AdvisorError: impossible inputs; the message says why.
    """
    nouns = request.nouns()
    how = nouns.runtime or LLAMA_CPP
    reading = nouns.money.reading_tps
    names = [name for name in ranked_models() if (rating(name) is not None) == rated]
    rows = runnable(
        nouns.machine, nouns.work, reading_tps=reading, names=names, runtime=how, whole=whole
    )
    return RunnableAnswer(
        request=request, machine=nouns.machine, runtime=how, reading_tps=reading, rows=tuple(rows)
    )
