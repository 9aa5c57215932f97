"""Keys of a GGUF header, read with checks and remembered as facts."""

from advisor.errors import InputError
from advisor.model.gguf.header import Header
from advisor.model.gguf.text import Value, brief

LARGEST = 2**31
"""No count of heads, layers, experts or tokens comes near it."""


class Keys:
    """Metadata of one architecture; values that were read are kept in `facts`.

    Args:
        header: header of the file, or of the first part.
        architecture: value of `general.architecture`, which the other keys start with.
    """

    def __init__(self, header: Header, architecture: str) -> None:
        self.architecture = architecture
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
        """A whole number of 0 or more.

        Raises:
            InputError: it is missing and has no default, or is something else.
        """
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
        """A whole number for each layer; one number stands for all.

        Raises:
            InputError: fewer entries than layers, or something else than numbers.
        """
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
