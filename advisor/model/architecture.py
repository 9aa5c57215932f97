"""Model before a format is chosen: its published numbers, and its tensors by group and layer."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import repeat
from typing import ClassVar

from advisor.catalog.name_matching import spellings
from advisor.errors import DataError
from advisor.lazy import lazy

# Architecture specification, as a catalogue row or a configuration states it.


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchitectureSpec:
    """Published numbers of a model, from which `build.build` derives all others.

    Field names are the columns of data/models/models.csv. Most are those of the model's config.json
    with the prefix `num_` and the suffix `_size` dropped. Zero or empty means that the model has no
    such part, so a row names only what it has.
    """

    name: str  # name as people write it
    hf_id: str = ""  # repository on Hugging Face
    aliases: str = ""  # other spellings, separated by semicolons
    layers: int = 0  # repeating layers; 0 where the architecture cannot be derived, `note` says why
    # one letter per layer, repeated until all layers have one: F full attention, then feed-forward;
    # I the same with a sparse-attention indexer; W sliding-window or chunked attention, then
    # feed-forward; L gated DeltaNet, then feed-forward; and the blocks that Nemotron-H stacks
    # singly, in its own notation: M Mamba-2 alone, * attention alone, - dense feed-forward alone, E
    # experts alone
    layer_pattern: str = "F"
    hidden: int = 0  # width of the residual stream
    vocab: int = 0  # rows of the embedding
    tied: bool = False  # the output head is the embedding table
    positions: int = 0  # rows of a learned position embedding
    max_context: int | None = None  # tokens it was trained for
    heads: int = 0  # query heads
    kv_heads: int = 0  # key and value heads
    head_dim: int = 0  # values per head; not always hidden / heads
    global_kv_heads: int = 0  # key and value heads of F layers, where they differ from W layers
    global_head_dim: int = 0  # values per head of F layers, where they differ from W layers
    attention_k_eq_v: bool = False  # F layers use one projection for K and V; both are still cached
    fused_qkv: bool = False  # the file holds Q, K and V as one matrix
    qkv_bias: bool = False  # Q, K and V have a bias
    attn_output_bias: bool = False  # the attention output has a bias
    attn_output_gate: bool = False  # Q is twice as wide, half of it gates the output
    attn_sinks: bool = False  # one learned sink per head
    qk_norm: str = ""  # "head" for norms over one head, "layer" for norms over all heads, or empty
    window: int = 0  # tokens that W layers see
    q_lora_rank: int = 0  # rank of MLA's queries; 0 where they are projected directly
    kv_lora_rank: int = 0  # rank of MLA's keys and values; 0 without MLA
    qk_nope_dim: int = 0  # values per MLA head without rotary embedding
    qk_rope_dim: int = 0  # values of the rotary key that MLA's heads share
    v_head_dim: int = 0  # values per MLA value head
    index_heads: int = 0  # query heads of the indexer of I layers
    index_dim: int = 0  # values per head of that indexer, and of its cached key
    intermediate: int = 0  # width of dense feed-forward layers
    gated_ffn: bool = True  # feed-forward layers and experts have a gate (SwiGLU, GeGLU)
    ffn_bias: bool = False  # feed-forward layers, experts and router have biases
    experts: int = 0  # routed experts per expert layer
    experts_per_token: int = 0  # routed experts that a token uses
    moe_intermediate: int = 0  # width of a routed expert
    # width of the space that routed experts work in; 0 for the residual stream's
    moe_latent: int = 0
    # storage type of the routed experts in GGUF files of every format; empty where the format tells
    expert_type: str = ""
    shared_experts: int = 0  # experts that every token uses
    shared_intermediate: int = 0  # width of one of them; 0 for that of a routed expert
    shared_expert_gate: bool = False  # the shared expert's output is weighted by a gate
    router_bias: bool = False  # the router has a correction for each expert
    dense_beside_experts: bool = False  # expert layers also have a dense feed-forward
    first_dense: int = 0  # layers at the start that are dense
    moe_every: int = 1  # every how many layers one has experts; the last of each run does
    linear_key_heads: int = 0  # key heads of gated DeltaNet layers
    linear_value_heads: int = 0  # their value heads
    linear_key_dim: int = 0  # values per key head
    linear_value_dim: int = 0  # values per value head
    linear_conv: int = 0  # taps of their convolution
    ssm_heads: int = 0  # heads of Mamba-2 layers
    ssm_head_dim: int = 0  # values per head
    ssm_groups: int = 0  # groups that share B and C
    ssm_state: int = 0  # state values per head value
    ssm_conv: int = 0  # taps of their convolution
    # 1 (attention and feed-forward in parallel), 2, or 4 (norms after both too)
    norms_per_layer: int = 2
    norm_bias: bool = False  # norms have a bias (LayerNorm)
    output_bias: bool = False  # the output head has a bias
    embedding_norm: bool = False  # the embedding has a norm of its own
    published_params_b: float | None = None  # all parameters as published [1e9]
    published_active_b: float | None = None  # parameters a token uses as published [1e9]
    released: str = ""  # month of publication
    source: str = ""  # source of the numbers
    source_date: str = ""  # date of the source, or of reading it
    note: str = ""  # remarks; for a model that cannot be derived, the reason

    @property
    def spellings(self) -> list[str]:
        """Name, aliases and name on the Hub, in lower case."""
        return spellings(self)


# Architecture: a model's tensors, FLOPs and cache, before a format is chosen.
#
# It holds tensors by role and shape, the cache of each layer and the number of experts that a token
# uses. Formats turn it into bytes (`formats.py`, `model.py`); `build.py` derives it from the
# published numbers of an `ArchitectureSpec`.


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

    @staticmethod
    @lru_cache(maxsize=4096)
    def in_layer(role: str) -> "Group | None":
        """Purpose of a tensor in a layer by its role; None for a role that no rule knows."""
        return next((group for pattern, group in GROUP_RULES if pattern.fullmatch(role)), None)

    @staticmethod
    def outside(role: str) -> "Group":
        """Purpose of a tensor outside the layers by its role."""
        if role in EMBEDDINGS:
            return Group.EMBEDDING
        if role.endswith("_norm"):
            return Group.NORMS
        return Group.OUTPUT


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """Weight matrix, or several of the same role stacked (the experts of a layer)."""

    role: str  # llama.cpp's name without layer and suffix: `attn_q`, `ffn_down_exps`, `token_embd`
    group: Group  # purpose
    layer: int | None  # repeating layer, from 0; None for embedding, output head and final norm
    rows: int  # number of rows of all stacked matrices together
    width: int  # values in a row, which are quantized in blocks (`ne[0]` in GGUF)

    LAYER_TABLES: ClassVar = "per_layer_token_embd"
    """Role of tables beside the embedding, by layer or by run of tokens (Gemma 3n and 4 E,
    Qwen3.8)."""

    @property
    def params(self) -> int:
        """Number of weights."""
        return self.rows * self.width

    @staticmethod
    def of_shapes(
        layer: int | None,
        shapes: "Shapes",
        *,
        group: Group | None = None,
        stacked: int = 1,
        bias: bool = False,
    ) -> "tuple[Tensor, ...]":
        """Tensors of some shapes, outside the layers where `layer` is None.

        Args:
            layer: repeating layer, from 0.
            shapes: shapes by role.
            group: purpose of all of them, where their roles tell none.
            stacked: matrices in each tensor, as of the experts of a layer.
            bias: whether each has one.
        """
        made = []
        for role, shape in shapes.items():
            width, rows = shape if isinstance(shape, tuple) else (shape, 1)
            named = role.removesuffix(".bias")
            purpose = group or (Group.outside(named) if layer is None else Group.in_layer(named))
            if purpose is None:
                raise DataError(
                    f"No rule of the groups of tensors knows {role!r}; state its group."
                )
            made.append(
                Tensor(role=role, group=purpose, layer=layer, rows=stacked * rows, width=width)
            )
            if bias:
                if isinstance(shape, tuple):
                    length = rows
                else:
                    length = width
                made.append(
                    Tensor(
                        role=f"{role}.bias", group=purpose, layer=layer, rows=stacked, width=length
                    )
                )
        return tuple(made)


EMBEDDINGS = frozenset({"token_embd", Tensor.LAYER_TABLES, "position_embd", "token_types"})
"""Tables of which a token reads one row."""
GROUP_RULES = tuple(
    (re.compile(pattern), group)
    for pattern, group in (
        (r"ffn_gate_inp(_shexp)?|exp_probs_b", Group.ROUTER),
        (r".*norm(_exps|_\d)?|layer_output_scale", Group.NORMS),
        (r"ffn_(gate|up|down|gate_up)_(ch)?exps", Group.ROUTED_EXPERTS),
        # Conversions of Mixtral from before experts were stacked.
        (r"ffn_(gate|up|down)\.\d{1,4}", Group.ROUTED_EXPERTS),
        (r"ffn_\w+_shexp|ffn_latent_(down|up)", Group.SHARED_EXPERTS),
        (r"(attn|ssm|time_mix|laurel|hc_attn|hc_ffn)_\w+|ple_(key|value|conv1d)", Group.ATTENTION),
        (r"(shortconv|indexer)\.\w+|indexer_compressor_\w+", Group.ATTENTION),
        (r"ffn_gate_tid2eid", Group.EMBEDDING),  # experts of each token, of which one row is read
        (r"(ffn|channel_mix|altup)_\w+|inp_gate|proj", Group.DENSE_FFN),
    )
)
"""Groups of tensors in a layer by role; the first pattern that fits decides."""


Shapes = Mapping[str, int | tuple[int, int]]
"""Shapes of tensors by role: (inputs, outputs) of a matrix, or the length of a vector."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerCache:
    """Cache of a layer."""

    key_values: int = 0  # values of K per token and sequence
    # values of V per token and sequence; 0 for MLA's latent cache, which counts as keys
    value_values: int = 0
    window: int | None = None  # number of last tokens that are kept; None for all [tokens]
    state_values: int = 0  # values per sequence of any length (linear attention, state space)
    image_values: int = 0  # values of K and V of an image, for layers that attend to nothing else

    @staticmethod
    def compressed(values: int, ratio: int, window: int, index: int = 0) -> "LayerCache":
        """Cache of the last `window` tokens, and of one entry for each `ratio` tokens before them.

        Each entry has an index key beside it; a ratio of 0 keeps the window alone.

        Reference: huggingface/transformers 5.23.0, models/deepseek_v4 (`DeepseekV4CSACompressor`,
        `DeepseekV4HCACompressor`).
        """
        if not ratio:
            return LayerCache(key_values=values, window=window)
        return LayerCache(
            key_values=(values + index) // ratio,
            state_values=window * values // LayerCache.HALF_OF_A_STATE,
        )

    # a window's values are kept in 16 bits; states are counted in 32
    HALF_OF_A_STATE: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Experts:
    """Routed experts of a layer: their number, and the number that a token uses."""

    total: int
    used: int


NEW_LAYERS = 0.1
"""Uncertainty of kinds of layers that nobody timed, as the logarithm of a factor, beside that of
the machine: of 13 architectures, each left out of the fit, four in five are predicted within 0.09
of their publishers' median, and all within 0.11 (`python -m lab.new_architectures`)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Architecture:
    """Model before a format is chosen."""

    name: str  # name as people write it
    layers: int  # number of repeating layers
    hidden: int  # width of the residual stream
    vocab: int  # rows of the embedding
    tied: bool  # whether the output head is the embedding table
    max_context: int | None  # context length of the training; None where unknown [tokens]
    tensors: tuple[Tensor, ...]  # all weights
    cache: tuple[LayerCache, ...]  # cache of each repeating layer
    # query heads x (key + value head size) of each repeating layer; attention of a token to an
    # earlier one takes twice as many FLOPs
    attention_values: tuple[int, ...]
    experts: Experts | None  # routed experts; None for a dense model
    source: str  # source of the numbers
    head_dim: int = 0  # values per attention head; 0 where unknown
    # storage type of the routed experts in GGUF files of every format; empty where the format tells
    expert_type: str = ""
    # extra half width of a speed's range for an unknown inner shape, as the logarithm of a factor;
    # 0 for a known shape
    shape_uncertainty: float = 0.0
    # further layers by which it drafts its next tokens; None where only its name tells
    draft_layers: int | None = None
    # times that a token passes each repeating layer, each with a cache of its own; empty for once
    visits: tuple[int, ...] = ()
    tower: int = 0  # weights of its encoder of images or sound, in 16 bits; 0 where unknown
    # kinds of layers that no formula describes, by the words of their file: weights are counted by
    # the shapes of their tensors, and nobody has timed them
    unknown_kinds: tuple[str, ...] = ()
    # name under which its weights are published; empty for that of the model with these layers
    published_as: str = ""

    COMMON_HEAD: ClassVar = 128
    """Head size where an architecture does not state it, used only for scores without flash
    attention."""
    GUESSED_SHAPE: ClassVar = 0.25
    """Uncertainty of layers that are counted as another family's, as the logarithm of a factor:
    that of stand-ins (`by_name.stand_in.SHAPE_UNCERTAINTY`)."""

    @property
    def by_layer(self) -> tuple[Mapping[str, Tensor], ...]:
        """Tensors of each repeating layer by role; not kept, as large as the tensors themselves."""
        layers: tuple[dict[str, Tensor], ...] = tuple({} for _ in range(self.layers))
        for tensor in self.tensors:
            if tensor.layer is not None:
                layers[tensor.layer][tensor.role] = tensor
        return layers

    @lazy
    def query_heads(self) -> tuple[float, ...]:
        """Query heads of each repeating layer; 0 for a layer without attention."""
        usual = self.head_dim or self.COMMON_HEAD
        return tuple(map(_query_heads, self.by_layer, self.attention_values, repeat(usual)))

    @lazy
    def params(self) -> int:
        """Number of weights, with a tied embedding counted once."""
        return sum(tensor.params for tensor in self.tensors)

    @property
    def layer_uncertainty(self) -> float:
        """Uncertainty of the time of layers whose structure is partly unknown."""
        return math.hypot(self.shape_uncertainty, NEW_LAYERS if self.unknown_kinds else 0.0)

    @property
    def active_params(self) -> float:
        """Weights that a token uses, with the embedding table, as is customary.

        Tables of which a token reads one row per layer are not included.
        """
        if self.experts:
            share = self.experts.used / self.experts.total
        else:
            share = 1.0
        return sum(
            tensor.params * (share if tensor.group is Group.ROUTED_EXPERTS else 1.0)
            for tensor in self.tensors
            if tensor.role != Tensor.LAYER_TABLES
        )


def _query_heads(roles: Mapping[str, Tensor], attended: int, usual: int) -> float:
    """Query heads of a layer, derived from its tensors.

    `attended` is query heads x (key + value head size). `usual` is the model's head size, which a
    layer's own norm of queries overrides.
    """
    if "attn_k_b" in roles:
        latent = roles.get("attn_kv_a_norm") or roles["attn_v_b"]
        return roles["attn_k_b"].rows / latent.width
    if "attn_sinks" in roles:
        return roles["attn_sinks"].width
    queries = attended / 2
    if "attn_q_norm" in roles:
        head = roles["attn_q_norm"].width
    else:
        head = usual
    return queries / (head if head < queries else usual)


# Operators of a model: the kinds of layers whose kernels decide its speed beside its bytes.
#
# A backend may have a fast kernel for one kind and none for another, so each kind has a count of
# evidence of its own (constant "publishers" of data/generated/efficiency.csv). Kinds are read from
# the tensors: an architecture of tomorrow that is made of known kinds is one of known kinds.

FULL = "full attention"
WINDOWED = "windowed attention"
LATENT = "latent attention"
DELTA = "linear attention"
STATE_SPACE = "state space"
INDEXED = "sparse attention"
STREAMS = "residual streams"
TABLES = "tables by layer"
EXPERTS = "experts"
SMALL_EXPERTS = "small experts"
UNKNOWN_KIND = "layers of an unknown kind"
OPERATORS = (
    FULL, WINDOWED, LATENT, DELTA, STATE_SPACE, INDEXED, STREAMS, TABLES, EXPERTS, SMALL_EXPERTS,
    UNKNOWN_KIND,
)  # fmt: skip
"""Kinds, each with a count of publishers who timed it."""
SMALL = 768
"""Largest width of an expert that counts as small: its products start more than they read."""
BY_ROLE = (("indexer", INDEXED), ("hc_", STREAMS))
"""Beginnings of the roles of tensors that only one kind has."""


@lru_cache(maxsize=1024)
def operators(architecture: Architecture) -> frozenset[str]:
    """Kinds of layers that a model has, of `OPERATORS`."""
    roles = {tensor.role for tensor in architecture.tensors}
    kinds = {_attention(cache) for cache in architecture.cache} - {""}
    if any(cache.state_values for cache in architecture.cache):
        kinds.add(STATE_SPACE if "ssm_in" in roles else DELTA)
    kinds |= {kind for role in roles for start, kind in BY_ROLE if role.startswith(start)}
    if Tensor.LAYER_TABLES in roles:
        kinds.add(TABLES)
    if architecture.experts is not None:
        kinds.add(SMALL_EXPERTS if _expert_width(architecture) <= SMALL else EXPERTS)
    if architecture.unknown_kinds:
        kinds.add(UNKNOWN_KIND)
    return frozenset(kinds)


def _attention(cache: LayerCache) -> str:
    """Kind of a layer's attention, by its cache; empty for a layer without attention."""
    if not cache.key_values:
        return ""
    if not cache.value_values:
        return LATENT
    if cache.window is None:
        return FULL
    return WINDOWED


def _expert_width(architecture: Architecture) -> float:
    """Number of values between the matrices of an expert: rows of its first matrix over all
    experts.
    """
    rows = [
        tensor.rows
        for tensor in architecture.tensors
        if tensor.group is Group.ROUTED_EXPERTS and "down" not in tensor.role
    ]
    if architecture.experts:
        total = architecture.experts.total
    else:
        total = 1
    return max(rows, default=0) / total
