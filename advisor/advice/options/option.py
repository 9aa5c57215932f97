"""Option: something a person could do, with its monthly cost."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from advisor.advice.changes.what_ifs import SAME_TEXT
from advisor.advice.prices.launch_prices import with_margin
from advisor.advice.speeds import Speed


class OptionKind(StrEnum):
    """Kind of option."""

    KEEP = "keep"
    CHANGE = "change"
    ADD = "add"
    REPLACE = "replace"
    MACHINE = "machine"
    RENT = "rent"
    API = "api"


FREE = "free"
"""Beginning of the note of a change that costs no money."""


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
class Price:
    """Price of an option, with its origin.

    Attributes:
        usd: paid once; 0 if nothing is, None without a known price.
        date: date of the oldest part, ISO; empty if a part has none.
        note: seller and item.
        sources: addresses of the sources.
        at_launch: part of `usd` that is a maker's list price at launch [USD].
        typed: typed by the person.
    """

    usd: float | None = 0.0
    date: str = ""
    note: str = ""
    sources: tuple[str, ...] = ()
    at_launch: float = 0.0
    typed: bool = False

    @property
    def listed(self) -> bool:
        """Whether a part has its maker's list price at launch."""
        return self.at_launch > 0


@dataclass(frozen=True, kw_only=True)
class Option:
    """Option with speed, cost and comparison to keeping the present machine.

    Attributes:
        kind: kind of option.
        name: name of the change, GPUs, machine or provider.
        speed: speed; None where nothing runs or no speed is published.
        upfront: paid once, less the resale value of what is replaced [USD]; None without a price.
        cost: monthly cost by parts; None without a price.
        price: price with its origin.
        hours_lost: waiting per month [h]; None without a known speed.
        tokens: generated tokens per month [tokens].
        keeps_up: it can answer all replies in the available hours.
        worth: value of an hour of waiting [USD/h].
        stale: its price is older than 90 days, or has no date.
        kept: option of keeping the present machine; None for that option itself.
        topic: question that people ask and it answers ("one more", a maker's machines); empty for
            none. The first option of each is shown whatever beats it.
        standing: monthly resale value of owned hardware that stands unused; it is no cost of the
            option, and the option does not save it [USD/month].
        assumed_resale: resale value of what is sold for it, where nobody stated one, spread over
            the months of use [USD/month].
        hours_starting: part of `hours_lost` that is for starts of a rented machine [h/month].
    """

    kind: OptionKind
    name: str
    speed: Speed | None
    upfront: float | None
    cost: MonthlyCost | None
    price: Price
    hours_lost: float | None
    tokens: float
    keeps_up: bool = True
    worth: float
    stale: bool = False
    kept: "Option | None" = None
    topic: str = ""
    standing: float = 0.0
    assumed_resale: float = 0.0
    hours_starting: float = 0.0

    @property
    def monthly(self) -> float | None:
        """Monthly cost [USD/month]."""
        return None if self.cost is None else self.cost.total

    @cached_property
    def with_waiting(self) -> float | None:
        """Monthly cost with unused hardware and the value of waiting [USD/month]."""
        if self.cost is None or self.hours_lost is None:
            return None
        return self.cost.total + self.standing + self.hours_lost * self.worth

    @cached_property
    def compared(self) -> float | None:
        """Monthly cost with waiting, launch prices counted `LAUNCH_MARGIN` times [USD/month]."""
        if self.with_waiting is None or self.cost is None or not self.price.usd:
            return self.with_waiting
        purchase = self.cost.purchase
        counted = float(with_margin(purchase, self.price.at_launch, self.price.usd))
        return self.with_waiting - purchase + counted

    @property
    def per_million_tokens(self) -> float | None:
        """Cost per million generated tokens [USD]; None without tokens."""
        if self.cost is None or self.tokens <= 0:
            return None
        return self.cost.total / self.tokens * 1e6

    @property
    def gain(self) -> float | None:
        """Monthly saving compared with keeping the machine, waiting included [USD/month]."""
        now = self.kept.with_waiting if self.kept else None
        then = self.with_waiting
        return None if now is None or then is None else now - then

    @property
    def pays(self) -> bool | None:
        """It keeps up and costs less than keeping the machine, waiting included; None where
        unknown.
        """
        before = self.kept.with_waiting if self.kept else None
        if before is None or self.cost is None:
            return None
        if self.gain is None:
            return None if self.cost.total + self.standing < before else False
        return self.keeps_up and self.gain > 0

    @property
    def hours_saved(self) -> float | None:
        """Waiting saved per month, compared with keeping the machine [h]."""
        before = self.kept.hours_lost if self.kept else None
        return None if before is None or self.hours_lost is None else before - self.hours_lost

    @property
    def worth_from(self) -> float | None:
        """Value of an hour from which it pays: additional cost / saved hours [USD/h].

        0 where it pays and costs no more; None where it saves nothing, or something is not known.
        """
        before = self.kept.cost if self.kept else None
        if before is None or self.cost is None or self.hours_saved is None:
            return None
        more = self.cost.total + self.standing - before.total
        if more <= 0:
            return 0.0 if self.pays else None
        return more / self.hours_saved if self.hours_saved > 0 else None

    @property
    def break_even_months(self) -> float | None:
        """Months until the purchase is earned back; None if never.

        upfront / what each month leaves more, purchases aside
        """
        if self.gain is None or self.upfront is None or self.cost is None or self.kept is None:
            return None
        before = self.kept.cost.tied_up if self.kept.cost else 0.0
        spread = self.cost.purchase + self.cost.tied_up + self.standing
        monthly = self.gain + spread - before
        if self.upfront <= 0:
            return 0.0 if self.gain > 0 else None
        return self.upfront / monthly if monthly > 0 else None

    @property
    def break_even_tokens(self) -> float | None:
        """Tokens per month from which it pays; 0 if always, None if never.

        more fixed cost / what each token costs less, waiting included; starts are fixed
        """
        kept = self.kept
        if kept is None or kept.cost is None or self.cost is None or self.tokens <= 0:
            return None
        if kept.hours_lost is None or self.hours_lost is None:
            return None
        starting = (self.hours_starting - kept.hours_starting) * self.worth
        fixed = self.cost.fixed + self.standing + starting - kept.cost.fixed
        waiting = kept.hours_lost - self.hours_lost + self.hours_starting - kept.hours_starting
        each = (kept.cost.by_use - self.cost.by_use + waiting * self.worth) / self.tokens
        if each <= 0:
            return 0.0 if fixed <= 0 and (each == 0 or self.pays) else None
        return max(fixed / each, 0.0)

    @property
    def loses_quality(self) -> bool:
        """Whether it is a change for which the replies pay."""
        note = self.price.note
        return self.kind is OptionKind.CHANGE and note.startswith(FREE) and note != SAME_TEXT

    @property
    def rests_on_resale(self) -> bool:
        """Whether it is slower than the kept machine and pays only by a resale value that nobody
        stated: a used price is no reason to sell.
        """
        gain, now = self.gain, self.kept.speed if self.kept else None
        slower = now is None or self.speed is None or self.speed.decode <= now.decode
        return gain is not None and slower and 0 < gain <= self.assumed_resale

    @property
    def may_win(self) -> bool:
        """Whether the verdict may name it: it keeps up, has a dated price of all its parts, loses
        no quality and does not rest on a sale that nobody stated.
        """
        priced = self.cost is not None and self.dated
        return priced and self.keeps_up and not self.loses_quality and not self.rests_on_resale

    @property
    def dated(self) -> bool:
        """Whether its price has a date, was typed, or is zero."""
        free = self.price.usd == 0 and not self.price.sources
        return bool(self.price.date) or self.price.typed or free
