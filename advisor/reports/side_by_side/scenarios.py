"""Scenario files: many models on many machines, with conditions on the results.

The schema is in docs/scenarios.md. A file is YAML or JSON:

    models: [Llama-3.1-8B, {name: Qwen3-30B-A3B, format: Q4_K_M}]
    machines: [{name: workstation, gpu: RTX 3090, ram_gb: 64}]
    workload: {context: 8192, users: 1}
    conditions: {min_decode_tps: 10}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from advisor import given_files
from advisor.advice.compare import compare, usable
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError, close_names
from advisor.formatting import number, seconds
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.reports.document.field_types import checked
from advisor.runtimes import RUNTIMES, runtime

LARGEST_FILE = 1_000_000
"""Largest scenario file that is read [B]."""
MOST_PAIRS = 2_000
"""Models times machines."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions on every pair; None for no condition.

    Attributes:
        min_decode_tps: least speed for each user [tokens/s].
        min_decode_tps_low: least lower end of its 80 % range [tokens/s].
        min_prefill_tps: least prompt speed [tokens/s].
        max_ttft_s: longest time to the first token [s].
        placement: required placement ("gpu-resident").
    """

    min_decode_tps: float | None = None
    min_decode_tps_low: float | None = None
    min_prefill_tps: float | None = None
    max_ttft_s: float | None = None
    placement: str | None = None

    def __post_init__(self) -> None:
        if self.placement is not None and self.placement not in list(PlacementStrategy):
            raise InputError(
                f"placement is {self.placement!r}; allowed are {', '.join(PlacementStrategy)}."
            )


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """Model of the file: name, path or repository, and format; None for the default format."""

    name: str
    format: str | None = None


RecordKind = TypeVar("RecordKind", Workload, MachineSpec, Conditions, ModelEntry)


@dataclass(frozen=True, kw_only=True)
class MachineEntry:
    """Machine of the file, with conditions that override those of the file."""

    name: str
    machine: Machine
    conditions: Conditions


@dataclass(frozen=True, kw_only=True)
class ScenarioFile:
    """Content of a scenario file.

    Attributes:
        models: models, each tried on every machine.
        machines: machines with their conditions.
        workload: request for every pair.
        runtime: name of the runtime; None for the fastest in common use.
    """

    models: tuple[ModelEntry, ...]
    machines: tuple[MachineEntry, ...]
    workload: Workload = field(default_factory=Workload)
    runtime: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """Result of one model on one machine.

    Attributes:
        model: model as the file names it.
        machine: machine as the file names it.
        best: fastest estimate that fits; None if none fits.
        failures: one sentence per failed condition.
    """

    model: str
    machine: str
    best: Estimate | None
    failures: tuple[str, ...]


def read_scenarios(path: Path) -> ScenarioFile:
    """Scenarios of a file.

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


def scenarios(data: object) -> ScenarioFile:
    """Scenarios of parsed content.

    Raises:
        InputError: a key or value outside the schema; the message names it.
    """
    top = _mapping(data, "the file", ("models", "machines", "workload", "runtime", "conditions"))
    everywhere = _mapping(top.get("conditions", {}), "conditions", _names(Conditions))
    file = ScenarioFile(
        models=tuple(_models(top.get("models"))),
        machines=tuple(_machines(top.get("machines"), everywhere)),
        workload=_record(Workload, top.get("workload", {}), "workload"),
        runtime=checked(str | None, top.get("runtime"), "runtime"),
    )
    if file.runtime is not None:
        runtime(file.runtime)
    pairs = len(file.models) * len(file.machines)
    if pairs > MOST_PAIRS:
        raise InputError(f"models times machines is {pairs:,}; at most {MOST_PAIRS:,} are allowed.")
    return file


def run(file: ScenarioFile) -> Iterator[ScenarioResult]:
    """Results of every pair, model by model.

    Raises:
        AdvisorError: a model that cannot be described.
    """
    runtimes = [runtime(file.runtime)] if file.runtime else RUNTIMES
    for entry in file.models:
        model = resolve.find(entry.name, entry.format).model
        for place in file.machines:
            fitting = usable(compare(model, place.machine, file.workload, runtimes=runtimes))
            best = fitting[0] if fitting else None
            yield ScenarioResult(
                model=entry.name,
                machine=place.name,
                best=best,
                failures=tuple(_failures(best, place.conditions)),
            )


def _failures(best: Estimate | None, conditions: Conditions) -> Iterator[str]:
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
    if conditions.placement is not None and best.strategy.value != conditions.placement:
        yield f"runs by {best.strategy.value}, not {conditions.placement}"


def _below(words: str, value: float | None, least: float | None) -> Iterator[str]:
    if least is not None and (value is None or value < least):
        shown = "unknown" if value is None else number(value, 3)
        yield f"{shown} {words}, less than {number(least, 3)}"


def _end(figure: Range | None, end: str) -> float | None:
    return None if figure is None else float(getattr(figure, end))


def _models(data: object) -> Iterator[ModelEntry]:
    for place, entry in enumerate(_entries(data, "models")):
        where = f"models[{place}]"
        named = {"name": entry} if isinstance(entry, str) else entry
        yield _record(ModelEntry, named, where)


def _machines(data: object, everywhere: Mapping[str, Any]) -> Iterator[MachineEntry]:
    for place, entry in enumerate(_entries(data, "machines")):
        where = f"machines[{place}]"
        keys = ("name", "conditions", *_names(MachineSpec))
        values = dict(_mapping(entry, where, keys))
        own = _mapping(values.pop("conditions", {}), f"{where}.conditions", _names(Conditions))
        name = checked(str | None, values.pop("name", None), f"{where}.name")
        machine = from_spec.machine(_record(MachineSpec, values, where))
        yield MachineEntry(
            name=name or machine.name,
            machine=machine,
            conditions=_record(Conditions, {**everywhere, **own}, f"{where}.conditions"),
        )


def _entries(data: object, where: str) -> Sequence[object]:
    if not isinstance(data, list) or not data:
        raise InputError(f"{where} is {str(data)[:80]!r}; it should be a list with entries.")
    return data


def _mapping(data: object, where: str, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"{where} is {str(data)[:80]!r}; it should be keys with values.")
    for key in data:
        if key not in known:
            close = close_names(str(key), tuple(known))
            meant = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}."
            raise InputError(f"{where} has the key {str(key)[:80]!r}, which nothing reads{meant}")
    return data


def _names(kind: type) -> tuple[str, ...]:
    """Keys of a record; without the draft model, since a file names no second model."""
    return tuple(own.name for own in fields(kind) if own.name != "draft_model")


def _record(kind: type[RecordKind], data: object, where: str) -> RecordKind:
    """Dataclass from parsed content."""
    values = _mapping(data, where, _names(kind))
    for own in fields(kind):
        if own.name in values:
            _check_type(values[own.name], str(own.type), f"{where}.{own.name}")
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{where}: {error}.") from error
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _check_type(value: object, kind: str, where: str) -> None:
    """Refuse a value that is not text, flag or number as its field requires."""
    if value is None and "None" in kind:
        return
    if "str" in kind:
        wanted, right = "text", isinstance(value, str)
    elif "bool" in kind:
        wanted, right = "true or false", isinstance(value, bool)
    else:
        number_like = isinstance(value, int | float) and not isinstance(value, bool)
        wanted, right = "a number", number_like
    if not right:
        raise InputError(f"{where} is {str(value)[:80]!r}; it should be {wanted}.")
