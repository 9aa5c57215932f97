"""SkyPilot task file: rent a GPU and serve the model on it.

SkyPilot chooses the cheapest available GPU among the clouds that a person has accounts with. The
fields are those of https://docs.skypilot.co/en/latest/reference/yaml-spec.html, read 2026-11-21.
A variable without a value must be given at launch (sky/task.py of 0.14.1). The task runs the
command of the estimate, with the model from Hugging Face. Setup runs at every launch and skips
finished steps.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from advisor.advice.prices.rows import skypilot_names
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.timed_machines import cardless
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.estimate import estimate as estimated
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.cost_model.runtime import ServerSetup, WeightFiles
from advisor.errors import Refusal
from advisor.formatting import counted
from advisor.model import catalog
from advisor.runtimes import RUNTIMES, runtime
from advisor.runtimes.serving import checkpoint
from advisor.units import GIB

VERSION = "SkyPilot 0.14.1"
SYSTEM_DISK = 100
"""Drive space for the system, drivers and the build; assumed [GiB]."""
SYSTEM_RAM = 8
"""RAM for the system; assumed [GiB]."""
RESIDENT = PlacementStrategy.GPU_RESIDENT


VARIABLES = {WeightFiles.GGUF: "GGUF_REPOSITORY", WeightFiles.CHECKPOINT: "MODEL_REPOSITORY"}
"""Variable of a task that names where the model is downloaded from, by the files it holds."""


def rented_estimates(question: Question, options: Iterable[Option]) -> dict[str, Estimate]:
    """Estimates of the rented machines of some options, each once, by name, in their order."""
    host = cardless() if question.machine.unified else question.machine
    estimates: dict[str, Estimate] = {}
    for option in options:
        gpus, speed = option.bought, option.speed
        if option.kind is not OptionKind.RENT or speed is None or not gpus:
            continue
        name = counted(len(gpus), gpus[0].name)
        if name in estimates:
            continue
        model = question.model
        if model.format != speed.format:
            model = catalog.in_format(model.architecture, speed.format)
        rented = replace(host, name=name, gpus=gpus)
        how = runtime(speed.runtime)
        estimates[name] = estimated(model, rented, question.work, how, speed.strategy)
    return estimates


def task(estimate: Estimate) -> str:
    """Text of the file, to save as `task.yaml`, for a model on a machine with the GPUs to rent.

    Raises:
        Refusal: SkyPilot has no name for the GPU, or the runtime has no setup.
    """
    setup = estimate.how.setup
    if setup is None:
        able = ", ".join(runtime.name for runtime in RUNTIMES if runtime.setup is not None)
        raise Refusal(
            f"Task files are written for {able}. For {estimate.runtime}, rent the "
            "GPU and type its command there."
        )
    gpu, count = _gpus(estimate)
    started = _started(estimate, setup)
    name = f"{estimate.model.name}-{counted(count, gpu)}".casefold()
    name = re.sub(r"[^a-z0-9]+", "-", name).strip("-")  # as SkyPilot accepts it for a cluster
    gguf, repository = setup.files is WeightFiles.GGUF, checkpoint(estimate.model)
    public = "" if gguf or "/" not in repository or repository.startswith("OWNER/") else repository
    variable = VARIABLES[setup.files]
    given = "" if public else f" --env {variable}=OWNER/NAME"
    files = "with the model as GGUF" if gguf else f"with the model in {estimate.model.format}"
    # RAM for what stays outside the GPU, and for the system [GiB]
    ram = math.ceil(sum(float(size) for size in estimate.held[Tier.RAM]) / GIB) + SYSTEM_RAM
    return "\n".join(
        (
            f"# {VERSION}, {estimate.how.version}",
            f"# start: sky launch -c {name} task.yaml{given}",
            *(() if public else (f"# OWNER/NAME is a repository on Hugging Face {files}.",)),
            "# a repository with terms to accept also takes --secret HF_TOKEN",
            f"# use it: ssh -L {setup.port}:localhost:{setup.port} {name}, "
            f"then http://localhost:{setup.port}",
            f"# stop paying: sky down {name}",
            f"name: {name}",
            "",
            "resources:",
            f"  accelerators: {accelerators(gpu, count)}",
            f"  disk_size: {math.ceil(estimate.model.file_bytes / GIB) + SYSTEM_DISK}",
            *(() if estimate.strategy is RESIDENT else (f"  memory: {ram}+",)),
            "",
            "envs:",
            f"  {variable}:{f' {public}' if public else ''}",
            "",
            "setup: |",
            *(f"  {line}" for line in setup.install),
            "",
            "run: |",
            *(f"  {line}" for line in started),
            "",
        )
    )


def _started(estimate: Estimate, setup: ServerSetup) -> tuple[str, ...]:
    """Shell lines that serve an estimate, with the model from the task's variable."""
    model, placement, machine = estimate.model, estimate.placement, estimate.machine
    if placement is None or machine is None:
        raise Refusal(estimate.refusal)
    return setup.start(model, placement, machine, estimate.work, f"${VARIABLES[setup.files]}")


def _gpus(estimate: Estimate) -> tuple[str, int]:
    """GPU to rent, and how many."""
    if estimate.machine is None or not estimate.machine.gpus:
        raise Refusal(estimate.refusal or "There is no GPU to rent.")
    return estimate.machine.gpus[0].name, len(estimate.machine.gpus)


def has_name(estimate: Estimate) -> bool:
    """Whether SkyPilot has a name for the GPU."""
    return _gpus(estimate)[0] in skypilot_names()


def accelerators(gpu: str, count: int) -> str:
    """A number of GPUs to rent in SkyPilot's form: one name, or a set to take the cheapest of.

    Raises:
        Refusal: SkyPilot has no name for the GPU.
    """
    spellings = skypilot_names().get(gpu)
    if spellings is None:
        raise Refusal(f"SkyPilot has no name on record for {gpu}; ask `sky gpus list -a`.")
    names = [f"{name}:{count}" for name in spellings.split(";")]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
