"""Set-up of servers that load a checkpoint, each in a Python environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import Placement
from advisor.cost_model.runtime import ServerSetup, WeightFiles
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model

# Effort of setting up each runtime.


@dataclass(frozen=True, kw_only=True, slots=True)
class EffortRow:
    """One row of data/runtimes/setup_effort.csv."""

    runtime: str  # name of the runtime
    effort: str  # effort of installation and start, in a few words
    why: str  # reason in a sentence or two
    source: str  # documentation of the installation
    retrieved: str  # date when the source was read


@cache
def setup_efforts() -> Mapping[str, EffortRow]:
    """Effort of setting up each runtime, by its name."""
    return {row.runtime: row for row in read(DATA / "runtimes/setup_effort.csv", EffortRow)}


CommandFrom = Callable[[Model, Placement, Machine, Workload, str], str]
"""Command that starts a server; its last argument is shell text for the repository of the
weights."""
ENVIRONMENT = ". ~/serving/bin/activate"
CREATED = "[ -d ~/serving ] || (pip install uv && uv venv --python 3.12 --seed ~/serving)"
"""Creation of a Python environment, as in the guides of vLLM and SGLang."""


def checkpoint_server(command: CommandFrom, *, port: int, install: tuple[str, ...]) -> ServerSetup:
    """Set-up of a server that downloads a checkpoint by the name of its repository.

    Args:
        command: function that gives the start command.
        port: port that the server listens on.
        install: shell lines that install the server into the environment.
    """

    def start(
        model: Model, placement: Placement, machine: Machine, work: Workload, repository: str
    ) -> tuple[str, ...]:
        return (ENVIRONMENT, command(model, placement, machine, work, f'"{repository}"'))

    return ServerSetup(
        files=WeightFiles.CHECKPOINT,
        port=port,
        install=(CREATED, ENVIRONMENT, *install),
        start=start,
    )
