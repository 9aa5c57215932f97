"""Changes of software alone: backend, driver, build, threads, memory nodes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from advisor.cost_model.estimate import Estimate
from advisor.machine import backends
from advisor.machine.machine import Machine
from advisor.machine.shared_memory import raised
from advisor.machine.software import ONE_NODE, effect_of_build, kernels_of, month_words
from advisor.machine.stated_software import effect_of_driver, stated_driver

BY_BACKEND = ("llama.cpp", "lm-studio")
"""Runtimes with a choice of the GPU backend."""
ROOM = 0.9
"""Share of a socket's memory that a model may take to run from it alone."""


@dataclass(frozen=True, kw_only=True)
class SoftwareChange:
    """A change of software.

    Attributes:
        words: change in words.
        cost: its cost in words.
        machine: machine after it.
    """

    words: str
    cost: str
    machine: Machine


def software_changes(machine: Machine, best: Estimate) -> Iterator[SoftwareChange]:
    """Changes of software that may make a placement faster.

    Args:
        machine: machine as it is.
        best: its best placement.
    """
    if machine.gpus:
        yield from _other_backend(machine, best)
        yield from _of_today(machine)
        yield from _more_of_shared_memory(machine)
    yield from _a_thread_each(machine)
    if best.how.binds_nodes:
        yield from _memory_nodes(machine, best)


def _other_backend(machine: Machine, best: Estimate) -> Iterator[SoftwareChange]:
    """Another backend of llama.cpp for the same card, with a driver of today."""
    now = backends.of_machine(machine)
    if best.how.key not in BY_BACKEND or now == backends.UNKNOWN:
        return
    for name in backends.of_vendor(machine.gpus[0].vendor, machine.system):
        if name != now:
            yield SoftwareChange(
                words=f"{backends.LABELS[name]} in place of {backends.LABELS[now]}",
                cost="free, another build",
                machine=replace(machine, backend=name, driver=""),
            )


def _of_today(machine: Machine) -> Iterator[SoftwareChange]:
    """A driver, or a build of llama.cpp, of today in place of a stated older one."""
    if effect_of_driver(machine) is not None:
        yield SoftwareChange(
            words=f"a graphics driver of today in place of {stated_driver(machine)}",
            cost="free, an update",
            machine=replace(machine, driver=""),
        )
    older = kernels_of(machine.build, backends.of_machine(machine))
    if older or effect_of_build(machine.build) is not None:
        yield SoftwareChange(
            words=f"llama.cpp of today in place of {month_words(machine.build)}",
            cost="free, an update",
            machine=replace(machine, build=""),
        )


def _more_of_shared_memory(machine: Machine) -> Iterator[SoftwareChange]:
    """All memory but the system's for a GPU that shares it, where a setting gives it that."""
    with_more = raised(machine)
    if with_more is not None:
        roomier, setting = with_more
        yield SoftwareChange(
            words=f"more of the shared memory for the GPU: {setting}",
            cost="free, until the next start",
            machine=roomier,
        )


def _a_thread_each(machine: Machine) -> Iterator[SoftwareChange]:
    """One thread for each core that llama.cpp takes by itself, where another number is stated."""
    host = machine.host
    if host.threads is None or host.cores_there is None:
        return
    there = host.cores_there // (host.sockets if host.numa in ONE_NODE else 1)
    if host.threads != there:
        alike = replace(host, cores=there, threads=there, thread_excess="")
        yield SoftwareChange(
            words=f"{there} threads, one on each core, in place of {host.threads}",
            cost="free",
            machine=replace(machine, host=alike),
        )


def _memory_nodes(machine: Machine, best: Estimate) -> Iterator[SoftwareChange]:
    """Weights spread over the memory of several sockets, or one socket alone where it holds them.

    A host on which llama.cpp was timed has no figure for other policies.
    """
    host = machine.host
    if host.sockets < 2 or host.engine is not None:
        return
    if host.numa != "distribute":
        yield SoftwareChange(
            words="--numa distribute: threads and pages on all sockets",
            cost="free, after dropping the page cache",
            machine=replace(machine, host=replace(host, numa="distribute")),
        )
    fits = best.model.file_bytes <= ROOM * float(host.memory.value) / host.sockets
    if host.numa not in ONE_NODE and fits:
        yield SoftwareChange(
            words="--numa isolate: one socket alone, with its own memory",
            cost="free, the other cores idle",
            machine=replace(machine, host=replace(host, numa="isolate")),
        )
