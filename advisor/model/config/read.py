"""A model from its config.json: sizes from the file, the rest from its family.

Nothing is approximated in silence: a family, a kind of layer or a key that changes the layers in a
way not covered here is refused in a sentence that names it.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py (names and
        defaults of the keys) and modeling_*.py (what they build); see data/models/families.csv.
    [2] The model cards and config.json files that the tests quote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from advisor.errors import InputError, Refusal
from advisor.model.architecture import (
    Architecture,
    ArchitectureSpec,
    Group,
    LayerCache,
    Shapes,
    Tensor,
)
from advisor.model.build import build
from advisor.model.config import layer_types
from advisor.model.config.layer_types import (
    DELTA_NET,
    dense_width,
    experts_of,
    feed_forward,
    latent,
    mixer_sizes,
)
from advisor.model.config.own_layers import families, parts, states
from advisor.model.config.stored_format import in_stored_format, stored_format
from advisor.model.config.towers import tower_weights
from advisor.model.config.values import (
    MAX_LAYERS,
    Config,
    FamilyRow,
    built_like,
    fixed_facts,
    is_guessed,
    is_undescribed,
    language_config,
    language_model,
    parse,
    spellings,
)
from advisor.model.model import Described
from advisor.model.no_chat import classes, refuse_no_chat_model

if TYPE_CHECKING:
    from advisor.model.config.by_tensors import StoredTensor

# Layers that reuse the cache of others, and inputs of their own per layer (Gemma 4 E2B, E4B).
#
# The last layers of these models compute queries only and read the keys and values that the last
# layer of the same kind before them kept. Each layer also gets a vector of its own from a second
# token table, of which a token reads one row.
#
# Reference: huggingface/transformers 5.23.0, models/gemma4/modeling_gemma4.py
# (`Gemma4TextAttention`, `Gemma4TextMLP`, `Gemma4TextModel`).

KEY_VALUE_ROLES = ("attn_k", "attn_v", "attn_k_norm")
DENSE_ROLES = ("ffn_gate", "ffn_up", "ffn_down")
DRAFT_KEYS = (
    *("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"),
    *("num_mtp_layers", "mtp_num_layers"),
)
"""Keys of a config.json that say how many layers draft."""


def with_shared_layers(
    config: Config, facts: ArchitectureSpec, architecture: Architecture
) -> tuple[Architecture, tuple[str, ...]]:
    """Architecture with layers that are visited several times, and a note; unchanged for other
    models.
    """
    sharing = config.whole("num_kv_shared_layers")
    width = config.whole("hidden_size_per_layer_input")
    if not sharing and not width:
        return architecture, ()
    if sharing >= facts.layers:
        raise InputError(
            f"{config.name}: num_kv_shared_layers {sharing} must be less than the {facts.layers} "
            "layers."
        )
    first = facts.layers - sharing
    if config.flag("use_double_wide_mlp"):
        wider = 2
    else:
        wider = 1
    made = []
    for tensor in architecture.tensors:
        if tensor.layer is None or tensor.layer < first:
            made.append(tensor)
        elif tensor.role.removesuffix(".bias") not in KEY_VALUE_ROLES:
            made.append(_widened(tensor, wider))
    if width:
        inputs = _layer_inputs(config, facts, width)
    else:
        inputs = ()
    cache = architecture.cache[:first] + (LayerCache(),) * sharing
    note = (
        f"Layers from {first} on reuse the keys and values of earlier ones and cache none; every "
        "layer has an input of its own, a row of a second table."
    )
    return replace(architecture, tensors=(*made, *inputs), cache=cache), (note,)


def _widened(tensor: Tensor, factor: int) -> Tensor:
    """Matrix of the feed-forward block as wide as a factor says."""
    if tensor.role not in DENSE_ROLES:
        return tensor
    if tensor.role == "ffn_down":
        return replace(tensor, width=factor * tensor.width)
    return replace(tensor, rows=factor * tensor.rows)


def _layer_inputs(config: Config, facts: ArchitectureSpec, width: int) -> tuple[Tensor, ...]:
    """Second table, its projection, and each layer's gate, as llama.cpp names them."""
    rows = config.required("vocab_size_per_layer_input", "vocab_size")
    hidden = facts.hidden
    all_widths = facts.layers * width
    table = {Tensor.LAYER_TABLES: (all_widths, rows)}
    projection = {"per_layer_model_proj": (hidden, all_widths)}
    gates: Shapes = {"inp_gate": (hidden, width), "proj": (width, hidden), "post_norm": hidden}
    return (
        *Tensor.of_shapes(None, table),
        *Tensor.of_shapes(0, projection, group=Group.DENSE_FFN),
        *Tensor.of_shapes(0, {"per_layer_proj_norm": width}),
        *(tensor for layer in range(facts.layers) for tensor in Tensor.of_shapes(layer, gates)),
    )


SIZES = ("hidden", "vocab", "heads", "layers")
MOST_WEIGHTS = 1e15  # several hundred times the largest model that is published


def describe(
    text_or_dict: str | Mapping[str, object], name: str, beside: Mapping[str, object] | None = None
) -> Described:
    """Model of a config.json, and of a file beside it that tells the format (`BESIDE`).

    Raises:
        Refusal: a family, layer or key that is not known, named.
        InputError: no JSON, or a value that cannot be.
    """
    whole = parse(text_or_dict, name)
    refuse_no_chat_model(name, str(whole.get("model_type")), *classes(whole.get("architectures")))
    if is_undescribed(whole) and (same := built_like(whole)) is not None:
        from advisor.model.config.by_tensors import from_text

        merged = {**parse(same.config, name), **language_model(whole)}
        return describe_by_tensors(merged, name, from_text(same.tensors), beside)
    values, family = language_config(name, whole)
    shared: tuple[str, ...] = ()
    pattern = {}
    if family.builder:
        module, _, function = family.builder.partition(".")
        architecture = getattr(MODULES[module], function)(values, _own_facts(values, family))
    else:
        facts = facts_of(values, family)
        architecture, shared = with_shared_layers(values, facts, build(facts))
        pattern = {"layer_pattern": facts.layer_pattern}
    architecture = replace(
        _plausible(architecture),
        draft_layers=_draft_layers(values),
        tower=tower_weights(name, whole, architecture.hidden),
        visits=_visits(values, architecture.layers) or architecture.visits,
    )
    guess: tuple[str, ...] = ()
    if is_guessed(family):
        architecture = replace(architecture, shape_uncertainty=Architecture.GUESSED_SHAPE)
        guess = (
            f"No rule of its family {values.word('model_type')[:40]!r} is known here: by the sizes "
            "of its file its layers are counted as those of Llama, and ranges are wider.",
        )
    notes = (*guess, *_notes(whole, values, architecture.tower), *shared)
    described = _stored(values, architecture, beside)
    return replace(
        described,
        notes=(*notes, *described.notes),
        facts={**described.facts, **pattern},
    )


def describe_by_tensors(
    text_or_dict: str | Mapping[str, object],
    name: str,
    tensors_of_files: "Sequence[StoredTensor]",
    beside: Mapping[str, object] | None = None,
) -> Described:
    """Model of an unknown family or with unknown layers, by the shapes of its tensors.

    Raises:
        Refusal: no language model, packed weights, or an unknown number of experts in use.
        InputError: no JSON, or a value that cannot be.
    """
    from advisor.model.config.by_tensors import describe_shapes  # for families of tomorrow alone

    whole = parse(text_or_dict, name)
    refuse_no_chat_model(name, str(whole.get("model_type")), *classes(whole.get("architectures")))
    values = Config(name=name, values=language_model(whole))
    architecture = _plausible(describe_shapes(values, tensors_of_files))
    architecture = replace(architecture, visits=_visits(values, architecture.layers))
    kinds = ", ".join(architecture.unknown_kinds)
    note = (
        f"Nobody described its layers ({kinds}) here: their weights are counted by the shapes of "
        "their tensors, what they keep of a text by their projections. Nobody has timed such "
        "layers either, so ranges are wider."
    )
    described = _stored(values, architecture, beside)
    return replace(described, notes=(note, *_notes_of_loops(values), *described.notes))


def _stored(
    values: Config, architecture: Architecture, beside: Mapping[str, object] | None
) -> Described:
    """Model in the format of its files."""
    stored = stored_format(values, beside)
    model, of_modules = in_stored_format(architecture, stored)
    return Described(
        architecture=architecture,
        model=model,
        format=model.format if model else stored.name,
        undescribed=stored.words,
        source=architecture.source,
        notes=(*stored.notes, *filter(None, [of_modules])),
        facts={
            "model_type": values.word("model_type"),
            "dtype": values.word("dtype", "torch_dtype"),
        },
    )


def facts_of(config: Config, family: FamilyRow) -> ArchitectureSpec:
    """Numbers of a model whose layers are alike, from its config.json."""
    _refuse_what_is_not_covered(config)
    layers = layer_types.layer_count(config)
    pattern = layer_types.layer_pattern(config, layers)
    facts: dict[str, Any] = {
        **_whole_model(config, family, layers),
        "layer_pattern": pattern,
        "positions": _positions(config, family),
        **mixer_sizes(config, pattern),
        **fixed_facts(config, family),
    }
    facts |= feed_forward(config, layers, pattern, facts)
    return _checked(config, ArchitectureSpec(**facts))


def _whole_model(config: Config, family: FamilyRow, layers: int) -> dict[str, Any]:
    """Numbers that are not of the layers."""
    return {
        "name": config.name,
        "layers": layers,
        "hidden": config.required("hidden"),
        "vocab": config.required("vocab"),
        "tied": config.flag("tie_word_embeddings"),
        "max_context": config.whole("max_context") or None,
        "source": f"config.json of {config.name}",
        "note": family.note,
    }


MODULES = {"families": families, "parts": parts, "states": states}
"""Modules whose functions data/models/families.csv names as builders."""


def _own_facts(config: Config, family: FamilyRow) -> ArchitectureSpec:
    """Sizes that the config.json of a family built layer by layer states for the whole model."""
    heads = config.required("heads")
    fixed = fixed_facts(config, family)
    hidden = config.required("hidden")
    facts: dict[str, Any] = {
        **_whole_model(config, family, config.required("layers", high=MAX_LAYERS)),
        "heads": heads,
        "kv_heads": config.optional("kv_heads", low=1, high=heads) or heads,
        "head_dim": config.optional("head_dim", low=1) or hidden // heads,
        **(latent(config, "") if config.whole("kv_lora_rank") else {}),
        **(config.sizes(*DELTA_NET) if config.whole("linear_key_heads") else {}),
        **fixed,
    }
    if config.whole("experts") > 1:
        narrower = config.whole("moe_latent_size", "routed_expert_hidden_size")
        facts |= experts_of(config, fixed) | {"moe_latent": narrower}
    if config.optional("dense_intermediate_size", "intermediate_size"):
        facts["intermediate"] = dense_width(config, fixed)
    return ArchitectureSpec(**facts)


def _positions(config: Config, family: FamilyRow) -> int:
    """Rows of a learned position table; a model with slopes or rotary positions has none."""
    if family.learned_beyond is None:
        return 0
    return config.required("max_context") + family.learned_beyond


def _refuse_what_is_not_covered(config: Config) -> None:
    for key, meaning in layer_types.WORDS.of_kind("not covered").items():
        if config.values.get(key) not in (None, False, 0, "", [], {}):
            raise Refusal(
                f"{config.name} has {meaning} ({key} in its config.json), for which this program "
                "has no formula. A GGUF file of it tells its sizes."
            )
    inner = config.optional("word_embed_proj_dim")
    if inner and inner != config.required("hidden"):
        raise Refusal(
            f"{config.name} has an embedding narrower than its layers (word_embed_proj_dim "
            f"{inner}), for which this program has no formula."
        )
    if config.whole("kv_lora_rank") and config.flag("attention_bias"):
        raise Refusal(f"{config.name} has biases in its latent attention, which are not covered.")


def _checked(config: Config, facts: ArchitectureSpec) -> ArchitectureSpec:
    """Facts, unless their sizes contradict each other."""
    if facts.kv_heads and facts.heads % facts.kv_heads:
        raise InputError(
            f"The config.json of {config.name} has {facts.heads} query heads on {facts.kv_heads} "
            "key heads; the first must be a multiple of the second."
        )
    if "I" in facts.layer_pattern and not facts.kv_lora_rank:
        raise InputError(
            f"The config.json of {config.name} has sparse attention without kv_lora_rank, on which "
            "it is built. Give the model's own file, unchanged."
        )
    return facts


def _plausible(architecture: Architecture) -> Architecture:
    """Architecture, unless it has more weights than any machine could hold."""
    params = Decimal(architecture.params)  # it may be more than a float holds
    if params > MOST_WEIGHTS:
        raise InputError(
            f"The config.json of {architecture.name} makes {params:.0e} weights, more than "
            f"{MOST_WEIGHTS:.0e}; one of its sizes is wrong."
        )
    return architecture


LOOPS = ("total_ut_steps", "loop_num", "num_loops", "n_loops", "loop_count", "loop_num_passes")
"""Keys that say how often a token passes the layers, or those from `loop_start` to `loop_end`."""
MOST_LOOPS = 64


def _visits(config: Config, layers: int) -> tuple[int, ...]:
    """Times that a token passes each layer; empty for once."""
    if config.states("H_cycles"):
        return _of_two_stacks(config, layers)
    own = config.part("loop_config")
    config = replace(config, values={**config.values, **own}) if own else config
    loops = config.optional(*LOOPS, "num_passes", low=1, high=MOST_LOOPS) or 1
    if loops == 1:
        return ()
    first = config.whole(*LOOP_STARTS, high=MAX_LAYERS)
    last = config.whole(*LOOP_ENDS, high=MAX_LAYERS) or layers
    return tuple(loops if first <= at < last else 1 for at in range(layers))


LOOP_STARTS = ("loop_start", "loop_layer_index_start", "core_start")
LOOP_ENDS = ("loop_end", "loop_layer_index_end", "core_end")
"""Keys of the first looped layer, and of the one behind the last."""


def _of_two_stacks(config: Config, layers: int) -> tuple[int, ...]:
    """Visits of a model that thinks in cycles: its lower stack runs L_cycles times for each of the
    H_cycles of its upper one (transformers, models/hrm_text/modeling_hrm_text.py).
    """
    high = config.optional("H_cycles", low=1, high=MOST_LOOPS) or 1
    low = config.optional("L_cycles", low=1, high=MOST_LOOPS) or 1
    lower = layers // 2
    return tuple(high * low if at < lower else high for at in range(layers))


def _draft_layers(config: Config) -> int | None:
    """Layers for predicting several tokens; None where the file does not say."""
    return config.optional(*DRAFT_KEYS, high=MAX_LAYERS)


def _notes(whole: Mapping[str, object], config: Config, tower: int) -> tuple[str, ...]:
    notes = []
    if tower:
        notes.append(
            f"Its encoder of images, about {tower / 1e9:.2f} B weights, counts with checkpoints; "
            "quantized GGUF files leave it to one of its own (mmproj)."
        )
    elif language_model(whole) is not whole:
        notes.append("The language model only; towers for images or sound are left out.")
    missing = [spellings(field)[0] for field in SIZES if not config.states(field)]
    if "num_hidden_layers" in missing and layer_types.single_blocks(config):
        missing.remove("num_hidden_layers")
    if missing:
        kind = config.word("model_type")
        notes.append(
            f"config.json does not say {', '.join(missing)}; the defaults of {kind} in "
            "transformers 5.23.0 stand in."
        )
    notes += _notes_of_loops(config)
    if _draft_layers(config):
        notes.append("Its layers for predicting several tokens at once are left out.")
    return tuple(notes)


def _notes_of_loops(config: Config) -> tuple[str, ...]:
    """Remark on layers that a token passes several times; none for once."""
    shares_blocks = config.states("num_mem_blocks")
    if not shares_blocks and not _visits(config, MAX_LAYERS):
        return ()
    return ("A token passes some of its layers several times; each time is read and cached.",)
