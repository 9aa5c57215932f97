"""Files of one model: parts of a split one found and put together.

Reference: ggml-org/llama.cpp, tools/gguf-split (names and `split.*` keys), read 2026-11-21.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

from advisor import given_files
from advisor.catalog.name_matching import NameWords
from advisor.errors import InputError
from advisor.model.architecture import Group, Tensor
from advisor.model.formats import StorageType
from advisor.model.gguf.header import Header, Part, TensorInfo, brief
from advisor.units import GIB

# Tensors of a GGUF file, their purpose read from their names.
#
# Reference: ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), and the constants of the `gguf`
# package 0.19.0 (type numbers), read 2026-11-21.

NUMBERS = NameWords("models/gguf_numbers.csv")


@cache
def numbered(kind: str) -> Mapping[int, str]:
    """Names of GGUF's numbers by kind: "type", "retired type" (no longer read) or "file type"."""
    return {int(number): name for number, name in NUMBERS.of_kind(kind).items()}


OUTSIDE = frozenset(
    {
        *("output", "output_norm", "token_embd_norm", "rope_freqs"),
        *("rope_factors_long", "rope_factors_short", "per_layer_model_proj"),
        *("per_layer_proj_norm", "altup_proj", "altup_unembd_proj"),
        *("output_hc_norm", "output_hc_down", "output_hc_up", "output_hc_base"),
        *("output_hc_fn", "output_hc_scale"),
    }
)
"""Other tensors outside the layers, all read whole."""
OTHER_NETWORKS = ("v.", "mm.", "a.", "resampler.", "s.")
"""Prefixes of the tensors of image and sound encoders."""
TABLE = re.compile(r"(?!.*(?:proj|norm)).*(?:engram_mhe|n_?gram|emb[de]\w*|table)s?", re.IGNORECASE)
"""Name of a table within a layer of which a token reads some rows: `engram_mhe`."""
LAYER = re.compile(r"blk\.(\d{1,5})\.(.+)")
PARTS = frozenset({"weight", "bias", "scale", "input_scale"})
"""Last words of a tensor's name: its part of a matrix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorName:
    """Role, group and layer of a tensor, by its name."""

    role: str  # the name without layer and `.weight`
    group: Group | None  # purpose; None for tensors that the text model does not use
    layer: int | None  # repeating layer; None outside them
    known: bool = True  # the name is one that llama.cpp writes


def named(name: str) -> TensorName:
    """Role, group and layer in a tensor's name."""
    inside = LAYER.fullmatch(name)
    if inside:
        base, role = _base_and_role(inside[2])
        group = Group.in_layer(base)
        return TensorName(
            role=role, group=group or _nearest(base), layer=int(inside[1]), known=group is not None
        )
    base, role = _base_and_role(name)
    group = Group.outside(base)
    if name.startswith(OTHER_NETWORKS) and group is not Group.EMBEDDING:
        return TensorName(role=role, group=None, layer=None)
    known = group is Group.EMBEDDING or base in OUTSIDE
    return TensorName(role=role, group=group, layer=None, known=known)


def tensor(info: TensorInfo, name: TensorName) -> Tensor:
    """Tensor, its dimensions behind the first as rows."""
    if name.group is None:
        raise InputError(f"{brief(info.name)} belongs to another network than the text model.")
    role = name.role
    layer = name.layer
    if name.group is Group.EMBEDDING and layer is not None:
        role = Tensor.LAYER_TABLES  # held outside the layers: only rows of it are read
        layer = None
    return Tensor(
        role=role,
        group=name.group,
        layer=layer,
        rows=prod(info.shape[1:]),
        width=info.shape[0],
    )


def storage_type(info: TensorInfo) -> StorageType:
    """Storage type of a tensor."""
    name = numbered("type").get(info.kind)
    if name is None or name not in StorageType.by_name():
        known = numbered("retired type").get(info.kind)
        if known:
            why = f"{known}, which llama.cpp no longer reads"
        else:
            why = "which is not known here"
        raise InputError(
            f"The tensor {brief(info.name)} has type number {info.kind}, {why}. Choose a file "
            "in another format, such as Q4_K_M."
        )
    kind = StorageType.by_name()[name]
    if info.shape[0] % kind.block_weights:
        raise InputError(
            f"The tensor {brief(info.name)} is {name} in rows of {info.shape[0]:,}, not whole "
            f"blocks of {kind.block_weights}. The file is damaged; download it again."
        )
    return kind


def stored_bytes(info: TensorInfo) -> int:
    """Bytes of a tensor in its file, without padding [B]."""
    kind = storage_type(info)
    return prod(info.shape) // kind.block_weights * int(kind.block_bytes)


def _base_and_role(name: str) -> tuple[str, str]:
    base, _, last = name.rpartition(".")
    if last not in PARTS or not base:
        return name, name
    return base, base if last == "weight" else name


def _nearest(base: str) -> Group:
    """Group of a name that no rule knows: a table, experts, attention or the feed-forward."""
    if TABLE.fullmatch(base):
        return Group.EMBEDDING
    if "exps" in base:
        return Group.ROUTED_EXPERTS
    if "attn" in base:
        return Group.ATTENTION
    return Group.DENSE_FFN


MAX_PARTS = 256
SPLIT_NAME = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")


def part_names(name: str) -> list[str]:
    """Names of all parts of a split file, from the name of one part; a whole file is its only
    part.
    """
    matched = SPLIT_NAME.fullmatch(name)
    if matched is None:
        return [name]
    stem = matched[1]
    count = int(matched[3])
    if not 1 <= int(matched[2]) <= count <= MAX_PARTS:
        raise InputError(f"{name} is no name of a part; they go from 1 to {MAX_PARTS} at most.")
    return [f"{stem}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def part_paths(path: Path) -> list[Path]:
    """Paths of all parts of a split file, from the path of one part."""
    parts = [path.with_name(name) for name in part_names(path.name)]
    missing = [part.name for part in parts if len(parts) > 1 and not part.is_file()]
    if missing:
        raise InputError(
            f"{missing[0]} is missing beside {path.name}; the model needs all {len(parts)} parts. "
            "Download it into the same folder."
        )
    return parts


def opened(path: Path, stack: ExitStack) -> Part:
    """File as a part; it is closed with the stack."""

    def unreadable(error: OSError) -> InputError:
        return InputError(
            f"{path.name} cannot be read: {error.strerror}. Give the path of a .gguf file."
        )

    def read_at(offset: int, count: int) -> bytes:
        try:
            file.seek(offset)
            return file.read(count)
        except OSError as error:
            raise unreadable(error) from error

    try:
        file = stack.enter_context(given_files.opened(path))
        size = path.stat().st_size
    except OSError as error:
        raise unreadable(error) from error
    return Part(name=path.name, read_at=read_at, size=size)


def joined(headers: Sequence[Header]) -> list[TensorInfo]:
    """Tensors of all parts."""
    first = headers[0]
    count = first.values.get("split.count", 1) or 1
    if count != len(headers):
        raise InputError(
            f"{first.name} is one of {brief(count)} parts, and {len(headers)} of them are here. "
            "Give all of them, named as they were published (-00001-of-0000N.gguf)."
        )
    for number, header in enumerate(headers):
        number_said = header.values.get("split.no", "none")
        if count != 1 and number_said != number:
            raise InputError(
                f"{header.name} should be part {number + 1}, but says that it is part "
                f"{brief(number_said)} counted from 0. Give it its published name."
            )
    infos = [info for header in headers for info in header.tensors]
    total = first.values.get("split.tensors.count", len(infos))
    if total != len(infos) or len({info.name for info in infos}) != len(infos):
        raise InputError(
            f"The parts of {first.name} hold {len(infos)} tensors, not {brief(total)} different "
            "ones. They are of different files; download them again."
        )
    return infos


def cut_short(parts: Sequence[Part], headers: Sequence[Header]) -> list[str]:
    """Files that end before their weights do, as an incomplete download does."""
    notes = []
    for part, header in zip(parts, headers, strict=True):
        ends = (header.size + info.offset + stored_bytes(info) for info in header.tensors)
        end = max(ends, default=0)
        if part.size is not None and part.size < end:
            notes.append(
                f"{part.name} ends {(end - part.size) / GIB:.2f} GB before its weights do: it is "
                "the beginning of a file, or its download is incomplete."
            )
    return notes
