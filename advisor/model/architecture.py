"""A model's tensors, FLOPs and cache from its architecture's numbers.

An `Architecture` is what a model is before anyone chose a format for it: its tensors by role and
shape, what each layer keeps in the KV cache, how many experts a token uses. Quantization turns it
into bytes; see `quantization.py` and `model.py`. `ArchitectureSpec` are the numbers it is derived
from; see `tensors.py`.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

LAYER_TABLES = "per_layer_token_embd"
"""Role of tables beside the embedding, by layer or by run of tokens (Gemma 3n and 4 E, Qwen3.8)."""


class Group(StrEnum):
    """Purpose of a tensor; tensors of a group are placed together."""

    EMBEDDING = "embedding"
    ATTENTION = "attention"
    DENSE_FFN = "dense feed-forward"
    SHARED_EXPERTS = "shared experts"
    ROUTED_EXPERTS = "routed experts"
    ROUTER = "router"
    NORMS = "norms"
    OUTPUT = "output head"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """One weight matrix, or several of the same role stacked (the experts of a layer).

    Attributes:
        role: llama.cpp's name without layer and suffix: `attn_q`, `ffn_down_exps`, `token_embd`.
        group: what it is for.
        layer: repeating layer it belongs to, from 0; None for embedding, output head, final norm.
        rows: rows of all stacked matrices together.
        width: values in a row, the run that is quantized in blocks (`ne[0]` in GGUF).
    """

    role: str
    group: Group
    layer: int | None
    rows: int
    width: int

    @property
    def params(self) -> int:
        """Weights in it."""
        return self.rows * self.width


def linear(
    role: str,
    group: Group,
    layer: int | None,
    *,
    inputs: int,
    outputs: int,
    stacked: int = 1,
    bias: bool = False,
) -> tuple[Tensor, ...]:
    """Matrices of `outputs` rows and `inputs` columns, `stacked` of them, and their biases."""
    weight = Tensor(role=role, group=group, layer=layer, rows=stacked * outputs, width=inputs)
    if not bias:
        return (weight,)
    biases = Tensor(role=f"{role}.bias", group=group, layer=layer, rows=stacked, width=outputs)
    return (weight, biases)


def vectors(group: Group, layer: int | None, **sizes: int) -> tuple[Tensor, ...]:
    """Tensors of a single row, by role and size: norms, gates, decay rates."""
    return tuple(
        Tensor(role=role, group=group, layer=layer, rows=1, width=size)
        for role, size in sizes.items()
    )


def norm(role: str, layer: int | None, size: int, *, bias: bool) -> tuple[Tensor, ...]:
    """A norm over `size` values, with its bias where it is a LayerNorm."""
    biases = {f"{role}.bias": size} if bias else {}
    return vectors(Group.NORMS, layer, **{role: size}, **biases)


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerCache:
    """Cache of a layer.

    Attributes:
        key_values: values of K kept per token and sequence.
        value_values: values of V kept per token and sequence; 0 for MLA's latent cache, which
            counts wholly as keys.
        window: tokens beyond which nothing is kept; None where all are.
        state_values: values kept per sequence whatever its length (linear attention, state space).
    """

    key_values: int = 0
    value_values: int = 0
    window: int | None = None
    state_values: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Experts:
    """Routed experts of a layer: how many there are, how many a token uses."""

    total: int
    used: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Architecture:
    """A model before a format is chosen.

    Attributes:
        name: as people call it.
        layers: repeating layers.
        hidden: width of the residual stream.
        vocab: rows of the embedding.
        tied: the output head is the embedding table.
        max_context: tokens it was trained for; None where unknown.
        tensors: every weight.
        cache: one entry per repeating layer.
        attention_values: per repeating layer, query heads x (key + value head size): one token
            attending to one past token costs twice this many FLOPs.
        experts: None for a dense model.
        source: where the numbers came from.
        head_dim: values per attention head; 0 where unknown.
        shape_uncertainty: half width of what its inner shape leaves open in a speed, as the
            logarithm of a factor; 0 for a model whose shape is known.
    """

    name: str
    layers: int
    hidden: int
    vocab: int
    tied: bool
    max_context: int | None
    tensors: tuple[Tensor, ...]
    cache: tuple[LayerCache, ...]
    attention_values: tuple[int, ...]
    experts: Experts | None
    source: str
    head_dim: int = 0
    shape_uncertainty: float = 0.0

    @cached_property
    def params(self) -> int:
        """All weights, the embedding once where it is tied."""
        return sum(tensor.params for tensor in self.tensors)

    @property
    def active_params(self) -> float:
        """Weights that one token passes through, the embedding table included as is customary.

        Further tables, of which a token reads one row for each layer, are not.
        """
        share = self.experts.used / self.experts.total if self.experts else 1.0
        return sum(
            tensor.params * (share if tensor.group is Group.ROUTED_EXPERTS else 1.0)
            for tensor in self.tensors
            if tensor.role != LAYER_TABLES
        )
