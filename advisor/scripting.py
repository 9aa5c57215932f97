"""Python interface for notebooks and scripts: the names of `from advisor import ...`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from advisor.advice import advise as whole_answer
from advisor.advice import compare as comparison
from advisor.advice.advise import Advice, answer
from advisor.advice.task import Task
from advisor.catalog.inputs import PLACEMENT
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.runtimes import RUNTIMES, Runtime
from advisor.runtimes import runtime as runtime_named

if TYPE_CHECKING:
    import pandas as pd

# Models and machines from names and numbers.


def find_model(text: str, quant: str | None = None) -> Model:
    """Model by name, GGUF file, config.json, or repository of the Hugging Face Hub.

    Args:
        text: name, path or `owner/name`.
        quant: wanted format; None for the format of the file or repository, else Q4_K_M.

    Raises:
        AdvisorError: an unknown model or format, or a file that cannot be read.
    """
    return resolve.find(text, quant).model


def describe_machine(**parts: Any) -> Machine:
    """Machine of the given parts, with typical parts for missing ones, marked as assumed.

    Args:
        parts: fields of `MachineSpec`; usually `gpu` (name), `gpu_count`, `cpu` (name), `ram_gb`
            [GiB] and, where measured, `ram_gbs` [GB/s].

    Raises:
        InputError: no part, an unknown field, or a number outside its limits.
        UnknownName: a GPU, processor or drive missing from the catalogue.
    """
    try:
        spec = MachineSpec(**parts)
    except TypeError as error:
        unknown = ", ".join(sorted(parts.keys() - MachineSpec.__dataclass_fields__.keys()))
        if not unknown:
            raise
        raise InputError(
            f"A machine has no {unknown}; it has {', '.join(MachineSpec.__dataclass_fields__)}."
        ) from error
    if spec.empty:
        raise InputError(
            'No part of the machine is named; name one, or take named_machine("this") for the '
            "machine this runs on."
        )
    return from_spec.machine(spec)


SPLIT = tuple(entry.name for entry in PLACEMENT)
"""Options of a placement."""


def estimate(
    model: Model | str,
    machine: Machine,
    workload: Workload | None = None,
    *,
    runtime: str = "llama.cpp",
    placement: str | None = None,
    **split: Any,
) -> Estimate:
    """Estimate of a runtime in one placement.

    Args:
        model: model of `find_model`, or text that `find_model` takes.
        machine: machine of `describe_machine` or `named_machine`.
        workload: request; None for one user with a prompt of 512 and a reply of 256 tokens.
        runtime: name of the runtime.
        placement: "gpu-resident", "cpu-offload" or "nvme-offload"; None for the fastest that fits,
            else the first.
        split: options of the placement, as in `split_of`.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    estimates = compare(model, machine, workload, runtime=runtime, **split)
    if placement is None:
        return next(iter(comparison.usable(estimates)), estimates[0])
    wanted = Request(placement=placement).nouns().strategy
    placed = [estimate for estimate in estimates if estimate.strategy is wanted]
    if wanted is not None and not placed:
        raise InputError(comparison.lacks(runtime_named(runtime), wanted))
    return placed[0]


def compare(
    model: Model | str | Request,
    machine: Machine | None = None,
    workload: Workload | None = None,
    *,
    runtime: str | None = None,
    **split: Any,
) -> tuple[Estimate, ...]:
    """Estimates of every runtime in every placement; an impossible one states its reason.

    Args:
        model: model of `find_model`, text that `find_model` takes, or a whole `Request`.
        machine: machine of `describe_machine` or `named_machine`; None with a `Request`.
        workload: request, as in `estimate`.
        runtime: name of the only runtime; None for all.
        split: options of the placement, as in `split_of`.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    if isinstance(model, Request):
        nouns = model.nouns()
        return comparison.compare(
            nouns.model, nouns.machine, nouns.work, settings=nouns.settings,
            runtimes=runtimes_named(runtime or model.runtime),
        )  # fmt: skip
    return comparison.compare(
        as_model(model),
        given_machine(machine),
        workload or Workload(),
        settings=split_of(**split),
        runtimes=runtimes_named(runtime),
    )


def given_machine(machine: Machine | None) -> Machine:
    """The machine.

    Raises:
        InputError: none is given.
    """
    if machine is None:
        raise InputError("Give a machine, or a whole Request in place of the model.")
    return machine


def as_model(model: Model | str) -> Model:
    """The model itself, or the model of a name."""
    return find_model(model) if isinstance(model, str) else model


def runtimes_named(name: str | None) -> Iterable[Runtime]:
    """The runtime of a name; all runtimes for None."""
    return RUNTIMES if name is None else (runtime_named(name),)


def split_of(**split: Any) -> Settings:
    """Settings of a placement from its options.

    Args:
        split: inputs of a request by their names, those of `SPLIT`.

    Raises:
        InputError: an unknown option.
    """
    if unknown := sorted(split.keys() - set(SPLIT)):
        raise InputError(
            f"{', '.join(unknown)} is no option of a placement; use one of {', '.join(SPLIT)}. "
            "Numbers of the request go into Workload(...)."
        )
    return Request(**split).nouns().settings


# Complete advice for programs.


def advise(
    model: Model | str | Request,
    machine: Machine | None = None,
    workload: Workload | None = None,
    *,
    money: MoneyInputs | None = None,
    runtime: str | None = None,
    **split: Any,
) -> Advice:
    """Complete advice: every estimate, bigger GPUs, cheap changes, and the verdict in words.

    Args:
        model: model of `find_model`, text that `find_model` takes, or a whole `Request`.
        machine: machine of `describe_machine` or `named_machine`; None with a `Request`.
        workload: request, as in `estimate`.
        money: value of time, price of power and other money inputs; None for the defaults.
        runtime: name of the runtime for upgrades and changes; None for the best.
        split: options of the placement, as in `split_of`.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    if isinstance(model, Request):
        return answer(model.nouns()).advice
    return whole_answer.advise(
        as_model(model),
        given_machine(machine),
        workload or Workload(),
        money=money,
        settings=split_of(**split),
        chosen=None if runtime is None else runtime_named(runtime),
    )


def task(request: Request) -> Task | None:
    """Time of an agent's session in the best placement, with what would save most; None where the
    request has no session, or nothing runs it.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    return answer(request.nouns()).advice.task


# Many requests, models and machines at a time, as a table.

Models = Model | str


def sweep(
    models: Models | Sequence[Models],
    machines: Machine | Sequence[Machine],
    *,
    runtime: str | None = None,
    **varied: Any,
) -> "pd.DataFrame":
    """Speeds of all combinations, a row per combination, runtime and placement.

    Args:
        models: one or several models, or texts that `find_model` takes.
        machines: one or several machines of `describe_machine` or `named_machine`.
        runtime: name of the only runtime; None for all.
        varied: fields of `Workload` (`context`, `prompt`, `output`, `users` ...) and options of a
            placement (`gpu_layers`, `cpu_moe`, `cache_gb` ...), each a number or a list of numbers;
            text values such as `kv_type` are the same in the whole sweep.

    Returns:
        Columns `model`, `format`, `machine`, `runtime`, `placement`, the varied fields, `fits`,
        `missing_bytes` [B], `decode_tps` and `prefill_tps` [tokens/s] and `ttft_s` [s], these
        three also with `_low` and `_high`, and `note`. Speeds are NaN where a combination does not
        fit or is impossible; `note` gives the reason.

    Raises:
        AdvisorError: an unknown name, or a number outside its limits.
    """
    import pandas as pd  # only here: it takes a while

    words = {name: value for name, value in varied.items() if isinstance(value, str | bool)}
    numbers = combinations({name: varied[name] for name in varied if name not in words})
    work, split = _request({**words, **numbers})
    tables = [
        _rows(estimate, machine, numbers)
        for model in ([models] if isinstance(models, Model | str) else models)
        for machine in ([machines] if isinstance(machines, Machine) else machines)
        for estimate in comparison.compare(
            as_model(model), machine, work, settings=split, runtimes=runtimes_named(runtime)
        )
    ]
    if not tables:
        raise InputError("There is no model or no machine to sweep over; give one of each or more.")
    return pd.concat(tables, ignore_index=True)


def combinations(varied: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """All combinations of the given numbers along one axis; the last field changes fastest.

    Raises:
        InputError: a value that is neither a number nor a list of numbers.
    """
    axes = {name: np.atleast_1d(np.asarray(value)) for name, value in varied.items()}
    for name, axis in axes.items():
        if axis.ndim != 1 or not axis.size or axis.dtype.kind not in "iuf":
            raise InputError(f"{name} is {varied[name]!r}; give a number or a list of numbers.")
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return dict(zip(axes, (np.ravel(values) for values in grid), strict=True))


def _request(options: Mapping[str, Any]) -> tuple[Workload, Settings]:
    """Workload and settings of a placement from options by name."""
    request = {field.name for field in fields(Workload)}
    if unknown := sorted(options.keys() - request - set(SPLIT)):
        raise InputError(
            f"{', '.join(unknown)} cannot be varied; use {', '.join(sorted(request))}, or "
            f"{', '.join(SPLIT)}."
        )
    work = Workload(**{name: options[name] for name in options.keys() & request})
    return work, split_of(**{name: options[name] for name in options.keys() & set(SPLIT)})


def _rows(
    estimate: Estimate, machine: Machine, varied: Mapping[str, npt.NDArray[Any]]
) -> "pd.DataFrame":
    """Rows of an estimate over all combinations, one per combination."""
    import pandas as pd  # likewise

    count = max((values.size for values in varied.values()), default=1)
    fits = np.broadcast_to(estimate.fits, count)
    columns: dict[str, Any] = {
        "model": estimate.model.name,
        "format": estimate.model.format,
        "machine": machine.name,
        "runtime": estimate.runtime,
        "placement": estimate.strategy.value,
        **varied,
        "fits": fits,
        "missing_bytes": np.where(fits, 0.0, np.broadcast_to(estimate.missing, count)),
        **_range("decode_tps", "", estimate.decode, fits),
        **_range("prefill_tps", "", estimate.prefill, fits),
        **_range("ttft", "_s", estimate.first_token, fits),
        "note": estimate.refusal or estimate.format_note,
    }
    return pd.DataFrame(columns, index=range(count))


def _range(
    name: str, unit: str, values: Range | None, fits: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.float64]]:
    """Columns of a value and its bounds; NaN where the model does not fit."""
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {
        f"{name}{unit}{end}": np.where(fits, getattr(values, attribute, np.nan), np.nan)
        for end, attribute in ends.items()
    }
