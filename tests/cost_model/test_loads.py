"""Bytes read and work of a step, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cost_model.loads import (
    ForwardPass,
    Load,
    micro_batches,
    prompt_step,
    step_load,
    token_step,
    with_short_last,
)
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, all_of
from advisor.cost_model.workload import Workload
from advisor.model import catalog
from advisor.model.model import Model

LLAMA = catalog.model("Llama-3.1-8B", "BF16-hf")
QWEN = catalog.model("Qwen3-30B-A3B", "BF16-hf")
GEMMA = catalog.model("Gemma-3-12B", "BF16-hf")
WEIGHTS = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
"""Weights of a layer of Llama 3.1 8B, its norms of 2 x 4096 beside them (config.json)."""
HEAD = 128_256 * 4096


def divided(model: Model, on_gpu: float) -> Placement:
    share = np.full(model.layers, on_gpu)
    return Placement(
        strategy=PlacementStrategy.CPU_OFFLOAD,
        gpu_layers=0.0,
        cpu_moe=0.0,
        weights={Location.vram(0): all_of(share), Location.RAM: all_of(1.0 - share)},
        kv={Location.vram(0): share, Location.RAM: 1.0 - share},
        embedding=Location.RAM,
        output={Location.vram(0): 1.0},
        buffers={},
    )


def step(tokens: float, depth: float, sequences: float = 1.0) -> ForwardPass:
    return ForwardPass(tokens=tokens, sequences=sequences, depth=depth, kv_type="f16")


def test_a_token_reads_its_layers_and_the_head_and_no_table() -> None:
    load = step_load(LLAMA, divided(LLAMA, 0.25), Location.vram(0), step(1, 1000))
    norms = 2 * 4096
    assert load.weights == 2 * (8 * (WEIGHTS + norms) + HEAD + 4096)
    assert load.layers == 8
    assert load.experts == 0
    # 8 layers x 1000 tokens x keys and values of 8 heads of 128 in 2 bytes
    assert load.kv == 8 * 1000 * 2 * 8 * 128 * 2
    rest = step_load(LLAMA, divided(LLAMA, 0.25), Location.RAM, step(1, 1000))
    assert rest.weights == 2 * 24 * (WEIGHTS + norms)


def test_a_token_takes_two_flops_for_each_weight_it_passes() -> None:
    load = step_load(LLAMA, divided(LLAMA, 1.0), Location.vram(0), step(1, 1000))
    assert load.flops == pytest.approx(2 * (32 * WEIGHTS + HEAD), rel=1e-4)  # norms are left out
    # queries with keys, then weights with values: 2 x 2 FLOP x 32 heads of 128, each past token
    assert load.attention_flops == 32 * 1000 * 4 * 32 * 128


def test_users_read_weights_once_and_a_cache_each() -> None:
    single, four = (
        step_load(LLAMA, divided(LLAMA, 1.0), Location.vram(0), step(users, 1000, users))
        for users in (1.0, 4.0)
    )
    assert four.weights == single.weights
    assert four.kv == 4 * single.kv
    assert four.flops == 4 * single.flops
    assert four.attention_flops == 4 * single.attention_flops
    assert four.sequence_tokens == single.sequence_tokens == 1


def test_a_sliding_window_ends_what_is_attended_and_read() -> None:
    # Gemma 3 12B: 48 layers, 40 with a window of 1024 and 8 with full attention (config.json:
    # sliding_window 1024, every sixth layer full); 8 key-value heads of 256.
    near, far = (
        step_load(GEMMA, divided(GEMMA, 1.0), Location.vram(0), step(1, depth))
        for depth in (1024, 9216)
    )
    of_a_token = 2 * 8 * 256 * 2
    assert near.kv == 48 * 1024 * of_a_token
    assert far.kv - near.kv == 8 * 8192 * of_a_token
    assert far.attention_flops / near.attention_flops == pytest.approx((40 + 8 * 9) / 48)


def test_routed_experts_of_a_step_by_hand() -> None:
    # 8 of 128 experts: a token reads a sixteenth; 32 tokens read fewer than 1 - (15/16)^32 = 0.8732
    # of them, as they prefer some alike, each for 32 x 8 / (128 x share) tokens.
    together = float(QWEN.expert_share(32.0))
    assert 1 / 16 < together < 0.8732
    placement = divided(QWEN, 1.0)
    held = 48 * 128 * 3 * 2048 * 768 * 2
    for tokens, share, each in ((1, 1 / 16, 1.0), (32, together, 2.0 / together)):
        load = step_load(QWEN, placement, Location.vram(0), step(tokens, 100, tokens))
        assert load.experts == pytest.approx(share * held, rel=1e-4)
        assert load.per_expert == pytest.approx(each, rel=1e-4)
        assert load.expert_layers == 48
        # 8 experts of 3 matrices of 2048 x 768, two FLOPs a weight
        assert load.expert_flops == pytest.approx(tokens * 48 * 8 * 3 * 2 * 2048 * 768)
    assert step_load(LLAMA, divided(LLAMA, 1.0), Location.vram(0), step(1, 100)).per_expert == 0


def test_prompts_and_tokens_of_a_request() -> None:
    work = Workload(prompt=3000, cached=1000, output=200, users=4, context=8192)
    prompt = prompt_step(work)
    # 2000 new tokens of 4 users; they see 1000 tokens at first and 3000 at last
    assert (prompt.tokens, prompt.sequences, prompt.depth) == (8000, 4, 2000)
    token = token_step(work)
    assert (token.tokens, token.sequences, token.depth) == (4, 4, 3100)
    drafted = token_step(Workload(users=4, draft="mtp", drafted=2, acceptance=0.5))
    assert drafted.tokens == 12


def test_a_short_last_micro_batch_counts_apart() -> None:
    # 1300 = 2 x 512 + 276: equal ones of 433.3; 1050 = 2 x 512 + 26: two of 512, then one of 26
    (batch, count, _), (_, times, _) = with_short_last(Workload(prompt=1300, ubatch=512), 32)
    assert (float(batch.tokens), float(count), float(times)) == (pytest.approx(1300 / 3), 3, 0)
    (batch, count, first), (last, times, _) = with_short_last(Workload(prompt=1050, ubatch=512), 32)
    assert (float(batch.tokens), float(count), float(first)) == (512, 2, 1)
    assert (float(last.tokens), float(times)) == (26, 1)


def test_a_prompt_within_a_micro_batch_has_no_last_one() -> None:
    for prompt in (1, 20, 31, 512):
        (batch, count, _), (_, times, _) = with_short_last(Workload(prompt=prompt, ubatch=512), 32)
        assert (float(batch.tokens), float(count), float(times)) == (prompt, 1, 0)


def test_short_last_micro_batches_of_several_prompts_at_once() -> None:
    prompts = np.array([20.0, 513.0, 544.0, 1024.0])
    work = Workload(ubatch=512).with_numbers(prompt=prompts)
    (batch, count, _), (last, times, _) = with_short_last(work, 32)
    assert np.asarray(times).tolist() == [0, 1, 0, 0]
    assert np.asarray(batch.tokens).tolist() == [20, 512, 272, 512]
    assert np.asarray(count).tolist() == [1, 1, 2, 2]
    assert np.asarray(last.tokens)[1] == 1


def test_a_prompt_is_cut_into_equal_micro_batches() -> None:
    # 1300 tokens in micro-batches of 512 at most: 3 of 433.3
    batch, count, first = micro_batches(Workload(prompt=1300, ubatch=512))
    assert count == 3
    assert batch.tokens == pytest.approx(1300 / 3)
    assert batch.sequences == 1
    assert first == pytest.approx(512 / (1300 / 3))
    # a prompt that is cached whole still computes its last token
    batch, count, first = micro_batches(Workload(prompt=1300, cached=1300, ubatch=512))
    assert (float(batch.tokens), float(count), float(first)) == (1, 1, 1)


def test_one_cache_for_all_is_masked_for_the_others() -> None:
    assert token_step(Workload(users=5, unified_cache=True)).shared_with == 4
    assert prompt_step(Workload(users=5)).shared_with == 0


def test_sums_kept_for_a_model_are_not_those_of_another() -> None:
    placement = divided(LLAMA, 1.0)
    first = step_load(LLAMA, placement, Location.vram(0), step(1, 100))
    half = catalog.model("Llama-3.1-8B", "Q8_0")
    # 8.5 bits for 16
    again = step_load(half, placement, Location.vram(0), step(1, 100))
    assert again.weights / first.weights == pytest.approx(8.5 / 16, rel=1e-3)


@settings(max_examples=40)
@given(st.floats(0, 1), st.integers(1, 64), st.integers(0, 100_000), st.sampled_from([LLAMA, QWEN]))
def test_work_and_bytes_do_not_depend_on_where_they_lie(
    share: float, tokens: int, depth: int, model: Model
) -> None:
    whole = step_load(model, divided(model, 1.0), Location.vram(0), step(tokens, depth, tokens))
    placement = divided(model, share)
    both = [
        step_load(model, placement, at, step(tokens, depth, tokens))
        for at in (Location.vram(0), Location.RAM)
    ]
    together: Load = both[0] + both[1]
    for name in ("weights", "experts", "kv", "flops", "attention_flops", "expert_flops", "layers"):
        assert getattr(together, name) == pytest.approx(getattr(whole, name), rel=1e-9), name
    assert together.tokens == whole.tokens


@given(st.floats(0, 1))
def test_a_share_of_a_load_keeps_its_step(share: float) -> None:
    whole = step_load(QWEN, divided(QWEN, 1.0), Location.vram(0), step(8, 500, 8))
    part = whole.times(share)
    assert part.weights == pytest.approx(share * float(whole.weights))
    assert part.expert_flops == pytest.approx(share * float(whole.expert_flops))
    assert (part.tokens, part.sequence_tokens, part.per_expert) == (8, 1, whole.per_expert)
    routed = whole.routed
    assert routed.weights == routed.experts == whole.experts
    assert (routed.flops, routed.kv, routed.attention_flops, routed.layers) == (0, 0, 0, 0)


def test_rejected_drafts_use_experts_of_their_own() -> None:
    # 5 tokens of a text, 2 of them rejected: what the 3 use, and of the rest what 2 strangers use
    drafted = ForwardPass(tokens=5.0, sequences=1.0, depth=0, kv_type="f16", astray=2.0)
    text = QWEN.expert_share(3.0, 1.0)
    strangers = QWEN.expert_share(2.0)
    assert drafted.touched(QWEN) == pytest.approx(1 - (1 - text) * (1 - strangers))
    several = ForwardPass(
        tokens=np.array([3.0, 5.0]),
        sequences=np.ones(2),
        depth=0,
        kv_type="f16",
        astray=np.array([0.0, 2.0]),
    )
    assert several.touched(QWEN) == pytest.approx([float(text), float(drafted.touched(QWEN))])


def test_scores_are_written_for_every_token_without_flash_attention() -> None:
    # 32 layers x 32 heads x 1,000 past tokens are 1,024,000 scores of a token, 5 times for five
    placement = divided(LLAMA, 1.0)
    plain = replace(step(5, 1000), flash_attention=False)
    assert step_load(LLAMA, placement, Location.vram(0), plain).scores == 5 * 32 * 32 * 1000
    assert step_load(LLAMA, placement, Location.vram(0), step(5, 1000)).scores == 0


def test_what_is_cached_need_not_be_computed() -> None:
    assert Workload(prompt=1300, cached=1000).fresh == 300
    assert Workload(prompt=1300, cached=1300).fresh == 0
