"""Combinations of machine, runtime, placement and formats that are fast enough, as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.candidates import fleet_of
from advisor.advice.finder.formats import CACHES, cache_types
from advisor.advice.fleet.fleet import Fleet
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import ASIDE, RUNTIMES, Runtime, runtime

STRATEGIES = tuple(PlacementStrategy)
Places = npt.NDArray[np.int_]


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """Setup of a run without its machine, as plain data that can be sent to a worker.

    Attributes:
        runtime: name.
        models: in one format, or in several of those tried.
        forms: place of each format among those tried.
        work: request; its context may be several, shape (contexts,).
        caches: formats of the cache, the largest first.
        min_tps: least tokens generated for each user [tokens/s].
        all_caches: a smaller cache is tried where a larger one is fast enough, too.
        skip: places of candidates that need no answer, as those over the budget.
    """

    runtime: str
    models: tuple[Model, ...]
    forms: tuple[int, ...]
    work: Workload
    caches: tuple[str, ...]
    min_tps: float
    all_caches: bool = True
    skip: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Combinations for each machine: formats, placements, contexts, formats of the cache."""
        placements = len(runtime(self.runtime).strategies)
        return len(self.forms) * placements * np.size(self.work.context) * len(self.caches)


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
        costed: those of them that were placed and timed; bounds ruled the others out.
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
    costed: int = 0

    def at(self, rows: Places | npt.NDArray[np.bool_]) -> "Combinations":
        """Selection of the rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS})


COLUMNS = tuple(
    field.name for field in fields(Combinations) if field.name not in ("tried", "costed")
)
NAMES = tuple(known.name for known in (*RUNTIMES, *ASIDE))


def cases(
    models: Sequence[Model],
    work: Workload,
    runtimes: Iterable[Runtime],
    caches: Sequence[str],
    min_tps: float,
    *,
    all_caches: bool = True,
    skip: tuple[int, ...] = (),
) -> list[RunSetup]:
    """Every runtime with every format of the weights.

    Args:
        models: the model in each format.
        work: request.
        runtimes: which are tried.
        caches: formats of the cache; all that a runtime has where none are given.
        min_tps: least speed [tokens/s].
        all_caches: as `RunSetup.all_caches`.
        skip: as `RunSetup.skip`.
    """
    return [
        RunSetup(
            runtime=how.name,
            models=tuple(models[form] for form in forms),
            forms=forms,
            work=work,
            caches=tuple(sorted(caches, key=CACHES.index)) or cache_types(how),
            min_tps=min_tps,
            all_caches=all_caches,
            skip=skip,
        )
        for how in runtimes
        for forms in _together(how, len(models))
    ]


def _together(how: Runtime, formats: int) -> list[tuple[int, ...]]:
    """Formats that are answered in one call, by their places."""
    every = tuple(range(formats))
    return [every] if how.takes_several_formats else [(form,) for form in every]


def combinations(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """All that is fast enough, each machine in its first placement that fits: others are slower."""
    candidates, fleet = fleet_of(host)
    parts = [part for case in wanted for part in _of_case(fleet, case)]
    return joined(parts, sum(case.size for case in wanted) * len(candidates))


def joined(parts: Sequence[Combinations], tried: int) -> Combinations:
    """Rows of several one after the other."""
    costed = sum(part.costed for part in parts)
    if not parts:
        nothing = {name: np.zeros(0, dtype=int) for name in COLUMNS}
        return Combinations(**nothing, tried=tried, costed=costed)
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Combinations(**columns, tried=tried, costed=costed)


def _of_case(fleet: Fleet, case: RunSetup) -> Iterator[Combinations]:
    """Combinations that are fast enough, one format of the cache after the other."""
    contexts = np.unique(np.asarray(case.work.context, dtype=float))
    reached = np.zeros((len(case.forms) * len(contexts), len(fleet.machines)), dtype=bool)
    reached[:, list(case.skip)] = True
    for kept in case.caches:
        work = replace(case.work, context=contexts, kv_type=kept)
        for request, rows in _in_cache(fleet, case, work, reached.copy()):
            if not case.all_caches:
                reached[request, rows.candidate] = True
            yield rows


def _in_cache(
    fleet: Fleet, case: RunSetup, work: Workload, placed: npt.NDArray[np.bool_]
) -> Iterator[tuple[Places, Combinations]]:
    """Combinations that are fast enough with one format of the cache, each with its request.

    Args:
        fleet: machines.
        case: what is run.
        work: request, with its contexts of shape (contexts,) in order.
        placed: machines that need no answer, shape (formats x contexts, machines).
    """
    how, users = runtime(case.runtime), float(work.users)
    contexts = np.asarray(work.context)
    for at, strategy in enumerate(STRATEGIES):
        if strategy not in how.strategies or placed.all():
            continue
        speeds = fleet.fast_speeds(
            case.models, work, how, strategy, skip=placed, least=case.min_tps
        )
        with np.errstate(invalid="ignore"):
            fast = speeds.fits & ~placed & (speeds.decode >= case.min_tps)
        placed |= speeds.fits
        request, candidate = np.nonzero(fast)
        form, context = np.divmod(request, len(contexts))
        alike = np.ones(len(candidate), dtype=int)
        rows = Combinations(
            candidate=candidate,
            runtime=alike * NAMES.index(how.name),
            strategy=alike * at,
            form=np.array(case.forms)[form],
            cache=alike * CACHES.index(work.kv_type),
            context=contexts[context],
            decode=speeds.decode[fast],
            low=speeds.low[fast],
            high=speeds.high[fast],
            first_token=speeds.first_token[fast],
            load=speeds.load[fast],
            machines=np.ceil(users / (users - speeds.waiting[fast])),
            tried=0,
            costed=int(np.count_nonzero(~np.isnan(speeds.decode))),
        )
        yield request, rows
