"""Interface of the core: a described model on a described machine, placed and timed.

    from advisor.core import estimate, machine, model

    answer = estimate(model("Llama-3.1-8B"), machine(gpu="RTX 3090"))
    print(answer.decode.value, "tokens/s")

An `AdvisorError` is raised for an unknown name, or a number outside its limits. Numbers of machine,
request and settings may be arrays: `estimates` then gives arrays, too (docs/core.md).
"""

from dataclasses import fields
from typing import Any

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import runtime as runtime_named
from advisor.runtimes.compare import compare, usable

USUAL_FORMAT = "Q4_K_M"  # most downloaded format of GGUF files


def model(name: str, form: str = USUAL_FORMAT) -> Model:
    """Model of data/models/models.csv in a format of data/models/recipes.csv.

    Raises:
        UnknownName: no such model or format; the error has similar names.
    """
    return catalog.model(name, form)


def machine(**parts: Any) -> Machine:
    """Machine of the given parts, with typical parts for missing ones, marked as assumed.

    Args:
        parts: fields of `MachineSpec`; usually `gpu` (name), `gpu_count`, `cpu` (name), `ram_gb`
            [GiB] and, where measured, `ram_gbs` [GB/s].

    Raises:
        InputError: a part that no machine has, or no part at all.
        UnknownName: a part of an unknown name.
    """
    from advisor.machine import from_spec  # reads names, with patterns that take time to load

    known = [field.name for field in fields(MachineSpec)]
    if unknown := sorted(parts.keys() - {*known}):
        raise InputError(f"A machine has no {', '.join(unknown)}; it has {', '.join(known)}.")
    spec = MachineSpec(**parts)
    if spec.empty:
        raise InputError(f"No part of the machine is named; name one: {', '.join(known)}.")
    return from_spec.machine(spec)


def estimates(
    model: Model,
    machine: Machine,
    work: Workload | None = None,
    *,
    runtime: str = "llama.cpp",
    settings: Settings | None = None,
) -> tuple[Estimate, ...]:
    """Estimates of a runtime, one for each of its placements; an impossible placement has a
    `refusal`.

    Raises:
        UnknownName: no such runtime.
        InputError: a context that is too short for prompt and reply.
    """
    engine = runtime_named(runtime)
    request = (work or Workload()).with_room()
    return compare(model, machine, request, settings=settings, runtimes=(engine,))


def estimate(
    model: Model,
    machine: Machine,
    work: Workload | None = None,
    *,
    runtime: str = "llama.cpp",
    settings: Settings | None = None,
) -> Estimate:
    """Estimate of the fastest placement that fits the machine; of the first placement where none
    fits. It raises what `estimates` raises.
    """
    placed = estimates(model, machine, work, runtime=runtime, settings=settings)
    return next(iter(usable(placed)), placed[0])
