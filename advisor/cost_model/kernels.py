"""Time of frameworks that compute batches kernel by kernel: PyTorch and programs built on it.

Kernels run one after another, so that the times of reading and computing add, where the single
stream of llama.cpp takes the longer of both: HF Transformers, DeepSpeed and TensorRT-LLM all grow
linearly from batch 1 on (BLOOM-176B on 8 A100: 230, 254, 285, 348 ms a step at batch 1, 8, 16, 32;
https://github.com/huggingface/transformers-bloom-inference, 2022-09).
"""

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import FlowTime, first_peak, layer_seconds
from advisor.cost_model.schedule import Kernels
from advisor.machine.machine import Gpu, Host
from advisor.units import Array


def kernel_seconds(load: Load, gpu: Gpu, kernels: Kernels, constants: Constants) -> FlowTime:
    """Time of a step on a GPU: reading, computing, unpacking, and fixed costs of the layers [s].

    t = W / (share S) + K / (share_kv S) + F / (share C) + F_a / (share_a C) + F_e / (share_e C)
        + U (ops / P + bytes / S),   layers tau + expert layers tau_e + sequences tau_s

    U values are unpacked by ordinary arithmetic, at P 32-bit operations per second, or by a series
    of elementwise kernels, each of which reads and writes all of them.
    """
    family = gpu.family
    memory = gpu.bandwidth.value
    reading = load.weights / (constants.value("gpu_read_share", family) * memory)
    attending = load.kv / (constants.value("gpu_kv_share", family) * memory)
    work = (
        load.flops
        + load.attention_flops / constants.value("gpu_attention_flop_share", family)
        + load.expert_flops / constants.value("gpu_expert_flop_share", family)
    )
    computing = work / (constants.value("gpu_flop_share", family) * peak_flops(gpu, kernels.number))
    unpacking = kernels.unpacked * (
        constants.value("unpack_operations") / peak_flops(gpu, "fp32")
        + constants.value("unpack_bytes") / memory
    )
    return FlowTime(
        moving=reading + attending + computing + unpacking,
        layers=layer_seconds(load.layers, load, gpu, constants)
        + kernels.sequences * constants.value("sequence"),
    )


def peak_flops(gpu: Gpu, number: str) -> Array:
    """Dense peak in a number type, or in the next one that the GPU has: without 4-bit or 8-bit
    floats it unpacks weights and multiplies in 16 bits [FLOP/s].
    """
    kinds = (number, "fp16", "fp32") if number != "fp4" else ("fp4", "fp8", "fp16", "fp32")
    return first_peak(gpu, kinds)


def host_kernel_seconds(load: Load, host: Host, constants: Constants) -> Array:
    """Time of the processor's cores for experts, in an engine with its own kernels [s].

    t = max( W / S , W / (cores r) ) + K / (share_a S), with r bytes per second and core of its
    simple unpacking loops
    """
    slower = np.minimum(host.bandwidth.value, host.cores * constants.value("engine_core_rate"))
    return load.weights / slower + host_attention_seconds(load.kv, host, constants)


def host_attention_seconds(cache: Array, host: Host, constants: Constants) -> Array:
    """Time of the processor for attention over a 16-bit cache in RAM, in a framework [s].

    PyTorch converts each value to 32 bits before it multiplies, and so moves every byte of the
    cache about five times: read, written at twice the size, read again.
    """
    return cache / (host.bandwidth.value * constants.value("host_attention_share"))
