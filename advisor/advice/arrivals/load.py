"""Load of a server: the runtime that serves, the users it supports, and their waits."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.arrivals.server import (
    Lengths,
    Served,
    Server,
    at_random,
    of_users,
    server,
    simulate,
)
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.lazy import lazy
from advisor.request.money import SECONDS_PER_HOUR
from advisor.request.request import Request
from advisor.runtimes.compare import usable
from advisor.units import number, seconds, tokens_per_second

# requests of each user in a simulation, and fewest requests of all users
ROUNDS = 4
FEWEST = 40
SAMPLE = 400  # number of requests in a simulation of random arrivals
MOST_USERS = 1024  # largest number of users that is searched
LATE = 0.95  # share of requests that must be served in time
NEAR = 0.03  # relative precision of the number of users


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
        soon = self.first_p95 <= request.served_within
        return soon and self.token_p95 <= 1.0 / request.served_tps


def _waiting(served: Served, skipped: int, users: float | None = None) -> Waiting:
    """Waiting times without the first requests, which found the server empty."""
    measured = slice(skipped, None)
    stays = served.ends[measured] - served.arrivals[measured]
    lasted = float(np.max(served.ends) - np.min(served.arrivals[measured]))
    first = served.waits[measured]
    token = served.per_token[measured]
    if not np.all(np.isnan(token)):
        token_times = token[~np.isnan(token)]
    else:
        token_times = np.zeros(1)
    return Waiting(
        users=float(np.sum(stays)) / lasted if users is None else users,
        per_hour=len(first) / lasted * SECONDS_PER_HOUR,
        first_p50=float(np.median(first)),
        first_p95=float(np.quantile(first, LATE)),
        token_p50=float(np.median(token_times)),
        token_p95=float(np.quantile(token_times, LATE)),
    )


@dataclass(frozen=True, eq=False)
class ServerLoad:
    """Server under load; simulations run on first use."""

    server: Server  # its step times and limits
    lengths: Lengths  # lengths of prompts and replies
    request: Request  # speed and wait that each user should have
    estimate: Estimate  # runtime and placement of the server
    copies: int = 1  # servers of the same kind side by side, each with its part of the users

    def with_users(self, users: int) -> Waiting:
        """Waiting times of a number of users, each of whom pauses after a reply as the stated users
        do.
        """
        return self._with_users(users, self.pause)

    @property
    def between(self) -> float | None:
        """Time from one request of a user to the next [s]; None where the number of users or of
        requests an hour is not stated, as users then do not pause.
        """
        per_hour = self.request.requests_per_hour
        users = float(np.max(self.request.users))
        if not per_hour or users <= 1.0:
            return None
        return SECONDS_PER_HOUR * users / per_hour

    @lazy
    def pause(self) -> float:
        """Pause of a user after a reply, if replies took as long as for one user alone [s]."""
        if self.between is None:
            return 0.0
        alone = float(self.server.time_per_token(np.ones(1), self.lengths)[0])
        reply = self.server.reading(self.lengths) + self.lengths.output * alone
        return max(self.between - reply, 0.0)

    @property
    def asking(self) -> float:
        """Share of the users who are answered at the same time, if replies came at the wanted
        speed.
        """
        if self.between is None:
            return 1.0
        return min(self.lengths.output / self.request.served_tps / self.between, 1.0)

    def _with_users(self, users: int, pause: float) -> Waiting:
        """Waiting times of users who pause after each reply [s]."""
        share = math.ceil(users / self.copies)
        requests = of_users(share, max(ROUNDS * share, FEWEST), self.lengths, pause)
        waiting = _waiting(simulate(self.server, requests), skipped=share, users=float(users))
        return replace(waiting, per_hour=waiting.per_hour * self.copies)

    def with_arrivals(self, per_hour: float) -> Waiting:
        """Waiting times of requests at random times, at a rate in requests per hour."""
        share = per_hour / self.copies
        requests = at_random(share / SECONDS_PER_HOUR, SAMPLE, self.lengths)
        waiting = _waiting(simulate(self.server, requests), skipped=SAMPLE // 10)
        users = waiting.users * self.copies
        return replace(waiting, users=users, per_hour=waiting.per_hour * self.copies)

    @property
    def together(self) -> float:
        """Number of sequences of mean length that the server holds at once."""
        each = self.server.room / (self.lengths.prompt + self.lengths.output)
        return self.copies * min(self.server.slots, each)

    @lazy
    def by_closed_form(self) -> int:
        """Largest number of users who all get the wanted speed when all are answered at once; 0
        where a prompt takes too long.
        """
        return self._served_at(self.request.served_tps)

    def _served_at(self, least: float) -> int:
        """Number of users whose mean time per token is that of a speed [tokens/s] at most.

        The largest n with t(n) <= 1 / S, n <= sequences that fit, as `Server.time_per_token`.
        """
        if self.server.reading(self.lengths) > self.request.served_within:
            return 0
        users = np.arange(1.0, MOST_USERS + 1.0)
        times = self.server.time_per_token(users, self.lengths, self.asking)
        fast = int(np.sum(times <= 1.0 / least))
        return min(fast * self.copies, int(self.together))

    def users_up_to(self, most: int) -> int:
        """Largest number of simultaneous users who are all served in time, up to a limit; 0 for
        none.

        The search starts from the closed form and ends at 3 % of the number.
        """
        if self.between is not None:
            most = min(most, self.by_closed_form)  # who may all ask at once, though few do
        low = 0
        high = min(most, MOST_USERS) + 1
        tried = min(max(self.by_closed_form, 1), high - 1)
        while high - low > max(1, NEAR * low):
            if self.with_users(tried).meets(self.request):
                low = tried
                wider = int(np.ceil(1.2 * tried))
            else:
                high = tried
                wider = int(0.8 * tried)
            if low < wider < high:
                tried = wider
            else:
                tried = (low + high) // 2
        return low

    @lazy
    def at_low_end(self) -> int:
        """Number of users by the closed form who get the stated speed, or reading speed, at the low
        end of the speed's range.
        """
        decode = self.estimate.decode
        if decode is None:
            return 0
        least = self.request.user_tps or self.request.reading_tps
        slower = float(np.max(decode.value) / np.max(decode.low))
        return self._served_at(least * slower)

    def surely_up_to(self, most: int) -> int:
        """Largest number of users who are all served in time at the likely speed, and fast enough
        at the low end of its range.
        """
        return min(self.users_up_to(most), self.at_low_end)

    @lazy
    def users_surely(self) -> int:
        """Largest number of users as in `surely_up_to`, without a limit."""
        return min(self.users_supported, self.at_low_end)

    @lazy
    def users_supported(self) -> int:
        """Largest number of simultaneous users who are all served in time."""
        return self.users_up_to(MOST_USERS)

    @lazy
    def full_per_hour(self) -> float:
        """Saturation: requests per hour above which the queue grows without end [1/h]."""
        return self._with_users(int(min(1.5 * self.together + 1.0, MOST_USERS)), 0.0).per_hour

    @lazy
    def curve(self) -> tuple[Waiting, ...]:
        """Waiting times by number of users, up to more than are served in time and fit in
        memory.
        """
        end = min(max(1.6 * self.users_supported, 1.3 * self.together, 8.0), MOST_USERS / 2)
        counts = np.unique(np.round(np.geomspace(1, end, 9)).astype(int))
        return tuple(self.with_users(int(count)) for count in counts)

    @lazy
    def waiting(self) -> Waiting | None:
        """Waiting times at the stated number of requests per hour; None where it is not stated, or
        above saturation.
        """
        per_hour = self.request.requests_per_hour
        if per_hour is None or per_hour >= self.full_per_hour:
            return None
        return self.with_arrivals(per_hour)


def load_on(estimates: Iterable[Estimate], request: Request) -> ServerLoad | None:
    """Load on the runtime that serves most users of mean lengths; None where no runtime has a
    queue.
    """
    loads = []
    for estimate in usable(estimates):
        if estimate.strategy is PlacementStrategy.GPU_RESIDENT:
            engine = server(estimate.single or estimate)
        else:
            engine = None
        if engine is not None:
            work = estimate.work
            prompt = max(float(estimate.work.prompt), 1.0)
            lengths = Lengths(
                prompt=prompt,
                output=float(work.output),
                spread=request.length_spread,
                cached_share=float(work.cached) / prompt,
            )
            copies = estimate.arrangement.copies if estimate.arrangement else 1
            loads.append(ServerLoad(engine, lengths, request, estimate, copies))
    return max(loads, key=lambda load: load.by_closed_form, default=None)


def curve_lines(load: ServerLoad) -> Iterable[str]:
    """Waiting times by number of users as a table, with the limits marked."""
    yield f"{'users':>6}  {'first token':>12}  {'one in twenty':>14}  {'tokens/s each':>14}"
    for point in load.curve:
        if point.meets(load.request):
            missed = ""
        else:
            missed = "  beyond the limits"
        if point.token_p50:
            speed = number(1.0 / point.token_p50)
        else:
            speed = ""
        yield (
            f"{point.users:>6.0f}  {seconds(point.first_p50):>12}  {seconds(point.first_p95):>14}  "
            f"{speed:>14}{missed}"
        )


def sentences(load: ServerLoad | None, chosen: Runtime | None = None) -> Iterable[str]:
    """Sentences on users served in time, saturation, and waiting times at the stated rate; that a
    chosen runtime queues nothing.
    """
    if load is None and chosen is not None and chosen.at_once is None:
        yield f"{chosen.name} has no queue of requests, as vLLM, SGLang and TensorRT-LLM have."
        return
    if load is None:
        yield (
            "The model fits in the GPUs here in no runtime that queues requests (vLLM, SGLang, "
            "TensorRT-LLM)."
        )
        return
    request = load.request
    users = load.users_supported
    surely = load.users_surely
    if surely < users:
        sure = f", {surely} though predictions err"
    else:
        sure = ""
    yield (
        f"{load.estimate.runtime.name} serves {users} {'user' if users == 1 else 'users'} at once "
        f"with {tokens_per_second(request.served_tps)} each and the first token within "
        f"{seconds(request.served_within)}{sure}; it saturates at "
        f"{number(load.full_per_hour)} requests an hour."
    )
    per_hour = request.requests_per_hour
    waiting = load.waiting
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
