"""Timed tokens: which of a row's figures is the time of its tokens."""

import pytest

from advisor.evidence.published.case import Case
from advisor.evidence.published.known import TimedTokens, runs_of, timed_tokens
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow

SERVED = {
    "category": "resident",
    "runtime": "vLLM 0.27.1",
    "gpu": "RTX 3090",
    "gpu_count": "1",
    "model": "Qwen3-8B",
    "quant": "AWQ",
    "prompt_len": "35000",
    "gen_len": "256",
    "batch": "1",
    "tg_tps_total": "32.0",
}
"""A long prompt and its reply, 32 tokens/s."""


def row(**cells: str) -> PublishedRow:
    """The row with some cells changed."""
    return PublishedRow({**SERVED, "machine": "mine", **cells})


def told(**cells: str) -> tuple[TimedTokens, Case]:
    """What it timed, and the row as it is understood."""
    case = understood(row(**cells))
    timed = timed_tokens(row(**cells), case)
    assert timed is not None
    return timed, case


def known_speed(**cells: str) -> float:
    """Speed of its tokens as a known run."""
    (run,) = runs_of(row(**cells))
    return run.measured


def test_a_stated_time_per_token_is_that_of_tokens_alone() -> None:
    timed, _ = told(seconds_per_token="0.03125")
    assert timed == TimedTokens(seconds=0.03125)
    assert known_speed(seconds_per_token="0.03125") == pytest.approx(32.0)


def test_a_rate_of_decoding_alone_holds_no_prompt() -> None:
    timed, _ = told(source_note="median decode rate of five runs")
    assert timed.prompts == 0.0
    assert known_speed(source_note="median decode rate of five runs") == pytest.approx(32.0)


def test_a_rate_of_four_users_is_divided_among_them() -> None:
    timed, _ = told(batch="4", tg_tps_total="200", source_note="concurrency-probe")
    assert 1.0 / timed.seconds == pytest.approx(50.0)


def test_a_median_between_tokens_goes_before_a_rate() -> None:
    timed, _ = told(other_metric="ttft_p50_ms=1958.62; itl_p50_ms=31.28")
    assert timed == TimedTokens(seconds=0.03128)


def test_a_mean_between_tokens_of_four_users_holds_prompts() -> None:
    # During one reply of 256 tokens the prompts of three of four users are read: 3 / (4 * 256).
    timed, _ = told(batch="4", other_metric="itl_ms=40.0")
    assert timed.prompts == pytest.approx(3 / 1024)
    assert timed.seconds == pytest.approx(0.04)


def test_a_rate_with_both_lengths_is_that_of_the_whole_reply() -> None:
    timed, case = told()
    assert timed.prompts == 1.0
    assert timed.seconds == pytest.approx(256 / 32.0)
    predicted = case.estimate
    whole = float(predicted.first_token_seconds or 0) + 255 / float(predicted.decode_tps or 1)
    factor = whole / timed.seconds
    assert timed.speed(predicted) == pytest.approx(factor * float(predicted.decode_tps or 0))
