"""Demand: who asks, how much work that is, and whether an option meets it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.option import Option, OptionKind
from advisor.cost_model.estimate import Estimate
from advisor.request.money import SECONDS_PER_HOUR, MoneyInputs
from advisor.request.wants import SERVED_TPS, SERVED_WITHIN, Wants, usual_within

LATE = 30.0  # wait for the first word from which nothing runs well [s]
BUSY = 2.0 / 3.0
"""Share of its time from which requests at random times wait longer than an answer takes: the mean
wait is load / (2 (1 - load)) answers (Pollaczek and Khinchine, answers of one length)."""


def mean_first_word(speed: Speed, running: float, output: float) -> float:
    """Wait for the first word at the mean load of users who run and ask again after each reply [s].

    w(u) = p (1 + q(u - 1) - b(u - 1) / 2),  x(u) = u / (w(u) + n / S),  q = x w,  b = x p,
    p = t_first / U

    The prompts of U users are read one after the other: a prompt meets the queue q of a server with
    a user less, and of the prompt that is being read half (mean value analysis of a closed queue;
    Reiser and Lavenberg, Journal of the ACM 27, 1980, equations 4 to 6, with the residual time of
    equal lengths).
    """
    if speed.shared_wait is not None:
        return speed.shared_wait
    users = max(round(running), 1)
    reading = speed.first_token / users
    writing = output / speed.decode
    wait = reading
    queue = busy = 0.0
    for number in range(1, users + 1):
        wait = reading * (1.0 + queue - busy / 2.0)
        rate = number / (wait + writing)
        queue = rate * wait
        busy = min(rate * reading, 1.0)
    return min(wait, speed.first_token)


def first_word_at_rate(speed: Speed, running: float, per_hour: float) -> float:
    """Wait for the first word at a rate of requests, of which some run together [s].

    p (1 + rho / (2 (1 - rho))), rho = R p / 3600, p = t_first / U

    The prompts of R requests an hour are read one after the other, as an M/D/1 queue (Pollaczek and
    Khinchine).
    """
    reading = speed.first_token / max(running, 1.0)
    busy = per_hour * reading / SECONDS_PER_HOUR
    if busy >= 1.0:
        return speed.first_token
    return min(reading * (1.0 + busy / (2.0 * (1.0 - busy))), speed.first_token)


def first_word_of(estimate: Estimate) -> float:
    """Wait for the first word of an estimate at the mean load of its users [s]; nan where it does
    not run.
    """
    speed = speed_of(estimate)
    if speed is None:
        return math.nan
    work = estimate.work
    return mean_first_word(speed, float(work.users), float(work.output))


def first_word_in(option: Option) -> float:
    """Wait for the first word of an option at the mean load of its users [s]; nan without a
    speed.
    """
    speed = option.speed
    if speed is None:
        return math.nan
    work = option.use.work
    return mean_first_word(speed, float(work.users) - speed.waiting, float(work.output))


class Crowd(StrEnum):
    """Way in which users send requests: one after another, in a batch, at random times, at the same
    time.
    """

    PEOPLE = "people who wait for each answer"
    BATCH = "a batch that is due within some hours"
    RATE = "requests at random times"
    TEAM = "several users at the same time"


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Demand of a request."""

    crowd: Crowd
    money: MoneyInputs
    wants: Wants
    # speed that is predicted at least for each of several users; 0 for any that is not too slow at
    # the low end of its range [tokens/s]
    sized_tps: float = 0.0
    within: float = SERVED_WITHIN  # wait for the first token of servers, where none is stated [s]

    @property
    def counted(self) -> bool:
        """Whether the amount of work is known, and no person waits for one reply after another."""
        return self.crowd in (Crowd.BATCH, Crowd.RATE)

    @property
    def as_wished(self) -> "Demand":
        """Demand with a speed and a wait for each user: as stated, or the usual ones of servers.

        A stated speed is kept at the low end of its range; the usual one is the likely speed.
        """
        within = self.wants.first_token_within or self.within
        wants = replace(self.wants, first_token_within=within)
        return replace(self, wants=wants, sized_tps=self.wants.user_tps or SERVED_TPS)

    @property
    def pace(self) -> float:
        """Speed at which nobody waits: reading speed, or a higher speed that the request wants
        [tokens/s].
        """
        return max(self.money.reading_tps, self.wants.user_tps or 0.0)

    @property
    def least_tps(self) -> float:
        """Least speed of each user at the low end of its range [tokens/s]."""
        return self.wants.user_tps or self.money.reading_tps

    def load(self, option: Option) -> float:
        """Load of an option: its hours of work over the available hours.

        batch: replies x seconds / (hours a day x 3600); rate: requests an hour x seconds / 3600;
        of machines that divide the replies it is that of each
        """
        speed = option.speed
        if speed is None or option.kind is OptionKind.API:
            return 0.0  # a provider answers many at the same time
        seconds = option.use.seconds_each(speed) / option.sharing
        if self.wants.requests_per_hour is not None:
            return self.wants.requests_per_hour * seconds / SECONDS_PER_HOUR
        return self.money.replies_per_day * seconds / SECONDS_PER_HOUR / self.money.hours_there

    @property
    def most_load(self) -> float:
        """Load up to which work of a known amount is done in time."""
        if self.crowd is Crowd.RATE:
            return BUSY
        return 1.0

    def beside(self, kept: Option) -> "Demand":
        """Demand on a machine beside the present one.

        It has a rate where the present machine writes as fast as one reads and still cannot keep
        up, since so many replies are of several people.
        """
        if self.counted or kept.keeps_up or kept.decode < self.money.reading_tps:
            return self
        rate = self.money.replies_per_day / self.money.hours_there
        wants = replace(self.wants, requests_per_hour=rate)
        crowd = self.crowd if self.crowd is Crowd.TEAM else Crowd.RATE
        return replace(self, crowd=crowd, wants=wants)

    def under_load(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Options, the kept machine first, with a mark on those that cannot keep up with the
        requests.
        """
        if self.wants.requests_per_hour is None:
            return tuple(options)
        kept = replace(options[0], overloaded=self.load(options[0]) > 1.0)
        others = (
            replace(option, kept=kept, overloaded=self.load(option) > 1.0) for option in options[1:]
        )
        return (kept, *others)

    def met_by(self, option: Option) -> bool:
        """Whether an option finishes in time, without a growing queue, fast enough for each."""
        return not any(self.unmet_by(option))

    def serves_all(self, speed: Speed, running: float, output: float) -> bool:
        """Whether a speed is enough for several simultaneous users, for replies of a number of
        tokens.
        """
        return not any(self._unmet_for_all(speed, running, output))

    def unmet_by(self, option: Option) -> Iterator[str]:
        """Words on the demands that an option does not meet."""
        if option.speed is None:
            if option.kind is not OptionKind.API:
                yield "does not run it"
            return
        if self.crowd is Crowd.BATCH and self.load(option) > self.most_load:
            yield "does not finish in time"
        if self.crowd is Crowd.RATE:
            yield from self._unmet_by_rate(option, option.speed)
        if self.crowd is Crowd.TEAM:
            yield from self._unmet_by_team(option, option.speed)

    def _unmet_by_team(self, option: Option, speed: Speed) -> Iterator[str]:
        """Shortfalls of an option for the users of a team, who may all ask at the same time.

        Where a rate of requests is stated, the wait for the first word follows from it.
        """
        work = option.use.work
        running = float(work.users) - speed.waiting
        if self.wants.requests_per_hour is None:
            yield from self._unmet_for_all(speed, running, float(work.output))
            return
        if self.load(option) > 1.0:
            yield "cannot keep up"
        yield from self._unmet_at_once(speed, self.first_word(option))

    def _unmet_by_rate(self, option: Option, speed: Speed) -> Iterator[str]:
        """Shortfalls of an option for requests at random times."""
        if self.load(option) > self.most_load:
            yield "cannot keep up"
        yield from self._unmet_for_each(speed.decode, self.first_word(option))

    def _unmet_for_all(self, speed: Speed, running: float, output: float) -> Iterator[str]:
        """Shortfalls for simultaneous users, at the low end of the speed's range."""
        yield from self._unmet_at_once(speed, mean_first_word(speed, running, output))

    def _unmet_at_once(self, speed: Speed, first_word: float) -> Iterator[str]:
        """Shortfalls for simultaneous users, with a wait for the first word [s]."""
        if speed.waiting:
            yield "lets users wait"
        if speed.decode < self.sized_tps:
            yield "is slower than servers are sized for"
        yield from self._unmet_for_each(speed.low, first_word)

    def _unmet_for_each(self, decode: float, first_word: float) -> Iterator[str]:
        """Shortfalls of one user at a speed [tokens/s] and a wait for the first word [s]."""
        if decode < self.least_tps:
            yield "is too slow for each"
        if first_word > (self.wants.first_token_within or LATE):
            yield "begins too late"

    def first_word(self, option: Option) -> float:
        """Wait for the first word at the mean load [s]; nan without a speed."""
        speed = option.speed
        if speed is None:
            return math.nan
        if self.wants.requests_per_hour is None or speed.shared_wait is not None:
            return first_word_in(option)
        running = float(option.use.work.users) - speed.waiting
        return first_word_at_rate(speed, running, self.wants.requests_per_hour)


def demand_of(users: float, money: MoneyInputs, wants: Wants, prompt: float = 0.0) -> Demand:
    """Demand of a number of users, with prompts of a number of tokens.

    Users who ask at the same time bind whatever the requests of an hour come to, which bind too.
    """
    at_once = users > 1
    if money.batch and wants.requests_per_hour is None:
        crowd = Crowd.BATCH
    elif at_once:
        crowd = Crowd.TEAM
    elif wants.requests_per_hour is not None:
        crowd = Crowd.RATE
    else:
        crowd = Crowd.PEOPLE
    return Demand(crowd=crowd, money=money, wants=wants, within=usual_within(prompt))
