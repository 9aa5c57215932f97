"""Machines that reach the target, computed once per set of inputs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

import streamlit as st

from advisor.advice.finder.combinations import SEARCHED, card_host
from advisor.advice.finder.search import Findings, Hit, Target, best_of_each, find, front
from advisor.advice.table.question import Question, as_rented
from advisor.advice.table.timed_machines import cardless
from advisor.catalog.inputs import BY_NAME, TARGET, in_usd
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.ownership import Ownership, form_of
from advisor.runtimes import Runtime, runtime
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.chosen_machine import machine_of
from advisor.ui.sidebar.model_choice import Picked
from advisor.ui.sidebar.option_words import ANY
from advisor.ui.sidebar.target_fields import CHOSEN, NEW_DESKTOP, THERE
from advisor.units import several_tokens


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

    @property
    def nothing(self) -> bool:
        """Whether there is no machine yet that cards could go into."""
        return self.cardsin == NEW_DESKTOP

    def amounts(self) -> dict[str, float | None]:
        """Amounts as typed, by name of the input."""
        return {
            "min_tps": self.leasttps,
            "max_usd_per_month": self.mostmonth,
            "max_usd": self.mostonce,
        }

    def runtimes(self) -> tuple[Runtime, ...]:
        """Runtimes to try."""
        return SEARCHED if self.engine == ANY else (runtime(self.engine),)

    def sizes(self) -> tuple[float, ...]:
        """Several contexts to answer for; empty for that of the sidebar [tokens].

        Raises:
            InputError: a typed context that is none, or outside its limits.
        """
        sizes = () if self.contexts == CHOSEN else several_tokens(self.contexts)
        for size in sizes:
            BY_NAME["context"].check(size)
        return sizes

    def options(self) -> Iterable[tuple[str, float | str | None]]:
        """The inputs as options of the command line."""
        contexts = ANY if self.contexts == CHOSEN else self.contexts.replace(" ", "")
        stated = {
            "--contexts": contexts,
            "--quant": self.formats,
            "--runtime": self.engine,
            "--kv-type": self.caches,
            "--own": "nothing" if self.nothing else ANY,
        }
        amounts = self.amounts()
        return (
            *((entry.option, amounts[entry.name]) for entry in TARGET),
            *((option, None if name == ANY else name) for option, name in stated.items()),
        )


@dataclass(frozen=True, kw_only=True)
class FindAnswer:
    """Data of the page.

    Attributes:
        choices: choices of the sidebar.
        target: target of the page.
        model: model to run.
        host: machine that the cards are put into.
        findings: all combinations that reach the target.
        best: best combination of each machine, bought and rented.
        front: combinations among the best that no other beats in speed and cost.
    """

    choices: Choices
    target: TargetChoices
    model: Model
    host: Machine
    findings: Findings
    best: tuple[Hit, ...]
    front: tuple[Hit, ...]


def today() -> date:
    """Date by which the age of prices is judged."""
    return datetime.now(UTC).date()


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
    chosen = cardless() if target.nothing else machine_of(choices)
    model = picked.resolved.model
    question = Question(
        model=model,
        machine=chosen,
        work=choices.workload(),
        runtimes=target.runtimes(),
        money=choices.money(),
        ownership=as_rented(Ownership(form=form_of(chosen), nothing=target.nothing), chosen),
        today=today(),
    )
    findings = find(
        question,
        Target(**in_usd(target.amounts(), choices.paying().usd)),
        target.runtimes(),
        () if target.formats == ANY else (target.formats,),
        () if target.caches == ANY else (target.caches,),
        contexts=target.sizes(),
    )
    best = tuple(best_of_each(findings.hits))
    return FindAnswer(
        choices=choices,
        target=target,
        model=model,
        host=card_host(chosen),
        findings=findings,
        best=best,
        front=tuple(front(best)),
    )
