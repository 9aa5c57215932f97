"""Use of the routes: which runtimes move bytes on a route, and how fast."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.schedule import Flow, Route


@dataclass(frozen=True, kw_only=True)
class RouteUse:
    """Use of a route while tokens are generated.

    Attributes:
        runtimes: names of the runtimes that take it, in their order in the comparison.
        rate: rate of the first of them, fixed costs apart [B/s].
    """

    runtimes: tuple[str, ...]
    rate: float


def route_bytes(estimate: Estimate) -> dict[Route, float]:
    """Bytes that a token moves on each route [B]."""
    carried: dict[Route, float] = {}
    for stage in estimate.phases.decode.stages if estimate.phases else ():
        for flow in stage.flows:
            carried[flow.route] = carried.get(flow.route, 0.0) + _carried(flow)
    return carried


def route_use(estimates: Iterable[Estimate]) -> Mapping[Route, RouteUse]:
    """Use of each route in a comparison; routes that nothing takes are left out.

    Estimates that do not fit count as well: they have the rate that they would reach.
    """
    runtimes: dict[Route, list[str]] = {}
    rates: dict[Route, float] = {}
    for estimate in estimates:
        for route, size in route_bytes(estimate).items():
            spent = float(np.ravel(estimate.step.parts.get(route, 0.0))[0]) if estimate.step else 0
            if size > 0 and spent > 0:
                names = runtimes.setdefault(route, [])
                if estimate.runtime not in names:
                    names.append(estimate.runtime)
                rates.setdefault(route, size / spent)
    return {
        route: RouteUse(runtimes=tuple(names), rate=rates[route])
        for route, names in runtimes.items()
    }


def _carried(flow: Flow) -> float:
    size = flow.moved if flow.load is None else flow.load.weights + flow.load.kv
    return float(np.ravel(size)[0])
