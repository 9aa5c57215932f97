"""ik_llama.cpp, a fork of llama.cpp for processors: same placement, other kernels.

Its CPU kernels for matrices and attention are several times faster, so experts in RAM are computed
there for prompts too, where llama.cpp copies them to the GPU. It kept the older spelling of options
(common/common.cpp at 8337e4cd3, 2026-08-15).
"""

import shlex
from collections import defaultdict
from copy import copy

import numpy as np

from advisor.cost_model.loads import micro_batches
from advisor.cost_model.placement import RAM, Placement, PlacementStrategy
from advisor.cost_model.runtime import variant
from advisor.cost_model.schedule import Phases
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Tensor
from advisor.model.model import Model
from advisor.runtimes.llama_cpp.command import as_before, bound, devices, gguf_file, with_workers
from advisor.runtimes.llama_cpp.layer_split import LLAMA_CPP
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS, phases
from advisor.units import Array


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    copies_experts: bool = False,
) -> Phases:
    """Schedule of llama.cpp, but with experts in RAM always computed by the processor, unless
    prompts copy them.
    """
    read, written = (
        phases(each, placement, machine, work, copies_experts=copies_experts)
        for each in (unfolded(model, micro_batches(work)[0].tokens), model)
    )
    return Phases(of_prompt=read.of_prompt, of_token=written.of_token)


def unfolded(model: Model, tokens: Array) -> Model:
    """Model as the fork reads a prompt with it: latent attention (MLA) with keys and values anew.

    FLOPs per token and past token = 2 (heads (nope + rope + v) + heads rank (nope + v) / n)

    llama.cpp attends in the latent space, 2 heads (2 rank + rope), for prompts too. The fork makes
    keys and values of each head once for the n tokens of a micro-batch and attends with these
    (`-mla 3`, its default; pull request 273): 40,960 + 16.8 million / n values for DeepSeek-V3 in
    place of 139,264.
    """
    if not np.any(model.latent_values):
        return model
    by_layer: dict[int | None, dict[str, Tensor]] = defaultdict(dict)
    for tensor in model.architecture.tensors:
        by_layer[tensor.layer][tensor.role] = tensor
    whole = np.zeros(model.layers)
    once = np.zeros(model.layers)
    for layer in np.flatnonzero(model.latent_values):
        roles = by_layer[int(layer)]
        if not {"attn_k_b", "attn_v_b", "attn_kv_a_mqa", "attn_kv_a_norm"} <= roles.keys():
            return model
        up, down = roles["attn_k_b"], roles["attn_v_b"]
        rank = roles["attn_kv_a_norm"].width
        heads = up.rows / rank
        rope = roles["attn_kv_a_mqa"].rows - rank
        whole[layer] = heads * (up.width + rope) + down.rows
        once[layer] = up.params + down.params
    each = np.maximum(np.asarray(tokens, dtype=float), 1.0)[..., None]
    values = np.where(model.latent_values > 0, whole + once / each, model.attention_flops / 2.0)
    read = copy(model)
    read.__dict__["attention_flops"] = 2.0 * values
    return read


def copying_schedule(
    model: Model, placement: Placement, machine: Machine, work: Workload
) -> Phases:
    """Schedule without `-rtr`: experts in RAM are copied to the GPU for large enough batches.

    A batch is large enough from `COPY_TOKENS` times all experts over the experts per token (pull
    request 520 of the fork).
    """
    experts = model.architecture.experts
    each = 1.0 if experts is None else experts.used / experts.total
    batch = np.minimum(np.maximum(work.fresh, 1.0), work.ubatch)
    enough = bool(np.all(batch * each >= COPY_TOKENS))
    return schedule(model, placement, machine, work, copies_experts=enough)


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of the fork's llama-server."""
    options = [*as_before(model, placement, machine, work)]
    experts = int(placement.cpu_moe)
    if experts and placement.gpu_layers and model.has_experts:
        options.append("-cmoe" if experts >= model.layers else f"-ncmoe {experts}")
    options += devices(model, placement, machine)
    if placement.gpu_layers and np.all(placement.kv[RAM] > 0):
        options.append("-nkvo")
    if not work.flash_attention:
        options.append("-fa off")
    if placement.strategy is PlacementStrategy.CPU_OFFLOAD:
        options.append("-rtr")
    line = " ".join([f"llama-server -m {shlex.quote(gguf_file(model))}", *options])
    return with_workers(bound(line, machine), placement, machine)


IK_LLAMA_CPP = variant(
    LLAMA_CPP,
    name="ik_llama.cpp",
    build="ik",
    version="ik_llama.cpp of August 2026 (8337e4cd3)",
    schedule=schedule,
    command=command,
    binds_nodes=True,
)
