"""Demand: who asks, how much work that is, and whether an option meets it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from advisor.advice.speeds import Speed
from advisor.advice.table.option import Option, OptionKind
from advisor.request.money import SECONDS_PER_HOUR, MoneyInputs
from advisor.request.wants import Wants

LATE = 30.0  # wait for the first word from which nothing runs well [s]
BUSY = 2.0 / 3.0
"""Share of its time from which requests at random times wait longer than an answer takes: the mean
wait is load / (2 (1 - load)) answers (Pollaczek and Khinchine, answers of one length)."""


class Crowd(StrEnum):
    """Ways in which a server is asked: in turn, all at once, at random times."""

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
        """Demand beside what is kept: that of a rate, where the kept machine writes as fast as one
        reads and cannot keep up, since so many replies are of several people.
        """
        if self.counted or kept.keeps_up or kept.decode < self.money.reading_tps:
            return self
        rate = self.money.replies_per_day / self.money.hours_there
        wants = replace(self.wants, requests_per_hour=rate)
        return replace(self, crowd=Crowd.RATE, wants=wants)

    def met_by(self, option: Option) -> bool:
        """Whether an option finishes in time, without a growing queue, fast enough for each."""
        return not any(self.unmet_by(option))

    def unmet_by(self, option: Option) -> Iterator[str]:
        """What an option lacks, in words."""
        if option.speed is None:
            if option.kind is not OptionKind.API:
                yield "does not run it"
            return
        if self.crowd is Crowd.BATCH and self.load(option) > 1.0:
            yield "does not finish in time"
        if self.crowd is Crowd.RATE and self.load(option) > BUSY:
            yield "cannot keep up"
        if self.crowd is Crowd.TEAM:
            yield from self._unmet_for_all(option.speed)

    def _unmet_for_all(self, speed: Speed) -> Iterator[str]:
        """What users at the same time lack, at the low end of the range of the speed."""
        if speed.waiting:
            yield "lets users wait"
        if speed.low < (self.wants.user_tps or self.money.reading_tps):
            yield "is too slow for each"
        if speed.first_token > (self.wants.first_token_within or LATE):
            yield "begins too late"


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
