"""Load of a server: the runtime that serves, the users it supports, and their waits."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from advisor.advice.arrivals.curves import (
    Waiting,
    by_closed_form,
    saturation,
    user_curve,
    users_supported,
    with_arrivals,
)
from advisor.advice.arrivals.requests import Lengths
from advisor.advice.arrivals.server import Server, server
from advisor.advice.compare import usable
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.request.request import Request


@dataclass(frozen=True, eq=False)
class ServerLoad:
    """Server under load; simulations run on first use.

    Attributes:
        estimate: runtime and placement of the server.
        server: its step times and limits.
        lengths: lengths of prompts and replies.
        request: speed and wait that each user should have.
    """

    estimate: Estimate
    server: Server
    lengths: Lengths
    request: Request

    @cached_property
    def users_supported(self) -> int:
        """Largest number of simultaneous users who are all served in time."""
        return users_supported(self.server, self.lengths, self.request)

    @cached_property
    def by_closed_form(self) -> int:
        """Number of users by the mean time of a token, without a simulation."""
        return by_closed_form(self.server, self.lengths, self.request)

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
        per_hour = self.request.requests_per_hour
        if per_hour is None or per_hour >= self.full_per_hour:
            return None
        return with_arrivals(self.server, self.lengths, per_hour)


def load_on(estimates: Iterable[Estimate], request: Request) -> ServerLoad | None:
    """Load on the runtime with a queue that serves most users, by the closed form; the fastest of
    equal ones. None where none holds the model in the GPUs.

    Args:
        estimates: estimates of a machine; their prompt and reply have the mean lengths.
        request: speed and wait that each user should have.
    """
    resident = (each for each in usable(estimates) if each.strategy is _RESIDENT)
    loads = [
        ServerLoad(estimate, engine, lengths_of(estimate.work, request), request)
        for estimate in resident
        if (engine := server(estimate)) is not None
    ]
    return max(loads, key=lambda load: load.by_closed_form, default=None)


_RESIDENT = PlacementStrategy.GPU_RESIDENT


def lengths_of(work: Workload, request: Request) -> Lengths:
    """Distribution of lengths whose means are those of a request."""
    prompt = max(float(work.prompt), 1.0)
    return Lengths(
        prompt=prompt,
        output=float(work.output),
        spread=request.length_spread,
        cached_share=float(work.cached) / prompt,
    )
