"""TensorRT-LLM: all on the GPUs, with NVIDIA's kernels.

`trtllm-serve` loads a checkpoint of Hugging Face with its PyTorch backend and uses the VRAM beside
weights and buffers for pages of the cache. It keeps no weights in RAM.
"""

import math
import shlex
from collections.abc import Iterable

from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import serving, vllm
from advisor.runtimes.parallelism import Parallel, parallel, several

MEMORY_USED = 0.9
"""Share of the VRAM left beside the weights that the cache takes, as the command says
(`--kv_cache_free_gpu_memory_fraction`, trtllm-serve's default)."""


def _room(model: Model, _machine: Machine, work: Workload) -> serving.Room:
    request = serving.served(serving.paged(work))
    cache = model.kv_bytes(request.context, request.kv_type)
    return serving.Room(usable=MEMORY_USED, buffered=0, cache=cache)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of trtllm-serve."""
    division = parallel(model, machine)
    if placement.attention_by_user:
        users = division.tensor
    else:
        users = 1
    parts = [
        f"trtllm-serve {shlex.quote(serving.checkpoint(model))}",
        "--backend pytorch",
        f"--max_seq_len {int(work.context)}",
        f"--max_batch_size {math.ceil(work.users / users)}",
        f"--kv_cache_free_gpu_memory_fraction {MEMORY_USED}",
        *several(division, "--tp_size", "--pp_size"),
        *([f"--ep_size {division.tensor}"] if placement.expert_parallel else []),
        *_config(placement, work, division),
    ]
    return " ".join(parts)


def _config(placement: Placement, work: Workload, division: Parallel) -> Iterable[str]:
    """Options of a file for `--config`, which the shell writes, for settings without an option of
    their own.

    `kv_cache_config`, `enable_attention_dp` and `pp_partition` (nvidia.github.io/TensorRT-LLM,
    1.3.0rc11, examples/deepseek_r1_reasoning_parser).
    """
    settings = {}
    if placement.attention_by_user:
        settings["enable_attention_dp"] = "true"
    if serving.served(work).kv_type == "fp8":
        settings["kv_cache_config"] = f"{{dtype: fp8, free_gpu_memory_fraction: {MEMORY_USED}}}"
    if division.stages:
        settings["pp_partition"] = f"[{', '.join(map(str, division.stages))}]"
    if settings:
        lines = "\\n".join(f"{key}: {value}" for key, value in settings.items())
        yield f"--config <(printf '{lines}\\n')"


TENSORRT_LLM = serving.engine(
    "tensorrt-llm",
    _room,
    name="TensorRT-LLM",
    version="TensorRT-LLM 1.3.0rc27",
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    schedule=vllm.schedule,
    command=command,
    mainstream=False,
)
