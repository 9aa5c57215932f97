"""Transformers with Accelerate: 16 bits, one module after another, nothing overlapped.

Hooks move each module's weights from ordinary memory, or from a file through it, to the GPU just
before its forward pass and drop them after (Accelerate's guide to big model inference, 2026-07-24:
no prefetching yet). So every route adds to the time. Several GPUs hold the layers in turn, and one
of them works at a time.
"""

import numpy as np

from advisor.machine import Machine
from advisor.model import Floats, Model
from advisor.placement import (
    DISK,
    RAM,
    Location,
    Placement,
    Settings,
    Strategy,
    all_of,
    over_gpus,
    vram,
    weight_bytes,
)
from advisor.runtimes.formats import becomes_of
from advisor.runtimes.runtime import Runtime
from advisor.runtimes.streaming import (
    ACTIVATIONS,
    first_layers,
    gpu_load,
    kernels,
    layer_weights,
    layers_kept,
    needs_one_machine,
    on_gpus,
    outside_gpus,
    unpacked_weights,
)
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, Transfer, alone
from advisor.units import GIB, Array
from advisor.workload import Workload

VERSION = "transformers 5.23 with accelerate 1.15"
MEMORY_USED = 0.90
"""Share of free VRAM that `device_map="auto"` fills (accelerate, get_max_memory)."""
BUFFERED = 1
"""Layers that pass through VRAM at a time."""
SYSTEM_RAM = 2 * GIB
"""RAM left to the system; assumed [B]."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """`device_map` order: first layers to the GPUs, then to RAM, the rest to the offload folder.

    Raises:
        Refusal: on a machine without a GPU, or on several.
    """
    needs_one_machine(machine, "Accelerate")
    layers = (
        np.asarray(float(model.layers))
        if strategy is Strategy.GPU_RESIDENT
        else layers_kept(model, machine, work, settings, MEMORY_USED, BUFFERED)
    )
    kept = first_layers(model, layers)
    outside = {RAM: 1.0 - kept}
    if strategy is Strategy.NVME_OFFLOAD:
        on_disk = layers_on_disk(model, machine, settings, kept)
        outside = {RAM: np.maximum(1.0 - kept - on_disk, 0.0), DISK: on_disk}
    weights = {place: all_of(share) for place, share in outside.items()}
    kv: dict[Location, Floats] = {}
    buffers: dict[Location, Array] = {}
    held = over_gpus(machine, np.ones_like(kept))  # caches lie with their layers, wherever those do
    passing = np.where(layers < model.layers, BUFFERED * float(np.max(model.layer_bytes)), 0.0)
    for device, part in enumerate(over_gpus(machine, (kept > 0).astype(float))):
        weights[vram(device)] = all_of(part * kept)
        kv[vram(device)] = held[device]
        reserve = machine.gpus[device].memory.value * (1 - MEMORY_USED)
        buffers[vram(device)] = reserve + ACTIVATIONS + (passing if device == 0 else 0.0)
    return Placement(
        strategy=strategy,
        gpu_layers=layers,
        cpu_moe=np.zeros(()),
        weights=weights,
        kv=kv,
        embedding=vram(0),
        output={vram(0): np.ones(())},
        buffers=buffers,
    )


def layers_on_disk(model: Model, machine: Machine, settings: Settings, kept: Floats) -> Floats:
    """Share of each layer in the offload folder: as given, or the last ones that RAM cannot hold,
    or all that the GPUs leave where RAM could hold them, shape (..., layers).

    The second is what Accelerate does; the third shows what the drive alone would give.
    """
    rest = 1.0 - kept
    if settings.disk_layers is not None:
        before = model.layers - np.asarray(settings.disk_layers, dtype=float)
        return np.minimum(1.0 - first_layers(model, before), rest)
    room = np.asarray(machine.host.memory.value * MEMORY_USED - SYSTEM_RAM)[..., None]
    taken = np.cumsum(rest * model.layer_bytes, axis=-1)
    beyond = (taken > room) & (taken[..., -1:] > room)
    return np.where(taken[..., -1:] > room, rest * beyond, rest)


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """One pass for the prompt and one for each token; copy, then compute."""
    return Phases(
        prefill=_pass(model, placement, work, prefill=True),
        decode=_pass(model, placement, work, prefill=False),
    )


def _pass(model: Model, placement: Placement, work: Workload, *, prefill: bool) -> Schedule:
    packed = unpacked_weights(model)

    def computed(location: Location, device: int) -> Stage:
        load = gpu_load(model, placement, location, work, prefill=prefill)
        own = kernels(
            model,
            sequences=work.users if location == vram(0) else 0.0,
            unpacked=packed * load.layers / model.layers,
        )
        return alone(Flow(route=Route.RESIDENT, load=load, device=device, kernels=own))

    def copied(location: Location) -> Stage:
        route = Route.STAGED if location == DISK else Route.STREAMED
        moved = layer_weights(model, placement, location)
        return alone(Flow(route=route, moved=moved, transfer=Transfer.PAGEABLE))

    return Schedule(
        stages=(
            *(computed(place, place.device) for place in on_gpus(placement)),
            *(
                stage
                for place in outside_gpus(placement)
                for stage in (copied(place), computed(place, 0))
            ),
        )
    )


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """The Python that does this."""
    limits = {
        str(place.device): max(int(float(weight_bytes(model, placement, place)) / GIB), 1)
        for place in on_gpus(placement)
    }
    cpu = int(machine.host.memory.value * MEMORY_USED / GIB)
    if placement.strategy is Strategy.NVME_OFFLOAD:
        cpu = int(float(weight_bytes(model, placement, RAM)) / GIB)
    shares = ", ".join(f'{device}: "{size}GiB"' for device, size in limits.items())
    return (
        "from transformers import AutoModelForCausalLM\n"
        "model = AutoModelForCausalLM.from_pretrained(\n"
        f'    {model.name!r}, dtype="bfloat16", device_map="auto",\n'
        f'    max_memory={{{shares}, "cpu": "{cpu}GiB"}}, offload_folder="offload",\n'
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
