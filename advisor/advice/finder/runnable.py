"""What runs well on one machine: for each model its best format and placement there.

Best is the format that loses least among those read at least as fast as a person reads; where none
is, the fastest. Models that keep up with a reader come first, by their score; then slower ones, by
score. Models without a published score are listed apart, by speed.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.advice.quality import QualityRow, quality_rows
from advisor.advice.speeds import Speed, speed_of
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.model.native_formats import USUAL, native_format, usual_format
from advisor.runtimes import LLAMA_CPP, Runtime

FORMATS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
"""Formats that are tried, the one that loses least first."""
CONTEXTS = (131_072, 65_536, 32_768, 16_384, 8192, 4096)
"""Contexts that are tried, the longest first [tokens]."""


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """One model on the machine.

    Attributes:
        model: in the format it would have.
        runtime: that runs it.
        speed: what it reaches.
        context: the longest of `CONTEXTS` that fits in the same placement [tokens].
        quality: its score; None where no leaderboard has one.
        keeps_up: a reader need not wait for it.
    """

    model: Model
    runtime: Runtime
    speed: Speed
    context: float
    quality: QualityRow | None
    keeps_up: bool


def runnable(
    machine: Machine,
    work: Workload,
    *,
    reading_tps: float,
    names: Iterable[str] = (),
    runtime: Runtime = LLAMA_CPP,
) -> list[Runnable]:
    """Every model that runs here, in the order that the module's docstring states.

    Args:
        machine: where.
        work: the request; its context must fit.
        reading_tps: from which speed on a reader need not wait [tokens/s].
        names: models to try; all curated ones where none are given.
        runtime: that runs them.
    """
    best = (
        _best(_formats(name), machine, work, runtime, reading_tps)
        for name in names or catalog.model_rows()
    )
    return sorted(filter(None, best), key=_order)


def _formats(name: str) -> Iterator[Model]:
    """A model in each format, its makers' own first."""
    own = usual_format(native_format(name))
    for form in dict.fromkeys((*((own,) if own != USUAL else ()), *FORMATS)):
        with suppress(Refusal):
            yield catalog.model(name, form)


def _order(row: Runnable) -> tuple[bool, bool, float, float]:
    score = row.quality.score if row.quality else 0.0
    return (row.quality is None, not row.keeps_up, -score, -row.speed.decode)


def _best(
    forms: Iterable[Model], machine: Machine, work: Workload, runtime: Runtime, reading_tps: float
) -> Runnable | None:
    fastest: tuple[Model, Speed] | None = None
    for model in forms:
        speed = _speed(model, machine, work, runtime)
        if speed is None:
            continue
        if fastest is None or speed.decode > fastest[1].decode:
            fastest = (model, speed)
        if speed.decode >= reading_tps:
            break
    if fastest is None:
        return None
    model, speed = fastest
    return Runnable(
        model=model,
        runtime=runtime,
        speed=speed,
        context=_longest(model, machine, work, runtime, speed),
        quality=quality_rows().get(model.name),
        keeps_up=speed.decode >= reading_tps,
    )


def _speed(model: Model, machine: Machine, work: Workload, runtime: Runtime) -> Speed | None:
    """The first placement that fits: the next are slower."""
    for strategy in runtime.strategies:
        if strategy is PlacementStrategy.GPU_RESIDENT and not _could_hold(model, machine):
            continue
        trial = estimate(model, machine, work, runtime, strategy, fitted_constants())
        if bool(trial.fits):
            return speed_of(trial)
    return None


def _could_hold(model: Model, machine: Machine) -> bool:
    """The GPUs are as large as the weights, so that it is worth looking."""
    room = sum(float(gpu.memory.value) for gpu in machine.gpus)
    return room >= model.file_bytes - model.embedding


def _longest(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, speed: Speed
) -> float:
    """The longest context that fits in the same placement [tokens]."""
    most = model.architecture.max_context or CONTEXTS[0]
    sizes = [size for size in CONTEXTS if float(work.context) < size <= most]
    for context in sizes:
        longer = replace(work, context=context)
        trial = estimate(model, machine, longer, runtime, speed.strategy, fitted_constants())
        if bool(trial.fits):
            return float(context)
    return float(work.context)
