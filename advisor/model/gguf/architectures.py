"""Architectures that GGUF files name, and what llama.cpp knows of their attention beside the file.

data/models/gguf_architectures.csv lists them.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp (names), src/llama-model.cpp and
src/models/*.cpp (`load_arch_hparams`), read 2026-11-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError, Refusal
from advisor.model.gguf.header import Header, Value, brief


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufArchitecture:
    """One row of data/models/gguf_architectures.csv: what an architecture keeps of the past."""

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


def known_architecture(name: str) -> GgufArchitecture:
    """Architecture whose attention is understood.

    Raises:
        Refusal: another one.
    """
    row = architectures().get(name)
    if row is None:
        raise Refusal(
            f"The architecture {name} is not known: what its attention keeps of the past "
            "is not understood, so its speed cannot be told. Choose a model of another one."
        )
    if row.refused:
        raise Refusal(f"{name} is {row.refused}. Give a language model's file.")
    return row


# Keys of a GGUF header, read with checks and remembered as facts.

LARGEST = 2**31
"""No count of heads, layers, experts or tokens comes near it."""


class Keys:
    """Metadata of one architecture; values that were read are kept in `facts`."""

    def __init__(self, header: Header, traits: GgufArchitecture) -> None:
        self.traits = traits
        self.architecture = traits.architecture
        self.facts: dict[str, str] = {}
        self._header = header

    def find(self, key: str) -> Value | None:
        """The value of an architecture's key, None where it is missing."""
        name = f"{self.architecture}.{key}"
        value = self._header.values.get(name)
        if value is not None:
            self.facts[name] = brief(value)
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number of 0 or more."""
        value = self.find(key)
        if value is None:
            if default is None:
                raise InputError(
                    f"{self._header.name} lacks the key {self.architecture}.{key}, without which "
                    "its size cannot be told. Download a newer conversion."
                )
            return default
        return self._whole(key, value)

    def per_layer(self, key: str, layers: int, default: int) -> tuple[int, ...]:
        """A whole number for each layer; one number stands for all."""
        value = self.find(key)
        if not isinstance(value, tuple):
            return (self.number(key, default),) * layers
        if len(value) < layers:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} has {len(value)} entries for "
                f"{layers} layers. Download a newer conversion."
            )
        return tuple(self._whole(key, entry) for entry in value[:layers])

    def has_list(self, key: str) -> bool:
        """The key holds one value for each layer."""
        return isinstance(self.find(key), tuple)

    def _whole(self, key: str, value: Value) -> int:
        if not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} is {brief(value)}; a whole "
                f"number up to {LARGEST:,} is allowed. The file is damaged."
            )
        return int(value)
