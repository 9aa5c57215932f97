"""Combinations of machine, runtime, placement and formats that are fast enough, as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.candidates import fleet_of
from advisor.advice.finder.formats import CACHES, cache_types
from advisor.advice.fleet import Fleet
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import ASIDE, RUNTIMES, Runtime, runtime

STRATEGIES = tuple(PlacementStrategy)
Places = npt.NDArray[np.int_]


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """What is run, apart from the machine: all of it plain, so that it can travel.

    Attributes:
        runtime: name.
        model: in one format.
        form: place of that format among those tried.
        work: with one format of the cache; its context may be several, shape (contexts,).
        min_tps: least tokens generated for each user [tokens/s].
    """

    runtime: str
    model: Model
    form: int
    work: Workload
    min_tps: float


@dataclass(frozen=True, kw_only=True)
class Combinations:
    """Combinations that are fast enough, each column of shape (rows,).

    Attributes:
        candidate: place among the candidates.
        runtime: place in `NAMES`.
        strategy: place in `STRATEGIES`.
        form: place of the weights' format among those tried.
        cache: place of the cache's format in `CACHES`.
        context: cache for each user [tokens].
        decode: tokens generated for each user [tokens/s].
        low: lower end of its range [tokens/s].
        high: upper end of its range [tokens/s].
        first_token: until the first token comes [s].
        load: to read the file from the drive; not a number where not known [s].
        machines: alike, that answer all users at the same time.
        tried: combinations that were answered for these.
    """

    candidate: Places
    runtime: Places
    strategy: Places
    form: Places
    cache: Places
    context: Floats
    decode: Floats
    low: Floats
    high: Floats
    first_token: Floats
    load: Floats
    machines: Floats
    tried: int

    def at(self, rows: Places | npt.NDArray[np.bool_]) -> "Combinations":
        """Some of them."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS})


COLUMNS = tuple(field.name for field in fields(Combinations) if field.name != "tried")
NAMES = tuple(known.name for known in (*RUNTIMES, *ASIDE))


def cases(
    models: Sequence[Model],
    work: Workload,
    runtimes: Iterable[Runtime],
    caches: Sequence[str],
    min_tps: float,
) -> list[RunSetup]:
    """Every runtime with every format of weights and cache that it takes.

    Args:
        models: the model in each format.
        work: the request.
        runtimes: which are tried.
        caches: formats of the cache; all that a runtime has where none are given.
        min_tps: least speed [tokens/s].
    """
    return [
        RunSetup(
            runtime=how.name,
            model=model,
            form=form,
            work=replace(work, kv_type=kept),
            min_tps=min_tps,
        )
        for how in runtimes
        for form, model in enumerate(models)
        for kept in caches or cache_types(how)
    ]


def combinations(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """All that is fast enough, each machine in its first placement that fits: others are slower."""
    tried, fleet = fleet_of(host)
    parts = [part for case in wanted for part in _of_case(fleet, case)]
    answered = sum(
        len(runtime(case.runtime).strategies) * np.size(case.work.context) for case in wanted
    )
    return joined(parts, answered * len(tried))


def joined(parts: Sequence[Combinations], tried: int) -> Combinations:
    """Rows of several one after the other."""
    if not parts:
        return Combinations(**{name: np.zeros(0, dtype=int) for name in COLUMNS}, tried=tried)
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Combinations(**columns, tried=tried)


def _of_case(fleet: Fleet, case: RunSetup) -> Iterator[Combinations]:
    how = runtime(case.runtime)
    contexts = np.atleast_1d(np.asarray(case.work.context, dtype=float))
    work, users = replace(case.work, context=contexts), float(case.work.users)
    placed = np.zeros((len(contexts), len(fleet.machines)), dtype=bool)
    for at, strategy in enumerate(STRATEGIES):
        if strategy not in how.strategies or placed.all():
            continue
        speeds = fleet.speeds(case.model, work, how, strategy, skip=placed, as_requested=True)
        with np.errstate(invalid="ignore"):
            fast = speeds.fits & ~placed & (speeds.decode >= case.min_tps)
        placed |= speeds.fits
        context, candidate = np.nonzero(fast)
        alike = np.ones(len(candidate), dtype=int)
        yield Combinations(
            candidate=candidate,
            runtime=alike * NAMES.index(how.name),
            strategy=alike * at,
            form=alike * case.form,
            cache=alike * CACHES.index(case.work.kv_type),
            context=contexts[context],
            decode=speeds.decode[fast],
            low=speeds.low[fast],
            high=speeds.high[fast],
            first_token=speeds.first_token[fast],
            load=speeds.load[fast],
            machines=np.ceil(users / (users - speeds.waiting[fast])),
            tried=0,
        )
