"""What to know beside a runtime's command: the other ways it has, and what they would give."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import RAM, PlacementStrategy, Settings, weight_bytes
from advisor.formatting import number, range_of, seconds, tokens_per_second
from advisor.runtimes import (
    ACCELERATE,
    KTRANSFORMERS,
    LLAMA_CPP,
    LLAMA_CPP_TENSOR,
    OLLAMA,
    SGLANG,
    VLLM,
)
from advisor.runtimes.accelerate import MEMORY_USED
from advisor.runtimes.device_map import HEAD, device_map
from advisor.runtimes.llama_cpp.ollama import default_context
from advisor.runtimes.llama_cpp.passes import READ_IN
from advisor.runtimes.serving import sequences_that_fit, served


def remarks(one: Estimate) -> tuple[str, ...]:
    """Sentences on one estimate; none where it does not fit."""
    if one.placement is None or one.machine is None or not bool(np.all(one.fits)):
        return ()
    own = {
        LLAMA_CPP.name: _llama_cpp,
        OLLAMA.name: _ollama,
        VLLM.name: _vllm,
        SGLANG.name: _served,
        KTRANSFORMERS.name: _served,
        ACCELERATE.name: _accelerate,
    }.get(one.runtime)
    return tuple(own(one)) if own else ()


def _again(one: Estimate, settings: Settings) -> Estimate | None:
    """The same pair with other settings; None where it cannot be or does not fit."""
    if one.machine is None:
        return None
    found = estimate(
        one.model, one.machine, one.work, one.how, one.strategy, fitted_constants(), settings
    )
    return found if found.decode is not None and bool(np.all(found.fits)) else None


def _speed(one: Estimate) -> str:
    return tokens_per_second(float(one.decode.value)) if one.decode else ""


def _llama_cpp(one: Estimate) -> Iterable[str]:
    if one.placement is None or one.machine is None or not one.machine.gpus:
        return
    yield from _divided(one)
    yield from _own_fit(one)
    split = one.strategy is PlacementStrategy.CPU_OFFLOAD and one.placement.gpu_layers
    if not split or one.placement.load_mode in READ_IN:
        return
    fixed = Settings(
        gpu_layers=one.placement.gpu_layers, cpu_moe=one.placement.cpu_moe, load_mode="none"
    )
    pinned = _again(one, fixed)
    if pinned is None or pinned.first_token is None or one.first_token is None:
        return
    now, then = float(one.first_token.value), float(pinned.first_token.value)
    if then < WORTH_NAMING * now:
        yield (
            f"With -lm none the weights in RAM are page-locked: the first token comes after "
            f"{seconds(then)} in place of {seconds(now)}. It fails where the system cannot lock "
            "so much."
        )


def _divided(one: Estimate) -> Iterable[str]:
    """What `-sm tensor` would give where several GPUs hold the whole model."""
    if one.machine is None or one.strategy is not PlacementStrategy.GPU_RESIDENT:
        return
    if len(one.machine.gpus) < 2 or one.machine.nodes > 1:
        return
    found = _again(replace(one, how=LLAMA_CPP_TENSOR), Settings())
    if found is None or found.decode is None:
        return
    speeds = range_of(float(found.decode.low), float(found.decode.high))
    options = found.command.partition(" -sm ")[2].removesuffix(" --fit off")
    yield (
        f"Split by layers, the GPUs take turns. With -sm {options} in place of -sm layer and -ts "
        f"they work at once: {_speed(found)}, {speeds}, which is experimental and rests on few "
        "published runs. Prompts may be slower over PCI Express."
    )


WORTH_NAMING = 0.95
"""A time must shrink to this share to be named."""


def _own_fit(one: Estimate) -> Iterable[str]:
    """What llama-server does where `-ngl` and the like are left away."""
    if one.placement is None or one.strategy is PlacementStrategy.NVME_OFFLOAD:
        return
    fitted = _again(replace(one, strategy=PlacementStrategy.GPU_RESIDENT), Settings())
    if fitted is not None and one.strategy is not PlacementStrategy.GPU_RESIDENT:
        yield "Left to its own fit (--fit on) it would put all of the model in the GPU."
        return
    found = _again(one, Settings())
    if found is None or found.placement is None:
        return
    layers, moe = int(found.placement.gpu_layers), int(found.placement.cpu_moe)
    if (layers, moe) != (int(one.placement.gpu_layers), int(one.placement.cpu_moe)):
        yield (
            f"Left to its own fit (--fit on) it would take {layers} layers and leave the experts "
            f"of {moe} in RAM: {_speed(found)}."
        )
    elif one.strategy is PlacementStrategy.CPU_OFFLOAD:
        yield (
            "Its own fit (--fit on) comes to the same layers, or part of one more; given here, "
            "they stay what was predicted."
        )


def _ollama(one: Estimate) -> Iterable[str]:
    if one.machine is None or not one.machine.gpus:
        return
    default = default_context(one.machine)
    if default != int(one.work.context):
        yield f"Where no context is set, Ollama allocates {default:,} tokens on this machine."


def _vllm(one: Estimate) -> Iterable[str]:
    yield from _served(one)
    if one.machine is not None and one.machine.nodes > 1:
        yield (
            "With Ray instead: ray start --head on HOST1, ray start --address=HOST1:6379 on "
            "the others, and --distributed-executor-backend ray in place of --nnodes and what "
            "follows it."
        )
    if one.placement is None or not float(weight_bytes(one.model, one.placement, RAM)):
        return
    read = bool(np.any(one.placement.zero_copy))
    other = _again(one, Settings(zero_copy=not read))
    if other is None:
        return
    name = "--offload-backend prefetch" if read else "--cpu-offload-gb, read over the link,"
    yield f"The other way, {name} would give {_speed(other)}."


def _accelerate(one: Estimate) -> Iterable[str]:
    """What `device_map="auto"` does where nobody limits it."""
    if one.machine is None or one.strategy is PlacementStrategy.GPU_RESIDENT:
        return
    gpus = [MEMORY_USED * float(np.max(gpu.memory.value)) for gpu in one.machine.gpus]
    placed = device_map(one.model, gpus, MEMORY_USED * float(np.max(one.machine.host.memory.value)))
    layers = sum(name.isdigit() and isinstance(device, int) for name, device in placed.items())
    where = {"cpu": "in RAM", "disk": "on the drive"}.get(str(placed[HEAD]), "in the GPU")
    yield (
        f'Without max_memory, device_map="auto" fills 90 % of the GPU: {layers} layers, little '
        f"room for the cache, and the output head {where}."
    )


def _served(one: Estimate) -> Iterable[str]:
    if one.placement is None or one.machine is None:
        return
    kept = served(one.work).kv_type
    if kept == "fp8" != one.work.kv_type:
        yield f"The cache is kept as fp8, the nearest to {one.work.kv_type}."
    count = sequences_that_fit(one.model, one.placement, one.machine, one.work)
    if count > int(one.work.users):
        context = number(float(one.work.context))
        yield f"The GPU has room for the cache of {count:,} conversations of {context} tokens."
