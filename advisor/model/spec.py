"""Architecture specification, as a catalogue row or a configuration states it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchitectureSpec:
    """The numbers a model is published with; `tensors.build` derives everything else.

    Field names are the columns of data/models/models.csv. Most are those of the model's config.json
    with the prefix `num_` and the suffix `_size` dropped. Zero or empty means that the model has no
    such part, so a row names only what it has.

    Attributes:
        name: name as people write it.
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
        source: source of the numbers.
        source_date: date of the source, or of reading it.
        note: remarks; for a model that cannot be derived, the reason.
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
