"""Estimates of machines of a kind, stacked as one, for one request or several at once.

Several layouts keep the arrays small. One request has numbers of shape (machines,), or (numbers of
cards, cards). Of several requests those for a whole model in GPUs have shape (requests, 1) beside
(machines,), since memory only decides whether it fits. If a part is elsewhere, the placement
depends on the memory size: it is computed once for each request and size, and then used for each
machine of that size.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.fleet.speed_bounds import may_hold, may_reach
from advisor.catalog.constant_views import PickedConstants
from advisor.catalog.constants import Constants, fitted_constants
from advisor.cost_model.conditions import bound_to_node, conditioned, scope_of
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.many_machines import Index, on_machines, taken
from advisor.cost_model.measured_constants import constants_on
from advisor.cost_model.placement import Placement, PlacementStrategy, by_share
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.many_formats import layers_together, picked
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime
from advisor.units import Array

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Machines of a kind as one.

    Attributes:
        machine: all machines as one, each figure of shape (machines,); for several numbers of cards
            of shape (cards,), beside numbers of cards of shape (numbers, 1).
        backend: backends of the machines, as `backends.of_machine` gives them.
        places: indices of each machine in an estimate's numbers, of shape (machines,) each.
        sizes: one machine for each size of memory, each figure of shape (sizes,).
        size_count: number of sizes of memory.
        size: index of each machine's size in `sizes`, shape (machines,).
    """

    machine: Machine
    backend: str
    places: tuple[Index, ...]
    sizes: Machine
    size_count: int
    size: Index

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of an estimate's numbers for one request."""
        return tuple(int(place.max()) + 1 for place in self.places)

    def each(self, numbers: Array | Mask) -> npt.NDArray[Any]:
        """Numbers of an estimate by machine, shape (requests, machines)."""
        whole = np.broadcast_to(numbers, (*np.shape(numbers)[: -len(self.shape)], *self.shape))
        return np.atleast_2d(whole[np.index_exp[...] + self.places])

    @cached_property
    def latest(self) -> dict[str, tuple[Hashable, Estimate]]:
        """Latest estimate of a whole model by runtime, with its request, for `_together`."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Runs on a stack of machines: one request, or several that differ in context and format.

    Attributes:
        model: model in the format that the runtime runs, or in one for each request, as
            `many_formats.in_many_formats` has it.
        work: request.
        contexts: context of each request, shape (requests,) [tokens].
        runtime: runtime of all requests.
        strategy: placement of the model.
        least: speed below which a machine may be left out, a number or of shape (machines,)
            [tokens/s].
    """

    model: Model
    work: Workload
    contexts: Floats
    runtime: Runtime
    strategy: PlacementStrategy
    least: Array = 0.0

    @property
    def resident(self) -> bool:
        """Whether the GPUs hold the whole model."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT

    @cached_property
    def beside_machines(self) -> tuple[Model, Workload]:
        """Model and request with numbers of shape (requests, 1); those of one as they are."""
        if len(self.contexts) == 1:
            return picked(self.model, 0), self.work.with_numbers(context=float(self.contexts[0]))
        return picked(self.model, np.s_[:, None]), self.work.with_numbers(
            context=self.contexts[:, None]
        )

    def at(self, rows: Index) -> tuple[Model, Workload]:
        """Model and request with numbers of some requests, shape (rows,)."""
        return picked(self.model, rows), self.work.with_numbers(context=self.contexts[rows])

    def constants(self, stack: Stack) -> Constants:
        """Constants in the scope of the estimates on a stack."""
        scope = scope_of(self.model, stack.machine, self.runtime, stack.backend, "")
        there = constants_on(stack.machine.host, self.model, fitted_constants().bound(scope))
        return conditioned(there, stack.machine, self.runtime, self.model)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Pairs of request and machine that an estimate answers.

    Attributes:
        request: index of each pair's request, shape (pairs,).
        machine: index of each pair's machine, shape (pairs,).
        estimate: estimate whose numbers are of shape (pairs,), or of `shape`.
        fits: whether every memory is large enough, of the same shape.
        shape: shape of the estimate's numbers where it is of all requests and machines; None where
            it is of the pairs.
        places: indices of each pair in that shape.
    """

    request: Index
    machine: Index
    estimate: Estimate
    fits: Mask
    shape: tuple[int, ...] | None = None
    places: tuple[Index, ...] = ()

    def of_pairs(self, numbers: Any) -> Any:
        """Numbers of the estimate, shape (pairs,)."""
        if self.shape is None:
            return np.broadcast_to(numbers, self.request.shape)
        return np.broadcast_to(numbers, self.shape)[self.places]


def estimates(stack: Stack, run: Run, wanted: Mask) -> Iterator[Answered]:
    """Estimates of a stack where it may fit and be fast enough.

    Args:
        stack: machines of a kind.
        run: requests, runtime and placement.
        wanted: machines whose answer matters, shape (requests, machines).
    """
    bound = bound_to_node(stack.machine, run.runtime)
    stack = stack if bound is stack.machine else replace(stack, machine=bound)
    needed = wanted & _possible(stack, run)
    if not needed.any():
        return
    request, machine = np.nonzero(needed)
    single = len(run.contexts) == 1
    if run.runtime.apart is not None or not (single or run.resident):
        yield from _by_size(stack, run, request, machine)
        return
    whole, fits = _together(stack, run)
    shape = stack.shape if single else needed.shape
    places = tuple(place[machine] for place in stack.places)
    places = places if single else (request, *places)
    if np.broadcast_to(fits, shape)[places].any():
        yield Answered(
            request=request, machine=machine, estimate=whole, fits=fits, shape=shape, places=places
        )


def _together(stack: Stack, run: Run) -> tuple[Estimate, Mask]:
    """Estimate of all machines of a stack, and whether the model fits.

    The context of a single user decides what fits in GPUs, and no time unless layers are divided
    otherwise: the latest estimate stands for the same request with another context.
    """
    model, work = run.beside_machines
    whole = estimate(
        model, stack.machine, work, run.runtime, run.strategy, fitted_constants(),
        backend=stack.backend,
    )  # fmt: skip
    fits = np.asarray(whole.fits)
    if len(run.contexts) > 1 or run.work.users != 1 or not run.resident:
        return whole, fits
    request = (run.model, *(own for name, own in vars(run.work).items() if name != "context"))
    before, latest = stack.latest.get(run.runtime.name, (None, whole))
    if before != request or not _divided_alike(latest.placement, whole.placement):
        stack.latest[run.runtime.name] = request, whole
        return whole, fits
    return latest, fits


def several_counts(runtime: Runtime, strategy: PlacementStrategy, requests: int) -> bool:
    """Whether machines with several numbers of one kind of card are one stack: for one request of a
    whole model, as several requests fill an array already.
    """
    whole = strategy is PlacementStrategy.GPU_RESIDENT and runtime.apart is None
    return whole and runtime.takes_several_counts and requests == 1


def _divided_alike(before: Placement | None, now: Placement | None) -> bool:
    """Whether two placements have the same shares of the layers and of the head everywhere."""
    if before is None or now is None:
        return False
    there, here = list(_shares(before)), list(_shares(now))
    return len(there) == len(here) and all(map(np.array_equal, there, here))


def _shares(placement: Placement) -> Iterator[Array]:
    """Shares of layers and of the head, by location."""
    for groups in placement.weights.values():
        yield from (share for share, _ in by_share(groups))
    yield from placement.kv.values()
    yield from placement.output.values()


def _possible(stack: Stack, run: Run) -> Mask:
    """False where a placement cannot fit or be fast enough, shape (requests, machines)."""
    model, work = run.beside_machines
    if run.resident:
        return stack.each(may_hold(model, stack.machine, work, run.runtime))
    return stack.each(
        may_reach(
            model, stack.machine, work, run.runtime, run.strategy, run.constants(stack), run.least
        )
    )


def _by_size(stack: Stack, run: Run, request: Index, machine: Index) -> Iterator[Answered]:
    """Estimates placed once for each request and size of memory, and timed where they fit."""
    rows, row = np.unique(request * stack.size_count + stack.size[machine], return_inverse=True)
    row_request, row_size = np.divmod(rows, stack.size_count)
    for chosen in _alike(stack, run, row_request, row_size):
        model, work = run.at(row_request[chosen])
        sizes = taken(stack.sizes, row_size[chosen], stack.size_count)
        plan = estimate(model, sizes, work, run.runtime, run.strategy, fitted_constants())
        place = np.full(len(rows), -1)
        place[chosen] = np.arange(len(chosen))
        fits = np.broadcast_to(plan.fits, chosen.shape)[place[row]] & (place[row] >= 0)
        if plan.constants is not None and fits.any():
            yield _timed(stack, run, plan, request[fits], machine[fits], place[row][fits])


def _timed(
    stack: Stack, run: Run, plan: Estimate, request: Index, machine: Index, row: Index
) -> Answered:
    """A plan on machines of a stack.

    Args:
        stack: machines of a kind.
        run: requests, runtime and placement.
        plan: estimate by request and size.
        request: request of each pair, shape (pairs,).
        machine: machine of each pair, shape (pairs,).
        row: place in the plan of each pair, shape (pairs,).
    """
    constants, fits = run.constants(stack), np.ones((), dtype=bool)
    if not run.runtime.takes_several_formats:
        # Kernels of serving engines are named by the generation of all GPUs of a stack.
        shape = (len(run.contexts), np.size(stack.size))
        index = np.zeros(shape, dtype=int)
        index[request, machine] = row
        several = on_machines(plan, run.beside_machines[0], stack.machine, index, constants)
        return Answered(
            request=request, machine=machine, estimate=several, fits=fits,
            shape=shape, places=(request, machine),
        )  # fmt: skip
    pairs = taken(stack.machine, machine, np.size(stack.size))
    some = PickedConstants(constants, request, machine)
    model = picked(layers_together(run.model), request)
    several = on_machines(plan, model, pairs, row, some)
    return Answered(request=request, machine=machine, estimate=several, fits=fits)


def _alike(stack: Stack, run: Run, request: Index, size: Index) -> Iterator[Index]:
    """Rows that a runtime places in one way; all of them for most runtimes."""
    everything = np.arange(len(request))
    if run.runtime.apart is None:
        yield everything
        return
    model, work = run.at(request)
    sizes = taken(stack.sizes, size, stack.size_count)
    decision = run.runtime.apart(model, sizes, work) & np.ones(len(request), dtype=bool)
    for rows in (everything[decision], everything[~decision]):
        if len(rows):
            yield rows
