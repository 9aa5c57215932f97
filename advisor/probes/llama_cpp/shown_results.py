"""Results of tools without their private parts: figures stay; replies, paths and names are removed.

Tools print or save the reply that they timed, the folder of the model, addresses and tokens. Of
JSON stay numbers and the texts that a reader takes (data/diagnosis/result_tools.csv), of printed
text the lines that hold figures (data/diagnosis/printed_results.csv) and those that name the
hardware (data/diagnosis/printed_parts.csv).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from advisor.catalog.csv_tables import DATA, read
from advisor.lazy import lazy
from advisor.probes.llama_cpp.printed_results import (
    COLORS,
    INSERTED,
    TABLE_HEADS,
    names_bench_keys,
    printed_rows,
)
from advisor.probes.llama_cpp.result_files import TEXT_COLUMNS, result_tools

LONGEST = 40_000  # letters of a result that is shown
MOST_LINES = 300
MOST_ROWS = 200  # entries of a list of objects
OF_BENCH = 10  # commas of a line of llama-bench's CSV or SQL, which has over 30
LONGEST_TEXT = 200  # letters of a text in JSON
TEXTS = frozenset({"cpu_info", "gpu_info", "backends", "build_commit", "type_k", "type_v",
                   "model_type", "model_filename", "test_time", "kv", "devices"})  # fmt: skip
"""Keys of llama-bench's and Strata's rows whose texts stay."""
NUMBERS = frozenset({"samples_ts", "samples_ns", "values"})  # keys whose lists of numbers stay
PRIVATE = {
    r"\b[a-z][a-z0-9+.-]{0,20}://\S+": "(address)",
    r"\b(?!(?:pp|tg)\d+@)[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})*": "(name)",
    r"\b(?:hf_|sk-|ghp_|github_pat_)\w{8,}": "(token)",
    r"\b(?:GPU-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b": "(id)",
    r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b": "(id)",
    r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b": "(address)",
}
"""Patterns of what names a person, an account or a computer, and what is put there."""
ABSOLUTE = re.compile(r"(?<![\w.\\/-])(?:[a-z]:)?(?:[\\/]+[^\s\\/\"'|,;]+)+", re.IGNORECASE)
"""Pattern of a path from the root; it starts behind no letter, so that units ("t/s") are none."""
WEIGHTS = (".gguf", ".safetensors")  # ends of files whose names say the model


@dataclass(frozen=True, kw_only=True)
class PrintedPart:
    """Row of data/diagnosis/printed_parts.csv: where a tool names the hardware that it ran on."""

    part: str  # "gpu" or "cpu"
    pattern: str  # pattern of its words, whose group is the name
    source: str

    @lazy
    def expression(self) -> re.Pattern[str]:
        """Pattern of a part's name, compiled."""
        return re.compile(self.pattern, re.IGNORECASE | re.MULTILINE)


@cache
def printed_parts() -> tuple[PrintedPart, ...]:
    """Rows of data/diagnosis/printed_parts.csv."""
    return read(DATA / "diagnosis/printed_parts.csv", PrintedPart)


def hardware_in(text: str) -> Iterator[tuple[str, str]]:
    """Parts that a result names, each with its name, once."""
    named = (
        (row.part, match[1].strip())
        for row in printed_parts()
        for match in row.expression.finditer(text)
    )
    return iter(dict.fromkeys((part, name) for part, name in named if name))


def shown_result(text: str) -> str:
    """Result without its private parts; empty where it has no figure."""
    plain = COLORS.sub("", text)
    shown = _of_json(plain)
    if shown is None:
        shown = "\n".join(_lines(plain)[:MOST_LINES])[:LONGEST]
    return without_private(shown)


def without_private(text: str) -> str:
    """Text without names of persons, accounts, computers and folders."""
    for pattern, instead in PRIVATE.items():
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    return ABSOLUTE.sub(_last_part, text)


def _last_part(path: re.Match[str]) -> str:
    """Name of a file of weights without its folders; a word for other paths."""
    name = re.split(r"[\\/]+", path[0])[-1]
    if name.casefold().endswith(WEIGHTS):
        return name
    return "(path)"


def _of_json(text: str) -> str | None:
    """Figures of JSON, or of lines of it; None for another text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _of_json_lines(text)
    if not isinstance(value, list):
        return json.dumps(_pruned(value))[:LONGEST]
    rows = [json.dumps(_pruned(row)) for row in value[:MOST_ROWS]]
    return f"[{', '.join(_within(rows))}]"


def _of_json_lines(text: str) -> str | None:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        rows = [json.dumps(_pruned(json.loads(line))) for line in lines[-MOST_ROWS:]]
    except (ValueError, RecursionError):
        return None
    return "\n".join(_within(rows)) or None


def _within(rows: list[str]) -> Iterator[str]:
    """First rows, as many as are shown whole."""
    left = LONGEST
    for row in rows:
        left -= len(row) + 2
        if left >= 0:
            yield row


def _pruned(value: Any, key: str = "") -> Any:
    """Value without texts and lists that no reader takes."""
    if isinstance(value, dict):
        inner = {name: _pruned(held, name) for name, held in value.items()}
        return {name: held for name, held in inner.items() if held is not None}
    if isinstance(value, list):
        return _pruned_list(value, key)
    if isinstance(value, str):
        return value[:LONGEST_TEXT] if key in _text_keys() else None
    return value


def _pruned_list(values: list[Any], key: str) -> list[Any] | None:
    objects = [_pruned(each) for each in values[:MOST_ROWS] if isinstance(each, dict)]
    if objects or not values:
        return objects
    if key in NUMBERS and all(isinstance(each, int | float) for each in values):
        return values[:MOST_ROWS]
    return None


@cache
def _text_keys() -> frozenset[str]:
    """Keys whose texts a reader takes."""
    columns = ("marks", *TEXT_COLUMNS)  # a tool is known by its marks, whatever they hold
    paths = (getattr(row, column) for row in result_tools() for column in columns)
    words = (word for path in paths for word in path.replace(" | ", " ").split())
    return TEXTS | {word.rpartition(".")[2] for word in words}


def _lines(text: str) -> list[str]:
    """Lines that hold figures or name the hardware."""
    lines = text.splitlines()
    figures = [row.expression for rows in printed_rows().values() for row in rows]
    parts = [row.expression for row in printed_parts()]
    if INSERTED.search(text) or any(map(names_bench_keys, lines)):
        return [line for line in lines if line.count(",") >= OF_BENCH]
    kept = []
    table = False
    for line in lines:
        heads = {cell.strip().casefold() for cell in line.split("|")}
        table = "|" in line and (table or bool(heads & TABLE_HEADS))
        named = table or line.startswith("build:")
        if named or any(pattern.search(line) for pattern in (*figures, *parts)):
            kept.append(line.rstrip())
    return kept
