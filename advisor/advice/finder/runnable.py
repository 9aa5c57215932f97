"""Models that run well on a machine, each in its best format and placement there.

The best format is the one with the smallest loss that still reaches reading speed; if none does,
the fastest. Models at reading speed come first, ordered by score less the loss of the format, then
slower ones likewise. Models without a published score are listed separately, by speed.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.advice.compare import could_hold
from advisor.advice.finder.quality import QualityRow, lost_by, quality_rows
from advisor.advice.speeds import Speed, speed_of
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.by_name.native_formats import USUAL, native_format, usual_format
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, Runtime

FORMATS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""Formats that are tried, smallest loss first."""
CONTEXTS = (131_072, 65_536, 32_768, 16_384, 8192, 4096)
"""Contexts that are tried, longest first [tokens]."""


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """Model that runs on the machine.

    Attributes:
        model: model in its best format.
        runtime: runtime.
        speed: speed in its best placement.
        context: longest of `CONTEXTS` that fits in that placement [tokens].
        quality: published score of the model in 16 bits; None without one.
        lost: points that the format loses; None where no loss is published.
        keeps_up: whether it reaches reading speed.
    """

    model: Model
    runtime: Runtime
    speed: Speed
    context: float
    quality: QualityRow | None
    lost: float | None
    keeps_up: bool

    @property
    def score(self) -> float | None:
        """Published score less what the format loses; None without a published score."""
        return None if self.quality is None else self.quality.score - (self.lost or 0.0)


def runnable(
    machine: Machine,
    work: Workload,
    *,
    reading_tps: float,
    names: Iterable[str] = (),
    runtime: Runtime = LLAMA_CPP,
) -> list[Runnable]:
    """Models that run on the machine, in the order given above.

    Args:
        machine: machine.
        work: the request; its context must fit.
        reading_tps: reading speed [tokens/s].
        names: names of the models to try; empty for all in the catalogue.
        runtime: runtime.
    """
    best = (
        _best(_formats(name), machine, work, runtime, reading_tps)
        for name in names or catalog.model_rows()
    )
    return sorted(filter(None, best), key=_order)


def _formats(name: str) -> Iterator[Model]:
    """Model in each format, the publisher's own first."""
    own = usual_format(native_format(name))
    for form in dict.fromkeys((*((own,) if own != USUAL else ()), *FORMATS)):
        with suppress(Refusal):
            yield catalog.model(name, form)


def _order(row: Runnable) -> tuple[bool, bool, float, float]:
    return (row.quality is None, not row.keeps_up, -(row.score or 0.0), -row.speed.decode)


def _best(
    forms: Iterable[Model], machine: Machine, work: Workload, runtime: Runtime, reading_tps: float
) -> Runnable | None:
    fastest, reached = None, 0.0
    for model in forms:
        trial = _trial(model, machine, work, runtime)
        if trial is None or trial.decode_tps is None:
            continue
        if fastest is None or float(trial.decode_tps) > reached:
            fastest, reached = trial, float(trial.decode_tps)
        if reached >= reading_tps:
            break
    speed = None if fastest is None else speed_of(fastest)
    if fastest is None or speed is None:
        return None
    model = fastest.model
    return Runnable(
        model=model,
        runtime=runtime,
        speed=speed,
        context=_longest(model, machine, work, runtime, speed),
        quality=quality_rows().get(model.name),
        lost=lost_by(model),
        keeps_up=speed.decode >= reading_tps,
    )


def _trial(model: Model, machine: Machine, work: Workload, runtime: Runtime) -> Estimate | None:
    """Estimate in the first placement that fits, which is the fastest."""
    for strategy in runtime.strategies:
        if strategy is PlacementStrategy.GPU_RESIDENT and not could_hold(model, machine):
            continue
        trial = estimate(model, machine, work, runtime, strategy, fitted_constants())
        if bool(trial.fits):
            return trial
    return None


def _longest(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, speed: Speed
) -> float:
    """Longest context that fits in the same placement, at most the model's own [tokens]."""
    most = model.architecture.max_context or CONTEXTS[0]
    sizes = [size for size in CONTEXTS if float(work.context) < size <= most]
    for context in sizes:
        longer = replace(work, context=context)
        trial = estimate(model, machine, longer, runtime, speed.strategy, fitted_constants())
        if bool(trial.fits):
            return float(context)
    return float(min(work.context, most))
