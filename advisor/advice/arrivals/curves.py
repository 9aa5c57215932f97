"""Waiting times under load, users that a server supports, and its saturation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from advisor.advice.arrivals.question import LoadQuestion
from advisor.advice.arrivals.requests import Lengths, at_random, of_users
from advisor.advice.arrivals.server import Server
from advisor.advice.arrivals.simulation import Served, simulate
from advisor.units import SECONDS_PER_HOUR

ROUNDS, FEWEST = 4, 40
"""Requests of each user in a simulation, and requests at least."""
SAMPLE = 400
"""Requests that arrive at random in a simulation."""
MOST_USERS = 1024
"""Users that are counted; more are not told apart."""
LATE = 0.95
"""Share of requests that must be served in time."""
NEAR = 0.03
"""Share of the users by which their number is found."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """Waiting times of users under a load.

    Attributes:
        users: requests under way on average, those that wait with them.
        per_hour: requests answered in an hour.
        first_p50: time to the first token at the median [s].
        first_p95: the same that one request in twenty exceeds [s].
        token_p50: time for each token behind the first at the median [s].
        token_p95: the same that one request in twenty exceeds [s].
    """

    users: float
    per_hour: float
    first_p50: float
    first_p95: float
    token_p50: float
    token_p95: float

    def meets(self, question: LoadQuestion) -> bool:
        """Nineteen of twenty requests are served as they should be."""
        soon = self.first_p95 <= question.first_token_within
        return soon and self.token_p95 <= 1.0 / question.user_tps


def with_users(server: Server, lengths: Lengths, users: int) -> Waiting:
    """Users who each send the next request as soon as the reply before is there."""
    served = simulate(server, of_users(users, max(ROUNDS * users, FEWEST), lengths))
    return _waiting(served, skipped=users, users=float(users))


def with_arrivals(server: Server, lengths: Lengths, per_hour: float) -> Waiting:
    """Requests of many people at random times, so many an hour [1/h]."""
    served = simulate(server, at_random(per_hour / SECONDS_PER_HOUR, SAMPLE, lengths))
    return _waiting(served, skipped=SAMPLE // 10)


def _waiting(served: Served, skipped: int, users: float | None = None) -> Waiting:
    """Figures of all requests but the first, which found the server empty."""
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
    """Requests that a server answers in an hour where more wait than it can take in [1/h]."""
    users = min(1.5 * together(server, lengths) + 1.0, MOST_USERS)
    return with_users(server, lengths, int(users)).per_hour


def together(server: Server, lengths: Lengths) -> float:
    """Sequences of mean length that a server takes in."""
    return min(server.slots, server.room / (lengths.prompt + lengths.output))


def users_supported(server: Server, lengths: Lengths, question: LoadQuestion) -> int:
    """The most users under way together who all have what they should; 0 where one has it not.

    Each sends the next request as soon as a reply is there. The search begins where the closed form
    of a step says, and ends when the number is found to 3 %.
    """
    known: dict[int, bool] = {}

    def holds(users: int) -> bool:
        if users not in known:
            known[users] = with_users(server, lengths, users).meets(question)
        return known[users]

    return _most(holds, _guess(server, lengths, question))


def _guess(server: Server, lengths: Lengths, question: LoadQuestion) -> int:
    users = np.arange(1.0, MOST_USERS + 1.0)
    times = server.time_per_token(users, lengths.prompt, lengths.output)
    fast = int(np.sum(times <= 1.0 / question.user_tps))
    return max(min(fast, server.slots), 1)


def _most(holds: Callable[[int], bool], guess: int) -> int:
    """The largest number that holds, near a guess, where all smaller ones hold."""
    low, high = 0, MOST_USERS + 1
    tried = guess
    while high - low > max(1, NEAR * low):
        if holds(tried):
            low, wider = tried, int(np.ceil(1.2 * tried))
        else:
            high, wider = tried, int(0.8 * tried)
        tried = wider if low < wider < high else (low + high) // 2
    return low


def user_curve(server: Server, lengths: Lengths, most: int) -> tuple[Waiting, ...]:
    """Waiting times for several numbers of users, beyond the number that is supported and that
    fits.
    """
    end = min(max(1.6 * most, 1.3 * together(server, lengths), 8.0), MOST_USERS / 2)
    counts = np.unique(np.round(np.geomspace(1, end, 9)).astype(int))
    return tuple(with_users(server, lengths, int(count)) for count in counts)
