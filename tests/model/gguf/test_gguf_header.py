"""GGUF headers: versions, bounds and beginnings; hostile ones cost little memory."""

import struct
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFEndian, GGUFWriter
from gguf_files import LLAMA_KEYS, llama_tensors, write

from advisor.errors import InputError
from advisor.model.gguf.header import MAX_TENSORS, NeedMoreBytes, Part, prefix, read_header
from advisor.model.gguf.read import describe_path


def llama(path: Path) -> Path:
    return write(path, "llama", LLAMA_KEYS, llama_tensors())


def header(*, version: int = 3, tensors: int = 0, pairs: int = 0, body: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + body


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def read(data: bytes) -> Any:
    return read_header(prefix("m.gguf", data))


def test_version_2_is_read_alike(tmp_path: Path) -> None:
    data = llama(tmp_path / "m.gguf").read_bytes()
    older = data[:4] + struct.pack("<I", 2) + data[8:]
    assert read(older).version == 2
    assert read(older).tensors == read(data).tensors


def test_big_endian_is_refused(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "b.gguf", "llama", endianess=GGUFEndian.BIG)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(InputError, match="big-endian"):
        describe_path(tmp_path / "b.gguf")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (header(version=1), "version 1"),
        (header(version=4), "version 4"),
        (b"GGML" + bytes(40), "not a GGUF file"),
        (b"PK\x03\x04" + bytes(40), "not a GGUF file"),
        (header(tensors=2**60), "tensors, more than"),
        (header(pairs=2**60), "keys, more than"),
        (header(pairs=1, body=struct.pack("<Q", 2**63)), "a key has"),
        (header(pairs=1, body=text("") + bytes(4)), "a key has 0 bytes"),
        (header(pairs=1, body=text("k") + struct.pack("<I", 13)), "unknown type 13"),
        (header(pairs=1, body=text("k") + struct.pack("<IIQ", 9, 9, 1)), "array of arrays"),
        (header(pairs=1, body=text("k") + struct.pack("<IIQ", 9, 8, 2**40)), "strings above"),
        (header(pairs=1, body=text("k") + struct.pack("<IIQ", 9, 10, 2**40)), "more than 268"),
        (header(pairs=1, body=text("k") + struct.pack("<IQ", 8, 2**62)), "more than 268"),
        (header(pairs=2, body=2 * (text("k") + struct.pack("<IB", 7, 1))), "key k is there twice"),
        (header(tensors=1, body=text("t") + struct.pack("<I", 5)), "5 dimensions"),
        (header(tensors=1, body=text("t") + struct.pack("<I", 0)), "0 dimensions"),
        (header(tensors=1, body=text("t") + struct.pack("<IQIQ", 1, 0, 0, 0)), "shape"),
        (header(tensors=1, body=text("t") + struct.pack("<IQQIQ", 2, 2**40, 2**40, 0, 0)), "shape"),
        (
            header(tensors=2, body=2 * (text("t") + struct.pack("<IQIQ", 1, 32, 0, 0))),
            "tensor t is there twice",
        ),
        (
            header(pairs=1, body=text("general.alignment") + struct.pack("<II", 4, 33)),
            "no power of two",
        ),
    ],
)
def test_headers_that_cannot_be(data: bytes, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        read(data)
    assert not isinstance(caught.value, NeedMoreBytes)


def test_every_shorter_beginning_needs_more(tmp_path: Path) -> None:
    data = llama(tmp_path / "m.gguf").read_bytes()
    end = data.index(b"output_norm.weight")
    for size in range(0, end, 7):
        with pytest.raises(NeedMoreBytes) as caught:
            read(data[:size])
        assert size < caught.value.needed <= len(data)


def test_an_array_at_the_end_must_be_there() -> None:
    body = text("k") + struct.pack("<IIQ", 9, 10, 5000)
    with pytest.raises(NeedMoreBytes):
        read(header(pairs=1, body=body + bytes(39_999)))
    assert read(header(pairs=1, body=body + bytes(40_000))).lengths == {"k": 5000}


def peak_of(data: bytes) -> int:
    tracemalloc.start()
    try:
        read(data)
    except InputError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def vocabulary(tokens: int) -> bytes:
    entries = b"".join(text(f"token{number}") for number in range(tokens))
    return text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, tokens) + entries


def test_a_vocabulary_of_250k_tokens_takes_little_memory() -> None:
    data = header(pairs=1, body=vocabulary(250_000))
    assert read(data).lengths == {"tokenizer.ggml.tokens": 250_000}
    assert "tokenizer.ggml.tokens" not in read(data).values
    assert peak_of(data) < 10e6


@pytest.mark.parametrize("count", [4096, 4097])
def test_short_arrays_are_kept_and_long_ones_stepped_over(count: int) -> None:
    body = text("k") + struct.pack(f"<IIQ{count}I", 9, 4, count, *range(count))
    rows = read(header(pairs=1, body=body))
    assert rows.lengths["k"] == count
    assert rows.values == ({"k": tuple(range(count))} if count == 4096 else {})


def test_hostile_headers_take_little_memory() -> None:
    many_keys = b"".join(
        text(f"{number:0250}") + struct.pack("<IQ", 8, 4096) + b"\xff" * 4096
        for number in range(4096)
    )
    assert peak_of(header(pairs=4096, body=many_keys)) < 100e6
    arrays = b"".join(
        text(str(number)) + struct.pack("<IIQ", 9, 10, 4096) + b"\x7f" * 8 * 4096
        for number in range(200)
    )
    assert peak_of(header(pairs=200, body=arrays)) < 20e6
    infos = b"".join(
        text(f"{number:0250}") + struct.pack("<I4QIQ", 4, 9, 9, 9, 9, 0, 0)
        for number in range(MAX_TENSORS)
    )
    assert peak_of(header(tensors=MAX_TENSORS, body=infos)) < 60e6


def test_ranges_are_asked_for_in_order_and_arrays_are_not_fetched() -> None:
    scores = text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 3_000_000)
    data = header(pairs=2, body=scores + bytes(12_000_000) + text("k") + struct.pack("<IB", 7, 1))
    request = []

    def read_at(offset: int, size: int) -> bytes:
        request.append((offset, size))
        return data[offset : offset + size]

    outcome = read_header(Part(name="m.gguf", read_at=read_at))
    assert outcome.lengths["tokenizer.ggml.scores"] == 3_000_000
    assert outcome.values["k"] is True
    assert request == sorted(request)
    assert sum(size for _, size in request) <= 2 * 2**20 < len(data)
