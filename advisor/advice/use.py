"""What a person's use asks of a machine: waiting, sessions, hours of rent, tokens.

A reader waits for the first token, for tokens that are thought and not shown, and for shown tokens
only where they come slower than they are read; a batch job waits for all of them. Every function
takes numbers or arrays; times in seconds.
"""

import numpy as np

from advisor.advice.money import SECONDS_PER_HOUR
from advisor.units import DAYS_PER_MONTH, Array

READING_TPS = 10.0
"""About as fast as people read; output that comes faster saves a reader nothing; assumed
[tokens/s]."""
START_SECONDS = 300.0
"""From asking for a rented machine until it runs; assumed, type yours [s]."""


def computing_seconds(first_token: Array, decode_tps: Array, tokens: Array) -> Array:
    """How long a machine is busy with a reply [s]: t_first + n / S."""
    return first_token + tokens / decode_tps


def waiting_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """How long a person waits for a reply besides reading it [s].

    t_first + thought / S + max(0, shown / S - shown / r)

    Args:
        first_token: until the first token comes [s].
        decode_tps: tokens generated for each user [tokens/s].
        thought: tokens before the reply that nobody reads [tokens].
        shown: tokens of the reply [tokens].
        reading_tps: how fast it is read; infinite for a batch job, which waits for all [tokens/s].
    """
    behind = np.maximum(shown / decode_tps - shown / reading_tps, 0.0)
    return first_token + thought / decode_tps + behind


def session_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """From sending a prompt until its reply is read [s]: what one turn of a session takes.

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
    """Hours of a month that a machine is rented when it is stopped between sessions [h/month].

    days x min(24, (replies x session + starts x start) / 3600)

    Args:
        session: of one reply, read to its end [s].
        replies_per_day: one after another.
        starts_per_day: times it is started.
        start_seconds: from asking for it until the model answers, loading included [s].
        days: of a month on which it is used.
    """
    each_day = (replies_per_day * session + starts_per_day * start_seconds) / SECONDS_PER_HOUR
    return days * np.minimum(each_day, 24.0)


def monthly_tokens(replies_per_day: Array, tokens: Array, days: Array = DAYS_PER_MONTH) -> Array:
    """Tokens of all replies of a month [tokens/month]."""
    return replies_per_day * tokens * days


def api_cost(
    replies_per_day: Array,
    prompt: Array,
    generated: Array,
    usd_in: Array,
    usd_out: Array,
    days: Array = DAYS_PER_MONTH,
) -> Array:
    """What an API takes for a month [USD/month]: replies x days x (prompt p_in + generated p_out).

    Args:
        replies_per_day: calls.
        prompt: tokens sent with each [tokens].
        generated: tokens answered, thought ones included, as providers charge them [tokens].
        usd_in: price of a million tokens sent [USD].
        usd_out: price of a million tokens answered [USD].
        days: of a month on which it is called.
    """
    each = (prompt * usd_in + generated * usd_out) / 1e6
    return replies_per_day * days * each
