"""A Llama in a folder as Transformers reads it: random weights of 16 bits, and nothing to say.

References:
    [1] https://github.com/huggingface/safetensors, README (format), read 2026-11-21: the length of
        the header in 8 bytes, the header in JSON, then the tensors.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from advisor.model.architecture import Architecture, ArchitectureSpec, Tensor
from advisor.model.build import build

DEVIATION = 0.02
TILE = 2**19  # random weights that are written over and over: no cache of a drive folds them
BYTES = 2  # of a weight [B]
ALIGNMENT = 8
CONTEXT = 8192
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    **{f"attn_{part}": f"self_attn.{part}_proj" for part in "qkv"},
    "attn_output": "self_attn.o_proj",
    **{f"ffn_{part}": f"mlp.{part}_proj" for part in ("gate", "up", "down")},
}
"""Transformers' names of a Llama's tensors by llama.cpp's."""


def write(folder: Path, facts: ArchitectureSpec) -> Path:
    """File with the weights of a dense Llama that `AutoModelForCausalLM` loads, in an empty folder;
    raises OSError where there is no room.
    """
    (folder / "config.json").write_text(json.dumps(config(facts)), encoding="utf-8")
    weights = folder / "model.safetensors"
    with weights.open("wb") as file:
        _write(file, build(facts))
    return weights


def config(facts: ArchitectureSpec) -> dict[str, object]:
    """What stands in config.json; without a token that ends the text."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "hidden_size": facts.hidden,
        "intermediate_size": facts.intermediate,
        "num_hidden_layers": facts.layers,
        "num_attention_heads": facts.heads,
        "num_key_value_heads": facts.kv_heads,
        "head_dim": facts.head_dim,
        "vocab_size": facts.vocab,
        "tie_word_embeddings": facts.tied,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": 0,
    }


def _write(file: BinaryIO, architecture: Architecture) -> None:
    header = json.dumps(_header(architecture)).encode()
    header = header.ljust(-(-len(header) // ALIGNMENT) * ALIGNMENT)
    file.write(struct.pack("<Q", len(header)) + header)
    values = np.random.default_rng(0).normal(0.0, DEVIATION, TILE)
    tile = _sixteen_bits(values)
    ones = _sixteen_bits(np.ones(1))
    for tensor in architecture.tensors:
        for piece in _repeated(ones if tensor.rows == 1 else tile, tensor.params * BYTES):
            file.write(piece)
    file.flush()


def _header(architecture: Architecture) -> dict[str, object]:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for tensor in architecture.tensors:
        start = end
        end = end + tensor.params * BYTES
        if tensor.rows == 1:
            shape = [tensor.width]
        else:
            shape = [tensor.rows, tensor.width]
        header[_name(tensor)] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}
    return header


def _name(tensor: Tensor) -> str:
    own = f"{NAMES[tensor.role]}.weight"
    if tensor.layer is None:
        return own
    return f"model.layers.{tensor.layer}.{own}"


def _sixteen_bits(values: "np.typing.NDArray[np.float64]") -> bytes:
    """Numbers as bfloat16: the upper half of a 32-bit float."""
    whole = values.astype("<f4").view("<u4")
    return (whole >> 16).astype("<u2").tobytes()


def _repeated(piece: bytes, size: int) -> Iterator[bytes]:
    whole, rest = divmod(size, len(piece))
    for _ in range(whole):
        yield piece
    yield piece[:rest]
