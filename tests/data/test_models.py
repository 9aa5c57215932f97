"""data/models/models.csv: enough models, every one asked for by its usual names, shapes that can
be.

Parameters and caches are held against published totals in test_architecture.py.
"""

import pytest
from provenance import is_past, is_public

from advisor.model import catalog

ROWS = catalog.model_rows()
DERIVABLE = [row for row in ROWS.values() if row.layers]  # the others say why in their note


def test_there_are_at_least_sixty_six() -> None:
    assert len(ROWS) >= 66


def test_it_has_a_dated_public_source() -> None:
    for row in ROWS.values():
        assert is_public(row.source)
        assert is_past(row.source_date)
        assert not row.released or is_past(row.released)


def test_its_shape_can_be() -> None:
    for row in DERIVABLE:
        assert 12 <= row.layers <= 200
        assert row.hidden % 64 == 0
        assert 20_000 <= row.vocab <= 300_000
        assert row.heads % max(row.kv_heads, 1) == 0
        assert row.max_context is None or 1024 <= row.max_context <= 20_000_000


def test_a_row_without_a_shape_says_why() -> None:
    assert all(len(row.note) > 20 for row in ROWS.values() if not row.layers)


def test_a_token_uses_some_of_its_experts() -> None:
    for row in ROWS.values():
        if row.experts:
            assert 1 <= row.experts_per_token < row.experts
        if row.published_active_b and row.published_params_b:
            assert row.published_active_b <= row.published_params_b


def test_it_is_found_by_its_repository() -> None:
    for row in ROWS.values():
        assert catalog.find_model(row.name) == row
        if row.hf_id:
            assert catalog.find_model(row.hf_id) == row


@pytest.mark.parametrize(
    "name",
    [
        "Llama-3.1-8B", "Llama-3.1-70B", "Llama-3.1-405B", "Llama-3.3-70B", "Llama-4-Scout",
        "Mixtral-8x7B", "Mistral-Small-24B", "Qwen2.5-72B", "Qwen3-8B", "Qwen3-30B-A3B",
        "Qwen3-235B-A22B", "Qwen3.5-35B-A3B", "Gemma-3-27B", "gpt-oss-20b", "gpt-oss-120b",
        "DeepSeek-V3", "DeepSeek-R1", "GLM-4.5-Air", "Kimi-K2", "Phi-4", "OPT-30B", "OPT-175B",
        "BLOOM-176B",
    ],
)  # fmt: skip
def test_models_that_people_and_papers_use_are_there(name: str) -> None:
    assert name in ROWS
