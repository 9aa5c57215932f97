"""Drafted tokens: whether a runtime makes them, and what they add to time, range and memory."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from advisor.cost_model.loads import token_step
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route, Schedule
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.workload import Draft, Workload
from advisor.model.architecture import Group
from advisor.model.catalog import draft_heads
from advisor.model.model import Model
from advisor.units import Array

DRAFTING = 0.2
"""Half width that drafted tokens add to a range, as the logarithm of a factor: acceptance is 0.68
to 0.88 by kind of text (nine kinds, llama.cpp pull request 24087), and published gains lie a fifth
from what their own acceptance says (data/measurements/drafting.csv)."""
Reads = Mapping[str, Array]  # weights that a step reads, by route [B]


def with_drafting(time: StepTime, model: Model, work: Workload, reads: Reads) -> StepTime:
    """Step with the time of r runs of the drafting model, each of which reads D bytes.

    t = t_step + r ( D t_route / W_route + t_layers layers_d / layers + t_token )

    A head reads one layer and the output head in a run for each token; a smaller model is run for
    each token too, a block drafter once for all. It lies on the GPU where the GPU holds
    any weights, as runtimes put the last layer and the head there first; experts in RAM leave it
    there. So it reads at the rate of the W bytes that the step reads by that route
    (`weights_read`).
    """
    drafter = work.drafter
    if drafter is None or not work.runs_drafter or not np.any(work.drafted):
        return time
    if drafter.at_once:
        runs = np.minimum(work.drafted, 1.0)
    else:
        runs = np.asarray(work.drafted)
    if work.draft_model is not None:
        read = work.draft_model.read_bytes_per_token
        layers = float(work.draft_model.layers)
    else:
        layers = drafter.layers
        read = layers * (model.read_bytes_per_token - model.output) / model.layers + model.output
    drafted: dict[str, Array] = {FixedTime.LAYERS: layers / model.layers, FixedTime.TOKEN: 1.0}
    route: str = Route.RESIDENT
    if not np.any(reads.get(route, 0.0)):
        route = max(reads, key=lambda name: float(np.sum(reads[name])), default=route)
    drafted[route] = read / np.maximum(reads.get(route, 1.0), 1.0)
    parts = {
        name: seconds * (1.0 + runs * drafted.get(name, 0.0))
        for name, seconds in time.parts.items()
    }
    return replace(time, total=sum(parts.values(), start=np.zeros(())), parts=parts)


def with_drafts(model: Model, work: Workload, runtime: Runtime) -> tuple[Workload, str]:
    """Request with the drafts that a runtime makes for a model.

    A note says so where the runtime makes none.
    """
    if not work.draft and runtime.own_drafts and draft_heads(model):
        return work.with_numbers(**runtime.own_drafts), ""
    if without := _why_undrafted(model, work, runtime):
        return undrafted(work), without
    return work, ""


def _why_undrafted(model: Model, work: Workload, runtime: Runtime) -> str:
    """Reason why a runtime drafts no tokens for a model; empty where it drafts, or no drafts were
    asked for.
    """
    if work.draft and not runtime.drafts:
        return "No tokens are drafted in it here."
    if work.draft == Draft.MTP and not draft_heads(model) and not runtime.schedules_drafts:
        return f"{model.name} has no layers to draft with (MTP), so none are drafted."
    return ""


def undrafted(work: Workload) -> Workload:
    """Request without drafted tokens."""
    return replace(work, draft="", draft_model=None, drafted=0, acceptance=0.0)


def weights_read(schedule: Schedule, model: Model, work: Workload, *, by_gpu: bool) -> Reads:
    """Weights that a step reads, by route [B]; its loads may have an axis for the GPUs.

    The flows of GPUs that share layers are those of one GPU, so each route's share of all flows is
    taken of the weights that a step of as many tokens reads.
    """
    flows: dict[str, Array] = {}
    for stage in schedule.stages:
        for flow in stage:
            if flow.load is None:
                moved = flow.moved
            else:
                moved = flow.load.weights
            if by_gpu and np.ndim(moved):
                size = np.sum(moved, axis=0)
            else:
                size = moved
            flows[flow.route] = flows.get(flow.route, 0.0) + size
    experts = np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    further = token_step(work).touched(model) - model.expert_share(1.0)
    whole = model.read_bytes_per_token + experts * further
    total = np.maximum(sum(flows.values(), start=np.zeros(())), 1.0)
    return {route: whole * size / total for route, size in flows.items()}


# Memory for drafting.


def drafter_weights(model: Model, work: Workload) -> Array:
    """Weights that draft tokens: a smaller model's, or those of further layers of the model [B].

    A head for multi-token prediction is a layer like the others, routed experts and all, behind a
    projection of 2 hidden x hidden weights, and shares the token table and the output head
    (DeepSeek-V3, arXiv 2412.19437, section 2.2); an EAGLE head is taken to be a layer, too. The
    layers of a block drafter have no routed experts.
    """
    if work.draft_model is not None:
        return work.draft_model.file_bytes
    if work.drafter is None:
        return 0.0
    layer = model.layer_bytes[..., -1]
    if work.drafter.at_once:
        layer = layer - model.bytes_per_layer[Group.ROUTED_EXPERTS][..., -1]
    if work.draft == Draft.MTP:
        layer = layer + 2.0 * model.architecture.hidden**2 * _bytes_per_weight(model)
    return np.asarray(work.drafter.layers * layer)


def _bytes_per_weight(model: Model) -> Array:
    """Mean size of a weight of a model [B]."""
    return np.asarray(model.file_bytes) / model.architecture.params


def drafter_cache(model: Model, work: Workload) -> Array:
    """Cache of one user's context for drafting; a smaller model keeps it in 16 bits [B]."""
    if work.draft_model is not None:
        values = float(np.sum(work.draft_model.per_layer.kv_values))
        return np.asarray(
            Model.KV_BYTES_PER_VALUE["f16"] * values * np.asarray(work.context, dtype=float)
        )
    if work.drafter is None:
        return 0.0
    return np.asarray(
        work.drafter.layers * np.max(model.kv_bytes(work.context, work.kv_type), axis=-1)
    )


def drafter_memory(model: Model, work: Workload) -> Array:
    """Memory for drafting: weights, and the cache of all users; 0 without drafting [B]."""
    if not work.draft:
        return 0.0
    users = np.asarray(work.users, dtype=float)
    return np.asarray(drafter_weights(model, work) + drafter_cache(model, work) * users)


def drafting_context(model: Model, work: Workload) -> Array:
    """Memory of llama.cpp's own context for drafting; 0 without drafting [B].

    Beside its weights: a cache in 16 bits whatever the model's has (`-ctkd`, `-ctvd`), the scores
    of all tokens of a micro-batch, ubatch x vocab x 4, and of states that cannot be cut one more
    for each drafted token, to go back to (llama.cpp's src/llama-memory-recurrent.cpp: rows x
    (1 + n_rs_seq)). Measured with Qwen3.8-27B and two drafts: 1.3 GiB at 131,072 tokens, 1.9 GiB at
    262,144 (sudoingX/qwen38-mtp, pull requests 13 and 14).
    """
    if not work.runs_drafter:
        return 0.0
    users = np.asarray(work.users, dtype=float)
    cache = drafter_cache(model, work.with_numbers(kv_type="f16"))
    vocab = (work.draft_model or model).architecture.vocab
    scores = 4.0 * np.asarray(work.ubatch, dtype=float) * vocab
    states = (
        4.0 * float(np.sum(model.per_layer.state_values)) * np.asarray(work.drafted, dtype=float)
    )
    return np.asarray(drafter_weights(model, work) + (cache + states) * users + scores)
