"""Demand: who asks, how much work that is, and whether an option meets it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from advisor.advice.speeds import Speed
from advisor.advice.table.option import Option, OptionKind
from advisor.cost_model.workload import Workload
from advisor.request.money import SECONDS_PER_HOUR, MoneyInputs
from advisor.request.wants import SERVED_TPS, SERVED_WITHIN, Wants

LATE = 30.0  # wait for the first word from which nothing runs well [s]
BUSY = 2.0 / 3.0
"""Share of its time from which requests at random times wait longer than an answer takes: the mean
wait is load / (2 (1 - load)) answers (Pollaczek and Khinchine, answers of one length)."""


def mean_first_word(speed: Speed, work: Workload) -> float:
    """Wait for the first word at the mean load of users, each of whom asks again after reading [s].

    p (1 + rho / (2 (1 - rho))), rho = U p / (p + n / S), p = t_first / U

    The prompts of U users are read one after the other; of one length, they wait as an M/D/1 queue
    does (Pollaczek and Khinchine). Where reading takes longer than writing, all wait for all.
    """
    users = max(float(work.users) - speed.waiting, 1.0)
    reading = speed.first_token / users
    busy = users * reading / (reading + float(work.output) / speed.decode)
    if busy >= 1.0:
        return speed.first_token
    return min(reading * (1.0 + busy / (2.0 * (1.0 - busy))), speed.first_token)


class Crowd(StrEnum):
    """Way in which users ask a server: one after another, in a batch, at random times, at the same
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

    @property
    def counted(self) -> bool:
        """Whether it is work of a known amount, not a person who asks in turn."""
        return self.crowd in (Crowd.BATCH, Crowd.RATE)

    @property
    def as_wished(self) -> "Demand":
        """Demand with the speed and wait that servers are looked for with, where none is stated."""
        wants = replace(
            self.wants,
            user_tps=self.wants.user_tps or SERVED_TPS,
            first_token_within=self.wants.first_token_within or SERVED_WITHIN,
        )
        return replace(self, wants=wants)

    def load(self, option: Option) -> float:
        """Work of an option for each hour that there is: hours of work over hours.

        batch: replies x seconds / (hours a day x 3600); rate: requests an hour x seconds / 3600
        """
        speed = option.speed
        if speed is None or option.kind is OptionKind.API:
            return 0.0  # a provider answers many at the same time
        seconds = option.use.seconds_each(speed)
        if self.wants.requests_per_hour is not None:
            return self.wants.requests_per_hour * seconds / SECONDS_PER_HOUR
        return self.money.replies_per_day * seconds / SECONDS_PER_HOUR / self.money.hours_there

    def beside(self, kept: Option) -> "Demand":
        """Demand on a machine beside the present one.

        It is a rate where the present machine writes as fast as one reads and still cannot keep up,
        since so many replies are of several people.
        """
        if self.counted or kept.keeps_up or kept.decode < self.money.reading_tps:
            return self
        rate = self.money.replies_per_day / self.money.hours_there
        wants = replace(self.wants, requests_per_hour=rate)
        return replace(self, crowd=Crowd.RATE, wants=wants)

    def under_load(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Options, the kept machine first, of which those that requests come too fast for are
        marked.
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

    def serves_all(self, speed: Speed, work: Workload) -> bool:
        """Whether a speed is enough for several users at the same time."""
        return not any(self._unmet_for_all(speed, work))

    def unmet_by(self, option: Option) -> Iterator[str]:
        """Words on the demands that an option does not meet."""
        if option.speed is None:
            if option.kind is not OptionKind.API:
                yield "does not run it"
            return
        if self.crowd is Crowd.BATCH and self.load(option) > 1.0:
            yield "does not finish in time"
        if self.crowd is Crowd.RATE:
            yield from self._unmet_by_rate(option, option.speed)
        if self.crowd is Crowd.TEAM:
            yield from self._unmet_for_all(option.speed, option.use.work)

    def _unmet_by_rate(self, option: Option, speed: Speed) -> Iterator[str]:
        """What requests at random times lack."""
        if self.load(option) > BUSY:
            yield "cannot keep up"
        yield from self._unmet_for_each(speed.decode, self.first_word(option))

    def _unmet_for_all(self, speed: Speed, work: Workload) -> Iterator[str]:
        """What users at the same time lack, at the low end of the range of the speed."""
        if speed.waiting:
            yield "lets users wait"
        yield from self._unmet_for_each(speed.low, mean_first_word(speed, work))

    def _unmet_for_each(self, decode: float, first_word: float) -> Iterator[str]:
        """What a user lacks at a speed [tokens/s] and a wait for the first word [s]."""
        if decode < (self.wants.user_tps or self.money.reading_tps):
            yield "is too slow for each"
        if first_word > (self.wants.first_token_within or LATE):
            yield "begins too late"

    def first_word(self, option: Option) -> float:
        """Wait for the first word at the mean load [s].

        p (1 + rho / (2 (1 - rho))), rho = R p / 3600, p = t_first / U

        The prompts of R requests an hour are read one after the other, as an M/D/1 queue
        (Pollaczek and Khinchine); nan without a speed.
        """
        speed = option.speed
        if speed is None:
            return math.nan
        work = option.use.work
        rate = self.wants.requests_per_hour
        if rate is None:
            return mean_first_word(speed, work)
        reading = speed.first_token / max(float(work.users) - speed.waiting, 1.0)
        busy = rate * reading / SECONDS_PER_HOUR
        if busy >= 1.0:
            return speed.first_token
        return min(reading * (1.0 + busy / (2.0 * (1.0 - busy))), speed.first_token)


def demand_of(users: float, money: MoneyInputs, wants: Wants) -> Demand:
    """Demand of a number of users."""
    if wants.requests_per_hour is not None:
        crowd = Crowd.RATE
    elif money.batch:
        crowd = Crowd.BATCH
    elif users > 1:
        crowd = Crowd.TEAM
    else:
        crowd = Crowd.PEOPLE
    return Demand(crowd=crowd, money=money, wants=wants)
