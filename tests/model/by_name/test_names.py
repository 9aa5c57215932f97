"""Names of models: tokens of the spellings that people use."""

import pytest
from provenance import is_past, is_public

from advisor.catalog.csv_tables import DATA, read, texts
from advisor.catalog.name_matching import INSERTED, NameWordRow
from advisor.errors import Refusal
from advisor.model.by_name.named import meant
from advisor.model.by_name.names import ModelName, take_apart

SAME = {
    "qwen 3 30b a3b": (
        "Qwen3-30B-A3B",
        "Qwen/Qwen3-30B-A3B-Instruct-2507",
        "qwen3:30b-a3b-q4_K_M",
        "unsloth_Qwen3 30B A3B UD-Q4_K_XL.gguf",
        "hf.co/unsloth/Qwen3-30B-A3B-GGUF:Q4_K_M",
        "lmstudio-community/Qwen3-30B-A3B-MLX-4bit",
        "qwen 3 30b a3b thinking",
        "Qwen3-30B-A3B-abliterated-i1-GGUF",
        "qwen3moe 30B.A3B Q4_K - Medium",
        "unsloth/Qwen3-30B-A3B-GGUF:Qwen3-30B-A3B-Q4_K_M.gguf",
        "unsloth/Qwen3-30B-A3B-GGUF:ggml-model-Q4_K_M.gguf",
        "amd/Qwen3-30B-A3B-awq-onnx-ryzenai-1.7-hybrid",
    ),
    "gemma 4 26b a4b": (
        "gemma-4-26B-A4B-it-qat-GGUF",
        "google/gemma-4-26B-A4B-it",
        "gemma4:26b-a4b",
    ),
    "llama 3.1 8b": (
        "Meta-Llama-3.1-8B-Instruct",
        "meta-llama/Llama-3.1-8B",
        "Llama-3_1-8B",
        "Meta-Llama-3.1-8B-Instruct-Q4_K_M-00001-of-00002.gguf",
        "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16",
    ),
    "deepseek 3": ("DeepSeek-V3-0324", "deepseek v3", "deepseek-ai/DeepSeek-V3-Base"),
    "glm 4.6": ("glm 4.6", "zai-org/GLM-4.6-FP8", "GLM-4.6-GGUF"),
    "phi 3 mini": ("Phi-3-mini-4k-instruct", "microsoft/Phi-3-mini-128k-instruct"),
    "granite 4 h small": ("ibm-granite/granite-4.0-h-small", "granite 4 h small"),
}


@pytest.mark.parametrize(
    ("key", "text"), [(key, text) for key, texts in SAME.items() for text in texts]
)
def test_the_same_model_has_the_same_tokens(key: str, text: str) -> None:
    assert " ".join(take_apart(text).shape) == key


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Qwen3-27B", "Qwen3-4B"),
        ("Qwen3-8B", "Qwen3.8B"),
        ("Mistral-7B-v0.1", "Mistral-7B-v0.3"),
        ("Qwen3-30B-A3B", "Qwen3-30B"),
        ("Kimi-K2", "Kimi-K2.5"),
        ("GLM-4.5", "GLM-4.5-Air"),
        ("gemma-3-4b", "gemma-3-e4b"),
        ("Mixtral-8x7B", "Mixtral-8x22B"),
    ],
)
def test_numbers_and_sizes_tell_models_apart(text: str, other: str) -> None:
    assert take_apart(text).shape != take_apart(other).shape


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RadixArk/Kimi-K3-DSpark", "draft"),
        ("nvidia/Kimi-K2.6-Eagle3", "draft"),
        ("cerebras/GLM-4.5-Air-REAP-82B-A12B", "cut"),
        ("foo/Qwen-Llama-slerp-7B", "merge"),
        ("DeepSeek-R1-Distill-Qwen-7B", "distilled"),
    ],
)
def test_words_state_the_loaded_format(text: str, kind: str) -> None:
    assert kind in take_apart(text).kinds


@pytest.mark.parametrize("text", ["", "   ", "///", "🙂", "-", "4bit", "\x00", "a" * 5000])
def test_any_text_is_taken_apart(text: str) -> None:
    assert isinstance(take_apart(text), ModelName)


def test_publishers_stand_apart() -> None:
    assert take_apart("bartowski/Qwen_Qwen3-8B-GGUF").publisher == "bartowski"
    assert take_apart("Qwen3-8B").publisher == ""


def test_every_word_has_one_kind_and_every_pattern_a_reader() -> None:
    from pathlib import Path

    from advisor.model.by_name import names

    rows = read(DATA / names.TABLE.file, NameWordRow)
    listed = [row.pattern for row in rows if row.kind in (*names.KINDS, "label", "short")]
    assert len(listed) == len(set(listed))
    code = "".join(file.read_text() for file in Path(names.__file__).parent.glob("*.py"))
    inserted = {kind for row in rows for kind in INSERTED.findall(row.pattern)}
    for kind in {row.kind for row in rows}:
        names.TABLE.patterns(kind)
        assert kind in inserted or f'"{kind}"' in code, kind


def test_every_other_name_has_a_known_base_and_a_dated_page() -> None:
    from advisor.model.by_name.known import of_other_name

    dates = texts("models/other_names.csv", "name", "source_date")
    for name, source in texts("models/other_names.csv", "name", "source").items():
        assert of_other_name(take_apart(name).key) is not None, name
        assert is_public(source)
        assert is_past(dates[name])


def test_a_tag_of_ollama_is_not_what_llama_bench_prints() -> None:
    assert meant("phi3:14b").name == "microsoft/Phi-3-medium-128k-instruct"
    assert meant("phi3 14B Q4_K - Medium").name == "Phi-4"


@pytest.mark.parametrize("name", ["Qwen3-TTS-1.7B", "mmproj-Qwen3.6-27B-f16", "flux2-klein-9b"])
def test_what_writes_no_text_is_refused(name: str) -> None:
    with pytest.raises(Refusal, match="writes no text"):
        meant(name)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("TinyLlama-1.1B-1T", ("tinyllama", "1.1b")),  # trained on 1T tokens
        ("kimi-k2:1t-a32b", ("kimi", "k", "2", "1t", "a32b")),  # 1T weights
        ("L3.3-70B-Euryale", ("llama", "3.3", "70b", "euryale")),
    ],
)
def test_a_size_is_that_of_the_weights(name: str, shape: tuple[str, ...]) -> None:
    assert take_apart(name).shape == shape


def test_a_model_that_does_not_chat_is_refused_with_what_it_does() -> None:
    does = {
        "text diffusion": (
            *("google/diffusiongemma-26B-A4B-it", "LLaDA2.0-mini", "inclusionAI/LLaDA2.0-flash"),
            *("Dream-org/Dream-v0-Instruct-7B", "SDAR-8B-Chat", "Fast-dLLM_v2_7B", "WeDLM-8B"),
        ),
        "vectors": (
            *("Qwen/Qwen3-Embedding-8B", "Qwen3-Embedding-0.6B-Q8_0.gguf", "qwen3-embedding:8b"),
            *("e5-mistral-7b-instruct", "gte-Qwen2-7B-instruct", "all-MiniLM-L6-v2"),
        ),
        "scores": ("Qwen3-Reranker-8B", "bge-reranker-v2-gemma", "Skywork-Reward-V2-Llama-3.1-8B"),
        "speech": ("Qwen3-ASR-1.7B", "orpheus-3b-0.1-ft", "sesame/csm-1b"),
        "images": ("stable-diffusion-3.5-large", "Qwen-Image", "hunyuanvideo"),
    }
    silent = []
    for what, names in does.items():
        for name in names:
            with pytest.raises(Refusal) as refused:
                meant(name)
            silent += [] if what in str(refused.value) else [name]
    assert not silent


def test_a_language_model_whose_name_holds_such_a_word_is_none_of_them() -> None:
    for name in (
        "weblab-LLM-M/Weblab-MedLLM-gpt-oss-120b",
        "DreamFast/gemma-3-12b-it-heretic",
        "mattshumer/Reflection-Llama-3.1-70B",
        "Marcin116/Qwen3.8-27B-Uncensored-W4A16-AutoRound-embed-int4",
        "aidiffuser/Kimi-K2.6-MLX-4bit",
    ):
        assert meant(name).name


@pytest.mark.parametrize("name", ["Gemini 2.5 Flash", "claude opus 4.6", "gpt-4o", "OpenAI GPT-5"])
def test_what_is_not_published_is_refused(name: str) -> None:
    with pytest.raises(Refusal, match="not published"):
        meant(name)


def test_a_fine_tune_on_its_answers_is_not() -> None:
    assert meant("gpt-oss-20b").name == "gpt-oss-20b"
    assert "Qwen3.5-27B" in meant("Qwen3.5-27B-Claude-4.6-Opus-Reasoning-Distilled").name
