"""Machines that reach the target, computed once per set of inputs."""

from dataclasses import dataclass

import streamlit as st

from advisor.advice.answer import findings_of, host_of
from advisor.advice.finder.combinations import card_host
from advisor.advice.finder.search import Findings, Hit, best_of_each, front
from advisor.catalog.inputs import shortest
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.request import Request
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.model_choice import Picked
from advisor.ui.sidebar.target_fields import THERE


@dataclass(frozen=True, kw_only=True)
class TargetChoices:
    """Values of the page's own inputs by key; None for empty ones."""

    leasttps: float
    mostmonth: float | None
    mostonce: float | None
    formats: str
    engine: str
    caches: str
    contexts: str
    cardsin: str = THERE

    def parameters(self) -> dict[str, str]:
        """Parameters of a link, without empty values."""
        return {
            key: value if isinstance(value, str) else shortest(value)
            for key, value in vars(self).items()
            if value is not None
        }


@dataclass(frozen=True, kw_only=True)
class FindAnswer:
    """Data of the page.

    Attributes:
        choices: choices of the sidebar.
        target: target of the page.
        request: request that both make.
        model: model to run.
        host: machine that the cards are put into.
        findings: all combinations that reach the target.
        best: best combination of each machine, bought and rented.
        front: combinations among the best that no other beats in speed and cost.
    """

    choices: Choices
    target: TargetChoices
    request: Request
    model: Model
    host: Machine
    findings: Findings
    best: tuple[Hit, ...]
    front: tuple[Hit, ...]


def _key(picked: Picked) -> str:
    return f"{picked.stamp} {picked.text}"


@st.cache_resource(
    max_entries=32,
    ttl=3600,
    show_spinner=False,
    hash_funcs={Choices: repr, TargetChoices: repr, Picked: _key},
)
def answer(
    choices: Choices,
    target: TargetChoices,
    picked: Picked,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> FindAnswer:
    """Answer to the inputs; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: impossible inputs; the message says why.
    """
    request = choices.made_on("find", **target.parameters())
    nouns = request.nouns(picked.resolved)
    findings = findings_of(nouns)
    best = tuple(best_of_each(findings.hits))
    return FindAnswer(
        choices=choices,
        target=target,
        request=request,
        model=nouns.model,
        host=card_host(host_of(nouns)),
        findings=findings,
        best=best,
        front=tuple(front(best)),
    )
