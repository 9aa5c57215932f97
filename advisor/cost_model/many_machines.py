"""Times on many machines of what is placed for few: a runtime places by size alone.

Some 40 sizes of memory stand for all GPUs. Where every byte lies, and what a step reads of it, is
worked out for these; the times then for each GPU, by the same functions.
"""

from copy import copy
from dataclasses import is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.measured_constants import constants_on
from advisor.machine.backends import of_machine
from advisor.machine.machine import Machine

Part = TypeVar("Part")
PLAIN = frozenset({float, int, bool, str, type(None), frozenset})
"""Types that hold nothing for each machine."""
Index = npt.NDArray[np.int_]


def on_machines(plan: Estimate, machine: Machine, index: Index, constants: Constants) -> Estimate:
    """The estimate of more machines, placed as those of a plan.

    Args:
        plan: of one machine for each size; not a refused one.
        machine: all machines as one, each figure of shape (machines,).
        index: for each machine its place in the plan, shape (..., machines).
        constants: bound to the plan's case; the backends become those of the machines.
    """
    scope = replace(constants.scope, backend=of_machine(machine))
    size = np.size(plan.fits)
    return replace(
        plan,
        machine=machine,
        placement=None,
        planned=taken(plan.phases, index, size),
        work=taken(plan.work, index, size),
        waiting=_picked(plan.waiting, index, size),
        fits=np.broadcast_to(plan.fits, size)[index],
        missing=_picked(plan.missing, index, size),
        constants=constants_on(machine.host, plan.model, constants.bound(scope)),
    )


def taken(part: Part, index: Index, size: int) -> Part:
    """The same record with every array along a plan picked by an index.

    Args:
        part: dataclasses, tuples and mappings of numbers.
        index: shape (..., machines).
        size: machines of the plan.
    """
    if np.array_equal(index, np.arange(size)):
        return part
    picked: Part = _taken(part, index, size)
    return picked


def _taken(part: Any, index: Index, size: int) -> Any:
    kind = type(part)
    if kind in PLAIN:
        return part
    if kind is np.ndarray:
        return _picked(part, index, size)
    if kind is tuple:
        return tuple([_taken(each, index, size) for each in part])
    if kind is dict:
        return {key: _taken(value, index, size) for key, value in part.items()}
    if is_dataclass(part) and not isinstance(part, Enum):
        # Checked when it was made: some machines of a record need no further check.
        same = copy(part)
        vars(same).update({name: _taken(own, index, size) for name, own in vars(part).items()})
        return same
    return part


def _picked(value: Any, index: Index, size: int) -> Any:
    along = isinstance(value, np.ndarray) and value.shape[-1:] == (size,)
    return value[..., index] if along else value
