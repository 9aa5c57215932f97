"""Architecture specification, as a catalogue row or a configuration states it."""

from dataclasses import dataclass

from advisor.catalog.name_matching import spellings


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchitectureSpec:
    """The numbers a model is published with; `tensors.build` derives everything else.

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
