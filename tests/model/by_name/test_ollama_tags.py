"""Ollama's tags that stand for other tags."""

import pytest
from provenance import is_past, is_public

from advisor.catalog.csv_tables import texts
from advisor.errors import UnknownName
from advisor.model.by_name.named import meant, named
from advisor.model.by_name.names import OLLAMA, ollama_tag


@pytest.mark.parametrize(
    ("text", "name", "form"),
    [
        ("qwen3:latest", "Qwen3-8B", "Q4_K_M"),
        ("ollama/llama3.1", "Llama-3.1-8B", "Q4_K_M"),
        ("ollama run llama3", "Llama-3-8B", "Q4_0"),  # older models are in Q4_0
        ("library/gemma3:27b", "Gemma-3-27B", "Q4_K_M"),
        ("deepseek-r1:latest", "Qwen3-8B", "Q4_K_M"),  # DeepSeek-R1-0528-Qwen3-8B since May 2025
        ("command-r:35b", "Command-R-08-2024", "Q4_0"),
        ("qwen:7b", "Qwen/Qwen1.5-7B", "Q4_0"),
        ("gpt-oss:latest", "gpt-oss-20b", ""),
        ("qwen3:30b-a3b-q8_0", "Qwen3-30B-A3B", "Q8_0"),
    ],
)
def test_a_tag_stands_for_the_one_with_its_digest(text: str, name: str, form: str) -> None:
    assert meant(text).name == name
    assert named(text).format == form


def test_the_model_of_a_tag_that_was_not_typed_is_reported() -> None:
    assert meant("qwen3:latest").taken_as == "Qwen3-8B"


@pytest.mark.parametrize("text", ["llama3.1", "qwen3.6", "unsloth/qwen3:latest", "nothing:latest"])
def test_other_names_have_no_tag(text: str) -> None:
    assert ollama_tag(text) is None


def test_a_bare_name_may_mean_any_size() -> None:
    with pytest.raises(UnknownName):
        meant("qwen3.6")


def test_every_row_has_its_dated_page() -> None:
    dates = texts(OLLAMA, "name", "source_date")
    for name, source in texts(OLLAMA, "name", "source").items():
        assert source == f"https://ollama.com/library/{name}/tags"
        assert is_public(source)
        assert is_past(dates[name])
