"""How right predictions are: published measurements against the model fitted without them.

Each row is predicted from constants fitted with its whole group left out, one source on one
machine, so that no row is judged by what it taught.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from advisor import catalog
from advisor.estimate import IN_DECODE, IN_PROMPT
from advisor.fitting.__main__ import IN_PROMPTS, MEASURED
from advisor.fitting.parameters import PARAMETERS
from advisor.fitting.solve import Fit, problem, solve
from advisor.fitting.spreads import half_widths
from advisor.fitting.stack import Stack, decoded, prompted
from advisor.model import Floats

DEEP = 3000
"""Tokens in the cache from which a row counts as deep context."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One row, predicted with its group left out.

    Attributes:
        id: of the row.
        regime: what kind of run it is.
        gpu: as the source calls it; empty for none.
        cpu: likewise.
        model: likewise.
        measured: speed [tokens/s].
        predicted: speed [tokens/s].
        half_width: of the 80 % range, as a logarithm.
        source: where it was published.
    """

    id: str
    regime: str
    gpu: str
    cpu: str
    model: str
    measured: float
    predicted: float
    half_width: float
    source: str


@dataclass(frozen=True, kw_only=True)
class Score:
    """One regime.

    Attributes:
        regime: its name.
        rows: how many.
        median: of the absolute relative error.
        mean: likewise.
        within: share of rows within 25 %.
        covered: share of rows within their 80 % range.
    """

    regime: str
    rows: int
    median: float
    mean: float
    within: float
    covered: float


def points() -> tuple[Point, ...]:
    """Every row of data/measurements/llama_cpp.csv that the model covers."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by_id = {row["id"]: row for row in rows}
    decode, prompt = decoded(rows), prompted(rows)
    names = tuple(name for name in PARAMETERS if name not in IN_PROMPTS)
    one = solve(problem(decode, names))
    two = solve(problem(prompt, IN_PROMPTS, one))
    return (
        *_points(by_id, decode, one, IN_DECODE),
        *_points(by_id, prompt, two, IN_PROMPT),
    )


def _points(
    rows: Mapping[str, Mapping[str, str]], stack: Stack, found: Fit, constant: str
) -> Iterable[Point]:
    widths = _half_widths(stack, found, constant)
    for index, name in enumerate(stack.ids):
        row = rows[name]
        speed = float(row["pp_tps" if constant == IN_PROMPT else "tg_tps"])
        seconds = float(stack.seconds[index])
        yield Point(
            id=name,
            regime=_regime(row, stack, index, prompt=constant == IN_PROMPT),
            gpu=row["gpu"],
            cpu=row["cpu"],
            model=f"{row['model']} {row['quant']}",
            measured=speed,
            predicted=speed * seconds / float(found.predicted[index]),
            half_width=float(widths[index]),
            source=row["source_url"],
        )


def _half_widths(stack: Stack, found: Fit, constant: str) -> Floats:
    table = catalog.efficiency()
    if constant == IN_PROMPT:
        on_gpu = np.asarray(stack.on_gpu.layers) > 0
        ends = (table.value(IN_PROMPT, part) for part in ("resident", "in_place"))
        return np.asarray(np.where(on_gpu, *ends))
    return half_widths(
        stack,
        found,
        gpu=table.value(IN_DECODE, "resident"),
        cpu=table.value(IN_DECODE, "in_place"),
        more=table.value("spread_unmeasured", "in_place"),
    )


def _regime(row: Mapping[str, str], stack: Stack, index: int, *, prompt: bool) -> str:
    if prompt:
        names = {"resident": "prompt, resident", "cpu": "prompt, CPU alone"}
        return names.get(row["category"], "prompt, offloaded")
    if row["category"] == "moe_offload":
        return "experts in RAM"
    if row["category"] == "partial":
        return "dense split"
    if row["category"] == "cpu":
        known = row["ram_bw_gbs"] or row["ram_mts"]
        return "CPU alone, RAM rate stated" if known else "CPU alone"
    if float(row["context_depth"] or 0) >= DEEP:
        return "resident, deep context"
    experts = np.asarray(stack.on_gpu.expert_layers)[index]
    return "resident, experts" if experts else "resident, dense"


def scores(found: Sequence[Point]) -> tuple[Score, ...]:
    """One line for each regime, in the order they first appear, then all."""
    regimes = dict.fromkeys(point.regime for point in found)
    lines = [_score(name, [point for point in found if point.regime == name]) for name in regimes]
    return (*lines, _score("all", found))


def _score(regime: str, found: Sequence[Point]) -> Score:
    off = np.log([point.predicted / point.measured for point in found])
    error = np.abs(np.exp(off) - 1.0)
    widths = np.array([point.half_width for point in found])
    return Score(
        regime=regime,
        rows=len(found),
        median=float(np.median(error)),
        mean=float(np.mean(error)),
        within=float(np.mean(error <= 0.25)),
        covered=float(np.mean(np.abs(off) <= widths)),
    )


def markdown(lines: Sequence[Score]) -> str:
    """The scores as the table of README."""
    head = (
        "| regime | rows | median error | mean error | within 25 % | within the 80 % range |",
        "|---|---|---|---|---|---|",
    )
    body = (
        f"| {one.regime} | {one.rows} | {one.median * 100:.1f} % | {one.mean * 100:.1f} % "
        f"| {one.within * 100:.0f} % | {one.covered * 100:.0f} % |"
        for one in lines
    )
    return "\n".join((*head, *body))
