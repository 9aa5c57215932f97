"""Use of the routes by a model on a machine."""

from collections.abc import Mapping

from advisor.advice.compare import compare
from advisor.advice.route_use import RouteUse, route_use
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES, beside


def route_use_of(model: Model, machine: Machine, work: Workload) -> Mapping[Route, RouteUse]:
    """Routes that the runtimes of a comparison take, fastest runtime first."""
    estimates = compare(model, machine, work, runtimes=(*RUNTIMES, *beside(machine)))
    timed = [each for each in estimates if each.decode_tps is not None]
    return route_use(sorted(timed, key=lambda each: -float(each.decode_tps or 0.0)))
