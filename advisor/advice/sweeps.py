"""One input varied, everything else kept: the lines behind the charts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.advice.advise import Advice
from advisor.advice.compare import as_run, decode_tps
from advisor.advice.money import monthly_cost_of_use
from advisor.advice.offers import MoneyInputs
from advisor.advice.upgrades import first_choice
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
        layers: repeating layers on the GPU.
        decode: speed with so many [tokens/s].
        fits: VRAM and RAM hold it.
    """

    layers: Floats
    decode: Floats
    fits: npt.NDArray[np.bool_]


def speed_by_layers(
    asked: Model, machine: Machine, work: Workload, runtime: Runtime = LLAMA_CPP
) -> LayerSweep | None:
    """Speed with each number of layers on the GPU.

    None without a GPU, and for runtimes that are not told how many or do not take the model.
    """
    if not machine.gpus or not runtime.takes_layers:
        return None
    try:
        model = as_run(asked, runtime, machine)
    except Refusal:
        return None
    layers = np.arange(model.layers + 1, dtype=float)
    found = estimate(
        model,
        machine,
        work,
        runtime,
        PlacementStrategy.CPU_OFFLOAD,
        fitted_constants(),
        Settings(gpu_layers=layers),
    )
    if found.decode is None:
        return None
    return LayerSweep(
        layers=layers,
        decode=np.broadcast_to(found.decode.value, layers.shape),
        fits=np.broadcast_to(found.fits, layers.shape),
    )


@dataclass(frozen=True, kw_only=True)
class CostLine:
    """Cost of a month's use against tokens generated in it.

    Attributes:
        name: whose.
        tokens: generated in a month, shape (points,) [tokens].
        usd: rent or purchase, and the worth of waiting, shape (points,) [USD/month].
    """

    name: str
    tokens: Floats
    usd: Floats


def cost_by_tokens(advice: Advice, money: MoneyInputs, points: int = 60) -> tuple[CostLine, ...]:
    """The best placement now beside the upgrade of the verdict, to twice their break-even."""
    upgrade = first_choice(advice.upgrades)
    if advice.best is None or upgrade is None or upgrade.offer is None:
        return ()
    break_even = upgrade.break_even or np.inf
    most = 2 * break_even if np.isfinite(break_even) else 1e6
    tokens = np.linspace(0.0, most, points)
    hour = money.usd_per_hour_of_time

    def line(name: str, fixed: float, speed: float) -> CostLine:
        usd = np.asarray(monthly_cost_of_use(fixed, tokens, speed, hour))
        return CostLine(name=name, tokens=tokens, usd=usd)

    return (
        line("this machine", 0.0, decode_tps(advice.best)),
        line(upgrade.name, upgrade.offer.monthly, decode_tps(upgrade.estimate)),
    )


def page_cache_for(one: Estimate, speed: float, points: int = 65) -> float | None:
    """RAM for the page cache with which a model on the drive reaches a speed.

    Args:
        one: an estimate of llama.cpp from the drive.
        speed: to reach [tokens/s].
        points: sizes tried, from none to the whole part on the drive.

    Returns:
        The smallest size tried that reaches it [B]; None where none does.
    """
    if one.placement is None or one.machine is None or one.how is not LLAMA_CPP:
        return None
    on_disk = float(weight_bytes(one.model, one.placement, DISK))
    sizes = np.linspace(0.0, on_disk, points)
    split = Settings(
        gpu_layers=one.placement.gpu_layers, cpu_moe=one.placement.cpu_moe, page_cache=sizes
    )
    found = estimate(
        one.model, one.machine, one.work, LLAMA_CPP, one.strategy, fitted_constants(), split
    )
    if found.decode is None:
        return None
    enough = np.flatnonzero(np.broadcast_to(found.decode.value, sizes.shape) >= speed)
    return float(sizes[enough[0]]) if enough.size else None
