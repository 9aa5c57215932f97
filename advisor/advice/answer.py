"""Answer to a request: the same from every door."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.advice.advise import Advice, advise
from advisor.advice.compare import context_notes
from advisor.advice.prices.price import priced_name
from advisor.advice.table.question import Question, as_rented
from advisor.advice.table.timed_machines import cardless
from advisor.advice.words.verdict import price_notes
from advisor.formatting import money_shown_in
from advisor.machine.catalog import find_gpu
from advisor.machine.machine import Machine
from advisor.request.money import MoneyInputs, Ownership, form_of
from advisor.request.request import Nouns
from advisor.runtimes import VALUED, Runtime

if TYPE_CHECKING:
    from advisor.advice.finder.combinations import Compute
    from advisor.advice.finder.search import Findings


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Complete advice for a request."""

    nouns: Nouns  # what was asked
    advice: Advice  # the answer

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks: what a name was taken for, origin of sizes, age of prices."""
        resolved, machine = self.nouns.resolved, self.nouns.machine
        return (
            *resolved.notes,
            *machine.software_notes,
            *context_notes(resolved.model, self.nouns.work),
            *price_notes(self.advice.question),
        )


def answer(nouns: Nouns) -> Answer:
    """Complete advice for the nouns of a request.

    Raises:
        AdvisorError: no answer exists for the request; the message says why.
    """
    with money_shown_in(nouns.request.paying):
        advice = advise(
            nouns.model,
            nouns.machine,
            nouns.work,
            money=with_priced_names(nouns.money),
            settings=nouns.settings,
            chosen=nouns.runtime,
            placement=nouns.strategy,
            ownership=nouns.ownership,
            owned=nouns.owned,
            session=nouns.session,
        )
    return Answer(nouns=nouns, advice=advice)


def findings_of(nouns: Nouns, compute: "Compute | None" = None) -> "Findings":
    """Machines that reach what a request wants, computed in this process or on a cluster.

    Raises:
        AdvisorError: an input that nobody can ask.
    """
    from advisor.advice.finder.combinations import SEARCHED, combinations
    from advisor.advice.finder.search import find

    runtimes = (nouns.runtime,) if nouns.runtime else SEARCHED
    question = question_of(nouns, host_of(nouns), runtimes)
    return find(question, nouns.request, compute or combinations)


def question_of(nouns: Nouns, machine: Machine, runtimes: tuple[Runtime, ...] = VALUED) -> Question:
    """Question that a row of options answers, with the present machine or the host of cards."""
    nothing = Ownership(form=form_of(machine), nothing=True)
    ownership = nothing if nouns.request.nothing else nouns.ownership
    return Question(
        model=nouns.model,
        machine=machine,
        work=nouns.work,
        runtimes=runtimes,
        money=with_priced_names(nouns.money),
        ownership=as_rented(ownership, machine),
        today=datetime.now(UTC).date(),
    )


def host_of(nouns: Nouns) -> Machine:
    """Machine that cards are put into: the one described, else a new desktop."""
    return cardless() if nouns.request.nothing else nouns.machine


def with_priced_names(money: MoneyInputs) -> MoneyInputs:
    """Money with typed prices and rents under the names that prices have.

    Raises:
        UnknownName: no such part, machine or GPU; the message has similar names.
    """
    return replace(
        money,
        own_price=tuple((priced_name(name), usd) for name, usd in money.own_price),
        own_rent=tuple((find_gpu(name).name, usd) for name, usd in money.own_rent),
    )
