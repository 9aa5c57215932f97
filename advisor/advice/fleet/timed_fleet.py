"""Speeds of a model on the machines of a fleet, each computed on first use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.advice.compare import as_chosen
from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.speed_table import Speeds
from advisor.advice.fleet.stacks import Mask
from advisor.advice.speeds import Speed
from advisor.cost_model.many_machines import Index
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime


@dataclass(frozen=True, kw_only=True)
class FastestSpeeds:
    """Speed of each machine in its fastest runtime and placement, made when it is asked for.

    Attributes:
        speeds: speeds by runtime and placement.
        place: index in `speeds` of each machine's fastest; -1 where none holds the model, and for
            machines that are not wanted, shape (machines,).
    """

    speeds: Sequence[Speeds]
    place: Index

    def at(self, machine: int) -> Speed | None:
        """Speed of one machine; None where it has none."""
        place = self.place[machine]
        return None if place < 0 else self.speeds[place].at(machine)

    def __iter__(self) -> Iterator[Speed | None]:
        return map(self.at, range(len(self.place)))

    @property
    def known(self) -> Mask:
        """Machines with a speed, shape (machines,)."""
        return self.place >= 0


class TimedFleet:
    """Speeds of a model on the machines of a fleet, cached by runtime and placement.

    Args:
        fleet: machines.
        model: model in the requested format; each runtime loads the nearest one that it can.
        work: request.
        runtimes: runtimes to choose from.
    """

    def __init__(
        self, fleet: Fleet, model: Model, work: Workload, runtimes: Sequence[Runtime]
    ) -> None:
        self.fleet, self.runtimes = fleet, tuple(runtimes)
        self._model, self._work = model, work
        self._timed: dict[tuple[str, PlacementStrategy], tuple[Speeds, Floats]] = {}

    @property
    def all(self) -> Mask:
        """Every machine, shape (machines,)."""
        return np.ones(len(self.fleet.machines), dtype=bool)

    def best(self, strategy: PlacementStrategy, wanted: Mask) -> FastestSpeeds:
        """Speed of each machine in its fastest runtime, for one placement.

        None where no runtime can hold the model, and for machines that are not wanted.
        """
        return self.fastest(wanted, (strategy,))

    def fastest(
        self, wanted: Mask, strategies: Sequence[PlacementStrategy] = tuple(PlacementStrategy)
    ) -> FastestSpeeds:
        """Speed of each machine in its fastest runtime and placement; None where not wanted.

        A runtime is left out where a bound on its speed is below that of one before it.

        Args:
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
        """
        tried: list[Speeds] = []
        fastest = np.full(len(wanted), -1)
        least = np.zeros(len(wanted))
        for runtime in self.runtimes:
            reached = least.copy()
            for speeds, machines in self._placed(runtime, wanted, strategies, least):
                faster = machines & (speeds.decode > least)
                reached[faster] = speeds.decode[faster]
                fastest[faster] = len(tried)
                tried.append(speeds)
            least = reached
        return FastestSpeeds(speeds=tried, place=fastest)

    def _placed(
        self,
        runtime: Runtime,
        wanted: Mask,
        strategies: Sequence[PlacementStrategy],
        least: Floats,
    ) -> Iterator[tuple[Speeds, Mask]]:
        """Speeds by placement, with the machines of which it is the first that fits; later ones are
        slower.

        Args:
            runtime: runtime.
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
            least: speed below which a machine may be left out, shape (machines,) [tokens/s].
        """
        left = wanted
        for strategy in strategies:
            if strategy in runtime.strategies and left.any():
                speeds = self._in(runtime, strategy, left, least)
                yield speeds, left & speeds.fits
                left = left & ~speeds.fits

    def _in(
        self, runtime: Runtime, strategy: PlacementStrategy, wanted: Mask, least: Floats
    ) -> Speeds:
        """Speeds in one runtime and placement, computed at least for the wanted machines.

        A machine that a bound left out is computed when a lower speed is wanted.
        """
        key = (runtime.name, strategy)
        if key not in self._timed:
            self._timed[key] = self.fleet.untimed(runtime, strategy), np.full(len(wanted), np.inf)
        speeds, known = self._timed[key]
        new = wanted & (least < known)
        if new.any():
            timed = self.fleet.speeds(
                self._model, self._work, runtime, strategy, skip=~new, least=least
            )
            speeds.take_over(timed, new)
            known[new] = least[new]
            larger = new & (timed.formats == self._model.native) & ~timed.fits
            if strategy is PlacementStrategy.GPU_RESIDENT and larger.any():
                self._smaller(speeds, runtime, larger)
        return speeds

    def _smaller(self, speeds: Speeds, runtime: Runtime, wanted: Mask) -> None:
        """Fill in machines whose GPUs hold the model in its chosen format, not as its maker has it.

        Args:
            speeds: speeds of all machines.
            runtime: runtime.
            wanted: machines that the maker's own weights do not fit, shape (machines,).
        """
        chosen = as_chosen(self._model)
        if chosen is not None:
            resident = PlacementStrategy.GPU_RESIDENT
            timed = self.fleet.speeds(chosen, self._work, runtime, resident, skip=~wanted)
            speeds.take_over(timed, wanted)
