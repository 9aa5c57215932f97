"""Inputs about time and money."""

from dataclasses import dataclass

from advisor.catalog.inputs import MONEY, OWN_PRICE, OWN_RENT, check_all, check_prices
from advisor.units import DAYS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class MoneyInputs:
    """Inputs about time and money.

    Attributes:
        replies_per_day: replies that people wait for, of all users together.
        days_per_week: days of use in a week.
        answer_hours: hours within which the replies of a day must be complete [h].
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
    answer_hours: float = 24.0
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
        check_all(MONEY, vars(self))
        check_prices(OWN_PRICE, self.own_price)
        check_prices(OWN_RENT, self.own_rent)

    @property
    def days(self) -> float:
        """Days of use in a month."""
        return DAYS_PER_MONTH * self.days_per_week / 7.0
