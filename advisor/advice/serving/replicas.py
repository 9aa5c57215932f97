"""Users that GPUs of a kind serve: by a bound, by the closed form, and simulated.

Several GPUs hold one copy of the model together (tensor parallel), or are divided among copies of
it, each a server of its own.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from advisor.advice.arrivals.curves import users_supported
from advisor.advice.arrivals.load import ServerLoad, load_on
from advisor.advice.compare import as_run
from advisor.advice.options.question import Question
from advisor.advice.serving.offers import with_gpus
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.request.load import LoadQuestion
from advisor.runtimes import RUNTIMES, Runtime

DEGREES = (1, 2, 4, 8)
"""Numbers of GPUs that hold one copy of the model."""
Sizes = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Model, request and wishes of many users.

    Attributes:
        model: model in the requested format.
        work: request of one reply, with mean lengths.
        load: speed and wait that each user should have.
        users: number of users to serve.
        runtimes: runtimes to choose from; those without a queue are left out.
    """

    model: Model
    work: Workload
    load: LoadQuestion
    users: int
    runtimes: tuple[Runtime, ...] = RUNTIMES

    @cached_property
    def typical(self) -> Workload:
        """The request of one user, with a cache of its own size."""
        whole = float(self.work.prompt) + float(self.work.output)
        return replace(self.work, users=1.0, context=max(whole, 1.0))


def demand_of(question: Question, load: LoadQuestion, chosen: Runtime | None) -> Demand:
    """Demand of the users of a question.

    Args:
        question: model and request, with the number of users.
        load: speed and wait that each user should have.
        chosen: runtime of the answer; None for any.
    """
    return Demand(
        model=question.model,
        work=question.work,
        load=load,
        users=int(question.work.users),
        runtimes=(chosen,) if chosen else RUNTIMES,
    )


class Replicas:
    """Users served by copies of a model, each kind and number of GPUs computed once.

    Args:
        demand: model, request and wishes.
    """

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self._loads: dict[tuple[str, int], ServerLoad | None] = {}
        self._simulated: dict[tuple[str, int], int] = {}

    def bound(self, gpu: str, gpus: int) -> int:
        """More users than one copy can serve: weights and caches fit, and are read in time.

        n <= (M - W) / K,  n <= (B / S - R) / K

        M and B are memory and bandwidth of all GPUs, W and R the weights held and read for a token,
        K the cache of a user, S the speed that each should have.
        """
        model, work = self.demand.model, self.demand.typical
        cards = with_gpus(gpu, gpus).gpus
        held = sum(float(card.memory.value) for card in cards) - model.bytes_without_table
        rate = sum(float(card.bandwidth.value) for card in cards)
        in_time = rate / self.demand.load.user_tps * float(work.tokens_per_step)
        cache = float(np.sum(model.kv_bytes(work.context, "fp8"))) or 1.0
        least = min(float(held), in_time - float(model.read_bytes_per_token) * SMALLEST_FORMAT)
        return max(min(int(least / cache), self.demand.users), 0)

    def load(self, gpu: str, gpus: int) -> ServerLoad | None:
        """Server of a copy in the runtime that serves most; None where the model does not fit."""
        key = gpu, gpus
        if key not in self._loads:
            machine = with_gpus(gpu, gpus)
            self._loads[key] = load_on(self._estimates(machine), self.demand.load)
        return self._loads[key]

    def _estimates(self, machine: Machine) -> Iterable[Estimate]:
        demand = self.demand
        for runtime in demand.runtimes:
            if runtime.at_once is None:
                continue
            with suppress(Refusal):
                model = as_run(demand.model, runtime, machine)
                yield estimate(
                    model, machine, demand.typical, runtime, PlacementStrategy.GPU_RESIDENT,
                    fitted_constants(),
                )  # fmt: skip

    def by_closed_form(self, gpu: str, gpus: int) -> int:
        """Users of one copy by the mean time of a token."""
        load = self.load(gpu, gpus)
        return 0 if load is None else min(load.by_closed_form, self.demand.users)

    def simulated(self, gpu: str, gpus: int) -> int:
        """Users of one copy who are all served in time, at most those there are."""
        key = gpu, gpus
        if key not in self._simulated:
            load = self.load(gpu, gpus)
            self._simulated[key] = 0 if load is None else users_supported(
                load.server, load.lengths, load.question, most=self.demand.users
            )  # fmt: skip
        return self._simulated[key]


SMALLEST_FORMAT = 0.5
"""Smallest weights that a serving engine loads in place of the requested format, as a share."""


def divided(gpus: int, users_of: Callable[[int], int]) -> tuple[int, Sizes]:
    """Most users of a machine whose GPUs are divided among copies of the model, and the number of
    GPUs of each copy, largest first.

    Args:
        gpus: number of GPUs.
        users_of: users of one copy on a number of GPUs.
    """
    best: list[tuple[int, Sizes]] = [(0, ())]
    for number in range(1, gpus + 1):
        ways = [best[number - 1]]
        for degree in (degree for degree in DEGREES if degree <= number):
            users, sizes = best[number - degree]
            own = users_of(degree)
            if own:
                ways.append((users + own, tuple(sorted((*sizes, degree), reverse=True))))
        best.append(max(ways, key=lambda way: (way[0], -len(way[1]))))
    return best[gpus]
