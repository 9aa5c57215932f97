"""Waiting times under load, users that a server supports, and its saturation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from advisor.advice.arrivals.requests import Lengths, at_random, of_users
from advisor.advice.arrivals.server import Server
from advisor.advice.arrivals.simulation import Served, simulate
from advisor.request.request import Request
from advisor.units import SECONDS_PER_HOUR

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
    """Waiting times of users under a load.

    Attributes:
        users: mean number of requests in the server, waiting ones included.
        per_hour: requests answered per hour.
        first_p50: median of the time to the first token [s].
        first_p95: 95th percentile of the time to the first token [s].
        token_p50: median of the time per token after the first [s].
        token_p95: 95th percentile of the time per token after the first [s].
    """

    users: float
    per_hour: float
    first_p50: float
    first_p95: float
    token_p50: float
    token_p95: float

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
    known = token[~np.isnan(token)] if not np.all(np.isnan(token)) else np.zeros(1)
    return Waiting(
        users=float(np.sum(stays)) / lasted if users is None else users,
        per_hour=len(first) / lasted * SECONDS_PER_HOUR,
        first_p50=float(np.median(first)),
        first_p95=float(np.quantile(first, LATE)),
        token_p50=float(np.median(known)),
        token_p95=float(np.quantile(known, LATE)),
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
    """Largest number of simultaneous users who are all served in time; 0 if a single one is not.

    Each sends the next request when a reply is complete. The search starts from the closed form of
    a step and ends at a precision of 3 %.

    Args:
        server: server.
        lengths: distribution of lengths.
        request: speed and wait that each user should have.
        most: largest number of interest.
    """
    most = min(most, MOST_USERS)
    known: dict[int, bool] = {}

    def holds(users: int) -> bool:
        if users not in known:
            known[users] = with_users(server, lengths, users).meets(request)
        return known[users]

    guess = by_closed_form(server, lengths, request)
    return _most(holds, min(max(guess, 1), most), most)


def by_closed_form(server: Server, lengths: Lengths, request: Request) -> int:
    """Number of users whose mean time per token is short enough and whose caches fit; 0 if a prompt
    alone takes too long.

    The largest n with t(n) <= 1 / S, n <= sequences that fit, as `Server.time_per_token`.
    """
    if server.reading(lengths) > request.first_token_within:
        return 0
    users = np.arange(1.0, MOST_USERS + 1.0)
    times = server.time_per_token(users, lengths)
    fast = int(np.sum(times <= 1.0 / request.user_tps))
    return min(fast, int(together(server, lengths)))


def _most(holds: Callable[[int], bool], guess: int, most: int) -> int:
    """Largest number, at most `most`, for which a condition holds that holds for all smaller ones;
    starts at a guess.
    """
    low, high = 0, most + 1
    tried = guess
    while high - low > max(1, NEAR * low):
        if holds(tried):
            low, wider = tried, int(np.ceil(1.2 * tried))
        else:
            high, wider = tried, int(0.8 * tried)
        tried = wider if low < wider < high else (low + high) // 2
    return low


def user_curve(server: Server, lengths: Lengths, most: int) -> tuple[Waiting, ...]:
    """Waiting times for numbers of users up to beyond the supported and the fitting ones."""
    end = min(max(1.6 * most, 1.3 * together(server, lengths), 8.0), MOST_USERS / 2)
    counts = np.unique(np.round(np.geomspace(1, end, 9)).astype(int))
    return tuple(with_users(server, lengths, int(count)) for count in counts)
