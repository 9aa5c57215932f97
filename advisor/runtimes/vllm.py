"""vLLM: all on the GPUs, or weights in pinned RAM, read over the link in one of two ways.

`--offload-backend prefetch` copies whole layers ahead on a separate stream while the GPUs compute,
so that a step takes the longer of copying and computing; all experts of a layer are copied, used or
not. `--cpu-offload-gb` leaves weights in RAM: kernels read them over the link at each use (unified
virtual addressing), without overlap, but only the experts in use. So the first way is faster for a
dense model, the second for one with many experts. There is no tier on a drive
(vllm/config/offload.py and vllm/model_executor/offloader of 0.33.0).
"""

import math
import shlex
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from advisor.cost_model.drafting import drafter_memory
from advisor.cost_model.loads import ForwardPass
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    either,
    layers_that_fit,
)
from advisor.cost_model.schedule import Flow, Phases, Route, Stage, Transfer
from advisor.cost_model.workload import Draft, Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import Floats, Model
from advisor.runtimes import serving
from advisor.runtimes.format_support import check_takes
from advisor.runtimes.parallelism import (
    GpuGroup,
    Parallel,
    gpu_groups,
    parallel,
    partitioned,
    several,
)
from advisor.units import GIB, Array

BUFFERED = 2
"""Layers in VRAM at a time for streaming: one in use, one being copied (`--offload-prefetch-step
1`)."""


def sooner(
    model: Model, machine: Machine, work: Workload, read: Placement, copied: Placement
) -> npt.NDArray[np.bool_]:
    """Whether a token's weights are read over the link faster than they are copied, computing
    aside.
    """
    link = machine.gpus[0].link
    users = np.asarray(work.users, dtype=float)
    used = sum(
        (share @ model.bytes_per_layer[group]) * model.read_share(group, users)
        for group, share in read.weights[Location.RAM].items()
    )
    whole = serving.moved_bytes(model, copied)
    return np.asarray(used / link.zero_copy.value < whole / link.pinned.value)


def read_in_place(
    model: Model, machine: Machine, work: Workload, settings: Settings, room: serving.Room
) -> Placement:
    """Placement with the weights that do not fit in RAM, read over the link.

    They are experts of the first layers, or whole first layers. A stated number of layers, the last
    ones, stays whole on the GPUs.
    """
    nothing = replace(settings, gpu_layers=0)
    still = replace(room, buffered=0)
    base = serving.placed(model, machine, work, PlacementStrategy.CPU_OFFLOAD, nothing, still)
    division = parallel(model, machine)
    groups = division.parts(model.layers)
    if settings.gpu_layers is not None:
        count = np.asarray(settings.gpu_layers, dtype=float) / division.pipeline
        last = [_last(group, count) for group in groups]
        return _with_moved_layers(model, base, division, last, only_experts=False)
    rooms = [
        serving.weight_room(group, work, room) for group in gpu_groups(model, machine, division)
    ]
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    dense = model.layer_bytes - experts

    def moving(moved: Floats, stays: Floats, *, only_experts: bool) -> Placement:
        """Last layers of each group whose moved parts fit beside the others; none if all would."""
        kept = []
        for group, budget in zip(groups, rooms, strict=True):
            room_left = np.asarray(budget - group @ stays / division.tensor, dtype=float)
            count = layers_that_fit((moved / division.tensor)[group > 0], room_left)
            kept.append(_last(group, np.where(count >= group.sum(), 0.0, count)))
        return _with_moved_layers(model, base, division, kept, only_experts=only_experts)

    whole = moving(model.layer_bytes, np.zeros(model.layers), only_experts=False)
    if not model.has_experts:
        return whole
    enough = [
        budget >= group @ dense / division.tensor
        for group, budget in zip(groups, rooms, strict=True)
    ]
    fits = np.logical_and.reduce(np.broadcast_arrays(*enough))
    return either(fits, moving(experts, dense, only_experts=True), whole)


def _last(group: Floats, count: Array) -> Floats:
    """Shares of a group's layers: 1 for the last `count` of them, 0 for the others, shape (...,
    layers).
    """
    rank = np.cumsum(group[::-1])[::-1] * group
    return np.asarray(group * (rank <= np.asarray(count)[..., None]))


def _with_moved_layers(
    model: Model, base: Placement, division: Parallel, kept: list[Floats], *, only_experts: bool
) -> Placement:
    whole = sum(kept, start=np.zeros(()))
    groups = division.parts(model.layers)
    weights = {}
    for location, shares in base.weights.items():
        at = location.device // division.tensor
        if location == Location.RAM:
            here = 1.0 - whole
            full = np.zeros_like(whole)
        else:
            here = kept[at] / division.tensor
            full = groups[at] / division.tensor
        weights[location] = {
            group: here if not only_experts or group is Group.ROUTED_EXPERTS else full
            for group in shares
        }
    count = np.sum(whole, axis=-1)
    layers = float(model.layers)
    return replace(
        base,
        weights=weights,
        gpu_layers=np.full_like(count, layers) if only_experts else count,
        cpu_moe=layers - count if only_experts else np.zeros_like(count),
        zero_copy=1.0,
    )


def offload_options(model: Model, placement: Placement, division: Parallel) -> Iterable[str]:
    """Options of `vllm serve` for weights in RAM; empty where all weights are on the GPUs."""
    if np.any(placement.embedding_share(Location.DISK)):
        yield "--engram-config.host_file_gather true"
    elif model.by_ngrams and not np.any(placement.embedding_share(Location.RAM)):
        yield "--engram-config.cpu_offload false"  # docs/features/engram.md, 2026-09
    outside = float(serving.moved_bytes(model, placement))
    if outside <= 0:
        return
    if np.any(placement.zero_copy):
        size = math.ceil(10 * outside / division.gpus / GIB) / 10
        yield f"--offload-backend uva --cpu-offload-gb {size:g}"
        if np.any(placement.cpu_moe):
            yield "--cpu-offload-params experts"
        return
    layers = math.ceil(model.layers / division.pipeline)
    offloaded = math.ceil((model.layers - int(placement.gpu_layers)) / division.pipeline)
    group, within = grouping(layers, offloaded)
    yield (
        f"--offload-backend prefetch --offload-group-size {group} "
        f"--offload-num-in-group {within} --offload-prefetch-step 1"
    )


@cache
def grouping(layers: int, offloaded: int) -> tuple[int, int]:
    """Size of a group of layers, and number of its last layers to offload, for at least the
    required layers.

    It is the pair with the fewest excess layers; of equal pairs the smallest group, which spreads
    copies most.
    """
    pairs = ((size, last) for size in range(1, layers + 1) for last in range(1, size + 1))
    enough = [pair for pair in pairs if grouped(layers, *pair) >= offloaded]
    return min(enough, key=lambda pair: (grouped(layers, *pair), pair))


def grouped(layers: int, size: int, last: int) -> int:
    """Number of offloaded layers over all groups (offloader/prefetch.py of 0.33.0)."""
    return layers // size * last + max(layers % size - (size - last), 0)


VERSION = "vLLM 0.33.0"
MEMORY_USED = 0.92  # `--gpu-memory-utilization`, default of vLLM 0.33 (vllm/config/cache.py)
PAGE = 16  # tokens of a page of the cache (`--block-size`, default of vLLM 0.33 on CUDA)


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with as many layers on the GPUs as fit beside cache and buffers, and the rest in
    pinned RAM.
    """
    check_takes("vllm", machine, strategy, model, work)
    room = _room(model, machine, work)
    copied = serving.placed(model, machine, work, strategy, settings, room)
    if strategy is PlacementStrategy.GPU_RESIDENT or settings.zero_copy is False:
        return copied
    read = read_in_place(model, machine, work, settings, room)
    if settings.zero_copy:
        return read
    return either(sooner(model, machine, work, read, copied), read, copied)


def _room(model: Model, machine: Machine, work: Workload) -> serving.Room:
    request = serving.served(serving.paged(work))
    pages = np.ceil(np.asarray(request.context, dtype=float) / PAGE)
    room = serving.Room(
        usable=MEMORY_USED,
        buffered=BUFFERED,
        cache=model.kv_bytes(pages * PAGE, request.kv_type),
        drafter=drafter_memory(model, request),
    )
    return serving.with_tables(model, machine, room, request.users, aside=True)


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    computed: serving.KernelsOf = serving.group_kernels,
    ahead: bool = True,
) -> Phases:
    """Schedule of one pass for the prompt and one for each token; layers are copied ahead or just
    in time.
    """

    def stages(group: GpuGroup, step: ForwardPass) -> Iterable[Stage]:
        """Resident and copied layers of a group of GPUs, then those read in RAM.

        A prompt reads each weight in RAM once, as if every kernel kept the weights it has read.
        """
        device = group.slowest
        tensor = group.division.tensor
        here = serving.held_load(group, placement, step)
        kernels = computed(group, placement, step)
        on_gpu = partial(Flow, route=Route.RESIDENT, device=device)
        if placement.strategy is PlacementStrategy.GPU_RESIDENT:
            yield (on_gpu(load=here, kernels=kernels),)
            return
        over_link = partial(Flow, route=Route.STREAMED, device=device, alike=tensor)
        outside = serving.outside_load(group, placement, step)
        read = np.asarray(placement.zero_copy, dtype=float)
        resident = on_gpu(load=here + outside.times(1.0 - read), kernels=kernels)
        copied = over_link(moved=serving.group_weights(group, placement) * (1.0 - read))
        yield from [(resident, copied)] if ahead else [(resident,), (copied,)]
        if np.any(read > 0):
            work = replace(outside, weights=np.zeros(()), experts=np.zeros(())).times(read)
            over = over_link(moved=outside.weights * read, transfer=Transfer.ZERO_COPY)
            yield (on_gpu(load=work, kernels=kernels.layers_only()), over)

    return serving.phases(model, placement, machine, work, stages)


def command(
    model: Model, placement: Placement, machine: Machine, work: Workload, source: str = ""
) -> str:
    """Command line of each machine; `source` is the repository, where it is another one than
    `checkpoint` names.
    """
    division = parallel(model, machine, by_user=placement.attention_by_user)
    if division.by_user:
        tensor = "--data-parallel-size"
        copies = division.tensor
    else:
        tensor = "--tensor-parallel-size"
        copies = 1
    parts = [
        f"vllm serve {source or shlex.quote(serving.checkpoint(model))}",
        f"--max-model-len {int(work.context)}",
        f"--max-num-seqs {math.ceil(work.users / copies)}",
        f"--gpu-memory-utilization {MEMORY_USED}",
    ]
    if serving.served(work).kv_type == "fp8":
        parts.append("--kv-cache-dtype fp8")
    parts += several(division, tensor, "--pipeline-parallel-size")
    if placement.expert_parallel:
        parts.append("--enable-expert-parallel")
    parts += offload_options(model, placement, division)
    parts += _drafting(work)
    line = partitioned(" ".join(parts), division, "VLLM_PP_LAYER_PARTITION")
    return serving.on_each(line, machine, "--master-addr HOST1", others=" --headless")


def _drafting(work: Workload) -> Iterable[str]:
    """Option `--speculative-config` (features/speculative_decoding of vLLM's documentation,
    2026-11).
    """
    import json  # takes time to load, and few commands need it

    if not work.draft:
        return
    methods = {"eagle": "eagle3", "dflash": "dflash", Draft.MODEL: "draft_model"}
    method = methods.get(work.draft, work.draft)
    config: dict[str, object] = {"method": method, "num_speculative_tokens": int(work.drafted)}
    if work.draft in methods:
        config["model"] = serving.drafter(work)
    yield f"--speculative-config {shlex.quote(json.dumps(config))}"


VLLM = serving.engine(
    "vllm",
    _room,
    name="vLLM",
    version=VERSION,
    strategies=(PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD),
    place=place,
    schedule=schedule,
    command=command,
    reads_over_link=True,
    drafts=True,
    takes_several_counts=True,
    port=8000,
    install=(  # vllm, docs/getting_started/installation/gpu.cuda.inc.md
        f"uv pip install vllm=={VERSION.rpartition(' ')[2]} --torch-backend=auto",
        "vllm download-kernels",
    ),
)
