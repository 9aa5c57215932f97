"""Division of a model over GPUs and machines that all compute.

Tensor parallel divides each layer among the GPUs of a machine: weights, cache and the time to read
them shrink by the number of GPUs, with two all-reduces in each layer (Megatron-LM, arXiv
1909.08053, section 3). Pipeline parallel gives each machine, or each GPU where the heads cannot be
divided, its own layers: memory adds up and the time of a token does not shrink.

Expert parallel divides the routed experts of a layer among the GPUs that share it, each expert
whole on one of them; attention stays tensor parallel. Every GPU has all tokens, computes its own
experts for them, and the second all-reduce of the layer joins the results: no all-to-all, which
engines use where attention is data parallel (docs.vllm.ai, expert_parallel_deployment;
docs.sglang.io, expert_parallelism, `--moe-a2a-backend none`; both 2026-11).

Attention data parallel gives each GPU users of its own: it holds all but the experts, and the cache
of its users alone, where tensor parallel repeats a latent (MLA) on every GPU. Each layer of experts
gathers the tokens of all GPUs and scatters the results, as many bytes as one all-reduce.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from advisor.cost_model.loads import ForwardPass
from advisor.cost_model.schedule import REDUCES_PER_LAYER, Exchange, ExchangePath
from advisor.cost_model.timing import sum_seconds
from advisor.errors import Refusal
from advisor.machine.machine import UNEQUAL, Machine
from advisor.model.architecture import Group
from advisor.model.model import Floats, Model
from advisor.units import GIB, Array

# Layers by what serving engines compute in them: latent, sparse and linear attention.
#
# Query heads are divided among the GPUs that share a layer, whatever lies on each of the cache.
# Latent attention (MLA) has two forms: a token attends to the latents themselves, with wide heads;
# a prompt unfolds them into keys and values, whose heads are narrow (DeepSeek-V2, arXiv
# 2405.04434, appendix C; vllm/v1/attention/backends/mla/common.py, 0.33.0). Sparse attention
# scores all tokens with a small indexer and attends to a fixed number of them, as latents
# (DeepSeek-V3.2-Exp, 2025). Linear attention reads and writes its state for each token.

CHOSEN = 2048.0  # tokens that an indexer selects (`index_topk` of DeepSeek-V3.2 and GLM-5) [tokens]
MOST_CHECKED = 16.0  # most tokens of a sequence that a step verifies together; more are a prompt
PER_STATE_VALUE = 4.0
"""Work on each value of a state for a token: it decays, is added to and is read [FLOP]."""


def is_prompt(step: ForwardPass) -> bool:
    """Whether a step reads prompts; in other steps each sequence gets a token, and drafts are
    checked.
    """
    tokens = np.asarray(step.tokens, dtype=float)
    return bool(np.any(tokens > MOST_CHECKED * np.asarray(step.sequences)))


def attention_work(model: Model, layers: Floats, step: ForwardPass) -> Array:
    """Work of attention and of indexers in some layers, shape (..., layers) [FLOP].

    `layers` is the share of each layer's heads that is computed.
    """
    per_layer = model.per_layer
    depth = np.asarray(step.depth, dtype=float)[..., None]
    attended = np.minimum(depth, per_layer.windows)
    attended = np.where(per_layer.indexed > 0, np.minimum(attended, CHOSEN), attended)
    values = per_layer.attention_flops / 2.0
    if is_prompt(step):
        values = np.where(
            (per_layer.unfolded > 0) & (per_layer.indexed <= 0), per_layer.unfolded, values
        )
    work = 2.0 * (values * attended + per_layer.index_values * depth)
    return np.asarray(np.sum(layers * work, axis=-1) * step.tokens)


def cache_read(model: Model, shares: Floats, step: ForwardPass) -> Array:
    """Cache that a step reads of a share of each layer, shape (..., layers) [B].

    With an indexer a step reads all of its keys, and the cache of the tokens that it chose.
    """
    per_layer = model.per_layer
    cache_bytes = model.kv_bytes(step.depth, step.kv_type)
    depth = np.maximum(np.asarray(step.depth, dtype=float), 1.0)[..., None]
    chosen = np.minimum(CHOSEN / depth, 1.0)
    sparse = per_layer.index_share + (1.0 - per_layer.index_share) * chosen
    read = np.where(per_layer.indexed > 0, sparse, 1.0)
    return np.asarray(np.sum(shares * cache_bytes * read, axis=-1) * step.sequences)


def state_work(model: Model, layers: Floats, step: ForwardPass) -> Array:
    """Work of linear attention on the states of a share of each layer, for all tokens, shape (...,
    layers) [FLOP].
    """
    return np.asarray(PER_STATE_VALUE * (layers @ model.per_layer.state_values) * step.tokens)


ACTIVATION = 2.0  # size of a value sent between GPUs, 16 bits [B]


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """Division of a model over GPUs; arrays divide it over several numbers of GPUs."""

    tensor: int  # number of GPUs that share each layer
    pipeline: int  # number of groups of GPUs, each with its own layers
    by_user: bool = False  # each GPU has users of its own, and only the experts are divided
    stages: tuple[int, ...] = ()  # layers of each group; empty where all have as many

    def parts(self, layers: int) -> tuple[Floats, ...]:
        """Layers of each group, 1 or 0, in order, shape (layers,)."""
        if self.stages:
            return _of_stages(self.stages)
        return chunks(layers, self.pipeline)

    @property
    def gpus(self) -> int:
        """Number of all GPUs in use."""
        return self.tensor * self.pipeline

    @property
    def turns(self) -> Sequence[Any]:
        """Index of each group; shape (groups, 1, 1) for several numbers of GPUs at once."""
        if np.ndim(self.pipeline) == 0:
            return range(self.pipeline)
        return (np.arange(np.max(self.pipeline))[:, np.newaxis, np.newaxis],)

    def of_groups(self, numbers: Sequence[Array]) -> Any:
        """Numbers of each group, out of the numbers by index of `turns`."""
        if np.ndim(self.pipeline) == 0:
            return numbers
        return np.asarray(numbers[0])


def parallel(model: Model, machine: Machine, *, by_user: bool = False) -> Parallel:
    """Division of a model: tensor parallel inside a machine where the heads can be divided,
    pipeline parallel in other cases.

    It is pipeline parallel, too, over unequal cards of which the smallest cannot hold as much as
    the others.

    vLLM requires a number of attention heads divisible by the tensor parallel size
    (vllm/config/model.py, 0.33.0), and advises pipelines between machines.
    """
    inside = machine.gpu_count // machine.nodes
    if shares_layers_between(model, machine):
        return Parallel(tensor=machine.nodes, pipeline=1, by_user=by_user)
    stages = () if by_user else stages_by_memory(model, machine)
    if stages:
        return Parallel(tensor=1, pipeline=len(stages), stages=stages)
    tensor = for_each(inside, partial(math.gcd, query_heads(model)))
    return Parallel(tensor=tensor, pipeline=machine.gpu_count // tensor, by_user=by_user)


USED = 0.92
BESIDE = 1.5 * GIB
"""Share of a card's memory that vLLM uses (`--gpu-memory-utilization`), and what of that holds no
weights: buffers of computing, the least of a cache."""
FULL = 0.95  # share of the room for weights from which equal parts of them do not fit


def stages_by_memory(model: Model, machine: Machine) -> tuple[int, ...]:
    """Number of layers on each of unequal cards, in proportion to their room for weights.

    It is empty where equal parts fit the smallest card.

    vLLM takes them as VLLM_PP_LAYER_PARTITION: 16 and 32 layers on 16 and 32 GB hold what tensor
    parallel does not (github.com/vllm-project/vllm/issues/34076, read 2026-11-28).
    """
    sizes = [gpu.memory.value for gpu in machine.gpus]
    several = machine.counts is not None or machine.nodes > 1 or len(sizes) < 2
    if several or any(np.ndim(size) for size in (*sizes, model.file_bytes)):
        return ()
    room = [max(USED * float(size) - BESIDE, 0.0) for size in sizes]
    fits = float(model.file_bytes) <= FULL * len(room) * min(room)
    if fits or max(sizes) < UNEQUAL * min(sizes) or not min(room):
        return ()
    shares = [model.layers * part / sum(room) for part in room]
    counts = [max(int(share), 1) for share in shares]
    by_remainder = sorted(range(len(room)), key=lambda at: int(shares[at]) - shares[at])
    for at in by_remainder[: model.layers - sum(counts)]:
        counts[at] += 1
    if sum(counts) == model.layers:
        return tuple(counts)
    return ()


@lru_cache(maxsize=256)
def _of_stages(stages: tuple[int, ...]) -> tuple[Floats, ...]:
    edges = np.cumsum((0, *stages))
    index = np.arange(edges[-1])
    return tuple(((index >= low) & (index < high)).astype(float) for low, high in pairwise(edges))


def shares_layers_between(model: Model, machine: Machine) -> bool:
    """Whether machines with one GPU each share every layer, because a token is then faster.

    W (1 - 1/n) / S > 2 L ( ceil(log2 n) t + 2 (n-1)/n v / R ),

    with W the bytes read for a token, S the GPU's bandwidth, L the layers, t the time of a short
    sum over two machines, v a vector of activations and R the network's rate. Machines with several
    GPUs pass layers on, as vLLM advises. All of n machines must be able to divide the heads.
    """
    nodes = machine.nodes
    alone = nodes > 1 and len(machine.gpus) == nodes
    network = machine.network
    if not alone or network is None or query_heads(model) % nodes:
        return False
    saved = model.read_bytes_per_token * (1 - 1 / nodes) / machine.gpus[0].bandwidth.value
    sums = REDUCES_PER_LAYER * model.layers
    moved = 2.0 * (nodes - 1) / nodes * model.architecture.hidden * ACTIVATION
    if network.reduce:
        delay = network.reduce.value
    else:
        delay = 0.0
    cost = sums * (math.ceil(math.log2(nodes)) * delay + sum_seconds(moved, network))
    return bool(np.all(saved > cost))


def for_each(number: Any, function: Callable[[int], Any]) -> Any:
    """Value of a function of a number; along the axes of an array, the value of each number."""
    if np.ndim(number) == 0:
        return function(number)
    values = np.array([function(int(single)) for single in np.ravel(number)])
    return values.reshape(*np.shape(number), *values.shape[1:])


def beside_layers(number: Array) -> Floats:
    """Numbers with a further axis for the layers, shape (..., 1)."""
    return np.asarray(number)[..., np.newaxis]


def held_by_each(model: Model, division: Parallel) -> Floats:
    """Weights of each layer on one of the GPUs that share the layer, shape (layers,) [B]."""
    if not division.by_user:
        return np.asarray(model.layer_bytes / beside_layers(division.tensor))
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    return model.layer_bytes - experts + experts / division.tensor


def share_of_users(division: Parallel, users: Array) -> Array:
    """Share of the users whose tokens one GPU computes: ceil(n / t) / n where each GPU has users of
    its own.
    """
    if not division.by_user:
        return 1.0
    number = np.maximum(np.asarray(users, dtype=float), 1.0)
    return np.asarray(np.ceil(number / division.tensor) / number)


def cache_of_each(model: Model, division: Parallel, users: Array) -> Floats:
    """Share of each layer's cache, of all users, on one of the GPUs that share the layer, shape
    (..., layers).
    """
    if division.by_user:
        return np.asarray(share_of_users(division, users))[..., None] * np.ones(model.layers)
    return np.asarray(for_each(division.tensor, partial(cache_share, model)))


def check_divides_experts(model: Model, division: Parallel) -> None:
    """Check that expert parallelism has experts and GPUs to divide."""
    if not model.has_experts:
        raise Refusal(
            f"{model.name} has no experts to divide; leave out --expert-parallel and "
            "--attention-by-user (on the page, whole experts on each GPU)."
        )
    if division.tensor == 1:
        raise Refusal(
            "Expert parallel divides experts among GPUs that share layers, and here none share "
            "any; add a GPU or leave out --expert-parallel (on the page, whole experts on each "
            "GPU)."
        )


def busiest_gpu(model: Model, tensor: int, tokens: Array) -> tuple[Array, Array]:
    """Experts read and tokens computed by the busiest GPU, each divided by the mean of all GPUs (1
    or more).

    r = min( m + z sqrt( m (1 - p) ), E / t ) / m, with m = p E / t
    f = min( 1 + z sqrt( (1 - 1/t) / (T k / t) ), t )

    p is the share of the E experts that T tokens read, k of them each. Experts are chosen
    independently and all as often, so that this is the least by which one GPU is ahead. The largest
    of t normal sums lies z standard deviations above their mean, z the normal quantile of
    (t - 3/8) / (t + 1/4) (Blom 1958, Statistical Estimates and Transformed Beta-Variables), for t
    GPUs (`tensor`).
    """
    from statistics import NormalDist  # takes time to load, and few answers need it

    experts = model.architecture.experts
    if experts is None or tensor == 1:
        return 1.0, 1.0
    share = np.asarray(model.expert_share(np.asarray(tokens, dtype=float)))
    most = experts.total / tensor
    above = NormalDist().inv_cdf((tensor - 0.375) / (tensor + 0.25))
    mean = share * most
    read = np.minimum(mean + above * np.sqrt(mean * (1.0 - share)), most) / mean
    tokens_of_an_expert = np.asarray(tokens, dtype=float) * experts.used / tensor
    computed = np.minimum(1.0 + above * np.sqrt((1.0 - 1.0 / tensor) / tokens_of_an_expert), tensor)
    return np.maximum(read, 1.0), computed


def query_heads(model: Model) -> int:
    """Smallest number of query heads in any layer; 1 for a model without attention."""
    return round(min(filter(None, model.architecture.query_heads), default=1))


@lru_cache(maxsize=256)
def cache_share(model: Model, tensor: int) -> Floats:
    """Share of each layer's cache on one of several GPUs, shape (layers,).

    Key heads are divided where possible, and repeated where there are more GPUs than heads. The
    latent of MLA, which has no values, is on every GPU.
    """
    shares = np.full(model.layers, 1.0 / tensor)
    heads = query_heads(model)
    layers = zip(model.architecture.cache, model.architecture.attention_values, strict=True)
    for layer, (cache, values) in enumerate(layers):
        if cache.key_values and not cache.value_values:
            shares[layer] = 1.0
        elif cache.key_values:
            head = max(values / 2 / heads, 1.0)
            shares[layer] = max(1.0 / tensor, min(head / cache.key_values, 1.0))
    return shares


@dataclass(frozen=True, kw_only=True)
class GpuGroup:
    """GPUs that share their layers: one stage of a pipeline."""

    model: Model
    machine: Machine
    division: Parallel
    at: int  # index among the groups, of `Parallel.turns`

    @property
    def layers(self) -> Floats:
        """Layers of the group, 1 or 0, shape (..., layers); all 0 where there is no such group."""
        pipeline = self.division.pipeline
        if np.ndim(pipeline) == 0:
            return self.division.parts(self.model.layers)[self.at]
        return _several_chunks(self.model.layers, tuple(np.ravel(pipeline).tolist()))

    @property
    def devices(self) -> range:
        """Indices of the group's GPUs; of the single GPU where a machine has several numbers of
        it.
        """
        if self.machine.counts is not None:
            return range(1)
        tensor = self.division.tensor
        return range(self.at * tensor, (self.at + 1) * tensor)

    @property
    def slowest(self) -> int:
        """Index of the GPU that the others wait for, by memory bandwidth."""
        cards = self.machine.gpus[self.devices.start : self.devices.stop]
        if all(card is cards[0] for card in cards):
            return self.devices.start
        return min(
            self.devices, key=lambda at: float(np.ravel(self.machine.gpus[at].bandwidth.value)[0])
        )

    @property
    def memory(self) -> Array:
        """VRAM of the smallest GPU of the group [B]."""
        sizes = [self.machine.gpus[device].memory.value for device in self.devices]
        return np.asarray(reduce(np.minimum, sizes))


def gpu_groups(model: Model, machine: Machine, division: Parallel) -> list[GpuGroup]:
    """Groups of GPUs in the order of the pipeline."""
    return [
        GpuGroup(model=model, machine=machine, division=division, at=at) for at in division.turns
    ]


@lru_cache(maxsize=256)
def _several_chunks(layers: int, counts: tuple[int, ...]) -> Floats:
    """Layers of each group in pipelines of several lengths, shape (groups, pipelines, 1,
    layers).
    """
    groups = np.zeros((max(counts), len(counts), 1, layers))
    for at, count in enumerate(counts):
        groups[:count, at, 0] = chunks(layers, count)
    return groups


@lru_cache(maxsize=256)
def chunks(layers: int, count: int) -> tuple[Floats, ...]:
    """Layers of each group of a pipeline, 1 or 0, in order, shape (layers,)."""
    edges = np.linspace(0, layers, count + 1).round()
    index = np.arange(layers)
    return tuple(((index >= low) & (index < high)).astype(float) for low, high in pairwise(edges))


def exchanges(
    model: Model, machine: Machine, division: Parallel, tokens: Array
) -> Iterable[Exchange]:
    """Exchanges between GPUs in one run over all layers.

    A ring of t GPUs moves 2 (t - 1) / t of a vector each way for an all-reduce, and half of it to
    gather or to scatter. A pipeline sends the residual stream and its sum, two vectors.
    """
    vector = model.architecture.hidden * ACTIVATION * np.asarray(tokens, dtype=float)
    if np.any(division.tensor > 1):
        ring = 2.0 * (division.tensor - 1) / division.tensor
        experts = float(np.sum(model.per_layer.expert_layers))
        if division.by_user:
            times = experts
        else:
            times = REDUCES_PER_LAYER * model.layers
        times = times * (division.tensor > 1)
        spans = np.all(division.tensor > len(machine.gpus) // machine.nodes)
        if machine.nodes > 1 and spans:
            way = ExchangePath.NETWORK
        else:
            way = ExchangePath.PEER
        yield Exchange(
            way=way, times=times, moved=ring * vector, reduces=True, gpus=division.tensor
        )
    if np.any(division.pipeline > 1):
        between = machine.nodes - 1
    else:
        between = 0
    if np.any(division.pipeline - 1 > between):
        yield Exchange(
            way=ExchangePath.PEER, times=division.pipeline - 1.0 - between, moved=2.0 * vector
        )
    if between:
        yield Exchange(way=ExchangePath.NETWORK, times=float(between), moved=2.0 * vector)


def partitioned(line: str, division: Parallel, variable: str) -> str:
    """Command line with a variable of the environment for the layers of each stage, where these
    differ.
    """
    if not division.stages:
        return line
    return f"{variable}={','.join(map(str, division.stages))} {line}"


def several(division: Parallel, *names: str) -> Iterable[str]:
    """Options that divide a model over GPUs and machines."""
    for name, count in zip(names, (division.tensor, division.pipeline), strict=True):
        if count > 1:
            yield f"{name} {count}"
