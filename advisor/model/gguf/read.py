"""A model exactly as its GGUF files hold it: their own tensors, types and bytes.

Only headers are read, so the beginning of a file is enough (`head -c 64M model.gguf`), and a file
on a server costs a few requests.

Reference: ggml-org/llama.cpp, src/llama-model-loader.cpp and include/llama.h (`llama_ftype`), read
2026-11-21.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError, Refusal
from advisor.model.architecture import Architecture, Experts, Group, Tensor
from advisor.model.formats import StorageType
from advisor.model.gguf.caches import cache_notes, memory
from advisor.model.gguf.header import Header, Part, TensorInfo, brief, prefix, read_header
from advisor.model.gguf.keys import GgufArchitecture, Keys, architectures, traits_of
from advisor.model.gguf.shards import (
    TensorName,
    cut_short,
    joined,
    named,
    numbered,
    opened,
    part_paths,
    storage_type,
    stored_bytes,
    tensor,
)
from advisor.model.model import Described, Model
from advisor.units import GIB

GUESSED = 1024  # added to a file type that a loader guessed
MAX_LAYERS = 1024  # llama.cpp loads 512
COMPANIONS = {
    "attn_k_b": (("attn_kv_a_norm",), ("attn_kv_a_mqa",)),
    "ssm_conv1d": (("ssm_out",),),
    "ffn_down": (("ffn_up", "ffn_gate"),),
    "ffn_down_shexp": (("ffn_up_shexp", "ffn_gate_shexp"),),
}
"""Tensors without which another of the same layer computes nothing: one of each group is needed
(ggml-org/llama.cpp, src/llama-model.cpp, `create_tensor` without `TENSOR_NOT_REQUIRED`)."""
RANKING = 4  # `pooling_type` of models that score answers; others above 0 make vectors (llama.h)
OTHER_KINDS = {
    "adapter": "a LoRA adapter",
    "mmproj": "an image or sound encoder (mmproj)",
    "imatrix": "an importance matrix",
}
"""Values of `general.type` that are no model."""


def describe_path(path: Path) -> Described:
    """Model in a file, in the beginning of one, or in all parts of a split file."""
    with ExitStack() as stack:
        parts = [opened(part_path, stack) for part_path in part_paths(path)]
        return describe_parts(parts)


def describe_prefix(name: str, data: bytes) -> Described:
    """Model whose file begins with these bytes; raises NeedMoreBytes if they end within the
    header.
    """
    return describe_parts([prefix(name, data)])


def describe_parts(parts: Sequence[Part]) -> Described:
    """Model in files whose bytes can be read, with all parts in their order."""
    headers = [read_header(part) for part in parts]
    infos = joined(headers)
    keys = Keys(headers[0], _architecture_of(headers[0], infos))
    contents = _contents(keys, infos)
    kinds = [storage_type(info) for info, _ in contents.used]
    architecture = _architecture(keys, headers[0], contents)
    form = _format(headers[0], architecture.tensors, kinds, keys)
    return Described(
        architecture=architecture,
        model=Model.from_tensors(architecture, kinds, form),
        format=form,
        source=architecture.source,
        notes=(
            *cut_short(parts, headers),
            *_notes(contents),
            *cache_notes(keys, contents.layers),
            *_unread_notes(keys),
        ),
        facts=keys.facts,
    )


def _architecture_of(header: Header, infos: Sequence[TensorInfo]) -> GgufArchitecture:
    """Architecture, if it is one that can be described."""
    kind = header.values.get("general.type", "model")
    if isinstance(kind, str) and kind in OTHER_KINDS:
        raise Refusal(f"{header.name} is {OTHER_KINDS[kind]}, not a language model's file.")
    name = header.values.get("general.architecture")
    if not isinstance(name, str) or not name:
        raise InputError(
            f"{header.name} does not name its architecture (general.architecture). Give a "
            "language model's file."
        )
    traits = traits_of(brief(name), header)
    pooled = header.values.get(f"{brief(name)}.pooling_type", 0)
    if isinstance(pooled, int) and pooled > 0:
        if pooled == RANKING:
            gives = "scores"
        else:
            gives = "vectors"
        raise Refusal(f"{header.name} answers with {gives}, not with text (pooling_type).")
    if not infos:
        raise Refusal(
            f"{header.name} holds only a vocabulary: it has no tensors. Give the model's own file."
        )
    return traits


@dataclass(frozen=True, kw_only=True)
class _Contents:
    """Tensors by use."""

    layers: int  # repeating layers that the file holds
    visits: tuple[int, ...]  # times that a token passes each; empty for once
    used: list[tuple[TensorInfo, TensorName]]  # tensors of the text model
    predicting: list[TensorInfo]  # those of layers for multi-token prediction
    foreign: list[TensorInfo]  # those of other networks in the same file


def _contents(keys: Keys, infos: Sequence[TensorInfo]) -> _Contents:
    """Tensors that a token passes; the blocks for multi-token prediction are the last ones."""
    blocks = keys.number("block_count")
    ahead = keys.number("nextn_predict_layers", 0)
    layers = blocks - ahead
    if not 1 <= layers <= blocks <= MAX_LAYERS:
        raise InputError(
            f"{keys.architecture}.block_count is {blocks} with {ahead} layers for prediction; 1 to "
            f"{MAX_LAYERS} are allowed. The file is damaged."
        )
    visits = _visits(keys, blocks)
    layers = len(visits) or layers
    contents = _Contents(layers=layers, visits=visits, used=[], predicting=[], foreign=[])
    for info in infos:
        name = named(info.name)
        if name.group is None:
            contents.foreign.append(info)
        elif name.layer is not None and name.layer >= layers:
            contents.predicting.append(info)
        else:
            contents.used.append((info, name))
    return contents


MOST_LOOPS = 64


def _visits(keys: Keys, blocks: int) -> tuple[int, ...]:
    """Visits of a token to each layer of two stacks that think in cycles; empty for one each.

    The lower stack runs `l_cycles` times for each of the `h_cycles` of the upper one. `block_count`
    counts every pass, each with a cache of its own; the file holds both stacks once
    (ggml-org/llama.cpp, src/models/hrm-text.cpp, read 2026-11-28).
    """
    stack = keys.number("hrm.layers_per_stack", 0)
    if not stack:
        return ()
    upper = keys.number("hrm.h_cycles")
    lower = keys.number("hrm.l_cycles")
    possible = 1 <= upper <= MOST_LOOPS and 1 <= lower <= MOST_LOOPS
    if not possible or blocks != stack * upper * (lower + 1):
        raise InputError(
            f"{keys.architecture}.block_count is {blocks}, while {stack} layers of each stack in "
            f"{upper} x ({lower} + 1) cycles make {stack * upper * (lower + 1)}; cycles are 1 to "
            f"{MOST_LOOPS}. The file is damaged."
        )
    return (upper * lower,) * stack + (upper,) * stack


def _notes(contents: _Contents) -> Iterator[str]:
    """Tensors that are counted without a known name, and sizes of those that are not counted."""
    if contents.visits:
        yield "A token passes its layers several times; each time is read and cached."
    unknown = [brief(info.name) for info, name in contents.used if not name.known]
    if unknown:
        if len(unknown) > 3:
            more = f" and {len(unknown) - 3} more"
        else:
            more = ""
        first = ", ".join(unknown[:3])
        yield f"Tensors with unknown names are counted where they fit best: {first}{more}."
    what = {
        "for multi-token prediction, which plain decoding does not run": contents.predicting,
        "of an image or sound encoder": contents.foreign,
    }
    for use, infos in what.items():
        if infos:
            yield f"{sum(map(stored_bytes, infos)) / GIB:.2f} GB {use} are not counted."


MOST_NAMED = 4  # keys that a remark names


def _unread_notes(keys: Keys) -> Iterator[str]:
    """Remark on keys of the file that may change what is kept or read, and were not understood."""
    unread = keys.unread()
    if not unread:
        return
    more = len(unread) - MOST_NAMED
    named_keys = ", ".join(map(brief, unread[:MOST_NAMED])) + (
        f" and {more} more" if more > 0 else ""
    )
    yield (
        f"The file states {named_keys}, which are not understood here: if they make layers run "
        "several times, or keep more or less of a text, speeds and the cache are others."
    )


def _architecture(keys: Keys, header: Header, contents: _Contents) -> Architecture:
    tensors = tuple(tensor(info, name) for info, name in contents.used)
    roles = _roles(keys, contents.layers, tensors)
    outside = {outer.role: outer for outer in tensors if outer.layer is None}
    if "token_embd" not in outside:
        raise InputError(f"{header.name} has no token table (token_embd). Download it again.")
    hidden = keys.number("embedding_length")
    kept = memory(keys, roles, hidden)
    return Architecture(
        name=_model_name(header),
        layers=contents.layers,
        visits=contents.visits,
        hidden=hidden,
        vocab=outside["token_embd"].rows,
        tied="output" not in outside,
        max_context=keys.number("context_length", 0) or None,
        tensors=tensors,
        cache=tuple(layer.cache for layer in kept),
        attention_values=tuple(layer.attention_values for layer in kept),
        experts=_experts(keys, tensors),
        source=f"GGUF header of {header.name[:120]}",
        head_dim=max(keys.per_layer("attention.key_length", contents.layers, 0)),
        draft_layers=keys.number("nextn_predict_layers", 0),
        unknown_kinds=() if keys.architecture in architectures() else (keys.architecture,),
    )


def _roles(keys: Keys, layers: int, tensors: Sequence[Tensor]) -> list[frozenset[str]]:
    roles_by_layer: list[set[str]] = [set() for _ in range(layers)]
    for entry in tensors:
        if entry.layer is not None:
            roles_by_layer[entry.layer].add(entry.role)
    empty = [layer for layer, roles in enumerate(roles_by_layer) if not roles]
    if empty and keys.architecture != "deci":
        raise InputError(
            f"Layer {empty[0]} of {layers} has no tensors, so a part of the model is missing. "
            "Give all of its files."
        )
    for layer, roles in enumerate(roles_by_layer):
        _check_companions(layer, roles)
    return [frozenset(roles) for roles in roles_by_layer]


def _check_companions(layer: int, roles: AbstractSet[str]) -> None:
    """Refuse a layer that lacks a tensor without which another computes nothing."""
    for role in sorted(roles & COMPANIONS.keys()):
        for needed in COMPANIONS[role]:
            if not roles & set(needed):
                raise InputError(
                    f"Layer {layer} has the tensor {role}, but not {' or '.join(needed)}, which "
                    "llama.cpp needs beside it. The file is damaged; download it again."
                )


def _experts(keys: Keys, tensors: Sequence[Tensor]) -> Experts | None:
    total = keys.number("expert_count", 0)
    used = keys.number("expert_used_count", 0)
    routed = any(tensor.group is Group.ROUTED_EXPERTS for tensor in tensors)
    if not routed:
        return None
    if not 1 <= used <= total:
        raise InputError(
            f"{keys.architecture} has routed experts, but expert_used_count is {used} of "
            f"expert_count {total}. The file is damaged."
        )
    return Experts(total=total, used=used)


def _model_name(header: Header) -> str:
    """Model's own name; the file's where it has none."""
    name = header.values.get("general.name")
    if isinstance(name, str) and name.strip():
        text = name
    else:
        text = header.name.removesuffix(".gguf")
    return (
        "".join(character for character in text[:80] if character.isprintable()).strip()
        or "unnamed model"
    )


def _format(
    header: Header, tensors: Sequence[Tensor], kinds: Sequence[StorageType], keys: Keys
) -> str:
    """Format's name as people know it; where the file does not say, that of most weights."""
    number = header.values.get("general.file_type")
    if isinstance(number, int) and number & ~GUESSED in numbered("file type"):
        keys.facts["general.file_type"] = str(number)
        return numbered("file type")[number & ~GUESSED]
    weights: dict[str, int] = {}
    for entry, kind in zip(tensors, kinds, strict=True):
        weights[kind.name] = weights.get(kind.name, 0) + entry.params
    return max(weights, key=lambda name: weights[name])
