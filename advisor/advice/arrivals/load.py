"""Load of a server: the runtime that serves, the users it supports, and their waits."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from advisor.advice.arrivals.curves import (
    Waiting,
    saturation,
    user_curve,
    users_supported,
    with_arrivals,
)
from advisor.advice.arrivals.question import LoadQuestion
from advisor.advice.arrivals.requests import Lengths
from advisor.advice.arrivals.server import Server, server
from advisor.advice.compare import usable
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy


@dataclass(frozen=True, eq=False)
class ServerLoad:
    """Server under load; simulations run on first use.

    Attributes:
        estimate: runtime and placement of the server.
        server: its step times and limits.
        lengths: lengths of prompts and replies.
        question: speed and wait that each user should have.
    """

    estimate: Estimate
    server: Server
    lengths: Lengths
    question: LoadQuestion

    @cached_property
    def users_supported(self) -> int:
        """Largest number of simultaneous users who are all served in time."""
        return users_supported(self.server, self.lengths, self.question)

    @cached_property
    def full_per_hour(self) -> float:
        """Saturation: requests per hour above which the queue grows without end [1/h]."""
        return saturation(self.server, self.lengths)

    @cached_property
    def curve(self) -> tuple[Waiting, ...]:
        """Waiting times for several numbers of users."""
        return user_curve(self.server, self.lengths, self.users_supported)

    @cached_property
    def waiting(self) -> Waiting | None:
        """Waiting times at the stated number of requests per hour; None where it is not stated, or
        above saturation.
        """
        per_hour = self.question.requests_per_hour
        if per_hour is None or per_hour >= self.full_per_hour:
            return None
        return with_arrivals(self.server, self.lengths, per_hour)


def load_on(estimates: Iterable[Estimate], question: LoadQuestion) -> ServerLoad | None:
    """Load on the fastest runtime with a queue that holds the model in its GPUs; None without one.

    Args:
        estimates: estimates of a machine; their prompt and reply have the mean lengths.
        question: speed and wait that each user should have.
    """
    for estimate in usable(estimates):
        if estimate.strategy is not PlacementStrategy.GPU_RESIDENT:
            continue
        engine = server(estimate)
        if engine is not None:
            work = estimate.work
            lengths = Lengths(
                prompt=max(float(work.fresh), 1.0),
                output=float(work.output),
                spread=question.length_spread,
            )
            return ServerLoad(estimate, engine, lengths, question)
    return None
