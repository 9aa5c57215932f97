"""Python interface for notebooks and scripts: the names of `from advisor import ...`.

Arguments that functions share:

    model       model of `find_model`, text that `find_model` takes, or a whole `Request`
    machine     machine of `describe_machine` or `named_machine`, or text ("2x 3090 with 128 GB");
                None with a `Request`
    workload    request; None for one user with a prompt of 512 and a reply of 256 tokens
    runtime     name of the only runtime; None for all
    split       inputs of a placement by their names: `gpu_layers`, `cpu_moe`, `cache_gb` ...

An `AdvisorError` is raised for an unknown name, or a number outside its limits; a name that is
answered with something near it, or not in all of its words, gives a `TakenForAnother` warning.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from advisor import core
from advisor.advice import advise as whole_answer
from advisor.advice.task import Task
from advisor.advice.words.verdict import Advice
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.model import resolve
from advisor.model.model import Model
from advisor.request import known_speed
from advisor.request.known import QuestionRun, known
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.runtimes import RUNTIMES
from advisor.runtimes import compare as comparison
from advisor.runtimes import runtime as runtime_named

if TYPE_CHECKING:
    import pandas as pd

Models = Model | str
Machines = Machine | str
SPLIT = {entry.name for entry in INPUTS.of("placement").values()}  # options of a placement


def find_model(text: str, quant: str | None = None) -> Model:
    """Model by name, GGUF file, config.json, or repository of the Hugging Face Hub (`owner/name`),
    in a format.

    None for a format means that of the file or repository, or Q4_K_M.

    Example:
        >>> find_model("llama 3.1 8b")
        <Model Llama-3.1-8B, Q4_K_M, 4.6 GB>
    """
    resolved = resolve.find(text, quant)
    other = quant is not None and resolved.model.format.casefold() != quant.strip().casefold()
    if other or resolved.model.architecture.shape_uncertainty:
        _warn(resolved.notes)
    return resolved.model


class TakenForAnother(UserWarning):
    """Warning that a name was not known as it stands: a similar name, or a part of its words, was
    used.
    """


def _warn(notes: Iterable[str]) -> None:
    if text := " ".join(notes):
        warnings.warn(text, TakenForAnother, stacklevel=4)


def describe_machine(**parts: Any) -> Machine:
    """Machine of the given parts, with typical parts for missing ones, marked as assumed.

    Args:
        parts: fields of `MachineSpec`; usually `gpu` (name), `gpu_count`, `cpu` (name), `ram_gb`
            [GiB] and, where measured, `ram_gbs` [GB/s].

    Example:
        >>> describe_machine(gpu="RTX 3090", ram_gb=64).gpus[0].name
        'RTX 3090'
    """
    if not parts:
        raise InputError(
            'No part of the machine is named; name one, or take named_machine("this") for the '
            "machine this runs on."
        )
    return core.machine(**parts)


def with_known(machine: Machines, *speeds: str) -> Machine:
    """Machine with known speeds, which make every prediction for it more certain.

    Args:
        machine: machine that the speeds were measured on.
        speeds: what was measured, as "Qwen3-8B Q4_K_M 41" (tokens/s); what differs stands behind:
            prompt 4k, context 16k, users 8, ngl 0, in vLLM.

    Example:
        >>> slow = with_known("3090 with 64 GB", "Qwen3-8B Q4_K_M 90")
        >>> bool(estimate("Qwen3-14B", slow).known_factor < 1)
        True
    """
    machine = _machine(machine)
    plain = replace(machine, known=())
    runs = (known(known_speed.read(text), plain, QuestionRun()).run for text in speeds)
    return replace(machine, known=(*machine.known, *runs))


def estimate(
    model: Models,
    machine: Machines,
    workload: Workload | None = None,
    *,
    runtime: str = "llama.cpp",
    placement: str | None = None,
    **split: Any,
) -> Estimate:
    """Estimate of a runtime in one placement ("gpu-resident", "cpu-offload" or "nvme-offload").

    Without a placement it is the fastest that fits, or the first where none fits.

    Example:
        >>> estimate("llama 3.1 8b", "3090 with 64 GB").strategy.value
        'gpu-resident'
    """
    estimates = compare(model, machine, workload, runtime=runtime, **split)
    if placement is None:
        return next(iter(comparison.usable(estimates)), estimates[0])
    wanted = Request(placement=placement).nouns().strategy
    placed = [estimate for estimate in estimates if estimate.strategy is wanted]
    if wanted is not None and not placed:
        raise InputError(runtime_named(runtime).lacks(wanted))
    return placed[0]


def compare(
    model: Models | Request,
    machine: Machines | None = None,
    workload: Workload | None = None,
    *,
    runtime: str | None = None,
    **split: Any,
) -> tuple[Estimate, ...]:
    """Estimates of every runtime in every placement; an impossible one states its reason.

    Example:
        >>> len(compare("llama 3.1 8b", "3090 with 64 GB", runtime="llama.cpp"))
        3
    """
    if isinstance(model, Request):
        nouns = model.nouns()
        runtime = runtime or model.runtime
        parts = nouns.model, nouns.machine, nouns.work, nouns.settings
    else:
        parts = _nouns(model, machine, workload, split)
    resolved, owned, work, settings = parts
    runtimes = RUNTIMES if runtime is None else (runtime_named(runtime),)
    return comparison.compare(resolved, owned, work, settings=settings, runtimes=runtimes)


def advise(
    model: Models | Request,
    machine: Machines | None = None,
    workload: Workload | None = None,
    *,
    money: MoneyInputs | None = None,
    runtime: str | None = None,
    **split: Any,
) -> Advice:
    """Complete advice: every estimate, bigger GPUs, cheap changes, and the verdict in words.

    Args:
        model: as in all functions, like `machine`, `workload` and `split`.
        machine: likewise.
        workload: likewise.
        money: value of time, price of power and other money inputs; None for the defaults.
        runtime: name of the runtime for upgrades and changes; None for the best.
        split: likewise.

    Example:
        >>> advise("llama 3.1 8b", "3090 with 64 GB").judgement
        'faster than you read'
    """
    if isinstance(model, Request):
        return whole_answer.answer(model.nouns()).advice
    resolved, owned, work, settings = _nouns(model, machine, workload, split)
    if runtime is None:
        chosen = None
    else:
        chosen = runtime_named(runtime)
    return whole_answer.advise(resolved, owned, work, money=money, settings=settings, chosen=chosen)


def task(request: Request) -> Task | None:
    """Time of an agent's session in the best placement, with the changes that would save most.

    None where the request has no session, or nothing runs it.

    Example:
        >>> asked = Request(model="qwen3 30b a3b", machine="3090 64 GB", session="pinchbench")
        >>> task(asked).seconds > 0
        True
    """
    return whole_answer.answer(request.nouns()).advice.task


def _nouns(
    model: Models, machine: Machines | None, workload: Workload | None, split: Mapping[str, Any]
) -> tuple[Model, Machine, Workload, Settings]:
    """Nouns of the arguments that functions share."""
    if machine is None:
        raise InputError("Give a machine, or a whole Request in place of the model.")
    if unknown := sorted(split.keys() - SPLIT):
        raise InputError(
            f"{', '.join(unknown)} is no option of a placement; use one of "
            f"{', '.join(sorted(SPLIT))}. Numbers of the request go into Workload(...)."
        )
    if isinstance(model, str):
        resolved = find_model(model)
    else:
        resolved = model
    work = (workload or Workload()).with_room()
    return resolved, _machine(machine), work, Request(**split).nouns().settings


def _machine(machine: Machines) -> Machine:
    """Machine of a text in anybody's words, or as it is."""
    if isinstance(machine, str):
        described = Request(machine=machine).nouns().machine
        _warn(note for note in described.notes if LEFT_OUT in note)
        return described
    return machine


LEFT_OUT = "left out"  # in a note on words of a machine that are no known parts


# Many requests, models and machines at a time, as a table.


def sweep(
    models: Models | Sequence[Models],
    machines: Machines | Sequence[Machines],
    *,
    runtime: str | None = None,
    **varied: Any,
) -> "pd.DataFrame":
    """Speeds of all combinations, a row per combination, runtime and placement.

    Args:
        models: one or several models.
        machines: one or several machines.
        runtime: name of the only runtime; None for all.
        varied: fields of `Workload` (`context`, `prompt`, `output`, `users` ...) and options of a
            placement (`gpu_layers`, `cpu_moe`, `cache_gb` ...), each a number or a list of numbers;
            text values such as `kv_type` are the same in the whole sweep.

    Returns:
        Columns `model`, `format`, `machine`, `runtime`, `placement`, the varied fields, `fits`,
        `missing_bytes` [B], `decode_tps` and `prefill_tps` [tokens/s] and `ttft_s` [s], these
        three also with `_low` and `_high`, and `note`. Speeds are NaN where a combination does not
        fit or is impossible; `note` gives the reason.

    Example:
        >>> table = sweep("llama 3.1 8b", "3090 with 64 GB", context=[4096, 8192])
        >>> sorted(set(table["context"]))
        [4096, 8192]
    """
    import pandas as pd  # only here: it takes a while

    words = {name: value for name, value in varied.items() if isinstance(value, str | bool)}
    numbers = combinations({name: varied[name] for name in varied if name not in words})
    options: dict[str, Any] = {**words, **numbers}
    request = {field.name for field in fields(Workload)}
    if unknown := sorted(options.keys() - request - SPLIT):
        raise InputError(
            f"{', '.join(unknown)} cannot be varied; use {', '.join(sorted(request))}, or "
            f"{', '.join(sorted(SPLIT))}."
        )
    work = Workload(**{name: options[name] for name in options.keys() & request}).with_room()
    split = {name: options[name] for name in options.keys() & SPLIT}
    every_model = [models] if isinstance(models, Models) else models
    every_machine = [machines] if isinstance(machines, Machines) else machines
    tables: list[pd.DataFrame] = []
    for model in every_model:
        for machine in map(_machine, every_machine):
            answers = compare(model, machine, work, runtime=runtime, **split)
            tables += [pd.DataFrame(_columns(answer, machine, numbers)) for answer in answers]
    if not tables:
        raise InputError("There is no model or no machine to sweep over; give one of each or more.")
    return pd.concat(tables, ignore_index=True)


def combinations(varied: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Combinations of all given numbers along one axis; the last field changes fastest.

    Raises:
        InputError: a value that is neither a number nor a list of numbers.
    """
    axes = {name: np.atleast_1d(np.asarray(value)) for name, value in varied.items()}
    for name, axis in axes.items():
        if axis.ndim != 1 or not axis.size or axis.dtype.kind not in "iuf":
            raise InputError(f"{name} is {varied[name]!r}; give a number or a list of numbers.")
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return dict(zip(axes, (np.ravel(values) for values in grid), strict=True))


def _columns(
    estimate: Estimate, machine: Machine, varied: Mapping[str, npt.NDArray[Any]]
) -> dict[str, Any]:
    """Columns of an estimate over all combinations, one row per combination."""
    count = max((values.size for values in varied.values()), default=1)
    fits = np.broadcast_to(estimate.fits, count)
    figures = {
        "decode_tps": estimate.decode,
        "prefill_tps": estimate.prefill,
        "ttft_s": estimate.first_token,
    }
    speeds = {
        f"{name}{end}": np.where(fits, getattr(figure, attribute, np.nan), np.nan)
        for name, figure in figures.items()
        for end, attribute in (("", "value"), ("_low", "low"), ("_high", "high"))
    }
    return {
        "model": estimate.model.name,
        "format": estimate.model.format,
        "machine": machine.name,
        "runtime": estimate.runtime.name,
        "placement": estimate.strategy.value,
        **varied,
        "fits": fits,
        "missing_bytes": np.where(fits, 0.0, np.broadcast_to(estimate.missing, count)),
        **speeds,
        "note": estimate.refusal or estimate.format_note,
    }
