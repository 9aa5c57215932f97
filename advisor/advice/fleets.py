"""Fleets as options: equal machines that together serve every user at a speed and a wait."""

from dataclasses import replace

from advisor.advice.prices.power import desktop_parts
from advisor.advice.prices.price import Price
from advisor.advice.serving import RESIDENT, Servers, ServingFleet, serving_fleets, with_gpus
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.demand import mean_first_word
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.options import BY_THE_MONTH, odd_about, refusal
from advisor.advice.table.permitted import why_not_permitted
from advisor.cost_model.estimate import estimate
from advisor.cost_model.runtime import Runtime
from advisor.request.request import Request
from advisor.request.wants import Wants
from advisor.runtimes import runtime
from advisor.runtimes.compare import as_run

MOST_BUILT = 4
"""Desktops that a team builds and keeps side by side, at most: more want a room, its cooling and
circuits, and are rented; assumed."""


def fleets(
    question: Question, request: Request, wants: Wants, kept: Option, chosen: Runtime | None
) -> tuple[Option, ...]:
    """Fleets of one kind of machine that a request allows, cheapest first; those that an expert
    rules out or finds odd are left out.
    """
    rows = []
    for fleet in serving_fleets(question, request, chosen):
        option = _as_option(question, fleet)
        if option is None or refusal(question, option) or why_not_permitted(option, wants):
            continue
        odd = odd_about(question, option)
        if not odd and option.dated:
            rows.append(replace(option, kept=kept))
    return tuple(rows)


def cheaper_mixture(
    question: Question, request: Request, chosen: Runtime | None
) -> ServingFleet | None:
    """Mixture of kinds of machine that serves every user for notably less than one kind; None
    without one.
    """
    rows = serving_fleets(question, request, chosen)
    return next((fleet for fleet in rows if len(fleet.parts) > 1), None)


def _as_option(question: Question, fleet: ServingFleet) -> Option | None:
    """A fleet as an option; None for a mixture, for more desktops than anybody builds, or where a
    copy of the model holds no user.
    """
    if len(fleet.parts) != 1:
        return None
    (part,) = fleet.parts
    if part.kind == "built" and part.machines > MOST_BUILT:
        return None
    speed = _speed(question, part)
    if speed is None:
        return None
    rented = part.kind == "rented"
    cards = with_gpus(part.gpu, part.count).gpus
    return question.option(
        OptionKind.RENT if rented else OptionKind.MACHINE,
        _name(part),
        speed,
        part.cost.times(part.machines),
        _price(part),
        always_on=rented,
        hours_rented=_hours_rented(question) if rented else None,
        machine=None if rented else with_gpus(part.gpu, part.count),
        bought=cards,
        parts=() if rented else desktop_parts(cards),
    )


def _hours_rented(question: Question) -> float:
    """Hours a day that rented machines of a fleet run: as typed, or day and night [h]."""
    typed = question.money.rented_hours_per_day
    return 24.0 if typed is None else typed


def _price(part: Servers) -> Price:
    """Price of all machines."""
    price = part.price
    if not price.usd:
        return price
    return replace(price, usd=part.machines * price.usd, at_launch=part.machines * price.at_launch)


def _name(part: Servers) -> str:
    """Machines with their number and cards."""
    several = f"{part.machines} machines with {part.name} each"
    if part.kind == "rented":
        return f"{part.name if part.machines == 1 else several}{BY_THE_MONTH}"
    if part.machines == 1:
        return f"New desktop with {part.name}"
    return several


def _speed(question: Question, part: Servers) -> Speed | None:
    """Speed of each user where all of them are spread over the copies of the model."""
    gpus = part.copies[0]
    copies = part.machines * len(part.copies)
    users = -(-int(question.work.users) // copies)
    machine = with_gpus(part.gpu, gpus)
    engine = runtime(part.runtime)
    whole = max(float(question.work.prompt) + float(question.work.output), 1.0)
    work = replace(question.work, users=float(users), context=whole)
    model = as_run(question.model, engine, machine)
    speed = speed_of(estimate(model, machine, work, engine, RESIDENT))
    if speed is None:
        return None
    return replace(speed, first_token=mean_first_word(speed, work), waiting=0.0)
