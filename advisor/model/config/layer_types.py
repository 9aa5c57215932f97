"""Type of each layer, from the many spellings of config.json files.

The answers are `layer_pattern`, one letter per layer as in `ArchitectureSpec`, and the layers
that have experts.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from advisor.catalog.name_matching import NameWords
from advisor.errors import InputError, Refusal
from advisor.model.config.values import MAX_LAYERS, Config

Entry = TypeVar("Entry")

WORDS = NameWords("models/config_words.csv")
"""Letters of layers and of blocks by their words, keys that no formula here covers, and formats by
the words of `quantization_config`: `quant_algo` of ModelOpt and `quant_method` of Transformers."""
NO_ROPE_INTERVAL = 4
"""Llama 4 without `no_rope_layers`: every fourth layer has no rotary embedding and sees all."""


def layer_count(config: Config) -> int:
    """Repeating layers; Nemotron-H files may give them by their pattern alone."""
    blocks = single_blocks(config)
    if not blocks:
        return config.required("layers", high=MAX_LAYERS)
    stated = config.whole("layers", high=MAX_LAYERS)
    if stated and stated != len(blocks):
        raise _length(config, "the layer pattern", len(blocks), stated)
    return len(blocks)


def layer_pattern(config: Config, layers: int) -> str:
    """Letters of the layers' kinds, shortened to the run that repeats."""
    letters = single_blocks(config) or _attention_letters(config, layers)
    return shortest_period(letters)


def single_blocks(config: Config) -> str:
    """Nemotron-H's pattern, whose layers are single blocks; empty for all others."""
    written = config.word("hybrid_override_pattern")
    if written:
        _known(config, "hybrid_override_pattern", tuple(written), tuple("M*-E"))
        if len(written) > MAX_LAYERS:
            raise _length(config, "hybrid_override_pattern", len(written), MAX_LAYERS)
        return written
    words = config.words("layers_block_type")
    letters = WORDS.of_kind("block")
    _known(config, "layers_block_type", words, tuple(letters))
    return "".join(letters[word] for word in words)


def window(config: Config) -> int:
    """Tokens that windowed layers see; 0 without a window, or with one that never binds."""
    gated = any("use_sliding_window" in values for values in (config.values, config.defaults))
    if gated and not config.flag("use_sliding_window"):
        return 0
    size = config.whole("window")
    context = config.whole("max_context")
    if context and size >= context:
        return 0
    return size


def expert_layers(config: Config, layers: int) -> tuple[bool, ...]:
    """Whether each layer has routed experts.

    Sources: transformers 5.23.0, `DeepseekV3DecoderLayer`, `Qwen2MoeDecoderLayer` (a step counts
    from the end of each run), `Llama4TextConfig.moe_layers`, `Ernie4_5_MoeDecoderLayer`.
    """
    words = config.words("mlp_layer_types")
    if words:
        _known(config, "mlp_layer_types", words, ("dense", "sparse"))
        return _checked(
            config, "mlp_layer_types", layers, tuple(word == "sparse" for word in words)
        )
    if isinstance(config.raw("moe_layer_freq")[1], list | tuple):
        flags = tuple(number != 0 for number in config.numbers("moe_layer_freq"))
        return _checked(config, "moe_layer_freq", layers, flags)
    if config.states("moe_layers"):
        chosen = set(config.numbers("moe_layers"))
        return tuple(layer in chosen for layer in range(layers))
    dense = set(config.numbers("mlp_only_layers"))
    return tuple(_by_step(config, layer) and layer not in dense for layer in range(layers))


def leading_dense_and_step(config: Config, routed: tuple[bool, ...]) -> tuple[int, int]:
    """Values of `first_dense` and `moe_every` that describe a list of layers."""
    layers = len(routed)
    for step in range(1, layers + 1):
        for first in (0, routed.index(True)):
            if routed == tuple(i >= first and (i + 1) % step == 0 for i in range(layers)):
                return first, step
    raise Refusal(
        f"{config.name} has experts in layers that follow no regular step "
        f"({sum(routed)} of {layers}); this program knows leading dense layers and every n-th."
    )


def shortest_period(letters: str) -> str:
    """Shortest beginning that, repeated, gives all the letters."""
    for size in range(1, len(letters) + 1):
        if letters == (letters[:size] * len(letters))[: len(letters)]:
            return letters[:size]
    return letters


def _attention_letters(config: Config, layers: int) -> str:
    words = config.words("layer_types")
    letter_of = WORDS.of_kind("layer")
    _known(config, "layer_types", words, tuple(letter_of))
    listed = "".join(letter_of[word] for word in _checked(config, "layer_types", layers, words))
    letters = listed or _derived_letters(config, layers)
    if config.word("model_type").startswith("gemma4"):
        # transformers 5.23.0, Gemma4TextConfig: the last layer sees everything, whatever is listed.
        letters = letters[:-1] + "F"
    if not window(config):
        letters = letters.replace("W", "F")
    if config.whole("index_n_heads"):
        letters = _with_indexers(config, letters)
    return letters


def _derived_letters(config: Config, layers: int) -> str:
    interval = config.whole("full_attention_interval", high=MAX_LAYERS)
    if interval:
        return _every(interval, "L", layers)
    if config.whole("attention_chunk_size"):
        return _chunked(config, layers)
    if not window(config):
        return "F" * layers
    key, pattern = config.raw("sliding_window_pattern", "_sliding_window_pattern")
    if isinstance(pattern, str):
        _known(config, key, tuple(pattern), ("L", "G"))
        letters = "".join("W" if letter == "L" else "F" for letter in pattern)
        return (letters * layers)[:layers]
    every = config.whole(key, high=MAX_LAYERS)
    if every:
        return _every(every, "W", layers)
    if config.flag("use_sliding_window"):
        first = config.whole("max_window_layers")
    else:
        first = 0
    return "".join("W" if layer >= first else "F" for layer in range(layers))


def _chunked(config: Config, layers: int) -> str:
    rotary = config.numbers("no_rope_layers")
    if not rotary:
        interval = config.whole("no_rope_layer_interval", high=MAX_LAYERS) or NO_ROPE_INTERVAL
        return _every(interval, "W", layers)
    checked = _checked(config, "no_rope_layers", layers, rotary)
    return "".join("W" if rotated else "F" for rotated in checked)


def _with_indexers(config: Config, letters: str) -> str:
    """I where a layer runs the indexer of sparse attention itself, F where it reuses a choice.

    Source: transformers 5.23.0, `GlmMoeDsaConfig.__post_init__`.
    """
    words = config.words("indexer_types")
    if words:
        _known(config, "indexer_types", words, ("full", "shared"))
        checked = _checked(config, "indexer_types", len(letters), words)
        return "".join("I" if word == "full" else "F" for word in checked)
    if config.states("index_topk_pattern"):
        raise Refusal(
            f"{config.name} gives its indexers by index_topk_pattern, which is not read here; "
            "a file with indexer_types says the same."
        )
    step = max(config.whole("index_topk_freq"), 1)
    offset = config.whole("index_skip_topk_offset")
    return "".join(
        "I" if max(layer - offset + 1, 0) % step == 0 else "F" for layer in range(len(letters))
    )


def _by_step(config: Config, layer: int) -> bool:
    first = config.whole(
        "first_k_dense_replace", "moe_layer_start_index", "num_dense_layers", high=MAX_LAYERS
    )
    last = config.raw("moe_layer_end_index")[1]
    if layer < first or (isinstance(last, int) and 0 <= last < layer):
        return False
    steps = ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval")
    every = config.optional(*steps, low=1, high=MAX_LAYERS) or 1
    offset_step = config.optional("moe_layer_freq", low=1, high=MAX_LAYERS) or 1
    return (layer + 1) % every == 0 and layer % offset_step == 0


def _every(interval: int, letter: str, layers: int) -> str:
    return "".join(letter if (layer + 1) % interval else "F" for layer in range(layers))


def _checked(
    config: Config, key: str, layers: int, entries: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    if entries and len(entries) != layers:
        raise _length(config, key, len(entries), layers)
    return entries


def _known(config: Config, key: str, words: tuple[str, ...], known: tuple[str, ...]) -> None:
    unknown = sorted(set(words) - set(known))
    if unknown:
        raise Refusal(
            f"{config.name} has layers of the kind {', '.join(unknown)[:80]!r} ({key}), which this "
            f"program does not know. It knows {', '.join(known)}."
        )


def _length(config: Config, key: str, count: int, layers: int) -> InputError:
    return InputError(
        f"The config.json of {config.name} has {count} entries in {key} for {layers} layers. "
        "One of the two is wrong; check the file."
    )


# Sizes of attention, gated DeltaNet and Mamba-2 layers from a config.json.
#
# Each function answers with fields of ArchitectureSpec. Names of keys and defaults:
# huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py.

DELTA_NET = (
    *("linear_key_heads", "linear_value_heads"),
    *("linear_key_dim", "linear_value_dim", "linear_conv"),
)
STATE_SPACE = ("ssm_heads", "ssm_head_dim", "ssm_groups", "ssm_state", "ssm_conv")


def mixer_sizes(config: Config, pattern: str) -> dict[str, Any]:
    """Sizes of the token mixers that a pattern has."""
    return {
        **_attention(config, pattern),
        **(config.sizes(*DELTA_NET) if "L" in pattern else {}),
        **(config.sizes(*STATE_SPACE) if "M" in pattern else {}),
    }


def _attention(config: Config, pattern: str) -> dict[str, Any]:
    """Heads, their sizes and the window; ranks instead for latent attention."""
    if not set(pattern) & set("FIW*"):
        return {}
    heads = config.required("heads")
    if config.whole("kv_lora_rank"):
        return {"heads": heads, **latent(config, pattern)}
    head_dim = config.optional("head_dim", low=1) or _even_share(config, heads)
    return {
        "heads": heads,
        "kv_heads": _key_value_heads(config, heads),
        "head_dim": head_dim,
        "window": window(config) if "W" in pattern else 0,
        "attn_output_gate": config.flag("attn_output_gate"),
        **_global_heads(config, pattern, head_dim),
    }


def latent(config: Config, pattern: str) -> dict[str, int]:
    """Ranks of latent attention and sizes of its heads, and of an indexer."""
    indexer = ("index_heads", "index_dim") if "I" in pattern else ()
    return {
        **config.sizes("kv_lora_rank", "qk_nope_dim", "v_head_dim", *indexer),
        "q_lora_rank": config.whole("q_lora_rank"),
        "qk_rope_dim": config.required("qk_rope_dim", low=0),
    }


def _even_share(config: Config, heads: int) -> int:
    hidden = config.required("hidden")
    if hidden % heads:
        raise InputError(
            f"The config.json of {config.name} gives no head_dim, and hidden_size {hidden} does "
            f"not divide by {heads} heads. Add head_dim, or check both."
        )
    return hidden // heads


def _key_value_heads(config: Config, heads: int) -> int:
    """Key and value heads; Falcon and StarCoder say `multi_query` for a single one."""
    if config.flag("multi_query") and not config.flag("new_decoder_architecture"):
        return 1
    return config.optional("kv_heads", low=1, high=heads) or heads


def _global_heads(config: Config, pattern: str, head_dim: int) -> dict[str, Any]:
    """Gemma 4's full layers: heads of their own size, and a number of them where K serves as V."""
    overrides = _of_full_layers(config)
    size = overrides.whole("head_dim") or config.whole("global_head_dim")
    if overrides.values and "W" not in pattern:
        raise _sizes_of_their_own(config)
    if "W" not in pattern or not size:
        return {}
    reused = config.flag("attention_k_eq_v")
    heads = overrides.whole("num_key_value_heads") or config.whole("num_global_key_value_heads")
    return {
        "global_head_dim": size if size != head_dim else 0,
        "global_kv_heads": heads if reused else 0,
        "attention_k_eq_v": reused,
    }


def _of_full_layers(config: Config) -> Config:
    """Overrides of full-attention layers in `per_layer_config`, as transformers 5 saves it."""
    layers = [
        layer for layer in config.part("per_layer_config").values() if isinstance(layer, Mapping)
    ]
    first = layers[0] if layers else {}
    if any(layer != first for layer in layers) or set(first) - {"head_dim", "num_key_value_heads"}:
        raise _sizes_of_their_own(config)
    return Config(name=config.name, values=first)


def _sizes_of_their_own(config: Config) -> Refusal:
    return Refusal(
        f"{config.name} has layers that each have sizes of their own (per_layer_config), for which "
        "this program has no formula."
    )


# Sizes of dense and expert feed-forward layers from a config.json.

SINGLE_BLOCKS = frozenset("M*-E")


def feed_forward(
    config: Config, layers: int, pattern: str, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Widths and experts, with the layers that have them; `known` are facts read before."""
    routed = _routed_layers(config, layers, pattern)
    answer: dict[str, Any] = {}
    if any(routed):
        answer = experts_of(config, known) | {"moe_latent": config.whole("moe_latent_size")}
    if any(routed) and "E" not in pattern:
        first, step = leading_dense_and_step(config, routed)
        answer |= {"first_dense": first, "moe_every": step}
    if SINGLE_BLOCKS & set(pattern):
        has_dense = "-" in pattern
    else:
        has_dense = not all(routed)
    if has_dense or known.get("dense_beside_experts"):
        answer["intermediate"] = dense_width(config, known)
    return answer


def _routed_layers(config: Config, layers: int, pattern: str) -> tuple[bool, ...]:
    if SINGLE_BLOCKS & set(pattern):
        return tuple(letter == "E" for letter in (pattern * layers)[:layers])
    switched_off = "enable_moe_block" in config.defaults and not config.flag("enable_moe_block")
    if config.whole("experts") < 2 or switched_off:  # Gemma 4 lists experts, switched on apart
        return (False,) * layers
    return expert_layers(config, layers)


def experts_of(config: Config, known: Mapping[str, Any]) -> dict[str, int]:
    """Number, use and width of routed and shared experts; `known` are facts read before."""
    width = config.optional("moe_intermediate", low=1) or config.required("intermediate")
    total = config.required("experts")
    shared, shared_width = _shared_experts(config, width, int(known.get("shared_experts", 0)))
    return {
        "experts": total,
        "experts_per_token": config.required("experts_per_token", high=total),
        "moe_intermediate": width,
        "shared_experts": shared,
        "shared_intermediate": shared_width,
    }


def _shared_experts(config: Config, width: int, fixed: int) -> tuple[int, int]:
    """Number of shared experts, and the width of one; 0 for the width of a routed expert.

    A width in the file is that of all of them together (Qwen2-MoE, Nemotron-H), so it counts as
    one expert; a number alone means experts as wide as routed ones (DeepSeek).
    """
    together = config.optional("shared_intermediate")
    if together is not None:
        return min(together, 1), together if together != width else 0
    return config.optional("shared_experts") or fixed, 0


def dense_width(config: Config, known: Mapping[str, Any]) -> int:
    """Width of dense feed-forward layers; 4 x hidden where older families leave it out."""
    beside = config.optional("intermediate_beside_experts", low=1)
    stated = beside or config.optional("intermediate", low=1)
    if stated is None and known.get("gated_ffn") is False:
        return 4 * config.required("hidden")
    return stated or config.required("intermediate")
