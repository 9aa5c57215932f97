"""Set-up of servers that load a checkpoint, each in a Python environment."""

from collections.abc import Callable

from advisor.cost_model.placement import Placement
from advisor.cost_model.runtime import ServerSetup, WeightFiles
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model

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
