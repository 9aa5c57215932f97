"""A newer list of the Hub's models, without the network."""

import pytest

from advisor.model.by_name.hub_list import HubList, hub_list
from advisor.refresh.models import row_of
from lab import hub_models

QWEN3_8B = {
    "model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "intermediate_size": 12288,
    "max_position_embeddings": 40960,
}  # fmt: skip
"""Qwen/Qwen3-8B, config.json."""


def test_a_row_has_the_values_of_the_list() -> None:
    listed = hub_list().named("Qwen/Qwen3-8B")
    assert listed is not None
    made = row_of("Qwen/Qwen3-8B", QWEN3_8B, listed.parameters, listed.released)
    assert made == listed


def test_written_values_are_read_back() -> None:
    import lzma

    rows = list(hub_list())[:50]
    again = HubList(lzma.decompress(hub_models.as_bytes(rows)).decode())
    assert list(again) == rows


def test_without_the_network_the_list_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    before = hub_models.FILE.read_bytes()
    assert hub_models.main(["10"]) == 2
    assert "The list stays as it is" in capsys.readouterr().err
    assert hub_models.FILE.read_bytes() == before
