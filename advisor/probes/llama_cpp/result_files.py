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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias

from advisor.catalog import csv_tables
from advisor.errors import InputError

Row: TypeAlias = Mapping[str, Any]
UNITS = {"ns": 1e-9, "ms": 1e-3}
LARGEST = 1e18  # above every count, duration in nanoseconds and size in bytes that a run has
KNOWN = (
    "llama-bench (-o json), Ollama (/api/generate), LM Studio (/api/v1/chat), vLLM (bench serve "
    "--save-result, bench throughput --output-json), llama-benchy (--format json), an answer of "
    "llama-server or vLLM with its own timing, or the lines that these, SGLang, MLX and KoboldCpp "
    "print"
)


@dataclass(frozen=True, kw_only=True)
class EngineRun:
    """Run in the words of its tool; None for missing values."""

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
    runtime: str = ""  # name of the runtime that ran; empty where the tool measures several
    users: float | None = None  # sequences decoded together
    file_bytes: float | None = None  # weights of the file [B]
    backend: str = ""  # backends of the build, as the tool calls them
    kv_type: str = ""  # format of the cache; empty where missing
    threads: int | None = None  # processor threads
    gpu_layers: int | None = None  # layers on GPUs (`-ngl`); None also where the tool chose
    when: str = ""  # ISO 8601 time; empty where missing
    engine: str = ""  # version or build; empty where missing
    gpus: str = ""  # its GPUs as the tool names them, with commas; empty where missing


def read(text: str) -> tuple[EngineRun, ...]:
    """Runs in the JSON of a known tool."""
    runs = tuple(run for row in _rows(text) for run in _read_row(row))
    if not runs:
        raise InputError(
            "The results hold no finished run of a prompt or of a generation alone; llama-bench "
            "measures these by default, and Ollama's last answer has them."
        )
    return runs


def _rows(text: str) -> list[Row]:
    """Objects of JSON or JSON Lines, without the names of GPUs before them."""
    lines = text.removeprefix("\ufeff").splitlines()
    first = next((at for at, line in enumerate(lines) if line.lstrip()[:1] in ("[", "{")), 0)
    lines[:first] = [""] * first
    try:
        content = json.loads("\n".join(lines))
    except ValueError:
        content = [_line(number, line) for number, line in enumerate(lines, 1) if line]
    except RecursionError:
        raise InputError("The results are nested too deeply to be any tool's.") from None
    if isinstance(content, list):
        rows = content
    else:
        rows = [content]
    if not all(isinstance(row, dict) for row in rows):
        raise InputError(f"The results are no JSON objects; expected is what {KNOWN} writes.")
    return rows


def _line(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"Line {number} of the results is no JSON ({error}); expected is what {KNOWN} writes."
        ) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultTool:
    """Row of data/diagnosis/result_tools.csv: a tool, and where its rows hold an `EngineRun`.

    A figure is a path ("stats.input_tokens"), with its unit if that is not SI ("prompt_ms ms"), the
    quotient of two, or one of several ("a | b"); "!" where it must be above 0, "+" where it must be
    there. A text is the words of its paths.
    """

    tool: str
    marks: str  # keys of its rows alone
    model: str
    decode: str
    prompt: str
    first_token: str
    total: str
    handled: str
    prompt_tokens: str
    output_tokens: str
    depth: str
    when: str
    engine: str
    users: str
    runtime: str
    note: str


FIGURES = (
    "decode",
    "prompt",
    "first_token",
    "total",
    "handled",
    "prompt_tokens",
    "output_tokens",
    "users",
)
"""Columns of a `ResultTool` that are figures of an `EngineRun`."""


TEXT_COLUMNS = ("model", "when", "engine")  # columns of a `ResultTool` that are texts


@cache
def result_tools() -> tuple[ResultTool, ...]:
    """Tools in the order in which their marks are looked for."""
    return csv_tables.read(csv_tables.DATA / "diagnosis/result_tools.csv", ResultTool)


def _read_row(row: Row) -> Iterator[EngineRun]:
    if all(mark in row for mark in ("n_prompt", "n_gen", "avg_ts")):
        return bench_runs(row)
    for tool in result_tools():
        if all(mark in row for mark in tool.marks.split()):
            runs = RUNS_IN[tool.tool](row) if tool.tool in RUNS_IN else (row,)
            return (_run(tool, run) for run in runs)
    raise InputError(
        f"The results are of no tool that is known (they have {', '.join(list(row)[:6]) or 'no'} "
        f"as keys); known are {KNOWN}."
    )


def _run(tool: ResultTool, row: Row) -> EngineRun:
    figures: dict[str, Any] = {name: figure(row, getattr(tool, name)) for name in FIGURES}
    return EngineRun(
        tool=tool.tool,
        model=_words(row, tool.model),
        depth=figure(row, tool.depth) or 0.0,
        when=_moment(_words(row, tool.when)),
        engine=_words(row, tool.engine),
        runtime=tool.runtime,
        **figures,
    )


# Fields of a row, checked as they are read.


def figure(row: Row, expression: str) -> float | None:
    """Figure of a row in SI units; None if missing, InputError for an impossible one."""
    for way in expression.split(" | "):
        above, _, below = way.partition(" / ")
        value = _number(row, above)
        if below:
            by = _number(row, below)
            if value and by:
                value = value / by
            else:
                value = None
        if value is not None:
            return value
    return None


def _number(row: Row, term: str) -> float | None:
    path, _, unit = term.partition(" ")
    if not path:
        return None
    if path.isdigit():
        return float(path)
    holder, key = _place(row, path.rstrip("!+"))
    if holder is None:
        return None
    value = _checked(holder, key, path[-1])
    if unit:
        return value and (value * UNITS[unit] or None)
    return value


def _place(row: Row, path: str) -> tuple[Row | None, str]:
    """Object that holds the last key of a path, None where there is none, and that key."""
    *outer, key = path.split(".")
    holder: Row | None = row
    for name in outer:
        inner = holder.get(name) if holder else None
        if inner is not None and not isinstance(inner, dict):
            raise InputError(
                f"{name} is {str(inner)[:40]!r} in the results; an object is expected."
            )
        holder = inner
    return holder, key


def _words(row: Row, paths: str) -> str:
    """Texts of several paths, or of the first of alternatives that has one."""
    ways = (" ".join(_text(row, path) for path in way.split()) for way in paths.split(" | "))
    return next((words.strip() for words in ways if words.strip()), "")


def _text(row: Row, path: str) -> str:
    """Text of up to 200 characters; empty where it is missing."""
    holder, key = _place(row, path)
    value = holder.get(key) if holder else None
    if value is None:
        return ""
    return str(value)[:200]


def _checked(row: Row, key: str, mark: str) -> float | None:
    """Number from 0 up; None for a missing one. Raises InputError with the mark of any other
    value.
    """
    value = row.get(key)
    if value is None:
        if mark in "!+":
            raise InputError(f"{key} is missing in the results; the tool writes it with each run.")
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{key} is {str(value)[:40]!r} in the results; a number is expected.")
    if not 0 <= value <= LARGEST:
        raise InputError(
            f"{key} is {str(value)[:40]} in the results; expected is a number from 0 to "
            f"{LARGEST:g}."
        )
    if mark == "!" and not value:
        raise InputError(f"{key} is 0 in the results; the run did not finish, so run it again.")
    return float(value)


def _moment(text: str) -> str:
    """ISO 8601 time, of vLLM's 20261121-093000 in the machine's time zone; empty for another."""
    try:
        return datetime.strptime(text, "%Y%m%d-%H%M%S").isoformat()
    except ValueError:
        time = text.replace(" ", "T")
        if "T" in time:
            return time
        return ""


def bench_runs(row: Row) -> Iterator[EngineRun]:
    """Run of a row of llama-bench: a test of a prompt or of generation; one of both together cannot
    be separated.
    """
    prompt = figure(row, "n_prompt+")
    output = figure(row, "n_gen+")
    if bool(prompt) == bool(output):
        return
    speed = figure(row, "avg_ts!")
    speeds = row.get("samples_ts")
    layers = row.get("n_gpu_layers")
    samples: tuple[float, ...] = ()
    if isinstance(speeds, list):
        repeats = [{"samples_ts": sample} for sample in speeds]
        samples = tuple(figure(repeat, "samples_ts!") or 0.0 for repeat in repeats)
    threads = figure(row, "n_threads")
    # -1 means automatic, the default since the end of 2025.
    chosen = isinstance(layers, int) and layers < 0
    if chosen:
        on_gpu = None
    else:
        on_gpu = figure(row, "n_gpu_layers")
    yield EngineRun(
        tool="llama-bench",
        model=_text(row, "model_type") or _text(row, "model_filename"),
        runtime="llama.cpp",
        file_bytes=figure(row, "model_size") or None,
        backend=_text(row, "backends"),
        kv_type="/".join(dict.fromkeys(filter(None, (_text(row, "type_k"), _text(row, "type_v"))))),
        decode=speed if output else None,
        prompt=speed if prompt else None,
        prompt_tokens=prompt or None,
        output_tokens=output or None,
        depth=figure(row, "n_depth") or 0.0,
        samples=samples or (speed or 0.0,),
        threads=None if threads is None else round(threads),
        gpu_layers=None if on_gpu is None else round(on_gpu),
        when=_text(row, "test_time"),
        engine=_build(row),
        gpus=_text(row, "gpu_info"),
    )


def _build(row: Row) -> str:
    """Build of a row of llama-bench; empty where it states none."""
    number = _text(row, "build_number")
    if not number:
        return ""
    return f"build {number} ({_text(row, 'build_commit')})"


def _uncached(row: Row) -> Iterator[Row]:
    """Row of Ollama with its computed tokens: cached ones count as input, but take no time."""
    cached = figure(row, "prompt_eval_cached_count") or 0.0
    fresh = (figure(row, "prompt_eval_count") or 0.0) - cached
    yield {**row, "computed": max(fresh, 0.0) or None, "cached": cached}


def _requests(row: Row) -> Iterator[Row]:
    """Runs of llama-benchy; loading a context alone (`is_context_prefill_phase`) is left out."""
    runs = row["benchmarks"]
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InputError("benchmarks is no list of objects in the results.")
    for run in runs:
        if run.get("tg_req_throughput") is not None and not run.get("is_context_prefill_phase"):
            named = {key: row.get(key) for key in ("model", "timestamp")}
            yield {"context_size": 0.0, **run, **named}


RUNS_IN: Mapping[str, Callable[[Row], Iterator[Row]]] = {
    "Ollama": _uncached,
    "Ollama stream": lambda _: iter(()),
    "llama-benchy": _requests,
}
"""Runs in a row, where it is not a run itself."""
