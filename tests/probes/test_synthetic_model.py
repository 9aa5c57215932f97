"""Files for timing engines, against the `gguf` package and this program's own reader."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, dequantize

from advisor.errors import Refusal, UnknownName
from advisor.model.architecture import ArchitectureSpec
from advisor.model.gguf.read import describe_path
from advisor.probes.llama_cpp.synthetic_model import KINDS, Synthetic, in_format, in_type, write

DENSE = ArchitectureSpec(
    name="dense",
    layers=2,
    hidden=256,
    intermediate=512,
    heads=4,
    kv_heads=2,
    head_dim=64,
    vocab=512,
)
EXPERTS = ArchitectureSpec(
    name="experts",
    layers=2,
    hidden=256,
    moe_intermediate=256,
    experts=4,
    experts_per_token=2,
    heads=4,
    kv_heads=4,
    head_dim=64,
    vocab=512,
)


def written(path: Path, synthetic: Synthetic, *, filled: bool = False) -> Path:
    with path.open("wb") as file:
        size = write(file, synthetic, filled=filled)
    assert path.stat().st_size == size
    return path


@pytest.mark.parametrize("facts", [DENSE, EXPERTS], ids=lambda facts: facts.name)
@pytest.mark.parametrize("kind", [*KINDS, "Q4_K_M"])
def test_our_own_reader_finds_the_same_model(facts, kind, tmp_path):
    if kind in KINDS:
        synthetic = in_type(facts, kind)
    else:
        synthetic = in_format(facts, kind)
    model = describe_path(written(tmp_path / "model.gguf", synthetic)).model
    assert model is not None
    assert model.file_bytes == synthetic.model.file_bytes
    assert model.read_bytes_per_token == pytest.approx(synthetic.model.read_bytes_per_token)
    assert model.architecture.experts == synthetic.model.architecture.experts
    assert model.stored == pytest.approx(synthetic.model.stored)


@pytest.mark.parametrize("facts", [DENSE, EXPERTS], ids=lambda facts: facts.name)
@pytest.mark.parametrize("kind", KINDS)
def test_filled_weights_are_finite_and_around_zero(facts, kind, tmp_path):
    path = written(tmp_path / "model.gguf", in_type(facts, kind), filled=True)
    for tensor in GGUFReader(path).tensors:
        values = dequantize(tensor.data, tensor.tensor_type)
        assert np.all(np.isfinite(values)), tensor.name
        if "norm" in tensor.name:
            assert np.all(values == 1.0)
        else:
            # Four bits count from -8 to 7, half a step below zero on average: 0.11 of 4.6.
            assert abs(np.mean(values)) < 0.15 * np.std(values), tensor.name


def test_unfilled_files_take_no_room(tmp_path):
    facts = ArchitectureSpec(
        name="wide",
        layers=2,
        hidden=2048,
        intermediate=8192,
        heads=16,
        kv_heads=16,
        head_dim=128,
        vocab=512,
    )
    path = written(tmp_path / "hole.gguf", in_type(facts, "Q8_0"))
    assert path.stat().st_size > 100e6
    if path.stat().st_blocks * 512 > path.stat().st_size / 2:
        pytest.skip("this file system stores holes")
    large = [tensor for tensor in GGUFReader(path).tensors if tensor.name.startswith("blk.")]
    assert {bool(np.any(entry.data)) for entry in large if "norm" not in entry.name} == {False}


def test_tokens_and_routers_tell_tokens_apart(tmp_path):
    path = written(tmp_path / "model.gguf", in_type(EXPERTS, "Q8_0"))
    by_name = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    table = dequantize(by_name["token_embd.weight"].data, by_name["token_embd.weight"].tensor_type)
    assert len({row.tobytes() for row in table}) == EXPERTS.vocab
    assert np.std(by_name["blk.0.ffn_gate_inp.weight"].data) > 0
    assert not np.any(by_name["output.weight"].data)
    assert not np.any(by_name["blk.0.ffn_gate_exps.weight"].data)


def test_types_that_are_not_written_are_refused():
    with pytest.raises(Refusal, match=r"IQ2_XS has tensors in .*; synthetic models are written in"):
        in_format(DENSE, "IQ2_XS")
    with pytest.raises(UnknownName):
        in_format(DENSE, "Q99")
