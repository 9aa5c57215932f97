"""Constants under the software that a machine's owner states: driver, build and memory nodes.

Published comparisons give each effect as a factor on constants of the parts that it concerns. They
are too few to be fitted, so a stated effect also widens the range.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.measured_constants import RUNTIMES
from advisor.cost_model.runtime import Runtime
from advisor.machine import backends
from advisor.machine.machine import Host, Machine
from advisor.machine.quantity import Quantity
from advisor.machine.software import (
    ONE_NODE,
    SoftwareEffect,
    effect_of,
    effect_of_build,
    effect_of_kernel,
    kernels_of,
)
from advisor.machine.stated_software import effect_of_driver
from advisor.model.model import Model

GPU_READS = ("gpu_read_share", "gpu_kv_share")
"""Constants in proportion to the read rate of a GPU."""
GPU_TIMES = (
    "gpu_layer", "gpu_expert_layer", "gpu_state_layer", "gpu_scan_layer", "gpu_stream_layer",
    "gpu_latent_layer", "gpu_latent_value",
)  # fmt: skip
"""Fixed times of a GPU."""
GPU_PRODUCTS = ("gpu_flop_share", "gpu_attention_share")
"""Constants in proportion to a GPU's speed in a prompt."""
CPU_TIMES = ("cpu_layer", "cpu_expert_layer")
"""Fixed times of a processor."""
CORE_RATES = (
    "core_decode_rate",
    "core_flops",
    "core_attention_flops",
    "core_batch_attention_flops",
)
"""Constants in proportion to the speed of the cores."""


def scope_of(model: Model, machine: Machine, runtime: Runtime, backend: str, build: str) -> Scope:
    """Scope of the constants of a model in a runtime on a machine.

    Args:
        model: model in the format that the runtime loads.
        machine: machine that runs it.
        runtime: runtime.
        backend: backends of the machine's cards; empty for the machine's own.
        build: as `Scope.build`; empty for the stated one, else that of today.
    """
    interface = backend or backends.of_machine(machine)
    stated = kernels_of(machine.build, interface) if runtime.key in RUNTIMES else ""
    return Scope(
        runtime=runtime.key,
        decode_class=model.decode_class,
        backend=interface,
        build=runtime.build or build or stated,
    )


def conditioned(
    constants: Constants, machine: Machine, runtime: Runtime, model: Model
) -> Constants:
    """Constants under the stated driver, build, threads and policy, each where it has an effect.

    Constants that already are under them stay as they are.
    """
    for factors, source in _effects(constants, machine, runtime, model):
        known = constants.rows[next(iter(factors))]
        if all(row.source != source for row in known):
            constants = constants.scaled(factors, source)
    return constants


def _effects(
    constants: Constants, machine: Machine, runtime: Runtime, model: Model
) -> Iterator[tuple[Mapping[str, float], str]]:
    """Factors on constants of every effect, with their source."""
    for effect in _published(machine, runtime, model):
        yield FACTORS[effect.option](effect, constants), f"{effect.source}: {effect.note}"


def _published(machine: Machine, runtime: Runtime, model: Model) -> Iterator[SoftwareEffect]:
    """Published effects of the stated software on a runtime."""
    host = machine.host
    driver = effect_of_driver(machine) if runtime.key in RUNTIMES else None
    linear = runtime.key in RUNTIMES and model.has_delta_rule
    build = effect_of_build(machine.build) if linear else None
    experts = driver and model.has_experts and effect_of_driver(machine, "experts")
    kernel = kernel_effect(machine, model) if runtime.key in RUNTIMES else None
    policy = effect_of("numa", host.numa) if binds(host, runtime) else None
    threads = effect_of("threads", host.thread_excess) if runtime.takes_layers else None
    yield from filter(None, (driver, experts or None, build, kernel, policy, threads))


MOST = 0.5
"""Share of the bytes above which a storage type decides a model's speed."""


def kernel_effect(machine: Machine, model: Model) -> SoftwareEffect | None:
    """Effect of a stated build that has no kernel for a model's format on the machine's backend."""
    kinds = frozenset(kind for kind, share in model.stored.items() if share > MOST)
    return effect_of_kernel(machine.build, backends.of_machine(machine), kinds)


def _of_kernel(effect: SoftwareEffect, _: Constants) -> Mapping[str, float]:
    return {"gpu_read_share": effect.token, "gpu_flop_share": effect.prompt}


def _of_experts(effect: SoftwareEffect, _: Constants) -> Mapping[str, float]:
    return {"gpu_expert_read_share": effect.token, "gpu_expert_layer": 1.0 / effect.token}


def _of_driver(effect: SoftwareEffect, _: Constants) -> Mapping[str, float]:
    return {
        **dict.fromkeys(GPU_READS, effect.token),
        **dict.fromkeys(GPU_TIMES, 1.0 / effect.token),
        **dict.fromkeys(GPU_PRODUCTS, effect.prompt),
    }


def _of_build(effect: SoftwareEffect, _: Constants) -> Mapping[str, float]:
    return {"gpu_state_layer": 1.0 / effect.token}


def _of_policy(effect: SoftwareEffect, constants: Constants) -> Mapping[str, float]:
    """Factor on the share of several sockets' RAM rate, which is at most the whole."""
    return {"socket_share": min(effect.token, 1.0 / constants.value("socket_share"))}


def _of_threads(effect: SoftwareEffect, _: Constants) -> Mapping[str, float]:
    return {
        "cpu_read_share": effect.token,
        "core_decode_rate": effect.token,
        **dict.fromkeys(CORE_RATES[1:], effect.prompt),
        **dict.fromkeys(CPU_TIMES, 1.0 / effect.token),
    }


FACTORS: Mapping[str, Callable[[SoftwareEffect, Constants], Mapping[str, float]]] = {
    "driver": _of_driver,
    "build": _of_build,
    "kernel": _of_kernel,
    "experts": _of_experts,
    "numa": _of_policy,
    "threads": _of_threads,
}
"""Factors on constants of an effect, by the input that it belongs to."""


def binds(host: Host, runtime: Runtime) -> bool:
    """Whether a stated policy for memory nodes changes a runtime's speed on a host."""
    return bool(host.numa) and runtime.binds_nodes and host.sockets > 1 and host.engine is None


def bound_to_node(machine: Machine, runtime: Runtime) -> Machine:
    """A machine as the one socket to which a stated policy binds a runtime; else unchanged.

    It has that socket's part of the memory, of its rate and of the cores.
    """
    host = machine.host
    if host.numa not in ONE_NODE or not binds(host, runtime):
        return machine
    each = (host.cores_there or host.cores) // host.sockets
    alone = replace(
        host,
        sockets=1,
        cores=min(host.cores, each),
        cores_there=None if host.threads is None else each,
        memory=_part(host.memory, host.sockets),
        bandwidth=_part(host.bandwidth, host.sockets),
    )
    return replace(machine, host=alone)


def _part(figure: Quantity, sockets: int) -> Quantity:
    source = f"one of {sockets} sockets' part of {figure.source}"
    return replace(figure, value=figure.value / sockets, source=source)


def doubt(machine: Machine, runtime: Runtime, model: Model, *, prompt: bool) -> tuple[float, float]:
    """Half widths that stated software adds to the time of GPUs and of the processor.

    As logarithms of factors; they count by the share of the time. What leaves the speed of tokens
    as it is adds nothing to theirs.

    Args:
        machine: machine with its software.
        runtime: runtime.
        model: model in the format that the runtime loads.
        prompt: whether the time is that of a prompt.
    """
    of_gpu = of_host = 0.0
    for effect in _published(machine, runtime, model):
        changes = (effect.prompt if prompt else effect.token) != 1.0
        if effect.option in ("driver", "build", "kernel", "experts"):
            of_gpu += effect.doubt * changes
        else:
            of_host = math.hypot(of_host, effect.doubt * changes)
    return of_gpu, of_host
