"""Fitted constants of frameworks, their start values, and the properties they may differ by.

Start values come from other sources than the fitted rows: probes of links and drives, PyTorch's
kernels, and the values that FlexGen's authors fitted to their T4 (experimental/cost_model.py at
004ffef).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from advisor.evidence.fitting.llama_cpp.parameter import Parameter
from advisor.model.model import Floats


@dataclass(frozen=True, kw_only=True)
class StreamParameter(Parameter):
    """One fitted constant of frameworks; it may differ by engine (`RUNTIME`) only.

    Attributes:
        only: keys of the engines that have it; empty for all.
        absent: value for the other engines.
        starts: start values of engines that are known to differ, by key.
        most: largest possible value, such as 1 for a share.
    """

    only: tuple[str, ...] = ()
    absent: float = 0.0
    starts: Mapping[str, float] = field(default_factory=dict)
    most: float = np.inf

    def limited(self, value: Floats) -> Floats:
        """Value limited smoothly to `most`; unchanged far below it."""
        below: Floats = (1.0 + (value / self.most) ** SHARPNESS) ** (-1.0 / SHARPNESS)
        return value * below


SHARPNESS = 12
"""Sharpness of the limit: a constant whose terms reach the limit is 6 % below it."""
RUNTIME = ("runtime",)
STREAM_PARAMETERS: Mapping[str, StreamParameter] = {
    "link_share": StreamParameter(
        start=0.85,
        unit="share",
        most=1.0,
        width=0.15,
        factors={RUNTIME: 0.15},
        only=("deepspeed", "flexgen", "vllm"),
        absent=1.0,
        note="share of the link's rate a runtime reaches",
    ),
    "host_copy": StreamParameter(
        start=13e9,
        unit="B/s",
        width=0.15,
        factors={RUNTIME: 0.15},
        only=("accelerate", "airllm"),
        absent=1e15,
        starts={"airllm": 1.5e9},
        note="copy inside the host before the link",
    ),
    "disk_share": StreamParameter(
        start=0.95,
        unit="share",
        most=1.0,
        width=0.1,
        factors={RUNTIME: 0.15},
        note="share of the drive's rate reading offload files",
    ),
    "fault_rate": StreamParameter(
        start=3.5e9,
        unit="B/s",
        width=0.4,
        note="page faults on a mapped file",
    ),
    "host_attention_share": StreamParameter(
        start=0.2,
        unit="share",
        width=0.3,
        factors={RUNTIME: 0.3},
        note="share of RAM bandwidth at which a framework attends to a cache on the CPU",
    ),
    "engine_core_rate": StreamParameter(
        start=1e9,
        unit="B/s",
        width=0.5,
        only=("colibri", "expert-streaming"),
        absent=1e15,
        note="weights that a core unpacks and multiplies in a streaming engine's own loops",
    ),
    "gpu_read_share": StreamParameter(
        start=0.85,
        unit="share",
        most=1.0,
        width=0.1,
        factors={RUNTIME: 0.1},
        note="share of GPU memory bandwidth reached reading weights",
    ),
    "gpu_kv_share": StreamParameter(
        start=0.5,
        unit="share",
        width=0.4,
        factors={RUNTIME: 0.4},
        note="share of GPU memory bandwidth reached reading the KV cache",
    ),
    "gpu_flop_share": StreamParameter(
        start=0.45,
        unit="share",
        width=0.3,
        factors={RUNTIME: 0.3},
        note="share of dense matrix peak reached by a batch",
    ),
    "gpu_attention_flop_share": StreamParameter(
        start=0.3,
        unit="share",
        width=0.5,
        factors={RUNTIME: 0.4},
        note="speed of attention in a prompt beside that of dense weights",
    ),
    "gpu_expert_flop_share": StreamParameter(
        start=0.5,
        unit="share",
        width=0.5,
        note="speed of routed experts beside that of dense weights",
    ),
    "gpu_layer": StreamParameter(
        start=100e-6,
        unit="s",
        width=0.7,
        factors={RUNTIME: 0.7},
        starts={
            "accelerate": 400e-6,
            "airllm": 400e-6,
            "deepspeed": 6e-3,
            "mixtral-offloading": 400e-6,
            "deepspeed-inference": 200e-6,
            "exllama": 30e-6,
            "tensorrt-llm": 30e-6,
            "vllm": 60e-6,
        },
        note="fixed cost of a layer on the GPU",
    ),
    "gpu_expert_layer": StreamParameter(
        start=100e-6,
        unit="s",
        width=0.7,
        factors={RUNTIME: 0.7},
        note="further cost of a layer with routed experts on the GPU",
    ),
    "gpu_state_layer": StreamParameter(
        start=40e-6, unit="s", width=0.1, note="further cost of a layer that keeps a state"
    ),
    "sequence": StreamParameter(
        start=5e-6, unit="s", width=1.0, note="cost of each sequence in a step"
    ),
    "unpack_operations": StreamParameter(
        start=20.0,
        unit="FLOP",
        width=0.7,
        factors={RUNTIME: 0.7},
        starts={"exllama": 4.0, "mixtral-offloading": 300.0},
        note="operations that unpack one value on the GPU",
    ),
    "unpack_bytes": StreamParameter(
        start=20.0,
        unit="B",
        width=0.5,
        factors={RUNTIME: 0.3},
        only=("deepspeed-inference", "flexgen"),
        starts={"deepspeed-inference": 4.0},
        note="bytes that elementwise kernels move to unpack one value on the GPU",
    ),
    "token": StreamParameter(
        start=0.5e-3, unit="s", width=0.3, note="fixed cost of a step: sampling and launch"
    ),
}
"""Constants that measurements decide. FlexGen unpacks in elementwise PyTorch kernels, ExLlama as it
multiplies; AirLLM opens a file for each layer."""
