"""Speeds of a model on the machines of a fleet, each computed on first use."""

from collections.abc import Sequence

import numpy as np

from advisor.advice.compare import as_chosen
from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.stacks import Mask
from advisor.advice.speeds import Speed, fastest_of
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime


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
        self._timed: dict[tuple[str, PlacementStrategy], tuple[list[Speed | None], Floats]] = {}

    @property
    def all(self) -> Mask:
        """Every machine, shape (machines,)."""
        return np.ones(len(self.fleet.machines), dtype=bool)

    def best(self, strategy: PlacementStrategy, wanted: Mask) -> list[Speed | None]:
        """Speed of each machine in its fastest runtime, for one placement.

        None where no runtime can hold the model, and for machines that are not wanted.
        """
        return self._over_runtimes(wanted, (strategy,))

    def fastest(
        self, wanted: Mask, strategies: Sequence[PlacementStrategy] = tuple(PlacementStrategy)
    ) -> list[Speed | None]:
        """Speed of each machine in its fastest runtime and placement; None where not wanted.

        Args:
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
        """
        return self._over_runtimes(wanted, strategies)

    def _over_runtimes(
        self, wanted: Mask, strategies: Sequence[PlacementStrategy]
    ) -> list[Speed | None]:
        """Fastest speeds of several runtimes; a runtime is left out where a bound on its speed is
        below that of one before it.
        """
        fastest: list[Speed | None] = [None] * len(wanted)
        least = np.zeros(len(wanted))
        for runtime in self.runtimes:
            speeds = self._first_that_fits(runtime, wanted, strategies, least)
            for index in map(int, np.flatnonzero(wanted)):
                fastest[index] = fastest_of((fastest[index], speeds[index]))
            least = np.array([speed.decode if speed else 0.0 for speed in fastest])
        return fastest

    def _first_that_fits(
        self,
        runtime: Runtime,
        wanted: Mask,
        strategies: Sequence[PlacementStrategy],
        least: Floats,
    ) -> list[Speed | None]:
        """Speed of the first placement that fits each machine; later ones are slower.

        Args:
            runtime: runtime.
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
            least: speed below which a machine may be left out, shape (machines,) [tokens/s].
        """
        first: list[Speed | None] = [None] * len(wanted)
        left = wanted.copy()
        for strategy in strategies:
            speeds = self._in(runtime, strategy, left, least)
            for index in map(int, np.flatnonzero(left)):
                first[index] = speeds[index]
                left[index] = speeds[index] is None
        return first

    def _in(
        self, runtime: Runtime, strategy: PlacementStrategy, wanted: Mask, least: Floats
    ) -> Sequence[Speed | None]:
        """Speeds in one runtime and placement, computed at least for the wanted machines.

        A machine that a bound left out is computed when a lower speed is wanted.
        """
        none: list[Speed | None] = [None] * len(wanted)
        if strategy not in runtime.strategies:
            return none
        speeds, known = self._timed.setdefault(
            (runtime.name, strategy), (none, np.full(len(wanted), np.inf))
        )
        new = wanted & (least < known)
        if new.any():
            timed = self.fleet.speeds(
                self._model, self._work, runtime, strategy, skip=~new, least=least
            )
            for index in np.flatnonzero(new):
                speeds[index] = timed.at(int(index))
            known[new] = least[new]
            larger = new & (timed.formats == self._model.native) & ~timed.fits
            if strategy is PlacementStrategy.GPU_RESIDENT and larger.any():
                self._smaller(speeds, runtime, larger)
        return speeds

    def _smaller(self, speeds: list[Speed | None], runtime: Runtime, wanted: Mask) -> None:
        """Fill in machines whose GPUs hold the model in its chosen format, not as its maker has it.

        Args:
            speeds: speed of each machine.
            runtime: runtime.
            wanted: machines that the maker's own weights do not fit, shape (machines,).
        """
        chosen = as_chosen(self._model)
        if chosen is None:
            return
        timed = self.fleet.speeds(
            chosen, self._work, runtime, PlacementStrategy.GPU_RESIDENT, skip=~wanted
        )
        for index in map(int, np.flatnonzero(wanted)):
            speeds[index] = timed.at(index)
