"""Inputs about time and money, and exchange rates with dates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError
from advisor.formatting import US_DOLLAR, Currency, shown_currency
from advisor.machine.catalog import HOSTS
from advisor.machine.machine import Form, Machine

SECONDS_PER_HOUR = 3600.0
HOURS_PER_MONTH = 365.25 * 24 / 12
DAYS_PER_MONTH = 365.25 / 12
CHECKED = INPUTS.of("money")  # inputs whose limits are checked


@dataclass(frozen=True, kw_only=True)
class MoneyInputs:
    """Inputs about time and money.

    Attributes:
        replies_per_day: replies that people wait for, of all users together; as many of a single
            user where nobody says: an answer every twelve minutes of a working day, assumed for who
            works with it (all users of ChatGPT send 3.7 messages a day at the mean: 18 billion a
            week from 700 million, https://doi.org/10.3386/w34255, 2025-09).
        days_per_week: days of use in a week.
        answer_hours: hours within which the replies of a day, a batch that nobody reads as it is
            written, must be complete; None where people wait for each [h].
        usd_per_hour_of_time: value of an hour of waiting [USD/h].
        rented_hours_per_day: hours a day that a rented machine is kept; None for the hours that use
            and starts take [h].
        hours_on_per_day: hours a day that an owned machine is on, idle time included [h].
        starts_per_day: times a day that a rented machine is started.
        start_minutes: time from ordering a machine until it runs, without loading the model [min].
        thinking_tokens: tokens of reasoning before each reply, which nobody reads [tokens].
        reading_tps: reading speed: 240 words a minute (238 of silent English,
            https://doi.org/10.1016/j.jml.2019.104047, 2019) at 1.4 tokens a word (four in three
            in English and more in other languages,
            https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them,
            2026-11-23); for a batch job, which waits for the whole reply, as large as its output
            [tokens/s].
        purchase_months: months over which a purchase is spread.
        usd_per_kwh: price of electricity; 0.18 is about the price for US homes [USD/kWh].
        api_usd_in: price of the user's own API per million input tokens; None without one [USD].
        api_usd_out: the same per million output tokens [USD].
        api_tps: speed of an API without a published one [tokens/s].
        own_rent: rents that replace those of the tables, by GPU name [USD/h].
        resale_counts: what is owned costs its resale value each month that it is kept; else that
            value counts where it is sold alone.
        own_price: prices that replace those of the tables, of a GPU, a whole machine, or a host
            part by its kind ("psu", "dock") [USD each].

    Raises:
        InputError: a number outside its limits.
    """

    replies_per_day: float = 40.0
    days_per_week: float = 7.0
    answer_hours: float | None = None
    usd_per_hour_of_time: float = 30.0
    rented_hours_per_day: float | None = None
    hours_on_per_day: float = 8.0
    starts_per_day: float = 1.0
    start_minutes: float = 5.0
    thinking_tokens: float = 0.0
    reading_tps: float = 6.0
    purchase_months: float = 36.0
    usd_per_kwh: float = 0.18
    api_usd_in: float | None = None
    api_usd_out: float | None = None
    api_tps: float | None = None
    own_rent: tuple[tuple[str, float], ...] = ()
    own_price: tuple[tuple[str, float], ...] = ()
    resale_counts: bool = False

    def __post_init__(self) -> None:
        CHECKED.check(vars(self), shown_currency())
        INPUTS["own_price"].check_prices(self.own_price, shown_currency())
        INPUTS["own_rent"].check_prices(self.own_rent, shown_currency())

    @property
    def batch(self) -> bool:
        """Whether replies are due within some hours, and nobody waits for a single one."""
        return self.answer_hours is not None

    @property
    def hours_there(self) -> float:
        """Hours of a day in which its replies must be complete [h]."""
        if self.answer_hours is None:
            return 24.0
        return self.answer_hours

    @property
    def days(self) -> float:
        """Days of use in a month."""
        return DAYS_PER_MONTH * self.days_per_week / 7.0


# Owned hardware, and what fits into it.
#
# A laptop, a Mac, a mini PC or a handheld takes no card inside. A laptop or mini PC can have one in
# a dock on a cable; macOS has no drivers for that, and few handhelds have the port. An office PC
# takes one card that its supply has no plug for, of up to 75 W (data/hardware/card_rules.csv), a
# slim one a card of half height (half_height_cards.csv beside it). A
# desktop takes as many cards as its board, case and power supply allow, and more after these are
# replaced.

OWN_ROOM = dict.fromkeys(Form, 0) | {
    Form.DESKTOP: 2,
    Form.OFFICE: 1,
    Form.SLIM: 1,
    Form.SERVER: 8,
}
"""Number of cards that the machine takes as it is; assumed."""
MOST_CARDS = OWN_ROOM | {Form.DESKTOP: 8}
"""Number of cards that it takes with another board, case and power supply."""
LANES_OF_A_SLOT = 16
SLOTS_OF_ATX = 7
"""Lanes of a full slot, and most slots of a board of the ATX standard (ATX specification 2.2)."""
BESIDE = (Form.LAPTOP, Form.MINI)  # forms that take a single card in a dock on a cable
DOCK_LINK = (4, 4)  # PCI Express generation and lanes of an OCuLink cable; Thunderbolt carries less


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """Ownership of the machine.

    Raises:
        InputError: an amount outside its limits, a resale value of a rented machine, or an amount
            for no machine.
    """

    form: Form = Form.DESKTOP  # form of the machine
    # resale value of its cards, or of a whole machine without cards [USD]; None for the used price
    # of its cards
    resale: float | None = None
    rented_at: float | None = None  # rent [USD/h]; None for an owned machine
    nothing: bool = False  # there is no machine yet, neither owned nor rented
    on_record: bool = False  # the rent is the one on record, not a typed one

    def __post_init__(self) -> None:
        INPUTS.of("ownership").check(vars(self), shown_currency())
        if self.rented_at is not None and self.resale:
            raise InputError(
                f"A machine rented at ${self.rented_at:g} an hour cannot be sold for "
                f"${self.resale:g}; give --rented-at or --resale, not both."
            )

        if self.nothing and (self.resale or self.rented_at is not None):
            raise InputError(
                "Who owns nothing sells nothing and pays no rent; leave --resale and --rented-at "
                "out, or say with --own what there is."
            )

    @property
    def owned(self) -> bool:
        """Whether the machine is owned, not rented."""
        return self.rented_at is None and not self.nothing

    @property
    def takes_cards(self) -> bool:
        """Whether the machine has room for several cards; without it they need a new desktop."""
        return not self.nothing and room_for(self.form, 2)


def slots(machine: Machine) -> int:
    """Number of cards that a desktop's board takes.

    It has as many full slots as its processor has lanes for, as on boards for Threadrippers; two
    that share 16 lanes on other boards.
    """
    row = HOSTS.rows().get(machine.host.name)
    if row:
        full = (row.pcie_lanes or 0) // LANES_OF_A_SLOT
    else:
        full = 0
    return max(OWN_ROOM[Form.DESKTOP], min(int(full), SLOTS_OF_ATX))


def in_dock(form: Form) -> bool:
    """Whether a further card must be outside the machine, in a dock."""
    return form in BESIDE


def room_for(form: Form, cards: int) -> bool:
    """Whether the machine can have a number of cards, with further parts."""
    return cards <= (1 if in_dock(form) else MOST_CARDS[form])


def in_usd(values: Mapping[str, Any], usd: float) -> dict[str, Any]:
    """Values by name, with amounts in US dollars; `usd` is the worth of the typed currency's unit
    [USD].
    """
    return {
        name: value * usd if isinstance(value, float | int) and INPUTS[name].in_money else value
        for name, value in values.items()
    }


# Currencies of the amounts that are typed. Rates are those that a person fetched (`refresh rates`),
# or those of the package.

RATES_TABLE = "rates"  # name of the table of fetched rates


@dataclass(frozen=True, kw_only=True, slots=True)
class RateRow:
    """One row of the table of exchange rates."""

    currency: str  # code of ISO 4217
    usd: float  # worth of one unit [USD]
    date: str  # day of the rate
    retrieved: str  # day on which it was fetched
    source: str

    @property
    def remark(self) -> str:
        """Remark on the exchange rate of the amounts; prices stay those of the United States."""
        return (
            f"One {self.currency} counts as ${self.usd:g}, the rate of {self.date}; give today's "
            "as --usd-rate. Prices are of the United States, without tax."
        )


@cache
def shipped_rates() -> Mapping[str, RateRow]:
    """Rates of data/prices/exchange_rates.csv by currency."""
    return {row.currency: row for row in read(DATA / "prices/exchange_rates.csv", RateRow)}


def rate_on_record(code: str) -> RateRow | None:
    """Rate of a currency: the fetched one, or that of the package; None without one."""
    return rate_rows().get(code) or shipped_rates().get(code)


@cache
def rate_rows() -> Mapping[str, RateRow]:
    """Rates by currency; none before the first renewal."""
    return {row.currency: row for row in renewed.rows(RATES_TABLE, RateRow)}


def currency_of(text: str, usd_rate: float | None) -> Currency:
    """Currency of a typed code, with its worth as typed or on record.

    Raises:
        InputError: no code of a currency, one without an exchange rate, or the reverse.
    """
    code = text.strip().upper()
    if not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise InputError(f"{text[:40]!r} is not a currency code; give three letters, such as EUR.")
    if code == US_DOLLAR.code and usd_rate is not None:
        raise InputError(
            "--usd-rate is the value of another currency, and none is named: give --currency, "
            "such as EUR, or leave --usd-rate out."
        )
    if code == US_DOLLAR.code:
        return US_DOLLAR
    if usd_rate is None:
        usd_rate = _rate_on_record(code)
    INPUTS["usd_rate"].check(usd_rate)
    return Currency(code=code, usd=usd_rate)


def rate_note(text: str) -> str:
    """Sentence on the rate on record of a typed code; empty for US dollars, and without one."""
    code = text.strip().upper()
    if code == US_DOLLAR.code:
        return ""
    row = rate_on_record(code)
    if row is not None:
        return row.remark
    return ""


def _rate_on_record(code: str) -> float:
    """Worth of a currency by the newest rate on record, fetched or shipped [USD].

    Raises:
        InputError: there is none.
    """
    row = rate_on_record(code)
    if row is None:
        raise InputError(
            f"--currency {code} needs --usd-rate, the value of one {code} in US dollars today: on "
            f"record are the rates of {', '.join(shipped_rates())}. Give it, or fetch the European "
            "Central Bank's rates: refresh rates."
        )
    return row.usd
