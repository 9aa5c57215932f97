"""Machines with GPUs to rent or to build, and what a month of each costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from advisor.advice.money.formulas import monthly_power, monthly_purchase
from advisor.advice.options.candidates import cardless, desktop_kinds, for_rent
from advisor.advice.options.option import Price
from advisor.advice.options.prices import bought, rented, rents
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import COUNTS, FEW
from advisor.advice.prices.host_parts import desktop_parts
from advisor.advice.prices.launch_prices import with_margin
from advisor.advice.prices.power import draw_of
from advisor.machine import from_catalog
from advisor.machine.machine import Machine
from advisor.units import HOURS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class ServerOffer:
    """Machine with GPUs of a kind that can be rented, or built from parts.

    Attributes:
        gpu: name of its GPUs.
        count: number of its GPUs.
        kind: "rented" or "built".
        monthly: cost of a month [USD/month].
        compared: that cost with launch prices counted `LAUNCH_MARGIN` times [USD/month].
        upfront: paid once [USD].
        price: price with its date and source.
    """

    gpu: str
    count: int
    kind: str
    monthly: float
    compared: float
    upfront: float
    price: Price

    @property
    def name(self) -> str:
        """GPUs with their number."""
        return f"{self.count}x {self.gpu}" if self.count > 1 else self.gpu


def server_offers(question: Question) -> list[ServerOffer]:
    """Machines with a dated or typed price, rented and built."""
    every = (*_to_rent(question), *_to_build(question))
    return [offer for offer in every if offer.price.date or offer.price.typed]


def hours_served(question: Question) -> float:
    """Hours of a month in which the machines serve: as typed for rented ones, else all [h]."""
    typed = question.money.rented_hours_per_day
    return HOURS_PER_MONTH if typed is None else typed * question.money.days


def _to_rent(question: Question) -> Iterator[ServerOffer]:
    money, hours = question.money, hours_served(question)
    for gpu in for_rent(question):
        typed = gpu in dict(money.own_rent)
        sizes = COUNTS if typed else sorted({row.gpu_count for row in rents(gpu)})
        for count in sizes:
            offer = rented(gpu, count, money)
            if offer is None:
                continue
            price, usd_per_hour = offer
            monthly = usd_per_hour * hours
            yield ServerOffer(
                gpu=gpu, count=count, kind="rented", monthly=monthly, compared=monthly,
                upfront=0.0, price=price,
            )  # fmt: skip


def _to_build(question: Question) -> Iterator[ServerOffer]:
    for gpu in desktop_kinds(question):
        for count in (count for count in COUNTS if count <= FEW):
            built = _built(question, gpu, count)
            if built is not None:
                yield built


def _built(question: Question, gpu: str, count: int) -> ServerOffer | None:
    """New desktop with cards, all parts included; None where one has no price."""
    machine, money = with_gpus(gpu, count), question.money
    price = bought(gpu, count, money, desktop_parts(machine.gpus))
    if price.usd is None:
        return None
    purchase = float(monthly_purchase(price.usd, money.purchase_months))
    watts = draw_of(machine).busy
    power = float(monthly_power(watts, hours_served(question), money.usd_per_kwh))
    return ServerOffer(
        gpu=gpu, count=count, kind="built", monthly=purchase + power,
        compared=float(with_margin(purchase, price.at_launch, price.usd)) + power,
        upfront=price.usd, price=price,
    )  # fmt: skip


def with_gpus(gpu: str, count: int) -> Machine:
    """Usual host with GPUs of a kind."""
    card = from_catalog.gpu(gpu)
    return replace(cardless(), name=gpu, gpus=(card,) * count)
