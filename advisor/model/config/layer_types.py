"""Type of each layer, from the many spellings of config.json files.

The answers are `layer_pattern`, one letter per layer as in `ArchitectureSpec`, and the layers
that have experts.
"""

from typing import TypeVar

from advisor.errors import InputError, Refusal
from advisor.model.config.values import MAX_LAYERS, Config

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
WINDOW = ("sliding_window", "sliding_window_size", "attention_chunk_size")
CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
Entry = TypeVar("Entry")

LETTER_OF_WORD = {
    "full_attention": "F",
    "global_attention": "F",
    "attention": "F",
    "indexed_attention": "F",
    "deepseek_sparse_attention": "F",
    "sliding_attention": "W",
    "sliding_window_attention": "W",
    "chunked_attention": "W",
    "local_attention": "W",
    "linear_attention": "L",
}
LETTER_OF_BLOCK = {
    "mamba": "M",
    "linear_attention": "M",
    "attention": "*",
    "full_attention": "*",
    "mlp": "-",
    "moe": "E",
}
NO_ROPE_INTERVAL = 4
"""Llama 4 without `no_rope_layers`: every fourth layer has no rotary embedding and sees all."""


def layer_count(config: Config) -> int:
    """Repeating layers; Nemotron-H files may give them by their pattern alone."""
    blocks = single_blocks(config)
    if not blocks:
        return config.required(*LAYERS, high=MAX_LAYERS)
    stated = config.whole(*LAYERS, high=MAX_LAYERS)
    if stated and stated != len(blocks):
        raise _length(config, "the layer pattern", len(blocks), stated)
    return len(blocks)


def layer_pattern(config: Config, layers: int) -> str:
    """One letter per layer, shortened to the run that repeats.

    Raises:
        Refusal: a kind of layer that is not known, named.
        InputError: a list of another length than the layers.
    """
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
    _known(config, "layers_block_type", words, tuple(LETTER_OF_BLOCK))
    return "".join(LETTER_OF_BLOCK[word] for word in words)


def window(config: Config) -> int:
    """Tokens that windowed layers see; 0 without a window, or with one that never binds."""
    gated = any("use_sliding_window" in values for values in (config.values, config.defaults))
    if gated and not config.flag("use_sliding_window"):
        return 0
    size = config.whole(*WINDOW)
    context = config.whole(*CONTEXT)
    return 0 if context and size >= context else size


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
    """`first_dense` and `moe_every` that say the same as a list of layers.

    Raises:
        Refusal: a list that two numbers cannot say.
    """
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
    """The shortest start that, repeated, gives all the letters."""
    for size in range(1, len(letters) + 1):
        if letters == (letters[:size] * len(letters))[: len(letters)]:
            return letters[:size]
    return letters


def _attention_letters(config: Config, layers: int) -> str:
    letters = _listed_letters(config, layers) or _derived_letters(config, layers)
    if config.word("model_type").startswith("gemma4"):
        # transformers 5.23.0, Gemma4TextConfig: the last layer sees everything, whatever is listed.
        letters = letters[:-1] + "F"
    if not window(config):
        letters = letters.replace("W", "F")
    if config.whole("index_n_heads"):
        letters = _with_indexers(config, letters)
    return letters


def _listed_letters(config: Config, layers: int) -> str:
    words = config.words("layer_types")
    _known(config, "layer_types", words, tuple(LETTER_OF_WORD))
    return "".join(LETTER_OF_WORD[word] for word in _checked(config, "layer_types", layers, words))


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
    first = config.whole("max_window_layers") if config.flag("use_sliding_window") else 0
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
