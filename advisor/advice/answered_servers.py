"""Servers of an answer: the load on its engine, and machines that serve every user."""

from advisor.advice.arrivals.load import ServerLoad, load_on
from advisor.advice.comparison import Comparison
from advisor.advice.fleets import Offered, listed, present
from advisor.advice.table.rules import counts_in
from advisor.request.request import Request


def server_load(advice: Comparison, request: Request) -> ServerLoad | None:
    """Load on the engine of the verdict; None where no engine queues requests.

    Where that engine queues none, it is the load on the engine that serves most users.
    """
    if advice.best is not None and advice.best.runtime.at_once is not None:
        return load_on([advice.best], request)
    meant = advice.meant()
    reported = [each for each in meant if counts_in(each.machine, each.runtime.engine)]
    return load_on(meant if advice.chosen else reported, request)


def offered(advice: Comparison, request: Request) -> Offered:
    """Machines that serve every user of an answer, among them those of its verdict."""
    if advice.case.offered is not None:
        return advice.case.offered
    demand = advice.case.demand
    best = None if advice.elsewhere else advice.best
    here = present(advice.question, request, best, demand, advice.options[0])
    return Offered(here, listed(advice.question, request, demand, here, advice.chosen))
