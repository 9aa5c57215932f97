"""llamafile: llama.cpp in one file for all systems, with kernels of its own.

LocalScore's thousands of runs used it, in releases of 2025 that contain an older llama.cpp.
"""

import shlex

import numpy as np

from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.cost_model.runtime import variant
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.llama_cpp.command import bound, gguf_file, threads
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP

VERSION = "llamafile 0.9 (LocalScore)"
ALL_LAYERS = 999
"""`-ngl` larger than any model's number of layers, for all layers."""


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line that serves a model file."""
    layers = int(np.ravel(placement.gpu_layers)[0])
    words = [
        f"llamafile --server -m {shlex.quote(gguf_file(model))}",
        f"-c {int(work.context) * int(work.users)}",
    ]
    if machine.gpus:
        words.append(f"-ngl {ALL_LAYERS if layers >= model.layers else layers}")
    return bound(" ".join([*words, *threads(machine)]), machine)


LLAMAFILE = variant(
    LLAMA_CPP,
    name="llamafile",
    build="llamafile",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    command=command,
    binds_nodes=True,
    notes=("Kernels of 2025: llama.cpp of today is faster on most machines.",),
)
