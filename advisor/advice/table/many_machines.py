"""Estimates of many machines from the placements of a few: a runtime places by memory size alone.

Some 40 memory sizes represent all GPUs. Placement and schedule are computed once per size, the
times then for each GPU by the same functions.
"""

from dataclasses import is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate
from advisor.machine.machine import Machine
from advisor.model.model import Model

Part = TypeVar("Part")
PLAIN = frozenset({float, int, bool, str, type(None), frozenset, Model})
"""Types without a value per machine; a model that drafts is the same on all."""
Index = npt.NDArray[np.int_]


def on_machines(
    plan: Estimate, model: Model, machine: Machine, index: Index, constants: Constants
) -> Estimate:
    """Estimate of many machines, with the placements and schedules of a plan for one machine per
    memory size, which is possible.

    `machine` is all machines as one, with numbers of shape (machines,), `index` the place of each
    in the plan, shape (..., machines); a model in several formats has numbers that go with it.
    """
    size = np.size(plan.fits)
    along = partial(taken, index=index, size=size)
    return replace(
        plan,
        model=model,
        machine=machine,
        placement=None,
        planned=plan.phases and plan.phases.each(along),
        work=along(plan.work),
        waiting=_picked(plan.waiting, index, size),
        fits=np.broadcast_to(plan.fits, size)[index],
        missing=_picked(plan.missing, index, size),
        cached_on_gpus=_picked(plan.cached_on_gpus, index, size),
        started=_picked(plan.started, index, size),
        constants=constants,
    )


def taken(part: Part, index: Index, size: int) -> Part:
    """Copy of a record, of dataclasses, tuples and mappings of numbers, with each array along a
    plan's machines indexed.
    """
    if np.array_equal(index, np.arange(size)):
        return part
    picked: Part = _taken(part, index, size)
    return picked


def _taken(part: Any, index: Index, size: int) -> Any:
    kind: Any = type(part)
    if kind in PLAIN:
        return part
    if kind is np.ndarray:
        return _picked(part, index, size)
    if kind is tuple:
        if part and all(each is part[0] for each in part):
            return (_taken(part[0], index, size),) * len(part)
        return tuple([_taken(each, index, size) for each in part])
    if kind is dict:
        return {key: _taken(value, index, size) for key, value in part.items()}
    if _is_record(kind):
        # Checked when it was made: some machines of a record need no further check.
        same = object.__new__(kind)
        vars(same).update({name: _taken(value, index, size) for name, value in vars(part).items()})
        return same
    return part


@cache
def _is_record(kind: type) -> bool:
    return is_dataclass(kind) and not issubclass(kind, Enum)


def _picked(value: Any, index: Index, size: int) -> Any:
    along = isinstance(value, np.ndarray) and value.shape[-1:] == (size,)
    if along:
        return value[..., index]
    return value
