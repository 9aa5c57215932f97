"""Files of one model: parts of a split one found and put together.

Reference: ggml-org/llama.cpp, tools/gguf-split (names and `split.*` keys), read 2026-11-21.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from advisor import given_files
from advisor.errors import InputError
from advisor.model.formats.quantization import StorageType
from advisor.model.gguf.header import Header, Part, TensorInfo
from advisor.model.gguf.tensors import storage_type, stored_bytes
from advisor.model.gguf.text import brief
from advisor.units import GIB

MAX_PARTS = 256
SPLIT_NAME = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")


def part_names(name: str) -> list[str]:
    """Names of all parts of a split file by that of one; a whole file is its only part.

    Raises:
        InputError: numbers that no part has.
    """
    matched = SPLIT_NAME.fullmatch(name)
    if matched is None:
        return [name]
    stem, count = matched[1], int(matched[3])
    if not 1 <= int(matched[2]) <= count <= MAX_PARTS:
        raise InputError(f"{name} is no name of a part; they go from 1 to {MAX_PARTS} at most.")
    return [f"{stem}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def part_paths(path: Path) -> list[Path]:
    """All parts of a split file beside one of them.

    Raises:
        InputError: a part is missing.
    """
    parts = [path.with_name(name) for name in part_names(path.name)]
    missing = [part.name for part in parts if len(parts) > 1 and not part.is_file()]
    if missing:
        raise InputError(
            f"{missing[0]} is missing beside {path.name}; the model needs all {len(parts)} parts. "
            "Download it into the same folder."
        )
    return parts


def opened(path: Path, stack: ExitStack) -> Part:
    """A file as a part; it is closed with the stack.

    Raises:
        InputError: it cannot be opened or, from `read_at`, read.
    """

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
    """Tensors of all parts.

    Raises:
        InputError: parts that are missing, out of order or of different models.
    """
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


def cut_short(
    parts: Sequence[Part], headers: Sequence[Header], storage: Mapping[str, StorageType]
) -> list[str]:
    """Files that end before their weights do: an incomplete download, or a beginning."""
    notes = []
    for part, header in zip(parts, headers, strict=True):
        ends = (
            header.size + info.offset + stored_bytes(info, storage_type(info, storage))
            for info in header.tensors
        )
        end = max(ends, default=0)
        if part.size is not None and part.size < end:
            notes.append(
                f"{part.name} ends {(end - part.size) / GIB:.2f} GiB before its weights do: it is "
                "the beginning of a file, or its download is incomplete."
            )
    return notes
