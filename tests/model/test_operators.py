"""Kinds of layers are read from the tensors of known models."""

import pytest

from advisor.cost_model.uncertainty import joined_name
from advisor.model.architecture import operators
from advisor.model.catalog import architecture, model


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("Llama-3.1-8B", "full attention"),
        ("Gemma-4-26B-A4B", "full attention + windowed attention + small experts"),
        ("DeepSeek-R1", "latent attention + experts"),
        ("Qwen3.6-35B-A3B", "full attention + linear attention + small experts"),
        ("Nemotron-3-Nano-30B-A3B", "full attention + state space + experts"),
    ],
)
def test_kinds_of_layers_of_known_models(name: str, kinds: str) -> None:
    assert joined_name(operators(architecture(name))) == kinds


def test_layers_of_one_block_count_half() -> None:
    # Nemotron 3 Nano: 52 layers, each one block: 23 Mamba-2, 23 of experts, 6 of attention.
    hybrid = model("Nemotron-3-Nano-30B-A3B", "Q4_K_M")
    assert hybrid.layers == 52
    assert hybrid.per_layer.blocks.sum() == pytest.approx(26)
    assert hybrid.per_layer.scan_layers.sum() == 23
    usual = model("Llama-3.1-8B", "Q4_K_M")
    assert usual.per_layer.blocks.sum() == usual.layers
    assert not usual.per_layer.scan_layers.any()


def test_layers_count_by_their_matrices() -> None:
    # Nemotron 3 Nano: 23 layers with a matrix before and one after their state, 23 with two of a
    # shared expert, 6 of attention with four. Phi-4 has one for queries, keys and values.
    names = ("Nemotron-3-Nano-30B-A3B", "Llama-3.1-8B", "Qwen3-30B-A3B", "Phi-4")
    hybrid, usual, experts, joined = (model(name, "Q4_K_M").per_layer.matrices for name in names)
    assert hybrid.sum() * 7 == pytest.approx(23 * 2 + 23 * 2 + 6 * 4)
    assert usual.tolist() == [1.0] * 32
    assert (experts * 7).tolist() == [4.0] * 48
    assert set((joined * 7).tolist()) == {5.0}
