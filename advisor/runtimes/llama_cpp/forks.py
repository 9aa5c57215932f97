"""Forks of llama.cpp with kernels of their own, which kept an older spelling of its options.

ik_llama.cpp has the same placement. Its CPU kernels for matrices and attention are several times
faster, so experts in RAM are computed there for prompts too, where llama.cpp copies them to the GPU
(common/common.cpp at 8337e4cd3, 2026-08-15).

llamafile is one file for all systems. LocalScore's thousands of runs used it, in releases of 2025
that contain an older llama.cpp: it puts whole layers on the GPU and has no option for experts
(llama.cpp/server/server.cpp of 0.9.3, June 2025).
"""

import shlex
from collections.abc import Iterable
from copy import copy
from dataclasses import replace

import numpy as np

from advisor.cost_model.loads import micro_batches
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.llama_cpp import splits
from advisor.runtimes.llama_cpp.command import (
    bound,
    devices,
    request,
    threads,
    with_workers,
)
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS, phases
from advisor.runtimes.llama_cpp.splits import LLAMA_CPP
from advisor.units import Array


def schedule(
    model: Model, placement: Placement, machine: Machine, work: Workload, *, repacked: bool = True
) -> Phases:
    """Schedule of llama.cpp in which the processor always computes the experts in RAM.

    Without `-rtr`, where they are not `repacked`, a batch copies them to the GPU from `COPY_TOKENS`
    times all experts over the experts per token on (pull request 520 of the fork). Several GPUs
    take turns on each micro-batch: GGML_SCHED_MAX_COPIES is 1 in the fork's builds (pull request
    751, September 2025).
    """
    experts = model.architecture.experts
    if experts is None:
        used = 1.0
    else:
        used = experts.used / experts.total
    batch = np.minimum(np.maximum(work.fresh, 1.0), work.ubatch)
    copies = not repacked and bool(np.all(batch * used >= COPY_TOKENS))
    read, written = (
        phases(each_model, placement, machine, work, copies_experts=copies)
        for each_model in (unfolded(model, micro_batches(work)[0].tokens), model)
    )
    return Phases(of_prompt=lambda: replace(read.of_prompt(), workers=1), of_token=written.of_token)


def unfolded(model: Model, tokens: Array) -> Model:
    """Model with latent attention (MLA) as the fork reads a prompt: it makes keys and values of
    each head anew.

    FLOPs per token and past token = 2 (heads (nope + rope + v) + heads rank (nope + v) / n)

    llama.cpp attends in the latent space, 2 heads (2 rank + rope), for prompts too. The fork makes
    keys and values of each head once for the n tokens of a micro-batch and attends with these
    (`-mla 3`, its default; pull request 273): 40,960 + 16.8 million / n values for DeepSeek-V3 in
    place of 139,264.
    """
    layers = model.per_layer
    if not np.any(layers.unfolded):
        return model
    length = np.maximum(np.asarray(tokens, dtype=float), 1.0)[..., None]
    values = layers.unfolded + layers.unfolding / length
    work = np.where(layers.unfolded > 0, 2.0 * values, layers.attention_flops)
    read = copy(model)
    read.__dict__["per_layer"] = replace(layers, attention_flops=work)
    return read


ALL_LAYERS = 999  # `-ngl` larger than any model's layers, for forks that do not have `all`


def options(model: Model, placement: Placement, machine: Machine, work: Workload) -> Iterable[str]:
    """Options that both forks have."""
    yield from request(work)
    if machine.gpus:
        layers = int(np.ravel(placement.gpu_layers)[0])
        yield f"-ngl {ALL_LAYERS if layers >= model.layers else layers}"
    if work.kv_type != "f16":
        keys, values = Model.cache_types(work.kv_type)
        yield f"-ctk {keys} -ctv {values}"
    yield from threads(machine)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of ik_llama.cpp's llama-server."""
    words = [f"llama-server -m {shlex.quote(model.gguf_file)}"]
    words += options(model, placement, machine, work)
    experts = int(placement.cpu_moe)
    if experts and placement.gpu_layers and model.has_experts:
        words.append("-cmoe" if experts >= model.layers else f"-ncmoe {experts}")
    words += devices(model, placement, machine)
    if placement.gpu_layers and np.all(placement.kv[Location.RAM] > 0):
        words.append("-nkvo")
    if not work.flash_attention:
        words.append("-fa off")
    if placement.strategy is PlacementStrategy.CPU_OFFLOAD:
        words.append("-rtr")
    return with_workers(bound(" ".join(words), machine), placement, machine)


def older_count(settings: Settings) -> Settings:
    """Settings whose number of layers counts repeating layers alone, without the output head.

    Both forks left llama.cpp before its `-ngl N` counted the output head first.
    """
    if not settings.counts_head:
        return settings
    return replace(settings, counts_head=False, head_first=False)


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement of llama.cpp in which `-ngl N` is N layers; the head follows after the last of
    them.
    """
    return splits.place(model, machine, work, strategy, older_count(settings))


IK_LLAMA_CPP = variant(
    LLAMA_CPP,
    name="ik_llama.cpp",
    build="ik",
    version="ik_llama.cpp of August 2026 (8337e4cd3)",
    loaded_format=loaded_format_of("ik_llama.cpp"),
    place=place,
    schedule=schedule,
    command=command,
    binds_nodes=True,
)


def llamafile_place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with as many whole layers on the GPU as fit, and the others in RAM."""
    check_takes("llamafile", machine, strategy, model, work, settings)
    settings = older_count(settings)
    if settings.gpu_layers is None and machine.gpus:
        settings = replace(settings, gpu_layers=splits.whole_layers(model, machine, work))
    return splits.place(model, machine, work, strategy, settings)


def llamafile_command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line that serves a model file."""
    words = ["llamafile --server -m", shlex.quote(model.gguf_file)]
    words += options(model, placement, machine, work)
    if work.kv_type != "f16":
        words.append("-fa")
    return bound(" ".join(words), machine)


LLAMAFILE = variant(
    LLAMA_CPP,
    name="llamafile",
    build="llamafile",
    version="llamafile 0.9 (LocalScore)",
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    place=llamafile_place,
    command=llamafile_command,
    binds_nodes=True,
)
