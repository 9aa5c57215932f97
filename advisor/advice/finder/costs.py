"""Purchase price and monthly cost of each combination, as arrays.

The sums are those of `options.monthly.Use`, over many speeds at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.advice.finder.candidates import Candidate
from advisor.advice.finder.combinations import Places
from advisor.advice.money.formulas import SECONDS_PER_HOUR, monthly_purchase
from advisor.advice.money.use import computing_seconds, rented_hours, session_seconds
from advisor.advice.options.candidates import kinds
from advisor.advice.options.monthly import Use
from advisor.advice.options.option import Price
from advisor.advice.options.prices import bought, rented, selling_price
from advisor.advice.options.question import Question
from advisor.advice.prices.host_parts import desktop_parts, parts_for
from advisor.advice.prices.launch_prices import with_margin
from advisor.advice.prices.power import PowerDraw, draw_of, idle_hours, monthly_energy
from advisor.model.model import Floats
from advisor.request.ownership import slots
from advisor.units import HOURS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class MachineOffer:
    """Way to have a candidate.

    Attributes:
        kind: "bought" or "rented".
        candidate: index of the candidate.
        price: price with its source; without an amount where none is known.
        upfront: paid once [USD]; NaN without a price.
        usd_per_hour: rent [USD/h].
        margin: what comparisons add to a month for launch prices, as a verdict does [USD/month].
    """

    kind: str
    candidate: int
    price: Price
    upfront: float
    usd_per_hour: float = 0.0
    margin: float = 0.0

    @property
    def rented(self) -> bool:
        """Whether it is rented by the hour."""
        return self.kind == "rented"


def offers(question: Question, tried: Sequence[Candidate]) -> list[MachineOffer]:
    """Purchase of every candidate, with or without a price, and existing rents."""
    cards = set(kinds(question))
    return [
        offer
        for at, candidate in enumerate(tried)
        for offer in _offers(question, candidate, at, sold=candidate.name in cards)
    ]


def _offers(question: Question, candidate: Candidate, at: int, *, sold: bool) -> list[MachineOffer]:
    """Ways to have a candidate.

    Args:
        question: prices, and the host.
        candidate: candidate.
        at: its index.
        sold: the GPU is sold for such a host; server modules can only be rented.
    """
    money, name = question.money, candidate.name
    price = _price(question, candidate) if sold or candidate.whole else Price(usd=None)
    upfront = np.nan if price.usd is None else price.usd
    margin = _margin(price, money.purchase_months)
    ways = [MachineOffer(kind="bought", candidate=at, price=price, upfront=upfront, margin=margin)]
    rent = None if candidate.whole else rented(name, candidate.count, money)
    if rent is not None:
        price, usd = rent
        ways.append(
            MachineOffer(kind="rented", candidate=at, price=price, upfront=0.0, usd_per_hour=usd)
        )
    return ways


def _margin(price: Price, months: float) -> float:
    if not price.usd or not price.at_launch:
        return 0.0
    monthly = monthly_purchase(price.usd, months)
    return float(with_margin(monthly, price.at_launch, price.usd) - monthly)


def _price(question: Question, candidate: Candidate) -> Price:
    """Price of the GPUs and the host parts that they need, or of the whole machine.

    Where there is no machine that takes cards, they come in a new desktop.
    """
    money, name, own = question.money, candidate.name, question.ownership
    if selling_price(name) is None and name not in dict(money.own_price):
        return Price(usd=None)
    if candidate.whole:
        return bought(name, 1, money)
    gpus = candidate.machine.gpus
    there = own.owned and own.takes_cards and not question.machine.unified
    present = slots(question.machine)
    parts = parts_for(own.form, (), gpus, present) if there else desktop_parts(gpus)
    return bought(name, candidate.count, money, parts)


@dataclass(frozen=True, kw_only=True)
class Bills:
    """Monthly costs.

    Attributes:
        use: replies, hours, prices.
        draws: electric power of each candidate.
    """

    use: Use
    draws: Sequence[PowerDraw]

    def owned(self, candidate: Places, usd: Floats, decode: Floats, first_token: Floats) -> Floats:
        """Monthly cost of owned machines: purchase spread over its months, idle and busy power
        [USD].

        Args:
            candidate: indices of the candidates.
            usd: purchase price [USD].
            decode: decode speed for each user [tokens/s].
            first_token: time to first token [s].
        """
        use, money = self.use, self.use.money
        each = computing_seconds(first_token, decode, use.generated) / float(use.work.users)
        busy = each * money.replies_per_day * money.days / SECONDS_PER_HOUR
        busy = np.minimum(busy, HOURS_PER_MONTH)
        waits = idle_hours(money.hours_on_per_day * money.days, busy)
        idle = np.array([draw.idle for draw in self.draws])[candidate]
        full = np.array([draw.busy for draw in self.draws])[candidate]
        return np.asarray(
            monthly_purchase(usd, money.purchase_months)
            + monthly_energy(idle, waits, money.usd_per_kwh)
            + monthly_energy(full, busy, money.usd_per_kwh)
        )

    def rented(
        self, usd_per_hour: Floats, decode: Floats, first_token: Floats, load: Floats
    ) -> Floats:
        """Monthly cost of rented machines [USD].

        Args:
            usd_per_hour: rent [USD/h].
            decode: decode speed for each user [tokens/s].
            first_token: time to first token [s].
            load: time to load the model from the drive; NaN where unknown [s].
        """
        use, money = self.use, self.use.money
        if money.rented_hours_per_day is not None:
            return usd_per_hour * money.rented_hours_per_day * money.days
        turn = session_seconds(
            first_token, decode, money.thinking_tokens, use.shown, money.reading_tps
        )
        starts = money.starts_per_day if money.replies_per_day else 0.0
        start = 60.0 * money.start_minutes + np.nan_to_num(load)
        each = turn / float(use.work.users)
        hours = rented_hours(each, money.replies_per_day, starts, start, money.days)
        return np.asarray(usd_per_hour * hours)


def bills(question: Question, tried: Sequence[Candidate]) -> Bills:
    """Monthly costs for a question and its candidates."""
    return Bills(use=question.use, draws=[draw_of(candidate.machine) for candidate in tried])
