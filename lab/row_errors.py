"""Errors of rows that were predicted without their source, and what their ranges depend on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.cost_model import uncertainty
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import SPLIT, TRAITS, UNKNOWN, Circumstances
from advisor.model.architecture import operators, together
from advisor.model.model import Floats
from lab.held_out import READ
from lab.llama_cpp import APART, LlamaFit, Rows, left_out_with, whole_architectures
from lab.stack import Stack

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Errors:
    """Errors of rows predicted without their source; arrays of shape (rows,)."""

    off: Floats  # log(measured speed / predicted speed), predicted without the publisher
    new: Floats  # the same, predicted without any model of the same kinds of layers
    # these kinds as one name; empty where they are too common to be left out
    kinds: npt.NDArray[np.str_]
    groups: npt.NDArray[np.str_]  # group of each row: publisher and hardware
    # publisher of each row; for LocalScore, with its many people, the group
    publishers: npt.NDArray[np.str_]
    backends: npt.NDArray[np.str_]  # backend of the runtime
    builds: npt.NDArray[np.str_]  # build of the runtime
    on_gpu: Floats  # share of the time taken by GPUs and their link; the processor takes the rest
    traits: Mapping[str, Floats]  # degree to which each of `uncertainty.TRAITS` applies, 0 to 1
    guessed: Floats  # 1 where the RAM rate is not known, else 0

    def of(self, rows: Mask) -> "Errors":
        """Errors of some of the rows."""
        traits = {name: values[rows] for name, values in self.traits.items()}
        names = (field.name for field in fields(self) if field.name != "traits")
        return Errors(traits=traits, **{name: getattr(self, name)[rows] for name in names})

    @cached_property
    def weights(self) -> Floats:
        """Weights, with the number of publishers as sum: every publisher weighs the same, and of
        its machines each.
        """
        return equal_weights(self.publishers, self.groups)

    def groups_of(self, rows: Mask) -> int:
        """Number of groups among some rows."""
        return len(set(self.groups[rows].tolist()))


def equal_weights(publishers: npt.NDArray[np.str_], groups: npt.NDArray[np.str_]) -> Floats:
    """Weight of each row: 1 over the rows of its group and the groups of its publisher."""
    sizes = Counter(groups.tolist())
    pairs = set(zip(publishers.tolist(), groups.tolist(), strict=True))
    machines = Counter(publisher for publisher, _ in pairs)
    return np.array(
        [
            1.0 / (sizes[group] * machines[publisher])
            for publisher, group in zip(publishers.tolist(), groups.tolist(), strict=True)
        ]
    )


def errors(done: LlamaFit, taught: Rows | None = None) -> Errors:
    """Errors of all rows, predicted by the fit without their publisher; where `taught` is given,
    only these rows' publishers count as evidence.
    """
    rows, fitted = done.rows, done.fit.task.values(done.fit.logs)
    share = np.ones(len(rows.timed))
    guessed = np.zeros(len(rows.timed))
    traits = {trait: np.zeros(len(rows.timed)) for trait in TRAITS if trait not in (SPLIT, UNKNOWN)}
    few = other_evidence(rows, taught)
    for part in rows.stacks:
        run = circumstances_of(rows, part, few)
        time = part.time(rows.columns(fitted, part))
        share[part.at] = uncertainty.on_gpu(time, run)
        guessed[part.at] = run.unmeasured[Route.IN_PLACE]
        for trait, values in traits.items():
            values[part.at] = run.traits[trait]
    return Errors(
        off=np.log(done.held_out / rows.seconds),
        new=np.log(done.without_kinds / rows.seconds),
        kinds=np.array(whole_architectures(rows)),
        groups=np.array(rows.groups),
        publishers=np.array(left_out_with(rows)),
        backends=rows.column("backend"),
        builds=rows.column("build"),
        on_gpu=share,
        traits=traits,
        guessed=guessed,
    )


def circumstances_of(rows: Rows, part: Stack, few: Mapping[str, Floats]) -> Circumstances:
    """Circumstances that widen the ranges of rows of the same shape."""
    timed = [rows.timed[place] for place in part.at]
    read = [row.timed == READ for row in timed]
    works = [
        row.case.prompt if prompt else row.case.work
        for row, prompt in zip(timed, read, strict=True)
    ]
    fresh = [
        float(work.fresh) if prompt else np.inf for work, prompt in zip(works, read, strict=True)
    ]
    ones = np.ones(len(timed))
    return Circumstances(
        on_gpu=bool(part.machine.gpus),
        traits={
            uncertainty.THIN: few[uncertainty.THIN][part.at] * bool(part.machine.gpus),
            uncertainty.OPERATOR: few[uncertainty.OPERATOR][part.at],
            uncertainty.NEW: few[uncertainty.NEW][part.at],
            uncertainty.SEVERAL: float(len(part.machine.gpus) > 1) * ones,
            uncertainty.TOGETHER: np.array([float(np.all(work.users > 1)) for work in works]),
            uncertainty.SERVED: np.array(read)
            * np.array([float(not work.bench) for work in works]),
            uncertainty.SHORT: np.asarray(uncertainty.shortness(np.array(fresh))),
        },
        unmeasured={str(Route.IN_PLACE): np.where(part.ram_stated, 0.0, 1.0)},
    )


def other_evidence(rows: Rows, taught: Rows | None = None) -> Mapping[str, Floats]:
    """Degrees of the traits that count publishers, without each row's own, of shape (rows,)."""
    taught = taught or rows
    counted = layer_publishers(taught)
    rare, unseen = np.zeros(len(rows.timed)), np.zeros(len(rows.timed))
    pairs = zip(rows.timed, left_out_with(rows), strict=True)
    for place, (row, publisher) in enumerate(pairs):
        backend = row.scope["backend"]
        kinds = operators(row.case.model.architecture)

        def others(kind: str, backend: str, own: str = publisher) -> int:
            return len(counted.get((kind, backend), frozenset()) - {own})

        rare[place] = min((others(kind, backend) for kind in kinds), default=0)
        unseen[place] = others(together(kinds), "")
    return {
        uncertainty.THIN: uncertainty.rarity(other_sources(rows, taught)),
        uncertainty.OPERATOR: uncertainty.rarity(rare),
        uncertainty.NEW: uncertainty.rarity(unseen),
    }


def layer_publishers(rows: Rows) -> Mapping[tuple[str, str], frozenset[str]]:
    """Publishers of each kind of layer by backend, and of kinds together on any backend ("")."""
    counted: dict[tuple[str, str], set[str]] = {}
    for row, publisher in zip(rows.timed, left_out_with(rows), strict=True):
        kinds = operators(row.case.model.architecture)
        for key in ((together(kinds), ""), *((kind, row.scope["backend"]) for kind in kinds)):
            counted.setdefault(key, set()).add(publisher)
    return {key: frozenset(names) for key, names in counted.items()}


def other_sources(rows: Rows, taught: Rows) -> Floats:
    """Number of other sources among `taught` with a GPU of the same family, shape (rows,)."""
    by_family = sources(taught)
    families = ((by_family.get(row.scope["family"], frozenset()), row) for row in rows.timed)
    return np.array([len(names - {row.publisher}) for names, row in families])


def sources(rows: Rows) -> Mapping[str, frozenset[str]]:
    """Sources with a GPU of each family, without those of the builds in `APART`."""
    by_family: dict[str, set[str]] = {}
    for row in rows.timed:
        if row.scope["family"] and row.scope["build"] not in APART:
            by_family.setdefault(row.scope["family"], set()).add(row.publisher)
    return {family: frozenset(urls) for family, urls in by_family.items()}
