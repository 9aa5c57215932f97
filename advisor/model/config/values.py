"""Typed, bounded reading of a config.json from an untrusted source.

A size is asked for by its field of `ArchitectureSpec`, whose keys are a row of
data/models/config_keys.csv; all else by its key. A key that is present decides, `null` included
(`"sliding_window": null` switches the window off whatever the family's default); an absent key
takes the family's default. Every value is checked where it is read, so a hostile file ends in a
sentence and never in a traceback.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache
from typing import TypeVar

from advisor.catalog.csv_tables import DATA, assignments, read, texts
from advisor.errors import InputError, Refusal, UnknownName

Item = TypeVar("Item")

MAX_TEXT = 4_000_000
"""Characters of a config.json; the longest published one lists its modules in 3.1 million."""
MAX_NUMBER = 10**9
"""Larger than any size, rank or count of a model; a context of 10**9 tokens is the largest."""
MAX_LAYERS = 1000  # repeating layers; published models have at most a few hundred
NESTED = ("thinker_config", "text_config", "llm_config", "language_config")
"""Keys under which multimodal models keep their language model."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Values of a config.json, or of its part on the language model."""

    name: str  # name of the model, for messages
    values: Mapping[str, object]  # content of the file
    # defaults of the family for absent keys
    defaults: Mapping[str, object] = field(default_factory=dict)

    def states(self, *keys: str) -> bool:
        """Whether the file itself has one of the keys with a value other than null."""
        return any(self.values.get(name) is not None for key in keys for name in spellings(key))

    def raw(self, *keys: str) -> tuple[str, object]:
        """First key that has a value, and the value; the first key and None where none has one."""
        names = [name for key in keys for name in spellings(key)]
        for source in (self.values, self.defaults):
            for name in names:
                if source.get(name) is not None:
                    return name, source[name]
            if any(name in source for name in names):
                break
        return names[0], None

    def optional(self, *keys: str, low: int = 0, high: int = MAX_NUMBER) -> int | None:
        """Whole number, None where absent or null."""
        key, value = self.raw(*keys)
        if value is None:
            return None
        value = _alike(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(key, value, f"a whole number from {low:,} to {high:,}")
        return value

    def whole(self, *keys: str, low: int = 0, high: int = MAX_NUMBER) -> int:
        """Whole number, 0 where absent or null."""
        return self.optional(*keys, low=low, high=high) or 0

    def required(self, *keys: str, low: int = 1, high: int = MAX_NUMBER) -> int:
        """Whole number that the model cannot be described without."""
        number = self.optional(*keys, low=low, high=high)
        if number is None:
            names = " or ".join(name for key in keys for name in spellings(key))
            raise InputError(
                f"The config.json of {self.name} does not say {names}, and its family has no "
                "default. Is it the file of the whole model?"
            )
        return number

    def sizes(self, *fields: str) -> dict[str, int]:
        """Whole numbers that the model cannot be described without, by field."""
        return {field: self.required(field) for field in fields}

    def flag(self, key: str) -> bool:
        """True or false; false where absent or null."""
        _, value = self.raw(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return bool(value)

    def word(self, *keys: str) -> str:
        """Text, empty where absent or null."""
        key, value = self.raw(*keys)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, value, "a text")
        return value or ""

    def words(self, key: str) -> tuple[str, ...]:
        """List of texts, empty where absent or null."""
        return tuple(self._item(key, item, str, "a list of texts") for item in self._list(key))

    def numbers(self, key: str) -> tuple[int, ...]:
        """List of whole numbers, empty where absent or null."""
        return tuple(self._item(key, item, int, "a list of numbers") for item in self._list(key))

    def part(self, key: str) -> Mapping[str, object]:
        """Nested object, empty where absent or null."""
        _, value = self.raw(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.wrong(key, value, "an object")
        return value or {}

    def wrong(self, key: str, value: object, expected: str) -> InputError:
        """Error for a value that does not suit its key."""
        return InputError(
            f"The config.json of {self.name} has {key} = {shown(value)}, "
            f"but it must be {expected}. Check the file."
        )

    def _list(self, key: str) -> list[object]:
        _, value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple) or len(value) > MAX_LAYERS:
            raise self.wrong(key, value, f"a list of at most {MAX_LAYERS} entries")
        return list(value)

    def _item(self, key: str, value: object, kind: type[Item], expected: str) -> Item:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.wrong(key, value, expected)
        return value


def _alike(value: object) -> object:
    """Number that a list has for every layer; the value itself where they differ."""
    if (
        isinstance(value, list | tuple)
        and len(value) > 1
        and all(item == value[0] for item in value)
    ):
        return value[0]
    return value


@cache
def spellings(field: str) -> Sequence[str]:
    """Keys of a config.json that state a field of `ArchitectureSpec`; of another name the name
    itself.
    """
    return texts("models/config_keys.csv", "field", "keys").get(field, field).split()


def shown(value: object) -> str:
    """Short text of a value for a message."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, Mapping):
        return f"an object of {len(value)} entries"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)} entries"
    return repr(value)[:60]


def parse(text: str | Mapping[str, object], name: str) -> Mapping[str, object]:
    """Config.json as an object."""
    if not isinstance(text, str):
        return text
    if len(text) > MAX_TEXT:
        raise InputError(
            f"The config.json of {name} has {len(text):,} characters; more than {MAX_TEXT:,} are "
            "not read. Real ones are far shorter: is it another file?"
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"The config.json of {name} is not readable JSON ({str(error)[:120]}). "
            "Give the model's own file, unchanged."
        ) from error
    if not isinstance(value, dict):
        raise InputError(f"The config.json of {name} is {shown(value)}; it must be an object.")
    return value


def language_model(values: Mapping[str, object]) -> Mapping[str, object]:
    """Values of the language model, with those that it inherits from the whole file.

    The part's own values win; `tie_word_embeddings`, `model_type`, the quantization and the rest
    are taken from the whole where the part does not state them, as transformers does for these.
    """
    for key in NESTED:
        part = values.get(key)
        if isinstance(part, Mapping) and part:
            inherited = {name: value for name, value in values.items() if name in INHERITED}
            within = {name: value for name, value in part.items() if name != key}
            return language_model({**inherited, **within})
    return values


INHERITED = (
    *("tie_word_embeddings", "quantization_config", "compression_config", "quantization"),
    *("architectures", "model_type", "dtype", "torch_dtype"),
)


# Facts of a model family that its config.json leaves out, from data/models/families.csv.
#
# A config.json gives sizes. Whether queries are normalized, projections have biases or a layer has
# four norms is written in the family's code, and so are the values of keys that a file leaves out.
# One row per family holds both; a new family is one row.
#
# `facts` are fields of ArchitectureSpec: `qk_norm=head`, or under a condition
# `qkv_bias=true?attention_bias` (where that key is true in the file). Later ones win.

FILE = "models/families.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyRow:
    """One row of data/models/families.csv."""

    model_types: str  # values of `model_type` that mean this family, separated by spaces
    facts: str  # facts fixed by the family's code, as above
    defaults: str  # defaults of its configuration class for absent keys, `key=value; ...`
    # rows that a learned position table has beyond the context; empty without such a table
    learned_beyond: int | None
    builder: str  # module and function of `own_layers`, where its layers differ; else empty
    refused: str  # why it cannot be derived; empty where it can
    note: str  # remarks


@cache
def families() -> Mapping[str, FamilyRow]:
    """Families by `model_type`."""
    rows = read(DATA / FILE, FamilyRow)
    return {model_type: row for row in rows for model_type in row.model_types.split()}


BLOCKS = ("attn_config", "ffn_config")
"""Objects of a config.json whose keys are those of the whole model (DBRX, MPT)."""


def _flat(values: Mapping[str, object]) -> Mapping[str, object]:
    """Config.json with the keys of its `BLOCKS` objects beside the others, which count more."""
    parts = [part for key in BLOCKS if isinstance(part := values.get(key), Mapping)]
    inner = {key: value for part in parts for key, value in part.items()}
    return {**inner, **{key: value for key, value in values.items() if key not in BLOCKS}}


def language_config(name: str, values: Mapping[str, object]) -> tuple[Config, FamilyRow]:
    """Language model's part of a config.json, with its family and the family's defaults."""
    config = Config(name=name, values=language_model(_flat(values)))
    family = _family(config)
    pairs = assignments(family.defaults, FILE)
    return replace(config, defaults={key: literal(value) for key, value in pairs}), family


def fixed_facts(config: Config, family: FamilyRow) -> dict[str, object]:
    """Facts fixed by the family's code, as fields of ArchitectureSpec."""
    facts: dict[str, object] = {}
    for name, text in assignments(family.facts, FILE):
        value, _, condition = text.partition("?")
        if not condition or config.flag(condition):
            facts[name] = literal(value)
    return facts


def _family(config: Config) -> FamilyRow:
    kind = config.word("model_type")
    if not kind.strip():
        raise Refusal(
            f"The config.json of {config.name} has no model_type, which says how the model is "
            "built. Give the file as its repository has it, or the model as a GGUF file."
        )
    family = families().get(kind)
    if family is None:
        return _guessed(config, kind)
    if family.refused:
        raise Refusal(
            f"{config.name} is of the family {kind!r} and cannot be derived: {family.refused}. "
            "A GGUF file of it tells its sizes."
        )
    return family


# Families that no row describes: counted as Llama's where the file states all sizes itself.

STATED = ("hidden", "layers", "heads", "vocab")
"""Sizes that a file of an unknown family must state, and the width of its feed-forward."""
WIDTHS = ("intermediate", "moe_intermediate")
FOREIGN = re.compile(
    r"mamba|ssm|rwkv|conv|recurr|(?:^|_)lru|state_|hyena|linear_|delta|kda|retention|time_mix|titan"
    r"|lightning|retnet|xlstm|gla(?:_|$)|altup|laurel|engram|ngram|hyper_conn|(?:^|_)hc_",
    re.IGNORECASE,
)
"""Words of keys of layers that keep a state, or that are no transformer's."""
MISSPELLED = 0.9  # likeness from which an unknown family is a known one misspelled


def _guessed(config: Config, kind: str) -> FamilyRow:
    """Llama's row for a family that no row describes, where its file states all sizes and nothing
    of other kinds of layers.
    """
    close = UnknownName("family", kind, families()).close
    alike = any(SequenceMatcher(None, kind, name).ratio() >= MISSPELLED for name in close)
    stated = all(map(config.states, STATED)) and any(map(config.states, WIDTHS))
    keys = [key for key, value in config.values.items() if value]
    foreign = list(filter(FOREIGN.search, (kind, *keys)))
    if stated and not foreign and not alike:
        return replace(families()["llama"], model_types=kind)
    hint = f" Known families with similar names: {', '.join(close)}." if close else ""
    if foreign:
        hint = f" Its file speaks of {foreign[0][:40]}.{hint}"
    raise Refusal(
        f"{config.name} is of the family {kind[:60]!r} (model_type), whose layers this program "
        f"does not know, so it will not guess.{hint} A GGUF file of it can be described, as "
        "its header lists every tensor."
    )


def is_undescribed(values: Mapping[str, object]) -> bool:
    """Whether no rule describes the family of a config.json, or one only refuses it."""
    family = families().get(str(language_model(values).get("model_type")))
    return family is None or bool(family.refused)


def is_guessed(family: FamilyRow) -> bool:
    """Whether a family is read by Llama's rule for want of its own."""
    return family not in families().values()


# Models of families that no rule describes, with the shapes of their tensors.
#
# data/models/built_models.csv holds them as a library builds them (`python -m lab.built_models`),
# so that their weights are exact though nobody described their layers. A config.json of the same
# family and sizes has the same tensors.

BUILT = "models/built_models.csv"
BUILT_SIZES = ("hidden", "vocab", "heads", "kv_heads", "layers", "experts", "experts_per_token")
BUILT_WIDTHS = ("intermediate", "moe_intermediate", "shared_intermediate", "head_dim")
"""Sizes by which models of a family differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedModelRow:
    """Row of a table of repositories with a config.json and sizes; a size that is not stated is
    0.
    """

    name: str  # repository, `owner/name`
    architecture: str  # `model_type` of its config.json
    parameters: int  # weights that its files hold
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    feed_forward: int
    shared_feed_forward: int
    experts: int
    experts_used: int
    context: int
    released: str  # day of publication; empty where unknown


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltModelRow(DescribedModelRow):
    """One row of the table of built models."""

    config: str  # keys of its config.json
    tensors: str  # shapes of its tensors
    date: str  # day on which it was built
    source: str  # code that builds it


@cache
def built_models() -> Mapping[str, BuiltModelRow]:
    """Rows by name in lower case."""
    return {row.name.casefold(): row for row in read(DATA / BUILT, BuiltModelRow)}


def built_like(whole: Mapping[str, object]) -> BuiltModelRow | None:
    """Built model with the family and sizes of a config.json; None where there is none."""
    stated = Config(name="", values=language_model(whole))
    named = {str(part.get("model_type")) for part in (whole, stated.values)}
    named |= {family.removesuffix("_text") for family in named}
    alike = (row for row in built_models().values() if row.architecture in named)
    return next((row for row in alike if _same_sizes(stated, row)), None)


def _same_sizes(stated: Config, row: BuiltModelRow) -> bool:
    """Whether a config.json states the sizes that a model was built with, and no other."""
    built = Config(name=row.name, values=parse(row.config, row.name))
    told = [key for key in (*BUILT_SIZES, *BUILT_WIDTHS) if stated.states(key)]
    return "hidden" in told and all(
        stated.raw(key)[1] == built.raw(key)[1] for key in told if built.states(key)
    )


def literal(text: str) -> object:
    """Value of a text, read as JSON; the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
