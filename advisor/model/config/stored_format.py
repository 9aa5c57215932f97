"""Stored format of a checkpoint's weights, from its config.json and the file beside it.

Toolkits describe it in `quantization_config` (MLX in `quantization`) of config.json or in a file
beside it (`BESIDE`), each in its own words. Formats with a recipe have its name; any other that
states its bits has the name of a packing (`packings`). Where the bits are not stated the name is
empty. Modules that the quantizer treated apart, usually in 16 bits, are patterns with the format of
each.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/utils/quantization_config.py.
    [2] vllm-project/compressed-tensors, `QuantizationScheme`, `CompressionFormat`.
    [3] NVIDIA/Model-Optimizer, hf_quant_config.json (`quant_algo`, `quantized_layers`).
    [4] ml-explore/mlx-lm, utils.py (`quantization`, with an object for each module of its own).
    [5] ModelCloud/GPTQModel (`dynamic`, quantize_config.json), intel/auto-round (`extra_config`).
    [6] casper-hansen/AutoAWQ, awq/models/_config.py (`w_bit`, `q_group_size`; quant_config.json).
    [7] huggingface/transformers, docs/source/en/quantization/vptq.md (bits of the centroids).
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.model.architecture import Architecture
from advisor.model.config.layer_types import WORDS
from advisor.model.config.values import Config, shown
from advisor.model.formats import Format, StorageType
from advisor.model.model import Model
from advisor.model.modules import REGEX, ModulePatterns, module_paths
from advisor.model.packings import Packing
from advisor.units import GIB

BESIDE = (
    "hf_quant_config.json",  # ModelOpt [3]
    "quantize_config.json",  # AutoGPTQ and GPTQModel [5]
    "quant_config.json",  # AutoAWQ before its keys moved into config.json [6]
    "quantization_config.json",  # auto-round beside its own keys [5]
)
"""Files beside a config.json that tell the format of the weights, the first that is there."""
PLAIN = "BF16-hf"
EXPERTS_ONLY = "MXFP4-hf"
FORMER_KEY = "compression_config"  # of compressed-tensors before `quantization_config` [1]
FLOAT8 = (
    "Its config.json says 8-bit floats and names no tool: a byte for each weight of its layers."
)
FULL_WORDS = ("float32", "float64", "torch.float32")
USUALLY_LEFT = (
    *("lm_head", "embed", "gate", "router", "norm", "bias", "indexers_proj"),
    *("vision", "visual", "multi_modal", "mtp", "audio", "conv1d"),
)
LEFT_OUT = (
    *("ignore", "modules_to_not_convert", "exclude_modules", "exclude", "skip_modules"),
    *("ignored_layers", "llm_int8_skip_modules", "linear_weights_not_to_quantize"),
)
"""Keys whose lists name modules that stay in 16 bits."""
BITS = ("bits", "nbits", "w_bit", "num_bits", "weight_bits", "wbits", "n_bits", "bpw")
GROUPS = ("group_size", "q_group_size", "weight_group_size", "groupsize", "beta1", "block_size")
TYPES = (
    *("quant_algo", "weights_dtype", "weight_dtype", "weights", "dtype", "data_type", "qtype"),
    *("quant_type", "_type", "forward_dtype", "type", "fmt", "mode", "format", "quant_method"),
)
"""Keys of a file's own words for the type of its weights."""
WEIGHT_WORD = re.compile(
    r"(?:^|[^a-z])w(?P<w>\d)a\d+|(?P<kind>u?int|float|fp|mxfp|nvfp)(?P<bits>\d)(?:_e\d+m\d+\w*)?_?weight"
    r"|(?P<first>u?int|float|fp|mx_?fp|nv_?fp)(?P<of_first>\d)|(?P<alone>(?:mx|nv)_?fp)",
    re.IGNORECASE,
)
"""`W4A16`, `Int8DynamicActivationInt4WeightConfig`, `float8_e4m3fn`: the bits of the weights;
`mx_fp`: their kind alone."""
BITNET_BITS = 2  # four ternary weights in a byte [bit]
DEEPEST = 4  # objects within objects that are searched
Modules = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class StoredFormat:
    """Format of a checkpoint's weights."""

    name: str  # format; empty where the bits of the weights are not stated
    notes: tuple[str, ...] = ()  # sentences for the user
    modules: Mapping[str, str] = field(default_factory=dict)  # other format by pattern of modules
    words: str = ""  # the file's own words for a format whose bits are not stated


def stored_format(config: Config, beside: Mapping[str, object] | None = None) -> StoredFormat:
    """Format of a model's weights, from its config.json and from a file of `BESIDE`."""
    quantization = _quantization(config, beside)
    if not quantization:
        kind = config.word("dtype", "torch_dtype")
        if kind.removeprefix("torch.").startswith("float8"):
            return StoredFormat(name="FP8", notes=(FLOAT8,))
        note = f"Its file is in {kind}; runtimes load it in 16 bits, as shown here."
        return StoredFormat(name=PLAIN, notes=(note,) if kind in FULL_WORDS else ())
    told = Config(name=config.name, values=quantization)
    name, note = _of_whole(told)
    if _names_its_modules(told):
        name = PLAIN
    packed_alone = dict.fromkeys(_packed_alone(quantization), name)
    if name and packed_alone:
        name = PLAIN
    modules = packed_alone | _apart(told) | dict.fromkeys(_left_out(quantization), PLAIN)
    if not name and modules and any(form != PLAIN for form in modules.values()):
        name = PLAIN  # a file that states the format of some modules leaves the others as they are
    if not name:
        return StoredFormat(name="", words=note)
    experts_alone = name == EXPERTS_ONLY
    return StoredFormat(
        name=name, notes=(note,) if note else (), modules={} if experts_alone else modules
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptModulesRow:
    """One row of data/models/checkpoint_modules.csv: formats of modules, from a repository's
    files.
    """

    repository: str  # `owner/name`
    format: str  # format of most modules
    modules: str  # patterns of others, `pattern; pattern=FORMAT`; 16 bits without a format


@cache
def published_formats() -> Mapping[str, StoredFormat]:
    """Formats of repositories whose files were read, by name in lower case."""
    rows = read(DATA / MODULES, KeptModulesRow)
    return {row.repository.casefold(): _published(row) for row in rows}


MODULES = "models/checkpoint_modules.csv"


def _published(row: KeptModulesRow) -> StoredFormat:
    patterns = [part.strip() for part in row.modules.split(";")]
    stated = (part if "=" in part else f"{part}={PLAIN}" for part in patterns)
    return StoredFormat(name=row.format, modules=dict(assignments("; ".join(stated), MODULES)))


ATTENTION = ("*.self_attn*", "*.linear_attn*", "*.mixer.?_proj")
"""Modules that publishers of NVFP4 often leave in 16 bits; 16 of the 18 of the table do."""
WORTH_SAYING = 1.05  # factor of a model's size from which a range is said


def stored_by_name(text: str, form: str) -> StoredFormat:
    """Format of a model's weights by its name: as its repository's files have it, or one format for
    all modules.
    """
    last = text.strip().casefold()
    for repository, stored in published_formats().items():
        if last in (repository, repository.rpartition("/")[2]):
            return stored
    return StoredFormat(name=form)


def range_note(architecture: Architecture, size: float, stored: StoredFormat) -> str:
    """Note on the modules that an NVFP4 checkpoint may hold in 16 bits; empty where its files are
    known.
    """
    if stored.name != "NVFP4" or stored.modules:
        return ""
    apart = StoredFormat(name=stored.name, modules=dict.fromkeys(ATTENTION, PLAIN))
    larger, _ = in_stored_format(architecture, apart)
    if larger is None or larger.file_bytes < WORTH_SAYING * size:
        return ""
    return (
        f"All its matrices are counted in {stored.name}, {size / GIB:,.1f} GB; with attention in "
        f"16 bits, as many publishers leave it, it has {larger.file_bytes / GIB:,.1f} GB. The "
        "config.json of the repository tells which."
    )


def in_stored_format(architecture: Architecture, stored: StoredFormat) -> tuple[Model | None, str]:
    """Architecture with the stored types of its modules, and a note on modules of another format.

    None and an empty note where a recipe says all. The model is called by the format that most of
    its weights have.
    """
    if not stored.modules or not stored.name:
        return None, ""
    chosen = _forms(architecture, stored)
    forms = [form for form, _ in chosen]
    types = {form: Format.named(form).tensor_types(architecture) for form in set(forms)}
    of_layers = {form: _type_of_most(architecture, types[form]) for form in types}
    kinds = [
        of_layers[form] if named and architecture.tensors[at].role in ENDS else types[form][at]
        for at, (form, named) in enumerate(chosen)
    ]
    weights: Counter[str] = Counter()
    for tensor, form in zip(architecture.tensors, forms, strict=True):
        weights[form] += tensor.params
    most = weights.most_common(1)[0][0]
    alike = Format.named(most).tensor_types(architecture)
    if all(kind.bits_per_weight == usual.bits_per_weight for kind, usual in _pairs(kinds, alike)):
        return None, _unknown_modules(stored)
    model = Model.from_tensors(architecture, kinds, Format.named(most).name)
    return model, _note_of_modules(architecture, stored, model, alike)


ENDS = ("token_embd", "output")
"""Token table and head, which tools pack where a file names them, whatever they do otherwise."""


def _forms(architecture: Architecture, stored: StoredFormat) -> list[tuple[str, bool]]:
    """Format of each tensor, in order, and whether the file names its module rather than many."""
    patterns = ModulePatterns(meanings=stored.modules)
    matches = ((patterns.of(paths), paths) for _, paths in module_paths(architecture))
    return [
        (stored.name, False)
        if match is None
        else (match[1], any(path in match[0] for path in paths))
        for match, paths in matches
    ]


def _type_of_most(architecture: Architecture, types: Iterable[StorageType]) -> StorageType:
    """Storage type of most weights of the layers."""
    weights: Counter[StorageType] = Counter()
    for tensor, kind in zip(architecture.tensors, types, strict=True):
        weights[kind] += tensor.params if tensor.layer is not None else 0
    return weights.most_common(1)[0][0]


def _pairs(
    kinds: Iterable[StorageType], others: Iterable[StorageType]
) -> Iterator[tuple[StorageType, StorageType]]:
    return zip(kinds, others, strict=True)


def _unusual(stored: StoredFormat) -> list[str]:
    """Modules that quantizers do not usually leave as they are."""
    return [name for name in stored.modules if not any(part in name for part in USUALLY_LEFT)]


def _unknown_modules(stored: StoredFormat) -> str:
    unusual = _unusual(stored)
    if not unusual:
        return ""
    return (
        f"{len(unusual):,} of its modules stay in 16 bits ({unusual[0][:60]} ...), which are none "
        "of the weights counted here."
    )


def _note_of_modules(
    architecture: Architecture, stored: StoredFormat, model: Model, alike: Iterable[StorageType]
) -> str:
    """Bytes that modules in 16 bits or another format add to those of a single format."""
    more = (model.file_bytes - sum(map(StorageType.bytes_of, alike, architecture.tensors))) / GIB
    first = (_unusual(stored) or list(stored.modules))[0]
    than = "more" if more >= 0 else "less"
    return (
        f"Its files keep some modules in 16 bits or in another format ({first[:60]} ...): "
        f"{abs(more):,.1f} GB {than} than all of them in {model.format}."
    )


def _quantization(config: Config, beside: Mapping[str, object] | None) -> dict[str, object]:
    """Quantization that a file and the file beside it state together."""
    quantization = dict(config.part("quantization_config") or config.part(FORMER_KEY))
    inner = (beside or {}).get("quantization")
    if isinstance(inner, Mapping):
        quantization |= inner
    elif beside and not quantization:
        quantization = _of_file_alone(beside)
    of_mlx = config.part("quantization")
    if of_mlx and "quant_method" not in quantization:
        # MLX, Apple's library, writes a block of that name, and a copy of it as the usual one.
        quantization = {"quant_method": "mlx", **quantization, **of_mlx}
    return quantization | _of_listed_modules(quantization)


def _of_listed_modules(quantization: Mapping[str, object]) -> dict[str, object]:
    """Modules of a file under the key `modules`, where torchao or HQQ lists them deeper."""
    kind = _object(_object(quantization, "quant_type"), "default")
    of_torchao = _object(kind, "_data")
    for key in ("module_fqn_to_config", "fqn_to_config"):
        listed = dict(_object(of_torchao, key))
        if listed:
            usual = listed.pop("_default", None)
            as_they_are = {name: value or False for name, value in listed.items()}
            return {"quant_type": {"default": usual or {}}, "modules": as_they_are}
    of_hqq = _object(quantization, "quant_config")
    listed = {name: value for name, value in of_hqq.items() if "." in name}
    if listed:
        return {"modules": listed}
    return {}


def _object(values: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Object under a key; empty where there is none."""
    inner = values.get(key)
    if isinstance(inner, Mapping):
        return inner
    return {}


def _of_file_alone(beside: Mapping[str, object]) -> dict[str, object]:
    """Quantization of a file that may state its tool but names no other key for it; empty where it
    states no bits.
    """
    if _number(beside, BITS) is None:
        return {}
    tool = "awq" if "w_bit" in beside else "gptq"
    return {"quant_method": tool, **beside}


def _of_whole(quantization: Config) -> tuple[str, str]:
    """Format of most modules with a note, or an empty name with the file's own words."""
    method = quantization.word("quant_method").casefold()
    algorithm = quantization.word("quant_algo").upper()
    if algorithm and (form := WORDS.of_kind("quant_algo").get(algorithm, "")):
        return form, ""
    if form := WORDS.of_kind("quant_method").get(method, ""):
        return form, ""
    if _is_set(quantization, "load_in_8bit"):
        return "bnb-int8", ""
    if _is_set(quantization, "load_in_4bit"):
        return _bitsandbytes(quantization)
    groups = _config_groups(quantization)
    if groups:
        return _of_groups(quantization, groups)
    packing = _packing(Packing.tool_of_word(method) or "INT", quantization.values)
    if packing is not None:
        return packing
    return "", algorithm or method or "an undescribed type"


def _is_set(quantization: Config, key: str) -> bool:
    """Whether a file of bitsandbytes sets an option, under its key or under the attribute that [1]
    saves.
    """
    return quantization.flag(key) or quantization.flag(f"_{key}")


def _bitsandbytes(quantization: Config) -> tuple[str, str]:
    double = quantization.flag("bnb_4bit_use_double_quant")
    if (quantization.word("bnb_4bit_quant_type") or "fp4") != "nf4":
        note = "4-bit floats of bitsandbytes are as large as its NF4."
        if double:
            return ("bnb-nf4", note)
        return (_spelled(Packing.stated("bnb-FP4", 4)), "")
    return "bnb-nf4", "" if double else "Its scales are 32-bit; the recipe counts packed ones."


# Groups of modules: compressed-tensors, and ModelOpt's copy of its words.


def _config_groups(quantization: Config) -> list[Mapping[str, object]]:
    """Groups of a file that say how their weights are stored."""
    groups = quantization.part("config_groups").values()
    return [
        group
        for group in groups
        if isinstance(group, Mapping) and isinstance(group.get("weights"), Mapping)
    ]


def _of_groups(quantization: Config, groups: list[Mapping[str, object]]) -> tuple[str, str]:
    """Format of the group that takes all matrices; of the only one, whatever it takes."""
    whole = [group for group in groups if not _targets(group)] or groups
    forms = {_of_group(quantization, group) for group in whole}
    if len(forms) == 1:
        return forms.pop()
    return ("", "a mix of several types")


def _names_its_modules(quantization: Config) -> bool:
    """Whether each group lists the modules that it takes, so that all others stay as they are."""
    groups = _config_groups(quantization)
    return bool(groups) and all(map(_targets, groups))


def _targets(group: Mapping[str, object]) -> list[str]:
    """Modules of a group by name or pattern; empty where it takes a class of modules."""
    targets = group.get("targets")
    names = targets if isinstance(targets, list | tuple) else ()
    return [name for name in names if isinstance(name, str) and not re.fullmatch(r"[A-Z]\w*", name)]


def _of_group(quantization: Config, group: Mapping[str, object]) -> tuple[str, str]:
    inner = group.get("weights")
    weights = Config(name=quantization.name, values=inner if isinstance(inner, Mapping) else {})
    bits = weights.optional("num_bits")
    kind = weights.word("type")
    size = weights.raw("group_size")[1]
    if kind == "float" and bits == 8 and size != 32:
        return "FP8", ""
    if kind == "float" and bits == 4 and size == 16:
        return "NVFP4", ""
    if kind == "float" and size == 32 and bits:
        return _spelled(Packing.stated("MX", bits, 32)), ""
    if kind == "int" and (bits, size) == (4, 128):
        return "GPTQ", "compressed-tensors, 4 bits in groups of 128: as large as GPTQ."
    if bits:
        group_size = size if isinstance(size, int) and size > 0 else 0
        return _spelled(Packing.stated("INT", bits, group_size)), ""
    return "", f"{kind or 'unknown'} weights in groups of {shown(size)}"


# Bits and groups, wherever a file states them.


def _packing(tool: str, values: Mapping[str, object]) -> tuple[str, str] | None:
    """Format of a tool by the bits and the group that its object states; None without bits."""
    if tool == "AQLM":
        return _of_codebooks(values)
    if tool == "VPTQ":
        return _of_centroids(values)
    if tool == "BitNet":
        return _spelled(Packing.stated(tool, BITNET_BITS)), ""
    kind, of_word = _type_in_words(values)
    stated_bits = _number(values, BITS)
    bits = of_word if stated_bits is None else stated_bits
    if bits is None:
        return None
    if recipe := _of_floats(tool, kind, bits):
        return recipe, ""
    size = _group(values)
    if kind in GROUPS_OF_FLOATS:
        tool = "MLX-FP" if tool == "MLX" else "MX"
        size = size or GROUPS_OF_FLOATS[kind]
    head = int(_number(values, ("head_bits",)) or 0)
    return _spelled(Packing.stated(tool, bits, size, head)), _assumed_group(tool, size)


GROUPS_OF_FLOATS = {"mxfp": 32, "nvfp": 16}  # weights that share a scale, by kind of number


def _of_floats(tool: str, kind: str, bits: float) -> str:
    """Recipe of floats that scale by large blocks or as NVIDIA's; empty for other numbers."""
    if kind in ("float", "fp") and bits == EIGHT:
        return "FP8"
    if kind == "nvfp" and tool != "MLX":
        return "NVFP4"
    return ""


EIGHT = 8  # bits of FP8 [bit]


def _group(values: Mapping[str, object]) -> int | None:
    """Weights that share a scale: 0 for a whole row (written as -1), None where not stated."""
    group = _number(values, GROUPS)
    if group is None:
        return None
    if group >= 1:
        return int(group)
    return 0


def _assumed_group(tool: str, size: int | None) -> str:
    usual = Packing.usual_group(tool)
    if size is not None or not usual:
        return ""
    return f"Its groups are not stated; {usual} weights are usual."


def _of_codebooks(values: Mapping[str, object]) -> tuple[str, str] | None:
    """AQLM: codebooks x bits of a code over the weights of a group."""
    books = _number(values, ("num_codebooks",))
    code = _number(values, ("nbits_per_codebook",))
    group = (_number(values, ("in_group_size",)) or 0) * (_number(values, ("out_group_size",)) or 1)
    if not books or not code or not group:
        return None
    return _spelled(Packing.stated("AQLM", books * code / group)), ""


def _of_centroids(values: Mapping[str, object]) -> tuple[str, str] | None:
    """VPTQ [7]: bits of the indices of a vector of weights, and of its residual's; of a whole file,
    of the first layer that it lists.

    log2(centroids) / length + log2(residual centroids) / length
    """
    layers = (value for value in _object(values, "config_for_layers").values())
    told = next((layer for layer in layers if isinstance(layer, Mapping)), values)
    length, centroids, residual = (
        _last(told.get(key)) for key in ("vector_lens", "num_centroids", "num_res_centroids")
    )
    if length < 1 or centroids <= 1:
        return None
    bits = (math.log2(centroids) + math.log2(max(residual, 1.0))) / length
    return _spelled(Packing.stated("VPTQ", bits)), ""


def _last(value: object) -> float:
    """Last number of a list, which is that of columns without outliers; 0 without one."""
    numbers = value if isinstance(value, list | tuple) else [value]
    last = numbers[-1] if numbers else None
    if isinstance(last, int | float) and math.isfinite(last):
        return float(last)
    return 0.0


def _spelled(packing: Packing) -> str:
    """Name of a packing, or of the recipe with the same weights."""
    return AS_RECIPE.get(packing.name, packing.name)


AS_RECIPE = {"GPTQ-4bit-g128": "GPTQ", "AWQ-4bit-g128": "AWQ"}
"""Recipes that are packings of their tool's usual bits and groups."""


def _number(values: Mapping[str, object], keys: Iterable[str], depth: int = 0) -> float | None:
    """First number under some keys, in an object or those within it."""
    for key in keys:
        value = values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    if depth >= DEEPEST:
        return None
    for name, value in values.items():
        # What a file says of activations, of the cache or of single modules is not of all weights.
        if isinstance(value, Mapping) and not _aside(name):
            number = _number(value, keys, depth + 1)
            if number is not None:
                return number
    return None


ASIDE = ("input", "output", "activation", "kv_cache", "cache", "bias", "layer", "extra", "dynamic")


def _aside(name: str) -> bool:
    """Whether an object describes something other than the weights of all modules."""
    return "." in name or any(word in name for word in ASIDE)


def _type_in_words(values: Mapping[str, object], depth: int = 0) -> tuple[str, float | None]:
    """Kind of number (`int`, `float`, `mxfp`) and bits, by the words of a file."""
    for key in TYPES:
        value = values.get(key)
        kind = _type_of_word(value) if isinstance(value, str) else None
        if kind is not None:
            return kind
    for name, value in values.items():
        if isinstance(value, Mapping) and not _aside(name) and depth < DEEPEST:
            packed, bits = _type_in_words(value, depth + 1)
            if bits is not None:
                return packed, bits
    return "", None


def _type_of_word(word: str) -> tuple[str, float | None] | None:
    of_weights: tuple[str, float | None] | None = None
    for match in WEIGHT_WORD.finditer(word[:200]):
        if match["alone"]:
            return _kind(match["alone"]), None
        if match["w"]:
            return "int", float(match["w"])
        if match["bits"]:
            return _kind(match["kind"]), float(match["bits"])
        of_weights = of_weights or (_kind(match["first"]), float(match["of_first"]))
    return of_weights


def _kind(word: str) -> str:
    lowered = word.casefold().replace("_", "")
    if lowered.endswith("int"):
        return "int"
    return lowered


# Modules that are treated apart.


def _left_out(quantization: Mapping[str, object]) -> Iterator[str]:
    """Modules that stay in 16 bits."""
    for key in LEFT_OUT:
        listed = quantization.get(key)
        if isinstance(listed, list | tuple):
            yield from (entry for entry in listed if isinstance(entry, str) and entry)


def _packed_alone(quantization: Mapping[str, object]) -> Iterator[str]:
    """Modules that a quantizer packs where it leaves all others, by GPTQ's key of [1]."""
    yield from _texts(quantization.get("modules_in_block_to_quantize"))


def _texts(value: object) -> Iterator[str]:
    """Texts of a list, and of lists within it."""
    if isinstance(value, str) and value:
        yield value
    if isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _apart(quantization: Config) -> Modules:
    """Formats of modules that have their own, by pattern."""
    values = quantization.values
    tool = Packing.tool_of_word(quantization.word("quant_method").casefold()) or "INT"
    modules: Modules = {}
    for group in _config_groups(quantization):
        form, _ = _of_group(quantization, group)
        modules |= dict.fromkeys(_targets(group), form or PLAIN)
    for key in ("quantized_layers", "layer_quant_config", "modules"):
        modules |= _of_modules(tool, values.get(key))
    listed = _of_modules(tool, values.get("extra_config"))
    modules |= {
        f"{REGEX if _is_expression(name) else ''}{name}": form for name, form in listed.items()
    }
    modules |= _dynamic(tool, values.get("dynamic"))
    if tool == "VPTQ":
        modules |= _of_modules(tool, values.get("config_for_layers"))
    if values.get("lm_head") is True:
        form, _ = _of_whole(quantization)  # GPTQModel and AutoRound pack the head where told [5]
        modules |= {"lm_head": form} if form else {}
    if tool == "MLX":
        own = {k: v for k, v in values.items() if "." in k or isinstance(v, Mapping)}
        modules |= _of_modules(tool, own)
        modules |= {k: PLAIN for k, v in values.items() if v is False}
    return modules


def _of_modules(tool: str, listed: object) -> Modules:
    """Formats by module; False, 16 bits or nothing stated leaves a module as it is."""
    if not isinstance(listed, Mapping):
        return {}
    return {name: _of_module(tool, value) for name, value in listed.items() if value is not None}


def _of_module(tool: str, value: object) -> str:
    if not isinstance(value, Mapping):
        return PLAIN
    algorithm = value.get("quant_algo")
    if isinstance(algorithm, str):
        return WORDS.of_kind("quant_algo").get(algorithm.upper(), PLAIN)
    bits = _number(value, BITS)
    if bits is not None and bits >= 16:
        return PLAIN
    packing = _packing(tool, value)
    if packing:
        return packing[0]
    return PLAIN


def _is_expression(name: str) -> bool:
    """Whether auto-round's name of modules is a regular expression: `.*down_proj.*`."""
    return any(mark in name for mark in (".*", ".+", "\\", "^", "$", "("))


def _dynamic(tool: str, listed: object) -> Modules:
    """GPTQModel's rules: `-:` leaves modules as they are, `+:` or nothing gives others."""
    if not isinstance(listed, Mapping):
        return {}
    return {
        f"{REGEX}{name[2:] if name[:2] in ('-:', '+:') else name}": (
            PLAIN if name.startswith("-:") else _of_module(tool, value)
        )
        for name, value in listed.items()
        if isinstance(name, str)
    }
