"""GGUF files for tests, written by the `gguf` package from a few numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFWriter

F32 = GGMLQuantizationType.F32

Tensors = Mapping[str, tuple[tuple[int, ...], GGMLQuantizationType]]
"""Shape, values in a row first, and type by name."""


def write(
    path: Path, arch: str, keys: Mapping[str, Any], tensors: Tensors, *, full: bool = True
) -> Path:
    """A file with the given keys; those of the architecture are given without its name.

    Weights are a hole in the file with `full`, else missing.
    """
    writer = GGUFWriter(path, arch)
    for key, value in keys.items():
        own = key.startswith(("general.", "tokenizer.", "split."))
        add(writer, key if own else f"{arch}.{key}", value)
    for name, (shape, kind) in tensors.items():
        size = stored(shape, kind)
        block, packed = GGML_QUANT_SIZES[kind]
        row = (*reversed(shape[1:]), shape[0] // block * packed)
        if kind is F32:
            dtype = np.dtype(np.float32)
            dimensions = tuple(reversed(shape))
        else:
            dtype = np.dtype(np.uint8)
            dimensions = row
        writer.add_tensor_info(name, dimensions, dtype, size, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    if full:
        start = -(-path.stat().st_size // 32) * 32
        padded = sum(-(-stored(*tensor) // 32) * 32 for tensor in tensors.values())
        with path.open("r+b") as file:
            file.truncate(start + padded)
    return path


def add(writer: GGUFWriter, key: str, value: Any) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def stored(shape: Sequence[int], kind: GGMLQuantizationType) -> int:
    block, packed = GGML_QUANT_SIZES[kind]
    return int(np.prod(shape)) // block * packed


def layered(layers: int, roles: Mapping[str, tuple[int, ...]]) -> Tensors:
    """The same F32 tensors in each layer, by the part of their name after `blk.N.`."""
    return {
        f"blk.{layer}.{role}": (shape, F32)
        for layer in range(layers)
        for role, shape in roles.items()
    }


def table(hidden: int = 64, vocab: int = 96, *, tied: bool = True) -> Tensors:
    """Token table, final norm and, where not tied, an output head."""
    record = {"token_embd.weight": ((hidden, vocab), F32), "output_norm.weight": ((hidden,), F32)}
    if tied:
        return record
    return {**record, "output.weight": ((hidden, vocab), F32)}


LLAMA_KEYS = {
    "general.name": "Small Llama",
    "general.file_type": 15,
    "block_count": 2,
    "context_length": 4096,
    "embedding_length": 256,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["a", "bc", "def"],
    "tokenizer.ggml.scores": [0.0, 1.0, 2.0],
}


def llama_tensors(kind: GGMLQuantizationType = F32) -> Tensors:
    """Two layers of 4 heads of 64 values, 2 key heads, feed-forward of 512."""
    matrices = {
        "attn_q": (256, 256), "attn_k": (256, 128), "attn_v": (256, 128),
        "attn_output": (256, 256), "ffn_gate": (256, 512), "ffn_up": (256, 512),
        "ffn_down": (512, 256),
    }  # fmt: skip
    return {
        "token_embd.weight": ((256, 96), kind),
        "output_norm.weight": ((256,), F32),
        "output.weight": ((256, 96), kind),
        **{
            f"blk.{layer}.{role}.weight": (shape, kind)
            for layer in range(2)
            for role, shape in matrices.items()
        },
        **layered(2, {"attn_norm.weight": (256,), "ffn_norm.weight": (256,)}),
    }


def heads(count: int, kv: Any, key: int, value: int | None = None) -> dict[str, Any]:
    """Keys of attention: heads, key heads, values per key and per value."""
    return {
        "attention.head_count": count,
        "attention.head_count_kv": kv,
        "attention.key_length": key,
        "attention.value_length": key if value is None else value,
    }
