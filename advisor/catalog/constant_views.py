"""Constants seen otherwise: with a record of lookups, or for pairs of a format and a GPU."""

from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import ConstantRow, Constants, ScopedConstant


class RecordedConstants(Constants):
    """Constants that record lookups, for the list of an estimate's assumptions.

    Args:
        constants: constants in the scope of the estimate.
    """

    def __init__(self, constants: Constants) -> None:
        vars(self).update(vars(constants))
        self._looked_up: dict[tuple[str, str], ScopedConstant] = {}

    def _look_up(self, constant: str, family: str) -> ScopedConstant:
        scoped = super()._look_up(constant, family)
        return self._looked_up.setdefault((constant, family), scoped)

    @property
    def used(self) -> tuple[tuple[ConstantRow, ...], ...]:
        """Constants looked up so far, each with its factors."""
        return tuple(scoped.rows for scoped in self._looked_up.values())


class PickedConstants(Constants):
    """Constants of pairs of a class of formats and a GPU, out of those of all classes and GPUs.

    Args:
        constants: constants in a scope of several classes, backends or families.
        classes: place of each pair's class, shape (pairs,).
        gpus: place of each pair's GPU, shape (pairs,).
    """

    def __init__(
        self, constants: Constants, classes: npt.NDArray[np.int_], gpus: npt.NDArray[np.int_]
    ) -> None:
        vars(self).update(vars(constants))
        self._classes, self._gpus = classes, gpus

    def value(self, constant: str, family: str = "") -> Any:
        """Value of each pair, shape (pairs,); a number where all share it."""
        value = np.asarray(super().value(constant, family))
        if value.ndim < 2:
            return value[self._gpus] if value.ndim else float(value)
        return value[self._classes, self._gpus if value.shape[-1] > 1 else 0]
