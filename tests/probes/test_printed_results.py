"""Results as tools print them and people paste them are read as those that tools write."""

import json

import pytest
from result_samples import BENCH, PROMPT, as_csv, as_sql

from advisor.catalog.csv_tables import DATA
from advisor.catalog.csv_tables import read as read_rows
from advisor.errors import InputError
from advisor.probes.llama_cpp.printed_results import PrintedRow, printed, read, refuse_negative
from advisor.runtimes import named

GPU_BENCH = BENCH | {"n_gpu_layers": 99, "backends": "CUDA"}
GPU_PROMPT = PROMPT | {"n_gpu_layers": 99, "backends": "CUDA"}


def as_table(*rows: dict[str, object]) -> str:
    lines = [
        "ggml_cuda_init: found 1 CUDA devices:",
        "| model | size | params | backend | ngl | test | t/s |",
        "| ------ | ---: | ---: | ------ | --: | ---: | ---: |",
    ]
    for row in rows:
        test = f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}"
        if row["n_depth"]:
            test += f" @ d{row['n_depth']}"
        size = float(row["model_size"]) / 2**30
        cells = (
            row["model_type"],
            f"{size:.3f} GiB",
            "7.62 B",
            row["backends"],
            row["n_gpu_layers"],
            test,
            f"{row['avg_ts']} ± 0.08",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join((*lines, "", "build: 8cf427ff (5163)"))


@pytest.mark.parametrize("written", [as_csv, as_sql, as_table], ids=lambda form: form.__name__)
def test_llama_bench_says_the_same_in_each_of_its_forms(written) -> None:
    rows = GPU_PROMPT, GPU_BENCH
    expected = read(json.dumps(rows))
    for run, same in zip(read(written(*rows)), expected, strict=True):
        for name in ("tool", "model", "decode", "prompt", "prompt_tokens", "output_tokens"):
            assert getattr(run, name) == getattr(same, name), name
        for name in ("depth", "gpu_layers", "backend", "runtime", "engine"):
            assert getattr(run, name) == getattr(same, name), name
        assert run.file_bytes == pytest.approx(same.file_bytes, rel=1e-3)


LLAMA_LOG = """
0.00.1 I slot print_timing: id  0 | task 7 |
prompt eval time =     300.10 ms /    31 tokens (    9.68 ms per token,   103.30 tokens per second)
       eval time =   10000.20 ms /   299 tokens (   33.44 ms per token,    29.90 tokens per second)
      total time =   10300.30 ms /   330 tokens
"""
OLLAMA_VERBOSE = """
total duration:       18.293521648s
prompt eval count:    21 token(s)
prompt eval duration: 1.346030951s
prompt eval rate:     15.60 tokens/s
eval count:           160 token(s)
eval duration:        16.774703785s
eval rate:            9.54 tokens/s
"""
SERVE_TABLE = """
============ Serving Benchmark Result ============
Successful requests:                     100
Maximum request concurrency:             40
Total input tokens:                      102400
Total generated tokens:                  51200
Output token throughput (tok/s):         851.63
Median TTFT (ms):                        290.11
Median TPOT (ms):                        44.80
"""
VLLM_LOG = """
INFO [loggers.py:123] Engine 000: Avg prompt throughput: 204.8 tokens/s, Avg generation throughput:\
 21.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%
INFO [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput:\
 62.4 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.1%
INFO [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput:\
 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%
"""
SWEEP = """
|    PP |     TG |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |
|-------|--------|--------|----------|----------|----------|----------|
|   512 |    128 |   1024 |    4.757 |   107.63 |    9.559 |    13.39 |
"""
BATCHED = """
|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|  2048 |    128 |    8 |  17408 |   20.990 |   780.56 |    6.924 |   147.90 |   27.914 |   623.64 |
"""
EVALSCOPE = """
| Number of concurrency             | 2 |
Percentile results:
+------------+----------+---------+-------------+--------------+---------------+
| Percentile | TTFT (s) | ITL (s) | Latency (s) | Input tokens | Output tokens |
+------------+----------+---------+-------------+--------------+---------------+
|    10%     |  0.0962  |  0.031  |   4.4571    |      42      |      135      |
|    50%     |  0.0987  | 0.0321  |   9.3387    |      49      |      285      |
|    66%     |  0.1017  | 0.0324  |   9.8519    |      52      |      302      |
+------------+----------+---------+-------------+--------------+---------------+
"""
FORMS = {
    "llama-server's log": (LLAMA_LOG, {"decode": 29.9, "prompt": 103.3, "prompt_tokens": 31}),
    "llama-cli's log of 2025": (
        LLAMA_LOG.replace("prompt eval", "llama_perf_context_print: prompt eval").replace(
            "299 tokens", "299 runs"
        ),
        {"decode": 29.9, "prompt": 103.3, "output_tokens": 299},
    ),
    "llama-cli": ("\x1b[90m[ Prompt: 103.3 t/s | Generation: 29.9 t/s ]\x1b[0m",
                  {"decode": 29.9, "prompt": 103.3}),
    "ollama run --verbose": (OLLAMA_VERBOSE, {"decode": 9.54, "prompt": 15.6, "prompt_tokens": 21}),
    # 102,400 tokens in 100 requests; 40 at once get 1000 / 44.8 each
    "vllm bench serve": (SERVE_TABLE, {"decode": 1000 / 44.8, "users": 40, "prompt_tokens": 1024,
                                       "output_tokens": 512, "first_token": 0.29011}),
    # 1 / 44.8 ms times 851.63 tokens/s are at work together (Little's law)
    "vllm bench serve, no limit": (
        SERVE_TABLE.replace("Maximum request concurrency:             40\n", ""),
        {"users": pytest.approx(851.63 * 0.0448)},
    ),
    # the line that requests fill, of two at once
    "vLLM's log": (VLLM_LOG, {"decode": 31.2, "users": 2, "total": 62.4, "prompt": None}),
    "SGLang's log": (
        "[2026-08-28 22:30:14 TP0] Decode batch, #running-req: 4, #full token: 192, gen throughput "
        "(token/s): 50.0, #queue-req: 0",
        {"decode": 12.5, "users": 4},
    ),
    "mlx_lm.generate": (
        "Prompt: 31 tokens, 210.321 tokens-per-sec\nGeneration: 256 tokens, 38.912 tokens-per-sec",
        {"decode": 38.912, "prompt": 210.321, "output_tokens": 256},
    ),
    "KoboldCpp": (
        "[18:44:54] CtxLimit:39294/40960, Amt:597/2048, Init:0.24s, Process:68.69s (563.34T/s), "
        "Generate:56.27s (10.61T/s), Total:124.96s",
        {"decode": 10.61, "prompt": 563.34, "output_tokens": 597, "prompt_tokens": 38696},
    ),
    "KoboldCpp of 2024": (
        "CtxLimit: 1843/8192, Process:16.32s (11.0ms/T = 91.03T/s), Generate:80.01s (224.1ms/T = "
        "4.46T/s), Total:96.33s (3.71T/s)",
        {"decode": 4.46, "prompt": 91.03},
    ),
    "LM Studio": ("4.44 tok/sec • 161 tokens • 2.20s to first token • Stop reason: EOS Token Found",
                  {"decode": 4.44, "output_tokens": 161, "first_token": 2.2}),
    "lms chat --stats": (
        "Prediction Stats:\n  Stop Reason: eosFound\n  Tokens/Second: 38.52\n"
        "  Time to First Token: 0.213s\n  Prompt Tokens: 31\n  Predicted Tokens: 256",
        {"decode": 38.52, "first_token": 0.213, "prompt_tokens": 31, "output_tokens": 256,
         "runtime": "LM Studio"},
    ),
    "sglang.bench_serving": (
        "Backend:    sglang-oai\n" + SERVE_TABLE.replace("Median TPOT", "Median ITL"),
        {"decode": 1000 / 44.8, "users": 40, "runtime": "SGLang"},
    ),
    # one token in 0.0321 s at the median
    "evalscope perf": (EVALSCOPE, {"decode": 1 / 0.0321, "first_token": 0.0987, "users": 2,
                                   "prompt_tokens": 49, "output_tokens": 285}),
    "bench.sh of club-3090": (
        "=== summary [narrative] (n=5) ===\n  wall_TPS   mean=  91.96   std=  1.12\n"
        "  decode_TPS   mean=  92.36   std=  1.10   CV= 1.2%\n  TTFT  mean=    45ms  std= 1ms",
        {"decode": 92.36, "first_token": 0.045},
    ),
    "a mean with its deviation": (
        "TTFT: 210.10 ± 0.00 ms\nThroughput : 31.15 ± 0.40 tokens/s", {"decode": 31.15},
    ),
    "TabbyAPI": (
        "Metrics (ID: 1): 299 tokens generated in 10.3 seconds (Queue: 0.0 s, Process: 0 cached "
        "tokens and 31 new tokens at 103.3 T/s, Generate: 29.9 T/s, Context: 31 tokens)",
        {"decode": 29.9, "prompt": 103.3, "prompt_tokens": 31, "output_tokens": 299},
    ),
    "text-generation-webui": (
        "Output generated in 10.00 seconds (29.90 tokens/s, 299 tokens, context 31, seed 123)",
        {"decode": 29.9, "output_tokens": 299, "prompt_tokens": 31},
    ),
    "llama-sweep-bench": (SWEEP, {"decode": 13.39, "prompt": 107.63, "depth": 1024, "users": 1}),
    "without bars at the ends": ("PP | TG | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s\n"
                                 "-- | -- | -- | -- | -- | -- | --\n"
                                 "512 | 128 | 0 | 8.925 | 57.37 | 40.254 | 3.18",
                                 {"decode": 3.18, "prompt": 57.37}),
    # 8 sequences of (2048 + 128) tokens are 17,408
    "llama-batched-bench": (BATCHED, {"decode": 147.9 / 8, "users": 8, "depth": 0.0}),
    "words": ("prefill: 210.5 tok/s, decode: 31.2 tok/s", {"decode": 31.2, "prompt": 210.5}),
    "a speed alone": ("I get 31.2 tokens per second", {"decode": 31.2}),
    "thousands": ("tg128 1,031.2 t/s", {"decode": 1031.2}),
    "names of tests without a unit": (
        "pp512  210.5\ntg128  31.2", {"decode": 31.2, "prompt": 210.5},
    ),
    "another short unit": ("31.2 tk/s with 8k context", {"decode": 31.2}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "figures"), FORMS.values(), ids=FORMS)
def test_figures_of_each_form(text, figures) -> None:
    run = next(run for run in read(text) if run.decode)
    for name, value in figures.items():
        wanted = value if value is None or not isinstance(value, float) else pytest.approx(value)
        assert getattr(run, name) == wanted, name


def test_lines_beside_the_figures_change_nothing() -> None:
    for text, _ in FORMS.values():
        noisy = f"$ some-tool --flag\nloading the model ...\n{text}\nbye\n"
        assert printed(noisy) == printed(text)


@pytest.mark.parametrize(
    "text",
    ["", "hello", "prompt: 210 tokens/s", "1.0 t/s, 2.0 t/s and 3.0 t/s", "| a | b |\n|--|--|"],
)
def test_a_text_that_says_no_speed_of_generation_is_refused(text) -> None:
    with pytest.raises(InputError):
        read(text)


def test_every_row_is_of_a_known_runtime_and_finds_its_number() -> None:
    names = {known.name for known in named()} | {""}
    for row in read_rows(DATA / "diagnosis/printed_results.csv", PrintedRow):
        assert row.runtime in names, row.tool
        assert row.source
        says_engine = row.figure == "ran"
        assert ("<n>" in row.pattern) != says_engine
        assert row.expression.groups == int(not says_engine), row.pattern


@pytest.mark.parametrize(
    "text",
    [
        "I get about 40 t/s generation and 2400 t/s prompt processing",
        "2400 tokens/s prefill, 40 tokens/s generation",
        "prompt 2400 t/s and generation 40 t/s",
        "generation 40 t/s prompt 2400 t/s",
    ],
)
def test_a_word_belongs_to_its_own_number(text: str) -> None:
    (run,) = printed(text)
    assert (run.decode, run.prompt) == (40.0, 2400.0)


@pytest.mark.parametrize(
    ("text", "decode", "prompt"),
    [
        ("Antwort: 31,4 Token/s, Prompt: 1706 Token/s", 31.4, 1706.0),
        ("generation 31,4 tokens/s, prompt 1,706 tokens/s", 31.4, 1706.0),
        ("31,4 Tokens pro Sekunde", 31.4, None),
        ("生成速度 31.4 token/s, 提示处理 1706 token/s", 31.4, 1706.0),
        ("генерация 31.4 токенов в секунду, промпт 1,706.5 токенов в секунду", 31.4, 1706.5),
        ("génération 31,45 tokens/s", 31.45, None),
    ],
)
def test_speeds_are_read_in_other_languages_and_with_a_decimal_comma(
    text: str, decode: float, prompt: float | None
) -> None:
    (run,) = read(text)
    assert (run.decode, run.prompt) == (decode, prompt)


@pytest.mark.parametrize(
    "text",
    [
        OLLAMA_VERBOSE.replace("eval rate:            ", "eval rate:            -"),
        "I get -117 tokens/s with it",
        "-31,4 tok/s",
        "speed: \N{MINUS SIGN}31.4 t/s",
        LLAMA_LOG.replace("=   10000.20", "= -10000.20"),
        as_table(GPU_PROMPT, GPU_BENCH | {"avg_ts": -117.0}),
        json.dumps([GPU_BENCH | {"avg_ts": -117.0}]),
    ],
    ids=range(7),
)
def test_a_speed_or_time_below_zero_is_refused(text: str) -> None:
    assert "-" in text or "\N{MINUS SIGN}" in text
    with pytest.raises(InputError):
        read(text)


@pytest.mark.parametrize("text", ["- 31.4 t/s", "110-117 t/s pp512: 900 t/s", "Q4_K_M - 31.4 t/s"])
def test_a_dash_before_a_blank_or_between_numbers_is_no_minus(text: str) -> None:
    refuse_negative(text)


MISTRAL_RS = """
+----------------------+---------+--------+----------------+-------------+--------------+
| model                | backend | test   | t/s            | ms/t        | concurrency  |
+----------------------+---------+--------+----------------+-------------+--------------+
| mistralai/Mistral-7B | CUDA    | tg 256 | 114.583±0.142  | 8.727±0.011 | 4            |
+----------------------+---------+--------+----------------+-------------+--------------+
| mistralai/Mistral-7B | CUDA    | pp 16  | 1178.947±8.105 | 0.848±0.006 | 1            |
+----------------------+---------+--------+----------------+-------------+--------------+
"""


def test_the_drawn_table_of_mistral_rs_is_of_that_engine() -> None:
    tokens, prompt = read(MISTRAL_RS)
    assert (tokens.tool, tokens.runtime) == ("mistral.rs bench", "mistral.rs")
    assert (tokens.decode, tokens.output_tokens, tokens.users) == (114.583, 256, 4)
    assert (prompt.prompt, prompt.prompt_tokens, prompt.decode) == (1178.947, 16, None)


def test_a_drawn_border_ends_no_table() -> None:
    drawn = as_table(GPU_BENCH).replace("\n| qwen", "\n+-----+-----+\n| qwen")
    assert read(drawn)[0].decode == read(as_table(GPU_BENCH))[0].decode


def test_a_line_of_ktransformers_has_both_speeds() -> None:
    # kvcache-ai/ktransformers, issue 219
    line = "Performance(T/s): prefill 4.045294075735022, decode 3.956256483823671. Time(s): ..."
    (run,) = read(line)
    assert (run.runtime, run.tool) == ("KTransformers", "KTransformers")
    assert run.prompt == pytest.approx(4.045, abs=1e-3)
    assert run.decode == pytest.approx(3.956, abs=1e-3)


def test_a_generation_after_a_prompt_has_its_depth_and_its_cache() -> None:
    # ikawrakow/ik_llama.cpp, pull request 273: llama-bench -gp 128,64 -ctk q8_0
    table = """
| model                   |     params | threads | type_k | fa |          test |              t/s |
| ----------------------- | ---------: | ------: | -----: | -: | ------------: | ---------------: |
| deepseek2 16B IQ4_NL_R4 |    15.76 B |      32 |   q8_0 |  0 |    tg64@pp128 |     34.04 ± 0.03 |
"""
    (run,) = read(table)
    assert (run.decode, run.depth, run.output_tokens) == (34.04, 128, 64)
    assert run.kv_type == "q8_0/f16"


def test_timings_of_an_answer_stand_alone() -> None:
    # ggml-org/llama.cpp, pull request 12603: `jq .timings` of an answer of llama-server
    text = """{"prompt_n": 1, "prompt_ms": 228.522, "prompt_per_second": 4.375946298387026,
    "predicted_n": 200, "predicted_ms": 11082.606, "predicted_per_second": 18.0462970532382,
    "draft_n": 347, "draft_n_accepted": 65}"""
    (run,) = read(text)
    assert run.decode == pytest.approx(18.046, abs=1e-3)
    assert run.output_tokens == 200
