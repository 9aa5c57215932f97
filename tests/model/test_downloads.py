"""Names under which models are downloaded: only those of checked lists."""

from pathlib import Path

import pytest

from advisor.advice.first_run import search_page
from advisor.advice.prices.rows import api_offers
from advisor.catalog.csv_tables import texts
from advisor.errors import AdvisorError
from advisor.model import catalog
from advisor.model.by_name.hub_list import hub_list
from advisor.model.by_name.named import is_named
from advisor.model.by_name.names import OLLAMA, take_apart
from advisor.model.resolve import find


def test_every_tag_stands_in_the_list_of_ollamas_library() -> None:
    others = texts(OLLAMA, "name", "others")
    library = {
        f"{name}:{tag}"
        for name, usual in texts(OLLAMA, "name", "usual").items()
        for tag in (usual, *others[name].split())
    }
    named = {row.ollama for row in catalog.Download.rows().values() if row.ollama}
    assert named <= library
    assert len(named) > 150


def test_every_model_is_one_that_a_name_leads_to() -> None:
    listed = {row.name for row in hub_list()} | catalog.model_rows().keys()
    further = sorted(catalog.Download.rows().keys() - listed)
    assert further == [name for name in further if is_named(name)]


def test_every_repository_has_an_owner_and_the_models_name() -> None:
    publishers = set()
    for row in catalog.Download.rows().values():
        if row.gguf:
            owner, name = row.gguf.split("/")
            publishers.add(owner)
            assert name.endswith("-GGUF"), row
    assert publishers == {"unsloth", "bartowski", "ggml-org", "TheBloke", "mradermacher"}


@pytest.mark.parametrize(
    ("name", "form", "gguf", "ollama"),
    [
        ("Qwen3.6-27B", "Q4_K_M", "unsloth/Qwen3.6-27B-GGUF:Q4_K_M", "qwen3.6:27b-q4_K_M"),
        (
            "Qwen3.6-27B",
            "Q6_K",
            "unsloth/Qwen3.6-27B-GGUF:Q6_K",
            "hf.co/unsloth/Qwen3.6-27B-GGUF:Q6_K",
        ),
        ("gpt-oss-20b", "MXFP4", "ggml-org/gpt-oss-20b-GGUF", "gpt-oss:20b"),
        ("Qwen3-8B", "IQ3_XXS", "", ""),  # not in every repository
        ("OPT-13B", "Q4_K_M", "", ""),  # in no list
        ("Gemma-4-31B", "Q8_0", "ggml-org/gemma-4-31B-it-GGUF:Q8_0",
         "hf.co/ggml-org/gemma-4-31B-it-GGUF:Q8_0"),
        ("Gemma-4-31B", "Q5_K_M", "", ""),  # llama.cpp's publisher has two formats
    ],
)  # fmt: skip
def test_a_name_is_given_where_the_format_is_there(
    name: str, form: str, gguf: str, ollama: str
) -> None:
    model = catalog.model(name, form)
    assert catalog.Download.of_gguf(model) == gguf
    assert catalog.Download.of_ollama(model) == ollama


def test_ollama_is_given_no_file_that_its_publisher_divides() -> None:
    # GLM-4.5-Air in Q4_K_M is 70 GB, in two parts; gpt-oss-120b is in Ollama's own library
    large = catalog.model("GLM-4.5-Air", "Q4_K_M")
    assert large.file_bytes > 50e9
    assert catalog.Download.of_gguf(large)
    assert catalog.Download.of_ollama(large) == ""
    assert catalog.Download.of_ollama(catalog.model("gpt-oss-120b", "MXFP4")) == "gpt-oss:120b"


def test_a_file_that_lies_here_is_not_downloaded(tmp_path: Path) -> None:
    from gguf_files import LLAMA_KEYS, llama_tensors, write

    keys = {**LLAMA_KEYS, "general.name": "Qwen3-8B"}
    path = write(tmp_path / "Qwen3-8B.gguf", "llama", keys, llama_tensors())
    model = find(str(path), None).model
    assert catalog.Download.of_gguf(model) == ""


def test_the_dates_are_those_of_the_lists() -> None:
    assert set(texts("models/downloads.csv", "model", "retrieved").values()) == {"2026-11-22"}


def test_a_search_names_what_is_searched_for() -> None:
    page = search_page("Qwen3-8B", "gguf")
    assert page == "https://huggingface.co/models?library=gguf&search=Qwen3-8B"


@pytest.mark.parametrize(
    ("name", "gguf", "ollama"),
    [  # repositories and tags of the same words, on the Hub and in Ollama's library
        ("deepseek-r1:7b", "bartowski/DeepSeek-R1-Distill-Qwen-7B-GGUF",
         "deepseek-r1:7b-qwen-distill-q4_K_M"),
        ("qwq", "unsloth/QwQ-32B-GGUF", "qwq:32b-q4_K_M"),
        ("devstral", "unsloth/Devstral-Small-2505-GGUF", "devstral:24b-small-2505-q4_K_M"),
        ("mistral small 3.2", "unsloth/Mistral-Small-3.2-24B-Instruct-2506-GGUF",
         "mistral-small3.2:24b-instruct-2506-q4_K_M"),
        ("qwen2.5 coder 7b", "unsloth/Qwen2.5-Coder-7B-Instruct-GGUF",
         "hf.co/unsloth/Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M"),
        ("qwen3 30b a3b 2507", "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF",
         "hf.co/unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M"),
        ("dolphin3 8b", "", "dolphin3:8b-llama3.1-q4_K_M"),
        ("magistral small 1.2", "", ""),  # in no list: its page is searched for
        ("gemma 4 31b abliterated", "", ""),
    ],
)  # fmt: skip
def test_weights_of_other_names_in_the_same_layers_are_the_ones_that_are_loaded(
    name: str, gguf: str, ollama: str
) -> None:
    resolved = find(name, "Q4_K_M")
    assert resolved.taken_as
    assert catalog.Download.of_gguf(resolved.model).partition(":")[0] == gguf
    assert catalog.Download.of_ollama(resolved.model) == ollama


@pytest.mark.parametrize(
    "name",
    ["llama-3.1-8b-instruct", "unsloth/Qwen3.6-27B-GGUF:Q4_K_M", "Qwen3.8-27B-MTP", "mixtral 8x7",
     "qwen3.6:27b", "gpt-oss 20b", "llama4:16x17b", "glm-4.5-air-106b-a12b"],
)  # fmt: skip
def test_other_spellings_mean_the_models_own_weights(name: str) -> None:
    model = find(name, None).model
    assert model.published_as == model.name


def test_listed_repositories_load_themselves_or_a_packing_of_their_words() -> None:
    rows = [row.name for row in hub_list()][::101]
    wrong = []
    for name in rows:
        try:
            model = find(name, None).model
        except AdvisorError:
            continue
        source = catalog.Download.of_gguf(model).partition(":")[0]
        words = take_apart(name).weight_words
        if (
            source
            and not words <= take_apart(source).weight_words | take_apart(model.name).weight_words
        ):
            wrong.append((name, source))
    assert wrong == []
    assert len(rows) > 100


def test_an_api_sells_the_weights_that_are_asked_for() -> None:
    assert {row.model_id for row in api_offers(find("qwen3 30b a3b 2507", None).model)} == {
        "qwen/qwen3-30b-a3b-instruct-2507"
    }
    assert api_offers(find("deepseek-r1:7b", None).model) == []  # sold of Qwen2.5-7B alone
    assert api_offers(find("qwen2.5 7b", None).model)
