"""Answer to a set of choices, computed once per set."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from advisor.advice.advise import Advice, advise
from advisor.advice.curves import Crossover, by_prompt, by_users
from advisor.advice.words.context_limits import context_notes
from advisor.advice.words.price_notes import price_notes
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.resolve import ResolvedModel
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.from_advice import document
from advisor.request.money import MoneyInputs
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.chosen_machine import machine_of
from advisor.ui.sidebar.model_choice import Picked


@dataclass(frozen=True, kw_only=True)
class AdviseAnswer:
    """Data of one comparison for the page.

    Attributes:
        choices: choices of the sidebar.
        resolved: model in the chosen format.
        machine: machine it runs on.
        work: the request.
        money: time and prices.
        advice: the answer.
    """

    choices: Choices
    resolved: ResolvedModel
    machine: Machine
    work: Workload
    money: MoneyInputs
    advice: Advice

    @cached_property
    def document(self) -> ReportDocument:
        """Report document of the answer, made on first use."""
        model = self.resolved.model
        return document(
            self.advice,
            self.machine,
            self.work,
            self.money,
            model=model,
            inputs=self.choices.parameters(),
            caveats=(
                *self.resolved.notes,
                *self.machine.software_notes,
                *context_notes(model, self.work),
                *price_notes(self.advice.question),
            ),
        )

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
    here = machine_of(choices)
    resolved = picked.in_format(choices.form)
    work, money = choices.workload(), choices.money()
    advice = advise(
        resolved.model,
        here,
        work,
        money=money,
        settings=choices.settings(),
        chosen=choices.chosen(),
        ownership=choices.ownership(here),
    )
    return AdviseAnswer(
        choices=choices,
        resolved=resolved,
        machine=here,
        work=work,
        money=money,
        advice=advice,
    )
