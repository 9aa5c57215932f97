"""A model from its config.json: sizes from the file, the rest from its family.

Nothing is approximated in silence: a family, a kind of layer or a key that changes the layers in a
way not covered here is refused in a sentence that names it.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py (names and
        defaults of the keys) and modeling_*.py (what they build); see data/models/families.csv.
    [2] The model cards and config.json files that the tests quote.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.errors import InputError, Refusal
from advisor.model.architecture import (
    LAYER_TABLES,
    Architecture,
    Group,
    LayerCache,
    Shapes,
    Tensor,
    tensors,
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
from advisor.model.config.own_layers import families, parts
from advisor.model.config.values import (
    MAX_LAYERS,
    Config,
    FamilyRow,
    fixed_facts,
    language_config,
    language_model,
    parse,
    shown,
    spellings,
)
from advisor.model.model import Described
from advisor.model.no_chat import classes, refuse_no_chat_model
from advisor.model.spec import ArchitectureSpec

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


def with_shared_layers(
    config: Config, facts: ArchitectureSpec, architecture: Architecture
) -> tuple[Architecture, tuple[str, ...]]:
    """The architecture with such layers as they are, and a note; unchanged for all other models."""
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
    """A matrix of the feed-forward block as wide as a factor says."""
    if tensor.role not in DENSE_ROLES:
        return tensor
    if tensor.role == "ffn_down":
        return replace(tensor, width=factor * tensor.width)
    return replace(tensor, rows=factor * tensor.rows)


def _layer_inputs(config: Config, facts: ArchitectureSpec, width: int) -> tuple[Tensor, ...]:
    """The second table, its projection, and each layer's gate, as llama.cpp names them."""
    rows = config.required("vocab_size_per_layer_input", "vocab_size")
    hidden = facts.hidden
    all_widths = facts.layers * width
    table = {LAYER_TABLES: (all_widths, rows)}
    projection = {"per_layer_model_proj": (hidden, all_widths)}
    gates: Shapes = {"inp_gate": (hidden, width), "proj": (width, hidden), "post_norm": hidden}
    return (
        *tensors(None, table),
        *tensors(0, projection, group=Group.DENSE_FFN),
        *tensors(0, {"per_layer_proj_norm": width}),
        *(tensor for layer in range(facts.layers) for tensor in tensors(layer, gates)),
    )


# Stored format of a checkpoint, by its name in data/models/recipes.csv.
#
# Toolkits describe it in `quantization_config` of config.json or in hf_quant_config.json, each in
# its own words. A format without a recipe gives an empty name and a note that names it.
#
# References:
#     [1] huggingface/transformers 5.23.0, src/transformers/utils/quantization_config.py.
#     [2] vllm-project/compressed-tensors, `QuantizationScheme`, `CompressionFormat`.
#     [3] NVIDIA/Model-Optimizer, hf_quant_config.json (`quant_algo`).

PLAIN = "BF16-hf"
EXPERTS_ONLY = "MXFP4-hf"
FULL_WORDS = ("float32", "float64", "torch.float32")
USUALLY_LEFT = (
    *("lm_head", "embed", "gate", "router", "norm", "bias", "indexers_proj"),
    *("vision", "visual", "multi_modal", "mtp"),
)


def stored_format(
    config: Config, beside: Mapping[str, object] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Name of the format, empty where it has no recipe, and notes about it."""
    quantization = dict(config.part("quantization_config"))
    inner = (beside or {}).get("quantization")
    quantization |= inner if isinstance(inner, Mapping) else {}
    if not quantization and config.part("quantization"):
        # MLX, Apple's library, writes a second block of that name with bits and group_size.
        quantization = {"quant_method": "mlx", **config.part("quantization")}
    if not quantization:
        kind = config.word("dtype", "torch_dtype")
        note = f"Its file is in {kind}; runtimes load it in 16 bits, as shown here."
        return PLAIN, (note,) if kind in FULL_WORDS else ()
    form, unusual = _named(Config(name=config.name, values=quantization))
    if not form:
        return "", (f"Its weights are stored as {unusual}, for which there is no recipe; choose.",)
    left_out = () if form == EXPERTS_ONLY else _left_out(quantization)
    return form, (*((unusual,) if unusual else ()), *left_out)


def _named(quantization: Config) -> tuple[str, str]:
    """Format with a note, or an empty name with a note that names the format."""
    method = quantization.word("quant_method").casefold()
    algorithm = quantization.word("quant_algo").upper()
    if algorithm:
        form = layer_types.WORDS.of_kind("quant_algo").get(algorithm, "")
        return form, "" if form else algorithm
    if form := layer_types.WORDS.of_kind("quant_method").get(method, ""):
        return form, ""
    if method in ("awq", "gptq"):
        return _integer_groups(method.upper(), quantization)
    if quantization.flag("load_in_8bit"):
        return "bnb-int8", ""
    if quantization.flag("load_in_4bit"):
        return _bitsandbytes(quantization)
    if method in ("compressed-tensors", "modelopt", "modelopt_fp4", ""):
        return _compressed(quantization)
    return "", method


def _integer_groups(form: str, quantization: Config) -> tuple[str, str]:
    bits = quantization.whole("bits", "w_bit")
    if bits != 4:
        return "", f"{form} of {bits} bits"
    group = quantization.raw("group_size", "q_group_size")[1]
    usual = group in (None, 128)
    return form, (
        "" if usual else f"Its groups have {shown(group)} weights; the recipe {form} counts 128."
    )


def _bitsandbytes(quantization: Config) -> tuple[str, str]:
    kind = quantization.word("bnb_4bit_quant_type") or "fp4"
    if kind != "nf4":
        return "", f"bitsandbytes {kind}"
    packed = quantization.flag("bnb_4bit_use_double_quant")
    return "bnb-nf4", "" if packed else "Its scales are 32-bit; the recipe counts packed ones."


def _compressed(quantization: Config) -> tuple[str, str]:
    kinds = {
        _weights(quantization, group)
        for group in quantization.part("config_groups").values()
        if isinstance(group, Mapping)
    }
    if len(kinds) == 1:
        return kinds.pop()
    return "", "a mix of several types" if kinds else "an undescribed type"


def _weights(quantization: Config, group: Mapping[str, object]) -> tuple[str, str]:
    inner = group.get("weights")
    weights = Config(name=quantization.name, values=inner if isinstance(inner, Mapping) else {})
    bits = weights.whole("num_bits")
    kind = weights.word("type")
    size = weights.raw("group_size")[1]
    match kind, bits, size:
        case "float", 8, _:
            return "FP8", ""
        case "float", 4, 16:
            return "NVFP4", ""
        case "float", 4, 32:
            return EXPERTS_ONLY, ""
        case "int", 4, 128:
            return "GPTQ", "compressed-tensors, 4 bits in groups of 128: as large as GPTQ."
    return "", f"{kind or 'unknown'} weights of {bits} bits in groups of {shown(size)}"


def _left_out(quantization: Mapping[str, object]) -> tuple[str, ...]:
    """A note where more than the customary parts stay in 16 bits, so that the file is larger."""
    for key in ("ignore", "modules_to_not_convert", "exclude_modules"):
        listed = quantization.get(key)
        if isinstance(listed, list | tuple):
            entries = listed
        else:
            entries = ()
        modules = [entry for entry in entries if isinstance(entry, str)]
        unusual = [module for module in modules if not any(map(module.__contains__, USUALLY_LEFT))]
        if unusual:
            return (
                f"{len(unusual)} of its modules stay in 16 bits ({unusual[0][:60]} ...), so its "
                "file is larger than the recipe says.",
            )
    return ()


SIZES = ("hidden", "vocab", "heads", "layers")
MOST_WEIGHTS = 1e15  # several hundred times the largest model that is published


def describe(
    text_or_dict: str | Mapping[str, object], name: str, beside: Mapping[str, object] | None = None
) -> Described:
    """A model from its config.json, and from hf_quant_config.json where it has one beside.

    Raises:
        Refusal: a family, layer or key that is not known, named.
        InputError: no JSON, or a value that cannot be.
    """
    whole = parse(text_or_dict, name)
    refuse_no_chat_model(name, str(whole.get("model_type")), *classes(whole.get("architectures")))
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
    form, format_notes = stored_format(values, beside)
    return Described(
        architecture=_plausible(architecture),
        model=None,
        format=form,
        source=architecture.source,
        notes=(*_notes(whole, values), *shared, *format_notes),
        facts={
            "model_type": values.word("model_type"),
            **pattern,
            "dtype": values.word("dtype", "torch_dtype"),
        },
    )


def facts_of(config: Config, family: FamilyRow) -> ArchitectureSpec:
    """The numbers of a model of like layers, without what its layers share."""
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


MODULES = {"families": families, "parts": parts}
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
    """The facts, unless their sizes contradict each other."""
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
    """The architecture, unless it has more weights than any machine could hold."""
    params = Decimal(architecture.params)  # it may be more than a float holds
    if params > MOST_WEIGHTS:
        raise InputError(
            f"The config.json of {architecture.name} makes {params:.0e} weights, more than "
            f"{MOST_WEIGHTS:.0e}; one of its sizes is wrong."
        )
    return architecture


def _notes(whole: Mapping[str, object], config: Config) -> tuple[str, ...]:
    notes = []
    if language_model(whole) is not whole:
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
    if config.whole("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"):
        notes.append("Its layers for predicting several tokens at once are left out.")
    return tuple(notes)
