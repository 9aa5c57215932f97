"""Steps of vLLM and SGLang: what each GPU reads and computes, and with which kernels."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import chain

import numpy as np

from advisor.cost_model.engine_kernels import PEAKS, EngineKernels
from advisor.cost_model.loads import (
    ForwardPass,
    Load,
    prompt_step,
    step_load,
    token_step,
)
from advisor.cost_model.placement import RAM, Placement, vram
from advisor.cost_model.schedule import Kernels, Phases, Schedule, Stage
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.runtimes.layer_kinds import (
    attention_work,
    cache_read,
    is_prompt,
    layer_kinds,
    state_work,
)
from advisor.runtimes.parallelism import (
    ACTIVATION,
    Parallel,
    beside_layers,
    busiest_gpu,
    chunk,
    exchanges,
    parallel,
    representative,
    share_of_users,
)
from advisor.runtimes.serving import served
from advisor.runtimes.weight_streaming import each_of, kernels, unpacked_weights
from advisor.units import Array


def held_load(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its own memory; each starts the kernels of every layer."""
    where = vram(representative(machine, how, at))
    load = step_load(model, placement, where, step)
    if placement.expert_parallel:
        load = _with_whole_experts(load, model, how, step)
    attention: dict[str, Array] = {}
    if where in placement.kv:
        group, cached = chunk(model, how, at), placement.kv[where]
        heads = group / beside_layers(how.tensor)
        if how.by_user:
            users = share_of_users(how, step.sequences)
            heads = cached = np.asarray(users)[..., None] * group
            attention["flops"] = load.flops * users
        attention["attention_flops"] = attention_work(model, heads, step)
        attention["kv"] = cache_read(model, cached, step)
    rest = 1 if how.by_user else how.tensor
    return replace(
        load,
        **attention,
        layers=load.layers * rest,
        expert_layers=load.expert_layers * how.tensor,
        state_layers=load.state_layers * rest,
    )


def _with_whole_experts(load: Load, model: Model, how: Parallel, step: ForwardPass) -> Load:
    """Load of the busiest GPU where each holds whole experts."""
    read, computed = busiest_gpu(model, how.tensor, step.tokens)
    return replace(
        load,
        weights=load.weights + load.experts * (read - 1.0),
        experts=load.experts * read,
        expert_flops=load.expert_flops * computed,
    )


def outside_load(
    model: Model, placement: Placement, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its layers in RAM, after they were copied."""
    group = chunk(model, how, at)
    own = {part: share * group for part, share in placement.weights[RAM].items()}
    alone = replace(placement, weights={RAM: own}, kv={}, output={})
    load = step_load(model, alone, RAM, step)
    return each_of(load, how.tensor)


def phases(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    group: Callable[[Model, Placement, Machine, Parallel, int, ForwardPass], Iterable[Stage]],
) -> Phases:
    """One pass for the prompt and one for each token, through the groups of GPUs in turn.

    Args:
        model: model that is run.
        placement: location of its parts.
        machine: machine that runs the model.
        work: request.
        group: function that gives the stages of a group in the pipeline, for a step.
    """
    how = parallel(model, machine, by_user=placement.attention_by_user)
    running = served(work)

    def through(step: ForwardPass) -> Schedule:
        groups = (group(model, placement, machine, how, at, step) for at in how.turns)
        return Schedule(
            stages=tuple(chain.from_iterable(groups)),
            exchanges=tuple(exchanges(model, machine, how, step.tokens)),
        )

    return Phases(
        of_prompt=lambda: through(prompt_step(running)),
        of_token=lambda: through(token_step(running)),
    )


def group_weights(model: Model, placement: Placement, how: Parallel, at: int) -> Array:
    """Weights in RAM of a group's layers, for each of its GPUs, unused experts included [B]."""
    group = chunk(model, how, at)
    shares = placement.weights[RAM].items()
    whole: Array = sum((share * group) @ model.bytes_per_layer[part] for part, share in shares)
    return whole / how.tensor


def group_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> EngineKernels:
    """Kernels of one GPU of a group; those of the first group sample for all."""
    group = chunk(model, how, at)
    head = placement.output.get(vram(representative(machine, how, at)), 0.0)
    tokens = np.asarray(step.tokens, dtype=float)
    users = share_of_users(how, step.sequences)
    stream = model.architecture.hidden * ACTIVATION * tokens * users
    experts = model.architecture.experts
    used = experts.used if experts else 0
    per_token = group @ model.flops[Group.ROUTED_EXPERTS] / how.tensor
    rows = per_token / used * experts.total * model.expert_share(tokens) if experts else 0.0
    if placement.expert_parallel:
        rows = rows * busiest_gpu(model, how.tensor, step.tokens)[0]
    dense, routed = engine_formats(model)
    kinds, layers = layer_kinds(model.architecture), np.sum(group, axis=-1)
    return EngineKernels(
        number=PEAKS[dense][0],
        sequences=step.sequences * users * (at == 0),
        prompt=is_prompt(step),
        dense=dense,
        experts=routed,
        head_bytes=head * model.output,
        head_flops=head * model.output_flops * tokens * users,
        head_used=head * model.output_flops * np.asarray(step.sequences, dtype=float) * users,
        activations=stream * layers,
        expert_activations=stream * (group @ model.expert_layers) * used,
        expert_rows=rows,
        attention_layers=group @ (model.kv_values > 0),
        latent_layers=group @ kinds.latent,
        indexed_layers=group @ kinds.indexed,
        products_per_layer=group @ kinds.products / np.maximum(layers, 1.0),
        state_flops=state_work(model, group, step) * (users if how.by_user else 1 / how.tensor),
    )


KernelsOf = Callable[[Model, Placement, Machine, Parallel, int, ForwardPass], Kernels]
"""Function that gives the kernels of one GPU of a group, for its layers in a step."""


def layers_only(own: Kernels) -> Kernels:
    """Kernels of further layers in a step whose tokens and cache are counted already."""
    if not isinstance(own, EngineKernels):
        return replace(own, sequences=0.0, unpacked=0.0)
    return replace(
        own,
        sequences=0.0,
        head_bytes=0.0,
        head_flops=0.0,
        head_used=0.0,
        activations=0.0,
        expert_activations=0.0,
        expert_rows=0.0,
        attention_layers=0.0,
        latent_layers=0.0,
        indexed_layers=0.0,
        state_flops=0.0,
    )


FORMATS = ((12.0, "f16"), (6.0, "fp8"))
"""Format of kernels by the smallest number of bits per weight; below, a 4-bit format."""


@lru_cache(maxsize=512)
def engine_formats(model: Model) -> tuple[str, str]:
    """Formats of dense weights and of routed experts, for the choice of kernels."""
    experts = model.architecture.experts
    unused = experts.total / experts.used if experts else 1.0
    dense = [group for group in LAYERED if group not in (Group.ROUTED_EXPERTS, Group.NORMS)]
    return (
        _kernel(model, [(model.bytes_per_layer[group], model.flops[group]) for group in dense]),
        _kernel(
            model,
            [
                (
                    model.bytes_per_layer[Group.ROUTED_EXPERTS],
                    model.flops[Group.ROUTED_EXPERTS] * unused,
                )
            ],
        ),
    )


def _kernel(model: Model, parts: Iterable[tuple[Floats, Floats]]) -> str:
    """Format by the mean bits of a weight: bytes held over weights, two FLOPs each."""
    sizes = [(float(np.sum(held)), float(np.sum(work)) / 2.0) for held, work in parts]
    weights = sum(count for _, count in sizes)
    bits = 8.0 * sum(size for size, _ in sizes) / weights if weights else 16.0
    near = next((name for least, name in FORMATS if bits >= least), "")
    return near or FOUR_BITS.get(model.format, "int4")


FOUR_BITS = {"NVFP4": "nvfp4", "MXFP4": "mxfp4", "MXFP4-hf": "mxfp4"}
"""Kernels for formats of 4-bit floats; others unpack 4-bit integers as they multiply."""


def framework_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Kernels:
    """Kernels of engines without CUDA graphs, which compute as PyTorch does."""
    del placement, machine
    share = float(np.mean(chunk(model, how, at))) / how.tensor
    sequences = step.sequences if at == 0 else 0.0
    return kernels(model, sequences, unpacked_weights(model) * share)
