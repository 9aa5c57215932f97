"""Use of routed experts along a text: by hand, on public traces and against published caches."""

import numpy as np
import pytest

from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.model import catalog
from advisor.model.expert_use import USUAL, ExpertUse, in_text, served_by_fixed, unevenness
from benchmarks import expert_caches

EVEN = ExpertUse(4, 2, 0.0)
"""Two of four experts, each as often: a token spares an expert with probability 1/2."""
TOUCHED = {
    "Qwen3-30B-A3B": (6, {2: 9.8, 4: 15.6, 8: 23.9, 16: 34.7, 32: 45.2, 64: 55.2, 128: 75.0}),
    "Gemma-4-26B-A4B": (6, {2: 9.9, 4: 15.7, 8: 23.9, 16: 34.9, 32: 47.4, 64: 59.7, 128: 76.9}),
    "gpt-oss-120b": (2, {2: 3.6, 4: 6.1, 8: 10.3, 16: 16.8, 32: 26.6, 64: 41.3, 128: 60.8}),
}
"""Experts used per token, and distinct experts of 128 that so many consecutive tokens touch, the
mean of all layers and places in three public traces (Helldez/BigMoeOnEdge,
docs/bench-data/2026-07-15-route-trace, Apache 2.0; the last of a prompt and a reply)."""


def test_experts_used_alike_by_hand() -> None:
    # 4 (1 - 1/2) = 2 experts by one token, 4 (1 - 1/4) = 3 by two, 4 (1 - 1/8) = 3.5 by three.
    assert EVEN.touched(np.array([1.0, 2.0, 3.0])) == pytest.approx([2, 3, 3.5])
    # Three slots hold the experts of two tokens; the third adds half an expert to its two lookups.
    assert float(EVEN.lasting(3.0)) == pytest.approx(2.0)
    assert float(EVEN.served(3.0)) == pytest.approx(1 - 0.5 / 2)
    # Where all are used alike, a cache serves its share: 1 - (1 - 3/4).
    assert EVEN.served(np.array([2.0, 3.0, 4.0])) == pytest.approx([0.5, 0.75, 1.0])


def test_an_empty_cache_misses_first_touches() -> None:
    # Two tokens touch 3 experts in 4 lookups: 1 of 4 served. Four tokens: 3 + 2 x 0.5 of 8 missed.
    assert float(EVEN.served(3.0, 2.0)) == pytest.approx(0.25)
    assert float(EVEN.served(3.0, 4.0)) == pytest.approx(0.5)
    # A cache for all misses each expert once: 3.5 of the 6 lookups of three tokens.
    assert float(EVEN.served(4.0, 3.0)) == pytest.approx(1 - 3.5 / 6)


def test_fewer_slots_than_a_token_uses_serve_nothing() -> None:
    use = ExpertUse(256, 8, 2.1)
    assert float(use.served(7.9)) == 0.0
    assert float(use.served(4.0, by_layer=True)) == pytest.approx(float(use.served(8.0)) / 2)


def test_more_slots_or_less_variety_serve_more() -> None:
    slots = np.linspace(8, 256, 40)
    for uneven in (0.0, 1.1, 2.1, 2.9):
        served = ExpertUse(256, 8, uneven).served(slots, 256.0)
        assert np.all(np.diff(served) >= -1e-9)
        assert np.all((served >= 0) & (served <= 1))
    by_variety = [
        float(ExpertUse(256, 8, in_text(2.1, variety)).served(64.0))
        for variety in (0.0, USUAL, 1.0)
    ]
    assert by_variety == sorted(by_variety, reverse=True)
    assert in_text(2.1, USUAL) == 2.1


def test_traces_touch_as_many_experts() -> None:
    for name, (used, counts) in TOUCHED.items():
        use = ExpertUse(128, used, unevenness(name))
        for tokens, seen in counts.items():
            # 128 tokens reach from the prompt into the reply, of another topic in one trace.
            aim = pytest.approx(seen, rel=0.25 if tokens == 128 else 0.2)
            assert float(use.touched(tokens)) == aim, (name, tokens)


def test_published_caches_within_six_points_at_the_median_and_fifteen_at_most() -> None:
    known = expert_caches.rows()
    shipped = [abs(expert_caches.predicted(row) - row.hit_pct) for row in known]
    alone = [abs(share - row.hit_pct) for row, share in expert_caches.left_out(known)]
    for errors in (shipped, alone):
        assert np.median(errors) <= 6.0
        assert max(errors) <= 15.0
    assert len({row.publisher for row in known}) >= 14


def test_a_fixed_set_by_hand() -> None:
    # Phi(0.75) = 0.7734: the more used half. 50 % of experts, where all are used alike.
    assert served_by_fixed(np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 0.7734, 1], abs=1e-4)
    assert float(served_by_fixed(0.3, 0.0)) == pytest.approx(0.3)


def test_tokens_of_a_text_share_more_experts_than_texts_do() -> None:
    model = catalog.model("Qwen3-30B-A3B", "Q8_0")
    alone = float(model.expert_share(3.0, 1.0))
    assert 8 / 128 < alone < float(model.expert_share(3.0))
    # Two texts of three tokens: at most as if each missed an expert independently.
    assert alone < float(model.expert_share(6.0, 2.0)) < 1 - (1 - alone) ** 2
    assert float(model.expert_share(1.0, 1.0)) == pytest.approx(8 / 128)
    # Experts that are used evenly within a text are used evenly by many.
    even = catalog.model("DeepSeek-V2-Lite", "Q8_0")
    alone = float(even.expert_share(3.0, 1.0))
    assert float(even.expert_share(6.0, 2.0)) == pytest.approx(1 - (1 - alone) ** 2)


@pytest.mark.parametrize(("users", "read"), [(8, 0.17), (16, 0.24), (32, 0.34)])
def test_users_together_read_no_more_experts_than_memory_gives(users: int, read: float) -> None:
    """What a GB10 can have read of gpt-oss-120b in a step (llama.cpp's benches/dgx-spark): the
    219 GB/s that its dense model reaches there, for 0.055, 0.091 and 0.163 s less the dense weights
    and the cache, of 61 GB of experts."""
    model = catalog.model("gpt-oss-120b", "MXFP4")
    assert float(model.expert_share(float(users))) == pytest.approx(read, rel=0.12)


def test_a_prompt_of_code_touches_the_published_share() -> None:
    # llama.cpp's pull request 15346 prints 72 to 95 of 128 experts used by 512 tokens of code in
    # Qwen3-30B-A3B, a text that repeats itself.
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    assert 72 / 128 < float(model.expert_share(512.0, 1.0, 0.0)) < 95 / 128
    assert catalog.model("Llama-3.1-8B", "Q4_K_M").expert_share(512.0, 1.0) == 1.0


def test_variety_is_one_number() -> None:
    with pytest.raises(InputError, match="one number"):
        Workload(variety=np.array([0.2, 0.4]))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="variety"):
        Workload(variety=1.5)
