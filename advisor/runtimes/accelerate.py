"""Transformers with Accelerate: 16 bits, one module after another, nothing overlapped.

Hooks move each module's weights from ordinary memory, or from a file through it, to the GPU just
before its forward pass and drop them after (Accelerate's guide to big model inference, 2026-07-24:
no prefetching yet). So every route adds to the time.
"""

import numpy as np

from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import Model
from advisor.placement import DISK, RAM, Location, Placement, Settings, Strategy, vram
from advisor.runtimes.formats import becomes_of
from advisor.runtimes.runtime import Runtime
from advisor.runtimes.streaming import gpu_load, layer_weights, layers_kept, on_one_gpu
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, Transfer, alone
from advisor.units import GIB
from advisor.workload import Workload

VERSION = "transformers 5.23 with accelerate 1.15"
MEMORY_USED = 0.90
"""Share of free VRAM that `device_map="auto"` fills (accelerate, get_max_memory)."""
BUFFERED = 1
"""Layers that pass through VRAM at a time."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """`device_map` order: first layers to the GPU, the rest to RAM or to the offload folder.

    Raises:
        Refusal: on a machine without a GPU.
    """
    if not machine.gpus:
        raise Refusal("Accelerate streams to a GPU, and this machine has none.")
    layers = (
        np.asarray(float(model.layers))
        if strategy is Strategy.GPU_RESIDENT
        else layers_kept(model, machine, work, settings, MEMORY_USED, BUFFERED)
    )
    rest = DISK if strategy is Strategy.NVME_OFFLOAD else RAM
    return on_one_gpu(model, machine, strategy, layers, rest, usable=MEMORY_USED, buffered=BUFFERED)


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """One pass for the prompt and one for each token; copy, then compute."""
    return Phases(
        prefill=_pass(model, placement, work, prefill=True),
        decode=_pass(model, placement, work, prefill=False),
    )


def _pass(model: Model, placement: Placement, work: Workload, *, prefill: bool) -> Schedule:
    def computed(location: Location) -> Stage:
        load = gpu_load(model, placement, location, work, prefill=prefill)
        return alone(Flow(route=Route.RESIDENT, load=load))

    rest = DISK if placement.strategy is Strategy.NVME_OFFLOAD else RAM
    route = Route.STAGED if rest is DISK else Route.STREAMED
    moved = layer_weights(model, placement, rest)
    return Schedule(
        stages=(
            computed(vram(0)),
            alone(Flow(route=route, moved=moved, transfer=Transfer.PAGEABLE)),
            computed(rest),
        )
    )


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """The Python that does this."""
    on_gpu = int(placement.gpu_layers) * float(np.mean(model.layer_bytes))
    gpu = max(int((on_gpu + model.embedding + model.output) / GIB), 1)
    cpu = int(machine.host.memory.value * MEMORY_USED / GIB)
    if placement.strategy is Strategy.NVME_OFFLOAD:
        cpu = 0
    return (
        "from transformers import AutoModelForCausalLM\n"
        "model = AutoModelForCausalLM.from_pretrained(\n"
        f'    {model.name!r}, dtype="bfloat16", device_map="auto",\n'
        f'    max_memory={{0: "{gpu}GiB", "cpu": "{cpu}GiB"}}, offload_folder="offload",\n'
        ")"
    )


ACCELERATE = Runtime(
    name="Accelerate",
    key="accelerate",
    version=VERSION,
    strategies=tuple(Strategy),
    becomes=becomes_of("accelerate", why="loading unpacks"),
    language="python",
    place=place,
    schedule=schedule,
    command=command,
)
