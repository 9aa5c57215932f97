"""Model in a format: bytes of each part, bytes read per token.

Everything is kept per repeating layer, shape (layers,), so that what lies on a device is a sum of
layers and the largest number of layers that fits is one comparison against running totals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from advisor.model.architecture import Architecture, Group
from advisor.model.formats.formats import Format
from advisor.model.formats.quantization import StorageType, tensor_bytes, tensor_types
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.units import Array

Floats = npt.NDArray[np.float64]

LAYERED = (
    Group.ATTENTION,
    Group.DENSE_FFN,
    Group.SHARED_EXPERTS,
    Group.ROUTED_EXPERTS,
    Group.ROUTER,
    Group.NORMS,
)
"""Groups that repeat with the layers; embedding and output head stand outside them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A model whose format is chosen.

    Attributes:
        name: as people call it.
        format: name of the format its weights have ("Q4_K_M", "AWQ", "BF16").
        architecture: what it was made from.
        bytes_per_layer: size of each repeating group, shape (layers,) [B].
        embedding: the token table, and tables by layer or position where there are any; a token
            reads one row of each [B].
        output: the output head and what else stands outside the layers, read whole; a tied head
            counts here as its own copy, since runtimes keep one beside the GPU's last layer [B].
        decode_class: how its bytes are decoded, by the format most of them have.
        tied_copy: bytes of `output` that are the token table over again [B].
        stored: share of the bytes that a token reads, by storage type; empty where not known.
        native: format of the maker's own weights, which a runtime that runs them may take instead;
            empty where they have 16 bits, or where a person chose the format.
    """

    name: str
    format: str
    architecture: Architecture
    bytes_per_layer: Mapping[Group, Floats]
    embedding: float
    output: float
    decode_class: str
    tied_copy: float = 0.0
    stored: Mapping[str, float] = field(default_factory=dict)
    native: str = ""

    @property
    def layers(self) -> int:
        """Repeating layers."""
        return self.architecture.layers

    @property
    def file_bytes(self) -> float:
        """Weights as stored, a tied table once [B]."""
        layered: float = sum(part.sum(axis=-1) for part in self.bytes_per_layer.values())
        return layered + self.embedding + self.output - self.tied_copy

    @cached_property
    def layer_bytes(self) -> Floats:
        """All weights of each layer, shape (layers,) [B]."""
        return np.asarray(np.sum([self.bytes_per_layer[group] for group in LAYERED], axis=0))

    @cached_property
    def state_layers(self) -> Floats:
        """1 where a layer keeps a state instead of a cache, else 0, shape (layers,)."""
        return np.array([cache.state_values > 0 for cache in self.architecture.cache], dtype=float)

    @property
    def has_experts(self) -> bool:
        """Some layers route tokens to experts."""
        return self.architecture.experts is not None

    @cached_property
    def expert_layers(self) -> Floats:
        """1 where a layer has routed experts, else 0, shape (layers,)."""
        return (self.flops[Group.ROUTED_EXPERTS] > 0).astype(float)

    def expert_share(self, tokens: Array) -> Array:
        """Share of a layer's routed experts that `tokens` tokens together use.

        Each token picks `k` of `E` experts; were the picks independent and even, a given expert is
        missed by all with probability (1 - k/E)^tokens, so 1 - (1 - k/E)^tokens are read.
        """
        experts = self.architecture.experts
        if experts is None:
            return np.ones_like(np.asarray(tokens, dtype=float))
        missed = (1 - experts.used / experts.total) ** np.asarray(tokens, dtype=float)
        return 1 - missed

    def read_share(self, group: Group, tokens: Array) -> Array:
        """Share of a group's bytes that a step of `tokens` tokens reads."""
        return self.expert_share(tokens) if group is Group.ROUTED_EXPERTS else 1.0

    @property
    def read_bytes_per_token(self) -> float:
        """Weight bytes that decoding one token reads: the embedding counts one row [B]."""
        layered: float = sum(
            np.sum(self.bytes_per_layer[g], axis=-1) * self.read_share(g, 1) for g in LAYERED
        )
        return layered + self.output + self.embedding / self.architecture.vocab

    @property
    def flops(self) -> Mapping[Group, Floats]:
        """Two FLOPs per weight that a token passes through, each of shape (layers,) [FLOP]."""
        return _layer_flops(self.architecture)

    @cached_property
    def attention_flops(self) -> Floats:
        """FLOPs of one token attending to one past token, shape (layers,) [FLOP]."""
        return 2.0 * np.array(self.architecture.attention_values, dtype=float)

    @property
    def output_flops(self) -> float:
        """FLOPs of the output head for one token [FLOP]."""
        return 2.0 * self.architecture.vocab * self.architecture.hidden

    def kv_bytes(self, tokens: Array, kv_type: str) -> Floats:
        """Cache of one sequence of `tokens` tokens, per layer, shape (..., layers) [B].

        Window layers stop at their window; linear and state-space layers keep a fixed state in
        32-bit floats whatever the cache type (llama.cpp, Transformers).
        """
        kept = np.minimum(np.asarray(tokens, dtype=float)[..., None], self.windows)
        return np.asarray(
            kept * self.kv_values * KV_BYTES_PER_VALUE[kv_type] + 4.0 * self.state_values
        )

    @cached_property
    def windows(self) -> Floats:
        """Tokens each layer looks back, infinite for full attention, shape (layers,) [tokens]."""
        return np.array(
            [np.inf if cache.window is None else cache.window for cache in self.architecture.cache]
        )

    @cached_property
    def kv_values(self) -> Floats:
        """Values of K and V that each layer caches per token, shape (layers,)."""
        return np.array(
            [cache.key_values + cache.value_values for cache in self.architecture.cache],
            dtype=float,
        )

    @cached_property
    def state_values(self) -> Floats:
        """Values of state that each layer keeps per sequence, shape (layers,)."""
        return np.array([cache.state_values for cache in self.architecture.cache], dtype=float)


@lru_cache(maxsize=256)
def _layer_flops(architecture: Architecture) -> Mapping[Group, Floats]:
    total = {group: np.zeros(architecture.layers) for group in LAYERED}
    for tensor in architecture.tensors:
        if tensor.layer is not None:
            total[tensor.group][tensor.layer] += 2.0 * tensor.params
    if architecture.experts is not None:
        total[Group.ROUTED_EXPERTS] *= architecture.experts.used / architecture.experts.total
    return total


def quantized(
    architecture: Architecture, form: Format, storage: Mapping[str, StorageType]
) -> Model:
    """The architecture with its weights in a format.

    Args:
        architecture: what to store.
        form: the recipe, tensor by tensor.
        storage: bytes per block of each storage type.

    Raises:
        Refusal: a recipe that this architecture cannot take.
    """
    kinds = tensor_types(architecture, form, storage)
    return from_tensors(architecture, kinds, form.name)


def from_tensors(architecture: Architecture, kinds: Sequence[StorageType], form: str) -> Model:
    """The architecture with the storage type of each of its tensors given.

    Args:
        architecture: what is stored.
        kinds: a type for each of its tensors, in their order.
        form: the format's name, to show.
    """
    bytes_per_layer = {group: np.zeros(architecture.layers) for group in LAYERED}
    embedding = output = table = 0.0
    by_class: dict[str, float] = {}
    for tensor, kind in zip(architecture.tensors, kinds, strict=True):
        size = tensor_bytes(tensor, kind)
        if tensor.layer is not None:
            bytes_per_layer[tensor.group][tensor.layer] += size
        elif tensor.group is Group.EMBEDDING:
            embedding += size
            table += size if tensor.role == "token_embd" else 0.0
        else:
            output += size
        by_class[kind.decode_class] = by_class.get(kind.decode_class, 0.0) + size
    tied_copy = table if architecture.tied else 0.0
    return Model(
        name=architecture.name,
        format=form,
        architecture=architecture,
        bytes_per_layer=bytes_per_layer,
        embedding=embedding,
        output=output + tied_copy,
        decode_class=max(by_class, key=lambda name: by_class[name]),
        tied_copy=tied_copy,
        stored=_read_shares(architecture, kinds),
    )


def _read_shares(architecture: Architecture, kinds: Sequence[StorageType]) -> Mapping[str, float]:
    """Share of the weight bytes that a token reads, by storage type."""
    experts = architecture.experts
    part = {
        Group.EMBEDDING: 1.0 if architecture.tied else 0.0,
        Group.ROUTED_EXPERTS: experts.used / experts.total if experts else 1.0,
    }
    sizes: dict[str, float] = {}
    for tensor, kind in zip(architecture.tensors, kinds, strict=True):
        size = tensor_bytes(tensor, kind) * part.get(tensor.group, 1.0)
        sizes[kind.name] = sizes.get(kind.name, 0.0) + size
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items() if size}


def scaled(model: Model, file_bytes: float) -> Model:
    """Model scaled to a known file size.

    A published or local file is the better witness where its size differs from the recipe's.

    Args:
        model: as the recipe has it.
        file_bytes: size of the real file [B].
    """
    factor = file_bytes / model.file_bytes
    return replace(
        model,
        bytes_per_layer={group: part * factor for group, part in model.bytes_per_layer.items()},
        embedding=model.embedding * factor,
        output=model.output * factor,
        tied_copy=model.tied_copy * factor,
    )
