"""Reasoning of models before a reply: the table, its order, and its answers."""

import csv
import lzma
import re

import pytest

from advisor.catalog.csv_tables import DATA
from advisor.errors import InputError
from advisor.model.thinking import Thinking, ThinkingMode, thinking_of, thinking_rows
from advisor.request.request import Request

# By a maker's words in a name; not where they are denied, nor by the maker's own name.
SAYS_THINKING = re.compile(
    r"(?i)thinking(?![a-z])|reasoning(?![a-z])|(?<![a-z0-9])(?:think|reason|r1|qwq)(?![a-z0-9])"
)
DENIES = re.compile(r"(?i)(?<![a-z])non?[-_ ]?(?:think|reason)")
RELEASE_ONE = re.compile(r"(?i)mag-mell-r1")  # a merge of models that do not reason


def _names() -> list[str]:
    with lzma.open(DATA / "models/hub_models.csv.xz", "rt", encoding="utf-8") as lines:
        names = [row["name"] for row in csv.DictReader(lines)]
    for table in ("models", "more_models", "built_models"):
        with (DATA / f"models/{table}.csv").open(encoding="utf-8", newline="") as lines:
            names += [row["name"] for row in csv.DictReader(lines)]
    return names


def test_what_is_named_thinking_thinks() -> None:
    thinkers = [
        name
        for name in _names()
        if SAYS_THINKING.search(name.rpartition("/")[2])
        and not DENIES.search(name)
        and not RELEASE_ONE.search(name)
    ]
    assert len(thinkers) > 300
    silent = [name for name in thinkers if not (row := thinking_of(name)) or not row.thinks]
    assert silent == []


FAMILIES = [
    # model, mode, where its source says so
    ("google/gemma-4-31B-it", "off", "ai.google.dev"),
    ("Gemma-4-26B-A4B", "off", "ai.google.dev"),
    ("gemma4:e4b", "off", "ai.google.dev"),
    ("DeepSeek-V3.1", "off", "reasoning_outputs"),
    ("DeepSeek-V3.2", "off", "DeepSeek-V3_2"),
    ("deepseek-ai/DeepSeek-V3.2-Speciale", "always", "DeepSeek-V3_2"),
    ("deepseek-ai/DeepSeek-V4-Pro", "on", "api-docs.deepseek.com"),
    ("deepseek-ai/DeepSeek-V4-Flash-0731", "on", "api-docs.deepseek.com"),
    ("deepseek-ai/DeepSeek-V4.1-Flash", "on", "api-docs.deepseek.com"),
    ("tencent/Hy3", "off", "tencent/Hy3"),
    ("tencent/Hy4-preview", "on", "simonwillison.net"),
    ("XiaomiMiMo/MiMo-V2-Flash", "off", "MiMo-V2.5"),
    ("XiaomiMiMo/MiMo-V2.5-Pro", "off", "MiMo-V2.5"),
    ("MiniMaxAI/MiniMax-M3", "on", "MiniMax-M3"),
    ("thinkingmachines/Inkling-Small-NVFP4", "on", "tinker-docs"),
    ("thinkingmachines/Inkling-2-Small", "on", "cloudflare"),
    ("meta-models/Muse-Glimmer-30B", "always", "Muse-Glimmer"),
    ("meta-models/Muse-Spark-Open-816B-A42B", "always", "groq.com"),
    ("stepfun-ai/Step-3.5-Flash", "always", "Step3.5"),
    ("stepfun-ai/Step-3.7-Flash", "always", "Step-3.7"),
    ("mistralai/Mistral-Medium-3.5-128B", "off", "Mistral-Medium-3.5"),
    ("mistralai/Mistral-Small-4-119B-2603", "off", "Mistral-Small-4"),
    ("mistralai/Mistral-Large-4-1T-A52B", "on", "mistral-large-4"),
    ("mistralai/Ministral-3-14B-Reasoning-2512", "always", "Trinity-Large-Thinking"),
    ("arcee-ai/Trinity-Large-Thinking", "always", "Trinity-Large-Thinking"),
    ("allenai/Olmo-3-32B-Think", "always", "Trinity-Large-Thinking"),
    ("baidu/ERNIE-4.5-21B-A3B-Thinking", "always", "Trinity-Large-Thinking"),
    ("LiquidAI/LFM2.5-1.2B-Thinking", "always", "Trinity-Large-Thinking"),
    ("LiquidAI/LFM2.5-8B-A1B", "always", "LFM2.5-8B"),
    ("inclusionAI/Ring-2.5-1T", "always", "Ring-2.6"),
    ("inclusionAI/Ling-3.0-flash", "on", "ling-3.0"),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "on", "nemotron-super-49b"),
    ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "on", "Nemotron-Nano-9B"),
    ("nvidia/Nemotron-3-Nano-Omni-30B-A3B-Reasoning-BF16", "on", "nousresearch"),
    ("HuggingFaceTB/SmolLM3-3B", "on", "SmolLM3"),
    ("ByteDance-Seed/Seed-OSS-36B-Instruct", "on", "Seed-OSS"),
    ("LGAI-EXAONE/EXAONE-4.0-32B", "off", "EXAONE-4.0"),
    ("LGAI-EXAONE/K-EXAONE-236B-A23B", "on", "K-EXAONE"),
    ("ibm-granite/granite-3.3-8b-instruct", "off", "reasoning_outputs"),
    ("ibm-granite/granite-4.2-8b", "on", "granite4-2"),
    ("internlm/Intern-S2-Preview", "on", "Intern-S2"),
    ("poolside/Laguna-M.1", "on", "Laguna-M.1"),
    ("poolside/Laguna-XS-2.1", "off", "Laguna-XS"),
    ("sarvamai/sarvam-30b", "on", "sarvam"),
    ("openbmb/MiniCPM5-1B", "off", "MiniCPM5"),
    ("NousResearch/Hermes-4-70B", "off", "Hermes-4"),
    ("moonshotai/Kimi-K2.7-Code", "always", "Kimi-K2.7-Code"),
    ("microsoft/Phi-4-mini-reasoning", "always", "evalscope"),
    ("zai-org/GLM-5.3-Flash", "on", "docs.z.ai"),
    ("Qwen/Qwen3.8-27B", "on", "qwen36"),
]


@pytest.mark.parametrize(("model", "mode", "source"), FAMILIES)
def test_families_think_as_their_source_says(model: str, mode: str, source: str) -> None:
    row = thinking_of(model)
    assert row is not None
    assert row.mode == ThinkingMode(mode)
    assert source in row.source


@pytest.mark.parametrize(
    "model",
    [
        "Qwen/Qwen3-30B-A3B-Instruct-2507",
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        "Qwen/Qwen3-Coder-480B-A35B-Instruct",
        "mistralai/Ministral-3-14B-Instruct-2512",
        "google/gemma-3-27b-it",
        "Tiiny/SmallThinker-21BA3B-Instruct",
        "resect-ai/veritas-0.6B-fact-checker-non-thinking-1.0",
        "inclusionAI/Ling-2.5-1T",
    ],
)
def test_instruct_models_do_not_think(model: str) -> None:
    row = thinking_of(model)
    assert row is not None
    assert row.mode is ThinkingMode.NEVER


@pytest.mark.parametrize(
    "model",
    ["google/medgemma-4b", "Phi-4", "Nemotron-H-56B", "inflatebot/MN-12B-Mag-Mell-R1", "Kimi-K2"],
)
def test_models_without_a_source_have_no_row(model: str) -> None:
    assert thinking_of(model) is None


def test_rows_have_figures_together_and_a_dated_page() -> None:
    for row in thinking_rows():
        assert (row.short_tokens is None) == (row.long_tokens is None), row.model
        assert row.source.startswith("https://"), row.model
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row.source_date), row.model


def _row(mode: str, tokens: float | None) -> Thinking:
    return Thinking(
        model="",
        mode=ThinkingMode(mode),
        short_tokens=tokens,
        long_tokens=tokens,
        shorter="",
        source="",
        source_date="",
    )


def test_what_is_not_published_is_the_median_of_what_is() -> None:
    shorts = sorted(row.short_tokens for row in thinking_rows() if row.short_tokens is not None)
    unknown = _row("on", None)
    assert shorts[0] < unknown.short < shorts[-1] + 1
    below = sum(number <= unknown.short for number in shorts)
    above = sum(number >= unknown.short for number in shorts)
    assert min(below, above) * 2 >= len(shorts)
    assert unknown.usual_tokens == unknown.long > 0
    assert _row("on", 123.0).usual_tokens == 123.0
    assert _row("off", None).usual_tokens == 0


def _answered(model: str, **fields: object) -> tuple[float, str]:
    nouns = Request(model=model, gpu="RTX 4090", **fields).nouns()
    return nouns.thinking_tokens, " ".join(nouns.request_notes)


@pytest.mark.parametrize("model", ["Gemma-4-31B", "deepseek-ai/DeepSeek-V4-Flash"])
def test_long_thinking_is_answered_without_figures_and_says_so(model: str) -> None:
    tokens, notes = _answered(model, think="long")
    assert tokens == _row("on", None).long
    assert "is not published" in notes
    assert f"{tokens:,.0f} tokens are counted, the median" in notes


def test_nothing_is_said_where_nothing_is_assumed() -> None:
    assert _answered("Gemma-4-31B") == (0.0, "")
    assert _answered("deepseek-ai/DeepSeek-V4-Flash", think="off") == (0.0, "")
    assert _answered("deepseek-ai/DeepSeek-V4-Flash", thinking_tokens=70.0) == (70.0, "")
    assert _answered("Qwen3-8B", think="long") == (900.0, "")


def test_thinking_is_refused_of_a_model_that_never_thinks() -> None:
    with pytest.raises(InputError, match="answers without thinking"):
        _answered("Qwen3-Next-80B-A3B", think="long")
    with pytest.raises(InputError, match=r"no thinking on record.*900 are usual"):
        _answered("Llama-3.1-8B", think="short")
