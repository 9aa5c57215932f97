"""Published runs of frameworks (streamed, staged and batched), their fit, and its rows."""

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd

from advisor.catalog.constants import ConstantRow, Constants, Scope
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime
from advisor.cost_model.uncertainty import Margins
from advisor.evidence.accuracy.regimes import BATCHED, EXPERTS, RESIDENT, STAGED, STREAMED
from advisor.evidence.published.case import SERVER, guessed_batch
from advisor.evidence.published.engines import engine
from advisor.evidence.published.row import PublishedRow, stated
from advisor.evidence.published.run_settings import lengths
from advisor.model.model import Floats
from advisor.runtimes.expert_offloading import EXPERT_STREAMING
from lab.fit import (
    FRAMEWORKS,
    Fit,
    FitSettings,
    HeldOut,
    fitted,
    fitted_row,
    parameters,
)
from lab.folds import left_out_times
from lab.held_out import WHOLE
from lab.llama_cpp import placed_case
from lab.published import (
    engine_publishers,
    group_of,
    published_rows,
    publisher_of,
    row_files,
)
from lab.spreads import COVERED, RANGE_NOTE
from lab.stack import Cases, Timed

PAPERS = DATA / "measurements" / "offload_papers.csv"
ROUNDING = 0.15  # largest relative rounding error of a published figure that is used
FILES = (PAPERS, *row_files("frameworks", since=1))
"""Files of which the publishers of an engine are counted."""
SERVING = ("vllm", "sglang", "tensorrt-llm")  # keys of the serving engines' runtimes
NOISE = 0.07  # standard deviation of usual runs around the model, as a logarithm


@cache
def papers() -> tuple[Timed, ...]:
    """Runs of data/measurements/offload_papers.csv, with an exact enough figure, that the advisor
    can predict.
    """
    return tuple(run for row in published_rows(PAPERS) if (run := _run(row)) is not None)


def _run(row: PublishedRow) -> Timed | None:
    rate = _tokens_per_second(row)
    if rate is None or stated("unsure figure", row.source_words):
        return None
    named = engine(row.runtime, row.category)
    serves = named is not None and named.key in SERVING and row.category in ("resident", "batched")
    if named is not None and (named.computes_in_ram or serves):  # `engines` fits what serves
        return None
    case = placed_case(row)
    if case is None or case.runtime.computes_in_ram:
        return None
    prompt = case.phases.prefill
    step = case.phases.decode
    # The time of a rate includes prompts where both lengths are stated and no separate prompt rate.
    whole = all(lengths(row)) and not ("decode" in row.runtime or row.pp_tps)
    batch_stated = row.batch or row.seconds_per_token or case.runtime.key == SERVER
    tokens = float(case.work.users) * (float(case.work.output) if whole else 1.0)
    return Timed(
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


KINDS = {"moe_offload": EXPERTS, "stream_cpu": STREAMED, "kv_offload": STREAMED, "nvme": STAGED}
"""Kinds of runs by the category of their row."""


def _streams(run: Timed) -> bool:
    """Whether experts are streamed by an engine for that."""
    return run.case.runtime.engine == EXPERT_STREAMING.engine


def regime(run: Timed) -> str:
    """Kind of run."""
    if _streams(run):
        return EXPERTS
    return KINDS.get(run.row.category, BATCHED if float(run.case.work.users) > 1 else RESIDENT)


# Rows of the fit for data/generated/efficiency.csv, and errors for the ledger. FlexGen unpacks in
# elementwise PyTorch kernels, ExLlama as it multiplies; AirLLM opens a file for each layer.

SETTINGS = FitSettings(regime=FRAMEWORKS, far=2.0, damping=0.8, farthest=0.6, rounds=12, close=0.03)
SOURCE = "python -m lab on data/measurements/offload_papers.csv"
ON_GPU = (Route.RESIDENT, FixedTime.LAYERS, FixedTime.TOKEN)
EVERYWHERE = (*ON_GPU, Route.IN_PLACE, Route.STREAMED, Route.STAGED)
OF_LINKS = ("link_share", "host_copy")
"""Constants that serving engines share with frameworks, for weights in RAM. Their kernels and
ranges are in data/generated/engine_kernels.csv."""
_row = partial(fitted_row, SOURCE)


@cache
def held_out() -> HeldOut:
    """All runs and their fit."""
    cases = Cases(papers())
    fit = fitted(cases, SETTINGS)
    return HeldOut(fit=fit, predicted=left_out_times(fit, [run.publisher for run in cases.timed]))


def stream_rows() -> list[ConstantRow]:
    """Rows of the frameworks' constants and half widths for data/generated/efficiency.csv."""
    done = held_out()
    engines = sorted({run.scope["engine"] for run in papers()})
    return [*_constants(done.fit, engines), *_spreads(done, engines)]


def _constants(fit: Fit, engines: Sequence[str]) -> Iterator[ConstantRow]:
    """Rows of each constant for each engine that has it."""
    for name, parameter in parameters(FRAMEWORKS).items():
        for key in engines if parameter.width else ():
            if parameter.in_scope({"engine": key}) and (key not in SERVING or name in OF_LINKS):
                factor = fit.at.get((name, (("engine", key),)))
                own = [fit.at[name, ()], *([] if factor is None else [factor])]
                if factor is not None or not parameter.factors:
                    rows = int(fit.rows[own[-1]])
                else:
                    rows = 0
                yield fit.row(SOURCE, own, rows, runtime=key)


def _spreads(done: HeldOut, engines: Sequence[str]) -> Iterator[ConstantRow]:
    """Half widths of ranges by part of the time and by engine, from left-out groups."""
    misses = _misses(done)
    stated = misses[misses.stated]
    guessed = misses[~misses.stated]
    streamed, staged = (stated[stated.kind == kind] for kind in (STREAMED, STAGED))
    resident = stated[stated.kind.isin((BATCHED, RESIDENT))]
    usual = _most(resident)
    behind = Constants.fitted().value("spread_unmeasured", Route.STREAMED)
    for route, runs, half in (
        (Route.STREAMED, streamed, _beside(_most(streamed), behind)),  # links are derived
        (Route.STAGED, staged, _most(staged)),
    ):
        yield _row(Margins.IN_DECODE, half, "share", len(runs), RANGE_NOTE, family=route)
    for key in (key for key in engines if key not in SERVING):
        own = stated[stated.experts_of == key]
        half = usual if own.empty else _most(own)
        for part in ON_GPU if own.empty else EVERYWHERE:
            scope = {"runtime": key, "family": part}
            count = len(own) or len(resident)
            yield _row(Margins.IN_DECODE, half, "share", count, RANGE_NOTE, **scope)
    timed = engine_publishers(FILES)
    for key in (key for key in engines if key not in SERVING):
        note = "publishers that timed the engine"
        yield _row("engine_publishers", float(timed.get(key, 1)), "count", 1, note, runtime=key)
    note = "range of runs whose batch is not stated, beside that of the others"
    for name, experts in (("spread_guessed", False), ("spread_guessed_experts", True)):
        runs = guessed[(guessed.kind == EXPERTS) == experts]
        yield _row(name, _beside(_most(runs), usual), "share", len(runs), note)


def _beside(whole: float, other: float) -> float:
    """Half width that is left of a whole one beside an independent other; at least a tenth."""
    return float(np.sqrt(max(whole**2 - other**2, 0.01)))


def _misses(done: HeldOut) -> pd.DataFrame:
    """Runs with `off`, log(measured speed / predicted speed) without their group, that group, the
    kind of run, whether the batch is `stated`, and the engine of those that stream experts.
    """
    runs = papers()
    return pd.DataFrame(
        {
            "off": np.log(done.predicted / done.fit.task.cases.seconds),
            "group": [run.group for run in runs],
            "kind": [regime(run) for run in runs],
            "stated": [bool(run.weight) for run in runs],
            "experts_of": [run.case.runtime.key if _streams(run) else "" for run in runs],
        }
    )


def _most(misses: pd.DataFrame) -> float:
    """Half width that contains `COVERED` of some runs, weighted by `_weights`."""
    return _reach(np.abs(misses.off.to_numpy()), _weights(misses), COVERED)


def _weights(misses: pd.DataFrame) -> Floats:
    """Weights of runs, half by run and half by group, with sum 1, shape (runs,)."""
    sizes = misses.groupby("group").off.transform("size").to_numpy()
    return 0.5 / (sizes * misses.group.nunique()) + 0.5 / len(misses)


def _reach(values: Floats, weights: Floats, share: float) -> float:
    """Distance that a share of the weight does not exceed: halfway from the farthest value within
    to the nearest outside. At the farthest itself the rounded constant might leave it out.
    """
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), share))
    return float(np.mean(values[order[place : place + 2]]))


def margins(run: Timed) -> Margins:
    """Margins of a run's range, by the part that takes most of its time."""
    table = Constants.fitted().bound(Scope(runtime=run.case.runtime.key))
    kind = regime(run)
    if kind == STAGED:
        half = table.value(Margins.IN_DECODE, Route.STAGED)
    elif kind in (BATCHED, RESIDENT) or _streams(run):
        half = table.value(Margins.IN_DECODE, Route.RESIDENT)
    else:
        behind = table.value("spread_unmeasured", Route.STREAMED)
        half = float(np.hypot(table.value(Margins.IN_DECODE, Route.STREAMED), behind))
    usual = Margins(below=half, above=half)
    if run.weight:
        return usual
    return usual.wider(guessed_batch(run.case.model))
