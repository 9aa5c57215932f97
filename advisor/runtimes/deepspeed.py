"""DeepSpeed ZeRO-Inference: all weights outside the GPUs, each layer copied ahead of its use.

Stage 3 keeps every weight in RAM or on the drive and copies layer after layer to the GPU on a
separate stream, in the recorded order, so a step takes the longest of drive, link and compute. A
large batch shares each copy, which is the purpose. A KV cache too large for VRAM is in RAM, where
the processor computes attention (DeepSpeedExamples, zero_inference/model-support.md at 45b4b71,
2026-03-29); the copies wait for that. Each of several GPUs computes every layer for sequences of
its own.
"""

import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from advisor.cost_model.loads import ForwardPass, prompt_step, token_step
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import (
    Exchange,
    ExchangePath,
    Flow,
    Phases,
    Route,
    Schedule,
    Transfer,
)
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.runtimes import weight_streaming as streaming
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.units import GB, Array

LIVE = 1e9
"""Most weights in VRAM at a time: modules are fetched one by one, and dropped from this number on
(`stage3_max_live_parameters`, its default)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with all weights in RAM or on the drive, and the KV cache in VRAM; in RAM where
    VRAM cannot hold the cache.
    """
    check_takes("deepspeed", machine, strategy, model, work)
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        rest = Location.DISK
    else:
        rest = Location.RAM
    nothing = np.zeros(model.layers)
    passing = passing_bytes(model, len(machine.gpus))
    users = np.asarray(work.users, dtype=float) / len(machine.gpus)
    workspace = streaming.ACTIVATIONS + passing + streaming.prompt_workspace(model, work) * users
    free = machine.gpu_memory * streaming.MEMORY_USED - len(machine.gpus) * workspace
    in_ram = np.asarray(streaming.cache_bytes(model, work) > free, dtype=float)
    if settings.kv_in_ram is not None:
        in_ram = np.asarray(float(settings.kv_in_ram))
    return streaming.shared_by_gpus(
        model,
        machine,
        strategy,
        nothing,
        {rest: 1.0 - nothing},
        usable=streaming.MEMORY_USED,
        workspace=workspace,
        cache_outside={Location.RAM: in_ram},
        tables=rest,
    )


@lru_cache(maxsize=64)
def passing_bytes(model: Model, gpus: int) -> float:
    """VRAM for the weights that pass through [B].

    Several GPUs that fetch together need all experts of a layer, since their tokens use different
    ones (`set_z3_leaf_modules`); else modules come one by one, each expert's matrices apart.
    """
    layers = streaming.BUFFERED * float(np.max(model.layer_bytes))
    if gpus > 1 and model.has_experts:
        return layers
    mixed = model.architecture.experts
    if mixed:
        experts_in = {Group.ROUTED_EXPERTS: mixed.total}
    else:
        experts_in = {}
    sizes = (
        tensor.params / experts_in.get(tensor.group, 1) for tensor in model.architecture.tensors
    )
    return min(layers, 2.0 * (LIVE + max(sizes)))


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of one pass for all prompts, and one for a token of every sequence.

    Each of several GPUs copies its part of a layer and gets the other parts from the other GPUs.
    """
    count = len(machine.gpus)
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        rest = Location.DISK
    else:
        rest = Location.RAM
    moved = streaming.moved_weights(model, placement, rest)
    gathered = Exchange(
        way=ExchangePath.PEER,
        times=float(model.layers),
        moved=moved / model.layers * (count - 1) / count,
        reduces=True,
    )

    def one_pass(step: ForwardPass, on_host: Array) -> Schedule:
        """Pass in which the processor attends to a share of the cache."""
        load = streaming.whole_load(model, placement, step)
        shared = streaming.each_of(streaming.without_cache(load, on_host), count)
        computed = Flow(
            route=Route.RESIDENT,
            load=replace(shared, weights=load.weights, layers=np.zeros(())),
            kernels=streaming.kernels(
                model, step.sequences / count, streaming.unpacked_weights(model)
            ),
        )
        streamed = Flow(
            route=Route.STREAMED, moved=moved / count, transfer=Transfer.PINNED, alike=count
        )
        staged = Flow(route=Route.STAGED, moved=moved, transfer=None)
        started = replace(load.times(0.0), layers=load.layers)
        hooks = Flow(route=Route.RESIDENT, load=started, kernels=streaming.kernels(model, 0.0))
        attended = Flow(route=Route.IN_PLACE, moved=streaming.attended_bytes(model, load) * on_host)
        copies = (streamed, staged) if rest == Location.DISK else (streamed,)
        return Schedule(
            stages=((computed, *copies), (hooks,), (attended,)),
            exchanges=(gathered,) if count > 1 else (),
        )

    return Phases(
        of_prompt=lambda: one_pass(prompt_step(work), 0.0),
        of_token=lambda: one_pass(token_step(work), streaming.cache_share(placement, Location.RAM)),
    )


def each_gpu(machine: Machine, work: Workload) -> int:
    """Number of sequences on one GPU."""
    return math.ceil(float(work.users) / len(machine.gpus))


def configuration(
    model: Model, placement: Placement, machine: Machine, work: Workload
) -> Mapping[str, object]:
    """JSON configuration of stage 3 for this placement, as in DeepSpeed's run_model.py.

    Sizes are numbers of elements; `buffer_size` must hold the largest weight matrix.
    """
    square = 2 * model.architecture.hidden**2
    offload: dict[str, object] = {"device": "cpu", "pin_memory": True}
    config: dict[str, object] = {
        "train_micro_batch_size_per_gpu": each_gpu(machine, work),
        "bf16": {"enabled": True},
        "zero_optimization": {
            "stage": 3,
            "stage3_prefetch_bucket_size": square,
            "stage3_param_persistence_threshold": model.architecture.hidden,
            "stage3_max_live_parameters": square,
            "offload_param": offload,
        },
    }
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        largest = max(tensor.params for tensor in model.architecture.tensors)
        offload |= {"device": "nvme", "nvme_path": "/local_nvme", "buffer_count": 5}
        offload["buffer_size"] = max(largest, 2 * int(GB))
        switches = {"use_gds": False, "single_submit": False, "overlap_events": True}
        sizes = {"block_size": 16 * 2**20, "queue_depth": 64, "intra_op_parallelism": 8}
        config["aio"] = sizes | switches
    if streaming.packed_weights(model):
        groups = {"num_bits": 4, "group_size": 64, "group_dim": 1, "symmetric": False}
        config["weight_quantization"] = {"quantized_initialization": groups}
    return config


SCRIPT = """import json, torch, deepspeed
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.integrations import HfDeepSpeedConfig
config = json.load(open("zero.json"))
keep = HfDeepSpeedConfig(config)  # before loading: weights go straight to their place
model = AutoModelForCausalLM.from_pretrained({name}, dtype=torch.bfloat16)
model = deepspeed.initialize(model=model, config=config)[0].module.eval()
text = AutoTokenizer.from_pretrained({name})
prompts = text(["Paris is the capital city of"] * {users}, return_tensors="pt").to("cuda")
print(text.batch_decode(model.generate(**prompts, max_new_tokens={output})))"""


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """JSON, script and launch line of the placement; DeepSpeed's own script where the cache is in
    RAM.
    """
    launch = f"deepspeed --num_gpus {len(machine.gpus)}"
    name = catalog.repository(model.published_as)
    users = each_gpu(machine, work)
    if Location.RAM in placement.kv:
        drive = placement.strategy is PlacementStrategy.NVME_OFFLOAD
        if drive:
            options = "--disk-offload --offload-dir /local_nvme"
        else:
            options = "--cpu-offload"
        if streaming.packed_weights(model):
            options += " --quant_bits 4"
        return (
            "# the cache in RAM needs the models of github.com/deepspeedai/DeepSpeedExamples,\n"
            "# inference/huggingface/zero_inference: BLOOM, Llama and OPT\n"
            f"{launch} run_model.py --model {shlex.quote(name)} --batch-size {users} "
            f"--prompt-len {int(work.prompt)} --gen-len {int(work.output)} {options} "
            "--pin-memory 1 --kv-offload"
        )
    import json  # takes time to load, and only the command needs it

    config = json.dumps(configuration(model, placement, machine, work), indent=1)
    script = SCRIPT.format(name=repr(name), users=users, output=int(work.output))
    return (
        f"cat > zero.json <<'END'\n{config}\nEND\n"
        f"cat > zero.py <<'END'\n{script}\nEND\n"
        f"{launch} zero.py"
    )


DEEPSPEED = Runtime(
    name="DeepSpeed ZeRO-Inference",
    key="deepspeed",
    engine="deepspeed",
    version="DeepSpeed 0.19.8 with transformers 5.23",
    strategies=(PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.NVME_OFFLOAD),
    loaded_format=loaded_format_of("deepspeed", why="loading converts"),
    mainstream=False,
    place=place,
    schedule=schedule,
    command=command,
)
