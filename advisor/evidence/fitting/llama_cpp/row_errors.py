"""Errors of rows that were predicted without their source, and what their ranges depend on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import (
    ENOUGH,
    SPLIT,
    TRAITS,
    UNKNOWN,
    Circumstances,
)
from advisor.evidence.fitting.llama_cpp.alike import Alike
from advisor.evidence.fitting.llama_cpp.fit import APART, Fit, Problem
from advisor.evidence.fitting.llama_cpp.rows import Rows
from advisor.evidence.fitting.llama_cpp.timed_row import READ
from advisor.evidence.published.sources import source_of
from advisor.model.model import Floats

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Errors of rows predicted without their source; arrays of shape (rows,).

    Attributes:
        off: log(measured speed / predicted speed).
        groups: group of each row: source and hardware.
        backends: backend of the runtime.
        builds: build of the runtime.
        on_gpu: share of the time taken by GPUs and their link; the processor takes the rest.
        traits: degree to which each of `uncertainty.TRAITS` applies, 0 to 1.
        guessed: 1 where the RAM rate is not known, else 0.
    """

    off: Floats
    groups: npt.NDArray[np.str_]
    backends: npt.NDArray[np.str_]
    builds: npt.NDArray[np.str_]
    on_gpu: Floats
    traits: Mapping[str, Floats]
    guessed: Floats

    def of(self, rows: Mask) -> "Errors":
        """Errors of some of the rows."""
        return Errors(
            off=self.off[rows],
            groups=self.groups[rows],
            backends=self.backends[rows],
            builds=self.builds[rows],
            on_gpu=self.on_gpu[rows],
            traits={name: values[rows] for name, values in self.traits.items()},
            guessed=self.guessed[rows],
        )

    @cached_property
    def weights(self) -> Floats:
        """Weights, half by row and half by group, with the number of groups as sum."""
        sizes = Counter(self.groups.tolist())
        by_group = np.array([1.0 / sizes[group] for group in self.groups.tolist()])
        return by_group / 2.0 + len(sizes) / len(self.off) / 2.0

    def groups_of(self, rows: Mask) -> int:
        """Number of groups among some rows."""
        return len(set(self.groups[rows].tolist()))


def errors(task: Problem, fit: Fit) -> Errors:
    """Errors of all rows, predicted by the fit without their source."""
    rows = task.rows
    share = np.ones(len(rows.timed))
    guessed = np.zeros(len(rows.timed))
    traits = {trait: np.zeros(len(rows.timed)) for trait in TRAITS if trait not in (SPLIT, UNKNOWN)}
    few = (other_sources(rows) < ENOUGH).astype(float)
    for part, time in rows.steps(task.values(fit.values)):
        run = circumstances_of(rows, part, few)
        share[part.at] = uncertainty.on_gpu(time, run)
        guessed[part.at] = run.unmeasured[Route.IN_PLACE]
        for trait, values in traits.items():
            values[part.at] = run.traits[trait]
    return Errors(
        off=np.log(fit.held_out / rows.seconds),
        groups=np.array(rows.groups),
        backends=np.array([names["backend"] for names in rows.scopes]),
        builds=np.array([names["build"] for names in rows.scopes]),
        on_gpu=share,
        traits=traits,
        guessed=guessed,
    )


def circumstances_of(rows: Rows, part: Alike, few: Floats) -> Circumstances:
    """Circumstances that widen the ranges of rows of the same shape.

    Args:
        rows: all rows.
        part: rows of the same shape.
        few: 1 where few sources have a GPU of the family, of shape (rows,) for all rows.
    """
    timed = [rows.timed[place] for place in part.at]
    read = [row.timed == READ for row in timed]
    works = [
        row.case.prompt if prompt else row.case.work
        for row, prompt in zip(timed, read, strict=True)
    ]
    depths = [
        float(work.cached + work.fresh / 2.0 if prompt else work.decode_depth)
        for work, prompt in zip(works, read, strict=True)
    ]
    ones = np.ones(len(timed))
    return Circumstances(
        on_gpu=bool(part.machine.gpus),
        traits={
            uncertainty.EXPERTS: np.array([float(row.case.model.has_experts) for row in timed]),
            uncertainty.DEEP: np.asarray(uncertainty.depth_reached(np.array(depths))),
            uncertainty.THIN: few[part.at] if part.machine.gpus else 0.0 * ones,
            uncertainty.SEVERAL: float(len(part.machine.gpus) > 1) * ones,
            uncertainty.TOGETHER: np.array([float(np.all(work.users > 1)) for work in works]),
        },
        unmeasured={str(Route.IN_PLACE): np.where(part.ram_stated, 0.0, 1.0)},
    )


def other_sources(rows: Rows) -> Floats:
    """Number of other sources with a GPU of the same family, shape (rows,)."""
    known = sources(rows)
    own = (source_of(timed.row.source_url) for timed in rows.timed)
    pairs = zip(rows.scopes, own, strict=True)
    return np.array([len(known.get(names["gpu"], frozenset()) - {url}) for names, url in pairs])


def sources(rows: Rows) -> Mapping[str, frozenset[str]]:
    """Sources with a GPU of each family, without those of the builds in `APART`."""
    by_family: dict[str, set[str]] = {}
    for names, timed in zip(rows.scopes, rows.timed, strict=True):
        if names["gpu"] and names["build"] not in APART:
            by_family.setdefault(names["gpu"], set()).add(source_of(timed.row.source_url))
    return {family: frozenset(urls) for family, urls in by_family.items()}
