"""Scenario files: many models on many machines, and what each must reach.

The schema is in docs/scenarios.md. A file is YAML or JSON; every input of a request may stand under
`request`, in an entry of `models` or in one of `machines`, by its name:

    models: [Llama-3.1-8B, {name: Qwen3-30B-A3B, format: Q4_K_M}]
    machines: [{name: workstation, gpu: RTX 3090, ram_gb: 64}, Mac Studio M3 Ultra 512GB]
    request: {context: 8192, users: 1, gpu_layers: 20, usd_per_kwh: 0.3}
    promises: {decode_tps: ">= 10", monthly_usd: "<= 100"}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from advisor import given_files
from advisor.advice.compare import estimates_of, usable
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate
from advisor.errors import AdvisorError, InputError
from advisor.reports.promises import Promise, broken, conditions, figures, promises
from advisor.request.request import Request
from advisor.request.values import check_names, from_values
from advisor.runtimes import RUNTIMES

LARGEST_FILE = 1_000_000
"""Largest scenario file that is read [B]."""
MOST_PAIRS = 2_000
"""Models times machines."""


INPUT_NAMES = tuple(BY_NAME)
KEYS = ("models", "machines", "request", "workload", "runtime", "conditions", "promises")
"""Keys of a file; `workload` was the name of `request`."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One model on one machine."""

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
    """Pairs of parsed content, model by model."""
    top = _keys(data, KEYS, "the file")
    shared = _stated({"runtime": top.get("runtime")}, "the file")
    for where in ("workload", "request"):
        shared |= _stated(top.get(where, {}), where)
    everywhere = _promised(top, "")
    models, machines = (
        _entries(top.get("models"), "models"),
        _entries(top.get("machines"), "machines"),
    )
    pairs = len(models) * len(machines)
    if pairs > MOST_PAIRS:
        raise InputError(f"models times machines is {pairs:,}; at most {MOST_PAIRS:,} are allowed.")
    named = [_model(entry, f"models[{index}]") for index, entry in enumerate(models)]
    described = [
        _machine(entry, f"machines[{index}]", everywhere) for index, entry in enumerate(machines)
    ]
    every = tuple(
        Pair(
            model=model["model"], machine=name, promised=promised,
            request=Request(**{**shared, **model, **parts}),
        )
        for model in named
        for name, parts, promised in described
    )  # fmt: skip
    _ = every[0].request.nouns().runtime
    return every


def run(pairs: Sequence[Pair]) -> Iterator[ScenarioResult]:
    """Results of every pair."""
    for pair in pairs:
        nouns = pair.request.nouns()
        best = next(iter(usable(estimates_of(nouns, RUNTIMES))), None)
        reached = figures(best, nouns)
        yield ScenarioResult(
            model=pair.model,
            machine=pair.machine,
            best=best,
            figures=reached,
            failures=tuple(broken(pair.promised, best, reached, nouns.request.paying.usd)),
        )


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
    entry: object, where: str, everywhere: tuple[Promise, ...]
) -> tuple[str, dict[str, Any], tuple[Promise, ...]]:
    """Name, inputs and promises of an entry of `machines`: a name, or keys with values."""
    values = {"machine": entry} if isinstance(entry, str) else entry
    inputs = dict(_keys(values, ("name", "conditions", "promises", *INPUT_NAMES), where))
    promised = _promised(inputs, f"{where}.")
    name = _text(inputs.pop("name", ""), f"{where}.name")
    parts = _stated({key: inputs[key] for key in inputs if key in BY_NAME}, where)
    try:
        machine = Request(**parts).nouns().machine
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    name = name or parts.get("machine", machine.name)
    names = {promise.name for promise in promised}
    return name, parts, (*promised, *(each for each in everywhere if each.name not in names))


def _promised(entry: Mapping[str, Any], where: str) -> tuple[Promise, ...]:
    """Promises of the file or of a machine, under either key."""
    return (
        *promises(entry.get("promises", {}), f"{where}promises"),
        *conditions(entry.get("conditions", {}), f"{where}conditions"),
    )


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is {str(value)[:80]!r}; it should be text.")
    return value


def _stated(values: object, where: str) -> dict[str, Any]:
    """Inputs that a part of the file states, in the words of a request."""
    return from_values(_keys(values, INPUT_NAMES, where), where).stated()


def _entries(data: object, where: str) -> Sequence[object]:
    if not isinstance(data, list) or not data:
        raise InputError(f"{where} is {str(data)[:80]!r}; it should be a list with entries.")
    return data


def _keys(data: object, allowed: tuple[str, ...], where: str) -> Mapping[str, Any]:
    """Keys with values, all of them known."""
    check_names(data, allowed, where)
    return data  # type: ignore[return-value]  # a mapping, as checked
