"""Estimates of many machines from the placements of a few, and the arrangements of their GPUs.

A runtime places by memory size alone: some 40 sizes represent all GPUs. Placement and schedule
are computed once per size, the times then for each GPU by the same functions.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from advisor.advice.speeds import COLUMNS, Mask, Speeds
from advisor.catalog.constants import Constants
from advisor.cost_model.arrangement import Arrangement
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.lazy import lazy
from advisor.machine.machine import Machine
from advisor.model.formats import Format
from advisor.model.model import Floats, Model

Part = TypeVar("Part")
PLAIN = frozenset({float, int, bool, str, type(None), frozenset, Model})
"""Types without a value per machine; a model that drafts is the same on all."""
Index = npt.NDArray[np.int_]


def on_machines(
    plan: Estimate, model: Model, machine: Machine, index: Index, constants: Constants
) -> Estimate:
    """Estimate of many machines, by the placements and schedules of one machine for each memory
    size.

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
    """Copy of a record with each array along a plan's machines indexed.

    The record is made of dataclasses, tuples and mappings of numbers.
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


# Arrangements: a machine with fewer GPUs, or a copy's part of it, is a machine, too. Most of them
# are compared anyway; the others stand behind those that are. `runtimes.compare` does the same for
# a single machine.

Groups = tuple[tuple[int, ...], ...]
MOST_COPIES = 64  # copies from which more users change no arrangement


@dataclass(frozen=True)
class Wanted:
    """Machines that are to be timed."""

    skip: Mask  # machines that are left out, shape (..., machines)
    least: Floats  # speed below which one may be as if the model did not fit [tokens/s]
    bounded: bool = False  # weights lie outside the GPUs, whose rate bounds the tokens


Timed = Callable[[Workload, Wanted], Speeds]
"""Speeds of a request with all GPUs of each machine as one."""


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Other arrangements of the GPUs of machines, at most one of each machine."""

    copies: int  # copies of the model; 1 for fewer GPUs
    machine: Index  # index of each machine
    part: Index  # index of the machine that a copy sees
    groups: Sequence[Groups]  # GPUs of each copy, as an arrangement has them


Pattern = tuple[tuple[Groups, ...], tuple[Groups, ...]]
"""Fewer GPUs, and parts of equal size with as many copies as there is room for."""


class Arrangements:
    """Arrangements of the machines of a stack, each with the place of its machine in the stack."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.further: list[Machine] = []  # parts that are no machine of the stack
        self._fewer: list[tuple[int, int, Groups]] = []  # machine, part and GPUs
        self._beside: list[tuple[int, int, Groups]] = []
        places: dict[Hashable, int] = {}
        for at, machine in enumerate(machines):
            places.setdefault(_key(machine, range(len(machine.gpus))), at)
        patterns: dict[tuple[int, int], Pattern] = {}
        for at, machine in enumerate(machines):
            if len(machine.gpus) > 1:
                fewer_gpus, equal = _pattern(machine, patterns)
                for rows, each in ((self._fewer, fewer_gpus), (self._beside, equal)):
                    for groups in each:
                        key = _key(machine, groups[0])
                        if key not in places:
                            places[key] = len(machines) + len(self.further)
                            part = Arrangement(machine=machine, groups=groups).part
                            self.further.append(part)
                        rows.append((at, places[key], groups))
        self._for_users: dict[int, tuple[Alternatives, ...]] = {}

    @lazy
    def fewer(self) -> tuple[Alternatives, ...]:
        """Arrangements with some of the GPUs."""
        return tuple(_in_turns(self._fewer))

    def beside(self, users: float) -> tuple[Alternatives, ...]:
        """Arrangements with copies side by side, for as many users."""
        most = min(int(users), MOST_COPIES)
        if most not in self._for_users:
            rows = [(at, part, groups[:most]) for at, part, groups in self._beside]
            self._for_users[most] = tuple(_in_turns(rows))
        return self._for_users[most]


def _key(machine: Machine, cards: Iterable[int]) -> Hashable:
    """Parts by which a machine with some of the GPUs is told from others of the same stack."""
    gpus = tuple([id(machine.gpus[card]) for card in cards])
    nodes = max(1, len(gpus) * machine.nodes // max(len(machine.gpus), 1))
    return (gpus, nodes, id(machine.host), id(machine.disk), machine.name)


def _pattern(machine: Machine, patterns: dict[tuple[int, int], Pattern]) -> Pattern:
    """Arrangements of a machine by the positions of its GPUs, computed once for equal GPUs of one
    number.
    """
    gpus = machine.gpus
    key = (len(gpus), machine.nodes)
    alike = all(gpu is gpus[0] for gpu in gpus)
    if alike and key in patterns:
        return patterns[key]
    fewer_gpus = tuple((cards,) for cards in Arrangement.some(gpus, machine.nodes))
    pattern = (fewer_gpus, tuple(Arrangement.equal_parts(gpus, machine.nodes)))
    if alike:
        patterns[key] = pattern
    return pattern


def _in_turns(rows: Iterable[tuple[int, int, Groups]]) -> Iterator[Alternatives]:
    """Arrangements of machines, a turn for each number of copies and each of a machine."""
    turns: dict[tuple[int, int], list[tuple[int, int, Groups]]] = defaultdict(list)
    turn = 0
    before = -1
    for row in rows:
        at, _, groups = row
        turn = turn + 1 if at == before else 0
        before = at
        turns[len(groups), turn].append(row)
    for (copies, _), of_turn in turns.items():
        yield Alternatives(
            copies=copies,
            machine=np.array([at for at, _, _ in of_turn]),
            part=np.array([part for _, part, _ in of_turn]),
            groups=[groups for _, _, groups in of_turn],
        )


def alternatives(
    arrangements: Arrangements, runtime: Runtime, strategy: PlacementStrategy, work: Workload
) -> tuple[Alternatives, ...]:
    """Arrangements that a runtime can have in a placement, besides all GPUs as one."""
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    if not resident or runtime.alone or work.draft or float(work.users) < 2:
        return arrangements.fewer
    return (*arrangements.beside(float(work.users)), *arrangements.fewer)


def best_arranged(
    machines: Sequence[Machine],
    others: Sequence[Alternatives],
    work: Workload,
    wanted: Wanted,
    timed: Timed,
) -> Speeds:
    """Speeds of the wanted machines in the arrangement of GPUs that answers most.

    Parts of machines follow the machines in the arrays and are not shown.
    """
    shown = wanted.skip.shape[-1]
    wanted = _with_unwanted_parts(len(machines) - shown, wanted)
    if wanted.bounded:
        by_share = {_share(work, 1): _with_able_parts(others, work, wanted, timed)}
    else:
        by_share = _by_share(others, work, wanted, timed)
    whole = by_share[_share(work, 1)]
    best = whole.of_first(shown)
    most = Arrangement.WORTH * answers_per_second(whole, work, 1)
    for each in others:
        part = by_share[_share(work, each.copies)]
        done = answers_per_second(part, work, each.copies)[..., each.part]
        better = done > most[..., each.machine]
        better &= _no_worse(part, whole, each) | ~whole.fits[..., each.machine]
        better &= ~wanted.skip[..., each.machine]
        if better.any():
            most[..., each.machine] = np.where(better, done, most[..., each.machine])
            _take_over(best, part, each, better, machines)
            _count_waiting(best, part, each, better, work)
    return best


def _by_share(
    others: Sequence[Alternatives], work: Workload, wanted: Wanted, timed: Timed
) -> dict[float, Speeds]:
    """Speeds of the wanted machines and all parts of them, by the users of a copy."""
    none = replace(wanted, skip=np.ones_like(wanted.skip))
    by_share: dict[float, Speeds] = {}
    for share in {_share(work, each.copies) for each in others} | {_share(work, 1)}:
        alike = [each for each in others if _share(work, each.copies) == share]
        alone = share < _share(work, 1)
        parts = _with_parts(alike, none if alone else wanted, wanted)
        by_share[share] = timed(work.with_numbers(users=share), parts)
    return by_share


def _with_able_parts(
    others: Sequence[Alternatives], work: Workload, wanted: Wanted, timed: Timed
) -> Speeds:
    """Speeds with weights outside the GPUs: of the wanted machines, then of those parts of them
    that could answer more by the bound on their tokens.

    S > w A n / U, with A the answers a second of all GPUs as one, w the gain from which another
    arrangement is worth its command, n the tokens of a reply and U the users: A is at most U S / n.
    """
    whole = timed(work, wanted)
    answered = answers_per_second(whole, work, 1)
    needed = Arrangement.WORTH * answered * float(work.output) / float(work.users)
    needed = np.where(wanted.skip, np.inf, np.maximum(needed, wanted.least))
    needed = needed.reshape(-1, needed.shape[-1]).min(axis=0)
    none = Wanted(np.ones_like(wanted.skip), np.full_like(needed, np.inf))
    parts = _with_parts(others, none, Wanted(wanted.skip, needed))
    timed_before = ~wanted.skip & (wanted.least <= parts.least)
    parts = replace(parts, skip=parts.skip | timed_before)
    if parts.skip.all():
        return whole
    return whole.joined(timed(work, parts), ~parts.skip)


def _no_worse(part: Speeds, whole: Speeds, each: Alternatives) -> Mask:
    """Parts whose format loses no more than that of all GPUs as one, shape (alternatives,)."""
    pairs = zip(part.formats[each.part], whole.formats[each.machine], strict=True)
    return np.array([a == b or bool(a and b and Format.no_worse(a, b)) for a, b in pairs])


def _with_unwanted_parts(parts: int, wanted: Wanted) -> Wanted:
    """Wanted machines, followed by parts of them, of which no part is wanted."""
    skip = np.ones((*wanted.skip.shape[:-1], parts), dtype=bool)
    return replace(
        wanted,
        skip=np.concatenate([wanted.skip, skip], axis=-1),
        least=np.concatenate([wanted.least, np.full(parts, np.inf)]),
    )


def _share(work: Workload, copies: int) -> float:
    """Users of the copy that has the most."""
    return float(np.ceil(float(work.users) / copies))


def _with_parts(others: Sequence[Alternatives], alone: Wanted, wanted: Wanted) -> Wanted:
    """Wanted machines of `alone`, with the parts of the machines in `wanted`."""
    skip = alone.skip.copy()
    least = alone.least.copy()
    for each in others:
        np.logical_and.at(skip.T, each.part, wanted.skip[..., each.machine].T)
        np.minimum.at(least, each.part, wanted.least[each.machine])
    return Wanted(skip, least)


def answers_per_second(speeds: Speeds, work: Workload, copies: int) -> Floats:
    """Answers per second of all users who run, on a number of copies; 0 where none runs [1/s]."""
    users = _running(speeds, work, copies)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = users / (speeds.first_token + float(work.output) / speeds.decode)
    return np.where(speeds.fits, np.nan_to_num(each), 0.0)


def _running(speeds: Speeds, work: Workload, copies: int) -> Floats:
    """Users whom all copies answer at a time."""
    users = float(work.users)
    of_each = _share(work, copies) - np.nan_to_num(speeds.waiting)
    return np.minimum(users, copies * of_each)


def _take_over(
    best: Speeds, part: Speeds, each: Alternatives, better: Mask, machines: Sequence[Machine]
) -> None:
    """Take over speeds of parts, with the arrangement that they are of."""
    *rows, chosen = np.nonzero(better)
    to = (*rows, each.machine[chosen])
    of = (*rows, each.part[chosen])
    for name in ("fits", *COLUMNS):
        getattr(best, name)[to] = getattr(part, name)[of]
    best.formats[each.machine[chosen]] = part.formats[each.part[chosen]]
    words = {
        at: Arrangement(machine=machines[each.machine[at]], groups=each.groups[at]).words
        for at in np.unique(chosen)
    }
    best.arrangements[to] = [words[at] for at in chosen]


def _count_waiting(
    best: Speeds, part: Speeds, each: Alternatives, better: Mask, work: Workload
) -> None:
    """Count the users in the queue over all copies."""
    *rows, chosen = np.nonzero(better)
    waiting = float(work.users) - _running(part, work, each.copies)
    best.waiting[(*rows, each.machine[chosen])] = waiting[(*rows, each.part[chosen])]
