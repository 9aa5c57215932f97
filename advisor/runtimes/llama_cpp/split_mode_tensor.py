"""llama.cpp with `-sm tensor`: every GPU has a part of each layer, and all compute at once.

Memory adds up as with the usual split by layers, and speed adds up too, less two all-reduces in
each layer. It is experimental: it needs flash attention, has no `--fit`, and does not run every
architecture. `-sm row`, its predecessor, divides dense weights only and is deprecated
(docs/multi-gpu.md at 5815cb84, of 2026; quantized caches since pull request 23792, June 2026, of
which q4_1, iq4_nl, q5_0 and q5_1 are still not supported).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from advisor.cost_model.loads import STARTED, ForwardPass, micro_batches, step_load, token_step
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    gpu_shares,
)
from advisor.cost_model.runtime import variant
from advisor.cost_model.schedule import (
    REDUCES_PER_LAYER,
    Exchange,
    ExchangePath,
    Flow,
    Phases,
    Route,
    Schedule,
)
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes.format_support import check_takes
from advisor.runtimes.llama_cpp import layer_split
from advisor.runtimes.llama_cpp.command import arguments, weights
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP
from advisor.units import FLOAT, Array

UNFITTED = 0.4
"""Additional half width of its ranges, as the logarithm of a factor: no constant is fitted to it.
In one published run two cards gain 1.4 times, in an early one four lost (llama.cpp, pull requests
23225 and 19378, 2026)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with all layers in the GPUs, divided evenly among equal cards and by memory among
    unequal ones.
    """
    check_takes("-sm tensor", machine, strategy, model, work)
    return divided(model, machine, layer_split.place(model, machine, work, strategy, settings))


def divided(model: Model, machine: Machine, whole: Placement) -> Placement:
    """Placement with a part of each layer on every GPU, made of one with whole layers."""
    shares = dict(
        zip(map(Location.vram, range(len(machine.gpus))), gpu_shares(machine), strict=True)
    )
    layers = {
        at: np.asarray(share)[..., np.newaxis] * np.ones(model.layers)
        for at, share in shares.items()
    }
    return replace(
        whole,
        weights={**whole.weights, **{at: all_of(share) for at, share in layers.items()}},
        kv={**whole.kv, **layers},
        output={**whole.output, **{at: np.asarray(share) for at, share in shares.items()}},
    )


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule with all GPUs in parallel, in llama.cpp's micro-batches."""
    return Phases(
        of_prompt=lambda: _pass(model, placement, machine, *micro_batches(work)[:2]),
        of_token=lambda: _pass(model, placement, machine, token_step(work), 1.0),
    )


def _pass(
    model: Model, placement: Placement, machine: Machine, step: ForwardPass, repeats: Array
) -> Schedule:
    flows = []
    for device, share in enumerate(gpu_shares(machine)):
        load = step_load(model, placement, Location.vram(device), step)
        started: Any = {name: getattr(load, name) / share for name in STARTED}  # heads are divided
        flows.append(Flow(route=Route.RESIDENT, load=replace(load, **started), device=device))
    vector = FLOAT * model.architecture.hidden * np.asarray(step.tokens, dtype=float)
    count = len(flows)
    ring = Exchange(
        way=ExchangePath.PEER if machine.nodes == 1 else ExchangePath.NETWORK,
        times=REDUCES_PER_LAYER * model.layers,
        moved=2.0 * (count - 1) / count * vector,
        reduces=True,
        gpus=count,
    )
    return Schedule(stages=(tuple(flows),), repeats=repeats, exchanges=(ring,))


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of llama-server with divided layers."""
    shares = [float(np.ravel(part)[0]) for part in gpu_shares(machine)]
    divided = "-sm tensor"
    if len(set(shares)) > 1:
        divided += f" -ts {','.join(f'{100 * share:.0f}' for share in shares)}"
    if work.kv_type == "f16":
        divided += " -fa on"
    options = (
        divided if option.startswith("-sm layer ") else option
        for option in arguments(model, placement, machine, work)
    )
    return " ".join([f"llama-server {weights(model)}", *options])


LLAMA_CPP_TENSOR = variant(
    LLAMA_CPP,
    name="llama.cpp -sm tensor",
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    takes_layers=False,
    extra_uncertainty=UNFITTED,
    place=place,
    schedule=schedule,
    command=command,
    drafts=True,
)
