"""GGUF files for timing an engine: the tensors of a Llama in any size and format, without training.

Speed depends on shapes and types, not on values. By default the large matrices are a hole in the
file: they read as zeros, which are valid in every format, fill memory like any weights, and cost
the drive nothing. The token table and the routers hold random numbers, so that tokens differ and
are routed to different experts; the output head stays empty, so that every token is equally likely.
Reads from a drive need real data: `filled` files hold random weights throughout, the head among
them, and tokens are still about equally likely.

Written without the `gguf` package, so that a program with only `llama-bench` needs no further
library; tests check the files with that package and with llama.cpp.

References:
    [1] ggml-org/ggml, docs/gguf.md (the layout), read 2026-11-21.
    [2] ggml-org/llama.cpp, ggml/src/ggml-common.h (where blocks keep their scales), 2026-11-21.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from advisor.errors import Refusal
from advisor.model.architecture import Architecture, ArchitectureSpec, Group, Tensor
from advisor.model.build import build
from advisor.model.formats import Format, StorageType
from advisor.model.gguf.shards import numbered
from advisor.model.model import Model

MAGIC = b"GGUF"
VERSION = 3
ALIGNMENT = 32
# types of values [1]
UINT32 = 4
INT32 = 5
FLOAT32 = 6
STRING = 8
ARRAY = 9
KINDS: Mapping[str, int] = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11, "Q4_K": 12, "Q5_K": 13,
    "Q6_K": 14,
}  # fmt: skip
"""Numbers of the storage types that can be written [1]."""
SCALES: Mapping[str, Mapping[int, float]] = {
    "Q4_0": {0: 1.0}, "Q8_0": {0: 1.0}, "Q2_K": {80: 1.0, 82: 1.5}, "Q3_K": {108: 1.0},
    "Q4_K": {0: 1.0, 2: 7.5}, "Q5_K": {0: 1.0, 2: 15.5}, "Q6_K": {208: 1.0},
}  # fmt: skip
"""Offsets of a block's 16-bit scales [2], with their ratio, so that weights lie around zero; any
other byte may have any value."""
SCALE = 1e-4
DEVIATION = 0.02
TILE = 2**20
"""Bytes of random weights that are written over and over [B]: no cache of a drive folds them."""
RESERVED = ("<unk>", "<s>", "</s>")
# kinds of tokens in a SentencePiece vocabulary [1]
UNKNOWN = 2
NORMAL = 1
CONTROL = 3
BYTE = 6


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Description of a model to write."""

    # architecture of a Llama: no biases, no norms of queries or keys; with or without experts
    facts: ArchitectureSpec
    kinds: tuple[StorageType, ...]  # storage type of each tensor
    model: Model  # model for the cost formulas


def in_format(facts: ArchitectureSpec, form: str) -> Synthetic:
    """Synthetic model in a format of the catalogue, whose recipe mixes storage types."""
    built = build(facts)
    return _synthetic(facts, built, Format.named(form).tensor_types(built), form)


def in_type(facts: ArchitectureSpec, kind: str) -> Synthetic:
    """Synthetic model with all matrices in one storage type."""
    built = build(facts)
    types = StorageType.by_name()
    plain = types["F32"]
    kinds = [plain if _in_32_bits(tensor) else types[kind] for tensor in built.tensors]
    return _synthetic(facts, built, kinds, kind)


def _synthetic(
    facts: ArchitectureSpec, built: Architecture, kinds: Iterable[StorageType], form: str
) -> Synthetic:
    storage = tuple(kinds)
    unknown = {kind.name for kind in storage} - set(KINDS)
    if unknown:
        raise Refusal(
            f"{form} has tensors in {', '.join(sorted(unknown))}; synthetic models are written in "
            f"{', '.join(KINDS)}."
        )
    return Synthetic(facts=facts, kinds=storage, model=Model.from_tensors(built, storage, form))


def write(file: BinaryIO, synthetic: Synthetic, *, filled: bool = False) -> int:
    """Size of a written model file [B]; `filled` with random weights, for drives."""
    file.write(_header(synthetic))
    generator = np.random.default_rng(0)
    for tensor, kind in zip(synthetic.model.architecture.tensors, synthetic.kinds, strict=True):
        file.seek(_aligned(file.tell()))
        size = int(kind.bytes_of(tensor))
        if tensor.rows == 1:
            file.write(np.ones(tensor.params, dtype=np.float32).tobytes())
        elif filled or tensor.group in TOLD_APART:
            tile = _tile(kind, generator)
            whole, rest = divmod(size, len(tile))
            file.writelines((*[tile] * whole, tile[:rest]))
        else:  # a hole: zeros that take no room on the drive
            file.seek(size, 1)
    end = _aligned(file.tell())
    file.truncate(end)
    file.flush()
    return end


def _in_32_bits(tensor: Tensor) -> bool:
    """Whether llama.cpp keeps a tensor in 32-bit floats, as vectors and routers."""
    return tensor.rows == 1 or tensor.group is Group.ROUTER


TOLD_APART = (Group.EMBEDDING, Group.ROUTER, Group.NORMS)
"""Matrices that are never left empty, so that tokens differ and are routed to different experts."""


def _tile(kind: StorageType, generator: np.random.Generator) -> bytes:
    """Blocks of random weights around zero, all of them finite."""
    count = TILE // int(kind.block_bytes)
    if kind.name in ("F32", "F16"):
        values = generator.normal(0.0, DEVIATION, count)
        return values.astype(np.float32 if kind.name == "F32" else np.float16).tobytes()
    blocks = generator.integers(0, 256, (count, int(kind.block_bytes)), dtype=np.uint8)
    for offset, factor in SCALES[kind.name].items():
        scale = np.float16(factor * SCALE).tobytes()
        blocks[:, offset : offset + 2] = np.frombuffer(scale, dtype=np.uint8)
    return blocks.tobytes()


def _header(synthetic: Synthetic) -> bytes:
    tensors = synthetic.model.architecture.tensors
    values = list(_values(synthetic.facts, synthetic.model.format))
    head = MAGIC + struct.pack("<IQQ", VERSION, len(tensors), len(values))
    entries = []
    offset = 0
    for tensor, kind in zip(tensors, synthetic.kinds, strict=True):
        shape = _shape(synthetic.facts, tensor)
        entry = struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, KINDS[kind.name], offset)
        entries.append(_string(_name(tensor)) + entry)
        offset += _aligned(int(kind.bytes_of(tensor)))
    written = b"".join((head, *values, *entries))
    return written.ljust(_aligned(len(written)), b"\0")


def _name(tensor: Tensor) -> str:
    weight = f"{tensor.role}.weight"
    if tensor.layer is None:
        return weight
    return f"blk.{tensor.layer}.{weight}"


def _shape(facts: ArchitectureSpec, tensor: Tensor) -> tuple[int, ...]:
    """Dimensions of a tensor, row length first; experts are the third."""
    if tensor.role.endswith("_exps"):
        return (tensor.width, tensor.rows // facts.experts, facts.experts)
    if tensor.rows == 1:
        return (tensor.width,)
    return (tensor.width, tensor.rows)


def _values(facts: ArchitectureSpec, form: str) -> Iterator[bytes]:
    """Keys and values in the file's encoding [1]."""
    yield _key("general.architecture", STRING) + _string("llama")
    yield _key("general.name", STRING) + _string(facts.name)
    for number in (number for number, name in numbered("file type").items() if name == form):
        yield _key("general.file_type", UINT32) + struct.pack("<I", number)
    wide = facts.moe_intermediate if facts.experts else facts.intermediate
    numbers = {
        "block_count": facts.layers,
        "context_length": facts.max_context or 131_072,
        "embedding_length": facts.hidden,
        "feed_forward_length": wide,
        "attention.head_count": facts.heads,
        "attention.head_count_kv": facts.kv_heads,
        "attention.key_length": facts.head_dim,
        "attention.value_length": facts.head_dim,
        "rope.dimension_count": facts.head_dim,
        "vocab_size": facts.vocab,
    }
    if facts.experts:
        numbers |= {
            "expert_count": facts.experts,
            "expert_used_count": facts.experts_per_token,
            "expert_feed_forward_length": facts.moe_intermediate,
        }
    for name, number in numbers.items():
        yield _key(f"llama.{name}", UINT32) + struct.pack("<I", number)
    yield _key("llama.attention.layer_norm_rms_epsilon", FLOAT32) + struct.pack("<f", 1e-5)
    yield from _vocabulary(facts.vocab)


def _vocabulary(size: int) -> Iterator[bytes]:
    """Vocabulary in the form of SentencePiece: reserved tokens, bytes, then meaningless words."""
    special = [*RESERVED, *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens = [*special, *(f"w{number}" for number in range(len(special), size))][:size]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * max(0, size - len(special))]
    yield _key("tokenizer.ggml.model", STRING) + _string("llama")
    yield _array("tokenizer.ggml.tokens", STRING, size) + b"".join(map(_string, tokens))
    yield _array("tokenizer.ggml.scores", FLOAT32, size) + bytes(4 * size)
    yield _array("tokenizer.ggml.token_type", INT32, size) + struct.pack(f"<{size}i", *kinds[:size])
    for name, token in (("unknown", 0), ("bos", 1), ("eos", 2)):
        yield _key(f"tokenizer.ggml.{name}_token_id", UINT32) + struct.pack("<I", token)


def _key(name: str, kind: int) -> bytes:
    return _string(name) + struct.pack("<I", kind)


def _array(name: str, kind: int, length: int) -> bytes:
    return _key(name, ARRAY) + struct.pack("<IQ", kind, length)


def _string(text: str) -> bytes:
    written = text.encode()
    return struct.pack("<Q", len(written)) + written


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
