"""Seconds of frameworks that compute batches kernel by kernel: PyTorch and what is built on it.

Kernels follow each other, so that reading and computing add where llama.cpp's single stream shows
the longer of both: HF Transformers, DeepSpeed and TensorRT-LLM all grow linearly from batch 1 on
(BLOOM-176B on 8 A100: 230, 254, 285, 348 ms a step at batch 1, 8, 16, 32;
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
    """One step on a GPU: moving and computing, and what its layers cost [s].

    t = W / (share S) + K / (share_kv S) + F / (share C) + F_a / (share_a C) + F_e / (share_e C)
        + U (ops / P + bytes / S),   layers tau + expert layers tau_e + sequences tau_s

    U values are unpacked by ordinary arithmetic, at P operations in 32 bits a second, or by one
    elementwise kernel after another, each of which reads and writes all of them.
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
        layers=layer_seconds(load, gpu, constants)
        + kernels.sequences * constants.value("sequence"),
    )


def peak_flops(gpu: Gpu, number: str) -> Array:
    """Dense peak in a number type, or in the widest one below that the GPU computes in [FLOP/s].

    GPUs without 4-bit or 8-bit floats unpack weights of these types and multiply in 16 bits.
    """
    kinds = (number, "fp16", "fp32") if number != "fp4" else ("fp4", "fp8", "fp16", "fp32")
    return first_peak(gpu, kinds)


def host_kernel_seconds(load: Load, host: Host, constants: Constants) -> Array:
    """The processor's cores compute experts in an engine of their own [s].

    t = max( W / S , W / (cores r) ) + K / (share_a S): simple loops unpack so many bytes a core.
    """
    slower = np.minimum(host.bandwidth.value, host.cores * constants.value("engine_core_rate"))
    return load.weights / slower + host_attention_seconds(load.kv, host, constants)


def host_attention_seconds(cache: Array, host: Host, constants: Constants) -> Array:
    """The processor attends to a cache of 16-bit floats in RAM, in a framework [s].

    PyTorch turns each value into 32 bits before it multiplies, and so moves every byte of the
    cache about five times: read, written at twice the size, read again.
    """
    return cache / (host.bandwidth.value * constants.value("host_attention_share"))
