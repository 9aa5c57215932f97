"""Which model a name means, and that no name is answered with another model."""

import pytest
from hardware_names import sample

from advisor.errors import AdvisorError, Refusal, UnknownName
from advisor.model.architecture import ArchitectureSpec
from advisor.model.by_name.named import meant, named

MEANT = {
    # As quantizers publish.
    "gemma-4-26B-A4B-it-qat-GGUF": "Gemma-4-26B-A4B",
    "unsloth/Qwen3.6-27B-GGUF": "Qwen3.6-27B",
    "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF": "Llama-3.1-8B",
    "lmstudio-community/gemma-3-27b-it-GGUF": "Gemma-3-27B",
    "TheBloke/Llama-2-13B-chat-GGUF": "Llama-2-13B",
    "mradermacher/Qwen3-32B-i1-GGUF": "Qwen3-32B",
    "nvidia/Qwen3.6-27B-NVFP4": "Qwen3.6-27B",
    "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic": "Llama-3.3-70B",
    "mlx-community/Qwen3-30B-A3B-4bit": "Qwen3-30B-A3B",
    # Ollama tags.
    "qwen3:30b-a3b-q4_K_M": "Qwen3-30B-A3B",
    "llama3.1:70b-instruct-q4_0": "Llama-3.1-70B",
    "gemma3:27b-it-qat": "Gemma-3-27B",
    "gpt-oss:20b": "gpt-oss-20b",
    "deepseek-r1:32b": "DeepSeek-R1-Distill-Qwen-32B",
    "hf.co/unsloth/Qwen3-4B-GGUF:Q4_K_M": "Qwen3-4B",
    # Files.
    "Qwen_Qwen3-32B-Q4_K_M": "Qwen3-32B",
    "DeepSeek-V3-0324-UD-Q2_K_XL-00001-of-00006": "DeepSeek-V3",
    "GLM-4.5-Air-UD-Q4_K_XL": "GLM-4.5-Air",
    # llama-bench prints architectures and sizes.
    "qwen3moe 30B.A3B Q4_K - Medium": "Qwen3-30B-A3B",
    "qwen35moe 35B.A3B Q4_K": "Qwen3.5-35B-A3B",
    "gemma3 27B Q4_0": "Gemma-3-27B",
    "gpt-oss 120B MXFP4 MoE": "gpt-oss-120b",
    "glm4moe 106B.A12B Q4_K": "GLM-4.5-Air",
    "deepseek2 671B Q4_K_M": "DeepSeek-V3",
    # As people type.
    "glm 4.6": "zai-org/GLM-4.6",
    "gpt-oss 120": "gpt-oss-120b",
    "kimi k3": "moonshotai/Kimi-K3",
    "minimax m2.5": "MiniMax-M2.5",
    "phi 4": "Phi-4",
    "mixtral": "Mixtral-8x7B",
    "llama4 scout": "Llama-4-Scout",
    "nemotron nano 30b": "Nemotron-3-Nano-30B-A3B",
    # Fine-tunes.
    "Qwen3.6-27B-Claude-Opus-Reasoning-abliterated": "Qwen3.6-27B",
    "DeepSeek-R1-0528-Qwen3-8B": "Qwen3-8B",
    "someone/My-Llama-3.1-Nemotron-70B-v3": "Llama-3.1-70B",
    # Of the list alone.
    "Gemma-4-12B": "google/gemma-4-12B-it",
    "Qwen3.8-Flash-Next": "Qwen/Qwen3.8-Flash-Next",
    "DeepSeek-V4-Flash": "deepseek-ai/DeepSeek-V4-Flash",
    "Hunyuan-A13B": "tencent/Hunyuan-A13B-Instruct",
    "smollm2 135m": "HuggingFaceTB/SmolLM2-135M",
    "wizardlm2:8x22b": "alpindale/WizardLM-2-8x22B",
}


def test_a_name_means_its_model(subtests: pytest.Subtests) -> None:
    for text, name in MEANT.items():
        with subtests.test(f"{text} {name}"):
            assert meant(text).name == name


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("gemma 27", ("Gemma-3-27B", "Gemma-2-27B")),
        ("Qwne3-8B", ("Qwen3-8B",)),
        ("Mistrall 7B", ("Mistral-7B",)),
        ("qwen3 coder", ("Qwen3-Coder-30B-A3B", "Qwen3-Coder-480B-A35B")),
        # of a family alone its newest
        ("deepseek", ("deepseek-ai/DeepSeek-V4.1-Flash", "DeepSeek-V3.2")),
        ("kimi", ("Kimi-K2.5", "Kimi-K2.6", "moonshotai/Kimi-K3")),
        ("qwen", ("Qwen3.6-27B", "Qwen3.6-35B-A3B", "Qwen/Qwen3.8-27B")),
        ("gemma", ("Gemma-4-26B-A4B", "Gemma-4-31B")),
        ("llama", ("Llama-4-Scout", "Llama-4-Maverick", "Llama-3.3-70B")),
        ("glm", ("GLM-5", "GLM-5.2", "zai-org/GLM-5.3")),
        ("gpt-oss", ("gpt-oss-20b", "gpt-oss-120b")),
        ("granite", ("ibm-granite/granite-4.2-8b", "ibm-granite/granite-4.2-30b")),
    ],
)
def test_uncertain_matches_are_offered_and_not_taken(text: str, offered: tuple[str, ...]) -> None:
    with pytest.raises(UnknownName) as error:
        meant(text)
    assert set(offered) <= set(error.value.close)
    assert error.value.close[0] == offered[0]
    assert all(name in str(error.value) for name in offered)


@pytest.mark.parametrize(
    "text",
    [
        "Foo-35B-A3B",
        "MiniMax-M2.1-REAP-139B-A10B",
        "Qwen3.6-41B-foo",
        "Qwen3-31B-A3B",
        "GLM-4.5-Hair",
        "",
        "zzz",
        "7b",
        "8x7b",
        "gpt",
        "🙂",
    ],
)
def test_numbers_always_have_to_agree(text: str) -> None:
    with pytest.raises(UnknownName):
        meant(text)


@pytest.mark.parametrize(
    "text",
    ["RadixArk/Kimi-K3-DSpark", "Qwen3-8B-EAGLE3", "lightseekorg/kimi-k2.6-eagle3-mla"],
)
def test_drafting_models_are_not_run_alone(text: str) -> None:
    with pytest.raises(Refusal, match="drafts tokens for another model"):
        meant(text)


def test_the_shape_wins_where_it_disagrees_with_the_name() -> None:
    """A 96-layer upscaling of Qwen3.6-27B is itself, by its row of the list."""
    text = "DavidAU/Qwen3.6-40B-Claude-4.6-Opus-Deckard-Heretic-Uncensored-Thinking"
    row = meant(text).row
    assert not isinstance(row, ArchitectureSpec)
    assert row.layers == 96


@pytest.mark.parametrize(
    ("text", "taken_as"),
    [
        ("Qwen3.6-27B", ""),
        ("qwen3:30b", ""),
        ("qwen 3 8b", ""),
        ("Qwen/Qwen3-8B", ""),
        ("unsloth/Qwen3.6-27B-GGUF", "Qwen3.6-27B"),
        ("gemma-4-26B-A4B-it-qat-GGUF", "Gemma-4-26B-A4B"),
        ("gpt-oss 120", "gpt-oss-120b"),
        ("dsv3.1", "DeepSeek-V3.1"),
        ("DS-R1-32B", "DeepSeek-R1-Distill-Qwen-32B"),
    ],
)
def test_the_match_of_each_name_is_reported(text: str, taken_as: str) -> None:
    assert meant(text).taken_as == taken_as


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("gpt-oss-20b", "MXFP4-hf"),
        ("tngtech/DeepSeek-TNG-R1T2-Chimera", "FP8"),  # of DeepSeek-V3's family and width
        ("ai-sage/GigaChat3-10B-A1.8B", ""),  # of the family, in 16 bits
        ("MiniMax-M2.1", "FP8"),
        ("mistral small 4", "FP8"),
        ("mistral-large-2512", "FP8"),
        ("Ministral-3-8B-Instruct-2512", "FP8"),
        ("kimi-k2.6", "GPTQ"),  # INT4
        ("Devstral-2-123B", "FP8"),
        ("Nemotron-3-Super-120B-A12B", "NVFP4"),
        ("Mistral-Small-3.2-24B-Instruct-2506", ""),
        ("Qwen3-8B", ""),
    ],
)
def test_a_family_of_one_format_gives_it_to_all_its_repositories(text: str, native: str) -> None:
    assert named(text).native == native


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("mlx-community/Qwen3-8B-8bit", "Q8_0"),
        ("lmstudio-community/Qwen3-8B-MLX-4bit", "Q4_0"),
        ("RedHatAI/Qwen3-8B-quantized.w4a16", "AWQ"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "GPTQ"),
        ("Qwen3-Coder-480B-A35B-Instruct-1M-UD-Q2_K_XL", "UD-Q2_K_XL"),
        ("Qwen3-32B-Q4_K_M (medium)", "Q4_K_M"),
    ],
)
def test_a_name_carries_its_format(text: str, form: str) -> None:
    assert named(text).format == form


STAND_IN = "~"
REFUSED = ""


def meaning(typed: str) -> tuple[str, str]:
    """Model that a name is read as, and the format that the name carries."""
    try:
        known = named(typed)
    except AdvisorError:
        return REFUSED, ""
    return (meant(typed).name if known.known else STAND_IN), known.format


@pytest.mark.parametrize("file", ["models.csv", "models_published.csv"])
def test_names_of_quantizers_ollama_llama_bench_and_people_mean_their_models(file: str) -> None:
    """tests/samples/names; "~" is a model that is not known, shown by a stand-in."""
    cases = sample(file)
    read = {case["typed"]: meaning(case["typed"]) for case in cases}
    for case in cases:
        name, form = read[case["typed"]]
        assert name == case["name"], case["typed"]
        assert not case["format"] or form == case["format"], case["typed"]


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ("llama 5 70b", "Llama-3.3-70B"),
        ("Qwen3.6-14B", "Qwen/Qwen-14B-Chat"),
        ("Yi-2.5-34B", "Yi-34B"),
    ],
)
def test_another_version_is_never_the_model_of_that_size(typed: str, wrong: str) -> None:
    known = named(typed)
    assert not known.known
    assert known.architecture.name != wrong


@pytest.mark.parametrize(
    ("typed", "name"),
    [("minimax-m2.7:230b", "MiniMax-M2.7"), ("kimi-k2:1t", "Kimi-K2")],
)
def test_a_size_beside_a_name_without_one_has_to_be_the_models_own(typed: str, name: str) -> None:
    """MiniMax-M2.7 has 228.7e9 weights, Kimi K2 1.03e12 (their model cards)."""
    assert meant(typed).name == name
    assert not named(typed.partition(":")[0] + ":460b").known


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("qwen2-5-7b-instruct", "Qwen2.5-7B"),
        ("meta-llama/llama-3-1-70b-instruct", "Llama-3.1-70B"),
        ("eu.meta.llama3-2-1b-instruct-v1:0", "Llama-3.2-1B"),
        ("granite-3-3-8b-instruct", "ibm-granite/granite-3.3-8b-base"),
        ("mistralai/ministral-8b-2512", "Ministral-3-8B"),
        ("oci/cohere.command-a-03-2025", "Command-A-111B"),
        ("QuantTrio/DeepSeek-R1-0528-GPTQ-Int4-Int8Mix-Medium", "DeepSeek-R1"),
    ],
)
def test_versions_are_read_as_clouds_write_them(typed: str, name: str) -> None:
    assert meant(typed).name == name


@pytest.mark.parametrize(
    "typed",
    [
        "SUFE-AIFLM-Lab/Fin-R1",  # 7B, of Qwen2.5
        "featherless-ai/Qwerky-QwQ-32B",  # RWKV in place of attention
        "llama-pro:8b",  # Llama 2 with eight more layers
    ],
)
def test_a_word_in_common_does_not_make_a_base(typed: str) -> None:
    try:
        known = named(typed)
    except (UnknownName, Refusal):
        return
    assert not known.known


@pytest.mark.parametrize(
    ("typed", "billions"),
    [
        # From the makers' files in 16 bits; packed ones count scales, or one number for two.
        ("Qwen/Qwen2-1.5B-Instruct-AWQ", 1.544),
        ("unsloth/DeepSeek-R1-Distill-Qwen-1.5B-bnb-4bit", 1.777),
        ("Qwen/Qwen3-VL-4B-Instruct-FP8", 4.022),
        ("QuantTrio/GLM-4.5V-AWQ", 106.85),
        ("THUDM/glm-4-9b-chat", 9.400),
    ],
)
def test_a_packed_copy_has_the_weights_of_its_original(typed: str, billions: float) -> None:
    assert named(typed).architecture.params == pytest.approx(billions * 1e9, rel=0.002)


def test_a_space_may_stand_behind_the_publisher() -> None:
    assert meant("nex-agi Nex-N2.5-mini").name == "nex-agi/Nex-N2.5-mini"
    with pytest.raises(UnknownName):
        meant("nex-agi Nex-N9.9-mini")
