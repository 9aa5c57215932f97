"""Keys of a GGUF header, read with checks and remembered as facts, and the architectures that they
describe.

The table of architectures holds what llama.cpp knows of their attention beside the file.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp, and `load_arch_hparams` in src/llama-model.cpp
and src/models/*.cpp, read 2026-11-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read, texts
from advisor.errors import InputError, Refusal
from advisor.model.gguf.header import Header, Value, brief


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufArchitecture:
    """One row of data/models/gguf_architectures.csv: the cache and states of an architecture."""

    architecture: str  # `general.architecture` of its files
    refused: str  # what it is and why it is not described; empty where it is
    latent: bool = False  # latent attention (MLA), whose cache llama.cpp keeps latent
    bare_layers: bool = False  # some layers keep nothing of the past
    shares_cache: bool = False  # the last layers reuse an earlier layer's cache
    # how many first layers have a cache of their own where the file does not say; None for all
    caching_layers: int | None
    # layers of which one has no window; 0 where the file lists them, -1 where every attention layer
    # has one, if any; None for no windows
    period: int | None
    full_first: bool = False  # the layer without is the first of each period; else the last
    # window where the file names none; 0 for no windows then, None where a file must name it
    # [tokens]
    window: int | None
    fixed_window: int = 0  # window whatever the file says; 0 for the file's [tokens]
    windowed_depth: int = 0  # layers of the only size that has windows; 0 for all sizes


@cache
def architectures() -> Mapping[str, GgufArchitecture]:
    """Architectures by name; attention of those without a period sees everything."""
    rows = read(DATA / "models/gguf_architectures.csv", GgufArchitecture)
    return {row.architecture: row for row in rows}


def traits_of(name: str, header: Header) -> GgufArchitecture:
    """Architecture of a file; the file's own keys describe an unknown one.

    Raises:
        Refusal: it is no language model.
    """
    row = architectures().get(name)
    if row is None:
        return _by_keys(name, header)
    if row.refused:
        raise Refusal(f"{name} is {row.refused}. Give a language model's file.")
    return row


def _by_keys(name: str, header: Header) -> GgufArchitecture:
    """Description of an unknown architecture by the keys of its file.

    Latent attention is told by its rank, windows by the list of their layers; layers without
    attention may be of any kind.
    """
    rank = header.values.get(f"{name}.attention.kv_lora_rank")
    listed = header.values.get(f"{name}.attention.sliding_window_pattern")
    return GgufArchitecture(
        architecture=name,
        refused="",
        latent=bool(rank),
        bare_layers=True,
        caching_layers=None,
        period=0 if isinstance(listed, tuple) else None,
        window=0,
    )


# Keys of a header.

LARGEST = 2**31  # no count of heads, layers, experts or tokens comes near it


class Keys:
    """Metadata of one architecture; values that were read are kept in `facts`."""

    def __init__(self, header: Header, traits: GgufArchitecture) -> None:
        self.traits = traits
        self.architecture = traits.architecture
        self.facts: dict[str, str] = {}
        self._header = header

    def find(self, key: str) -> Value | None:
        """Value of an architecture's key, None where it is missing."""
        name = f"{self.architecture}.{key}"
        value = self._header.values.get(name)
        if value is not None:
            self.facts[name] = brief(value)
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """Whole number of 0 or more."""
        value = self.find(key)
        if value is None:
            if default is None:
                raise InputError(
                    f"{self._header.name} lacks the key {self.architecture}.{key}, without which "
                    "its size cannot be told. Download a newer conversion."
                )
            return default
        return self._whole(key, value)

    def per_layer(self, key: str, layers: int, default: int | None) -> tuple[int, ...]:
        """Whole number for each layer; a single number counts for all."""
        value = self.find(key)
        if not isinstance(value, tuple):
            return (self.number(key, default),) * layers
        if len(value) < layers:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} has {len(value)} entries for "
                f"{layers} layers. Download a newer conversion."
            )
        return tuple(self._whole(key, entry) for entry in value[:layers])

    def unread(self) -> tuple[str, ...]:
        """Keys of the architecture that were not read and may change its cache or reads.

        They are numbers under keys that llama.cpp has for these, or does not know. What its known
        keys change in a described architecture is in the row of that.
        """
        start = f"{self.architecture}."
        own = (name for name, value in self._header.values.items() if _counts(value))
        keys = (name.removeprefix(start) for name in own if name.startswith(start))
        unread = (key for key in keys if f"{start}{key}" not in self.facts)
        described = self.architecture in architectures()
        return tuple(key for key in unread if _may_change(key, described))

    def _whole(self, key: str, value: Value) -> int:
        if not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} is {brief(value)}; a whole "
                f"number up to {LARGEST:,} is allowed. The file is damaged."
            )
        return int(value)


HARMLESS = ("rope.", "tokenizer.")
"""Beginnings of keys of positions and words, which change neither cache nor reads."""


@cache
def known_keys() -> Mapping[str, str]:
    """Effects of known keys of an architecture; empty for neither cache nor reads."""
    return texts("models/gguf_keys.csv", "key", "changes")


def _may_change(key: str, described: bool) -> bool:
    """Whether a key that was not read may change the cache or what is read."""
    if key.startswith(HARMLESS):
        return False
    if key not in known_keys():
        return True
    return bool(known_keys()[key]) and not described


def _counts(value: Value) -> bool:
    """Whether a value is a number, or a list of them, that is not zero."""
    if isinstance(value, tuple):
        return any(map(_counts, value))
    return isinstance(value, int) and value != 0
