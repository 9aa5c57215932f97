"""Model in a format: bytes of each part, bytes read per token.

Numbers are kept per repeating layer, shape (layers,), so that the part on a device is a sum over
layers, and the largest number of layers that fits follows from running totals.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Names
from advisor.lazy import lazy
from advisor.model.architecture import Architecture, Group, LayerCache, Tensor
from advisor.model.expert_use import USUAL, ExpertUse, in_text, unevenness
from advisor.model.formats import StorageType, known_format
from advisor.model.packings import LIKE_GGUF, packing_named
from advisor.units import GIB, Array

BY_LAYER = "per_layer_model_proj"
"""Role of a weight that only models with an embedding for each layer have (Gemma 3n and 4 E), whose
tables have the role of tables of n-grams."""

Floats = npt.NDArray[np.float64]

# Groups of tensors by what the layers do with them.

LAYERED = (
    Group.ATTENTION,
    Group.DENSE_FFN,
    Group.SHARED_EXPERTS,
    Group.ROUTED_EXPERTS,
    Group.ROUTER,
    Group.NORMS,
)
"""Groups of the repeating layers, without embedding and output head."""
FEEDING = {Group.DENSE_FFN, Group.SHARED_EXPERTS, Group.ROUTED_EXPERTS}
"""Groups of a layer's feed-forward block."""
MULTIPLIED = {Group.ATTENTION, Group.DENSE_FFN, Group.SHARED_EXPERTS}
"""Groups of matrices that every token is multiplied with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PerLayer:
    """Numbers of each layer; arrays have the shape (layers,)."""

    flops: Mapping[Group, Floats]  # two for each weight that a token passes through [FLOP]
    attention_flops: Floats  # of one token attending to one past token [FLOP]
    query_heads: Floats  # 0 where a layer does not look back
    windows: Floats  # tokens that it sees; infinite for full attention [tokens]
    kv_values: Floats  # values of K and V that it caches per token
    key_values: Floats  # those of K; of a latent cache, all
    state_values: Floats  # values of state that it keeps per sequence
    image_values: Floats  # values of K and V of an image that it attends to
    state_layers: Floats  # 1 where it keeps a state instead of a cache, else 0
    scan_layers: Floats  # 1 where that is the state of a state space (Mamba-2)
    stream_layers: Floats  # 1 where it mixes several residual streams
    expert_layers: Floats  # 1 where it has routed experts
    # blocks over those of a usual layer, which mixes tokens and then has a feed-forward block;
    # those of Nemotron's hybrids have one of the two, and start about half as many kernels
    blocks: Floats
    # matrices that each token is multiplied with, over Llama's seven, four of attention and three
    # of the feed-forward; norms and biases are part of what they follow, routed experts and states
    # of linear attention apart
    matrices: Floats
    # matrix products beside the experts, as a share of those of attention and feed-forward: half
    # for each, so that a layer of a hybrid which is one of the two, or whose feed-forward is of
    # experts, counts half. Engines compute shared experts beside the routed ones, on a stream of
    # their own or as one of them.
    products: Floats
    latent: Floats  # 1 where the cache is a latent (MLA)
    # values that its heads have in the space of its latent cache, of their queries and results,
    # heads x (key + value size); 0 without such a cache
    latent_values: Floats
    unfolded: Floats  # query heads x (key + value head size) of unfolded latents; 0 where unknown
    unfolding: Floats  # weights that unfold a latent into keys and values
    indexed: Floats  # 1 where an indexer chooses the tokens to attend to
    index_values: Floats  # query heads x head size of the indexer
    index_share: Floats  # part of a token's cache that is the indexer's key


@lru_cache(maxsize=256)
def per_layer(architecture: Architecture) -> PerLayer:
    """Numbers of a model's layers."""
    by_layer = architecture.by_layer

    def of_cache(number: Callable[[LayerCache], float]) -> Floats:
        return np.array(list(map(number, architecture.cache)), dtype=float)

    def with_any(fits: Callable[[Tensor], bool]) -> Floats:
        """Mask of layers with such a tensor, 1 or 0."""
        return np.array([float(any(map(fits, tensors.values()))) for tensors in by_layer])

    def total(*roles: str, of: str = "rows") -> Floats:
        """Sum of the rows, or of another number, of the tensors of some roles."""
        layers = ([tensors[role] for role in roles if role in tensors] for tensors in by_layer)
        return np.array(
            [float(sum(getattr(tensor, of) for tensor in tensors)) for tensors in layers]
        )

    visits = visits_of(architecture)
    flops = _flops(architecture)
    keys = of_cache(lambda cache: cache.key_values)
    attention = np.array(architecture.attention_values, dtype=float)
    mixing = with_any(lambda tensor: tensor.group is Group.ATTENTION)
    feeding = with_any(lambda tensor: tensor.group in FEEDING)
    dense = with_any(lambda tensor: tensor.group is Group.DENSE_FFN)
    matrices = [sum(map(_multiplied, tensors.values())) for tensors in by_layer]
    experts = flops[Group.ROUTED_EXPERTS] > 0
    windows = of_cache(lambda cache: np.inf if cache.window is None else cache.window)
    latent = of_cache(lambda cache: cache.key_values > 0 and not cache.value_values)
    values = total("attn_v_b")
    index_keys = total("indexer.attn_k")
    queries = total("attn_q_b", "attn_q")
    return PerLayer(
        flops={group: work * visits for group, work in flops.items()},
        attention_flops=2.0 * attention * visits,
        query_heads=np.array(architecture.query_heads),
        windows=windows,
        kv_values=visits * of_cache(lambda cache: cache.key_values + cache.value_values),
        key_values=visits * keys,
        state_values=visits * of_cache(lambda cache: cache.state_values),
        image_values=visits * of_cache(lambda cache: cache.image_values),
        state_layers=visits * of_cache(lambda cache: cache.state_values > 0),
        scan_layers=visits * with_any(lambda tensor: tensor.role == "ssm_in"),
        stream_layers=visits * with_any(lambda tensor: tensor.role.startswith("hc_")),
        expert_layers=visits * experts.astype(float),
        blocks=visits * (mixing + feeding) / 2.0,
        matrices=visits * (np.array(matrices) / 7.0),
        products=visits * (mixing + dense) / 2.0,
        latent=latent,
        latent_values=attention * latent,
        unfolded=latent * np.where(values > 0, queries + values, 0.0),
        unfolding=total("attn_k_b", "attn_v_b", of="params"),
        indexed=(index_keys > 0).astype(float),
        index_values=total("indexer.attn_q_b"),
        index_share=index_keys / np.maximum(keys, 1.0),
    )


def visits_of(architecture: Architecture) -> Floats:
    """Times that a token passes each repeating layer, shape (layers,)."""
    return np.array(architecture.visits or (1,) * architecture.layers, dtype=float)


def _multiplied(tensor: Tensor) -> bool:
    """Whether a tensor is a matrix that every token is multiplied with, of no state."""
    of_state = tensor.role.startswith("ssm_") and tensor.role not in ("ssm_in", "ssm_out")
    return tensor.group in MULTIPLIED and tensor.rows > 1 and not of_state


def _flops(architecture: Architecture) -> Mapping[Group, Floats]:
    total = {group: np.zeros(architecture.layers) for group in LAYERED}
    for tensor in architecture.tensors:
        if tensor.layer is not None:
            total[tensor.group][tensor.layer] += 2.0 * tensor.params
    if architecture.experts is not None:
        total[Group.ROUTED_EXPERTS] *= architecture.experts.used / architecture.experts.total
    return total


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """Model in a format."""

    name: str  # name as people write it
    format: str  # format of the weights ("Q4_K_M", "AWQ", "BF16")
    architecture: Architecture  # architecture
    bytes_per_layer: Mapping[Group, Floats]  # size of each group of weights, shape (layers,) [B]
    # size of the token table, and of tables by layer or position; a token reads one row of each [B]
    embedding: float
    # size of the output head and other weights outside the layers, read whole; a tied head is
    # counted here too, since runtimes keep a copy beside the GPU's last layer [B]
    output: float
    decode_class: Names  # class of the format that most bytes have, by unpacking cost
    tied_copy: float = 0.0  # part of `output` that is a copy of the token table [B]
    tables_share: float = 0.0  # part of `embedding` that is tables by layer or of n-grams
    by_ngrams: bool = False  # those tables are of n-grams
    # share of the bytes that a token reads, by storage type; empty where unknown
    stored: Mapping[str, float] = field(default_factory=dict)
    # native format, which a runtime may load instead; empty for 16 bits, or if a format was chosen
    native: str = ""
    # architecture as today's builds keep its cache, where it has an older one's; else None
    today: Architecture | None = None

    def __repr__(self) -> str:
        return f"<Model {self.name}, {self.format}, {np.max(self.file_bytes) / GIB:.1f} GB>"

    KV_BYTES_PER_VALUE: ClassVar[Mapping[str, float]] = MappingProxyType(
        {
            "f32": 4.0,
            "f16": 2.0,
            "bf16": 2.0,
            "q8_0": 34 / 32,
            "fp8": 1.0,
            "q6_0": 26 / 32,  # of ik_llama.cpp (ggml-common.h, block_q6_0)
            "q5_1": 24 / 32,
            "q5_0": 22 / 32,
            "q4_1": 20 / 32,
            "q4_0": 18 / 32,
            "iq4_nl": 18 / 32,
        }
    )
    """Bytes of a cached value by the cache's type [B]: blocks of 32 with their scales, from the
    constants of the `gguf` package 0.19.0 (GGML_QUANT_SIZES), 2026-05-06."""

    @property
    def layers(self) -> int:
        """Repeating layers."""
        return self.architecture.layers

    @lazy
    def file_bytes(self) -> float:
        """Size of the weights in a file, with a tied table counted once [B]."""
        layered: float = sum(part.sum(axis=-1) for part in self.bytes_per_layer.values())
        return layered + self.embedding + self.output - self.tied_copy

    @property
    def bytes_without_table(self) -> float:
        """Weights without the token table, which are the least that GPUs and RAM must hold [B]."""
        return self.file_bytes - self.embedding

    @property
    def tables(self) -> float:
        """Tables by layer or of n-grams, of which a token reads a few rows [B]."""
        return self.embedding * self.tables_share

    @property
    def kind_of_tables(self) -> str:
        """Kind of those tables in words: "of n-grams" or "by layer"."""
        if self.by_ngrams:
            return "of n-grams"
        return "by layer"

    @lazy
    def _sums(self) -> dict[tuple[Group, ...], tuple[Floats, Floats]]:
        return {}

    def together(self, groups: tuple[Group, ...]) -> tuple[Floats, Floats]:
        """Bytes [B] and FLOPs of a token [FLOP] of several groups, each of shape (layers,)."""
        if groups not in self._sums:
            sizes = self.bytes_per_layer
            work = self.per_layer.flops
            self._sums[groups] = (
                np.sum([sizes[group] for group in groups], axis=0),
                np.sum([work[group] for group in groups], axis=0),
            )
        return self._sums[groups]

    @lazy
    def layer_bytes(self) -> Floats:
        """All weights of each layer, shape (layers,) [B]."""
        return np.asarray(np.sum([self.bytes_per_layer[group] for group in LAYERED], axis=0))

    @lazy
    def per_layer(self) -> PerLayer:
        """Numbers of each layer in any format."""
        return per_layer(self.architecture)

    @lazy
    def has_delta_rule(self) -> bool:
        """Whether layers update their state by the gated delta rule (Qwen3-Next, 3.5, 3.6)."""
        return any(tensor.role == "ssm_beta" for tensor in self.architecture.tensors)

    @property
    def has_experts(self) -> bool:
        """Whether some layers have routed experts."""
        return self.architecture.experts is not None

    def expert_use(self, variety: float = USUAL) -> ExpertUse | None:
        """Use of the model's experts in a text of some variety, 0 to 1; None without experts."""
        experts = self.architecture.experts
        if experts is None:
            return None
        return ExpertUse(experts.total, experts.used, in_text(unevenness(self.name), variety))

    def expert_share(
        self, tokens: Array, sequences: Array | None = None, variety: float = USUAL
    ) -> Array:
        """Share of a layer's routed experts that `tokens` tokens of some texts use together.

        D(t / n) of E for each of n texts (`ExpertUse.touched`), which prefer some experts alike, so
        that they miss one as often as fewer texts would that choose evenly: 1 - (1 - D / E)^m, m
        texts of even choices (`ExpertUse.distinct_texts`).

        Args:
            tokens: tokens of all sequences together [tokens].
            sequences: texts, n; None where each token is of a text of its own.
            variety: variety of a text, 0 to 1.
        """
        use = self.expert_use(variety)
        if use is None:
            return np.ones_like(np.asarray(tokens, dtype=float))
        texts = np.asarray(tokens if sequences is None else sequences, dtype=float)
        tokens_of_a_text = np.asarray(tokens, dtype=float) / np.maximum(texts, 1e-9)
        alone: Array = use.used / use.total
        if np.any(tokens_of_a_text > 1.0):
            alone = np.where(
                tokens_of_a_text > 1.0, use.touched(tokens_of_a_text) / use.total, alone
            )
        return np.asarray(1.0 - (1.0 - alone) ** use.distinct_texts(texts))

    def read_share(self, group: Group, tokens: Array) -> Array:
        """Share of a group's bytes that some tokens read, where each token is of another text."""
        if group is Group.ROUTED_EXPERTS:
            return self.expert_share(tokens)
        return 1.0

    @property
    def read_bytes_per_token(self) -> float:
        """Weight bytes that decoding one token reads: the embedding counts one row [B]."""
        layered: float = sum(
            np.sum(self.bytes_per_layer[g] * visits_of(self.architecture), axis=-1)
            * self.read_share(g, 1)
            for g in LAYERED
        )
        return layered + self.output + self.embedding / self.architecture.vocab

    @property
    def output_flops(self) -> float:
        """FLOPs of the output head for one token [FLOP]."""
        return 2.0 * self.architecture.vocab * self.architecture.hidden

    def kv_bytes(self, tokens: Array, kv_type: str) -> Floats:
        """Cache of one sequence of `tokens` tokens, per layer, shape (..., layers) [B].

        Layers with a window cache the window only; linear and state-space layers keep a state of
        fixed size in 32-bit floats, for any cache type (llama.cpp, Transformers). Layers that
        attend to an image keep its keys and values in 16 bits, for any text.
        """
        per_layer = self.per_layer
        visible = np.minimum(np.asarray(tokens, dtype=float)[..., None], per_layer.windows)
        fixed = 4.0 * per_layer.state_values + 2.0 * per_layer.image_values
        return np.asarray(visible * self.cached_bytes(kv_type) + fixed)

    def cached_bytes(self, kv_type: str) -> Floats:
        """Bytes of a token's keys and values per layer, shape (layers,) [B]."""
        per_layer = self.per_layer
        keys, values = (Model.KV_BYTES_PER_VALUE[kind] for kind in Model.cache_types(kv_type))
        if keys == values:
            return np.asarray(per_layer.kv_values * keys)
        later = per_layer.kv_values - per_layer.key_values
        return np.asarray(per_layer.key_values * keys + later * values)

    @staticmethod
    def cache_types(kv_type: str) -> tuple[str, str]:
        """Types of the keys and of the values of a cache: q8_0 is both, q8_0/q4_0 one of each."""
        keys, _, values = kv_type.partition("/")
        return keys, values or keys

    # Stacking of formats: one architecture in several formats as one model with arrays as numbers.
    #
    # Placements and times are sums over layers, so several formats are computed in one call: the
    # bytes of a layer are of shape (..., layers), those outside the layers of shape (...). The
    # class of the format is a tuple, one for each format.

    @staticmethod
    def in_many_formats(models: "Sequence[Model]") -> "Model":
        """Models of the same architecture as one, with numbers of shape (models,).

        A single model is returned unchanged. The name of the format and the storage types are those
        of the first; callers must not use them.
        """
        first = models[0]
        if all(model is first for model in models):
            return first
        # as arrays; the cost model takes both
        numbers: Any = {
            name: np.array([getattr(model, name) for model in models]) for name in NUMBERS
        }
        return replace(
            first,
            bytes_per_layer={
                group: np.stack([model.bytes_per_layer[group] for model in models])
                for group in LAYERED
            },
            decode_class=tuple(str(model.decode_class) for model in models),
            **numbers,
        )

    def picked(self, index: Any) -> "Model":
        """Model with the numbers at an index along its formats; the classes stay those of all."""
        if np.ndim(self.output) == 0:
            return self
        return replace(
            self,
            bytes_per_layer={
                group: layer_bytes[index] for group, layer_bytes in self.bytes_per_layer.items()
            },
            **{name: np.asarray(getattr(self, name))[index] for name in NUMBERS},
        )

    @lazy
    def layers_together(self) -> "Model":
        """Model with all layers as one, shape (..., 1), for sums over layers."""
        whole = {
            group: np.sum(layer_bytes, axis=-1, keepdims=True)
            for group, layer_bytes in self.bytes_per_layer.items()
        }
        return replace(self, bytes_per_layer=whole)

    @lazy
    def expert_bytes(self) -> Array:
        """Size of all routed experts [B]."""
        return np.asarray(np.sum(self.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1))

    def with_expert_bytes(self, size: float) -> "Model":
        """Model whose routed experts have a total size [B]."""
        parts = dict(self.bytes_per_layer)
        experts = parts[Group.ROUTED_EXPERTS]
        parts[Group.ROUTED_EXPERTS] = experts * (size / float(self.expert_bytes))
        return replace(self, bytes_per_layer=parts)

    @property
    def published_as(self) -> str:
        """Name under which its weights are published."""
        return self.architecture.published_as or self.name

    @property
    def title(self) -> str:
        """Name for people: the name of its weights, where that is another one."""
        if self.published_as == self.name:
            return self.name
        return self.published_as.rpartition("/")[2]

    @property
    def file_stem(self) -> str:
        """First part of the names of its files and folders."""
        return self.published_as.rpartition("/")[2].replace(":", "-").replace(" ", "-")

    @property
    def encoder_file(self) -> float:
        """Size of the file of its encoder of images, where its own holds none (mmproj) [B]."""
        if holds_tower(self.format):
            return 0.0
        return TOWER_BYTES * self.architecture.tower

    @property
    def gguf_file(self) -> str:
        """Name of a GGUF file of the model."""
        return f"{self.file_stem}-{self.format}.gguf"

    @staticmethod
    def from_tensors(
        architecture: Architecture, kinds: Sequence[StorageType], form: str
    ) -> "Model":
        """Model of an architecture in which the storage type of each tensor is given."""
        sizes = [
            kind.bytes_of(tensor) for tensor, kind in zip(architecture.tensors, kinds, strict=True)
        ]
        bytes_per_layer = {group: [0.0] * architecture.layers for group in LAYERED}
        embedding = output = table = tables = 0.0
        by_class: dict[str, float] = {}
        for tensor, kind, size in zip(architecture.tensors, kinds, sizes, strict=True):
            if tensor.layer is not None:
                bytes_per_layer[tensor.group][tensor.layer] += size
            elif tensor.group is Group.EMBEDDING:
                embedding += size
                table += size if tensor.role == "token_embd" else 0.0
                tables += size if tensor.role == Tensor.LAYER_TABLES else 0.0
            else:
                output += size
            by_class[kind.decode_class] = by_class.get(kind.decode_class, 0.0) + size
        tied_copy = table if architecture.tied else 0.0
        if architecture.tower and holds_tower(form):
            embedding += TOWER_BYTES * architecture.tower
        return Model(
            name=architecture.name,
            format=form,
            architecture=architecture,
            bytes_per_layer={group: np.array(layers) for group, layers in bytes_per_layer.items()},
            embedding=embedding,
            output=output + tied_copy,
            decode_class=max(by_class, key=lambda name: by_class[name]),
            tied_copy=tied_copy,
            tables_share=tables / embedding if embedding else 0.0,
            by_ngrams=tables > 0 and all(t.role != BY_LAYER for t in architecture.tensors),
            stored=_read_shares(architecture, kinds, sizes),
        )

    def scaled(self, file_bytes: float) -> "Model":
        """Model scaled to the size of its real file [B], which is more exact than the size by
        recipe.
        """
        factor = file_bytes / self.file_bytes
        return replace(
            self,
            bytes_per_layer={group: part * factor for group, part in self.bytes_per_layer.items()},
            embedding=self.embedding * factor,
            output=self.output * factor,
            tied_copy=self.tied_copy * factor,
        )


NUMBERS = ("embedding", "output", "tied_copy", "tables_share")
"""Numbers of a model outside its layers, by field."""
TOWER_BYTES = 2.0  # of a weight of an encoder of images or sound, which stays in 16 bits [B]


def holds_tower(form: str) -> bool:
    """Whether files of a format hold a model's encoder of images or sound.

    Checkpoints do. Quantized GGUF files leave it to a file of its own (mmproj), as do those of MLX
    and ExLlama.
    """
    known = known_format(form)
    if form in PLAIN_GGUF:
        return True
    packing = packing_named(form)
    if packing is not None:
        return packing.row.kind not in LIKE_GGUF
    return known is not None and known.family != "gguf"


PLAIN_GGUF = ("BF16", "F16", "F32")  # formats that a checkpoint has, too


def _read_shares(
    architecture: Architecture, kinds: Sequence[StorageType], sizes: Sequence[float]
) -> Mapping[str, float]:
    """Share of the weight bytes that a token reads, by storage type."""
    experts = architecture.experts
    part = {
        Group.EMBEDDING: 1.0 if architecture.tied else 0.0,
        Group.ROUTED_EXPERTS: experts.used / experts.total if experts else 1.0,
    }
    read: dict[str, float] = {}
    for tensor, kind, size in zip(architecture.tensors, kinds, sizes, strict=True):
        share = part.get(tensor.group, 1.0)
        read[kind.name] = read.get(kind.name, 0.0) + size * share
    total = sum(read.values())
    return {name: size / total for name, size in read.items() if size}


# Description of a model: architecture, stored format, notes.


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """Model that a file or repository describes."""

    architecture: Architecture  # tensors, cache and attention work
    # model with the stored bytes of each tensor; None where only the format is known
    model: Model | None
    # name in data/models/recipes.csv; empty for a format without a recipe, which `notes` names
    format: str
    source: str  # file or repository
    notes: tuple[str, ...]  # sentences for the user
    # further facts by name, as text (`commit`, `weight_bytes`, `model_type`)
    facts: Mapping[str, str]
    undescribed: str = ""  # the file's own words for a format whose bits it does not state
