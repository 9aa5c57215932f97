"""Keys of a GGUF header, read with checks and remembered as facts."""

from collections.abc import Mapping
from functools import cache

from advisor.catalog.csv_tables import texts
from advisor.errors import InputError
from advisor.model.gguf.architectures import GgufArchitecture, architectures
from advisor.model.gguf.header import Header, Value, brief

LARGEST = 2**31  # no count of heads, layers, experts or tokens comes near it


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
    """What known keys of an architecture change; empty for neither cache nor reads."""
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
