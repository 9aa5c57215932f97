"""Results of other tools are read as they document them."""

import json

import pytest
from result_samples import (
    BENCH,
    BENCHY,
    BOTH,
    NEWER_BENCH,
    OLDER_BENCH,
    OLLAMA,
    PROMPT,
    PUBLISHED_BENCH,
    PUBLISHED_OLLAMA,
    PUBLISHED_STUDIO_0,
    PUBLISHED_STUDIO_1,
    SERVE,
    STUDIO_0,
    STUDIO_1,
    THROUGHPUT,
)

from advisor.errors import InputError
from advisor.probes.llama_cpp.result_files import read


@pytest.mark.parametrize(
    ("row", "depth", "layers"),
    [(PUBLISHED_BENCH, 0, 99), (OLDER_BENCH, 0, 99), (NEWER_BENCH, 0, None)],
)
def test_llama_bench_of_several_years(row, depth, layers):
    (run,) = read(json.dumps([row]))
    assert (run.prompt, run.decode, run.prompt_tokens) == (7100.002165, None, 512)
    assert run.samples == (6863.1, 7147.55, 7136.37, 7115.79, 7237.21)
    assert (run.depth, run.gpu_layers, run.engine) == (depth, layers, "build 5163 (8cf427ff)")


def test_names_of_gpus_before_the_json_are_passed_over():
    # llama-bench writes them beside its JSON: github.com/ggml-org/llama.cpp/issues/15554.
    log = "ggml_vulkan: Found 1 Vulkan devices:\nggml_vulkan: 0 = AMD Radeon RX 580 Series\n"
    assert read(log + json.dumps([BENCH], indent=2)) == read(json.dumps([BENCH]))
    assert read(f"{log}{json.dumps(BENCH)}\n{json.dumps(PROMPT)}") == read(
        json.dumps([BENCH, PROMPT])
    )
    with pytest.raises(InputError, match="Line 4 of the results is no JSON"):
        read(f"{log}{json.dumps(BENCH)}\nerror: out of memory")


def test_a_mark_of_the_byte_order_is_passed_over():
    assert read("\ufeff" + json.dumps([BENCH])) == read(json.dumps([BENCH]))


def test_published_answers_of_ollama():
    (run,) = read(json.dumps(PUBLISHED_OLLAMA))
    assert run.decode == pytest.approx(282 / 4.535599)
    assert run.prompt == pytest.approx(26 / 0.342546)


@pytest.mark.parametrize(
    ("row", "decode", "first"),
    [
        (PUBLISHED_STUDIO_0, 51.43709529007664, 0.111),
        (PUBLISHED_STUDIO_1, 29.753900615398926, 1.088),
    ],
)
def test_published_answers_of_lm_studio(row, decode, first):
    (run,) = read(json.dumps(row))
    assert (run.decode, run.first_token) == (decode, first)


def test_llama_bench_has_a_row_for_each_test():
    written, run = read(json.dumps([BENCH, PROMPT]))
    assert (written.decode, written.prompt, written.depth) == (10.0, None, 512)
    assert written.samples == (10.08, 9.92)
    assert (written.threads, written.gpu_layers) == (8, 0)
    assert (written.model, written.engine) == ("qwen2 7B Q4_K - Medium", "build 5163 (8cf427ff)")
    assert (run.decode, run.prompt, run.prompt_tokens) == (None, 64.0, 512)


def test_a_row_in_each_line_is_read_alike():
    lines = "\n".join(json.dumps(row) for row in (BENCH, PROMPT)) + "\n"
    assert read(lines) == read(json.dumps([BENCH, PROMPT]))


def test_prompt_and_generation_in_one_time_cannot_be_separated():
    assert len(read(json.dumps([BOTH, BENCH]))) == 1
    with pytest.raises(InputError, match="no finished run"):
        read(json.dumps([BOTH]))


def test_ollama_counts_in_nanoseconds():
    (run,) = read(json.dumps(OLLAMA))
    assert run.decode == pytest.approx(290 / 5.8)
    assert run.prompt == pytest.approx(26 / 0.13)
    assert run.first_token == pytest.approx(0.13)
    assert (run.model, run.when) == ("gemma3", "2026-10-17T23:14:07.414671Z")


def test_tokens_in_ollamas_cache_take_no_time():
    (run,) = read(json.dumps(OLLAMA | {"prompt_eval_cached_count": 13}))
    assert run.prompt == pytest.approx(13 / 0.13)
    assert run.depth == 13


def test_of_a_streamed_answer_the_last_piece_counts():
    piece = {
        "model": "gemma3",
        "created_at": "2026-10-17T23:14:06Z",
        "response": "Hi",
        "done": False,
    }
    assert read(f"{json.dumps(piece)}\n{json.dumps(OLLAMA)}") == read(json.dumps(OLLAMA))


@pytest.mark.parametrize(
    ("row", "decode", "first", "prompt", "output"),
    [(STUDIO_0, 51.4, 0.111, 24, 53), (STUDIO_1, 29.75, 1.088, 646, 586)],
)
def test_lm_studio_in_both_versions(row, decode, first, prompt, output):
    (run,) = read(json.dumps(row))
    assert (run.decode, run.first_token) == (decode, first)
    assert (run.prompt_tokens, run.output_tokens) == (prompt, output)


def test_lm_studio_names_the_model():
    (run,) = read(json.dumps(STUDIO_0))
    assert (run.model, run.engine) == ("granite-3.0-2b-instruct", "llama.cpp-linux 1.3.0")


def test_a_vllm_server_is_reported_by_its_medians():
    (run,) = read(json.dumps(SERVE))
    assert run.decode == pytest.approx(1 / 0.040)
    assert run.first_token == pytest.approx(0.2)
    assert (run.total, run.prompt_tokens, run.output_tokens) == (256.0, 512, 128)
    assert run.when == "2026-11-21T09:30:00"


def test_vllm_throughput_counts_prompts_and_answers_together():
    (run,) = read(json.dumps(THROUGHPUT))
    assert (run.handled, run.decode, run.total) == (2000.0, None, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no finished run"),
        ("not JSON", "Line 1 of the results is no JSON"),
        ("[1, 2]", "no JSON objects"),
        ('{"speed": 3}', r"no tool that is known .they have speed as keys"),
        (json.dumps(BENCH | {"avg_ts": "fast"}), "avg_ts is 'fast' in the results; a number"),
        (
            json.dumps(BENCH | {"avg_ts": -1}),
            "avg_ts is -1 in the results; expected",
        ),
        (json.dumps(BENCH | {"avg_ts": 0}), "avg_ts is 0 in the results; the run did not finish"),
        (json.dumps(BENCH | {"n_gen": True}), "n_gen is 'True' in the results"),
        (json.dumps(OLLAMA | {"eval_duration": None}), "eval_duration is missing"),
        (json.dumps(STUDIO_1 | {"stats": 3}), "stats is '3' in the results; an object"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_an_unreadable_file_is_reported(text, words):
    with pytest.raises(InputError, match=words):
        read(text)


def test_llama_benchy_is_reported_by_its_means_of_a_request():
    (run,) = read(json.dumps(BENCHY))
    assert (run.decode, run.prompt, run.first_token) == (49.98, 987.1, 2.076)
    assert (run.prompt_tokens, run.output_tokens, run.depth) == (2048, 32, 0)
    assert (run.tool, run.when) == ("llama-benchy", "2026-02-07T19:09:00Z")


@pytest.mark.parametrize("runs", ["x", [3], [], [{"is_context_prefill_phase": True}]])
def test_a_report_of_llama_benchy_without_a_run_is_refused(runs):
    with pytest.raises(InputError):
        read(json.dumps(BENCHY | {"benchmarks": runs}))


def test_lemonade_is_reported_by_its_last_request():
    """The answer of GET /api/v1/stats in Lemonade's own documentation."""
    stats = {
        "time_to_first_token": 2.14,
        "tokens_per_second": 33.33,
        "input_tokens": 128,
        "output_tokens": 5,
        "decode_token_times": [0.01, 0.02, 0.03, 0.04, 0.05],
        "prompt_tokens": 9,
    }
    (run,) = read(json.dumps(stats))
    assert (run.tool, run.decode, run.first_token) == ("Lemonade", 33.33, 2.14)
    assert (run.prompt_tokens, run.output_tokens) == (9, 5)
