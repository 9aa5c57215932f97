"""Machines that reach the target, computed once per request."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.advise import findings_of, host_of
from advisor.advice.finder.combinations import card_host
from advisor.advice.finder.search import Findings, Hit, best_of_each
from advisor.advice.table.cost import Use
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
    use: Use  # replies and hours of a month

    def rented_hours(self, hit: Hit) -> float:
        """Hours of a month that a machine is rented for [h]."""
        return float(self.use.rented_hours(hit.speed))


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
    return FindAnswer(
        request=request,
        model=nouns.model,
        host=card_host(host_of(nouns)),
        findings=findings,
        best=tuple(best_of_each(findings.hits)),
        use=Use(work=nouns.work, money=nouns.money),
    )
