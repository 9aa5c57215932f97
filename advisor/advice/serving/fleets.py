"""Fleets that serve a number of users: machines of one kind, or the cheapest mixture of several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from advisor.advice.options.question import Question
from advisor.advice.prices.price_dates import is_stale, oldest
from advisor.advice.serving.offers import ServerOffer, server_offers
from advisor.advice.serving.replicas import Demand, Replicas, Sizes, divided

SIMULATED, SHOWN = 5, 3
"""Machines to rent, and as many to build, that are simulated and shown: the cheapest by the closed
form and by the simulation."""
MOST_MIXED = 20_000
"""Largest number of users for which mixtures are searched."""
MOST_DEAR = 3.0
"""Largest cost of a fleet that is shown, as a multiple of the cheapest."""
WORTH_MIXING = 0.99
"""Largest cost of a mixture that is shown, as a share of the cheapest fleet of one kind."""


@dataclass(frozen=True, kw_only=True)
class FleetPart:
    """Machines of one kind in a fleet.

    Attributes:
        offer: machine and its price.
        machines: number of them.
        copies: number of GPUs of each copy of the model in a machine, largest first.
        users_each: users that a machine serves in time.
        runtime: runtime of the largest copy.
        format: format of the model there.
    """

    offer: ServerOffer
    machines: int
    copies: Sizes
    users_each: int
    runtime: str
    format: str


@dataclass(frozen=True, kw_only=True)
class ServingFleet:
    """Machines that together serve all users in time.

    Attributes:
        parts: machines by kind.
        stale: a price is old, or has no date.
    """

    parts: tuple[FleetPart, ...]
    stale: bool = False

    @property
    def users(self) -> int:
        """Users that are served in time."""
        return sum(part.machines * part.users_each for part in self.parts)

    @property
    def monthly(self) -> float:
        """Cost of a month: rent, or purchase spread over its months and power [USD/month]."""
        return sum(part.machines * part.offer.monthly for part in self.parts)

    @property
    def compared(self) -> float:
        """Monthly cost with launch prices counted half as much again [USD/month]."""
        return sum(part.machines * part.offer.compared for part in self.parts)

    @property
    def upfront(self) -> float:
        """Paid once [USD]."""
        return sum(part.machines * part.offer.upfront for part in self.parts)

    @property
    def price_date(self) -> str:
        """Date of the oldest price, ISO; empty if one was typed."""
        return oldest(tuple(part.offer.price.date for part in self.parts))

    @property
    def listed(self) -> bool:
        """Whether a part has its maker's list price at launch."""
        return any(part.offer.price.listed for part in self.parts)


def serving_fleets(question: Question, demand: Demand) -> tuple[ServingFleet, ...]:
    """Fleets that serve all users, cheapest first by their cost with launch prices counted more.

    Machines are estimated in the order of the lowest cost that they could have, until none of the
    others can be among the cheapest; those by the closed form are simulated.

    Args:
        question: prices and use.
        demand: model, request and wishes.
    """
    replicas = Replicas(demand)
    every = server_offers(question)
    kinds = dict.fromkeys(offer.kind for offer in every)
    parts = [
        part
        for kind in kinds
        for part in _parts(replicas, [offer for offer in every if offer.kind == kind])
    ]
    alone = [_fleet(question, [part], [-(-demand.users // part.users_each)]) for part in parts]
    alone.sort(key=_cost)
    shown = [fleet for kind in kinds for fleet in _of_kind(alone, kind)[:SHOWN]]
    mixed = _mixture(question, parts, demand.users)
    if mixed is not None and mixed.compared <= WORTH_MIXING * alone[0].compared:
        shown.append(mixed)
    shown.sort(key=_cost)
    return tuple(fleet for fleet in shown if fleet.compared <= MOST_DEAR * shown[0].compared)


def _cost(fleet: ServingFleet) -> float:
    return fleet.compared


def _of_kind(fleets: Sequence[ServingFleet], kind: str) -> list[ServingFleet]:
    """Fleets of machines to rent, or to build; of each GPU the cheapest."""
    best: dict[str, ServingFleet] = {}
    for fleet in fleets:
        offer = fleet.parts[0].offer
        if offer.kind == kind:
            best.setdefault(offer.gpu, fleet)
    return list(best.values())


def _parts(replicas: Replicas, offers: Sequence[ServerOffer]) -> list[FleetPart]:
    """Machines that serve at least a user, the cheapest for all users first."""
    users = replicas.demand.users
    likely: list[tuple[float, ServerOffer]] = []
    for least, offer in sorted(_costs(offers, replicas.bound, users), key=_first):
        if len(likely) >= SIMULATED and least > likely[SIMULATED - 1][0]:
            break
        likely += _costs([offer], replicas.by_closed_form, users)
        likely.sort(key=_first)
    served = [
        (offer, *divided(offer.count, _users(replicas.simulated, offer)))
        for _, offer in likely[:SIMULATED]
    ]
    return [_part(replicas, *each) for each in served if each[1]]


def _first(cost: tuple[float, ServerOffer]) -> float:
    return cost[0]


def _users(users_of: Callable[[str, int], int], offer: ServerOffer) -> Callable[[int], int]:
    return partial(users_of, offer.gpu)


def _costs(
    offers: Iterable[ServerOffer], users_of: Callable[[str, int], int], users: int
) -> Iterator[tuple[float, ServerOffer]]:
    """Cost of serving all users with each offer alone, and the offer; those that serve nobody are
    left out [USD/month].

    Args:
        offers: machines.
        users_of: users of one copy on a number of GPUs of a kind.
        users: number of users.
    """
    for offer in offers:
        each, _ = divided(offer.count, _users(users_of, offer))
        if each:
            yield -(-users // each) * offer.compared, offer


def _part(replicas: Replicas, offer: ServerOffer, users: int, copies: Sizes) -> FleetPart:
    load = replicas.load(offer.gpu, copies[0])
    return FleetPart(
        offer=offer,
        machines=1,
        copies=copies,
        users_each=users,
        runtime=load.estimate.runtime if load else "",
        format=load.estimate.model.format if load else "",
    )


def _fleet(question: Question, parts: Sequence[FleetPart], machines: Sequence[int]) -> ServingFleet:
    """Fleet with a number of machines of each kind; kinds without any are left out."""
    counted = zip(parts, machines, strict=True)
    taken = tuple(replace(part, machines=number) for part, number in counted if number)
    prices = [part.offer.price for part in taken]
    return ServingFleet(
        parts=taken,
        stale=any(not price.typed and is_stale(price.date, question.today) for price in prices),
    )


def _mixture(question: Question, parts: Sequence[FleetPart], users: int) -> ServingFleet | None:
    """Cheapest fleet of several kinds of machines; None without machines or for too many users."""
    if not parts or users > MOST_MIXED:
        return None
    chosen = cheapest_cover(
        users, [part.users_each for part in parts], [part.offer.compared for part in parts]
    )
    return _fleet(question, parts, chosen)


def cheapest_cover(users: int, each: Sequence[int], costs: Sequence[float]) -> list[int]:
    """Number of machines of each kind that serve all users at the lowest cost.

    c(n) = min over kinds of c(max(n - u, 0)) + cost

    Args:
        users: number of users.
        each: users that a machine of each kind serves, above 0.
        costs: its cost.
    """
    best, last = np.zeros(users + 1), np.zeros(users + 1, dtype=int)
    for number in range(1, users + 1):
        sums = [best[max(number - own, 0)] + cost for own, cost in zip(each, costs, strict=True)]
        last[number] = int(np.argmin(sums))
        best[number] = sums[last[number]]
    chosen, left = [0] * len(each), users
    while left > 0:
        kind = int(last[left])
        chosen[kind] += 1
        left -= each[kind]
    return chosen
