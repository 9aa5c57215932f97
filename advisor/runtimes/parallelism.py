"""How a model is divided over GPUs and machines that all compute.

Tensor parallel divides each layer among the GPUs of a machine: weights, cache and the time to read
them shrink by their number, and twice in each layer they add up what each has computed
(Megatron-LM, arXiv 1909.08053, section 3). Pipeline parallel gives each machine, or each GPU where
the heads do not divide, layers of its own: memory adds up and the time of a token does not shrink.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from advisor.cost_model.schedule import REDUCES_PER_LAYER, Exchange, ExchangePath
from advisor.machine.machine import Machine
from advisor.model.architecture import Architecture
from advisor.model.model import Floats, Model
from advisor.runtimes.llama_cpp.buffers import widths
from advisor.units import Array

ACTIVATION = 2.0
"""Bytes of a value that GPUs send each other: 16 bits [B]."""


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """How a model is divided over GPUs.

    Attributes:
        tensor: GPUs that share each layer.
        pipeline: groups of them that hold layers in turn.
    """

    tensor: int
    pipeline: int

    @property
    def gpus(self) -> int:
        """All of them."""
        return self.tensor * self.pipeline


def parallel(model: Model, machine: Machine) -> Parallel:
    """Tensor parallel inside a machine as far as the heads divide, pipeline over the rest.

    vLLM wants the number of attention heads divisible by the tensor parallel size
    (vllm/config/model.py, 0.33.0), and advises pipelines between machines.
    """
    inside = len(machine.gpus) // machine.nodes
    heads = query_heads(model)
    tensor = max(
        width for width in range(1, inside + 1) if inside % width == 0 and heads % width == 0
    )
    return Parallel(tensor=tensor, pipeline=len(machine.gpus) // tensor)


def query_heads(model: Model) -> int:
    """Query heads of a layer, the fewest of its kinds of layers; 1 where none attends."""
    return max(round(min(widths(model.architecture).heads.values(), default=1)), 1)


def cache_share(model: Model, tensor: int) -> Floats:
    """Share of each layer's cache that one of several GPUs keeps, shape (layers,).

    Key heads are divided as far as they go, and repeated beyond; the one latent of MLA, and nothing
    else of a layer without values, lies on every GPU.
    """
    return _cache_share(model.architecture, query_heads(model), tensor)


@lru_cache(maxsize=256)
def _cache_share(architecture: Architecture, heads: int, tensor: int) -> Floats:
    shares = np.full(architecture.layers, 1.0 / tensor)
    pairs = zip(architecture.cache, architecture.attention_values, strict=True)
    for layer, (kept, values) in enumerate(pairs):
        if kept.key_values and not kept.value_values:
            shares[layer] = 1.0
        elif kept.key_values:
            head = max(values / 2 / heads, 1.0)
            shares[layer] = max(1.0 / tensor, min(head / kept.key_values, 1.0))
    return shares


def chunks(model: Model, count: int) -> tuple[Floats, ...]:
    """1 for the layers of each group of a pipeline, first layers first, shape (layers,)."""
    return _chunks(model.layers, count)


@lru_cache(maxsize=256)
def _chunks(layers: int, count: int) -> tuple[Floats, ...]:
    edges = np.linspace(0, layers, count + 1).round()
    index = np.arange(layers)
    return tuple(((index >= low) & (index < high)).astype(float) for low, high in pairwise(edges))


def representative(machine: Machine, how: Parallel, at: int) -> int:
    """The GPU of a group that the others wait for: the one with the slowest memory."""
    devices = range(at * how.tensor, (at + 1) * how.tensor)
    return min(devices, key=lambda device: float(np.ravel(machine.gpus[device].bandwidth.value)[0]))


def exchanges(model: Model, machine: Machine, how: Parallel, tokens: Array) -> Iterable[Exchange]:
    """What the GPUs send each other in one run over all layers.

    A ring of t GPUs moves 2 (t - 1) / t of a vector each way to add it up. A pipeline hands on the
    residual stream and its sum, two vectors.
    """
    vector = model.architecture.hidden * ACTIVATION * np.asarray(tokens, dtype=float)
    if how.tensor > 1:
        ring = 2.0 * (how.tensor - 1) / how.tensor
        times = REDUCES_PER_LAYER * model.layers
        yield Exchange(
            way=ExchangePath.PEER, times=times, moved=ring * vector, reduces=True, gpus=how.tensor
        )
    between = machine.nodes - 1
    if how.pipeline - 1 > between:
        yield Exchange(
            way=ExchangePath.PEER, times=how.pipeline - 1.0 - between, moved=2.0 * vector
        )
    if between:
        yield Exchange(way=ExchangePath.NETWORK, times=float(between), moved=2.0 * vector)


def several(machine: Machine, how: Parallel, names: tuple[str, str]) -> Iterable[str]:
    """Options that say how a model is divided.

    Args:
        machine: where.
        how: over which GPUs.
        names: of the options for tensor and pipeline parallel.
    """
    for name, count in zip(names, (how.tensor, how.pipeline), strict=True):
        if count > 1:
            yield f"{name} {count}"
