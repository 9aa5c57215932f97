"""Part of `advise` about many users: how many a server supports, how long they wait, and the
machines that serve all of them.
"""

import argparse
from collections.abc import Iterable

from advisor.advice.advise import Answer
from advisor.advice.arrivals.load import ServerLoad, curve_lines, load_on, sentences
from advisor.advice.serving import ServingFleet, heading, lines, serving_fleets
from advisor.catalog.inputs import LOAD
from advisor.catalog.records import as_record
from advisor.cli.command import Json


def load_of(answered: Answer) -> ServerLoad | None:
    """Load of the request, on the chosen runtime or the fastest."""
    advice = answered.advice
    mine = (each for each in advice.estimates if advice.chosen in (None, each.how))
    return load_on(mine, answered.nouns.request)


def is_asked(args: argparse.Namespace) -> bool:
    """Whether any option about many users is given."""
    return any(getattr(args, entry.name) is not None for entry in LOAD)


def text(answered: Answer) -> Iterable[str]:
    """Users of this server, their waits, and the machines that serve all users."""
    load, advice = load_of(answered), answered.advice
    yield from sentences(load)
    if load is not None:
        yield from curve_lines(load)
    request, users = answered.nouns.request, int(advice.question.work.users)
    if users > 1:
        yield from ("", heading(users, request))
        yield from lines(serving_fleets(advice.question, request, advice.chosen))


def record(answered: Answer, *, wanted: bool) -> Json:
    """JSON record of many users; if wanted with waiting times for several numbers of users, and the
    machines that serve all.
    """
    advice = answered.advice
    load = _load(load_of(answered), curve=wanted)
    several = wanted and int(advice.question.work.users) > 1
    demand = (advice.question, answered.nouns.request, advice.chosen)
    return load | {"fleets": [_fleet(row) for row in serving_fleets(*demand)] if several else []}


def _load(load: ServerLoad | None, *, curve: bool) -> Json:
    """JSON record of a server's load; its values are None where no runtime here queues requests."""
    if load is None:
        return {"users_supported": None, "load": None}
    request, waiting = load.request, load.waiting
    saturated = request.requests_per_hour is not None and waiting is None
    record = as_record(
        "load",
        load,
        saturated=saturated,
        at_rate=as_record("waiting", waiting) if waiting else None,
        curve=[as_record("waiting", point) for point in load.curve] if curve else None,
    )
    return {"users_supported": load.users_supported, "load": record}


def _fleet(fleet: ServingFleet) -> Json:
    return as_record("fleet", fleet, machines=[as_record("servers", part) for part in fleet.parts])
