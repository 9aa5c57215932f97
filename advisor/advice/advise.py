"""Complete answer: estimates, options with speed, waiting time and cost, and the verdict.

It is the same to a request from every door.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from advisor.advice.comparison import LEAST_TPS
from advisor.advice.decision import decided_choice, decision_of
from advisor.advice.edits.changes import faster_changes
from advisor.advice.edits.edit import Edit, Edited
from advisor.advice.finder.runnable import models_tried
from advisor.advice.prices.price import priced_name
from advisor.advice.readers import readers
from advisor.advice.situation import (
    Conditions,
    Situation,
    completed,
    sale_of,
    setting_for_agents,
    situation_of,
)
from advisor.advice.speeds import speed_of
from advisor.advice.table.demand import Crowd, demand_of
from advisor.advice.table.option import Question, as_rented
from advisor.advice.table.options import machine_speed, options
from advisor.advice.table.permitted import permitted
from advisor.advice.table.rules import counts_in
from advisor.advice.table.timed_machines import VALUED, cardless
from advisor.advice.words.phrases import title_of
from advisor.advice.words.verdict import Advice, price_notes
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.formatting import money_shown_in
from advisor.lazy import lazy
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.request import Nouns, Request
from advisor.request.session import AgentSession
from advisor.request.wants import NO_WANTS, Fixed, Wants
from advisor.runtimes import compared
from advisor.runtimes.compare import compare, decode_tps, usable
from advisor.runtimes.remarks import slower_with_cache

if TYPE_CHECKING:
    from advisor.advice.finder.combinations import Compute
    from advisor.advice.finder.search import Findings
    from advisor.advice.next_run import NextRun
    from advisor.advice.table.buys import Buys
    from advisor.advice.table.candidate import Candidate
    from advisor.advice.task import Task


def advise(
    model: Model,
    machine: Machine,
    work: Workload,
    *,
    money: MoneyInputs | None = None,
    settings: Settings | None = None,
    chosen: Runtime | None = None,
    placement: PlacementStrategy | None = None,
    ownership: Ownership | None = None,
    owned: Machine | None = None,
    today: date | None = None,
    session: AgentSession | None = None,
    wants: Wants = NO_WANTS,
    request: Request | None = None,
) -> Advice:
    """Complete answer for a model on a machine; of a session, the request is a middle turn.

    Options are of the runtime chosen, else of the best that people usually meet on each machine;
    changes are of the best placement's. `owned` is the present machine where that is another one.
    Machines for many users are looked for where the `request` says their speed and wait.
    Raises InputError for a request that holds arrays, or a resale value of a rented machine.
    """
    if any(isinstance(value, np.ndarray) for value in vars(work).values()):
        raise InputError("Advice is for a single request, not for arrays; use `sweep` for several.")
    conditions = Conditions(
        settings=settings or Settings(),
        chosen=chosen,
        placement=placement,
        session=session,
        wants=wants,
        request=request,
    )
    money = _read_by(money or MoneyInputs(), session)
    estimates, best, faster = _estimated(model, machine, work, *conditions.of_estimates)
    if session is None:
        best = _serving_all(_in_runtime(estimates, chosen), best, money, wants)
    every = work if best is None else _of_all_agents(model, machine, work, conditions)
    _, together, edits = _estimated(model, machine, every, *conditions.of_estimates)
    if every is work:
        together = best
    here = owned or machine
    question = Question(
        model=model,
        machine=here,
        work=every,
        runtimes=(chosen,) if chosen else VALUED,
        money=money,
        ownership=as_rented(ownership or Ownership(form=here.form), here),
        today=today or datetime.now(UTC).date(),
        condition=wants.condition,
        unread=session is not None,
    )
    nothing = question.ownership.nothing
    other = nothing or (owned is not None and owned != machine)
    if best is None and chosen is not None and machine.system == OperatingSystem.WINDOWS:
        edits = faster = _in_linux(model, machine, work, conditions.settings, chosen)
    if wants.fixed is Fixed.FORMAT:
        edits = _in_same_formats(edits, work)
        faster = _in_same_formats(faster, work)
    kept = speed_of(together) if together else None
    if other:
        kept = None if nothing else machine_speed(question)
    every_option = options(question, kept, () if other else edits)
    options_found = permitted(every_option, wants)
    instead = "" if other or best is not None else _instead(estimates, chosen)
    users = float(work.users) if session is None else 1.0
    demand = demand_of(users, money, wants, float(work.prompt)).beside(options_found[0])
    options_found = demand.under_load(options_found)
    task = None if nothing else _task(best, session)
    case = situation_of(options_found, demand, instead)
    case = replace(
        case,
        sale=None if other else sale_of(question, case.kept),
        agents=setting_for_agents(task, case.options),
    )
    case = completed(case, question, conditions, every_option, None if other else best)
    decision = decision_of(case)
    choice = decided_choice(case, decision)
    refused = _refused_format(model, best, estimates)
    if refused and choice.safe is None:
        choice = replace(choice, reason=f"{choice.reason} {refused}")
    return Advice(
        candidates=_candidates(question, case),
        title=title_of(model, machine),
        choice=choice,
        decision=decision,
        case=case,
        another_model=case.another,
        closest=case.closest,
        estimates=estimates,
        best=best,
        options=tuple(case.options),
        what_ifs=faster,
        question=question,
        elsewhere=other,
        served=readers(best, money.reading_tps) if best and float(work.users) > 1 else None,
        task=task,
        chosen=chosen,
        placement=placement,
    )


def _in_same_formats(edits: Iterable[Edited], work: Workload) -> tuple[Edited, ...]:
    """Changes that leave the formats of the weights and of the cache as they are."""
    return tuple(edit for edit in edits if edit.keeps_formats(work.kv_type))


def _in_runtime(estimates: Iterable[Estimate], chosen: Runtime | None) -> list[Estimate]:
    """Estimates of the chosen runtime; all without one."""
    return [each for each in estimates if chosen in (None, each.runtime)]


def _serving_all(
    estimates: Iterable[Estimate], best: Estimate | None, money: MoneyInputs, wants: Wants
) -> Estimate | None:
    """Fastest estimate with enough speed for all users of a team, in an engine that people run on
    such cards; the best estimate where none has.
    """
    if best is None:
        return None
    users = float(best.work.users) + float(best.waiting)
    demand = demand_of(users, money, wants)
    if demand.crowd is not Crowd.TEAM:
        return best
    alike = [each for each in usable(estimates) if each.strategy is best.strategy]
    reported = [each for each in alike if counts_in(each.machine, each.runtime.engine)]
    if reported and best not in reported:
        best = reported[0]
    for estimate in (best, *reported):
        speed = speed_of(estimate)
        work = estimate.work
        if speed and demand.serves_all(speed, float(work.users), float(work.output)):
            return estimate
    return best


def _of_all_agents(
    model: Model, machine: Machine, work: Workload, conditions: Conditions
) -> Workload:
    """Request of a session's agents in the order that ends soonest: one after another, or all
    together.

    How many conversations a server holds is a free setting, so purchases compete with the better of
    both.

    time of all = agents / answered at once x (t_first + n / S)
    """
    session = conditions.session
    if session is None or session.agents <= 1:
        return work

    def seconds(each: Workload) -> float:
        best = _estimated(model, machine, each, *conditions.of_estimates)[1]
        speed = speed_of(best) if best is not None else None
        if speed is None:
            return math.inf
        running = float(each.users) - speed.waiting
        return session.agents / running * (speed.first_token + float(each.output) / speed.decode)

    ways = [replace(work, users=session.agents), replace(work, users=1.0)]
    return min(ways, key=seconds)


def _task(best: Estimate | None, session: AgentSession | None) -> "Task | None":
    """Task of a session, in the best placement; None without one."""
    if best is None or session is None:
        return None
    from advisor.advice.task import task_of  # loaded only for a session

    return task_of(best, session)


def _read_by(money: MoneyInputs, session: AgentSession | None) -> MoneyInputs:
    """Money inputs with the reading speed for each answer: a person who follows several agents
    reads each more slowly, down to the least speed that can be stated.
    """
    if session is None:
        return money
    least = INPUTS["reading_tps"].low or 0.0
    return replace(money, reading_tps=max(least, money.reading_tps / session.agents))


def _candidates(question: Question, case: Situation) -> "tuple[Candidate, ...]":
    """Purchases that somebody asks about, with as many answers at once as the other options."""
    wants = case.demand.wants
    if not wants.also:
        return ()
    from advisor.advice.table.candidate import candidates  # loaded only for them

    same = replace(question, work=case.options[-1].use.work)
    return candidates(wants.also, same, case.options, wants, case.step)


def _in_linux(
    model: Model, machine: Machine, work: Workload, settings: Settings, chosen: Runtime
) -> tuple[Edited, ...]:
    """Runtime that refuses Windows, in the Linux that runs inside it."""
    linux = replace(machine, system=OperatingSystem.LINUX)
    runs = usable(compare(model, linux, work, settings=settings, runtimes=(chosen,)))
    speed = speed_of(runs[0]) if runs else None
    edit = Edit(
        words=f"{chosen.name} in WSL2, which is Linux inside Windows",
        cost="free, an installation",
        changes={"machine": linux},
    )
    if speed is None:
        return ()
    return (Edited(**vars(edit), speed=speed, gain=1.0),)


def _instead(estimates: Iterable[Estimate], chosen: Runtime | None) -> str:
    """Why the chosen runtime refuses, with another runtime that runs the model; empty where none
    runs it fast enough.
    """
    runs = [each for each in usable(estimates) if decode_tps(each) >= LEAST_TPS]
    if chosen is None or not runs:
        return ""
    refusals = (each.refusal for each in estimates if each.runtime is chosen and each.refusal)
    return f"{runs[0].runtime.name} runs it here. {next(refusals, '')}".strip()


def _refused_format(model: Model, best: Estimate | None, estimates: Iterable[Estimate]) -> str:
    """Reason why the requested format does not run here, where another format does; empty in other
    cases.
    """
    if best is None or best.model.format == model.format:
        return ""
    usual = [each for each in estimates if each.runtime.mainstream]
    takes = [each for each in usual if each.model.format == model.format]
    if any(bool(each.fits) for each in takes):
        return ""
    why = next((each.refusal for each in takes if each.refusal), "")
    if why:
        return f"It runs in {best.model.format}. {why}"
    return ""


@lru_cache(maxsize=16)
def _estimated(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    chosen: Runtime | None,
    placement: PlacementStrategy | None,
) -> tuple[tuple[Estimate, ...], Estimate | None, tuple[Edited, ...]]:
    """Every estimate, the best of them and the changes: the same at any price and use."""
    runtimes = compared(machine, model)
    further = (chosen,) if chosen and chosen not in runtimes else ()
    estimates = compare(model, machine, work, settings=settings, runtimes=(*runtimes, *further))
    wanted = [
        each
        for each in estimates
        if chosen in (None, each.runtime) and placement in (None, each.strategy)
    ]
    told = wanted
    if settings.says_where(model):  # by an engine that can be told so
        told = [each for each in wanted if each.runtime.takes_layers]
    best = next(iter(usable(told) or usable(wanted)), None)
    return estimates, best, faster_changes(model, machine, work, best)


# A request from any door.

FEW_MODELS = 28  # most models that a question of few GPUs tries in place of another


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Complete advice for a request."""

    nouns: Nouns  # what was asked
    advice: Advice  # the answer

    def __repr__(self) -> str:
        return f"<Answer {self.advice!r}>"

    @lazy
    def of_known(self) -> tuple[str, ...]:
        """Sentences on the effect of known speeds of the machine, and on likely faults among
        them.
        """
        if not self.nouns.known:
            return ()
        from advisor.advice import known  # with the diagnosis, loaded only for known speeds

        return tuple(known.sentences(self.nouns.known, self.advice.best))

    @lazy
    def next_run(self) -> "NextRun | None":
        """Run of two minutes that would narrow the range most; None where no run is worth it."""
        from advisor.advice.next_run import next_run  # loaded only where it is asked for

        best = self.advice.best
        if best is None or self.nouns.request.nothing:
            return None
        return next_run(best)

    @property
    def _arranged(self) -> tuple[str, ...]:
        """Sentence on the GPUs that the best runtime uses, where it uses only some or runs copies
        side by side.
        """
        best = self.advice.best
        if best is None or best.arrangement is None:
            return ()
        return (f"{best.runtime.name} runs here on {best.arrangement.words}.",)

    @property
    def _cut(self) -> tuple[str, ...]:
        """Sentence on models that were not tried, for a question that would take too long."""
        machine = self.nouns.machine
        most = models_tried(machine)
        if not self.advice.case.model or most > FEW_MODELS:
            return ()
        return (
            f"On {len(machine.gpus)} GPUs at most {most} of the best rated models were tried in "
            "its place; ask for fewer machines to have all of them tried.",
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on the answer: the model that a name was taken for, the origin of sizes, the age
        of prices.
        """
        resolved = self.nouns.resolved
        machine = self.nouns.machine
        return (
            *resolved.notes,
            *machine.software_notes,
            *self.nouns.request_notes,
            *self.nouns.work.context_notes(resolved.model),
            *self._arranged,
            *self._cut,
            *price_notes(self.advice.question),
            *self.of_known,
            *(_of_cache(self.advice.best) if self.advice.best else ()),
        )


def _of_cache(best: Estimate) -> Iterator[str]:
    """Sentences on caches that slow an answer: of experts, or in a format without a fast kernel."""
    yield from slower_with_cache(best)
    if best.slow_cache is not None:
        yield f"{best.runtime.name}: {best.slow_cache.told_of(best.work)}"


def answer(nouns: Nouns) -> Answer:
    """Complete advice for the nouns of a request; raises an AdvisorError that says why there is
    none.
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
            wants=nouns.wants,
            request=nouns.request,
        )
    return Answer(nouns=nouns, advice=advice)


def buys_of(answered: Answer) -> "Buys":
    """Purchases for the machine of an answer, within the budget and at the least speed of its
    request.

    The least speed is reading speed where none is stated; it is empty for a request without an
    owned machine.
    """
    from advisor.advice.table.buys import Buys, buys  # loaded only by the finder

    nouns = answered.nouns
    advice = answered.advice
    if nouns.request.nothing:
        return Buys(best=None, cheapest=None, fastest=None)
    least = nouns.request.min_tps or nouns.money.reading_tps
    safe = advice.choice.safe
    return buys(advice.options, least, nouns.wants.max_usd, safe, advice.case.step)


def findings_of(nouns: Nouns, compute: "Compute | None" = None) -> "Findings":
    """Machines that reach what a request wants, computed in this process or on a cluster."""
    from advisor.advice.finder.combinations import SEARCHED, combinations
    from advisor.advice.finder.search import find

    runtimes = (nouns.runtime,) if nouns.runtime else SEARCHED
    # that cards are put into
    if nouns.request.nothing:
        host = cardless()
    else:
        host = nouns.machine
    question = question_of(nouns, host, runtimes)
    return find(question, nouns.request, compute or combinations, nouns.wants)


def question_of(nouns: Nouns, machine: Machine, runtimes: tuple[Runtime, ...] = VALUED) -> Question:
    """Question for the table of options: the request on the present machine, or on the computer of
    owned cards.
    """
    nothing = Ownership(form=machine.form, nothing=True)
    if nouns.request.nothing:
        ownership = nothing
    else:
        ownership = nouns.ownership
    return Question(
        model=nouns.model,
        machine=machine,
        work=nouns.work,
        runtimes=runtimes,
        money=with_priced_names(nouns.money),
        ownership=as_rented(ownership, machine),
        today=datetime.now(UTC).date(),
        condition=nouns.wants.condition,
        unread=nouns.session is not None,
    )


def with_priced_names(money: MoneyInputs) -> MoneyInputs:
    """Money inputs whose typed prices and rents have the names of the price tables."""
    return replace(
        money,
        own_price=tuple((priced_name(name), usd) for name, usd in money.own_price),
        own_rent=tuple((GPUS.find(name).name, usd) for name, usd in money.own_rent),
    )
