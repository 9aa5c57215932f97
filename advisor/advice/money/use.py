"""Time and tokens of a person's use: waiting, sessions, rented hours.

A reader waits for the first token, for hidden reasoning tokens, and for shown tokens that come
slower than reading speed; a batch job waits for all of them. Every function takes numbers or
arrays; times in seconds.
"""

import numpy as np

from advisor.advice.money.formulas import SECONDS_PER_HOUR
from advisor.units import DAYS_PER_MONTH, Array


def computing_seconds(first_token: Array, decode_tps: Array, tokens: Array) -> Array:
    """Time that a machine is busy with a reply [s]: t_first + n / S."""
    return first_token + tokens / decode_tps


def waiting_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """Time that a person waits for a reply, without reading time [s].

    t_first + thought / S + max(0, shown / S - shown / r)

    Args:
        first_token: time to first token [s].
        decode_tps: decode speed for each user [tokens/s].
        thought: tokens of reasoning before the reply, which nobody reads [tokens].
        shown: tokens of the reply [tokens].
        reading_tps: reading speed; infinite for a batch job, which waits for all tokens [tokens/s].
    """
    behind = np.maximum(shown / decode_tps - shown / reading_tps, 0.0)
    return first_token + thought / decode_tps + behind


def queue_seconds(users: float, running: float, reply: Array) -> Array:
    """Mean time in the queue of users who all ask at once, when some run together [s].

    t_reply / U x sum over i < U of floor(i / R)

    Args:
        users: number of users U.
        running: users R who run together.
        reply: time of a whole reply [s].
    """
    turns = np.arange(np.ceil(users)) // max(running, 1.0)
    return float(np.mean(turns)) * reply


def speed_for_wait(wait: Array, thought: Array, shown: Array, reading_tps: Array) -> Array:
    """Decode speed at which a person waits that long: `waiting_seconds` solved for S [tokens/s].

    S = (thought + shown) / (wait + shown / r), which is the reading speed r at most where
    thought <= r wait; else S = thought / wait

    Args:
        wait: waiting without that for the first token, above 0 [s].
        thought: tokens of reasoning before the reply [tokens].
        shown: tokens of the reply [tokens].
        reading_tps: reading speed [tokens/s].
    """
    slower = (thought + shown) / (wait + shown / reading_tps)
    return np.where(thought <= reading_tps * wait, slower, thought / wait)


def session_seconds(
    first_token: Array, decode_tps: Array, thought: Array, shown: Array, reading_tps: Array
) -> Array:
    """Time from sending a prompt until its reply is read [s].

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
    """Rented hours per month of a machine that is stopped between sessions [h/month].

    days x min(24, (replies x session + starts x start) / 3600)

    Args:
        session: time of one reply, until it is read [s].
        replies_per_day: replies, one after another.
        starts_per_day: starts of the machine.
        start_seconds: time from ordering the machine until the model answers [s].
        days: days of use in a month.
    """
    each_day = (replies_per_day * session + starts_per_day * start_seconds) / SECONDS_PER_HOUR
    return days * np.minimum(each_day, 24.0)


def monthly_tokens(replies_per_day: Array, tokens: Array, days: Array = DAYS_PER_MONTH) -> Array:
    """Tokens of all replies in a month [tokens/month]."""
    return replies_per_day * tokens * days


def api_cost(
    replies_per_day: Array,
    prompt: Array,
    generated: Array,
    usd_in: Array,
    usd_out: Array,
    days: Array = DAYS_PER_MONTH,
    cached: Array = 0.0,
    usd_cached: Array | None = None,
) -> Array:
    """Monthly charges of an API [USD/month].

    replies x days x ((prompt - cached) p_in + cached p_cached + generated p_out)

    Args:
        replies_per_day: calls.
        prompt: input tokens of a call [tokens].
        generated: output tokens of a call, with reasoning, as providers charge [tokens].
        usd_in: price per million input tokens [USD].
        usd_out: price per million output tokens [USD].
        days: days of use in a month.
        cached: part of the prompt that the provider has cached [tokens].
        usd_cached: price per million cached tokens; None for that of other input [USD].
    """
    known = usd_in if usd_cached is None else usd_cached
    each = ((prompt - cached) * usd_in + cached * known + generated * usd_out) / 1e6
    return replies_per_day * days * each
