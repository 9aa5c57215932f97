"""One thing a person could do, and what it costs in a month."""

from dataclasses import dataclass
from enum import StrEnum

from advisor.advice.speeds import Speed
from advisor.advice.what_ifs import SAME_TEXT


class OptionKind(StrEnum):
    """What is done."""

    KEEP = "keep"
    CHANGE = "change"
    ADD = "add"
    REPLACE = "replace"
    MACHINE = "machine"
    RENT = "rent"
    API = "api"


FREE = "free"
"""How the note of a change begins that costs no money."""


@dataclass(frozen=True, kw_only=True)
class MonthlyCost:
    """Parts of what a month costs, all in USD/month.

    Attributes:
        purchase: what is bought, spread over its months.
        tied_up: what could be had for what is kept, spread over the same months.
        rent: of a machine.
        idle_power: electricity while it waits.
        busy_power: electricity while it answers.
        api: what a provider takes.
    """

    purchase: float = 0.0
    tied_up: float = 0.0
    rent: float = 0.0
    idle_power: float = 0.0
    busy_power: float = 0.0
    api: float = 0.0

    @property
    def total(self) -> float:
        """All of a month."""
        return self.fixed + self.by_use

    @property
    def fixed(self) -> float:
        """What a month costs whether or not anything is asked."""
        return self.purchase + self.tied_up + self.idle_power

    @property
    def by_use(self) -> float:
        """What grows with use."""
        return self.rent + self.busy_power + self.api


@dataclass(frozen=True, kw_only=True)
class Price:
    """What an option's price rests on.

    Attributes:
        usd: paid once for what is bought; 0 where nothing is, None where no price is known.
        date: of its oldest part, ISO; empty where a part is not dated.
        note: whose price, of what.
        sources: where it was read.
        listed: a part is priced as its maker listed it at launch.
        typed: the person typed it.
    """

    usd: float | None = 0.0
    date: str = ""
    note: str = ""
    sources: tuple[str, ...] = ()
    listed: bool = False
    typed: bool = False


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing to do.

    Attributes:
        kind: what is done.
        name: with what.
        speed: what it reaches; None where nothing runs, or no speed is published.
        upfront: paid once, less resale where something is sold [USD]; None without a price.
        cost: of a month, by parts; None without a price.
        price: what it rests on.
        hours_lost: waiting in a month [h]; None where no speed is known.
        tokens: generated in a month [tokens].
        keeps_up: it answers all replies in the hours of a month.
        worth: of an hour of waiting [USD/h].
        stale: its price is older than 90 days, or not dated.
        kept: what is kept, to compare with; None for that itself.
        alike: more of the card there is.
        standing: what could be had for what is owned and stands unused meanwhile, spread over the
            months: no cost of the option, but none that it saves [USD/month].
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
    alike: bool = False
    standing: float = 0.0

    @property
    def monthly(self) -> float | None:
        """All of a month [USD/month]."""
        return None if self.cost is None else self.cost.total

    @property
    def with_waiting(self) -> float | None:
        """All of a month, what stands unused and the worth of the hours lost [USD/month]."""
        if self.cost is None or self.hours_lost is None:
            return None
        return self.cost.total + self.standing + self.hours_lost * self.worth

    @property
    def per_million_tokens(self) -> float | None:
        """What a million generated tokens cost [USD]; None where none are."""
        if self.cost is None or self.tokens <= 0:
            return None
        return self.cost.total / self.tokens * 1e6

    @property
    def gain(self) -> float | None:
        """What it leaves of a month more than what is kept does, waiting included [USD/month]."""
        now = self.kept.with_waiting if self.kept else None
        then = self.with_waiting
        return None if now is None or then is None else now - then

    @property
    def pays(self) -> bool | None:
        """It keeps up and costs less than what is kept, waiting included; None where that is not
        known: without a price, or without a speed where it would pay if nobody waited for it.
        """
        before = self.kept.with_waiting if self.kept else None
        if before is None or self.cost is None:
            return None
        if self.gain is None:
            return None if self.cost.total + self.standing < before else False
        return self.keeps_up and self.gain > 0

    @property
    def hours_saved(self) -> float | None:
        """Waiting in a month less than with what is kept [h]."""
        before = self.kept.hours_lost if self.kept else None
        return None if before is None or self.hours_lost is None else before - self.hours_lost

    @property
    def worth_from(self) -> float | None:
        """What an hour must be worth for it to pay [USD/h]: more cost / fewer hours.

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
        """Months until what was paid once is earned back; None where it never is.

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
        """Tokens a month from which it pays; 0 where it always does, None where it never does.

        more fixed cost / what each token costs less, waiting included
        """
        kept = self.kept
        if kept is None or kept.cost is None or self.cost is None or self.tokens <= 0:
            return None
        if kept.hours_lost is None or self.hours_lost is None:
            return None
        fixed = self.cost.fixed + self.standing - kept.cost.fixed
        before = kept.cost.by_use + kept.hours_lost * self.worth
        each = (before - self.cost.by_use - self.hours_lost * self.worth) / self.tokens
        if each <= 0:
            return 0.0 if fixed <= 0 and each == 0 else None
        return max(fixed / each, 0.0)

    @property
    def may_win(self) -> bool:
        """A verdict may name it: it keeps up, its price is known and dated, and it costs no quality
        that nobody priced.
        """
        note = self.price.note
        gives_up = self.kind is OptionKind.CHANGE and note.startswith(FREE) and note != SAME_TEXT
        return self.cost is not None and self.keeps_up and self.dated and not gives_up

    @property
    def dated(self) -> bool:
        """Its price is of a known day, typed, or there is nothing to pay."""
        free = self.price.usd == 0 and not self.price.sources
        return bool(self.price.date) or self.price.typed or free
