"""A model from its config.json: sizes from the file, the rest from its family.

Nothing is approximated in silence: a family, a kind of layer or a key that changes the layers in a
way not covered here is refused in a sentence that names it.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py (names and
        defaults of the keys) and modeling_*.py (what they build); see data/models/families.csv.
    [2] The model cards and config.json files that the tests quote.
"""

from collections.abc import Mapping
from typing import Any

from advisor.errors import InputError, Refusal
from advisor.model.architecture import Architecture
from advisor.model.build import build
from advisor.model.config import layer_types
from advisor.model.config.attention import HEADS, HIDDEN, attention, linear_attention, state_space
from advisor.model.config.families import FamilyRow, fixed_facts, language_config
from advisor.model.config.feed_forward import feed_forward
from advisor.model.config.kv_sharing import SharedLayers, shared_layers, with_shared_layers
from advisor.model.config.own_layers.builders import own_architecture
from advisor.model.config.stored_format import stored_format
from advisor.model.config.values import Config, language_model, parse
from advisor.model.description import Described
from advisor.model.spec import ArchitectureSpec

VOCAB = ("vocab_size", "padded_vocab_size")
SIZES = (HIDDEN, VOCAB, HEADS, layer_types.LAYERS)

NOT_COVERED = {
    "compress_ratios": "attention that compresses keys and values",
    "block_configs": "layers that each have a width of their own",
    "hybrid_layer_pattern": "a layer pattern of its own notation",
    "linear_attn_config": "Kimi Delta Attention",
    "sparse_attention_config": "sparse attention with an index of its own",
    "attn_res_block_size": "residuals across blocks",
    "o_lora_rank": "a low-rank attention output",
    "hc_mult": "a residual stream of several streams",
    "altup_num_inputs": "a residual stream of several streams",
    "laurel_rank": "low-rank bypasses of its layers",
    "attention_output_gate": "a gate on its attention output",
    "mla_use_output_gate": "a gate on its latent attention",
    "use_cla": "keys and values shared across layers",
    "cross_attention_layers": "layers that attend to an image",
    "attn_layer_period": "attention layers among state-space layers",
    "expert_layer_period": "expert layers among state-space layers",
    "mamba_d_state": "state-space layers of another kind",
    "zero_expert_num": "experts that compute nothing",
    "mamba_proj_bias": "biases in its state-space projections",
    "pruned_heads": "attention heads that were removed",
}
"""Keys that change the layers in ways that no formula of this package has; see
data/models/models.csv."""


def facts_from_config(config: Mapping[str, object], name: str) -> ArchitectureSpec:
    """The numbers of a model from its config.json.

    Args:
        config: the file's object; a nested language model is found.
        name: as the model will be shown.

    Raises:
        Refusal: a family, layer or key that is not known, named; or parts that these numbers
            cannot express (layers that share a cache), which `describe` can.
        InputError: a value that cannot be.
    """
    values, family = language_config(name, config)
    if shared_layers(values, layer_types.layer_count(values)):
        raise Refusal(
            f"{name} has layers that reuse the cache of others or inputs of their own, which no "
            "table of sizes expresses; describe() builds it layer by layer."
        )
    return _facts(values, family)


def describe(
    text_or_dict: str | Mapping[str, object],
    name: str,
    beside: Mapping[str, object] | None = None,
) -> Described:
    """A model from its config.json.

    Args:
        text_or_dict: the file, as text or parsed.
        name: as the model will be shown.
        beside: hf_quant_config.json, where the model has one.

    Raises:
        Refusal: as `facts_from_config`.
        InputError: no JSON, or a value that cannot be.
    """
    whole = parse(text_or_dict, name)
    values, family = language_config(name, whole)
    own = own_architecture(values, family)
    if own is not None:
        return _described(whole, values, own, beside)
    facts = _facts(values, family)
    shared = shared_layers(values, facts.layers)
    form, format_notes = stored_format(values, beside)
    return Described(
        architecture=with_shared_layers(build(facts), facts, shared),
        model=None,
        format=form,
        source=facts.source,
        notes=(*_notes(whole, values, shared), *format_notes),
        facts={
            "model_type": values.word("model_type"),
            "layer_pattern": facts.layer_pattern,
            "dtype": values.word("dtype", "torch_dtype"),
        },
    )


def _described(
    whole: Mapping[str, object],
    values: Config,
    architecture: Architecture,
    beside: Mapping[str, object] | None,
) -> Described:
    """A family that is built layer by layer."""
    form, format_notes = stored_format(values, beside)
    return Described(
        architecture=architecture,
        model=None,
        format=form,
        source=architecture.source,
        notes=(*_notes(whole, values, None), *format_notes),
        facts={
            "model_type": values.word("model_type"),
            "dtype": values.word("dtype", "torch_dtype"),
        },
    )


def _facts(config: Config, family: FamilyRow) -> ArchitectureSpec:
    _refuse_what_is_not_covered(config)
    layers = layer_types.layer_count(config)
    pattern = layer_types.layer_pattern(config, layers)
    facts: dict[str, Any] = {
        "name": config.name,
        "layers": layers,
        "layer_pattern": pattern,
        "hidden": config.required(*HIDDEN),
        "vocab": config.required(*VOCAB),
        "tied": config.flag("tie_word_embeddings"),
        "positions": _positions(config, family),
        "max_context": config.whole(*layer_types.CONTEXT) or None,
        "source": f"config.json of {config.name}",
        "note": family.note,
        **attention(config, pattern),
        **linear_attention(config, pattern),
        **state_space(config, pattern),
        **fixed_facts(config, family),
    }
    facts |= feed_forward(config, layers, pattern, facts)
    return _checked(config, ArchitectureSpec(**facts))


def _positions(config: Config, family: FamilyRow) -> int:
    """Rows of a learned position table; a model with slopes or rotary positions has none."""
    if family.learned_beyond is None:
        return 0
    return config.required(*layer_types.CONTEXT) + family.learned_beyond


def _refuse_what_is_not_covered(config: Config) -> None:
    for key, meaning in NOT_COVERED.items():
        value = config.values.get(key)
        if value not in (None, False, 0, "", [], {}):
            raise Refusal(
                f"{config.name} has {meaning} ({key} in its config.json), for which this program "
                "has no formula. A GGUF file of it tells its sizes."
            )
    inner = config.optional("word_embed_proj_dim")
    if inner and inner != config.required(*HIDDEN):
        raise Refusal(
            f"{config.name} has an embedding narrower than its layers (word_embed_proj_dim "
            f"{inner}), for which this program has no formula."
        )
    if config.whole("kv_lora_rank") and config.flag("attention_bias"):
        raise Refusal(f"{config.name} has biases in its latent attention, which are not covered.")


def _checked(config: Config, facts: ArchitectureSpec) -> ArchitectureSpec:
    """The facts, unless their sizes contradict each other."""
    if facts.kv_heads and facts.heads % facts.kv_heads:
        raise InputError(
            f"The config.json of {config.name} has {facts.heads} query heads on {facts.kv_heads} "
            "key heads; the first must be a multiple of the second."
        )
    return facts


def _notes(
    whole: Mapping[str, object], config: Config, shared: SharedLayers | None
) -> tuple[str, ...]:
    notes = []
    if language_model(whole) is not whole:
        notes.append("The language model only; towers for images or sound are left out.")
    missing = [keys[0] for keys in SIZES if not config.states(*keys)]
    if "num_hidden_layers" in missing and layer_types.single_blocks(config):
        missing.remove("num_hidden_layers")
    if missing:
        kind = config.word("model_type")
        notes.append(
            f"config.json does not say {', '.join(missing)}; the defaults of {kind} in "
            "transformers 5.23.0 stand in."
        )
    if config.whole("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"):
        notes.append("Its layers for predicting several tokens at once are left out.")
    if shared:
        notes.append(shared.note)
    return tuple(notes)
