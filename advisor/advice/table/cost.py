"""Cost of a month: rent, purchase, power, calls and waiting, for one speed or many.

A reader waits for the first token, for hidden reasoning tokens, and for shown tokens that come
slower than reading speed; a batch job waits for all of them. Amounts are in US dollars, rates per
month unless the name says otherwise. Every function takes numbers or arrays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from advisor.advice.prices.power import PowerDraw
from advisor.advice.speeds import Mask, Speed
from advisor.cost_model.workload import Workload
from advisor.lazy import lazy
from advisor.request.money import DAYS_PER_MONTH, HOURS_PER_MONTH, SECONDS_PER_HOUR, MoneyInputs
from advisor.units import Array


def monthly_hours(seconds_per_reply: Array, replies_per_day: Array) -> Array:
    """Waiting time for replies [h/month].

    s x replies x 365.25 / 12 / 3600
    """
    return seconds_per_reply * replies_per_day * DAYS_PER_MONTH / SECONDS_PER_HOUR


def waiting_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """Time that a person waits for a reply, without reading time [s].

    t_first + thought / S + max(0, shown / S - shown / r)

    A reply has thought and shown tokens; the reading speed r is infinite for a batch job, which
    waits for all of them.
    """
    behind = np.maximum(shown / decode_tps - shown / reading_tps, 0.0)
    return first_token + thought / decode_tps + behind


def queue_seconds(users: float, running: Array, reply: Array) -> Array:
    """Mean time in the queue of users U who send requests at the same time, of whom R are answered
    together [s].

    t_reply / U x sum over i < U of floor(i / R)
    """
    turns = np.arange(np.ceil(users)) // np.maximum(running, 1.0)[..., None]
    return np.asarray(np.mean(turns, axis=-1)) * reply


def speed_for_wait(wait: Array, thought: Array, shown: Array, reading_tps: Array) -> Array:
    """Decode speed at which a person waits that long after the first token, above 0 s:
    `waiting_seconds` solved for S [tokens/s].

    S = (thought + shown) / (wait + shown / r), which is the reading speed r at most where thought
    <= r wait; else S = thought / wait
    """
    slower = (thought + shown) / (wait + shown / reading_tps)
    return np.where(thought <= reading_tps * wait, slower, thought / wait)


def session_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """Time from sending a prompt until its reply is read [s].

    t_first + thought / S + max(shown / S, shown / r)
    """
    slower = np.maximum(shown / decode_tps, shown / reading_tps)
    return first_token + thought / decode_tps + slower


LEAST_SESSION = 1.0
"""Time that a rented machine is kept for at least, each time that it is started: nobody orders one
for the minutes of a few answers; assumed [h]."""
STORED = 0.07e-9
"""Rent of a volume that keeps the weights while no machine runs [USD/B/month]
(https://docs.runpod.io/pods/storage, 2026-11-23: $0.07 per GB; $0.20 on a stopped machine)."""
LAUNCH_MARGIN = 1.5
"""Factor on makers' launch prices where costs are compared: nine in ten GPUs with both
prices in data/prices/prices.csv cost less than that; new ones are 1.5 to 2 times as dear (May 2026,
https://www.promptquorum.com/power-local-llm/local-ai-workstation-build-guide-2026).
"""


@dataclass(frozen=True, kw_only=True)
class MonthlyCost:
    """Parts of a monthly cost, for machines in columns an array each [USD/month]."""

    purchase: float = 0.0  # purchases, spread over their months of use
    tied_up: float = 0.0  # resale value of what is kept, spread over the same months
    rent: float = 0.0  # rent of a machine, without its starts
    starts: float = 0.0  # rent while it starts, or beyond the answers of a session: fixed
    storage: float = 0.0  # rent of a volume that keeps the weights
    stopped: bool = True  # it is stopped while it is not used; else its rent is fixed
    idle_power: float = 0.0  # electricity while idle
    busy_power: float = 0.0  # electricity while answering
    api: float = 0.0  # charges of a provider

    def at(self, use: Any = 1.0, dearer: Any = 1.0) -> Any:
        """Cost at another amount of use and other prices, each as a factor on the stated one."""
        fixed = self.tied_up + self.idle_power + self.paid_fixed * dearer
        return fixed + (self.busy_power + self.paid_by_use * dearer) * use

    def times(self, machines: Any) -> "MonthlyCost":
        """Cost of several equal machines."""
        return replace(self, **{name: getattr(self, name) * machines for name in AMOUNTS})

    def each(self, count: int) -> Iterator["MonthlyCost"]:
        """Costs of each of some machines in columns, one after another."""
        columns = (np.broadcast_to(getattr(self, name), count).tolist() for name in AMOUNTS)
        for amounts in zip(*columns, strict=True):
            yield MonthlyCost(stopped=self.stopped, **dict(zip(AMOUNTS, amounts, strict=True)))

    def margin(self, launch_share: Any) -> Any:
        """Uncertainty of the cost that follows from launch prices, by their share of the purchase
        [USD/month].
        """
        return (LAUNCH_MARGIN - 1.0) * self.purchase * launch_share

    @lazy
    def total(self) -> float:
        """Sum of all parts."""
        return self.fixed + self.by_use

    @property
    def fixed(self) -> float:
        """Part that does not depend on use."""
        return self.tied_up + self.idle_power + self.paid_fixed

    @property
    def by_use(self) -> float:
        """Part that grows with use."""
        return self.busy_power + self.paid_by_use

    @property
    def paid(self) -> float:
        """Part that follows from prices of machines and tokens."""
        return self.paid_fixed + self.paid_by_use

    @property
    def paid_fixed(self) -> float:
        """Fixed part that follows from prices of machines."""
        return self.purchase + self.starts + self.storage + (0.0 if self.stopped else self.rent)

    @property
    def paid_by_use(self) -> float:
        """Part by use that follows from rents and prices of tokens."""
        return self.api + (self.rent if self.stopped else 0.0)


AMOUNTS = tuple(field.name for field in fields(MonthlyCost) if field.name != "stopped")


@dataclass(frozen=True, kw_only=True)
class Use:
    """Use of a machine by one person; every cost of a month comes from here.

    A speed may be of many machines, with an array for each of its numbers.
    """

    work: Workload  # request of one reply
    money: MoneyInputs  # replies, reading, hours, prices
    weights: float = 0.0  # file of the model [B]
    unread: bool = False  # nobody reads replies as they are written, as of an agent's turns

    @property
    def reading_tps(self) -> float:
        """Speed at which replies are read while they are written, so that writing is no wait;
        infinite where nobody reads them then [tokens/s].
        """
        unread = self.unread or self.money.batch
        if unread:
            return np.inf
        return self.money.reading_tps

    @property
    def storage(self) -> float:
        """Rent of a volume that keeps the weights [USD/month]."""
        return STORED * self.weights

    @lazy
    def shown(self) -> float:
        """Tokens of a reply that are read."""
        return float(self.work.output)

    @lazy
    def generated(self) -> float:
        """Tokens of a reply, with its reasoning."""
        return self.shown + self.money.thinking_tokens

    @lazy
    def replies(self) -> float:
        """Replies of a month."""
        return self.money.replies_per_day * self.money.days

    @property
    def tokens(self) -> float:
        """Tokens of all replies in a month."""
        return self.generated * self.replies

    @lazy
    def _users(self) -> float:
        return float(self.work.users)

    def waits(self, first_token: Array, decode: Array) -> Array:
        """Time that a person waits for a reply, the queue aside [s]."""
        money = self.money
        if money.batch:
            return 0.0 * (first_token + decode)  # nobody waits for one of a batch
        return waiting_seconds(
            first_token, decode, money.thinking_tokens, self.shown, self.reading_tps
        )

    def hours_lost(self, speed: Speed) -> Array:
        """Waiting in a month, at most the hours in which its users are there [h]."""
        each = self.waits(speed.first_token, speed.decode)
        queued = speed.waiting
        queues = bool(queued) if isinstance(queued, float) else bool(np.any(queued))
        if queues and not self.money.batch:
            each = each + queue_seconds(self._users, self.running(speed), self._computing(speed))
        return np.minimum(each * self.replies / SECONDS_PER_HOUR, HOURS_PER_MONTH * self._users)

    def running(self, speed: Speed) -> Array:
        """Users who are answered at the same time; the others wait in the queue."""
        users: Array = np.maximum(self._users - speed.waiting, 1.0)
        return users

    def _computing(self, speed: Speed) -> Array:
        """Time that the machine takes for a reply [s]: t_first + n / S."""
        return speed.first_token + self.generated / speed.decode

    def seconds_each(self, speed: Speed) -> float:
        """Time of the machine for a reply, when its users are answered together [s]."""
        return float(self._computing(speed) / self.running(speed))

    def start_seconds(self, speed: Speed) -> Array:
        """Time until a rented machine answers: its start and the loading of the file [s]."""
        return 60.0 * self.money.start_minutes + speed.loading

    @lazy
    def _starts(self) -> float:
        """Starts of a rented machine in a month."""
        if self.money.replies_per_day:
            return self.money.starts_per_day * self.money.days
        return 0.0

    def hours_starting(self, speed: Speed) -> Array:
        """Waiting for a rented machine to start, in a month [h]; none for one that stays on."""
        if self.money.rented_hours_per_day is not None and self.money.rented_hours_per_day >= 24:
            return 0.0
        return self.start_seconds(speed) * self._starts / SECONDS_PER_HOUR

    def busy_hours(self, speed: Speed) -> Array:
        """Hours of a month in which it answers; users who are answered together count as one stream
        [h].
        """
        return self._computing(speed) / self.running(speed) * self.replies / SECONDS_PER_HOUR

    def keeps_up(self, speed: Speed, sharing: int = 1) -> Mask | np.bool_ | bool:
        """Whether all replies can be answered within the hours that are given for them, by machines
        that divide them.
        """
        return self.busy_hours(speed) / sharing <= self.money.hours_there * self.money.days

    def rented_hours(self, speed: Speed) -> Array:
        """Rented hours per month, as typed or by sessions and starts [h].

        min(24 days, max(hours asked for, least hours))
        """
        if self.money.rented_hours_per_day is not None:
            return self.money.rented_hours_per_day * self.money.days
        hours = np.maximum(self._hours_asked(speed), self._least_hours)
        return np.minimum(hours, 24.0 * self.money.days)

    @lazy
    def _least_hours(self) -> float:
        """Least hours of a month that a rented machine is kept for [h]: starts x least session; all
        of a working day for several people, who ask whenever they like.
        """
        if self._users > 1 and not self.money.batch and self._starts:
            return max(self._starts * LEAST_SESSION, self.money.hours_on_per_day * self.money.days)
        return self._starts * LEAST_SESSION

    def _hours_asked(self, speed: Speed) -> Array:
        """Hours of a month that answers and starts take [h].

        (replies x session + starts x start) / 3600
        """
        thought = self.money.thinking_tokens
        turn = session_seconds(
            speed.first_token, speed.decode, thought, self.shown, self.reading_tps
        ) / self.running(speed)
        return (self.replies * turn + self._starts * self.start_seconds(speed)) / SECONDS_PER_HOUR

    def power(self, draw: PowerDraw, speed: Speed | None) -> tuple[Any, Any]:
        """Electricity per month, idle while it is on and busy [USD/month]: W / 1000 x h x price."""
        if speed:
            busy = np.minimum(self.busy_hours(speed), HOURS_PER_MONTH)
        else:
            busy = 0.0
        on = min(self.money.hours_on_per_day * self.money.days, HOURS_PER_MONTH)
        price = self.money.usd_per_kwh / 1000.0
        return draw.idle * np.maximum(on - busy, 0.0) * price, draw.busy * busy * price

    def spread(self, usd: Any) -> Any:
        """Purchase spread over its months of use [USD/month]."""
        return usd / self.money.purchase_months

    def owned(
        self, draw: PowerDraw, speed: Speed | None, usd: Any = 0.0, tied_up: float = 0.0
    ) -> MonthlyCost:
        """Monthly cost of an owned machine: its power, a purchase spread over months, and its
        resale value.
        """
        idle, busy = self.power(draw, speed)
        return MonthlyCost(
            purchase=self.spread(usd),
            tied_up=self.spread(tied_up),
            idle_power=idle,
            busy_power=busy,
        )

    def rented(self, usd_per_hour: Any, speed: Speed) -> MonthlyCost:
        """Monthly cost of a rented machine that is stopped between sessions."""
        hours = self.rented_hours(speed)
        fixed: Array = 0.0
        stopped = self.money.rented_hours_per_day is None
        if stopped:
            fills = self._hours_asked(speed) >= self._least_hours
            fixed = np.minimum(np.where(fills, self.hours_starting(speed), np.inf), hours)
        rent = usd_per_hour * (hours - fixed)
        starts = usd_per_hour * fixed
        return MonthlyCost(rent=rent, starts=starts, stopped=stopped, storage=self.storage)

    def rented_by_the_month(self, usd_per_hour: float) -> MonthlyCost:
        """Monthly cost of a rented machine that is never stopped."""
        rent = usd_per_hour * HOURS_PER_MONTH
        return MonthlyCost(rent=rent, stopped=False, storage=self.storage)

    def called(self, usd_in: float, usd_out: float, usd_cached: float | None = None) -> MonthlyCost:
        """Monthly cost of an API at prices of a million tokens [USD].

        Output includes reasoning, as providers charge; cached input costs as other input where it
        has no price of its own.

        replies x ((prompt - cached) p_in + cached p_cached + generated p_out)
        """
        prompt = float(self.work.prompt)
        cached = float(self.work.cached)
        if usd_cached is None:
            again = usd_in
        else:
            again = usd_cached
        each = (prompt - cached) * usd_in + cached * again + self.generated * usd_out
        return MonthlyCost(api=self.replies * each / 1e6)

    def served(self, draw: PowerDraw, usd: float, hours: float) -> MonthlyCost:
        """Monthly cost of a bought machine that is busy for some hours, for many users."""
        power: Any = draw.busy / 1000.0 * hours * self.money.usd_per_kwh
        return MonthlyCost(purchase=self.spread(usd), busy_power=power)
