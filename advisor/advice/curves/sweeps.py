"""Sweeps over one input, for charts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.advice.advise import Advice
from advisor.advice.compare import as_run
from advisor.advice.table.option import Option, choice
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import DISK, PlacementStrategy, Settings, weight_bytes
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP, Runtime


@dataclass(frozen=True, kw_only=True)
class LayerSweep:
    """Speed against layers on the GPU, all of shape (layers + 1,).

    Attributes:
        layers: number of repeating layers on the GPU.
        decode: decode speed [tokens/s].
        fits: whether VRAM and RAM are large enough.
    """

    layers: Floats
    decode: Floats
    fits: npt.NDArray[np.bool_]


def speed_by_layers(
    requested: Model, machine: Machine, work: Workload, runtime: Runtime = LLAMA_CPP
) -> LayerSweep | None:
    """Speed with each number of layers on the GPU.

    None without a GPU, and for runtimes that are not told how many or do not take the model.
    """
    if not machine.gpus or not runtime.takes_layers:
        return None
    try:
        model = as_run(requested, runtime, machine)
    except Refusal:
        return None
    layers = np.arange(model.layers + 1, dtype=float)
    swept = estimate(
        model,
        machine,
        work,
        runtime,
        PlacementStrategy.CPU_OFFLOAD,
        fitted_constants(),
        Settings(gpu_layers=layers),
    )
    if swept.decode is None:
        return None
    return LayerSweep(
        layers=layers,
        decode=np.broadcast_to(swept.decode.value, layers.shape),
        fits=np.broadcast_to(swept.fits, layers.shape),
    )


@dataclass(frozen=True, kw_only=True)
class CostLine:
    """Monthly cost against tokens generated per month.

    Attributes:
        name: name of the option.
        tokens: tokens per month, shape (points,) [tokens].
        usd: rent or purchase, and the value of waiting, shape (points,) [USD/month].
    """

    name: str
    tokens: Floats
    usd: Floats


def cost_by_tokens(advice: Advice, points: int = 60) -> tuple[CostLine, ...]:
    """Cost of the present machine, if it runs, and of the option of the verdict, up to twice their
    break-even.

    A month's fixed cost and that of each token, its share of rent, power and waiting included.
    """
    kept, option = advice.options[0], choice(advice.options)
    if advice.best is None or option is None or option.hours_lost is None or option.tokens <= 0:
        return ()
    most = max(2.0 * (option.break_even_tokens or 0.0), option.tokens)
    tokens = np.linspace(0.0, most, points)
    lines = (_line("as it is", kept, tokens), _line(option.name, option, tokens))
    return tuple(line for line in lines if line is not None)


def _line(name: str, option: Option, tokens: Floats) -> CostLine | None:
    """Line of an option; None for what does not run, as where there is no machine yet."""
    if option.cost is None or option.hours_lost is None:
        return None
    each = (option.cost.by_use + option.hours_lost * option.worth) / option.tokens
    return CostLine(
        name=name, tokens=tokens, usd=option.cost.fixed + option.standing + each * tokens
    )


def page_cache_for(estimated: Estimate, speed: float, points: int = 65) -> float | None:
    """RAM for the page cache with which a model on the drive reaches a speed.

    Args:
        estimated: estimate of llama.cpp with the model on the drive.
        speed: target speed [tokens/s].
        points: number of sizes tried, from none to all of the part on the drive.

    Returns:
        The smallest size tried that reaches it [B]; None where none does.
    """
    if estimated.placement is None or estimated.machine is None or estimated.how is not LLAMA_CPP:
        return None
    on_disk = float(weight_bytes(estimated.model, estimated.placement, DISK))
    sizes = np.linspace(0.0, on_disk, points)
    split = Settings(
        gpu_layers=estimated.placement.gpu_layers,
        cpu_moe=estimated.placement.cpu_moe,
        page_cache=sizes,
    )
    swept = estimate(
        estimated.model,
        estimated.machine,
        estimated.work,
        LLAMA_CPP,
        estimated.strategy,
        fitted_constants(),
        split,
    )
    if swept.decode is None:
        return None
    enough = np.flatnonzero(np.broadcast_to(swept.decode.value, sizes.shape) >= speed)
    return float(sizes[enough[0]]) if enough.size else None
