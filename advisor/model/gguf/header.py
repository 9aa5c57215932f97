"""The header of a GGUF file, read within bounds: a hostile file costs little time and memory.

A header is a magic number, a version, keys with values, and one entry per tensor; the weights
follow it. Vocabularies make it long (5 to 30 MB), so arrays are stepped over without building
their entries; only their lengths, and the entries of short arrays of numbers, are kept.

References:
    [1] ggml-org/ggml, docs/gguf.md (the layout), read 2026-11-21.
    [2] ggml-org/llama.cpp, ggml/src/gguf.cpp (what a reader accepts), read 2026-11-21.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from advisor.errors import InputError

# Names and values of a GGUF header as they may be shown: short and printable.

Value = int | float | bool | str | tuple[int | float | bool, ...]  # value of a header key
LONGEST = 60


class NeedMoreBytes(InputError):
    """Error: the beginning of a file ends before its header does, which needs more bytes [B]."""

    def __init__(self, name: str, needed: int) -> None:
        self.needed = needed
        super().__init__(
            f"{name}: the header is longer than the part given; at least the first {needed:,} "
            "bytes are needed. Give the whole file, or a longer part of its start."
        )


def brief(value: Value) -> str:
    """Name or value in at most 60 characters; a list that repeats one entry as that entry."""
    if isinstance(value, tuple):
        if value and len(set(value)) == 1:
            return f"{value[0]} in all {len(value)} entries"
        return brief(" ".join(str(entry) for entry in value[:LONGEST]))
    text = str(value)
    shown = "".join(character if character.isprintable() else "?" for character in text[:LONGEST])
    if len(text) <= LONGEST:
        return shown
    return shown[:-3] + "..."


MAGIC = b"GGUF"
CHUNK = 2**20  # bytes asked for at a time [B]
MAX_HEADER = 256 * 2**20  # largest header read [B]; real ones stay under 40 MB
# real files have under 100 keys and under 3,000 tensors
MAX_KEYS = 4096
MAX_TENSORS = 16_384
MAX_STRINGS = 2_000_000
"""Strings in all arrays of a header; 262,144 tokens and 514,906 merges are the most seen."""
MAX_NAME = 256  # bytes of a key or of a tensor's name [B]; llama.cpp allows tensors 64
KEPT_STRING = 4096  # longer strings, such as chat templates, are stepped over [B]
KEPT_ARRAY = 4096
KEPT_NUMBERS = 65_536
"""Entries of one array of numbers, and of all of them together, that are kept."""
MAX_SIZE = 2**50  # weights of a tensor, bytes of an offset: beyond a petabyte a header is damaged

STRING = 8
ARRAY = 9
BOOL = 7
NUMBERS = {
    kind: struct.Struct("<" + letter)
    for kind, letter in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        BOOL: "?",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
"""Layout of each type of number [1]."""
U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")


@dataclass(frozen=True, kw_only=True)
class Part:
    """GGUF file, or part of a split one, whose bytes can be read."""

    name: str  # file name, as the person knows it
    # bytes from an offset on, `read_at(offset, size)`; fewer only where they end
    read_at: Callable[[int, int], bytes]
    size: int | None = None  # bytes of the whole file; None where unknown [B]


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorInfo:
    """Tensor's entry in a header."""

    name: str  # such as `blk.0.attn_q.weight`
    shape: tuple[int, ...]  # values in a row first (`ne[0]`), then rows
    kind: int  # number of its storage type
    offset: int  # start of the weights, counted from the end of the header [B]


@dataclass(frozen=True, kw_only=True)
class Header:
    """Content of a GGUF header."""

    name: str  # name of the file
    version: int  # version of the layout, 2 or 3
    values: Mapping[str, Value]  # scalars, strings and short arrays of numbers, by key
    lengths: Mapping[str, int]  # entries of each array, by key
    tensors: tuple[TensorInfo, ...]  # entries of the tensors, in the order of the file
    size: int  # size of the header, after which the weights start [B]


def prefix(name: str, data: bytes) -> Part:
    """Beginning of a file, such as `head -c 32M model.gguf` makes."""
    return Part(name=name, read_at=lambda offset, size: data[offset : offset + size])


def read_header(part: Part) -> Header:
    """Header of one file.

    Raises:
        NeedMoreBytes: the bytes end within it.
        InputError: it is not GGUF, of a version or byte order that is not read, or damaged.
    """
    return _Reader(part).header()


class _Cursor:
    """Bytes of a part from front to back, a chunk at a time."""

    def __init__(self, part: Part) -> None:
        self.name = part.name
        self.position = 0
        self._read_at = part.read_at
        self._chunk = b""
        self._start = 0

    def take(self, size: int) -> bytes:
        begin = self._ready(size)
        self.position += size
        return self._chunk[begin : begin + size]

    def number(self, layout: struct.Struct) -> int | float | bool:
        begin = self._ready(layout.size)
        self.position += layout.size
        value: int | float | bool = layout.unpack_from(self._chunk, begin)[0]
        return value

    def skip(self, size: int) -> None:
        self.position += size
        if self.position > MAX_HEADER:
            raise InputError(
                f"{self.name}: its header claims more than {MAX_HEADER:,} bytes. The file is "
                "damaged; download it again."
            )

    def skip_strings(self, count: int) -> None:
        """Step over strings by their lengths alone; this loop is most of the time of a header."""
        length_at = U64.unpack_from
        while count:
            at = self._ready(U64.size)
            chunk = self._chunk
            begin = at
            last = len(chunk) - U64.size
            while count and at <= last:
                at += 8 + length_at(chunk, at)[0]
                count -= 1
            self.skip(at - begin)

    def finish(self) -> None:
        """Check that the skipped bytes exist."""
        self.position -= 1
        self.take(1)

    def _ready(self, size: int) -> int:
        """Place of the next `size` bytes in the chunk, which is read anew where it lacks them."""
        begin = self.position - self._start
        if begin + size <= len(self._chunk):
            return begin
        self._chunk = self._read_at(self.position, max(size, CHUNK))
        self._start = self.position
        if len(self._chunk) < size:
            raise NeedMoreBytes(self.name, self.position + size)
        return 0


class _Reader:
    """Reader of one header, within the bounds on keys, tensors and strings."""

    def __init__(self, part: Part) -> None:
        self._cursor = _Cursor(part)
        self._name = part.name
        self._strings = MAX_STRINGS
        self._numbers = KEPT_NUMBERS
        self._values: dict[str, Value] = {}
        self._lengths: dict[str, int] = {}

    def header(self) -> Header:
        version = self._version()
        tensors = self._count("tensors", MAX_TENSORS)
        keys = self._count("keys", MAX_KEYS)
        for _ in range(keys):
            self._pair()
        infos = tuple(self._tensor() for _ in range(tensors))
        self._cursor.finish()
        self._check_unique(infos)
        return Header(
            name=self._name,
            version=version,
            values=self._values,
            lengths=self._lengths,
            tensors=infos,
            size=self._aligned(self._cursor.position),
        )

    def _version(self) -> int:
        magic = self._cursor.take(4)
        if magic != MAGIC:
            raise InputError(
                f"{self._name} is not a GGUF file: it starts with {magic!r}, not {MAGIC!r}. Give a "
                "file that llama.cpp loads."
            )
        version = self._unsigned(U32)
        if version & 0xFFFF == 0:
            raise InputError(
                f"{self._name} is a big-endian GGUF file; only little-endian ones are read. "
                "gguf-py's gguf_convert_endian turns it."
            )
        if version not in (2, 3):
            raise InputError(
                f"{self._name} has GGUF version {version}; versions 2 and 3 are read, as by "
                "llama.cpp. Download a newer conversion."
            )
        return version

    def _count(self, what: str, limit: int) -> int:
        count = self._unsigned(U64)
        if count > limit:
            raise self._damaged(f"it claims {count:,} {what}, more than {limit:,}")
        return count

    def _pair(self) -> None:
        key = self._short_text("key")
        if key in self._values or key in self._lengths:
            raise self._damaged(f"the key {brief(key)} is there twice")
        kind = self._unsigned(U32)
        if kind == ARRAY:
            self._array(key)
        elif kind == STRING:
            self._string(key)
        else:
            self._values[key] = self._cursor.number(self._layout(key, kind))

    def _string(self, key: str) -> None:
        length = self._unsigned(U64)
        if length > KEPT_STRING:
            self._cursor.skip(length)
        else:
            self._values[key] = self._cursor.take(length).decode(errors="replace")

    def _array(self, key: str) -> None:
        kind = self._unsigned(U32)
        count = self._lengths[key] = self._unsigned(U64)
        if kind == STRING:
            self._strings -= count
            if self._strings < 0:
                raise self._damaged(f"{brief(key)} brings its strings above {MAX_STRINGS:,}")
            self._cursor.skip_strings(count)
            return
        layout = self._layout(key, kind)
        if count > min(KEPT_ARRAY, self._numbers):
            self._cursor.skip(count * layout.size)
            return
        self._numbers -= count
        data = self._cursor.take(count * layout.size)
        self._values[key] = tuple(entry for (entry,) in layout.iter_unpack(data))

    def _tensor(self) -> TensorInfo:
        name = self._short_text("tensor name")
        dimensions = self._unsigned(U32)
        if not 1 <= dimensions <= 4:
            raise self._damaged(f"tensor {brief(name)} has {dimensions:,} dimensions, not 1 to 4")
        shape = tuple(self._unsigned(U64) for _ in range(dimensions))
        kind = self._unsigned(U32)
        offset = self._unsigned(U64)
        if not 0 < prod(shape) <= MAX_SIZE or offset > MAX_SIZE:
            raise self._damaged(f"tensor {brief(name)} has the shape {shape} at {offset:,}")
        return TensorInfo(name=name, shape=shape, kind=kind, offset=offset)

    def _layout(self, key: str, kind: int) -> struct.Struct:
        if kind not in NUMBERS:
            if kind == ARRAY:
                what = "an array of arrays"
            else:
                what = f"the unknown type {kind}"
            raise self._damaged(f"the value of {brief(key)} is {what}")
        return NUMBERS[kind]

    def _short_text(self, what: str) -> str:
        length = self._unsigned(U64)
        if not 0 < length <= MAX_NAME:
            raise self._damaged(f"a {what} has {length:,} bytes, not 1 to {MAX_NAME}")
        return self._cursor.take(length).decode(errors="replace")

    def _unsigned(self, layout: struct.Struct) -> int:
        return int(self._cursor.number(layout))

    def _check_unique(self, infos: tuple[TensorInfo, ...]) -> None:
        seen: set[str] = set()
        for info in infos:
            if info.name in seen:
                raise self._damaged(f"the tensor {brief(info.name)} is there twice")
            seen.add(info.name)

    def _aligned(self, size: int) -> int:
        alignment = self._values.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
            raise self._damaged(f"general.alignment is {brief(alignment)}, no power of two")
        return -(-size // alignment) * alignment

    def _damaged(self, why: str) -> InputError:
        return InputError(f"{self._name} is no sound GGUF file: {why}. Download it again.")
