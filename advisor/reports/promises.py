"""Promises: what the answer to a request must reach, as text such as `decode_tps: ">= 20"`.

A promise is kept by the fastest placement that fits. Figures have the names and units of
`estimate --json`.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from advisor.advice.advise import question_of
from advisor.advice.speeds import speed_of
from advisor.advice.table.options import keep
from advisor.advice.task import task_of
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import range_fields
from advisor.errors import InputError
from advisor.formatting import money, number, seconds
from advisor.request.request import Nouns
from advisor.request.values import check_names

FITS, PLACEMENT = "fits", "placement"
BOUND = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")
SENSES: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
CONDITIONS = {
    "min_decode_tps": ("decode_tps", ">="),
    "min_decode_tps_low": ("decode_tps_low", ">="),
    "min_prefill_tps": ("prefill_tps", ">="),
    "max_ttft_s": ("ttft_s", "<="),
    "max_usd_per_month": ("monthly_usd", "<="),
}
"""Promises by the keys of `conditions`, which have a number each."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of an answer that can be promised."""

    words: str  # what a number of it is of, behind the number
    shown: Callable[[float], str]  # number in words


FIGURES = {
    "decode_tps": Figure(words=" tokens/s", shown=lambda value: number(value, 3)),
    "decode_tps_low": Figure(
        words=" tokens/s at the low end", shown=lambda value: number(value, 3)
    ),
    "prefill_tps": Figure(words=" prompt tokens/s", shown=lambda value: number(value, 3)),
    "ttft_s": Figure(words=" to the first token", shown=seconds),
    "task_s": Figure(words=" for the task of a session", shown=seconds),
    "monthly_usd": Figure(words=" a month", shown=money),
}
PROMISED = (*FIGURES, FITS, PLACEMENT)
"""Keys of `promises`."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A figure and what it must reach."""

    name: str  # name of the figure, `fits` or `placement`
    sense: str = ""  # ">=", "<=", ">" or "<"; empty for what is no number
    bound: float | bool | str = True  # number, whether it fits, or placement


def promises(values: object, where: str) -> tuple[Promise, ...]:
    """Promises of a part of a file.

    Raises:
        InputError: an unknown figure, or a text that is no bound; the message names the key.
    """
    check_names(values, PROMISED, where)
    given: Mapping[str, object] = values  # type: ignore[assignment]  # a mapping, as checked
    return tuple(_promise(name, value, f"{where}.{name}") for name, value in given.items())


def conditions(values: object, where: str) -> tuple[Promise, ...]:
    """Promises of the keys of `conditions`."""
    check_names(values, (*CONDITIONS, PLACEMENT), where)
    given: Mapping[str, object] = values  # type: ignore[assignment]  # a mapping, as checked
    return tuple(_condition(name, value, f"{where}.{name}") for name, value in given.items())


def _condition(name: str, value: object, where: str) -> Promise:
    if name == PLACEMENT:
        return _promise(name, value, where)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{where} is {str(value)[:80]!r}; it should be a number.")
    figure, sense = CONDITIONS[name]
    return Promise(name=figure, sense=sense, bound=float(value))


def _promise(name: str, value: object, where: str) -> Promise:
    if name == PLACEMENT:
        if value not in list(PlacementStrategy):
            allowed = ", ".join(PlacementStrategy)
            raise InputError(f"{where} is {str(value)[:80]!r}; allowed are {allowed}.")
        return Promise(name=name, bound=str(value))
    if name == FITS:
        if not isinstance(value, bool):
            raise InputError(f"{where} is {str(value)[:80]!r}; it should be true or false.")
        return Promise(name=name, bound=value)
    match = BOUND.fullmatch(value) if isinstance(value, str) else None
    try:
        bound = float(match[2]) if match else math.nan
    except ValueError:
        bound = math.nan
    if match is None or not math.isfinite(bound):
        raise InputError(
            f'{where} is {str(value)[:80]!r}; it should be a bound such as ">= 20" or "<= 5".'
        )
    return Promise(name=name, sense=match[1], bound=bound)


def figures(best: Estimate | None, nouns: Nouns) -> dict[str, float | None]:
    """Figures of an answer by their names; None for what is unknown or does not run."""
    if best is None:
        return dict.fromkeys(FIGURES)
    monthly = keep(question_of(nouns, nouns.machine), speed_of(best)).monthly
    task = task_of(best, nouns.session) if nouns.session else None
    every = {
        **range_fields("decode_tps", best.decode),
        **range_fields("prefill_tps", best.prefill),
        **range_fields("ttft_s", best.first_token),
        **range_fields("task_s", task.range if task else None),
        "monthly_usd": monthly,
    }
    return {name: every[name] for name in FIGURES}


def broken(
    promised: tuple[Promise, ...],
    best: Estimate | None,
    reached: Mapping[str, float | None],
    usd: float = 1.0,
) -> Iterator[str]:
    """A sentence for each promise that is not kept; what must not fit keeps only that.

    `best` is the fastest estimate that fits, `usd` the dollars of the currency of promised amounts.
    """
    wanted = next((promise.bound for promise in promised if promise.name == FITS), True)
    if best is None or not wanted:
        if (best is None) is bool(wanted):
            yield "nothing that was tried runs it" if wanted else "it runs, and should not"
        return
    for promise in promised:
        if promise.name == PLACEMENT and best.strategy.value != promise.bound:
            yield f"runs by {best.strategy.value}, not {promise.bound}"
        if promise.name in FIGURES:
            scale = usd if promise.name == "monthly_usd" else 1.0
            yield from _missed(promise, float(promise.bound) * scale, reached[promise.name])


def _missed(promise: Promise, bound: float, value: float | None) -> Iterator[str]:
    if value is not None and SENSES[promise.sense](value, bound):
        return
    figure = FIGURES[promise.name]
    shown = "unknown" if value is None else figure.shown(value)
    beyond = {">=": "less than", ">": "not more than", "<=": "more than", "<": "not less than"}
    yield f"{shown}{figure.words}, {beyond[promise.sense]} {figure.shown(bound)}"
