"""KTransformers: attention and dense parts on the GPU, experts in RAM, computed there by the cores.

kt-kernel gives SGLang kernels for experts on the processor, with AMX or AVX-512 where it has them.
The cache, attention, dense and shared parts lie on the GPU with K experts of every layer; while the
cores work through the experts in RAM that a token asks for, the GPU computes its own. It is for
models with experts: without any there is nothing to leave in RAM.

Experts are taken to be asked for evenly, as with `--kt-expert-placement-strategy uniform`; the most
asked ones on the GPU would do better (`frequency`, with statistics).

Reference: kvcache-ai/ktransformers at 95009ea, 2026-08-21, kt-kernel/README.md; options as in the
wheel of sglang-kt 0.7.2.
"""

import shlex
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from advisor.architecture import Group
from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import Floats, Model
from advisor.placement import (
    RAM,
    Location,
    Placement,
    Settings,
    Step,
    Strategy,
    all_of,
    step_load,
    vram,
)
from advisor.runtimes.formats import becomes_of
from advisor.runtimes.runtime import Runtime
from advisor.runtimes.serving import prompt_step, served, token_step
from advisor.runtimes.streaming import ACTIVATIONS
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, alone
from advisor.units import Array
from advisor.workload import Workload

VERSION = "kt-kernel and sglang-kt 0.7.2"
MEMORY_USED = 0.92
"""`--mem-fraction-static` of its examples (kt-kernel/README.md)."""
METHODS = {
    "AMXINT4": "AMXINT4",
    "AMXINT8": "AMXINT8",
    "Q4_K+FP8": "LLAMAFILE",
    "Q8_0+FP8": "LLAMAFILE",
    "FP8": "FP8",
    "BF16": "BF16",
    "BF16-hf": "BF16",
}
"""`--kt-method` by the format of the experts."""
FILES = {"Q4_K+FP8": "Q4_K_M", "Q8_0+FP8": "Q8_0"}
"""GGUF files that hold the experts of a mixed format."""
NOTES = (
    "It needs sglang-kt in place of SGLang: pip uninstall sglang, then "
    "pip install kt-kernel sglang-kt. Experts for AMX are converted first, with "
    "scripts/convert_cpu_weights.py.",
)


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """All but experts on the first GPU; of these as many as fit, alike in all layers.

    Raises:
        Refusal: a model without experts, a machine without a GPU or several machines, another
            strategy.
    """
    if not machine.gpus:
        raise Refusal("KTransformers computes attention on a GPU, and this machine has none.")
    if not model.has_experts:
        raise Refusal(
            f"KTransformers is for models with experts, and {model.name} has none; use llama.cpp."
        )
    if strategy is not Strategy.CPU_OFFLOAD:
        raise Refusal("KTransformers keeps experts in RAM.")
    if machine.nodes > 1:
        raise Refusal("KTransformers runs on one machine.")
    cache = model.kv_bytes(work.context, served(work).kv_type)
    kept = experts_on_gpu(model, machine, work, cache)
    total = float(model.architecture.experts.total) if model.architecture.experts else 1.0
    everywhere = np.ones((*np.shape(kept), model.layers))
    share = np.asarray(kept)[..., None] / total * everywhere
    weights: dict[Location, Mapping[Group, Floats]] = {
        vram(0): {**all_of(everywhere), Group.ROUTED_EXPERTS: share},
        RAM: {Group.ROUTED_EXPERTS: 1.0 - share},
    }
    unused = machine.gpus[0].memory.value * (1 - MEMORY_USED)
    return Placement(
        strategy=strategy,
        gpu_layers=np.full(np.shape(kept), float(model.layers)),
        cpu_moe=np.full(np.shape(kept), float(model.layers)),
        weights=weights,
        kv={vram(0): everywhere},
        embedding=vram(0),
        output={vram(0): np.ones(())},
        buffers={vram(0): unused + ACTIVATIONS},
        cache=cache,
    )


def experts_on_gpu(model: Model, machine: Machine, work: Workload, cache: Floats) -> Array:
    """Experts of each layer that fit beside everything else (`--kt-num-gpu-experts`)."""
    total = model.architecture.experts.total if model.architecture.experts else 1
    experts = model.held[Group.ROUTED_EXPERTS]
    dense = np.sum(model.layer_bytes - experts) + model.embedding + model.output
    taken = ACTIVATIONS + dense + np.sum(cache, axis=-1) * np.asarray(work.users, dtype=float)
    room = machine.gpus[0].memory.value * MEMORY_USED - taken
    fitting = np.floor(room / (np.sum(experts) / total))
    return np.asarray(np.clip(fitting, 0, total - 1))


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """One pass for the prompt and one for each token; the experts of both sides together."""
    return Phases(
        prefill=_pass(model, placement, prompt_step(served(work))),
        decode=_pass(model, placement, token_step(served(work))),
    )


def _pass(model: Model, placement: Placement, step: Step) -> Schedule:
    """Attention and dense parts, then the experts of both sides at the same time."""
    here = placement.weights[vram(0)]
    share = here[Group.ROUTED_EXPERTS]
    dense = {vram(0): {**here, Group.ROUTED_EXPERTS: np.zeros_like(share)}}
    hot = {vram(0): {Group.ROUTED_EXPERTS: share}}
    first = step_load(model, replace(placement, weights=dense), vram(0), step)
    beside = replace(placement, weights=hot, kv={}, output={})
    return Schedule(
        stages=(
            alone(Flow(route=Route.RESIDENT, load=first)),
            Stage(
                flows=(
                    Flow(route=Route.IN_PLACE, load=step_load(model, placement, RAM, step)),
                    Flow(route=Route.RESIDENT, load=step_load(model, beside, vram(0), step)),
                )
            ),
        ),
        crossings=2.0 * float(np.sum(model.expert_layers)),
    )


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """The launch line that does this."""
    total = model.architecture.experts.total if model.architecture.experts else 1
    share = float(np.ravel(placement.weights[vram(0)][Group.ROUTED_EXPERTS])[0])
    experts = FILES.get(model.format, model.format)
    checkpoint = model.format if model.format in ("BF16", "BF16-hf") else "FP8"
    parts = [
        "python -m sglang.launch_server",
        f"--model-path {shlex.quote(f'{model.name}-{checkpoint}')}",
        f"--context-length {int(work.context)}",
        f"--max-running-requests {int(work.users)}",
        f"--mem-fraction-static {MEMORY_USED}",
        *(["--kv-cache-dtype fp8_e4m3"] if served(work).kv_type == "fp8" else []),
        f"--kt-method {METHODS.get(model.format, 'LLAMAFILE')}",
        f"--kt-weight-path {shlex.quote(f'{model.name}-{experts}')}",
        f"--kt-cpuinfer {machine.host.cores}",
        f"--kt-threadpool-count {machine.host.sockets}",
        f"--kt-num-gpu-experts {round(share * total)}",
        "--disable-shared-experts-fusion",
    ]
    return " ".join(parts)


KTRANSFORMERS = Runtime(
    name="KTransformers",
    key="ktransformers",
    version=VERSION,
    strategies=(Strategy.CPU_OFFLOAD,),
    becomes=becomes_of("ktransformers"),
    place=place,
    schedule=schedule,
    command=command,
    usual=False,
    notes=NOTES,
)
