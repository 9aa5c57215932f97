"""Measurements of an engine by other tools, read from their result files.

Known are `llama-bench -o json` and `-o jsonl` [1], the answers of Ollama's `/api/generate` and
`/api/chat` [2], those of LM Studio's REST API in both versions [3], and the files of
`vllm bench serve --save-result` [4] and `vllm bench throughput --output-json` [5]. Known too are
answers of OpenAI-compatible endpoints that tell their own timing: llama-server's `timings` [6] and
vLLM's `metrics` (`--enable-per-request-metrics`) [7], and the report of llama-benchy
(`--format json`) [8].

References:
    [1] ggml-org/llama.cpp, tools/llama-bench/README.md at 5a32f10, read 2026-11-21.
    [2] https://docs.ollama.com/api/usage, read 2026-11-21.
    [3] lmstudio-ai/docs, 1_developer/2_rest/endpoints.mdx and chat.md at c6854fb, read 2026-11-21.
    [4] vllm-project/vllm, vllm/benchmarks/serve.py at def9ce8, read 2026-11-21.
    [5] vllm-project/vllm, vllm/benchmarks/throughput.py, read 2026-11-21.
    [6] An answer of llama-server as clients record it: prompt_n, prompt_per_second, predicted_n,
        predicted_per_second, cache_n; read 2026-11-22.
    [7] vllm-project/vllm, docs/features/per_request_metrics.md, read 2026-11-22.
    [8] eugr/llama-benchy, schemas/sample.jsonc at ae09cab, read 2026-11-23.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from advisor.errors import InputError
from advisor.probes.llama_cpp import result_fields as fields
from advisor.probes.llama_cpp.result_fields import Row

NANOSECONDS, MILLISECONDS = 1e-9, 1e-3
KNOWN = (
    "llama-bench (-o json), Ollama (/api/generate), LM Studio (/api/v1/chat), vLLM (bench serve "
    "--save-result, bench throughput --output-json), llama-benchy (--format json), an answer of "
    "llama-server or vLLM with its own timing"
)


@dataclass(frozen=True, kw_only=True)
class EngineRun:
    """One run as its tool reports it; None for missing values."""

    tool: str  # name of the tool
    model: str  # the tool's name of the model
    decode: float | None = None  # speed of generation per sequence [tokens/s]
    prompt: float | None = None  # speed of the prompt [tokens/s]
    first_token: float | None = None  # time to the first token [s]
    total: float | None = None  # speed of generation of all sequences together [tokens/s]
    # prompt and generated tokens per second of all sequences together [tokens/s]
    handled: float | None = None
    prompt_tokens: float | None = None  # prompt length of one sequence
    output_tokens: float | None = None  # generated tokens of one sequence
    depth: float = 0.0  # tokens in the cache before
    samples: tuple[float, ...] = ()  # the rate above, of each repeat [tokens/s]
    threads: int | None = None  # processor threads
    gpu_layers: int | None = None  # layers on GPUs (`-ngl`); None also where the tool chose
    when: str = ""  # ISO 8601 time; empty where missing
    engine: str = ""  # version or build; empty where missing


def read(text: str) -> tuple[EngineRun, ...]:
    """All runs in the JSON of any known tool."""
    runs = tuple(run for row in _rows(text) for run in _read_row(row))
    if not runs:
        raise InputError(
            "The results hold no finished run of a prompt or of a generation alone; llama-bench "
            "measures these by default, and Ollama's last answer has them."
        )
    return runs


def _rows(text: str) -> list[Row]:
    """Objects of JSON or JSON Lines text."""
    text = _without_log(text)
    try:
        content = json.loads(text)
    except ValueError:
        content = [_line(number, line) for number, line in enumerate(text.splitlines(), 1) if line]
    except RecursionError:
        raise InputError("The results are nested too deeply to be any tool's.") from None
    rows = content if isinstance(content, list) else [content]
    if not all(isinstance(row, dict) for row in rows):
        raise InputError(f"The results are no JSON objects; expected is what {KNOWN} writes.")
    return rows


def _without_log(text: str) -> str:
    """The text from its first line of JSON on, with empty lines in place of earlier ones.

    Both outputs of llama-bench in one file begin with the names of the GPUs.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    first = next((at for at, line in enumerate(lines) if line.lstrip()[:1] in ("[", "{")), 0)
    return "\n".join([""] * first + lines[first:])


def _line(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"Line {number} of the results is no JSON ({error}); expected is what {KNOWN} writes."
        ) from None


def _read_row(row: Row) -> Iterator[EngineRun]:
    for marks, reader in READERS:
        if all(mark in row for mark in marks):
            yield from reader(row)
            return
    raise InputError(
        f"The results are of no tool that is known (they have {', '.join(list(row)[:6]) or 'no'} "
        f"as keys); known are {KNOWN}."
    )


def _llama_bench(row: Row) -> Iterator[EngineRun]:
    """Test of a prompt or of generation; a test of both together cannot be separated."""
    prompt, output = fields.number(row, "n_prompt"), fields.number(row, "n_gen")
    if (prompt > 0) == (output > 0):
        return
    rate = fields.rate(row, "avg_ts")
    yield EngineRun(
        tool="llama-bench",
        model=fields.text(row, "model_type") or fields.text(row, "model_filename"),
        decode=rate if output else None,
        prompt=rate if prompt else None,
        prompt_tokens=prompt or None,
        output_tokens=output or None,
        depth=fields.optional(row, "n_depth") or 0.0,
        samples=fields.samples(row) or (rate,),
        threads=fields.whole(row, "n_threads"),
        gpu_layers=_gpu_layers(row),
        when=fields.text(row, "test_time"),
        engine=f"build {fields.text(row, 'build_number')} ({fields.text(row, 'build_commit')})",
    )


def _gpu_layers(row: Row) -> int | None:
    """Number of GPU layers; -1 means automatic, the default since the end of 2025."""
    layers = row.get("n_gpu_layers")
    return None if isinstance(layers, int) and layers < 0 else fields.whole(row, "n_gpu_layers")


def _ollama(row: Row) -> Iterator[EngineRun]:
    """Last answer of a stream; earlier ones have no timings."""
    output, seconds = (
        fields.number(row, "eval_count"),
        fields.number(row, "eval_duration") * NANOSECONDS,
    )
    # Tokens read from the cache count as input, but take no time of the evaluation.
    cached = fields.optional(row, "prompt_eval_cached_count") or 0.0
    prompt = (fields.optional(row, "prompt_eval_count") or 0.0) - cached
    reading = (fields.optional(row, "prompt_eval_duration") or 0.0) * NANOSECONDS
    yield EngineRun(
        tool="Ollama",
        model=fields.text(row, "model"),
        decode=fields.over(output, seconds),
        prompt=fields.over(prompt, reading),
        first_token=reading or None,
        prompt_tokens=prompt or None,
        output_tokens=output,
        depth=cached,
        when=fields.text(row, "created_at"),
    )


def _no_timings(_: Row) -> Iterator[EngineRun]:
    """Whether a row is a part of a streamed answer, without timings."""
    return iter(())


def _lm_studio(row: Row) -> Iterator[EngineRun]:
    """Both API versions: the older counts tokens in `usage`, the newer in `stats`."""
    stats = fields.inner(row, "stats")
    usage = fields.inner(row, "usage") if "usage" in row else stats
    runtime = fields.inner(row, "runtime") if "runtime" in row else {}
    yield EngineRun(
        tool="LM Studio",
        model=fields.text(row, "model") or fields.text(row, "model_instance_id"),
        decode=fields.rate(stats, "tokens_per_second"),
        first_token=fields.either(stats, "time_to_first_token_seconds", "time_to_first_token"),
        prompt_tokens=fields.either(usage, "prompt_tokens", "input_tokens"),
        output_tokens=fields.either(usage, "completion_tokens", "total_output_tokens"),
        engine=" ".join(
            filter(None, (fields.text(runtime, "name"), fields.text(runtime, "version")))
        ),
    )


def _vllm_serve(row: Row) -> Iterator[EngineRun]:
    """Medians over requests; the speed of a sequence is the reciprocal of its time per token."""
    done = fields.rate(row, "completed")
    between, first = fields.optional(row, "median_tpot_ms"), fields.optional(row, "median_ttft_ms")
    yield EngineRun(
        tool="vLLM bench serve",
        model=fields.text(row, "model_id"),
        decode=fields.over(1.0, between and between * MILLISECONDS),
        first_token=first and first * MILLISECONDS,
        total=fields.rate(row, "output_throughput"),
        prompt_tokens=fields.over(fields.optional(row, "total_input_tokens"), done),
        output_tokens=fields.over(fields.optional(row, "total_output_tokens"), done),
        when=_moment(fields.text(row, "date")),
    )


def _moment(text: str) -> str:
    """ISO 8601 time of vLLM's 20261121-093000, in the machine's time zone; else empty."""
    try:
        return datetime.strptime(text, "%Y%m%d-%H%M%S").isoformat()
    except ValueError:
        return ""


def _vllm_throughput(row: Row) -> Iterator[EngineRun]:
    """Throughput with prompt and generated tokens counted together."""
    rate = fields.rate(row, "tokens_per_second")
    yield EngineRun(tool="vLLM bench throughput", model="", handled=rate)


def _llama_server(row: Row) -> Iterator[EngineRun]:
    """`prompt_n` counts computed tokens, `cache_n` tokens found in the cache."""
    timings = fields.inner(row, "timings")
    yield EngineRun(
        tool="llama-server",
        model=fields.text(row, "model"),
        decode=fields.rate(timings, "predicted_per_second"),
        prompt=fields.optional(timings, "prompt_per_second"),
        prompt_tokens=fields.optional(timings, "prompt_n"),
        output_tokens=fields.optional(timings, "predicted_n"),
        depth=fields.optional(timings, "cache_n") or 0.0,
    )


def _vllm_request(row: Row) -> Iterator[EngineRun]:
    """Timings of a request; the first token's time counts from its scheduling."""
    metrics = fields.inner(row, "metrics")
    usage = fields.inner(row, "usage") if isinstance(row.get("usage"), dict) else {}
    first = fields.optional(metrics, "time_to_first_token_ms")
    yield EngineRun(
        tool="vLLM",
        model=fields.text(row, "model"),
        decode=fields.rate(metrics, "tokens_per_second"),
        first_token=first and first * MILLISECONDS,
        prompt_tokens=fields.optional(usage, "prompt_tokens"),
        output_tokens=fields.optional(usage, "completion_tokens"),
    )


def _llama_benchy(row: Row) -> Iterator[EngineRun]:
    """Means of each request; loading a context alone (`is_context_prefill_phase`) is left out."""
    runs = row["benchmarks"]
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InputError("benchmarks is no list of objects in the results.")
    for run in runs:
        decode, prompt = _mean(run, "tg_req_throughput"), _mean(run, "pp_req_throughput")
        if run.get("is_context_prefill_phase") or decode is None:
            continue
        first = _mean(run, "e2e_ttft")
        yield EngineRun(
            tool="llama-benchy",
            model=fields.text(row, "model"),
            decode=decode,
            prompt=prompt,
            first_token=first and first * MILLISECONDS,
            total=_mean(run, "tg_throughput"),
            prompt_tokens=fields.optional(run, "prompt_size"),
            output_tokens=fields.optional(run, "response_size"),
            depth=fields.optional(run, "context_size") or 0.0,
            when=fields.text(row, "timestamp").replace(" ", "T"),
        )


def _mean(row: Row, key: str) -> float | None:
    """Mean of a metric; None where it is missing or null."""
    return None if row.get(key) is None else fields.rate(fields.inner(row, key), "mean")


READERS: tuple[tuple[tuple[str, ...], Callable[[Row], Iterator[EngineRun]]], ...] = (
    (("n_prompt", "n_gen", "avg_ts"), _llama_bench),
    (("eval_count", "eval_duration"), _ollama),
    (("done", "created_at"), _no_timings),
    (("stats",), _lm_studio),
    (("timings",), _llama_server),
    (("metrics", "model"), _vllm_request),
    (("model_id", "output_throughput", "completed"), _vllm_serve),
    (("benchmarks", "latency_mode"), _llama_benchy),
    (("elapsed_time", "num_requests", "tokens_per_second"), _vllm_throughput),
)
"""Keys that tell a tool, and what reads its rows."""
