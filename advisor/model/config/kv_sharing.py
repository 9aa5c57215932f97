"""Layers that reuse the cache of others, and inputs of their own per layer (Gemma 4 E2B, E4B).

The last layers of these models compute queries only and read the keys and values that the last
layer of the same kind before them kept. Each layer also gets a vector of its own from a second
token table, of which a token reads one row.

Reference: huggingface/transformers 5.23.0, models/gemma4/modeling_gemma4.py
(`Gemma4TextAttention`, `Gemma4TextMLP`, `Gemma4TextModel`).
"""

from dataclasses import dataclass, replace

from advisor.errors import InputError
from advisor.model.architecture import Architecture, Group, LayerCache, Tensor, linear, vectors
from advisor.model.config.values import Config
from advisor.model.spec import ArchitectureSpec

KEY_VALUE_ROLES = ("attn_k", "attn_v", "attn_k_norm")
DENSE_ROLES = ("ffn_gate", "ffn_up", "ffn_down")


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedLayers:
    """Facts of a model whose layers share caches.

    Attributes:
        first: the first layer that reuses a cache; the number of layers where none does.
        double_wide: those layers have a feed-forward twice as wide.
        input_width: values of each layer's own input; 0 without.
        input_vocab: rows of the table that they come from.
    """

    first: int
    double_wide: bool
    input_width: int
    input_vocab: int

    @property
    def note(self) -> str:
        """Note on shared layers for the reader."""
        return (
            f"Layers from {self.first} on reuse the keys and values of earlier ones and cache "
            "none; every layer has an input of its own, a row of a second table."
        )


def shared_layers(config: Config, layers: int) -> SharedLayers | None:
    """Shared layers of a config.json; None for all other models.

    Raises:
        InputError: more layers that share than there are.
    """
    sharing = config.whole("num_kv_shared_layers")
    width = config.whole("hidden_size_per_layer_input")
    if not sharing and not width:
        return None
    if sharing >= layers:
        raise InputError(
            f"{config.name}: num_kv_shared_layers {sharing} must be less than the {layers} layers."
        )
    return SharedLayers(
        first=layers - sharing,
        double_wide=config.flag("use_double_wide_mlp"),
        input_width=width,
        input_vocab=config.required("vocab_size_per_layer_input", "vocab_size"),
    )


def with_shared_layers(
    architecture: Architecture, facts: ArchitectureSpec, shared: SharedLayers | None
) -> Architecture:
    """The architecture with those layers as they are."""
    if shared is None:
        return architecture
    kept = tuple(
        _widened(tensor, shared) for tensor in architecture.tensors if not _dropped(tensor, shared)
    )
    cache = tuple(
        LayerCache() if layer >= shared.first else entry
        for layer, entry in enumerate(architecture.cache)
    )
    return replace(architecture, tensors=kept + _layer_inputs(facts, shared), cache=cache)


def _dropped(tensor: Tensor, shared: SharedLayers) -> bool:
    reuses = tensor.layer is not None and tensor.layer >= shared.first
    return reuses and tensor.role.removesuffix(".bias") in KEY_VALUE_ROLES


def _widened(tensor: Tensor, shared: SharedLayers) -> Tensor:
    reuses = tensor.layer is not None and tensor.layer >= shared.first
    if not (shared.double_wide and reuses and tensor.role in DENSE_ROLES):
        return tensor
    if tensor.role == "ffn_down":
        return replace(tensor, width=2 * tensor.width)
    return replace(tensor, rows=2 * tensor.rows)


def _layer_inputs(facts: ArchitectureSpec, shared: SharedLayers) -> tuple[Tensor, ...]:
    """The second table, its projection, and each layer's gate, as llama.cpp names them."""
    if not shared.input_width:
        return ()
    width, hidden, group = shared.input_width, facts.hidden, Group.DENSE_FFN
    table = linear(
        "per_layer_token_embd",
        Group.EMBEDDING,
        None,
        inputs=facts.layers * width,
        outputs=shared.input_vocab,
    )
    projection = linear(
        "per_layer_model_proj", group, 0, inputs=hidden, outputs=facts.layers * width
    ) + vectors(Group.NORMS, 0, per_layer_proj_norm=width)
    gates = tuple(
        tensor
        for layer in range(facts.layers)
        for tensor in linear("inp_gate", group, layer, inputs=hidden, outputs=width)
        + linear("proj", group, layer, inputs=width, outputs=hidden)
        + vectors(Group.NORMS, layer, post_norm=hidden)
    )
    return table + projection + gates
