"""Results and counters of engines that keep experts in tiers are read as those of others."""

import json

import pytest

from advisor.probes.llama_cpp.printed_results import read
from advisor.probes.server import from_metrics

# a row of bench/results/2026-09-29-speed-0126/matrix.json of Niko1221/Strata at cd0e7dc
MATRIX_ROW = {
    "kv": "int8",
    "prefill_cold_tok_s": None,
    "model": "Q2_0",
    "tier": "4k",
    "prompt_tokens": 3562,
    "exit": 0,
    "wall_s": 27.6,
    "decode_tok_s": 92.97,
    "decoded": 256,
    "prefill_tok_s": 1299.44,
    "ttft_s": 4.21,
    "spec_accept": 0.838,
    "tokens_per_round": 3.23,
    "vram_slots": 4121,
}
TOTALS = {
    "requests": 4,
    "prompt_tokens": 9000,
    "reused": 5000,
    "prompt_ms": 4000,
    "output_tokens": 600,
    "decode_ms": 10_000,
}
PAGE = {"totals": TOTALS, "live": {"state": "generating", "queued": 2}, "requests": []}
MAYA_BENCH = """
Maya 1.1.77; GPUs: V100 16 GB; 64 GB RAM
decode: 18.9 tokens/s over 3 answers
prefill 2k: 300 tokens/s, 2048 tokens
prefill 8k: 370 tokens/s, 8192 tokens
"""
MAYA_LOG = "glm stat: decode 50.0 ms/tok vram hit 61.20% | prompt 413 tok/s"


def test_a_matrix_of_strata_gives_each_of_its_runs() -> None:
    (run,) = read(json.dumps([MATRIX_ROW]))
    assert run.runtime == "Strata"
    assert (run.decode, run.prompt, run.first_token) == (92.97, 1299.44, 4.21)
    assert (run.prompt_tokens, run.output_tokens) == (3562, 256)


def test_a_saved_page_of_strata_gives_the_mean_of_its_requests() -> None:
    (run,) = read(json.dumps(PAGE))
    assert run.decode == pytest.approx(60.0)


def test_counters_of_strata_are_read_in_seconds_without_what_was_reused() -> None:
    reading = from_metrics(json.dumps(PAGE))
    assert reading is not None
    assert (reading.server, reading.running, reading.waiting) == ("Strata", 1.0, 2.0)
    assert (reading.tokens, reading.token_seconds) == (600.0, 10.0)
    assert (reading.prompt_tokens, reading.prompt_seconds) == (4000.0, 4.0)
    assert (reading.cache_queries, reading.cache_hits) == (9000.0, 5000.0)


def test_a_page_that_is_no_object_of_strata_is_of_no_server() -> None:
    for page in ('{"totals": 3}', "{}", '{"totals": [1]}', "{"):
        assert from_metrics(page) is None


def test_a_bench_of_maya_and_its_log_are_read() -> None:
    first = read(MAYA_BENCH)[0]
    assert (first.runtime, first.decode, first.prompt, first.prompt_tokens) == (
        "Maya",
        18.9,
        300.0,
        2048.0,
    )
    (logged,) = read(MAYA_LOG)
    assert (logged.decode, logged.prompt) == (20.0, 413.0)


@pytest.mark.parametrize(
    ("line", "decode", "tokens", "prompt_tokens", "first"),
    [
        # JustVugg/colibri, issues 605, 93 and 31
        (
            "[PLAN] RAM 48.3 GB\nprefill 14 tokens in 19.94s | decode 32 tokens in 69.09s "
            "(0.46 tok/s) | expert hit rate 44.8% (pin 15.2% + lru 29.6%) | RSS 39.53 GB",
            0.46,
            32,
            14,
            19.94,
        ),
        (
            "32 tokens in 153.59s (0.21 tok/s) | expert hit-rate 31.0% | RSS 34.20 GB\n"
            "speculation: 2.29 tokens/forward (14 fw for 32 tok) | MTP acceptance 40% (17/42)",
            0.21,
            32,
            None,
            None,
        ),
        ("64 token in 228.22s (0.28 tok/s)", 0.28, 64, None, None),
    ],
)
def test_an_answer_s_line_of_colibri_is_read(
    line: str,
    decode: float,
    tokens: int,
    prompt_tokens: int | None,
    first: float | None,
) -> None:
    (run,) = read(line)
    assert (run.runtime, run.decode, run.output_tokens) == ("colibri", decode, tokens)
    assert (run.prompt_tokens, run.first_token) == (prompt_tokens, first)
