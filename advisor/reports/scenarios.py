"""Scenario files: many models on many machines, and what each must reach.

The schema is in docs/scenarios.md. A file is YAML or JSON; every input of a request may stand under
`request`, in an entry of `models` or in one of `machines`, by its name:

    models: [Llama-3.1-8B, {name: Qwen3-30B-A3B, format: Q4_K_M}]
    machines: [{name: workstation, gpu: RTX 3090, ram_gb: 64}, Mac Studio M3 Ultra 512GB]
    request: {context: 8192, users: 1, gpu_layers: 20, usd_per_kwh: 0.3}
    promises: {decode_tps: ">= 10", monthly_usd: "<= 100"}

A promise is kept by the fastest placement that fits. Figures have the names and units of
`estimate --json`.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.advice.advise import question_of
from advisor.advice.speeds import speed_of
from advisor.advice.table.option import Option
from advisor.advice.table.options import keep
from advisor.advice.task import task_of
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.formatting import money
from advisor.reports import plain_yaml
from advisor.request.estimates import estimates_of
from advisor.request.request import Nouns, Request
from advisor.request.values import check_names, from_values
from advisor.runtimes import RUNTIMES
from advisor.runtimes.compare import usable
from advisor.units import number, seconds

LARGEST_FILE = 1_000_000  # largest scenario file that is read [B]
MOST_PAIRS = 2_000  # models times machines
KEYS = ("models", "machines", "request", "workload", "runtime", "conditions", "promises")
"""Keys of a file; `workload` was the name of `request`."""
FITS = "fits"
PLACEMENT = "placement"
KEEPS_UP = "keeps_up"
BOUND = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")
SENSES: dict[str, tuple[Callable[[float, float], bool], str]] = {
    ">=": (operator.ge, "less than"),
    "<=": (operator.le, "more than"),
    ">": (operator.gt, "not more than"),
    "<": (operator.lt, "not less than"),
}
"""Comparison of a figure with its bound, and the words of one that does not hold."""
SPEED = partial(number, digits=3)
FIGURES: dict[str, tuple[Callable[[float], str], str]] = {
    "decode_tps": (SPEED, " tokens/s"),
    "decode_tps_low": (SPEED, " tokens/s at the low end"),
    "prefill_tps": (SPEED, " prompt tokens/s"),
    "ttft_s": (seconds, " to the first token"),
    "task_s": (seconds, " for the task of a session"),
    "monthly_usd": (money, " a month"),
}
"""Figures that can be promised: a number of each in words, and what stands behind it."""
PROMISED = (*FIGURES, FITS, PLACEMENT, KEEPS_UP)  # keys of `promises`
CONDITIONS = {
    "min_decode_tps": ("decode_tps", ">="),
    "min_decode_tps_low": ("decode_tps_low", ">="),
    "min_prefill_tps": ("prefill_tps", ">="),
    "max_ttft_s": ("ttft_s", "<="),
    "max_usd_per_month": ("monthly_usd", "<="),
    PLACEMENT: (PLACEMENT, ""),
}
"""Keys of `conditions`, which have a bare number each, with their promises."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """Limit that a figure of an answer must keep."""

    name: str  # name of the figure, `fits`, `placement` or `keeps_up`
    sense: str = ""  # a key of `SENSES`; empty for what is no number
    bound: float | bool | str = True  # number, whether it fits, or placement


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Model with a machine."""

    model: str  # model as the file names it
    machine: str  # machine as the file names it
    request: Request  # what is asked of them
    promised: tuple[Promise, ...]  # what the result must reach


@dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """Result of one model on one machine."""

    model: str  # model as the file names it
    machine: str  # machine as the file names it
    best: Estimate | None  # fastest estimate that fits; None if none fits
    figures: Mapping[str, float | None]  # what can be promised of it, by name
    failures: tuple[str, ...]  # one sentence per broken promise
    keeps_up: bool = False  # whether all replies of a day are answered in the available hours
    notes: tuple[str, ...] = ()  # what model, machine and request were taken for


def read_scenarios(path: Path) -> tuple[Pair, ...]:
    """Pairs of a file.

    Raises:
        InputError: the file cannot be read, is not YAML, or breaks the schema; the message names
            the key and its line.
    """
    text = given_files.text(path, LARGEST_FILE)
    shown = given_files.shown(path)
    try:
        file = plain_yaml.read(text)
    except InputError as error:
        raise InputError(f"{shown}, {error} What is read is in docs/scenarios.md.") from error
    try:
        return scenarios(file.value)
    except AdvisorError as error:
        line = file.where(str(error))
        where = f"{shown}, {line}" if line else shown
        raise InputError(f"{where}: {error} The schema is in docs/scenarios.md.") from error


def scenarios(data: object) -> tuple[Pair, ...]:
    """Pairs of parsed content, model by model."""
    top = _keys(data, KEYS, "the file")
    shared = _stated({"runtime": top.get("runtime")}, "the file")
    for where in ("workload", "request"):
        shared |= _stated(top.get(where, {}), where)
    everywhere = tuple(_promises(top, ""))
    models = _entries(top, "models")
    machines = _entries(top, "machines")
    pairs = len(models) * len(machines)
    if pairs > MOST_PAIRS:
        raise InputError(f"models times machines is {pairs:,}; at most {MOST_PAIRS:,} are allowed.")
    named = [_model(entry, f"models[{index}]") for index, entry in enumerate(models)]
    described = [
        _machine(entry, f"machines[{index}]", everywhere) for index, entry in enumerate(machines)
    ]
    every = tuple(
        Pair(
            model=model["model"],
            machine=name,
            promised=promised,
            request=Request(**{**shared, **model, **parts}),
        )
        for model in named
        for name, parts, promised in described
    )
    _ = every[0].request.nouns().runtime
    return every


def run(pairs: Sequence[Pair]) -> Iterator[ScenarioResult]:
    """Results of every pair."""
    for pair in pairs:
        nouns = pair.request.nouns()
        try:
            best = next(iter(usable(estimates_of(nouns, RUNTIMES))), None)
        except AdvisorError as error:
            raise InputError(f"{pair.model} on {pair.machine}: {error}") from error
        kept = keep(question_of(nouns, nouns.machine), speed_of(best) if best else None)
        reached = figures(best, nouns, kept.monthly)
        failures = broken(pair.promised, best, reached, nouns.request.paying.usd)
        yield ScenarioResult(
            model=pair.model,
            machine=pair.machine,
            best=best,
            figures=reached,
            failures=(*failures, *_overloaded(pair.promised, kept)),
            keeps_up=best is not None and kept.keeps_up,
            notes=(*nouns.resolved.notes, *nouns.notes, *_too_many(best, kept)),
        )


def _too_many(best: Estimate | None, kept: Option) -> Iterator[str]:
    """That the replies of a day are more than a machine can write."""
    if best is not None and not kept.keeps_up:
        yield f"{kept.work_of_a_day.removesuffix('.')}, more than there are: it cannot keep up."


def _overloaded(promised: tuple[Promise, ...], kept: Option) -> Iterator[str]:
    """Sentence where a machine that runs a model was promised to keep up or not to, and is
    otherwise.
    """
    if kept.speed is None:
        return
    replies = number(kept.use.money.replies_per_day)
    for promise in promised:
        if promise.name == KEEPS_UP and promise.bound is not kept.keeps_up:
            able = "keeps up" if kept.keeps_up else "cannot keep up"
            yield f"{able} with {replies} answers a day"


def figures(best: Estimate | None, nouns: Nouns, monthly: float | None) -> dict[str, float | None]:
    """Figures of an answer by their names; None for an unknown figure, or where nothing runs."""
    if best is None:
        return dict.fromkeys(FIGURES)
    if nouns.session:
        task = task_of(best, nouns.session)
    else:
        task = None
    ranges = {
        "decode_tps": best.decode,
        "prefill_tps": best.prefill,
        "ttft_s": best.first_token,
        "task_s": task.range if task else None,
    }
    every: dict[str, float | None] = {"monthly_usd": monthly}
    for name, figure in ranges.items():
        if figure is not None:
            every |= figure.fields(name)
    return {name: every.get(name) for name in FIGURES}


def broken(
    promised: tuple[Promise, ...],
    best: Estimate | None,
    reached: Mapping[str, float | None],
    usd: float,
) -> Iterator[str]:
    """Sentences on the promises that are not kept, one for each.

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
            if promise.name == "monthly_usd":
                scale = usd
            else:
                scale = 1.0
            yield from _missed(promise, float(promise.bound) * scale, reached[promise.name])


def _missed(promise: Promise, bound: float, value: float | None) -> Iterator[str]:
    holds, otherwise = SENSES[promise.sense]
    if value is None or not holds(value, bound):
        shown, unit = FIGURES[promise.name]
        if value is None:
            text = "unknown"
        else:
            text = shown(value)
        yield f"{text}{unit}, {otherwise} {shown(bound)}"


def _promises(entry: Mapping[str, Any], where: str) -> Iterator[Promise]:
    """Promises of the file or of a machine, under either key."""
    path = f"{where}promises"
    for name, value in _keys(entry.get("promises", {}), PROMISED, path).items():
        yield _promise(name, value, f"{path}.{name}")
    path = f"{where}conditions"
    for name, value in _keys(entry.get("conditions", {}), tuple(CONDITIONS), path).items():
        figure, sense = CONDITIONS[name]
        yield _promise(figure, value, f"{path}.{name}", sense)


def _promise(name: str, value: Any, where: str, sense: str = "") -> Promise:
    """Promise as a file states it; a bare number where its sense is that of its key."""
    bound = value
    if name == PLACEMENT:
        wrong = value not in list(PlacementStrategy)
        wanted = f"allowed are {', '.join(PlacementStrategy)}"
    elif name in (FITS, KEEPS_UP):
        wrong = not isinstance(value, bool)
        wanted = "it should be true or false"
    elif sense:
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        wrong = wrong or not math.isfinite(value)
        wanted = "it should be a number"
    else:
        if isinstance(value, str):
            match = BOUND.fullmatch(value)
        else:
            match = None
        sense, bound = (match[1], _number(match[2])) if match else ("", math.nan)
        wrong = not math.isfinite(bound)
        wanted = 'it should be a bound such as ">= 20" or "<= 5"'
    if wrong:
        raise InputError(f"{where} is {str(value)[:80]!r}; {wanted}.")
    return Promise(name=name, sense=sense, bound=bound)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _model(entry: object, where: str) -> dict[str, Any]:
    """Inputs of an entry of `models`: a name, or keys with values."""
    values = {"name": entry} if isinstance(entry, str | int | float) else entry
    inputs = dict(_keys(values, ("name", *INPUTS), where))
    if "name" not in inputs and "model" not in inputs:
        raise InputError(f"{where} names no model; give its name.")
    if "name" in inputs:
        inputs["model"] = _text(inputs.pop("name"), f"{where}.name")
    stated = _stated(inputs, where)
    if "model" not in stated:
        raise InputError(f"{where} names no model; its name is empty.")
    return stated


def _machine(
    entry: object, where: str, everywhere: tuple[Promise, ...]
) -> tuple[str, dict[str, Any], tuple[Promise, ...]]:
    """Name, inputs and promises of an entry of `machines`: a name, or keys with values."""
    values = {"machine": entry} if isinstance(entry, str | int | float) else entry
    keys = _keys(values, ("name", "conditions", "promises", *INPUTS), where)
    promised = tuple(_promises(keys, f"{where}."))
    parts = _stated({key: keys[key] for key in keys if key in INPUTS}, where)
    try:
        machine = Request(**parts).nouns().machine
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    name = _text(keys.get("name", ""), f"{where}.name") or parts.get("machine", machine.name)
    names = {promise.name for promise in promised}
    return name, parts, (*promised, *(each for each in everywhere if each.name not in names))


def _text(value: object, where: str) -> str:
    wanted = INPUTS["model"].wanted(value)
    if wanted or not isinstance(value, str):
        raise InputError(f"{where} is {str(value)[:80]!r}; it should be {wanted or 'text'}.")
    if len(value) > UnknownName.LONGEST:
        raise InputError(
            f"{where} has {len(value):,} letters; at most {UnknownName.LONGEST} are read."
        )
    return value


def _stated(values: object, where: str) -> dict[str, Any]:
    """Inputs that a part of the file states, in the words of a request."""
    return from_values(_keys(values, tuple(INPUTS), where), where).stated()


def _entries(top: Mapping[str, Any], where: str) -> Sequence[object]:
    data = top.get(where)
    if not isinstance(data, list) or not data:
        raise InputError(f"{where} is {str(data)[:80]!r}; it should be a list with entries.")
    return data


def _keys(data: object, allowed: tuple[str, ...], where: str) -> Mapping[str, Any]:
    """Keys with values, all of them known."""
    check_names(data, allowed, where)
    return data  # type: ignore[return-value]  # a mapping, as checked
