"""Estimates of one runtime and placement, or of all, for programs."""

from collections.abc import Iterable
from typing import Any

from advisor.advice import compare as comparison
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings, stated
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES, Runtime
from advisor.runtimes import runtime as runtime_named
from advisor.scripting.description import find_model

SPLIT = ("gpu_layers", "cpu_moe", "cache_gb", "kv_in_ram", "load_mode")


def estimate(
    model: Model | str,
    machine: Machine,
    workload: Workload | None = None,
    *,
    runtime: str = "llama.cpp",
    placement: str | None = None,
    **split: Any,
) -> Estimate:
    """The estimate of a runtime in one placement.

    Args:
        model: of `find_model`, or what it takes.
        machine: of `describe_machine` or `named_machine`.
        workload: what is asked; None for one user with a prompt of 512 and a reply of 256 tokens.
        runtime: its name.
        placement: "gpu-resident", "cpu-offload" or "nvme-offload"; None for the fastest that fits,
            and the first of them where none does.
        split: of `split_of`.

    Raises:
        AdvisorError: a name that is not known, a number out of its limits.
    """
    estimates = compare(model, machine, workload, runtime=runtime, **split)
    if placement is None:
        return next(iter(comparison.usable(estimates)), estimates[0])
    wanted = placement_named(placement)
    placed = [estimate for estimate in estimates if estimate.strategy is wanted]
    if not placed:
        raise InputError(comparison.lacks(runtime_named(runtime), wanted))
    return placed[0]


def compare(
    model: Model | str,
    machine: Machine,
    workload: Workload | None = None,
    *,
    runtime: str | None = None,
    **split: Any,
) -> tuple[Estimate, ...]:
    """Every runtime in every placement, those that cannot be with their reason.

    Args:
        model: of `find_model`, or what it takes.
        machine: of `describe_machine` or `named_machine`.
        workload: as in `estimate`.
        runtime: the name of one; None for all.
        split: of `split_of`.

    Raises:
        AdvisorError: a name that is not known, a number out of its limits.
    """
    return comparison.compare(
        as_model(model),
        machine,
        workload or Workload(),
        settings=split_of(**split),
        runtimes=runtimes_named(runtime),
    )


def as_model(model: Model | str) -> Model:
    """The model, found first where it is named."""
    return find_model(model) if isinstance(model, str) else model


def runtimes_named(name: str | None) -> Iterable[Runtime]:
    """The runtime of a name; all for None."""
    return RUNTIMES if name is None else (runtime_named(name),)


def placement_named(name: str) -> PlacementStrategy:
    """The placement of a name.

    Raises:
        InputError: there is none.
    """
    try:
        return PlacementStrategy(name.strip().casefold())
    except ValueError as error:
        raise InputError(
            f"Placement {name!r} is not known; use one of {', '.join(PlacementStrategy)}."
        ) from error


def split_of(**split: Any) -> Settings:
    """What was fixed about a placement.

    Args:
        split: `gpu_layers`, `cpu_moe`, `cache_gb` [GiB], `kv_in_ram`, `load_mode`, as the command
            line's options of these names.

    Raises:
        InputError: another name.
    """
    if unknown := sorted(split.keys() - set(SPLIT)):
        raise InputError(
            f"{', '.join(unknown)} is no option of a placement; there are {', '.join(SPLIT)}. "
            "Numbers of the request go into Workload(...)."
        )
    return stated(**split)
