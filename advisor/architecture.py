"""A model's tensors, FLOPs and cache from its architecture's numbers.

An `Architecture` is what a model is before anyone chose a format for it: its tensors by role and
shape, what each layer keeps in the KV cache, how many experts a token uses. Quantization turns it
into bytes; see `quantization.py` and `model.py`. `ArchitectureFacts` are the numbers it is derived
from; see `tensors.py`.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Group(StrEnum):
    """What a tensor is for; tensors of one group are placed together."""

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
    """What one layer keeps of the past.

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

    @cached_property
    def params(self) -> int:
        """All weights, the embedding once where it is tied."""
        return sum(tensor.params for tensor in self.tensors)

    @property
    def active_params(self) -> float:
        """Weights that one token passes through, the embedding table included as is customary."""
        share = self.experts.used / self.experts.total if self.experts else 1.0
        return sum(
            tensor.params * (share if tensor.group is Group.ROUTED_EXPERTS else 1.0)
            for tensor in self.tensors
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchitectureFacts:
    """The numbers a model is published with; `tensors.build` derives everything else.

    Field names are the columns of data/models.csv. Most are those of the model's config.json with
    the prefix `num_` and the suffix `_size` dropped. Zero or empty means that the model has no such
    part, so a row names only what it has.

    Attributes:
        name: as people call it.
        hf_id: repository on Hugging Face.
        aliases: other spellings, separated by semicolons.
        layers: repeating layers; 0 where the architecture cannot be derived, `note` says why.
        layer_pattern: one letter per layer, repeated until all layers have one:
            F full attention, then feed-forward; I the same with a sparse-attention indexer;
            W sliding-window or chunked attention, then feed-forward;
            L gated DeltaNet, then feed-forward;
            and the blocks that Nemotron-H stacks singly, in its own notation:
            M Mamba-2 alone, * attention alone, - dense feed-forward alone, E experts alone.
        hidden: width of the residual stream.
        vocab: rows of the embedding.
        tied: the output head is the embedding table.
        positions: rows of a learned position embedding.
        max_context: tokens it was trained for.
        heads: query heads.
        kv_heads: key and value heads.
        head_dim: values per head; not always hidden / heads.
        global_kv_heads: key and value heads of F layers, where they differ from W layers.
        global_head_dim: values per head of F layers, where they differ from W layers.
        attention_k_eq_v: F layers use one projection for K and V; both are still cached.
        fused_qkv: the file holds Q, K and V as one matrix.
        qkv_bias: Q, K and V have a bias.
        attn_output_bias: the attention output has a bias.
        attn_output_gate: Q is twice as wide, half of it gates the output.
        attn_sinks: one learned sink per head.
        qk_norm: "head" for norms over one head, "layer" for norms over all heads, or empty.
        window: tokens that W layers see.
        q_lora_rank: rank of MLA's queries; 0 where they are projected directly.
        kv_lora_rank: rank of MLA's keys and values; 0 without MLA.
        qk_nope_dim: values per MLA head without rotary embedding.
        qk_rope_dim: values of the rotary key that MLA's heads share.
        v_head_dim: values per MLA value head.
        index_heads: query heads of the indexer of I layers.
        index_dim: values per head of that indexer, and of its cached key.
        intermediate: width of dense feed-forward layers.
        gated_ffn: feed-forward layers and experts have a gate (SwiGLU, GeGLU).
        ffn_bias: feed-forward layers, experts and router have biases.
        experts: routed experts per expert layer.
        experts_per_token: routed experts that a token uses.
        moe_intermediate: width of a routed expert.
        moe_latent: width of the space that routed experts work in; 0 for the residual stream's.
        shared_experts: experts that every token uses.
        shared_intermediate: width of one of them; 0 for that of a routed expert.
        shared_expert_gate: the shared expert's output is weighted by a gate.
        dense_beside_experts: expert layers also have a dense feed-forward.
        first_dense: layers at the start that are dense.
        moe_every: every how many layers one has experts; the last of each run does.
        linear_key_heads: key heads of gated DeltaNet layers.
        linear_value_heads: their value heads.
        linear_key_dim: values per key head.
        linear_value_dim: values per value head.
        linear_conv: taps of their convolution.
        ssm_heads: heads of Mamba-2 layers.
        ssm_head_dim: values per head.
        ssm_groups: groups that share B and C.
        ssm_state: state values per head value.
        ssm_conv: taps of their convolution.
        norms_per_layer: 1 (attention and feed-forward in parallel), 2, or 4 (norms after both too).
        norm_bias: norms have a bias (LayerNorm).
        published_params_b: all parameters as published [1e9].
        published_active_b: parameters a token uses as published [1e9].
        released: month of publication.
        source: where the numbers were read.
        source_date: when, or the date of what was read.
        note: what to know about the row; for one that cannot be derived, why not.
    """

    name: str
    hf_id: str = ""
    aliases: str = ""
    layers: int = 0
    layer_pattern: str = "F"
    hidden: int = 0
    vocab: int = 0
    tied: bool = False
    positions: int = 0
    max_context: int | None = None
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    global_kv_heads: int = 0
    global_head_dim: int = 0
    attention_k_eq_v: bool = False
    fused_qkv: bool = False
    qkv_bias: bool = False
    attn_output_bias: bool = False
    attn_output_gate: bool = False
    attn_sinks: bool = False
    qk_norm: str = ""
    window: int = 0
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_nope_dim: int = 0
    qk_rope_dim: int = 0
    v_head_dim: int = 0
    index_heads: int = 0
    index_dim: int = 0
    intermediate: int = 0
    gated_ffn: bool = True
    ffn_bias: bool = False
    experts: int = 0
    experts_per_token: int = 0
    moe_intermediate: int = 0
    moe_latent: int = 0
    shared_experts: int = 0
    shared_intermediate: int = 0
    shared_expert_gate: bool = False
    dense_beside_experts: bool = False
    first_dense: int = 0
    moe_every: int = 1
    linear_key_heads: int = 0
    linear_value_heads: int = 0
    linear_key_dim: int = 0
    linear_value_dim: int = 0
    linear_conv: int = 0
    ssm_heads: int = 0
    ssm_head_dim: int = 0
    ssm_groups: int = 0
    ssm_state: int = 0
    ssm_conv: int = 0
    norms_per_layer: int = 2
    norm_bias: bool = False
    published_params_b: float | None = None
    published_active_b: float | None = None
    released: str = ""
    source: str = ""
    source_date: str = ""
    note: str = ""
