"""Seconds that a processor takes for what lies in its own memory.

Shares of the datasheet and fixed costs come from data/generated/efficiency.csv; numbers may be
arrays.
"""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.loads import Load
from advisor.machine.machine import Gpu, Host
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class FlowTime:
    """Time of one flow [s].

    Attributes:
        moving: bytes over speed, or FLOPs over speed where that is longer.
        layers: fixed costs of its layers.
    """

    moving: Array
    layers: Array = 0.0

    @property
    def total(self) -> Array:
        """Both together [s]."""
        return self.moving + self.layers


def gpu_seconds(load: Load, gpu: Gpu, constants: Constants) -> FlowTime:
    """A GPU reads what lies in its memory [s].

    t = max( W / (share S) + K / (share_kv S) , F / (share C) + F_e / (share_e C) )
        + layers tau + expert layers tau_e + state layers tau_s
    """
    weights = load.weights / (constants.value("gpu_read_share", gpu.family) * gpu.bandwidth.value)
    cache = load.kv / (constants.value("gpu_kv_share", gpu.family) * gpu.bandwidth.value)
    experts = load.expert_flops / constants.value("gpu_expert_flop_share", gpu.family)
    compute = (load.flops + load.attention_flops + experts) / gpu_flops(gpu, constants)
    return FlowTime(
        moving=np.maximum(weights + cache, compute),
        layers=layer_seconds(load, gpu, constants),
    )


def layer_seconds(load: Load, gpu: Gpu, constants: Constants) -> Array:
    """Fixed costs of a GPU's layers: starting kernels and waiting for them, whatever they read [s].

    layers tau + expert layers tau_e + state layers tau_s
    """
    return (
        load.layers * constants.value("gpu_layer", gpu.family)
        + load.expert_layers * constants.value("gpu_expert_layer", gpu.family)
        + load.state_layers * constants.value("gpu_state_layer", gpu.family)
    )


MATRIX_TYPES = (("fp16", 1.0), ("fp32", 1.0), ("int8", 2.0))
"""Number types that prompts are computed in, and how many of their operations stand for one in 16
bits: quantized formats multiply in 8-bit integers, which take half the room."""


def gpu_flops(gpu: Gpu, constants: Constants) -> Array:
    """Sustained matrix speed: a share of the fastest dense peak among `MATRIX_TYPES` [FLOP/s]."""
    peaks = (gpu.tensor_flops.get(kind, 0.0) / per for kind, per in MATRIX_TYPES)
    peak = np.maximum.reduce(np.broadcast_arrays(*peaks))
    return np.asarray(constants.value("gpu_flop_share", gpu.family) * peak)


def cpu_seconds(load: Load, host: Host, constants: Constants, *, repacked: bool = True) -> FlowTime:
    """The host's cores read what lies in RAM [s].

    t = max( W / S , F / C ) + max( K / S_ram , F_a / C_a ) + layers cores tau

    S is what RAM and cores reach together (`together`), F_a and C_a the work on the cache and the
    cores' speed at it; a layer's barriers take longer the more cores meet at them.
    """
    ram: Array = host.bandwidth.value * constants.value("cpu_read_share")
    several = np.asarray(host.sockets) > 1
    ram = ram * np.where(several, constants.value("socket_share"), 1.0)
    weights = together(ram, host.cores * constants.value("core_decode_rate", vectors(host)))
    if not repacked:
        weights = weights * constants.value("plain_layout_share")
    flops: Array = host.cores * constants.value("core_flops", matrices(host))
    flops = flops * np.where(several, constants.value("socket_flop_share"), 1.0)
    attention = host.cores * np.where(
        np.asarray(load.each) >= BATCH,
        constants.value("core_batch_attention_flops"),
        constants.value("core_attention_flops"),
    )
    return FlowTime(
        moving=np.maximum(load.weights / weights, (load.flops + load.expert_flops) / flops)
        + np.maximum(load.kv / ram, load.attention_flops / attention),
        layers=load.layers * constants.value("cpu_layer") * host.cores
        + load.expert_layers * constants.value("cpu_expert_layer"),
    )


BATCH = 16
"""Tokens of a sequence from which attention multiplies matrices; below, each reads for itself."""
SATURATION = 2.5
"""How sharply speed stops growing with cores where RAM is the limit: published sweeps over threads
reach 0.7 of either limit where both are equal (EPYC 7773X, DeepSeek-R1, 2 to 64 threads)."""


def together(ram: Array, cores: Array) -> Array:
    """What is read where cores and RAM limit each other [B/s].

    S = (ram^-p + cores^-p)^(-1/p): the smaller where they are far apart, less where they are near.
    """
    return np.asarray((ram**-SATURATION + cores**-SATURATION) ** (-1.0 / SATURATION))


def cores_alone(reached: Array, ram: Array) -> Array:
    """What cores would read but for RAM, from what both reach together: `together` solved [B/s]."""
    return np.asarray((reached**-SATURATION - ram**-SATURATION) ** (-1.0 / SATURATION))


def matrices(host: Host) -> str:
    """The widest arithmetic for whole matrices, as data/generated/efficiency.csv names it."""
    return "amx" if {"amx_int8", "amx_bf16"} & host.instruction_sets else vectors(host)


def vectors(host: Host) -> str:
    """The widest arithmetic for one vector at a time, which AMX does not widen."""
    for name, flags in (
        ("avx512", {"avx512f", "avx512_vnni"}),
        ("avx2", {"avx2"}),
        ("neon", {"neon", "asimd", "dotprod", "asimddp", "i8mm", "sve"}),
    ):
        if flags & host.instruction_sets:
            return name
    return ""
