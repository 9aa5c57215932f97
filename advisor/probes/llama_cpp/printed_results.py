"""Measurements as tools print them: tables, lines of a log, lines that people paste.

Known are llama-bench's table, its CSV and SQL [1], the tables of llama-batched-bench and
llama-sweep-bench [2] and of EvalScope [4], and the lines of data/diagnosis/printed_results.csv,
each with its source. Results in JSON are read by `result_files`, which `read` asks first.

References:
    [1] ggml-org/llama.cpp, tools/llama-bench/README.md at 5a32f10, read 2026-11-21.
    [2] ggml-org/llama.cpp, tools/batched-bench/README.md; ikawrakow/ik_llama.cpp,
        examples/sweep-bench/README.md; both read 2026-11-28.
    [3] EricLBuehler/mistral.rs, mistralrs-bench/src/main.rs, read 2026-11-28.
    [4] modelscope/evalscope, docs/en/user_guides/stress_test/quick_start.md, read 2026-11-29.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from advisor.catalog.csv_tables import DATA
from advisor.catalog.csv_tables import read as read_rows
from advisor.errors import InputError
from advisor.lazy import lazy
from advisor.probes.llama_cpp import result_files
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.units import GIB, MIB

NUMBER = r"([\d,]*\.?\d+)"
PER_SECOND = (
    r"(?:t/s|tk/s|tok/s|tok/sec|toks/s|tps|tokens?/(?:s(?:ec(?:ond)?)?|sek)|"
    r"tokens? (?:per|a) second|"
    r"tokens? (?:pro sekunde|par seconde|por segundo|al secondo)|"
    r"ток(?:ен\w*)?\.?(?:/\u0441(?:ек)?| в секунду)|tokens?/秒|トークン/秒|토큰/초)"
)
COLORS = re.compile(r"\x1b\[[\d;]*m")
SPREAD = re.compile(r" *(?:\u00b1|\+/-) *[\d.,]*\d")
"""Deviation behind a mean, which is no speed: "31.15 ± 0.40 tokens/s"."""
SPEED_ALONE = re.compile(rf"(?<![\d.,]){NUMBER} ?{PER_SECOND}(?!\w)", re.IGNORECASE)
MINUS = re.compile(r"\s*[-\u2212]\d")
NEGATIVE = re.compile(
    rf"(?:^|[\s:=(\[~|])[-\u2212]{NUMBER} ?(?:{PER_SECOND}|ms\b)", re.IGNORECASE | re.MULTILINE
)
"""Speed or time below zero, which no tool prints."""
OF_PROMPT = re.compile(r"\b(?:prompt|prefill|input|pp ?\d+)\b", re.IGNORECASE)
LOGS = ("vLLM log", "SGLang log")
"""Tools that print means over some seconds. Where no request fills these the mean is low, so the
fastest line counts."""


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """One row of data/diagnosis/printed_results.csv: a figure in the lines that a tool prints."""

    tool: str
    runtime: str  # name of the runtime that it measures; empty where it measures several
    # field of `EngineRun`, a key of `_derived`, or "ran": a line that says which runtime ran
    figure: str
    # pattern of its line; <n> is the number, <per second> the unit
    pattern: str
    source: str

    @lazy
    def expression(self) -> re.Pattern[str]:
        """Pattern, which holds the number as its group."""
        text = self.pattern.replace("<per second>", PER_SECOND).replace("<n>", NUMBER)
        return re.compile(text, re.IGNORECASE | re.MULTILINE)


@cache
def printed_rows() -> Mapping[str, tuple[PrintedRow, ...]]:
    """Rows by tool, in the order of the file."""
    every = read_rows(DATA / "diagnosis/printed_results.csv", PrintedRow)
    tools = dict.fromkeys(row.tool for row in every)
    return {tool: tuple(row for row in every if row.tool == tool) for tool in tools}


def read(text: str) -> tuple[EngineRun, ...]:
    """Runs in a text: JSON of a known tool, or lines that a tool prints.

    Raises:
        InputError: neither, or a figure that is impossible.
    """
    try:
        return result_files.read(text)
    except InputError:
        runs = printed(text)
        if not runs:
            raise
        return runs


def printed(text: str) -> tuple[EngineRun, ...]:
    """Runs in a text that is no JSON; none where no tool is recognized.

    Raises:
        InputError: a speed or a time below zero.
    """
    plain = SPREAD.sub("", COLORS.sub("", text))
    refuse_negative(plain)
    gpus = ", ".join(DEVICE.findall(plain))
    for reader in (_of_csv, _of_sql, _of_tables, _of_lines, _of_a_speed):
        runs = tuple(reader(plain))
        if runs:
            return tuple(replace(run, gpus=run.gpus or gpus) for run in runs)
    return ()


def refuse_negative(text: str) -> None:
    """Refuse a speed or a time below zero; raises InputError."""
    below = NEGATIVE.search(text)
    if below is not None:
        raise InputError(
            f"The text says {below[0].strip()!r}; a speed is above 0. Paste it as the tool printed "
            "it."
        )


DEVICE = re.compile(r"^ *Device \d+: ([^,\n]{3,60}),", re.MULTILINE)
"""Line of llama.cpp's backends for each GPU, before the results [1]."""


# llama-bench's CSV and SQL have the keys of its JSON.


def _of_csv(text: str) -> Iterator[EngineRun]:
    lines = text.splitlines()
    header = next((at for at, line in enumerate(lines) if names_bench_keys(line)), None)
    if header is None or "INSERT INTO" in lines[header].upper():
        return
    for row in csv.DictReader(io.StringIO("\n".join(lines[header:]))):
        yield from _of_bench_keys(row)


def names_bench_keys(line: str) -> bool:
    """Whether a line has the keys of llama-bench's JSON, as its CSV and SQL do."""
    return all(re.search(rf'(?:^|[,"]){key}\b', line) for key in ("n_prompt", "n_gen", "avg_ts"))


INSERTED = re.compile(
    r"INSERT INTO\s+\w+\s*\(([^)]*)\)\s*VALUES\s*\((.*?)\)\s*;", re.IGNORECASE | re.DOTALL
)


def _of_sql(text: str) -> Iterator[EngineRun]:
    for columns, values in INSERTED.findall(text):
        names = [name.strip() for name in columns.split(",")]
        (cells,) = csv.reader(
            [" ".join(values.split())], quotechar="'", skipinitialspace=True, doublequote=True
        )
        yield from _of_bench_keys(dict(zip(names, cells, strict=False)))


def _of_bench_keys(row: Mapping[str, str | None]) -> Iterator[EngineRun]:
    """Run of a row with the keys of llama-bench's JSON, whose values are texts."""
    typed = {key: _typed(value or "") for key, value in row.items() if key}
    if {"n_prompt", "n_gen", "avg_ts"} <= typed.keys():
        yield from result_files.bench_runs(typed)


def _typed(text: str) -> float | str:
    try:
        return int(text)
    except ValueError:
        if re.fullmatch(r"-?\d+\.\d+(?:e[+-]?\d+)?", text):
            return _number(text)
        return text


# Tables with bars between their columns: those of llama-bench and llama-benchy, of
# llama-batched-bench and llama-sweep-bench.

PRINTED_BUILD = re.compile(r"^build: ([0-9a-f]{6,}) \((\d+)\)", re.MULTILINE)
BORDER = re.compile(r"\s*\+[-=+]+\+\s*")  # line above and below rows of a drawn table
RULE = re.compile(r"^[\s|:+-]+$")
TEST = re.compile(r"(pp|tg) ?(\d+)(?: *@ *(?:d|pp) *(\d+))?", re.IGNORECASE)
SIZES = {"gib": GIB, "mib": MIB}
CACHE_COLUMNS = {"type_k", "type_v"}
TABLE_HEADS = frozenset({"t/s", "s_tg t/s", "ttft (s)"})
"""Columns by which the head of such a table is known."""


def _of_tables(text: str) -> Iterator[EngineRun]:
    build = _printed_build(text)
    for row in _table_rows(text):
        if "ms/t" in row and "concurrency" in row:
            yield from _mistralrs_row(row)
        elif "test" in row and "t/s" in row:
            yield from _bench_row(row, build)
        elif "s_tg t/s" in row:
            yield from _sweep_row(row)
        elif MEDIAN.fullmatch(row.get("percentile", row.get("percentiles", ""))):
            yield from _evalscope_row(row, text)


def _printed_build(text: str) -> Mapping[str, str]:
    """Build below a table, by the keys of llama-bench's JSON; empty where none is printed."""
    match = PRINTED_BUILD.search(text)
    if match is None:
        return {}
    return {"build_commit": match[1], "build_number": match[2]}


def _table_rows(text: str) -> Iterator[dict[str, str]]:
    """Rows of all tables by the names of their columns, in lower case."""
    header: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if BORDER.fullmatch(line):
            continue
        if "|" not in line:
            header = []
        elif TABLE_HEADS & set(map(str.casefold, cells)):
            header = [cell.casefold() for cell in cells]
        elif header and len(cells) == len(header) and not RULE.match(line):
            yield dict(zip(header, cells, strict=True))


def _bench_row(row: Mapping[str, str], build: Mapping[str, str]) -> Iterator[EngineRun]:
    """Row of llama-bench: "pp512", "tg128 @ d4096", "tg64@pp128" of its fork; both together cannot
    be separated. The build stands below its table. A type of the cache has a column where it is not
    f16.
    """
    test = TEST.fullmatch(row["test"])
    speed = _first_number(row["t/s"])
    if test is None or speed is None:
        return
    of_prompt = test[1].casefold() == "pp"
    yield from result_files.bench_runs(
        {
            "model_type": row.get("model", ""),
            "model_size": _size(row.get("size", "")),
            "backends": row.get("backend", ""),
            "n_gpu_layers": _whole(row.get("ngl", "")),
            "n_threads": _whole(row.get("threads", "")),
            "n_prompt": int(test[2]) if of_prompt else 0,
            "n_gen": 0 if of_prompt else int(test[2]),
            "n_depth": int(test[3] or 0),
            "avg_ts": speed,
            **{
                part: row.get(part) or "f16" for part in CACHE_COLUMNS if CACHE_COLUMNS & row.keys()
            },
            **build,
        }
    )


def _mistralrs_row(row: Mapping[str, str]) -> Iterator[EngineRun]:
    """Row of mistral.rs' bench: "tg 256" or "pp 16" of each of several users [3]."""
    test = TEST.fullmatch(row.get("test", ""))
    speed = _first_number(row.get("t/s", ""))
    if test is None or not speed:
        return
    users = _first_number(row["concurrency"]) or 1.0
    run = EngineRun(tool="mistral.rs bench", model=row.get("model", ""), runtime="mistral.rs")
    if test[1].casefold() == "pp":
        yield replace(run, prompt=speed, prompt_tokens=float(test[2]), users=users)
    else:
        yield replace(run, decode=speed, output_tokens=float(test[2]), users=users)


def _sweep_row(row: Mapping[str, str]) -> Iterator[EngineRun]:
    """Row with the speeds of a prompt and of a generation after it."""
    users = _first_number(row.get("b", "")) or 1.0
    depth = _first_number(row.get("n_kv", "")) or 0.0
    prompt = _first_number(row.get("pp", ""))
    output = _first_number(row.get("tg", ""))
    if "b" in row:  # its N_KV is what is in the cache at the end, of all sequences
        depth = max(depth / users - (prompt or 0.0) - (output or 0.0), 0.0)
    total = _first_number(row["s_tg t/s"])
    if not total:
        return
    yield EngineRun(
        tool="llama-batched-bench" if "b" in row else "llama-sweep-bench",
        model="",
        runtime="llama.cpp",
        decode=total / users,
        total=total,
        prompt=_first_number(row.get("s_pp t/s", "")),
        prompt_tokens=prompt,
        output_tokens=output,
        depth=depth,
        users=users,
    )


MEDIAN = re.compile(r"50 ?%|p50")
AT_ONCE = re.compile(r"Number of concurrency *\| *(\d+)", re.IGNORECASE)
"""Line above EvalScope's percentiles [4]."""


def _evalscope_row(row: Mapping[str, str], text: str) -> Iterator[EngineRun]:
    """Medians of `evalscope perf`, of each request; the number of users stands above them [4]."""
    each = _seconds(row, "tpot (s)") or _seconds(row, "itl (s)")
    if each is None:
        return
    users = AT_ONCE.search(text)
    yield EngineRun(
        tool="evalscope perf",
        model="",
        decode=1.0 / each,
        first_token=_seconds(row, "ttft (s)"),
        prompt_tokens=_first_number(row.get("input tokens", "")),
        output_tokens=_first_number(row.get("output tokens", "")),
        users=float(users[1]) if users else None,
    )


def _seconds(row: Mapping[str, str], column: str) -> float | None:
    """Seconds in a cell; None for zero or for one without a number ("nan")."""
    return _first_number(row.get(column, "")) or None


def _size(cell: str) -> float | None:
    match = re.fullmatch(rf"{NUMBER} ?(GiB|MiB)", cell, re.IGNORECASE)
    if match:
        return _number(match[1]) * SIZES[match[2].casefold()]
    return None


def _whole(cell: str) -> int | None:
    if re.fullmatch(r"-?\d+", cell):
        return int(cell)
    return None


def _first_number(cell: str) -> float | None:
    """First number of a cell; raises InputError for one below zero."""
    if MINUS.match(cell):
        raise InputError(
            f"A speed or a number of tokens is {cell[:40]!r}; it must be above 0. Paste the table "
            "as the tool printed it."
        )
    match = re.search(NUMBER, cell)
    if match:
        return _number(match[1])
    return None


def _number(text: str) -> float:
    """Number with commas before each three digits ("1,706.1"), or with a decimal comma ("31,4")."""
    if re.fullmatch(r"\d+,(?:\d{1,2}|\d{4,})", text):
        return float(text.replace(",", "."))
    return float(text.replace(",", ""))


# Lines: each figure by its pattern; a figure that comes again begins another run.


def _of_lines(text: str) -> Iterator[EngineRun]:
    for tool, rows in printed_rows().items():
        naming = [row for row in rows if row.figure == "ran"]
        figured = [row for row in rows if row.figure != "ran"]
        ran = next((row.runtime for row in naming if row.expression.search(text)), rows[0].runtime)
        runs = [_run(tool, ran, figures) for figures in _figures(figured, text)]
        timed = [run for run in runs if run is not None]
        if timed:
            fastest = max(timed, key=lambda run: run.decode or 0.0)
            return iter([fastest] if tool in LOGS else timed)
    return iter(())


def _figures(rows: Iterable[PrintedRow], text: str) -> Iterator[dict[str, float]]:
    """Figures of each run, in the order of the text."""
    matches = sorted(
        (match.start(1), row.figure, _number(match[1]))
        for row in rows
        for match in row.expression.finditer(text)
    )
    run: dict[str, float] = {}
    for _, figure, value in matches:
        if figure in run:
            yield run
            run = {}
        run[figure] = value
    if run:
        yield run


FIGURES = frozenset(field.name for field in fields(EngineRun))


def _run(tool: str, runtime: str, figures: Mapping[str, float]) -> EngineRun | None:
    """Run of some figures; None without a speed of generation, as of a server at rest."""
    known = {name: value for name, value in ({**figures, **_derived(figures)}).items() if value}
    if not known.get("decode"):
        return None
    taken: dict[str, Any] = {name: value for name, value in known.items() if name in FIGURES}
    return EngineRun(tool=tool, model="", runtime=runtime, **taken)


def _derived(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures that follow from others: means of a request, speed of one sequence [SI]."""
    more: dict[str, float] = {}
    requests = figures.get("requests", 0.0)
    for name in ("prompt_tokens", "output_tokens"):
        if requests and f"all_{name}" in figures:
            more[name] = figures[f"all_{name}"] / requests
    if "prompt_seconds" in figures and "prompt" in figures:
        more["prompt_tokens"] = round(figures["prompt_seconds"] * figures["prompt"])
    if "first_token_ms" in figures:
        more["first_token"] = figures["first_token_ms"] / 1000.0
    each = figures.get("token_ms") or figures.get("between_ms")
    if each:
        more["decode"] = 1000.0 / each
    total = figures.get("total")
    users = figures.get("users")
    if total and "decode" not in more:
        more["decode"] = total / max(users or 1.0, 1.0)
    if total and users is None and each:
        more["users"] = max(total * each / 1000.0, 1.0)  # Little's law: rate times time of a token
    return more


def _of_a_speed(text: str) -> Iterator[EngineRun]:
    """Only speed of a text, which is that of generation where no word says that it is not."""
    speeds = SPEED_ALONE.findall(text)
    if len(speeds) == 1 and not OF_PROMPT.search(text):
        yield EngineRun(tool="a pasted line", model="", decode=_number(speeds[0]))
