"""A model placed by a runtime, the command for it, and the changes offered beside it."""

from advisor.advice.edits.changes import faster_changes
from advisor.advice.edits.edit import Edited
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.request.request import Request
from advisor.runtimes.compare import compare

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


def offloaded(how: Runtime, **values: object) -> Estimate:
    """Estimate of a request, by the names of its inputs, offloaded to RAM."""
    nouns = Request(**values).nouns()  # type: ignore[arg-type]
    return next(
        estimate
        for estimate in compare(
            nouns.model, nouns.machine, nouns.work, settings=nouns.settings, runtimes=[how]
        )
        if estimate.strategy is PlacementStrategy.CPU_OFFLOAD
    )


def offered(best: Estimate, flag: str) -> list[Edited]:
    """Changes beside an estimate whose words name a flag."""
    changes = faster_changes(best.model, best.machine, best.work, best)
    return [each for each in changes if flag in each.words]
