"""A model of the catalogue placed by a runtime, and the command for it."""

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.runtimes import Runtime

WORK = Workload()


def place(
    runtime: Runtime,
    where: Machine,
    strategy: PlacementStrategy,
    name: str = "Llama-3.1-70B",
    form: str = "Q4_K_M",
    settings: Settings | None = None,
    work: Workload = WORK,
) -> Placement:
    model = catalog.model(name, form)
    return runtime.place(model, where, work, strategy, settings or Settings())


def command(
    runtime: Runtime, where: Machine, strategy: PlacementStrategy, form: str, work: Workload
) -> str:
    model = catalog.model("Llama-3.1-70B", form)
    placement = runtime.place(model, where, work, strategy, Settings())
    return runtime.command(model, placement, where, work)
