"""KTransformers: attention and dense parts on the GPUs, experts in RAM, computed by the cores.

kt-kernel adds kernels for experts on the processor to SGLang, with AMX or AVX-512 where available.
The cache, attention, dense and shared parts are on the GPU, with K experts of every layer. While
the cores compute a token's experts in RAM, the GPU computes its own. A model without experts has
nothing to keep in RAM.

Several GPUs share each layer (tensor parallel). A long prompt in a native format is computed on the
GPUs layer by layer: all experts of a layer are copied there first, each GPU's part over its link.

The experts on the GPU serve their share of lookups, as with `--kt-expert-placement-strategy
uniform`; the most frequently used ones (`frequency`, with statistics of many texts) serve more.

Reference: kvcache-ai/ktransformers at 95009ea, 2026-08-21, kt-kernel/README.md; options as in the
wheel of sglang-kt 0.7.2.
"""

import shlex
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from advisor.cost_model.loads import ForwardPass, prompt_step, step_load, token_step
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, all_of
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Flow, Phases, Route, Schedule, Transfer
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.expert_use import served_by_fixed
from advisor.model.model import Floats, Model
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.parallelism import (
    GpuGroup,
    cache_share,
    exchanges,
    parallel,
    several,
    stages_by_memory,
)
from advisor.runtimes.serving import held_load, served
from advisor.runtimes.weight_streaming import ACTIVATIONS
from advisor.units import Array

MEMORY_USED = 0.92  # `--mem-fraction-static` of its examples (kt-kernel/README.md)
METHODS = ("AMXINT4", "AMXINT8", "FP8", "BF16")
"""`--kt-method` of formats of experts that have their own; llamafile's kernels take all others."""
FILES = {"Q4_K+FP8": "Q4_K_M", "Q8_0+FP8": "Q8_0"}
"""Format of the GGUF file with the experts of a mixed format."""
NATIVE = ("FP8", "AWQ")
"""Formats whose experts the GPUs can compute in the form they have in RAM; AWQ means any 4-bit
checkpoint."""
LONG = 1024
"""Shortest prompt that is computed this way (`--kt-gpu-prefill-token-threshold`; 1024 to 4096 are
advised) [tokens]."""
CHUNK = 32768
"""Prompt tokens computed together (`--chunked-prefill-size`); experts are copied for each chunk
[tokens]."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with all parts but experts on the GPUs, and as many experts as fit there, equally
    many in each layer.
    """
    check_takes("ktransformers", machine, strategy, model, work)
    group = shared_by(model, machine)
    total = experts_of(model)
    tensor = group.division.tensor
    cache = model.kv_bytes(work.context, served(work).kv_type)
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    # those of one layer are copied to the GPUs for a long prompt
    if model.format in NATIVE:
        copied = float(np.max(experts))
    else:
        copied = 0.0
    if settings.gpu_experts is not None:
        on_gpus = np.asarray(settings.gpu_experts, dtype=float) * total
    else:
        dense = np.sum(model.layer_bytes - experts) + model.embedding + model.output
        cached = np.sum(cache * cache_share(model, tensor), axis=-1) * np.asarray(work.users)
        room = group.memory * MEMORY_USED - (ACTIVATIONS + (dense + copied) / tensor + cached)
        fitting = np.floor(room / (np.sum(experts) / total / tensor))
        on_gpus = np.asarray(np.clip(fitting, 0, total - 1))
    everywhere = np.ones((*np.shape(on_gpus), model.layers))
    share = np.asarray(on_gpus)[..., None] / total * everywhere
    part = {**all_of(everywhere / tensor), Group.ROUTED_EXPERTS: share / tensor}
    weights: dict[Location, Mapping[Group, Floats]] = {
        Location.RAM: {Group.ROUTED_EXPERTS: 1.0 - share}
    }
    cards = tuple(map(Location.vram, range(tensor)))
    buffers = {
        card: machine.gpus[card.device].memory.value * (1 - MEMORY_USED)
        + (ACTIVATIONS + copied / tensor)
        for card in cards
    }
    layers = np.full(np.shape(on_gpus), float(model.layers))
    return Placement(
        strategy=strategy,
        gpu_layers=layers,
        cpu_moe=layers,
        weights={**weights, **dict.fromkeys(cards, part)},
        kv=dict.fromkeys(cards, everywhere * cache_share(model, tensor)),
        embedding=Location.vram(0),
        embedding_shares=dict.fromkeys(cards, 1.0 / tensor),
        output=dict.fromkeys(cards, np.asarray(1.0 / tensor)),
        buffers=buffers,
        cache=cache,
        answered=served_by_fixed(on_gpus / total) if settings.most_asked else None,
    )


def shared_by(model: Model, machine: Machine) -> GpuGroup:
    """GPUs that share each layer; further GPUs stay idle."""
    division = replace(parallel(model, machine), pipeline=1)
    return GpuGroup(model=model, machine=machine, division=division, at=0)


def experts_of(model: Model) -> int:
    """Number of experts in a layer; 1 for a model without experts."""
    if model.architecture.experts:
        return model.architecture.experts.total
    return 1


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of attention and dense parts, then of the experts on GPUs and cores in parallel.

    For a long prompt the GPUs compute the experts of the RAM too, which are copied first.
    """
    group = shared_by(model, machine)
    device = group.slowest
    tensor = group.division.tensor
    on_card = placement.weights[Location.vram(device)]
    share = on_card[Group.ROUTED_EXPERTS]
    if placement.answered is not None:
        share = np.asarray(placement.answered)[..., None] * np.ones_like(share) / tensor
    cold = 1.0 - share * tensor
    without = {**on_card, Group.ROUTED_EXPERTS: np.zeros_like(share)}
    in_ram: Array = (
        placement.weights[Location.RAM][Group.ROUTED_EXPERTS]
        @ model.bytes_per_layer[Group.ROUTED_EXPERTS]
    )

    def one_pass(step: ForwardPass, copied: Array) -> Schedule:
        """Pass with the experts in RAM copied (1), or computed there (0)."""
        first = held_load(group, replace(placement, weights={Location.vram(device): without}), step)
        hot, brought = (
            held_load(group, _experts(placement, Location.vram(device), part), step)
            for part in (share, cold / tensor)
        )
        outside = step_load(model, _experts(placement, Location.RAM, cold), Location.RAM, step)
        moved = copied * np.ceil(np.asarray(step.tokens) / CHUNK) * in_ram / tensor
        return Schedule(
            stages=(
                (Flow(route=Route.RESIDENT, load=first, device=device),),
                (Flow(route=Route.STREAMED, moved=moved, device=device, transfer=Transfer.PINNED),),
                (
                    Flow(route=Route.IN_PLACE, load=outside.times(1.0 - copied)),
                    Flow(route=Route.RESIDENT, load=hot + brought.times(copied), device=device),
                ),
            ),
            crossings=2.0 * float(np.sum(model.per_layer.expert_layers)) * (1.0 - copied),
            exchanges=tuple(exchanges(model, machine, group.division, step.tokens)),
        )

    prompt = prompt_step(served(work))
    token = token_step(served(work))
    long = np.where(np.asarray(prompt.tokens) > LONG, 1.0, 0.0) * (model.format in NATIVE)
    return Phases(of_prompt=lambda: one_pass(prompt, long), of_token=lambda: one_pass(token, 0.0))


def _experts(placement: Placement, where: Location, share: Floats) -> Placement:
    """Placement of the experts alone, at one location."""
    return replace(placement, weights={where: {Group.ROUTED_EXPERTS: share}}, kv={}, output={})


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Launch line of the placement."""
    division = shared_by(model, machine).division
    share = (
        float(np.ravel(placement.weights[Location.vram(0)][Group.ROUTED_EXPERTS])[0])
        * division.tensor
    )
    experts = FILES.get(model.format, model.format)
    form = model.format.removesuffix("-hf")
    if form == "BF16":
        plain = catalog.repository(model.published_as)
    else:
        plain = ""
    weights = plain or catalog.checkpoint(model.published_as, "FP8")
    layerwise = f"--kt-gpu-prefill-token-threshold {LONG} --chunked-prefill-size {CHUNK}"
    parts = [
        "python -m sglang.launch_server",
        f"--model-path {shlex.quote(weights)}",
        f"--context-length {int(work.context)}",
        f"--max-running-requests {int(work.users)}",
        f"--mem-fraction-static {MEMORY_USED}",
        *(["--kv-cache-dtype fp8_e4m3"] if served(work).kv_type == "fp8" else []),
        f"--kt-method {form if form in METHODS else 'LLAMAFILE'}",
        f"--kt-weight-path {shlex.quote(f'{model.file_stem}-{experts}')}",
        f"--kt-cpuinfer {machine.host.cores}",
        f"--kt-threadpool-count {machine.host.sockets}",
        f"--kt-num-gpu-experts {round(share * experts_of(model))}",
        *several(division, "--tensor-parallel-size", "--pipeline-parallel-size"),
        *([layerwise] if model.format in NATIVE else []),
        "--disable-shared-experts-fusion",
    ]
    return " ".join(parts)


KTRANSFORMERS = Runtime(
    name="KTransformers",
    key="ktransformers",
    engine="ktransformers",
    version="kt-kernel and sglang-kt 0.7.2",
    strategies=(PlacementStrategy.CPU_OFFLOAD,),
    loaded_format=loaded_format_of("ktransformers"),
    place=place,
    schedule=schedule,
    command=command,
    stages=stages_by_memory,
    computes_in_ram=True,
    quantized_kv_type="fp8",
    mainstream=False,
)
