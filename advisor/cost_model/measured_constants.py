"""Constants of the cost model on a host where llama.cpp was timed.

Measured constants replace fitted ones, so that the cost model reproduces the measured times. Its
formulas stay the same, so that it still predicts other core counts, RAM rates and storage types.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.catalog.constants import ConstantRow, Constants, Names, Scope, shared_name
from advisor.cost_model.processors import cores_alone, vectors
from advisor.cost_model.runtime import OF_LLAMA_CPP, Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Margins
from advisor.machine import backends
from advisor.machine.machine import EngineSpeed, Host, Machine
from advisor.model.model import Model
from advisor.units import Array, Provenance, Quantity, number

CLOSE = 0.9
"""Share of the reachable RAM rate that the fastest storage type is assumed to use, where the result
exceeds the fitted share."""
USUAL_HEAD = 128  # head size assumed where the model states none [values]
HEADS = r"[1-9]\d*_[1-9]\d*"
"""Key of an attention rate: head size, then the number of query heads that share a key."""
PROMPT = 128.0  # length of the prompts that the probe times [tokens]
MOST_UNPACKING = 2.0
"""Upper limit of matrix speed over speed of the whole prompt, which bounds the time attributed to
unpacking."""
WITHIN = 1e15
"""Rate of a core, so high that it adds no time, for work that a timed attention includes [B/s]."""
MOST = 0.5  # share of a model's bytes above which a storage type, or those timed, decide its rate


def constants_on(host: Host, model: Model, constants: Constants) -> Constants:
    """Constants of a model on a host, in the scope of its estimate.

    They are unchanged where the host's storage types were not timed.
    """
    engine = host.engine
    scope = constants.scope
    if engine is None or scope.runtime not in OF_LLAMA_CPP or scope.build:
        return constants
    read = mixed(engine.read, model)
    if read is None:
        return constants
    narrow = constants.row("spread_timed")  # of the processor's part of a token's time
    narrow = replace(narrow, family=str(Route.IN_PLACE), date=narrow.date or read.date)
    rows = (
        *_measured(read, host, engine, model, constants),
        replace(narrow, constant=Margins.IN_DECODE),
    )
    return constants.with_measured(rows)


def mixed(rates: Mapping[str, Quantity], model: Model) -> Quantity | None:
    """Rate of a model with tensors of several storage types: total share / sum(share / rate).

    A rate of the whole format is used alone. It is None where half of the bytes or more have types
    without a rate.
    """
    whole = rates.get(model.format.upper())
    if whole is not None:
        return whole
    timed = {kind: share for kind, share in model.stored.items() if kind in rates}
    covered = sum(timed.values())
    if covered <= MOST:
        return None
    slowness = sum(share / rates[kind].value for kind, share in timed.items())
    most = max(timed, key=lambda kind: timed[kind])
    return replace(rates[most], value=covered / slowness)


def attending(rates: Mapping[str, Quantity], model: Model) -> Quantity | None:
    """Attention speed C of a model: 1 / C = a + b / g, with g query heads per key; None without
    rates or without a KV cache.

    Term a is the work of each head; term b is the fetch of keys and values, shared by g heads.
    Rates, by head size and g as in "128_4", are interpolated in 1 / g at the nearest head size.
    """
    timed = {
        tuple(map(int, name.split("_"))): figure
        for name, figure in rates.items()
        if re.fullmatch(HEADS, name)
    }
    cached = sum(layer.key_values + layer.value_values for layer in model.architecture.cache)
    if not timed or not cached:
        return None
    size = model.architecture.head_dim or USUAL_HEAD
    near = min(
        (head_size for head_size, _ in timed), key=lambda head_size: abs(math.log(head_size / size))
    )
    points = sorted(
        (1.0 / group, figure) for (head_size, group), figure in timed.items() if head_size == near
    )
    shares = [share for share, _ in points]
    slowness = [1.0 / float(figure.value) for _, figure in points]
    share = cached / max(sum(model.architecture.attention_values), 1)
    return replace(points[0][1], value=1.0 / float(np.interp(share, shares, slowness)))


def _measured(
    read: Quantity, host: Host, engine: EngineSpeed, model: Model, constants: Constants
) -> Iterator[ConstantRow]:
    """Constants that reproduce the timed rates of reading, attention and products, and the fixed
    costs.

    The reachable share of the RAM rate is fitted, or that of the fastest type where it is more.
    """
    fastest = max(float(figure.value) for figure in engine.read.values())
    share = max(constants.value("cpu_read_share"), fastest / (CLOSE * engine.ram))
    unpacking = cores_alone(read.value, share * engine.ram)
    multiplying = _multiplying(mixed(engine.prompt, model), unpacking, model)
    yield _row(constants.row("cpu_read_share"), read, share)
    decoding = constants.row("core_decode_rate", vectors(host))
    yield _row(decoding, read, float(unpacking) / engine.cores)
    yield _row(constants.row("core_clock", host.segment), read, 1.0 / host.clock)
    if engine.plain:
        plain = mixed({**engine.read, **engine.plain}, model)
    else:
        plain = None
    if plain is not None:
        yield _row(constants.row("plain_layout_share"), plain, float(plain.value / read.value))
    if engine.layer is not None:
        alone = constants.row("cpu_layer")
        barrier = constants.row("cpu_barrier")
        scale = float(engine.layer.value / (alone.value + barrier.value * engine.cores))
        for row in (alone, barrier):
            yield _row(row, engine.layer, row.value * scale)
    for constant, figure, cores in (
        ("cpu_expert_layer", engine.expert_layer, 1),
        ("core_flops", multiplying, engine.cores),
    ):
        if figure is not None:
            yield _row(constants.row(constant), figure, float(figure.value) / cores)
    yield from _attention(attending(engine.attention, model), engine.cores, constants)
    if multiplying is not None:
        yield _row(constants.row("core_matrix_clock", host.segment), multiplying, 1.0)


def _attention(timed: Quantity | None, cores: int, constants: Constants) -> Iterator[ConstantRow]:
    """Constants that reproduce the timed speed of attention, in which the cache was read."""
    if timed is not None:
        yield _row(constants.row("core_attention_flops"), timed, float(timed.value) / cores)
        yield _row(constants.row("core_cache_rate"), timed, WITHIN)


def _multiplying(timed: Quantity | None, unpacking: Array, model: Model) -> Quantity | None:
    """Matrix speed C, from a timed prompt whose weights were also unpacked once [FLOP/s].

    F / P = W / U + F (1 - 1/T) / C, solved for C: F work of the prompt [FLOP], P its timed speed
    [FLOP/s], T its tokens, W bytes of weights, U speed of unpacking [B/s]; W / F is bytes of a
    weight / 2 T.
    """
    if timed is None:
        return None
    weight = model.file_bytes / model.architecture.params
    rest = 1.0 / timed.value - weight / (2.0 * PROMPT * unpacking)
    rest = np.maximum(rest, 1.0 / (MOST_UNPACKING * timed.value))
    return replace(timed, value=float((1.0 - 1.0 / PROMPT) / rest))


def _row(fitted: ConstantRow, figure: Quantity, value: float) -> ConstantRow:
    """Fitted row with a measured value, valid in every scope."""
    return replace(
        fitted,
        value=value,
        kind=str(Provenance.MEASURED),
        rows=None,
        source=figure.source,
        date=figure.date,
        runtime=None,
        family=None,
        backend=None,
        build=None,
        decode_class=None,
    )


# Constants under the software that a machine's owner states: driver, build and memory nodes.
#
# Published comparisons give each effect as a factor on constants of the parts that it concerns.
# They are too few to be fitted, so a stated effect also widens the range.


@dataclass(frozen=True, kw_only=True)
class Software:
    """Stated software of a machine, as it acts on a model in a runtime."""

    interfaces: Names  # backend of the GPUs; of a stack of machines one for each
    kernels: str  # older kernels of the stated build, as `Scope.build`; empty for today's
    effects: tuple[backends.SoftwareEffect, ...]  # published effects on the runtime's speed

    @property
    def kernel(self) -> backends.SoftwareEffect | None:
        """Effect of a build without a fast kernel for the model's format; None for others."""
        return next((effect for effect in self.effects if effect.option == "kernel"), None)


def software_of(model: Model, machine: Machine, runtime: Runtime, backend: str = "") -> Software:
    """Software that a machine states, as it acts on a model in a runtime; `backend` replaces the
    machine's own.
    """
    interfaces = backend or machine.interfaces
    build = backends.Build(machine.build)
    effects = tuple(_published(machine, runtime, model, build))
    kernels = ""
    if machine.build and runtime.of_llama_cpp:
        kernels = build.kernels(shared_name(interfaces))
    return Software(interfaces=interfaces, kernels=kernels, effects=effects)


def _published(
    machine: Machine, runtime: Runtime, model: Model, build: backends.Build
) -> Iterator[backends.SoftwareEffect]:
    """Published effects of the stated software on a runtime."""
    host = machine.host
    effects: list[backends.SoftwareEffect | None] = []
    if runtime.of_llama_cpp:
        driver = machine.effect_of_driver()
        effects.append(driver)
        if driver and model.has_experts:
            effects.append(machine.effect_of_driver("experts"))
        if model.has_delta_rule:
            effects.extend(build.effects)
        if machine.build:
            effects.append(build.effect_of_kernel(machine.interface, main_kinds(model)))
    if runtime.binds(host):
        effects.append(backends.SoftwareEffect.of("numa", host.numa))
    if host.thread_excess and runtime.takes_layers:
        effects.append(backends.SoftwareEffect.of("threads", host.thread_excess))
    yield from filter(None, effects)


def main_kinds(model: Model) -> frozenset[str]:
    """Storage types that hold most of a model's bytes."""
    return frozenset(kind for kind, share in model.stored.items() if share > MOST)


def scope_of(model: Model, runtime: Runtime, software: Software, build: str = "") -> Scope:
    """Scope of the constants of a model in a runtime.

    It has the stated build where no other is given; without a stated build it has today's.
    """
    return Scope(
        runtime=runtime.key,
        decode_class=model.decode_class,
        backend=software.interfaces,
        build=runtime.build or build or software.kernels,
    )


def conditioned(constants: Constants, software: Software) -> Constants:
    """Constants under the stated driver, build, threads and policy; unchanged where these are
    counted already.
    """
    for effect in software.effects:
        factors = _factors(effect, constants)
        source = f"{effect.source}: {effect.note}"
        there = constants.rows[next(iter(factors))]
        if all(row.source != source for row in there):
            constants = constants.scaled(factors, source)
    return constants


def constants_of(model: Model, machine: Machine, runtime: Runtime) -> Constants:
    """Fitted and measured constants of an estimate's scope, under the stated software."""
    software = software_of(model, machine, runtime)
    scope = scope_of(model, runtime, software)
    there = constants_on(machine.host, model, Constants.fitted().bound(scope))
    return conditioned(there, software)


def effect_factors(software: Software, constants: Constants) -> Mapping[str, float]:
    """Factor of all effects of the stated software together, by the constant that they change."""
    together: dict[str, float] = {}
    for effect in software.effects:
        for name, factor in _factors(effect, constants).items():
            together[name] = together.get(name, 1.0) * factor
    return together


def kernel_note(software: Software, machine: Machine) -> str:
    """Sentence on the cost of a kernel that the stated build lacks, with a format that has one;
    empty for none.
    """
    effect = software.kernel
    if effect is None:
        return ""
    told = (
        f"Builds of llama.cpp before {backends.Build(effect.before)} have no fast kernel for "
        f"{effect.value} on {backends.Backend(machine.interface).label}: a token takes "
        f"{number(1.0 / effect.token)} times as long as with one."
    )
    if effect.instead:
        return f"{told} {effect.instead} has one."
    return told


def _factors(effect: backends.SoftwareEffect, constants: Constants) -> Mapping[str, float]:
    """Factors on constants of one effect, by the input that states the software."""
    token = effect.token
    prompt = effect.prompt
    time = 1.0 / effect.token
    match effect.option:
        case "driver":
            times = dict.fromkeys(Constants.OF_PART["GPU times"], time)
            products = dict.fromkeys(Constants.OF_PART["GPU products"], prompt)
            return {**dict.fromkeys(Constants.OF_PART["GPU reads"], token), **times, **products}
        case "build":
            on_cpu = effect.backend == backends.Backend.CPU
            return {"cpu_state_layer" if on_cpu else "gpu_state_layer": time}
        case "kernel":
            reading = {"gpu_read_share": token, "gpu_unpack_operations": time}
            return {**reading, "gpu_flop_share": prompt}
        case "experts":
            return {"gpu_expert_read_share": token, "gpu_expert_layer": time}
        case "numa":  # the share of several sockets' RAM rate is at most the whole
            return {"socket_share": min(token, 1.0 / constants.value("socket_share"))}
    cores = dict.fromkeys(Constants.OF_PART["core rates"], prompt)
    times = dict.fromkeys(Constants.OF_PART["CPU times"], time)
    return {"cpu_read_share": token, **cores, "core_decode_rate": token, **times}


def doubt(software: Software, *, prompt: bool) -> tuple[float, float]:
    """Further half widths of the time of GPUs and of the processor because of stated software, as
    logarithms of factors.

    They are of a token or of a prompt, and 0 where the software leaves that speed unchanged.
    """
    of_gpu = of_host = 0.0
    for effect in software.effects:
        changes = (effect.prompt if prompt else effect.token) != 1.0
        of_graphics = effect.option in ("driver", "build", "kernel", "experts")
        if of_graphics and effect.backend != backends.Backend.CPU:
            of_gpu += effect.doubt * changes
        else:
            of_host = math.hypot(of_host, effect.doubt * changes)
    return of_gpu, of_host
