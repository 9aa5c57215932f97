"""Published runs of frameworks (streamed, staged and batched), their fit, and its rows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from advisor.catalog.constants import ConstantRow, Scope, fitted_constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import LAYERS, TOKEN
from advisor.cost_model.uncertainty import IN_DECODE, LEAN, Margins
from advisor.errors import AdvisorError
from advisor.evidence.accuracy.regimes import BATCHED, EXPERTS, RESIDENT, STAGED, STREAMED
from advisor.evidence.published.engines import engine
from advisor.evidence.published.predict import SERVER, guessed_batch, understood
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_settings import lengths
from advisor.model.model import Floats
from advisor.runtimes.expert_offloading import EXPERT_STREAMING
from lab import rounded
from lab.fit import (
    FRAMEWORKS,
    Fit,
    HeldOut,
    Parameter,
    Settings,
    fitted,
    fitted_row,
    limited,
    parameters,
    without_clusters,
)
from lab.held_out import WHOLE
from lab.llama_cpp import TimedRow
from lab.published import group_of, published_rows, publisher_of
from lab.spreads import COVERED, NOTES, RANGE_NOTE
from lab.stack import Cases

PAPERS = DATA / "measurements" / "offload_papers.csv"
ROUNDING = 0.15
"""Largest relative rounding error of a published figure that is used."""
SERVING = ("vllm", "sglang", "tensorrt-llm")
"""Keys of the serving engines' runtimes."""
UNSURE = (
    "4 machines", "THInfer", "SUSPECT", "not comparable", "sharded on GPUs", "use only as",
    "approximate", "KTransformers",
)  # fmt: skip
"""Words in rows that are not used: figures that their collector doubts, see
data/measurements/README.md, and an engine that runs as another one where it offloads nothing."""
NOISE = 0.07
"""Standard deviation of usual runs around the model, as a logarithm."""


@cache
def papers() -> tuple[TimedRow, ...]:
    """Runs of data/measurements/offload_papers.csv, with an exact enough figure, that the advisor
    can predict.
    """
    return tuple(run for row in published_rows(PAPERS) if (run := _run(row)) is not None)


def _run(row: PublishedRow) -> TimedRow | None:
    stated = f"{row.runtime} {row.source_note}"
    rate = _tokens_per_second(row)
    if rate is None or any(word in stated for word in UNSURE):
        return None
    named = engine(row.runtime, row.category)
    serves = named is not None and named.key in SERVING and row.category in ("resident", "batched")
    if named is not None and (named.computes_in_ram or serves):  # `engines` fits what serves
        return None
    try:
        case = understood(row)
        phases = case.phases
        prompt, step = phases.prefill, phases.decode
    except AdvisorError:
        return None
    if case.runtime.computes_in_ram:
        return None
    # The time of a rate includes prompts where both lengths are stated and no separate prompt rate.
    whole = all(lengths(row)) and not ("decode" in row.runtime or row.pp_tps)
    batch_stated = row.batch or row.seconds_per_token or case.runtime.key == SERVER
    tokens = float(case.work.users) * (float(case.work.output) if whole else 1.0)
    return TimedRow(
        id=row.id,
        group=group_of(row),
        publisher=publisher_of(row),
        scope={"engine": case.runtime.key, "family": ""},
        machine=case.machine,
        parts=((1.0, prompt), (float(case.steps), step)) if whole else ((1.0, step),),
        seconds=tokens / rate,
        tokens=tokens,
        noise=NOISE,
        weight=float(bool(batch_stated)),  # the others are only scored
        row=row,
        case=case,
        timed=WHOLE,
    )


def _tokens_per_second(row: PublishedRow) -> float | None:
    """Tokens of the whole batch a second; None without a figure that is exact enough [tokens/s]."""
    rate = row.tg_tps_total
    value = rate or row.seconds_per_token
    if not value:
        return None
    printed = row.cells["tg_tps_total" if rate else "seconds_per_token"]
    decimals = len(printed.partition(".")[2])
    if 0.5 * 10.0**-decimals / value > ROUNDING:
        return None
    return rate or 1.0 / value


def regime(run: TimedRow) -> str:
    """Kind of run."""
    category = run.row.category
    if category == "moe_offload" or run.case.runtime.engine == EXPERT_STREAMING.engine:
        return EXPERTS
    if category in ("stream_cpu", "kv_offload"):
        return STREAMED
    if category == "nvme":
        return STAGED
    return BATCHED if float(run.case.work.users) > 1 else RESIDENT


# Rows of the fit for data/generated/efficiency.csv, and errors for the ledger. FlexGen unpacks in
# elementwise PyTorch kernels, ExLlama as it multiplies; AirLLM opens a file for each layer.

SETTINGS = Settings(far=2.0, damping=0.8, farthest=0.6, rounds=12, close=0.03)
SOURCE = "python -m lab on data/measurements/offload_papers.csv"
ON_GPU = (Route.RESIDENT, LAYERS, TOKEN)
EVERYWHERE = (*ON_GPU, Route.IN_PLACE, Route.STREAMED, Route.STAGED)
OF_LINKS = ("link_share", "host_copy")
"""Constants that serving engines share with frameworks, for weights in RAM. Their kernels and
ranges are in data/generated/engine_kernels.csv."""
MOST_LEAN = 0.8
LEAST = 0.1
"""Smallest distance from a prediction to an end of its range, as the logarithm of a factor."""


Misses = Mapping[str, Sequence[tuple[float, str]]]
"""Errors of runs that were predicted without their group, log(measured speed / predicted speed),
with the group; by kind of run, and by engine for those that stream experts."""


@cache
def held_out() -> HeldOut:
    """All runs and their fit."""
    cases = Cases(papers())
    fit = fitted(cases, FRAMEWORKS, SETTINGS)
    predicted = cases.predicted(fit.task.values(without_clusters(fit, cases.groups)))
    return HeldOut(fit=fit, predicted=predicted)


def stream_rows() -> list[ConstantRow]:
    """Rows of the frameworks' constants and half widths for data/generated/efficiency.csv."""
    done = held_out()
    engines = sorted({run.scope["engine"] for run in papers()})
    return [*_constants(done.fit, engines), *_spreads(done, engines)]


def _constants(fit: Fit, engines: Sequence[str]) -> Iterator[ConstantRow]:
    for name, parameter in parameters(FRAMEWORKS).items():
        for key in engines if parameter.width else ():
            if parameter.in_scope({"engine": key}) and (key not in SERVING or name in OF_LINKS):
                yield _constant(fit, parameter, key)


def _constant(fit: Fit, parameter: Parameter, key: str) -> ConstantRow:
    """Row of a constant of an engine."""
    whole, factor = fit.at[parameter.name, ()], fit.at.get((parameter.name, (("engine", key),)))
    own = [whole] if factor is None else [whole, factor]
    rows = int(fit.rows[own[-1]]) if factor is not None or not parameter.factors else 0
    value = float(limited(np.exp(fit.logs[own].sum()), parameter))
    spread = float(np.sqrt(fit.covariance[np.ix_(own, own)].sum()))
    return _row(parameter.name, key, "", value, parameter.unit, rows, parameter.note, spread)


def _spreads(done: HeldOut, engines: Sequence[str]) -> Iterator[ConstantRow]:
    """Half widths of ranges by part of the time and by engine, from left-out groups."""
    off = _off(done, stated=True)
    behind = fitted_constants().value("spread_unmeasured", Route.STREAMED)  # links are derived
    streamed = _beside(_most(off, STREAMED), behind)
    yield _row(IN_DECODE, None, Route.STREAMED, streamed, "share", len(off[STREAMED]), RANGE_NOTE)
    staged = _most(off, STAGED)
    yield _row(IN_DECODE, None, Route.STAGED, staged, "share", len(off[STAGED]), RANGE_NOTE)
    resident = _most(off, BATCHED, RESIDENT)
    count = len(off[BATCHED]) + len(off[RESIDENT])
    for key in (key for key in engines if key not in SERVING):
        own = off.get(key, ())
        value, lean = _leaning(own) if own else (resident, 0.0)
        for part in EVERYWHERE if own else ON_GPU:
            yield _row(IN_DECODE, key, part, value, "share", len(own) or count, RANGE_NOTE)
            if own:
                leans = NOTES[LEAN[IN_DECODE]]
                yield _row(LEAN[IN_DECODE], key, part, lean, "share", len(own), leans)
    yield from _guesses(done, resident)


def _beside(whole: float, other: float) -> float:
    """Half width that is left of a whole one beside an independent other; at least a tenth."""
    return float(np.sqrt(max(whole**2 - other**2, 0.01)))


def _guesses(done: HeldOut, stated: float) -> Iterator[ConstantRow]:
    """Extra half widths for runs without a stated batch, of dense models and of experts."""
    off = _off(done, stated=False)
    note = "range of runs whose batch is not stated, beside that of the others"
    dense = [kind for kind in (STREAMED, STAGED, BATCHED, RESIDENT) if kind in off]
    for name, kinds in (("spread_guessed", dense), ("spread_guessed_experts", [EXPERTS])):
        value = _beside(_most(off, *kinds), stated)
        rows = sum(len(off[kind]) for kind in kinds)
        yield _row(name, None, "", value, "share", rows, note)


def _off(done: HeldOut, *, stated: bool) -> Misses:
    """Errors of runs predicted without their group, with a stated batch or without one."""
    misses: dict[str, list[tuple[float, str]]] = {}
    for run, seconds in zip(papers(), done.predicted.tolist(), strict=True):
        if bool(run.weight) is stated:
            miss = float(np.log(seconds / run.seconds)), run.group
            misses.setdefault(regime(run), []).append(miss)
            if run.case.runtime.engine == EXPERT_STREAMING.engine:
                misses.setdefault(run.case.runtime.key, []).append(miss)
    return misses


def _most(misses: Misses, *wanted: str) -> float:
    """Half width that contains `COVERED` of some kinds of runs, weighted by `_weights`."""
    off, groups = zip(*(miss for kind in wanted for miss in misses[kind]), strict=True)
    return _reach(np.abs(off), _weights(groups), COVERED)


def _leaning(misses: Sequence[tuple[float, str]]) -> tuple[float, float]:
    """Half width and lean of a range with equal shares of runs below and above it."""
    off, groups = zip(*misses, strict=True)
    weights, inside = _weights(groups), (1.0 + COVERED) / 2.0
    below = max(_reach(-np.array(off), weights, inside), LEAST)
    above = max(_reach(np.array(off), weights, inside), LEAST)
    lean = float(np.clip((below - above) / (below + above), -MOST_LEAN, MOST_LEAN))
    return (below + above) / 2.0, lean


def _weights(groups: Sequence[str]) -> Floats:
    """Weights of runs, half by run and half by group, with sum 1, shape (runs,)."""
    sizes = Counter(groups)
    by_group = np.array([1.0 / (sizes[group] * len(sizes)) for group in groups])
    return by_group / 2.0 + 0.5 / len(groups)


def _reach(values: Floats, weights: Floats, share: float) -> float:
    """Distance that a share of the weight does not exceed: halfway from the farthest value within
    to the nearest outside. At the farthest itself the rounded constant might leave it out.
    """
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), share))
    ends = order[np.minimum([place, place + 1], len(values) - 1)]
    return float(np.mean(values[ends]))


def _row(
    constant: str,
    runtime: str | None,
    family: str,
    value: float,
    unit: str,
    rows: int,
    note: str,
    spread: float | None = None,
) -> ConstantRow:
    scope = {"runtime": runtime, "family": family}
    return fitted_row(SOURCE, constant, rounded(value, 4), unit, rows, note, spread, **scope)


def margins(run: TimedRow) -> Margins:
    """Margins of a run's range, by the part that takes most of its time."""
    table = fitted_constants().bound(Scope(runtime=run.case.runtime.key))
    kind, streams_experts = regime(run), run.case.runtime.engine == EXPERT_STREAMING.engine
    lean = float(table.value(LEAN[IN_DECODE], Route.RESIDENT)) if streams_experts else 0.0
    if streams_experts or kind in (BATCHED, RESIDENT):
        half = table.value(IN_DECODE, Route.RESIDENT)
    elif kind == STAGED:
        half = table.value(IN_DECODE, Route.STAGED)
    else:
        behind = table.value("spread_unmeasured", Route.STREAMED)
        half = float(np.hypot(table.value(IN_DECODE, Route.STREAMED), behind))
    usual = Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))
    return usual if run.weight else usual.wider(guessed_batch(run.case.model))
