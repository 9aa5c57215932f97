"""Waiting time and cost per month of a machine with a given speed."""

from dataclasses import dataclass

from advisor.advice.money.formulas import SECONDS_PER_HOUR, monthly_purchase
from advisor.advice.money.use import (
    api_cost,
    computing_seconds,
    monthly_tokens,
    queue_seconds,
    rented_hours,
    session_seconds,
    waiting_seconds,
)
from advisor.advice.options.option import MonthlyCost
from advisor.advice.prices.power import PowerDraw, idle_hours, monthly_energy
from advisor.advice.speeds import Speed
from advisor.cost_model.workload import Workload
from advisor.request.money import MoneyInputs
from advisor.units import HOURS_PER_MONTH


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
