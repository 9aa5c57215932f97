"""The list of the Hub's models: read whole, and its rows as architectures."""

from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from provenance import is_past, is_public

from advisor.catalog.csv_tables import DATA, texts
from advisor.errors import AdvisorError, Refusal
from advisor.model import catalog
from advisor.model.by_name.hub_list import (
    HubList,
    HubRow,
    counts_weights,
    hub_list,
    is_unpacked,
    more_rows,
    shipped,
)
from advisor.model.by_name.listed import RULES, hub_rules, listed, text_parameters
from advisor.model.by_name.named import native_rows
from advisor.model.by_name.names import take_apart
from advisor.model.config.read import describe
from advisor.model.config.values import built_models
from advisor.model.formats import Format
from advisor.model.no_chat import refuse_no_chat_model


def test_the_list_is_whole() -> None:
    rows = list(hub_list())
    listed = shipped().casefold()
    built = [name for name in built_models() if f"\n{name}," not in listed]
    assert len(rows) == 10_601 + len(more_rows()) + len(built)
    assert len({row.name for row in rows}) == len(rows)
    assert all(row.layers >= 0 and row.hidden >= 0 for row in rows)


def test_keys_match_names() -> None:
    """A change to the words or tokens makes the list stale; `listed.refresh` writes it anew."""
    stale = [row.name for row in hub_list() if " ".join(take_apart(row.name).shape) != row.key]
    assert stale == []


def test_the_licence_stands_beside_the_list() -> None:
    text = (DATA / "models" / "LICENSE").read_text(encoding="utf-8")
    assert "MIT License" in text
    assert "Alex Jones" in text


def test_rows_are_found_by_name_and_by_its_parts() -> None:
    row = hub_list().named("qwen/qwen3-8b")
    assert row is not None
    assert (row.name, row.layers, row.hidden) == ("Qwen/Qwen3-8B", 36, 4096)
    assert row in tuple(hub_list().where("key", "qwen 3 8b"))
    assert hub_list().named("nobody/nothing") is None
    assert tuple(hub_list().where("key", "nothing")) == ()


def test_a_name_without_words_reads_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 77,646 empty cells the line of each was read, for a name of 299 digits."""
    monkeypatch.setattr(HubList, "__getitem__", lambda *_: pytest.fail("a line was read"))
    assert tuple(hub_list().where("key", "")) == ()


def test_every_common_family_has_a_rule() -> None:
    """Families of 15 rows and more; the rest are counted as Llama's layers, and say so."""
    count = Counter(row.architecture for row in hub_list())
    common = {name for name, rows in count.items() if rows >= 15}
    without = common - hub_rules().keys()
    # Llava and InternVL hold any language model; "unknown" is no family; the layers of the others
    # are told by no public code or config.
    assert without <= {"llava", "internvl", "unknown", "deepseek_v41", "k2_horizon"}


@cache
def of_family() -> dict[str, list[HubRow]]:
    """Rows of the list by architecture, the most downloaded first."""
    families: dict[str, list[HubRow]] = defaultdict(list)
    for row in hub_list():
        families[row.architecture].append(row)
    return families


def chats(row: HubRow) -> bool:
    """Whether a model answers with text, token by token."""
    try:
        refuse_no_chat_model(row.name)
    except Refusal:
        return False
    return True


def test_rules_have_their_source_and_build(subtests: pytest.Subtests) -> None:
    for name in sorted(hub_rules()):
        with subtests.test(str(name)):
            rule = hub_rules()[name]
            assert texts(RULES, "architectures", "source")[rule.architectures].startswith("https:")
            assert texts(RULES, "architectures", "source_date")[rule.architectures]
            rows = [row for row in of_family()[name] if row.layers and row.hidden]
            for row in filter(chats, rows[:3]):
                built = listed(row)
                assert built.architecture.layers == row.layers or built.generic
                assert built.architecture.params > 0


def test_totals_of_unpacked_rows_are_counted_within_a_hundredth() -> None:
    """A sample of every family's unpacked rows, the most downloaded first."""
    near = total = 0
    for name in hub_rules():
        rows = [row for row in of_family()[name] if is_unpacked(row) and counts_weights(row)]
        for row in filter(chats, rows[:8]):
            built = listed(row).architecture
            total += 1
            near += abs(built.params / text_parameters(row, built) - 1) < 0.01
    assert near / total > 0.86


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        # 24 x 2048^2 x (4 + 2 x 5504 / 2048) + 32,256 x 2048 is the list's own formula.
        ("deepseek-ai/deepseek-coder-1.3b-base", False),
        # The formula of packed repositories takes linear layers for attention: 24,353,177,600.
        ("z-lab/Qwen3.8-27B-PARO", False),
        ("inclusionAI/Ling-3.0-flash-base-30T", False),  # 30T are the tokens it learned from
        ("Qwen/Qwen3-8B", True),
    ],
)
def test_totals_that_the_list_worked_out_are_told_from_counted_ones(
    name: str, counted: bool
) -> None:
    row = hub_list().named(name)
    assert row is not None
    assert counts_weights(row) == counted


@pytest.mark.parametrize("row", more_rows(), ids=lambda row: row.name)
def test_models_that_the_list_lacks_have_their_published_total(row: HubRow) -> None:
    listed_row = hub_list().named(row.name)
    assert listed_row is not None
    assert listed(listed_row).architecture.params == pytest.approx(row.parameters, rel=0.01)
    file = "models/more_models.csv"
    assert is_public(texts(file, "name", "source")[row.name].partition(" ")[0])
    assert is_past(texts(file, "name", "source_date")[row.name])


def test_the_active_weights_of_jamba_are_the_published_ones() -> None:
    """arXiv:2408.12570, abstract: 94B and 12B."""
    for name, active in (("Jamba-1.5-Large", 94e9), ("Jamba-1.5-Mini", 12e9)):
        row = hub_list().named(f"ai21labs/AI21-{name}")
        assert row is not None
        assert listed(row).architecture.active_params == pytest.approx(active, rel=0.01)


def test_a_row_without_a_family_takes_that_of_the_same_sizes() -> None:
    row = hub_list().named("Securelayer7/Ling-3.0-tiny-Uncensored-Abliterated")
    named = hub_list().named("inclusionAI/Ling-3.0-tiny")
    assert row is not None
    assert named is not None
    assert (row.architecture, named.architecture) == ("unknown", "bailing_hybrid")
    assert listed(row).architecture.params == listed(named).architecture.params == row.parameters


@pytest.mark.parametrize(
    ("name", "total"),
    [
        # Counted by hand from the makers' own figures: 284B-A13B, 1.6T, 230B-A10B, 295B-A21B.
        ("deepseek-ai/DeepSeek-V4-Flash", 284e9),
        ("tencent/Hy3", 295e9),
        ("zai-org/GLM-5.3-Flash", 313e9),
        ("XiaomiMiMo/MiMo-V2-Flash", 309e9),
        ("google/gemma-4-12B-it", 11.9e9),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", 8.9e9),
        ("nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16", 3.97e9),
        ("inclusionAI/Ling-3.0-tiny", 7.9e9),
        ("tiiuae/Falcon-H1-34B-Instruct", 33.6e9),
        ("ibm-granite/granite-4.0-h-small", 32.2e9),
        ("LiquidAI/LFM2-8B-A1B", 8.34e9),
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 49.1e9),
        ("LGAI-EXAONE/K-EXAONE-236B-A23B", 236e9),
        ("LGAI-EXAONE/K-EXAONE-2.0-750B-A37B", 750e9),
        ("arcee-ai/Trinity-Mini", 26.1e9),
        ("arcee-ai/Trinity-Large-Preview", 398.6e9),
        ("CohereLabs/North-Mini-Code-1.0", 30.5e9),
        ("CohereLabs/command-a-plus-05-2026-bf16", 218e9),
        ("mistralai/Mistral-Small-4-119B-2603", 119e9),
        ("mistralai/Mistral-Large-3-675B-Instruct-2512", 673e9),
        ("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1", 253.4e9),
        ("microsoft/bitnet-b1.58-2B-4T", 2.413e9),  # its head is the token table
    ],
)
def test_families_of_their_own_layers_have_their_published_size(name: str, total: float) -> None:
    row = hub_list().named(name)
    assert row is not None
    assert listed(row).architecture.params == pytest.approx(total, rel=0.01)


@pytest.mark.parametrize(
    ("name", "tokens", "size"),
    [
        # 36 layers of 256 latent values and 64 rotary ones, 2 B each.
        ("mistralai/Mistral-Small-4-119B-2603", 1, 36 * (256 + 64) * 2),
        # 61 layers of 512 and 64.
        ("mistralai/Mistral-Large-3-675B-Instruct-2512", 1, 61 * (512 + 64) * 2),
        # 40 layers of keys and values of 2 heads of 128; its list row says 32 heads.
        ("THUDM/glm-4-9b-chat", 1, 40 * 2 * 2 * 128 * 2),
        # 8 of 32 layers keep all tokens, the others 2,048; 4 heads of 128.
        ("arcee-ai/Trinity-Mini", 32768, (8 * 32768 + 24 * 2048) * 2 * 4 * 128 * 2),
        # 12 of 48 layers keep all tokens, the others 128; 8 heads of 128.
        ("LGAI-EXAONE/K-EXAONE-236B-A23B", 32768, (12 * 32768 + 36 * 128) * 2 * 8 * 128 * 2),
        # The first of 49 layers and every fourth behind it keep all tokens, the others 4,096.
        ("CohereLabs/North-Mini-Code-1.0", 32768, (13 * 32768 + 36 * 4096) * 2 * 4 * 128 * 2),
        # 64 of 162 layers have attention, with groups of 16 of 128 heads.
        ("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1", 1, 64 * 2 * (128 // 16) * 128 * 2),
    ],
)
def test_caches_of_families_are_those_of_their_code(name: str, tokens: float, size: int) -> None:
    row = hub_list().named(name)
    assert row is not None
    model = catalog.in_format(listed(row).architecture, "BF16-hf")
    assert float(np.sum(model.kv_bytes(float(tokens), "f16"))) == pytest.approx(size, rel=1e-6)


def test_the_list_agrees_with_the_catalogue(subtests: pytest.Subtests) -> None:
    """KV bytes and bytes read per token of models in both."""
    for name in sorted(catalog.model_rows()):
        with subtests.test(str(name)):
            facts = catalog.model_rows()[name]
            row = hub_list().named(facts.hf_id)
            if row is None:
                pytest.skip("gated, so not in the list")
            ours, theirs = (
                catalog.in_format(built, "BF16-hf")
                for built in (catalog.architecture(name), listed(row).architecture)
            )
            assert float(np.sum(theirs.kv_bytes(32768.0, "f16"))) == pytest.approx(
                float(np.sum(ours.kv_bytes(32768.0, "f16"))), rel=0.01
            )
            assert theirs.read_bytes_per_token == pytest.approx(ours.read_bytes_per_token, rel=0.01)


def test_sizes_outside_a_rule_are_counted_as_llamas_and_reported() -> None:
    odd = HubRow(
        name="x/Odd-1B",
        key="odd 1b",
        architecture="no_such_family",
        parameters=10**9,
        layers=16,
        hidden=2048,
        heads=32,
        kv_heads=8,
        head_dim=64,
        vocab=32000,
        feed_forward=8192,
        shared_feed_forward=0,
        experts=0,
        experts_used=0,
        context=4096,
        released="",
    )
    built = listed(odd)
    assert built.generic
    llama = describe(
        {
            "model_type": "llama",
            "hidden_size": 2048,
            "num_hidden_layers": 16,
            "vocab_size": 32000,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 64,
            "intermediate_size": 8192,
            "max_position_embeddings": 4096,
        },
        "x",
    )
    assert built.architecture.params == llama.architecture.params


def test_every_row_is_described_or_refused_in_a_sentence() -> None:
    for row in list(hub_list())[::40]:
        with suppress(AdvisorError):
            assert listed(row).architecture.layers > 0


def test_native_formats_are_known() -> None:
    assert {row.format for row in native_rows()} <= set(Format.by_name())


@pytest.mark.parametrize(
    ("name", "weights", "kept"),
    [
        # Totals as the repositories' files hold them, and values that a token leaves in the cache:
        # 19 layers of 4 heads of 64 values, keys and values; latent ones of 512 + 64 by layer.
        ("sarvamai/sarvam-30b", 32_152_650_368, 19 * 2 * 4 * 64),
        ("sarvamai/sarvam-105b", 106_031_767_424, 32 * 576),
        ("tencent/Youtu-LLM-2B", 1_961_560_064, 32 * 576),
        ("IQuestLab/IQuest-Coder-V1-40B-Instruct", 39_794_283_520, 80 * 2 * 8 * 128),
        ("internlm/internlm3-8b-instruct", 8_804_241_408, 48 * 2 * 2 * 128),
    ],
)
def test_families_without_towers_are_counted_to_the_weight(
    name: str, weights: int, kept: int
) -> None:
    row = hub_list().named(name)
    assert row is not None
    built = listed(row)
    assert not built.generic
    assert built.architecture.params == pytest.approx(weights, rel=1e-5)
    assert sum(layer.key_values + layer.value_values for layer in built.architecture.cache) == kept


def test_experts_that_only_images_use_are_no_part_of_the_text_model() -> None:
    """ERNIE-4.5-VL-28B: 27 layers of 64 experts of images, three matrices of 2560 x 512 each."""
    row = hub_list().named("baidu/ERNIE-4.5-VL-28B-A3B-PT")
    assert row is not None
    beside = 27 * 64 * 3 * 2560 * 512
    assert listed(row).architecture.params < row.parameters - beside
    assert listed(row).architecture.active_params == pytest.approx(3.5e9, rel=0.05)
