"""llamafile: llama.cpp in one file for all systems, with kernels of its own.

LocalScore's thousands of runs used it, in releases of 2025 that contain an older llama.cpp: it puts
whole layers on the GPU and has no option for experts (llama.cpp/server/server.cpp of 0.9.3, June
2025).
"""

import shlex
from dataclasses import replace

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import variant
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.llama_cpp import layer_split
from advisor.runtimes.llama_cpp.command import as_before, bound, gguf_file
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """As many whole layers on the GPU as fit; the others in RAM."""
    if settings.cpu_moe is not None:
        raise Refusal("llamafile has no option that keeps experts in RAM; use llama.cpp.")
    if settings.gpu_layers is None and machine.gpus:
        settings = replace(settings, gpu_layers=layer_split.whole_layers(model, machine, work))
    return layer_split.place(model, machine, work, strategy, settings)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line that serves a model file."""
    options = as_before(model, placement, machine, work)
    packed = ["-fa"] if work.kv_type != "f16" else []
    file = shlex.quote(gguf_file(model))
    return bound(" ".join(["llamafile --server -m", file, *options, *packed]), machine)


LLAMAFILE = variant(
    LLAMA_CPP,
    name="llamafile",
    build="llamafile",
    version="llamafile 0.9 (LocalScore)",
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    place=place,
    command=command,
    binds_nodes=True,
)
