"""Damaged GGUF headers: always a description or one of our errors, whatever the bytes.

`ADVISOR_FUZZ=100000` sets how many are tried, over all kinds of files.
"""

import os
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from gguf_files import LLAMA_KEYS, layered, llama_tensors, table, write
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.gguf.header import Part, read_header
from advisor.model.gguf.read import describe_prefix
from advisor.model.model import Described, Model
from advisor.runtimes import runtime
from advisor.runtimes.compare import compare

LLAMA_CPP = runtime("llama.cpp")
DESKTOP = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
KINDS = ("llama", "gemma4", "deepseek2", "mamba2", "qwen3moe")
EXAMPLES = max(int(os.environ.get("ADVISOR_FUZZ", "2000")) // len(KINDS), 1)
NUMBERS = (0, 1, 3, 7, 255, 2**16, 2**31 - 1, 2**32 - 1, 2**40, 2**53, 2**63 - 1, 2**64 - 1)

KEYS = {
    "gemma4": {
        "attention.sliding_window": 512,
        "attention.sliding_window_pattern": [True, False],
        "attention.shared_kv_layers": 1,
    },
    "deepseek2": {
        "attention.kv_lora_rank": 512,
        "attention.key_length": 576,
        "attention.key_length_mla": 192,
        "attention.value_length_mla": 128,
        "nextn_predict_layers": 0,
    },
    "mamba2": {
        "ssm.inner_size": 512,
        "ssm.state_size": 128,
        "ssm.group_count": 1,
        "ssm.conv_kernel": 4,
    },
    "qwen3moe": {"expert_count": 8, "expert_used_count": 2, "split.count": 1},
}
ROLES = {
    "deepseek2": {"attn_kv_a_mqa.weight": (64, 8)},
    "mamba2": {"ssm_conv1d.weight": (4, 8), "ssm_a": (8,), "ssm_out.weight": (512, 64)},
    "qwen3moe": {"attn_q.weight": (64, 8), "ffn_up_exps.weight": (64, 4, 8)},
}


@cache
def header(kind: str) -> bytes:
    """A sound file's header, small, so that damage hits something."""
    if kind in ROLES:
        tensors = {**table(), **layered(2, ROLES[kind])}
    else:
        tensors = llama_tensors()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.gguf"
        keys = {**LLAMA_KEYS, **KEYS.get(kind, {})}
        return write(path, kind, keys, tensors, full=False).read_bytes()


edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.integers(0, 255).map(lambda value: bytes([value])),
            st.sampled_from(NUMBERS).map(lambda value: struct.pack("<Q", value)),
            st.sampled_from(NUMBERS[:8]).map(lambda value: struct.pack("<I", value)),
            st.binary(min_size=1, max_size=12),
        ),
    ),
    min_size=1,
    max_size=4,
)
"""Places in a file, as shares of its length, and what is written there."""


def damaged(data: bytes, changes: list[tuple[float, bytes]], kept: float) -> bytes:
    result = bytearray(data)
    for place, value in changes:
        at = int(place * len(data))
        result[at : at + len(value)] = value
    return bytes(result[: int(kept * len(result)) + 1])


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=EXAMPLES,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(changes=edits, kept=st.one_of(st.just(1.0), st.floats(0, 1)))
def test_damaged_files_end_in_a_description_or_our_error(
    kind: str, changes: list[tuple[float, bytes]], kept: float
) -> None:
    data = damaged(header(kind), changes, kept)
    described = outcome(data)
    if isinstance(described, str):
        assert 20 < len(described) < 400
        assert described.isprintable()
        return
    assert described.model is not None
    assert 0 < described.model.file_bytes < 1e18
    assert (described.model.kv_bytes(8192, "f16") >= 0).all()
    placed(described.model)


def placed(model: Model) -> None:
    """Place the model as llama.cpp does, which measures every layer's tensors."""
    for users in (1, 4):
        for result in compare(model, DESKTOP, Workload(users=users), runtimes=(LLAMA_CPP,)):
            assert result.refusal or bool(result.fits) in (True, False)


def outcome(data: bytes) -> Described | str:
    """The description, or the sentence of our error."""
    try:
        return describe_prefix("m.gguf", data)
    except AdvisorError as error:
        return str(error)


@settings(max_examples=200, database=None)
@given(data=st.binary(max_size=300), version=st.sampled_from([2, 3]))
def test_noise_after_the_magic(data: bytes, version: int) -> None:
    with pytest.raises(AdvisorError):
        describe_prefix("m.gguf", b"GGUF" + struct.pack("<I", version) + data)


def test_a_source_that_never_ends_is_left() -> None:
    """A server that answers every range with the same bytes."""
    strings = struct.pack("<Q", 0) * 2**17

    def read_at(offset: int, size: int) -> bytes:
        start = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 8, 2**20)
        if offset == 0:
            return (start + strings)[:size]
        return strings[:size]

    header = read_header(Part(name="m.gguf", read_at=read_at))
    assert header.size <= 64 + 8 * 2**20
