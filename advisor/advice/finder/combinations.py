"""Combinations of machine, runtime, placement and formats that are fast enough, as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.candidates import fleet_of
from advisor.advice.finder.formats import CACHES, SEARCHED, cache_types, tried_in
from advisor.advice.fleet.fleet import Fleet
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime, runtime

STRATEGIES = tuple(PlacementStrategy)
Places = npt.NDArray[np.int_]


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """Setup of a run without its machine, as plain data that can be sent to a worker.

    Attributes:
        runtime: name of the runtime.
        models: model in one or several formats.
        forms: index of each format among those tried.
        work: request; its context may be an array of shape (contexts,).
        caches: cache formats, largest first.
        min_tps: lowest decode speed for each user [tokens/s].
        all_caches: whether smaller cache formats are tried even where a larger one is fast enough.
        skip: indices of candidates to leave out, such as those over the budget.
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
        """Number of combinations per machine: formats x placements x contexts x cache formats."""
        placements = len(runtime(self.runtime).strategies)
        return len(self.forms) * placements * np.size(self.work.context) * len(self.caches)


@dataclass(frozen=True, kw_only=True)
class Combinations:
    """Combinations that are fast enough, each column of shape (rows,).

    Attributes:
        candidate: index of the candidate.
        runtime: index in `NAMES`.
        strategy: index in `STRATEGIES`.
        form: index of the weights' format among those tried.
        cache: index of the cache format in `CACHES`.
        context: context of each user [tokens].
        decode: decode speed for each user [tokens/s].
        low: lower end of its range [tokens/s].
        high: upper end of its range [tokens/s].
        first_token: time to first token [s].
        load: time to read the file from the drive; NaN where unknown [s].
        machines: number of equal machines that together serve all users.
        tried: number of combinations tried.
        costed: number of those that were placed and timed; bounds excluded the others.
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
NAMES = tuple(known.name for known in SEARCHED)


def cases(
    models: Sequence[Model],
    work: Workload,
    runtimes: Iterable[Runtime],
    caches: Sequence[str],
    min_tps: float,
    *,
    all_caches: bool = True,
    skip: tuple[int, ...] = (),
    stated: bool = False,
) -> list[RunSetup]:
    """Setups of all runtimes with all formats of the weights.

    Args:
        models: model in each format.
        work: request.
        runtimes: runtimes to try.
        caches: cache formats; empty for all of each runtime.
        min_tps: lowest speed [tokens/s].
        all_caches: as `RunSetup.all_caches`.
        skip: as `RunSetup.skip`.
        stated: the formats were chosen, so that each runtime tries all of them.
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
        for forms in _together(how, tried_in(how, models, stated=stated))
    ]


def _together(how: Runtime, every: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Formats that are computed in one call, by index."""
    return [every] if how.takes_several_formats else [(form,) for form in every]


def combinations(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """Combinations that are fast enough, each machine in the first placement that fits, the
    fastest.
    """
    candidates, fleet = fleet_of(host)
    parts = [part for case in wanted for part in _of_case(fleet, case)]
    return joined(parts, sum(case.size for case in wanted) * len(candidates))


def joined(parts: Sequence[Combinations], tried: int) -> Combinations:
    """Rows of several combinations, one after the other."""
    costed = sum(part.costed for part in parts)
    if not parts:
        nothing = {name: np.zeros(0, dtype=int) for name in COLUMNS}
        return Combinations(**nothing, tried=tried, costed=costed)
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Combinations(**columns, tried=tried, costed=costed)


def _of_case(fleet: Fleet, case: RunSetup) -> Iterator[Combinations]:
    """Combinations of a setup that are fast enough, for one cache format after the other."""
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
    """Combinations of a setup that are fast enough with one cache format.

    Args:
        fleet: machines.
        case: setup.
        work: request, with contexts of shape (contexts,).
        placed: mask of machines to leave out, shape (formats x contexts, machines).
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
