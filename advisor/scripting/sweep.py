"""Many requests, models and machines at a time, as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.advice.compare import compare
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.scripting.answers import SPLIT, as_model, runtimes_named, split_of

Models = Model | str


def sweep(
    models: Models | Sequence[Models],
    machines: Machine | Sequence[Machine],
    *,
    runtime: str | None = None,
    **varied: Any,
) -> pd.DataFrame:
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
    words = {name: value for name, value in varied.items() if isinstance(value, str | bool)}
    numbers = combinations({name: varied[name] for name in varied if name not in words})
    work, split = _request({**words, **numbers})
    tables = [
        _rows(estimate, machine, numbers)
        for model in ([models] if isinstance(models, Model | str) else models)
        for machine in ([machines] if isinstance(machines, Machine) else machines)
        for estimate in compare(
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
) -> pd.DataFrame:
    """Rows of an estimate over all combinations, one per combination."""
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
