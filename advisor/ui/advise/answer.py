"""Answer to a set of choices, computed once per set."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from advisor.advice.advise import Advice
from advisor.advice.answer import Answer
from advisor.advice.answer import answer as answer_to
from advisor.advice.curves import Crossover, by_prompt, by_users
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.resolve import ResolvedModel
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.from_advice import answer_document
from advisor.request.money import MoneyInputs
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.model_choice import Picked


@dataclass(frozen=True, kw_only=True)
class AdviseAnswer:
    """Data of one comparison for the page.

    Attributes:
        choices: choices of the sidebar.
        answered: the answer to them.
    """

    choices: Choices
    answered: Answer

    @property
    def advice(self) -> Advice:
        """The answer."""
        return self.answered.advice

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
        """The request."""
        return self.answered.nouns.work

    @property
    def money(self) -> MoneyInputs:
        """Time and prices."""
        return self.advice.question.money

    @cached_property
    def document(self) -> ReportDocument:
        """Report document of the answer, made on first use."""
        return answer_document(self.answered, self.choices.parameters())

    @cached_property
    def crossovers(self) -> tuple[Crossover | None, Crossover | None]:
        """Weights read in RAM against weights streamed, by users and by prompt length; computed on
        first use.
        """
        return by_users(self.advice.estimates), by_prompt(self.advice.estimates)


def _key(picked: Picked) -> str:
    return f"{picked.stamp} {picked.text}"


@st.cache_resource(
    max_entries=128, ttl=3600, show_spinner=False, hash_funcs={Choices: repr, Picked: _key}
)
def answer(
    choices: Choices,
    picked: Picked,
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> AdviseAnswer:
    """Answer to the choices; `calibrated` changes with every new measurement of this machine.

    Raises:
        AdvisorError: impossible choices; the message says why.
    """
    request = choices.request
    nouns = request.nouns(picked.in_format(request.format))
    return AdviseAnswer(choices=choices, answered=answer_to(nouns))
