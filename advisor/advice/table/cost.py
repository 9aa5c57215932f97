"""Cost of a month: rent, purchase, power, calls and waiting, for one speed or a column of them.

A reader waits for the first token, for hidden reasoning tokens, and for shown tokens that come
slower than reading speed; a batch job waits for all of them. Amounts are in US dollars, rates per
month unless the name says otherwise. Every function takes numbers or arrays.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from advisor.advice.prices.power import PowerDraw
from advisor.advice.speeds import Speed
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.request.money import MoneyInputs
from advisor.units import DAYS_PER_MONTH, HOURS_PER_MONTH, Array

SECONDS_PER_HOUR = 3600.0


def monthly_rent(usd_per_hour: Array, hours_per_day: Array = 24.0) -> Array:
    """Rent of a GPU for some hours of each day [USD/month].

    usd_per_hour x hours_per_day x 365.25 / 12
    """
    return usd_per_hour * hours_per_day * DAYS_PER_MONTH


def monthly_purchase(usd: Array, months: Array) -> Array:
    """Purchase spread over its months of use [USD/month].

    Raises:
        InputError: the number of months is zero.
    """
    if months <= 0 if isinstance(months, int | float) else np.any(months <= 0):
        raise InputError(f"A purchase over {months} months; give at least one month.")
    return usd / months


def monthly_power(watts: Array, busy_hours: Array, usd_per_kwh: Array) -> Array:
    """Electricity during computation [USD/month]: W / 1000 x h x USD/kWh."""
    return watts / 1000.0 * busy_hours * usd_per_kwh


def monthly_hours(seconds_per_reply: Array, replies_per_day: Array) -> Array:
    """Waiting time for replies [h/month].

    s x replies x 365.25 / 12 / 3600
    """
    return seconds_per_reply * replies_per_day * DAYS_PER_MONTH / SECONDS_PER_HOUR


def worth_per_hour(monthly_cost: Array, hours_saved: Array) -> Array:
    """Value of an hour from which a cost pays: cost / hours; infinite if none are saved [USD/h].

    The practical rule: upgrade when the bigger GPU's monthly cost is less than the lost hours'
    worth, so when an hour is worth more than this [USD/h].
    """
    saved = np.asarray(hours_saved, dtype=float)
    return np.where(saved > 0, monthly_cost / np.where(saved > 0, saved, 1.0), np.inf)


def break_even_tokens(
    monthly_cost: Array, slow_tps: Array, fast_tps: Array, usd_per_hour: Array
) -> Array:
    """Generated tokens a month from which the faster GPU pays [tokens/month].

    Each token saves 1/slow - 1/fast seconds, worth usd_per_hour / 3600 each; infinite where the
    GPU is not faster or time is worth nothing.
    """
    saved = (1.0 / np.asarray(slow_tps) - 1.0 / np.asarray(fast_tps)) / SECONDS_PER_HOUR
    worth = saved * usd_per_hour
    return np.where(worth > 0, monthly_cost / np.where(worth > 0, worth, 1.0), np.inf)


def busy_share(hours: Array) -> Array:
    """Share of the month; above 1, one machine is not enough."""
    return hours / HOURS_PER_MONTH


def computing_seconds(first_token: Array, decode_tps: Array, tokens: Array) -> Array:
    """Time that a machine is busy with a reply [s]: t_first + n / S."""
    return first_token + tokens / decode_tps


def waiting_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """Time that a person waits for a reply, without reading time [s].

    t_first + thought / S + max(0, shown / S - shown / r)

    Args:
        first_token: time to first token [s].
        decode_tps: decode speed for each user [tokens/s].
        thought: tokens of reasoning before the reply, which nobody reads [tokens].
        shown: tokens of the reply [tokens].
        reading_tps: reading speed; infinite for a batch job, which waits for all tokens [tokens/s].
    """
    behind = np.maximum(shown / decode_tps - shown / reading_tps, 0.0)
    return first_token + thought / decode_tps + behind


def queue_seconds(users: float, running: float, reply: Array) -> Array:
    """Mean time in the queue of users who all ask at once, when some run together [s].

    t_reply / U x sum over i < U of floor(i / R)

    Args:
        users: number of users U.
        running: users R who run together.
        reply: time of a whole reply [s].
    """
    turns = np.arange(np.ceil(users)) // max(running, 1.0)
    return float(np.mean(turns)) * reply


def speed_for_wait(wait: Array, thought: Array, shown: Array, reading_tps: Array) -> Array:
    """Decode speed at which a person waits that long: `waiting_seconds` solved for S [tokens/s].

    S = (thought + shown) / (wait + shown / r), which is the reading speed r at most where
    thought <= r wait; else S = thought / wait

    Args:
        wait: waiting without that for the first token, above 0 [s].
        thought: tokens of reasoning before the reply [tokens].
        shown: tokens of the reply [tokens].
        reading_tps: reading speed [tokens/s].
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


def rented_hours(
    session: Array,
    replies_per_day: Array,
    starts_per_day: Array,
    start_seconds: Array,
    days: Array = DAYS_PER_MONTH,
) -> Array:
    """Rented hours per month of a machine that is stopped between sessions [h/month].

    days x min(24, (replies x session + starts x start) / 3600)

    Args:
        session: time of one reply, until it is read [s].
        replies_per_day: replies, one after another.
        starts_per_day: starts of the machine.
        start_seconds: time from ordering the machine until the model answers [s].
        days: days of use in a month.
    """
    each_day = (replies_per_day * session + starts_per_day * start_seconds) / SECONDS_PER_HOUR
    return days * np.minimum(each_day, 24.0)


def monthly_tokens(replies_per_day: Array, tokens: Array, days: Array = DAYS_PER_MONTH) -> Array:
    """Tokens of all replies in a month [tokens/month]."""
    return replies_per_day * tokens * days


def api_cost(
    replies_per_day: Array,
    prompt: Array,
    generated: Array,
    usd_in: Array,
    usd_out: Array,
    days: Array = DAYS_PER_MONTH,
    cached: Array = 0.0,
    usd_cached: Array | None = None,
) -> Array:
    """Monthly charges of an API [USD/month].

    replies x days x ((prompt - cached) p_in + cached p_cached + generated p_out)

    Args:
        replies_per_day: calls.
        prompt: input tokens of a call [tokens].
        generated: output tokens of a call, with reasoning, as providers charge [tokens].
        usd_in: price per million input tokens [USD].
        usd_out: price per million output tokens [USD].
        days: days of use in a month.
        cached: part of the prompt that the provider has cached [tokens].
        usd_cached: price per million cached tokens; None for that of other input [USD].
    """
    known = usd_in if usd_cached is None else usd_cached
    each = ((prompt - cached) * usd_in + cached * known + generated * usd_out) / 1e6
    return replies_per_day * days * each


LAUNCH_MARGIN = 1.5
"""Factor on makers' launch prices where costs are compared: nine in ten GPUs with both
prices in data/prices/prices.csv cost less than that; new ones are 1.5 to 2 times as dear (May 2026,
https://www.promptquorum.com/power-local-llm/local-ai-workstation-build-guide-2026).
"""


def with_margin(monthly: Array, at_launch: Array, usd: Array) -> Array:
    """Monthly cost of a purchase for comparisons, its part at launch prices `LAUNCH_MARGIN` times
    [USD/month].

    monthly x (1 + (margin - 1) at_launch / usd)

    Args:
        monthly: purchase spread over its months [USD/month].
        at_launch: part of the price that is a maker's list price at launch [USD].
        usd: the whole price, above 0 [USD].
    """
    return monthly * (1.0 + (LAUNCH_MARGIN - 1.0) * at_launch / usd)


def monthly_energy(watts: Array, hours: Array, usd_per_kwh: Array) -> Array:
    """Cost of a power over some hours of a month [USD/month]: W / 1000 x h x price."""
    return watts / 1000.0 * hours * usd_per_kwh


def idle_hours(hours_on: Array, busy_hours: Array) -> Array:
    """Hours per month that a machine is on and idle [h/month]."""
    return np.maximum(np.minimum(hours_on, HOURS_PER_MONTH) - busy_hours, 0.0)


@dataclass(frozen=True, kw_only=True)
class MonthlyCost:
    """Parts of a monthly cost [USD/month].

    Attributes:
        purchase: purchases, spread over their months of use.
        tied_up: resale value of what is kept, spread over the same months.
        rent: rent of a machine, without its starts.
        starts: rent while a machine starts, as often however much it is used.
        stopped: the rented machine is stopped while it is not used; else its rent is fixed.
        idle_power: electricity while idle.
        busy_power: electricity while answering.
        api: charges of a provider.
    """

    purchase: float = 0.0
    tied_up: float = 0.0
    rent: float = 0.0
    starts: float = 0.0
    stopped: bool = True
    idle_power: float = 0.0
    busy_power: float = 0.0
    api: float = 0.0

    @cached_property
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
    def paid_fixed(self) -> float:
        """Fixed part that follows from prices of machines."""
        return self.purchase + self.starts + (0.0 if self.stopped else self.rent)

    @property
    def paid_by_use(self) -> float:
        """Part by use that follows from rents and prices of tokens."""
        return self.api + (self.rent if self.stopped else 0.0)


@dataclass(frozen=True, kw_only=True)
class Use:
    """Use of a machine by one person.

    Attributes:
        work: request of one reply.
        money: replies, reading, hours, prices.
    """

    work: Workload
    money: MoneyInputs

    @property
    def shown(self) -> float:
        """Tokens of a reply that are read."""
        return float(self.work.output)

    @property
    def generated(self) -> float:
        """Tokens of a reply, with its reasoning."""
        return self.shown + self.money.thinking_tokens

    @property
    def tokens(self) -> float:
        """Tokens of all replies in a month."""
        return float(monthly_tokens(self.money.replies_per_day, self.generated, self.money.days))

    def hours_lost(self, speed: Speed) -> float:
        """Waiting in a month [h]; no more than the hours that its users have."""
        each = waiting_seconds(
            speed.first_token, speed.decode, self.money.thinking_tokens, self.shown,
            self.money.reading_tps,
        )  # fmt: skip
        if speed.waiting:
            each = each + queue_seconds(
                float(self.work.users), self.running(speed), self._computing(speed)
            )
        hours = float(each) * self.money.replies_per_day * self.money.days / SECONDS_PER_HOUR
        return min(hours, HOURS_PER_MONTH * float(self.work.users))

    def running(self, speed: Speed) -> float:
        """Users who are answered at the same time; the others wait in the queue."""
        return max(float(self.work.users) - speed.waiting, 1.0)

    def _computing(self, speed: Speed) -> float:
        """Time that the machine takes for a reply [s]."""
        return float(computing_seconds(speed.first_token, speed.decode, self.generated))

    def start_seconds(self, speed: Speed) -> float:
        """From asking for a rented machine until it answers: its start and the loading [s]."""
        return 60.0 * self.money.start_minutes + (speed.load or 0.0)

    def hours_starting(self, speed: Speed) -> float:
        """Waiting for a rented machine to start, in a month [h]; none for one that stays on."""
        if self.money.rented_hours_per_day is not None and self.money.rented_hours_per_day >= 24:
            return 0.0
        starts = self.money.starts_per_day if self.money.replies_per_day else 0.0
        return self.start_seconds(speed) * starts * self.money.days / SECONDS_PER_HOUR

    def busy_hours(self, speed: Speed) -> float:
        """Hours of a month that it answers, users who run together counted as one stream [h]."""
        together = self._computing(speed) / self.running(speed)
        return together * self.money.replies_per_day * self.money.days / SECONDS_PER_HOUR

    def keeps_up(self, speed: Speed) -> bool:
        """All replies can be answered in the hours in which they must be."""
        return self.busy_hours(speed) <= self.money.answer_hours * self.money.days

    def rented_hours(self, speed: Speed) -> float:
        """Rented hours per month [h]: as typed, else as use requires."""
        if self.money.rented_hours_per_day is not None:
            return self.money.rented_hours_per_day * self.money.days
        turn = session_seconds(
            speed.first_token, speed.decode, self.money.thinking_tokens, self.shown,
            self.money.reading_tps,
        )  # fmt: skip
        start = self.start_seconds(speed)
        each = float(turn) / self.running(speed)
        replies, starts = self.money.replies_per_day, self.money.starts_per_day
        return float(
            rented_hours(each, replies, starts if replies else 0.0, start, self.money.days)
        )

    def power(self, draw: PowerDraw, speed: Speed | None) -> tuple[float, float]:
        """Electricity per month, idle and busy [USD/month]."""
        busy = min(self.busy_hours(speed), HOURS_PER_MONTH) if speed else 0.0
        waits = idle_hours(self.money.hours_on_per_day * self.money.days, busy)
        price = self.money.usd_per_kwh
        return (
            float(monthly_energy(draw.idle, waits, price)),
            float(monthly_energy(draw.busy, busy, price)),
        )

    def spread(self, usd: float) -> float:
        """Purchase spread over its months of use [USD/month]."""
        return float(monthly_purchase(usd, self.money.purchase_months)) if usd else 0.0

    def owned(
        self, draw: PowerDraw, speed: Speed | None, usd: float = 0.0, tied_up: float = 0.0
    ) -> MonthlyCost:
        """Monthly cost of an owned machine.

        Args:
            draw: electric power.
            speed: that it reaches.
            usd: price of what is bought [USD].
            tied_up: resale value of what is kept [USD].
        """
        idle, busy = self.power(draw, speed)
        return MonthlyCost(
            purchase=self.spread(usd),
            tied_up=self.spread(tied_up),
            idle_power=idle,
            busy_power=busy,
        )

    def rented(self, usd_per_hour: float, speed: Speed) -> MonthlyCost:
        """Monthly cost of a rented machine that is stopped between sessions."""
        hours = self.rented_hours(speed)
        if self.money.rented_hours_per_day is not None:
            return MonthlyCost(rent=usd_per_hour * hours, stopped=False)
        starting = min(self.hours_starting(speed), hours)
        return MonthlyCost(rent=usd_per_hour * (hours - starting), starts=usd_per_hour * starting)

    def rented_by_the_month(self, usd_per_hour: float) -> MonthlyCost:
        """Monthly cost of a rented machine that is never stopped."""
        return MonthlyCost(rent=usd_per_hour * HOURS_PER_MONTH, stopped=False)

    def called(self, usd_in: float, usd_out: float, usd_cached: float | None = None) -> MonthlyCost:
        """Monthly cost of an API."""
        cost = api_cost(
            self.money.replies_per_day,
            float(self.work.prompt),
            self.generated,
            usd_in,
            usd_out,
            self.money.days,
            float(self.work.cached),
            usd_cached,
        )
        return MonthlyCost(api=float(cost))
