"""Monthly cost of rent, purchase, power and waiting.

All amounts in US dollars, all rates per month unless the name says otherwise. Every function takes
numbers or arrays.
"""

import numpy as np

from advisor.errors import InputError
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
