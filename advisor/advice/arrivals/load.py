"""Load of a server: the runtime that serves, the users it supports, and their waits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from advisor.advice.arrivals.server import Lengths, Server, at_random, of_users, server
from advisor.advice.arrivals.simulation import Served, simulate
from advisor.advice.compare import usable
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.formatting import number, seconds, tokens_per_second
from advisor.request.request import Request
from advisor.units import SECONDS_PER_HOUR

# Waiting times under load, users that a server supports, and its saturation.

ROUNDS, FEWEST = 4, 40
"""Requests of each user in a simulation, and fewest requests of all users."""
SAMPLE = 400
"""Number of requests in a simulation of random arrivals."""
MOST_USERS = 1024
"""Largest number of users that is searched."""
LATE = 0.95
"""Share of requests that must be served in time."""
NEAR = 0.03
"""Relative precision of the number of users."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Waiting times of users under a load."""

    users: float  # mean number of requests in the server, waiting ones included
    per_hour: float  # requests answered per hour
    first_p50: float  # median of the time to the first token [s]
    first_p95: float  # 95th percentile of the time to the first token [s]
    token_p50: float  # median of the time per token after the first [s]
    token_p95: float  # 95th percentile of the time per token after the first [s]

    def meets(self, request: Request) -> bool:
        """Whether 95 % of the requests are served in time."""
        soon = self.first_p95 <= request.first_token_within
        return soon and self.token_p95 <= 1.0 / request.user_tps


def with_users(server: Server, lengths: Lengths, users: int) -> Waiting:
    """Waiting times of users who each send the next request when they have the last reply."""
    served = simulate(server, of_users(users, max(ROUNDS * users, FEWEST), lengths))
    return _waiting(served, skipped=users, users=float(users))


def with_arrivals(server: Server, lengths: Lengths, per_hour: float) -> Waiting:
    """Waiting times of requests at random times, at a rate in requests per hour."""
    served = simulate(server, at_random(per_hour / SECONDS_PER_HOUR, SAMPLE, lengths))
    return _waiting(served, skipped=SAMPLE // 10)


def _waiting(served: Served, skipped: int, users: float | None = None) -> Waiting:
    """Waiting times without the first requests, which found the server empty."""
    measured = slice(skipped, None)
    stays = served.ends[measured] - served.arrivals[measured]
    lasted = float(np.max(served.ends) - np.min(served.arrivals[measured]))
    first, token = served.waits[measured], served.per_token[measured]
    token_times = token[~np.isnan(token)] if not np.all(np.isnan(token)) else np.zeros(1)
    return Waiting(
        users=float(np.sum(stays)) / lasted if users is None else users,
        per_hour=len(first) / lasted * SECONDS_PER_HOUR,
        first_p50=float(np.median(first)),
        first_p95=float(np.quantile(first, LATE)),
        token_p50=float(np.median(token_times)),
        token_p95=float(np.quantile(token_times, LATE)),
    )


def saturation(server: Server, lengths: Lengths) -> float:
    """Requests per hour of a server that always has more requests waiting [1/h]."""
    users = min(1.5 * together(server, lengths) + 1.0, MOST_USERS)
    return with_users(server, lengths, int(users)).per_hour


def together(server: Server, lengths: Lengths) -> float:
    """Number of sequences of mean length that a server holds at once."""
    return min(server.slots, server.room / (lengths.prompt + lengths.output))


def users_supported(
    server: Server, lengths: Lengths, request: Request, most: int = MOST_USERS
) -> int:
    """Largest number of simultaneous users, at most a number of interest, who all have the speed
    and wait that a request wants; 0 if a single one has not.

    Each sends the next request when a reply is complete. The search starts from the closed form of
    a step and ends at a precision of 3 %.
    """
    most = min(most, MOST_USERS)
    tried: dict[int, bool] = {}

    def holds(users: int) -> bool:
        if users not in tried:
            tried[users] = with_users(server, lengths, users).meets(request)
        return tried[users]

    guess = by_closed_form(server, lengths, request)
    return _most(holds, min(max(guess, 1), most), most)


def by_closed_form(server: Server, lengths: Lengths, request: Request) -> int:
    """Number of users whose mean time per token is short enough; 0 if a prompt takes too long.

    The largest n with t(n) <= 1 / S, n <= sequences that fit, as `Server.time_per_token`.
    """
    if server.reading(lengths) > request.first_token_within:
        return 0
    users = np.arange(1.0, MOST_USERS + 1.0)
    times = server.time_per_token(users, lengths)
    fast = int(np.sum(times <= 1.0 / request.user_tps))
    return min(fast, int(together(server, lengths)))


def _most(holds: Callable[[int], bool], guess: int, most: int) -> int:
    """Largest number, at most `most`, up to which a condition holds; starts at a guess."""
    low, high = 0, most + 1
    tried = guess
    while high - low > max(1, NEAR * low):
        if holds(tried):
            low, wider = tried, int(np.ceil(1.2 * tried))
        else:
            high, wider = tried, int(0.8 * tried)
        tried = wider if low < wider < high else (low + high) // 2
    return low


@dataclass(frozen=True, eq=False)
class ServerLoad:
    """Server under load; simulations run on first use."""

    estimate: Estimate  # runtime and placement of the server
    server: Server  # its step times and limits
    lengths: Lengths  # lengths of prompts and replies
    request: Request  # speed and wait that each user should have

    @cached_property
    def users_supported(self) -> int:
        """Largest number of simultaneous users who are all served in time."""
        return users_supported(self.server, self.lengths, self.request)

    @cached_property
    def by_closed_form(self) -> int:
        """Number of users whose mean time per token is short enough; 0 if a prompt takes too long.

        The largest n with t(n) <= 1 / S, n <= sequences that fit, as `Server.time_per_token`.
        """
        return by_closed_form(self.server, self.lengths, self.request)

    @cached_property
    def full_per_hour(self) -> float:
        """Saturation: requests per hour above which the queue grows without end [1/h]."""
        return saturation(self.server, self.lengths)

    @cached_property
    def curve(self) -> tuple[Waiting, ...]:
        """Waiting times for numbers of users up to beyond the supported and the fitting ones."""
        fitting = together(self.server, self.lengths)
        end = min(max(1.6 * self.users_supported, 1.3 * fitting, 8.0), MOST_USERS / 2)
        counts = np.unique(np.round(np.geomspace(1, end, 9)).astype(int))
        return tuple(with_users(self.server, self.lengths, int(count)) for count in counts)

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
    """Load on the runtime that serves most users of mean lengths; None where none queues."""
    loads = [
        ServerLoad(estimate, engine, lengths_of(estimate.work, request), request)
        for estimate in usable(estimates)
        if estimate.strategy is PlacementStrategy.GPU_RESIDENT
        and (engine := server(estimate)) is not None
    ]
    return max(loads, key=lambda load: load.by_closed_form, default=None)


def lengths_of(work: Workload, request: Request) -> Lengths:
    """Distribution of lengths whose means are those of a request."""
    prompt = max(float(work.prompt), 1.0)
    return Lengths(
        prompt=prompt,
        output=float(work.output),
        spread=request.length_spread,
        cached_share=float(work.cached) / prompt,
    )


# Load of a server in sentences.

NO_QUEUE = (
    "The model fits in the GPUs here in no runtime that queues requests (vLLM, SGLang, "
    "TensorRT-LLM)."
)


def curve_lines(load: ServerLoad) -> Iterable[str]:
    """Waiting times by number of users as a table, with the limits marked."""
    yield f"{'users':>6}  {'first token':>12}  {'one in twenty':>14}  {'tokens/s each':>14}"
    for point in load.curve:
        missed = "" if point.meets(load.request) else "  beyond the limits"
        speed = number(1.0 / point.token_p50) if point.token_p50 else ""
        yield (
            f"{point.users:>6.0f}  {seconds(point.first_p50):>12}  {seconds(point.first_p95):>14}  "
            f"{speed:>14}{missed}"
        )


def sentences(load: ServerLoad | None) -> Iterable[str]:
    """Sentences on users served in time, saturation, and waiting times at the stated rate."""
    if load is None:
        yield NO_QUEUE
        return
    request, users = load.request, load.users_supported
    yield (
        f"{load.estimate.runtime} serves {users} {'user' if users == 1 else 'users'} at once with "
        f"{tokens_per_second(request.user_tps)} each and the first token within "
        f"{seconds(request.first_token_within)}; it saturates at "
        f"{number(load.full_per_hour)} requests an hour."
    )
    per_hour, waiting = request.requests_per_hour, load.waiting
    if per_hour is None:
        return
    if waiting is None:
        yield f"It cannot answer {number(per_hour)} requests an hour: the queue keeps growing."
        return
    yield (
        f"At {number(per_hour)} requests an hour the first token comes after "
        f"{seconds(waiting.first_p50)} ({seconds(waiting.first_p95)} for one request in twenty), "
        f"then {tokens_per_second(1.0 / waiting.token_p50)}."
    )
