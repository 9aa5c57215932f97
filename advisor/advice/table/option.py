"""Question that the options answer, and Option, a row of their table: its speed and costs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.edits.changes import SOME_QUALITY
from advisor.advice.prices.power import HostPartRow
from advisor.advice.prices.price import Price, age_remark, cards_for_sale, less, rents, used_value
from advisor.advice.prices.rows import PriceRow, is_stale, rent_rows, standing
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import MonthlyCost, Use
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.lazy import lazy
from advisor.machine.machine import Form, Gpu, Machine
from advisor.model.model import Floats, Model
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.wants import Condition
from advisor.units import number


class OptionKind(StrEnum):
    """Kind of option."""

    KEEP = "keep"
    CHANGE = "change"
    ADD = "add"
    REPLACE = "replace"
    MACHINE = "machine"
    RENT = "rent"
    API = "api"


HARDWARE = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE, OptionKind.RENT)
"""Kinds of hardware beside the present."""
FELT = 1.15
"""Factor by which waiting must fall to be a reason to pay: predictions err by about that."""
NEW_DESKTOP = "New desktop with "  # beginning of the name of one that is built for cards
FREE = "free"  # beginning of the note of a change that costs no money


@dataclass(frozen=True, kw_only=True)
class Option:
    """Option with speed, cost and comparison to keeping the present machine."""

    kind: OptionKind  # kind of option
    name: str  # name of the change, GPUs, machine or provider
    speed: Speed | None  # speed; None where nothing runs or no speed is published
    upfront: float | None  # paid once, less the resale value of what is replaced; or None [USD]
    cost: MonthlyCost | None  # monthly cost by parts; None without a price
    price: Price  # price with its origin
    use: Use  # replies of a month, and what an hour is worth
    started: bool = False  # rented, and started anew for each session
    stale: bool = False  # its price is older than 90 days, or has no date
    kept: "Option | None" = None  # keeping the present machine; None for that option itself
    # question that people ask and it answers ("one more", a maker's machines); empty for none. The
    # first option of each is shown whatever beats it.
    topic: str = ""
    standing: float = 0.0  # monthly value of owned hardware that stands unused [USD/month]
    assumed_resale: float = 0.0  # monthly value of what is sold, if nobody stated it [USD/month]
    hours_rented: float | None = None  # of a rented machine [h/day]; None for others
    machine: Machine | None = None  # machine with it; None for a rent or an API
    bought: tuple[Gpu, ...] = ()  # cards that are bought or rented for it
    parts: tuple[HostPartRow, ...] = ()  # parts that are bought beside the cards
    odd: tuple[str, ...] = ()  # what an expert finds odd; it is never the safe choice then
    loss: float | None = None  # of a change's format over the present one [nats]; None if too much
    overloaded: bool = False  # requests come faster than it answers them
    machines: int = 1  # number of machines that are bought or rented
    # machines among which the replies are divided, where each answers its share alone
    sharing: int = 1
    unreported: bool = False  # a free engine that nobody but its makers reported on the card
    undoes: bool = False  # it leaves a setting that somebody states to the engine again

    def __repr__(self) -> str:
        speed = f"{self.decode:.3g} tokens/s" if self.speed else "no speed"
        price = f", {self.upfront:,.0f} USD at once" if self.upfront else ""
        return f"<Option {self.kind} {self.name}: {speed}{price}>"

    @property
    def aged(self) -> str:
        """Remark on an old or launch price in parentheses; empty for others."""
        return age_remark(self.price.date, listed=self.price.listed, stale=self.stale)

    @property
    def decode(self) -> float:
        """Decode speed, 0 where none is known [tokens/s]."""
        if self.speed:
            return self.speed.decode
        return 0.0

    @property
    def tokens(self) -> float:
        """Generated tokens per month [tokens]."""
        return self.use.tokens

    @property
    def worth(self) -> float:
        """Value of an hour of waiting [USD/h]."""
        return self.use.money.usd_per_hour_of_time

    @property
    def is_rented(self) -> bool:
        """Whether a month of it costs rent."""
        return self.cost is not None and bool(self.cost.rent + self.cost.starts)

    @lazy
    def hours_starting(self) -> float:
        """Waiting per month for starts of a rented machine [h]."""
        if self.started and self.speed:
            return float(self.use.hours_starting(self.speed))
        return 0.0

    @lazy
    def hours_lost(self) -> float | None:
        """Waiting per month, starts included [h]; None without a known speed."""
        speed = self.speed
        if speed is None:
            return None
        return float(self.use.hours_lost(speed)) + self.hours_starting

    @lazy
    def keeps_up(self) -> bool:
        """Whether it can answer all replies in the available hours; a provider of an API answers
        many at the same time.
        """
        if self.speed is None or self.kind is OptionKind.API:
            return True
        return not self.overloaded and bool(self.use.keeps_up(self.speed, self.sharing))

    def times(self, machines: int) -> "Option":
        """So many machines of a kind that divide the replies among them; each is bought whole."""
        name = self.name.removeprefix(NEW_DESKTOP)
        kind = "machines with {} each" if name != self.name else "machines, each {}"
        return replace(
            self,
            name=f"{machines} {kind.format(name)}",
            upfront=None if self.upfront is None else machines * self.upfront,
            cost=None if self.cost is None else self.cost.times(machines),
            price=self.price.times(machines),
            machines=machines,
            sharing=machines,
        )

    @property
    def work_of_a_day(self) -> str:
        """Hours of work that the replies of a day take, in a sentence; empty without a speed."""
        if self.speed is None:
            return ""
        replies = self.use.money.replies_per_day
        hours = replies * self.use.seconds_each(self.speed) / 3600
        return f"{number(replies)} answers are {number(hours)} hours of work a day."

    @property
    def monthly(self) -> float | None:
        """Monthly cost [USD/month]."""
        if self.cost is None:
            return None
        return self.cost.total

    @lazy
    def with_waiting(self) -> float | None:
        """Monthly cost with unused hardware and the value of waiting [USD/month]."""
        if self.cost is None or self.hours_lost is None:
            return None
        return self.cost.total + self.standing + self.hours_lost * self.worth

    @lazy
    def compared(self) -> float | None:
        """Monthly cost with waiting, in which launch prices count `LAUNCH_MARGIN` times
        [USD/month].
        """
        if self.with_waiting is None or self.cost is None:
            return self.with_waiting
        return self.with_waiting + float(self.cost.margin(self.price.launch_share))

    @property
    def paid_first(self) -> float:
        """Amount to pay before the sale of what is owned, less a stated resale value [USD]."""
        if self.assumed_resale and self.price.usd is not None:
            return self.price.usd
        return self.upfront or 0.0

    @property
    def sold(self) -> float:
        """Amount that the sale of what is owned takes off the price [USD]."""
        if self.price.usd is None or self.upfront is None:
            return 0.0
        return self.price.usd - self.upfront

    @property
    def full_price(self) -> float:
        """Price before anything is sold for it [USD]."""
        return (self.upfront or 0.0) + self.sold

    @property
    def per_million_tokens(self) -> float | None:
        """Cost per million generated tokens [USD]; None without tokens."""
        if self.cost is None or self.tokens <= 0:
            return None
        return self.cost.total / self.tokens * 1e6

    @property
    def gain(self) -> float | None:
        """Monthly saving compared with keeping the machine, waiting included [USD/month]."""
        if self.kept:
            now = self.kept.with_waiting
        else:
            now = None
        then = self.with_waiting
        if now is None or then is None:
            return None
        return now - then

    @property
    def pays(self) -> bool | None:
        """Whether the option keeps up and costs less than the present machine, waiting included;
        None where unknown.
        """
        if self.kept:
            before = self.kept.with_waiting
        else:
            before = None
        if before is None or self.cost is None:
            return None
        if self.gain is None:
            if self.cost.total + self.standing < before:
                return None
            return False
        return self.keeps_up and bool(self.gain > 0)

    @property
    def hours_saved(self) -> float | None:
        """Waiting saved per month, compared with keeping the machine [h]."""
        if self.kept:
            before = self.kept.hours_lost
        else:
            before = None
        if before is None or self.hours_lost is None:
            return None
        return before - self.hours_lost

    @property
    def worth_from(self) -> float | None:
        """Value of an hour from which it pays: additional cost / saved hours [USD/h].

        0 where it pays and costs no more; None where it saves nothing, or something is not known.
        """
        if self.kept:
            before = self.kept.cost
        else:
            before = None
        if before is None or self.cost is None or self.hours_saved is None:
            return None
        more = self.cost.total + self.standing - before.total
        if more <= 0:
            if self.pays:
                return 0.0
            return None
        if self.hours_saved > 0:
            return more / self.hours_saved
        return None

    @property
    def break_even_months(self) -> float | None:
        """Months until the purchase is earned back; None if never.

        upfront / what each month leaves more, purchases aside
        """
        if self.gain is None or self.upfront is None or self.cost is None or self.kept is None:
            return None
        if self.kept.cost:
            before = self.kept.cost.tied_up
        else:
            before = 0.0
        spread = self.cost.purchase + self.cost.tied_up + self.standing
        monthly = self.gain + spread - before
        if self.upfront <= 0:
            if self.gain > 0:
                return 0.0
            return None
        if monthly > 0:
            return self.upfront / monthly
        return None

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
            if fixed <= 0 and (each == 0 or self.pays):
                return 0.0
            return None
        return max(fixed / each, 0.0)

    @property
    def answer_seconds(self) -> float:
        """Time until a whole answer is complete, with its thinking [s]."""
        speed = self.speed
        if speed is None:
            return math.inf
        return speed.first_token + self.use.generated / speed.decode

    @property
    def thinking_seconds(self) -> float:
        """Time of the reasoning before an answer [s]."""
        speed = self.speed
        if speed is None:
            return 0.0
        return self.use.money.thinking_tokens / speed.decode

    @property
    def is_free_setting(self) -> bool:
        """Whether it is a setting of the present machine that costs nothing."""
        return self.kind is OptionKind.CHANGE and not self.upfront

    @property
    def card_watts(self) -> float:
        """Board power of all cards that are then in the machine, the present ones included [W]."""
        cards = self.bought if self.machine is None else self.machine.gpus
        return sum(card.board_power or 0.0 for card in cards)

    @property
    def loses_quality(self) -> bool:
        """Whether the option is a change that costs quality of the replies."""
        note = self.price.note
        return self.kind is OptionKind.CHANGE and (note == FREE or note.startswith(SOME_QUALITY))

    @property
    def rests_on_resale(self) -> bool:
        """Whether the option is slower, and pays only by an assumed resale value."""
        gain = self.gain
        now = self.kept.speed if self.kept else None
        slower = now is None or self.speed is None or self.speed.decode <= now.decode
        return gain is not None and slower and 0 < gain <= self.assumed_resale

    @property
    def rests_on_little(self) -> bool:
        """Whether the option costs more, and pays only by a wait that is shorter by less than
        predictions err.
        """
        gain = self.gain
        saved = self.hours_saved
        if gain is None or saved is None or not 0 < gain < saved * self.worth:
            return False
        if self.kept:
            now = self.kept.hours_lost
        else:
            now = None
        return now is not None and now < FELT * (now - saved)

    @property
    def may_win(self) -> bool:
        """Whether the verdict may name the option.

        It must keep up, have a dated price of all its parts, lose no quality, and rest neither on a
        sale that nobody stated nor on a speed that hardly differs.
        """
        able = self.priced and self.keeps_up and not self.loses_quality
        return able and not self.rests_on_resale and not self.rests_on_little

    @property
    def priced(self) -> bool:
        """Whether it has a dated price."""
        return self.cost is not None and self.dated

    @property
    def dated(self) -> bool:
        """Whether its price has a date, was typed, or is zero."""
        free = self.price.usd == 0 and not self.price.sources
        return self.price.dated or free


ELSEWHERE = (OptionKind.RENT, OptionKind.API)
"""Kinds of options during which the owned machine stays, unused."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Model, machine, use and ownership."""

    model: Model  # model in the requested format
    machine: Machine  # present machine
    work: Workload  # request of one reply
    runtimes: tuple[Runtime, ...]  # allowed runtimes; every machine is valued in its fastest one
    money: MoneyInputs  # use and prices
    ownership: Ownership  # ownership of the present machine
    today: date  # date by which the age of prices is judged
    condition: Condition = Condition.ANY  # wanted of what is bought, new or used
    unread: bool = False  # replies are turns of an agent, which nobody reads as they are written

    @lazy
    def resale(self) -> Price:
        """Resale value of the owned machine: as typed, or the used price of its cards."""
        ownership = self.ownership
        if ownership.resale is not None:
            return Price(usd=ownership.resale, typed=True, note="as you typed")
        if not ownership.owned:
            return Price()
        return used_value(tuple(gpu.name for gpu in self.machine.discrete), self.money.own_price)

    @lazy
    def resale_usd(self) -> float:
        """Amount of the resale value [USD]."""
        return self.resale.usd or 0.0

    @property
    def tied_up_usd(self) -> float:
        """Part of the resale value that counts while the machine is kept [USD]."""
        if self.money.resale_counts:
            return self.resale_usd
        return 0.0

    def paid_for(self, price: Price) -> float:
        """Part of an option's price that is spread over months [USD].

        The resale value is taken off where it does not count while the machine is kept; a remainder
        paid back at once is no monthly income.
        """
        return max((price.usd or 0.0) - (self.resale_usd - self.tied_up_usd), 0.0)

    @property
    def for_sale(self) -> tuple[str, ...]:
        """Cards that are sold for a machine of this form, and cards with a typed price."""
        server = self.ownership.form is Form.SERVER
        return cards_for_sale(self.money.own_price, self.today, self.condition, server=server)

    @lazy
    def use(self) -> Use:
        """Use of the machine, with its prices."""
        weights = float(self.model.file_bytes)
        return Use(work=self.work, money=self.money, weights=weights, unread=self.unread)

    def option(
        self,
        kind: OptionKind,
        name: str,
        speed: Speed | None,
        cost: MonthlyCost | None,
        price: Price | None = None,
        *,
        sells: bool = False,
        always_on: bool = False,
        **columns: Any,
    ) -> Option:
        """Option with the age of its price and the comparison with the present machine worked out.

        The present machine may be sold for it, and a rent may never be stopped. Columns are those
        of an `Option`.
        """
        price = price or Price()
        if sells:
            price = less(price, self.resale)
        sold = self.resale_usd if sells else 0.0
        paid = price.usd is not None and cost is not None
        staying = kind in (OptionKind.KEEP, OptionKind.CHANGE) and not self.ownership.owned
        asked_for = bool(price.sources) or price.usd is None
        return Option(
            kind=kind,
            name=name,
            speed=speed,
            upfront=(price.usd or 0.0) - sold if paid else None,
            cost=cost if paid else None,
            price=price,
            use=self.use,
            started=not always_on and (staying or kind is OptionKind.RENT),
            stale=asked_for and not price.typed and is_stale(price.date, self.today),
            assumed_resale=float(self.use.spread(0.0 if self.resale.typed else sold)),
            standing=float(self.use.spread(self.tied_up_usd)) if kind in ELSEWHERE else 0.0,
            **columns,
        )


def rent_on_record(machine: Machine) -> PriceRow | None:
    """Newest hourly rent of a provider's machine, or the least rent for as many of its cards; None
    without one.
    """
    name = machine.rented.casefold()
    rows = [row for row in rent_rows() if name and row.instance.casefold() == name]
    if rows or not name or not machine.gpus:
        return max(rows, key=standing, default=None)
    alike = rents(machine.gpus[0].name)
    return next((row for row in alike if row.gpu_count == len(machine.gpus)), None)


def as_rented(ownership: Ownership, machine: Machine) -> Ownership:
    """Ownership of a machine, which is rented where it is a provider's.

    A provider's machine is rented, at the typed rent or the price on record; at nothing where there
    is neither.

    Raises:
        InputError: a resale value of a machine that a provider owns.
    """
    if not machine.rented or not ownership.owned:
        return ownership
    if ownership.resale:
        raise InputError(
            f"{machine.rented} belongs to its provider and cannot be sold for "
            f"${ownership.resale:g}; leave --resale out, or describe your own machine by its parts."
        )
    row = rent_on_record(machine)
    return replace(ownership, resale=None, rented_at=row.usd if row else 0.0, on_record=True)


def unknown_rent(ownership: Ownership, machine: Machine) -> Iterable[str]:
    """Sentence on a rent that is neither published nor typed; empty for known rents."""
    if ownership.on_record and rent_on_record(machine) is None:
        yield (
            f"{machine.rented} is rented, and no price of it is on record: it counts as free until "
            "you type its rent (--rented-at; on the page Your rent)."
        )


def on_front(cost: Floats, speed: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the points that no other point beats in both cost and speed.

    Of several alike all are on it; what has no number never is.
    """
    numbered = np.isfinite(cost) & np.isfinite(speed)
    cost, speed = (np.where(numbered, column, np.nan) for column in (cost, speed))
    as_good = (cost[None, :] <= cost[:, None]) & (speed[None, :] >= speed[:, None])
    return np.asarray(numbered & ~np.any(as_good & ~as_good.T, axis=1))


def beaten(cost: Floats, speed: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the points that another point beats in both cost and speed; false where a number is
    missing.
    """
    cost = np.asarray(cost, dtype=float)
    speed = np.asarray(speed, dtype=float)
    cheaper = cost[None, :] < cost[:, None]
    faster = speed[None, :] > speed[:, None]
    return np.asarray(np.any(cheaper & faster, axis=1))


WORTH_A_WORD = 5.0
"""Smallest monthly saving of an option that the verdict names [USD]; nobody buys, rents or signs up
for less.
"""
OF_EACH = 2  # number of options of a kind that are shown unfolded


def rank(option: Option) -> tuple[bool, float, float]:
    """Sort key: monthly cost with waiting; options without a dated price or speed last."""
    compared = option.with_waiting
    monthly = option.monthly
    return (
        compared is None or not option.dated,
        math.inf if compared is None else compared,
        math.inf if monthly is None else monthly,
    )


def worth_a_word(options: Sequence[Option]) -> list[Option]:
    """Options that may be named: they save notably, or run the model where nothing runs it now."""
    kept = options[0]
    able = [option for option in options[1:] if option.may_win and option.with_waiting is not None]
    if kept.speed is None:
        return able
    most = (kept.with_waiting or 0.0) - WORTH_A_WORD
    return [option for option in able if option.pays and (option.compared or 0.0) <= most]


def by_comparison(option: Option) -> tuple[bool, float, float]:
    """Sort key of a verdict: as `rank`, with launch prices counted `LAUNCH_MARGIN` times."""
    unknown, cost, monthly = rank(option)
    return (unknown, cost if option.compared is None else option.compared, monthly)


def folded(options: Sequence[Option]) -> list[bool]:
    """Mask of options that a page shows only when it is unfolded.

    They are beaten by another in both monthly cost and speed, or slower than the present machine
    without paying; never the present machine, nor options without a price or speed.
    """
    now = options[0].decode
    cost = np.array([np.nan if each.monthly is None else each.monthly for each in options])
    speed = np.array([np.nan if each.speed is None else each.speed.decode for each in options])
    failing = np.array([each.pays is False for each in options])
    hidden = beaten(cost, speed) | (failing & (speed < now))
    hidden[0] = False
    return [bool(hide) for hide in hidden]


def split(options: Sequence[Option], chosen: Iterable[Option]) -> tuple[list[Option], list[Option]]:
    """Options to show, a few of each kind with the chosen ones, and the other options.

    The rest are options beaten by another, without a price, or further down. At least one option of
    each kind is shown, and whatever beats them those that people ask for: one more of the present
    card, its maker's largest (added, and in its place), a machine of each maker, and all that the
    verdict names. Of changes that lose quality the mildest are shown.
    """
    hidden = folded(options)
    named = list(chosen)
    nothing = options[0].speed is None
    able = [
        each for each in options[1:] if each.may_win and (each.pays or (nothing and each.speed))
    ]
    for kind in HARDWARE:  # the best of each that pays, or that runs where there is nothing
        of_hardware = [option for option in able if option.kind is kind]
        named += [min(of_hardware, key=by_comparison)] if of_hardware else []
    shown: list[Option] = []
    for kind in OptionKind:
        of_kind = [at for at, option in enumerate(options) if option.kind is kind]
        best = [
            at
            for at in of_kind
            if not hidden[at] and options[at].cost is not None and not options[at].loses_quality
        ]
        topics: dict[str, int] = {}
        for at in of_kind:
            if options[at].topic:
                topics.setdefault(options[at].topic, at)
        wanted = {at for at in of_kind if any(options[at] is option for option in named)}
        mild = _mildest(options, [at for at in of_kind if options[at].loses_quality])
        few = sorted({*best[:OF_EACH], *mild, *topics.values(), *wanted} or of_kind[:1])
        shown += [options[at] for at in few]
    kept = set(map(id, shown))
    return shown, [option for option in options if id(option) not in kept]


def _mildest(options: Sequence[Option], rows: Iterable[int]) -> list[int]:
    """Indices of the formats that are nearest to the present one, and of the best other change."""
    ordered = sorted(rows, key=lambda at: options[at].decode)
    formats = [at for at in ordered if options[at].price.note.startswith(SOME_QUALITY)]
    others = [at for at in ordered if at not in formats]
    return [*formats[:OF_EACH], *others[-1:]]
