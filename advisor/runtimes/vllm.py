"""vLLM: all on the GPUs, or weights in pinned RAM, read over the link in one of two ways.

`--offload-backend prefetch` copies whole layers ahead on a separate stream while the GPUs compute,
so that a step takes the longer of copying and computing; all experts of a layer are copied, used or
not. `--cpu-offload-gb` leaves weights in RAM: kernels read them over the link at each use (unified
virtual addressing), without overlap, but only the experts in use. So the first way is faster for a
dense model, the second for one with many experts. There is no tier on a drive
(vllm/config/offload.py and vllm/model_executor/offloader of 0.33.0).
"""

import json
import math
import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from advisor.cost_model.loads import ForwardPass, Load
from advisor.cost_model.placement import (
    DEFAULT,
    Placement,
    PlacementStrategy,
    Settings,
)
from advisor.cost_model.placement_choice import either
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Flow, Kernels, Phases, Route, Stage, Transfer, alone
from advisor.cost_model.workload import DRAFT_MODEL, Workload, drafter_memory
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes.format_support import loaded_format_of
from advisor.runtimes.parallelism import Parallel, parallel, representative, several
from advisor.runtimes.server_setup import checkpoint_server
from advisor.runtimes.serving import (
    Room,
    checkpoint,
    drafter,
    needs_linux,
    paged,
    placed,
    room_for_layers,
    served,
    users_at_once,
)
from advisor.runtimes.serving_steps import (
    KernelsOf,
    group_kernels,
    group_weights,
    held_load,
    layers_only,
    outside_load,
    phases,
)
from advisor.runtimes.vllm_offloading import BUFFERED, offload_options, read_in_place, sooner
from advisor.units import Array

VERSION = "vLLM 0.33.0"
MEMORY_USED = 0.92
"""`--gpu-memory-utilization`, default of vLLM 0.33 (vllm/config/cache.py)."""
PAGE = 16
"""Tokens of a page of the cache (`--block-size`, default of vLLM 0.33 on CUDA)."""
NOTES = (
    "swap_space never held weights: it kept the cache of preempted requests and was removed in "
    "0.18. Weights are kept in RAM by --cpu-offload-gb or --offload-backend.",
    "--kv-offloading-size keeps finished pages of the cache in RAM: a prompt that begins like an "
    "earlier one starts sooner. A running conversation must still fit on the GPU.",
)


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """As many layers on the GPUs as fit beside cache and buffers; the rest in pinned RAM.

    Raises:
        Refusal: a placement on the drive, or a machine without a GPU.
    """
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        raise Refusal("vLLM keeps no weights on a drive.")
    needs_linux(machine, "vLLM")
    if not machine.gpus:
        raise Refusal("vLLM streams to a GPU, and this machine has none.")
    room = _room(model, work)
    copied = placed(model, machine, work, strategy, settings, room)
    if strategy is PlacementStrategy.GPU_RESIDENT or settings.zero_copy is False:
        return copied
    read = read_in_place(model, machine, work, settings, room)
    if settings.zero_copy:
        return read
    return either(sooner(model, machine, work, read, copied), read, copied)


def _room(model: Model, work: Workload) -> Room:
    held = served(paged(work))
    return Room(
        usable=MEMORY_USED,
        buffered=BUFFERED,
        cache=paged_cache(model, held),
        drafter=drafter_memory(model, held),
    )


def layer_room(model: Model, machine: Machine, work: Workload) -> Array:
    """Upper bound on the layers in VRAM, beside the cache of one user [B]."""
    alone = work.with_numbers(users=1.0)
    return room_for_layers(model, machine, alone, _room(model, alone))


def at_once(model: Model, machine: Machine, work: Workload, settings: Settings = DEFAULT) -> Array:
    """Users decoded together; further users wait in the queue."""
    return users_at_once(model, machine, work, settings, partial(_room, model))


def paged_cache(model: Model, work: Workload) -> Floats:
    """Cache of one user in whole pages, per layer, shape (..., layers) [B]."""
    tokens = np.ceil(np.asarray(work.context, dtype=float) / PAGE) * PAGE
    return model.kv_bytes(tokens, work.kv_type)


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    computed: KernelsOf = group_kernels,
) -> Phases:
    """One pass for the prompt and one for each token; copies overlap with computing."""
    return phases(model, placement, machine, work, partial(_group, computed))


def _group(
    computed: KernelsOf,
    model: Model,
    placement: Placement,
    machine: Machine,
    how: Parallel,
    at: int,
    step: ForwardPass,
) -> Iterable[Stage]:
    """Stages of one group of GPUs: resident and copied layers in parallel, then reads in RAM.

    A prompt reads each weight in RAM once, as if every kernel kept the weights it has read.
    """
    device = representative(machine, how, at)
    here = held_load(model, placement, machine, how, at, step)
    own = computed(model, placement, machine, how, at, step)

    def resident(load: Load, own: Kernels) -> Flow:
        return Flow(route=Route.RESIDENT, load=load, device=device, kernels=own)

    if placement.strategy is PlacementStrategy.GPU_RESIDENT:
        yield alone(resident(here, own))
        return
    outside = outside_load(model, placement, how, at, step)
    read = np.asarray(placement.zero_copy, dtype=float)
    moved = group_weights(model, placement, how, at) * (1.0 - read)

    def streamed(size: Array, transfer: Transfer) -> Flow:
        return Flow(
            route=Route.STREAMED, moved=size, device=device, transfer=transfer, alike=how.tensor
        )

    copied = streamed(moved, Transfer.PINNED)
    yield Stage(flows=(resident(here + outside.times(1.0 - read), own), copied))
    if np.any(read > 0):
        work = replace(outside, weights=np.zeros(()), experts=np.zeros(())).times(read)
        over = streamed(outside.weights * read, Transfer.ZERO_COPY)
        yield Stage(flows=(resident(work, layers_only(own)), over))


def command(
    model: Model, placement: Placement, machine: Machine, work: Workload, source: str = ""
) -> str:
    """Command line of a placement, and that of each further machine.

    `source` is shell text for the repository, empty for the checkpoint's own.
    """
    how = parallel(model, machine, by_user=placement.attention_by_user)
    tensor = "--data-parallel-size" if how.by_user else "--tensor-parallel-size"
    parts = [
        f"vllm serve {source or shlex.quote(checkpoint(model))}",
        f"--max-model-len {int(work.context)}",
        f"--max-num-seqs {math.ceil(work.users / (how.tensor if how.by_user else 1))}",
        f"--gpu-memory-utilization {MEMORY_USED}",
        *(["--kv-cache-dtype fp8"] if served(work).kv_type == "fp8" else []),
        *several(machine, how, (tensor, "--pipeline-parallel-size")),
        *(["--enable-expert-parallel"] if placement.expert_parallel else []),
        *offload_options(model, placement, how),
        *_drafting(work),
    ]
    line = " ".join(parts)
    if machine.nodes == 1:
        return line
    joined = f"{line} --nnodes {machine.nodes} --master-addr HOST1 --node-rank"
    others = (
        f"{joined} {rank} --headless  # on HOST{rank + 1}" for rank in range(1, machine.nodes)
    )
    return "\n".join([f"{joined} 0  # on HOST1", *others])


def _drafting(work: Workload) -> Iterable[str]:
    """`--speculative-config` (features/speculative_decoding of vLLM's documentation, 2026-11)."""
    if work.draft:
        methods = {"eagle": "eagle3", "dflash": "dflash", DRAFT_MODEL: "draft_model"}
        method = methods.get(work.draft, work.draft)
        config: dict[str, object] = {"method": method, "num_speculative_tokens": int(work.drafted)}
        if work.draft in methods:
            config["model"] = drafter(work)
        yield f"--speculative-config {shlex.quote(json.dumps(config))}"


VLLM = Runtime(
    name="vLLM",
    key="vllm",
    engine="vllm",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    loaded_format=loaded_format_of("vllm"),
    place=place,
    schedule=schedule,
    command=command,
    room_for_layers=layer_room,
    reads_over_link=True,
    at_once=at_once,
    drafts=True,
    divides_experts=True,
    takes_several_counts=True,
    quantized_kv_type="fp8",
    setup=checkpoint_server(
        command,
        port=8000,
        install=(  # vllm, docs/getting_started/installation/gpu.cuda.inc.md
            f"uv pip install vllm=={VERSION.rpartition(' ')[2]} --torch-backend=auto",
            "vllm download-kernels",
        ),
    ),
    notes=NOTES,
)
