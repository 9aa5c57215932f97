"""Scenario files: many models on many machines, with conditions on the results.

The schema is in docs/scenarios.md. A file is YAML or JSON; every input of a request may stand under
`request`, in an entry of `models` or in one of `machines`, by its name:

    models: [Llama-3.1-8B, {name: Qwen3-30B-A3B, format: Q4_K_M}]
    machines: [{name: workstation, gpu: RTX 3090, ram_gb: 64}, Mac Studio M3 Ultra 512GB]
    request: {context: 8192, users: 1, gpu_layers: 20, usd_per_kwh: 0.3}
    conditions: {min_decode_tps: 10}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from advisor import given_files
from advisor.advice.answer import question_of
from advisor.advice.compare import compare, usable
from advisor.advice.speeds import speed_of
from advisor.advice.table.options import keep
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Range
from advisor.errors import AdvisorError, InputError
from advisor.formatting import money, number, seconds
from advisor.reports.document import checked
from advisor.request.request import Nouns, Request
from advisor.request.values import check_names, from_values
from advisor.runtimes import RUNTIMES

LARGEST_FILE = 1_000_000
"""Largest scenario file that is read [B]."""
MOST_PAIRS = 2_000
"""Models times machines."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions on every pair; None for no condition."""

    min_decode_tps: float | None = None  # least speed for each user [tokens/s]
    min_decode_tps_low: float | None = None  # least lower end of its 80 % range [tokens/s]
    min_prefill_tps: float | None = None  # least prompt speed [tokens/s]
    max_ttft_s: float | None = None  # longest time to the first token [s]
    # most that power and rent of the machine cost in a month [USD]
    max_usd_per_month: float | None = None
    placement: str | None = None  # required placement ("gpu-resident")

    def __post_init__(self) -> None:
        if self.placement is not None and self.placement not in list(PlacementStrategy):
            raise InputError(
                f"placement is {self.placement!r}; allowed are {', '.join(PlacementStrategy)}."
            )


CONDITIONS = tuple(own.name for own in fields(Conditions))
INPUT_NAMES = tuple(BY_NAME)
KEYS = ("models", "machines", "request", "workload", "runtime", "conditions")
"""Keys of a file; `workload` was the name of `request`."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One model on one machine."""

    model: str  # model as the file names it
    machine: str  # machine as the file names it
    request: Request  # what is asked of them
    conditions: Conditions  # conditions on the result


@dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """Result of one model on one machine."""

    model: str  # model as the file names it
    machine: str  # machine as the file names it
    best: Estimate | None  # fastest estimate that fits; None if none fits
    failures: tuple[str, ...]  # one sentence per failed condition


def read_scenarios(path: Path) -> tuple[Pair, ...]:
    """Pairs of a file.

    Raises:
        InputError: the file cannot be read, is not YAML, or breaks the schema; the message names
            the key.
    """
    text = given_files.text(path, LARGEST_FILE)
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    try:
        return scenarios(data)
    except AdvisorError as error:
        raise InputError(f"{path}: {error} The schema is in docs/scenarios.md.") from error


def scenarios(data: object) -> tuple[Pair, ...]:
    """Pairs of parsed content, model by model.

    Raises:
        InputError: a key or value outside the schema; the message names it.
        UnknownName: a machine or runtime that is not known.
    """
    top = _keys(data, KEYS, "the file")
    shared = _stated({"runtime": top.get("runtime")}, "the file")
    for where in ("workload", "request"):
        shared |= _stated(top.get(where, {}), where)
    everywhere = _keys(top.get("conditions", {}), CONDITIONS, "conditions")
    models, machines = (
        _entries(top.get("models"), "models"),
        _entries(top.get("machines"), "machines"),
    )
    pairs = len(models) * len(machines)
    if pairs > MOST_PAIRS:
        raise InputError(f"models times machines is {pairs:,}; at most {MOST_PAIRS:,} are allowed.")
    named = [_model(entry, f"models[{place}]") for place, entry in enumerate(models)]
    described = [
        _machine(entry, f"machines[{place}]", everywhere) for place, entry in enumerate(machines)
    ]
    every = tuple(
        Pair(
            model=model["model"], machine=name, conditions=conditions,
            request=Request(**{**shared, **model, **parts}),
        )
        for model in named
        for name, parts, conditions in described
    )  # fmt: skip
    _ = every[0].request.nouns().runtime
    return every


def run(pairs: Sequence[Pair]) -> Iterator[ScenarioResult]:
    """Results of every pair.

    Raises:
        AdvisorError: a model that cannot be described.
    """
    for pair in pairs:
        nouns = pair.request.nouns()
        runtimes = [nouns.runtime] if nouns.runtime else RUNTIMES
        tried = compare(
            nouns.model, nouns.machine, nouns.work, settings=nouns.settings, runtimes=runtimes
        )
        fitting = usable(each for each in tried if nouns.strategy in (None, each.strategy))
        best = fitting[0] if fitting else None
        yield ScenarioResult(
            model=pair.model,
            machine=pair.machine,
            best=best,
            failures=tuple(_failures(best, pair.conditions, nouns)),
        )


def _failures(best: Estimate | None, conditions: Conditions, nouns: Nouns) -> Iterator[str]:
    if best is None:
        yield "nothing that was tried runs it"
        return
    decode, prefill, first = best.decode, best.prefill, best.first_token
    yield from _below("tokens/s", _end(decode, "value"), conditions.min_decode_tps)
    low = _end(decode, "low")
    yield from _below("tokens/s at the low end", low, conditions.min_decode_tps_low)
    yield from _below("prompt tokens/s", _end(prefill, "value"), conditions.min_prefill_tps)
    longest, time = conditions.max_ttft_s, _end(first, "value")
    if longest is not None and (time is None or time > longest):
        shown = "unknown" if time is None else seconds(time)
        yield f"first token after {shown}, more than {seconds(longest)}"
    yield from _beyond(conditions.max_usd_per_month, best, nouns)
    if conditions.placement is not None and best.strategy.value != conditions.placement:
        yield f"runs by {best.strategy.value}, not {conditions.placement}"


def _below(words: str, value: float | None, least: float | None) -> Iterator[str]:
    if least is not None and (value is None or value < least):
        shown = "unknown" if value is None else number(value, 3)
        yield f"{shown} {words}, less than {number(least, 3)}"


def _end(figure: Range | None, end: str) -> float | None:
    return None if figure is None else float(getattr(figure, end))


def _beyond(most: float | None, best: Estimate, nouns: Nouns) -> Iterator[str]:
    """Cost of a month that is over the most, given in the currency of the request."""
    if most is None:
        return
    monthly = keep(question_of(nouns, nouns.machine), speed_of(best)).monthly
    if monthly is None or monthly > most * nouns.request.paying.usd:
        shown = "unknown" if monthly is None else money(monthly)
        yield f"{shown} a month, more than {money(most * nouns.request.paying.usd)}"


def _model(entry: object, where: str) -> dict[str, Any]:
    """Inputs of an entry of `models`: a name, or keys with values."""
    values = {"name": entry} if isinstance(entry, str) else entry
    check_names(values, ("name", *INPUT_NAMES), where)
    inputs: dict[str, Any] = dict(values)  # type: ignore[call-overload]  # a mapping, as checked
    if "name" not in inputs and "model" not in inputs:
        raise InputError(f"{where} names no model; give its name.")
    if "name" in inputs:
        inputs["model"] = _text(inputs.pop("name"), f"{where}.name")
    return _stated(inputs, where)


def _machine(
    entry: object, where: str, everywhere: Mapping[str, Any]
) -> tuple[str, dict[str, Any], Conditions]:
    """Name, inputs and conditions of an entry of `machines`: a name, or keys with values."""
    values = {"machine": entry} if isinstance(entry, str) else entry
    inputs = dict(_keys(values, ("name", "conditions", *INPUT_NAMES), where))
    own = _keys(inputs.pop("conditions", {}), CONDITIONS, f"{where}.conditions")
    name = _text(inputs.pop("name", ""), f"{where}.name")
    parts = _stated(inputs, where)
    try:
        machine = Request(**parts).nouns().machine
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    name = name or parts.get("machine", machine.name)
    return name, parts, _conditions({**everywhere, **own}, f"{where}.conditions")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is {str(value)[:80]!r}; it should be text.")
    return value


def _stated(values: object, where: str) -> dict[str, Any]:
    """Inputs that a part of the file states, in the words of a request."""
    return from_values(_keys(values, INPUT_NAMES, where), where).stated()


def _conditions(values: Mapping[str, Any], where: str) -> Conditions:
    for own in fields(Conditions):
        wanted = str | None if own.name == "placement" else float | None
        checked(wanted, values.get(own.name), f"{where}.{own.name}")
    return Conditions(**values)


def _entries(data: object, where: str) -> Sequence[object]:
    if not isinstance(data, list) or not data:
        raise InputError(f"{where} is {str(data)[:80]!r}; it should be a list with entries.")
    return data


def _keys(data: object, known: tuple[str, ...], where: str) -> Mapping[str, Any]:
    """Keys with values, all of them known."""
    check_names(data, known, where)
    return data  # type: ignore[return-value]  # a mapping, as checked
