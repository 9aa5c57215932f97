"""Machines that reach the target, computed once per request."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.answer import findings_of, host_of
from advisor.advice.finder.combinations import card_host
from advisor.advice.finder.search import Findings, Hit, best_of_each, front
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.request import Request
from advisor.ui.advise.answer import key_of
from advisor.ui.question.models import Picked


@dataclass(frozen=True, kw_only=True)
class FindAnswer:
    """Data of the page."""

    request: Request  # what is asked
    model: Model  # model to run
    host: Machine  # machine that the cards are put into
    findings: Findings  # all combinations that reach the target
    best: tuple[Hit, ...]  # best combination of each machine, bought and rented
    front: tuple[Hit, ...]  # combinations among the best that no other beats in speed and cost


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Request: repr, Picked: key_of}
)
def answer(
    request: Request,
    picked: Picked,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> FindAnswer:
    """Answer to a request; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: an impossible request; the message says why.
    """
    nouns = request.nouns(picked.resolved)
    findings = findings_of(nouns)
    best = tuple(best_of_each(findings.hits))
    return FindAnswer(
        request=request,
        model=nouns.model,
        host=card_host(host_of(nouns)),
        findings=findings,
        best=best,
        front=tuple(front(best)),
    )
