"""Answer to the visitor's request, computed once per request."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from advisor.advice.advise import Advice, Answer
from advisor.advice.advise import answer as answer_to
from advisor.advice.curves import Crossover, by_prompt, by_users
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.resolve import ResolvedModel
from advisor.reports.document import ReportDocument
from advisor.reports.from_advice import answer_document
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.ui.question import current
from advisor.ui.question.models import Picked, pick
from advisor.ui.question.this_machine import calibrated_at


@dataclass(frozen=True, kw_only=True)
class AdviseAnswer:
    """Data of one answer for the page."""

    answered: Answer  # nouns of the request, and the advice

    @property
    def request(self) -> Request:
        """What is asked."""
        return self.answered.nouns.request

    @property
    def resolved(self) -> ResolvedModel:
        """Model in the chosen format."""
        return self.answered.nouns.resolved

    @property
    def machine(self) -> Machine:
        """Machine it runs on."""
        return self.answered.nouns.machine

    @property
    def work(self) -> Workload:
        """Request of one reply."""
        return self.answered.nouns.work

    @property
    def money(self) -> MoneyInputs:
        """Time and prices."""
        return self.answered.nouns.money

    @property
    def advice(self) -> Advice:
        """The answer."""
        return self.answered.advice

    @cached_property
    def document(self) -> ReportDocument:
        """Report document of the answer, made on first use."""
        return answer_document(self.answered)

    @cached_property
    def crossovers(self) -> tuple[Crossover | None, Crossover | None]:
        """Weights read in RAM against weights streamed, by users and by prompt length; computed on
        first use.
        """
        return by_users(self.advice.estimates), by_prompt(self.advice.estimates)


def key_of(picked: Picked) -> str:
    """What tells a model from others in a cache."""
    return f"{picked.stamp} {picked.text}"


@st.cache_resource(
    max_entries=128, ttl=3600, show_spinner=False, hash_funcs={Request: repr, Picked: key_of}
)
def answer(
    request: Request,
    picked: Picked,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> AdviseAnswer:
    """Answer to a request; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: an impossible request; the message says why.
    """
    nouns = request.nouns(picked.in_format(request.format))
    return AdviseAnswer(answered=answer_to(nouns))


def current_answer() -> AdviseAnswer:
    """Answer to the visitor's request.

    Raises:
        AdvisorError: an impossible request; the message says why.
    """
    request = current.present()
    return answer(request, pick(request.model), calibrated_at())
