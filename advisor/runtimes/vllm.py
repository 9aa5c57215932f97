"""vLLM: all on the GPU, or layers streamed ahead of their use from pinned memory.

Its prefetch backend copies the next layers on a stream of their own while the GPU computes, so a
step takes the longer of copy and compute. It has no tier on the drive.
"""

import re
import shlex

import numpy as np

from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import Floats, Model
from advisor.placement import RAM, Placement, Settings, Strategy
from advisor.runtimes.runtime import Becomes, Runtime
from advisor.runtimes.streaming import (
    gpu_load,
    kernels,
    layer_weights,
    layers_kept,
    on_one_gpu,
    packed_weights,
    stored_weights,
    whole_load,
)
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, Transfer, alone
from advisor.workload import Workload

VERSION = "vLLM 0.33.0"
MEMORY_USED = 0.92
"""`--gpu-memory-utilization`, default of vLLM 0.33 (vllm/config/cache.py)."""
BUFFERED = 2
"""Layers that pass through VRAM at a time (`--offload-prefetch-step 1`: one used, one coming)."""
PAGE = 16
"""Tokens of a page of the cache (`--block-size`, default of vLLM 0.33 on CUDA)."""
WITHOUT_TENSOR_CORES = ("Pascal", "GCN 5", "RDNA 1", "RDNA 2")


def becomes(form: str, machine: Machine) -> Becomes:
    """4-bit GGUF becomes AWQ, 8-bit FP8, 16-bit stays.

    Raises:
        Refusal: GPUs that vLLM's kernels do not run on.
    """
    for gpu in machine.gpus:
        if gpu.vendor == "Apple" or gpu.family in WITHOUT_TENSOR_CORES:
            raise Refusal(f"vLLM has no kernels for {gpu.name} ({gpu.family}).")
    if form in ("AWQ", "GPTQ", "FP8", "BF16", "BF16-hf", "NVFP4", "MXFP4-hf"):
        return Becomes(format=form)
    if form in ("F16", "F32"):
        return Becomes(format="BF16", reason=f"vLLM computes {form} weights in 16 bits")
    near = "AWQ" if bits(form) < 6 else "FP8"
    return Becomes(format=near, reason=f"vLLM does not stream {form}; {near} is its closest format")


def bits(form: str) -> int:
    """The leading number of bits in a format's name; 16 where there is none [bit]."""
    found = re.search(r"(\d+)", form)
    return int(found.group(1)) if found else 16


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """As many layers as fit beside cache and buffers stay; the rest in pinned RAM.

    Raises:
        Refusal: on a drive, or on a machine without a GPU.
    """
    if strategy is Strategy.NVME_OFFLOAD:
        raise Refusal("vLLM keeps no weights on a drive.")
    if not machine.gpus:
        raise Refusal("vLLM streams to a GPU, and this machine has none.")
    layers = (
        np.asarray(float(model.layers))
        if strategy is Strategy.GPU_RESIDENT
        else layers_kept(model, machine, work, settings, MEMORY_USED, BUFFERED)
    )
    return on_one_gpu(
        model,
        machine,
        strategy,
        layers,
        RAM,
        usable=MEMORY_USED,
        buffered=BUFFERED,
        cache=paged_cache(model, work),
    )


def paged_cache(model: Model, work: Workload) -> Floats:
    """Cache of one user in whole pages, per layer, shape (..., layers) [B]."""
    tokens = np.ceil(np.asarray(work.context, dtype=float) / PAGE) * PAGE
    return model.kv_bytes(tokens, work.kv_type)


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    zero_copy: bool = False,
) -> Phases:
    """One pass for the prompt and one for each token.

    Args:
        model: the model.
        placement: where it lies.
        machine: with one GPU at least.
        work: what is asked.
        zero_copy: kernels read what lies in RAM over the link themselves (`--cpu-offload-gb`), so
            that nothing overlaps; else it is copied beside the compute.
    """
    return Phases(
        prefill=_pass(model, placement, machine, work, prefill=True, zero_copy=zero_copy),
        decode=_pass(model, placement, machine, work, prefill=False, zero_copy=zero_copy),
    )


def _pass(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    prefill: bool,
    zero_copy: bool,
) -> Schedule:
    packed = stored_weights(model) if packed_weights(model) else 0.0
    own = kernels(model, machine, work, prefill=prefill, unpacked=packed)
    load = whole_load(model, placement, work, prefill=prefill)
    computed = Flow(route=Route.RESIDENT, load=load, kernels=own)
    share = 1.0 / len(machine.gpus)  # each GPU brings its part
    if zero_copy:
        step = gpu_load(model, placement, RAM, work, prefill=prefill)
        read = Flow(route=Route.STREAMED, moved=step.weights * share, transfer=Transfer.ZERO_COPY)
        return Schedule(stages=(alone(read), alone(computed)))
    moved = layer_weights(model, placement, RAM) * share
    copied = Flow(route=Route.STREAMED, moved=moved, transfer=Transfer.PINNED)
    return Schedule(stages=(Stage(flows=(computed, copied)),))


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """The serve line that does this."""
    parts = [
        f"vllm serve {shlex.quote(f'{model.name}-{model.format}')}",
        f"--max-model-len {int(work.context)}",
        f"--max-num-seqs {int(work.users)}",
        f"--gpu-memory-utilization {MEMORY_USED}",
    ]
    if len(machine.gpus) > 1:
        parts.append(f"--tensor-parallel-size {len(machine.gpus)}")
    if placement.gpu_layers < model.layers:
        offloaded = model.layers - int(placement.gpu_layers)
        group = max(model.layers // max(offloaded, 1), 1)
        within = max(round(offloaded * group / model.layers), 1)
        parts.append(
            f"--offload-backend prefetch --offload-group-size {group} "
            f"--offload-num-in-group {within} --offload-prefetch-step 1"
        )
    return " ".join(parts)


VLLM = Runtime(
    name="vLLM",
    key="vllm",
    version=VERSION,
    strategies=(Strategy.GPU_RESIDENT, Strategy.CPU_OFFLOAD),
    becomes=becomes,
    place=place,
    schedule=schedule,
    command=command,
)
