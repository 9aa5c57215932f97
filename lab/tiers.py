"""Fit of the engines that keep experts in tiers: `python -m lab.tiers` writes their tables.

Two things are timed, a round's tokens and prompts. Each run is predicted without its publisher;
the ranges cover four of five groups of publisher and card. A further table predicts each engine
without any run of it, as one that nobody described.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from advisor.catalog.constants import BETWEEN, FACTOR, ConstantRow, Constants, Scope
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import csv_text
from advisor.cost_model.kernels import TierKernels, kernel_family
from advisor.cost_model.processors import vectors
from advisor.cost_model.schedule import Route, Schedule
from advisor.cost_model.timing import FixedTime
from advisor.cost_model.uncertainty import BY_TRAIT, TRAITS, Margins
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.tiered import CATEGORY
from advisor.model.model import Floats
from advisor.runtimes.tiered import ReportedRow
from advisor.runtimes.tiered.engines import TieredEngine
from lab import rounded, write
from lab.fit import Fit, FitSettings, HeldOut, counts, fitted_row, problem, solve
from lab.folds import left_out_times
from lab.held_out import GENERATED, READ
from lab.llama_cpp import placed_case
from lab.published import SENT, published_rows
from lab.stack import Cases, Timed

REGIME = "tiers"  # regime of their constants in parameters.csv
RUNS = tuple(
    path
    for name in ("tiered", f"tiered{SENT}")
    if (path := DATA / "measurements" / f"{name}.csv").exists()
)
"""Files of published runs, and of those that people sent where there are any."""
TABLE = DATA / "generated" / "tiers.csv"
LEFT_OUT = DATA / "generated" / "tiers_left_out.csv"
REPORTED = DATA / "generated" / "tiers_reported.csv"
SOURCE = "python -m lab.tiers on data/measurements/tiered.csv"
SETTINGS = FitSettings(regime=REGIME, far=1.0, damping=0.9, farthest=0.4, rounds=20, close=4e-3)
CLOSE = 2e-3
"""Largest change of any logarithm in the last step of a fit without a fold. Steps shrink slowly
here: where they end at 0.05, a fit is still near the one that knew the publisher, and his runs'
tokens are 27 % off at the median in place of 28 %, their prompts 34 in place of 35 %."""
NOISE = {GENERATED: 0.25, READ: 0.3}
"""Standard deviation of usual runs around the model, as a logarithm; a run there weighs half."""
GROUP_POWER = -0.7  # each run of a group of n weighs n^-0.7
PARTS = (
    Route.RESIDENT,
    FixedTime.LAYERS,
    Route.IN_PLACE,
    Route.STREAMED,
    Route.STAGED,
    FixedTime.TOKEN,
    FixedTime.CROSSINGS,
)
COVERED = 0.8  # share of the groups that a range holds
LEAST_WIDTH = 0.15  # smallest half width of a range, as the logarithm of a factor
SMALLEST = 0.004  # smallest logarithm of a factor that is written


def published() -> Iterator[PublishedRow]:
    """Rows of all files."""
    for path in RUNS:
        yield from published_rows(path)


@cache
def timed() -> tuple[Timed, ...]:
    """Tokens of every run that can be predicted, then their prompts."""
    rows = [row for row in published() if not row.doubtful]
    parts = (_timed(row, part) for part in (GENERATED, READ) for row in rows)
    return tuple(part for part in parts if part is not None)


def _timed(row: PublishedRow, part: str) -> Timed | None:
    """Timed part of a run; None where it was not measured, or another model ran it."""
    speed = row.pp_tps if part == READ else row.tg_tps
    case = placed_case(row) if speed else None
    if case is None or not speed or case.runtime.engine != REGIME:
        return None
    if part == READ and not (row.prompt_tokens or row.context_depth):
        return None
    work = case.estimate.work
    tokens = work.fresh if part == READ else work.tokens_per_step
    schedule = case.phases.prefill if part == READ else case.phases.decode
    gpus = case.machine.gpus
    return Timed(
        id=row.id,
        group=f"{row.publisher} {row.gpu}",
        publisher=row.publisher,
        scope={
            "engine": case.runtime.key,
            "family": _kernel_family(gpus[0].family, schedule) if gpus else "",
            "vectors": vectors(case.machine.host),
            "drive": _way_to_drive(schedule),
        },
        machine=case.machine,
        parts=((1.0, schedule),),
        seconds=float(tokens * work.users) / speed,
        noise=NOISE[part],
        row=row,
        case=case,
        timed=part,
    )


def _kernels(schedule: Schedule, route: Route) -> Iterator[TierKernels]:
    """Kernels of the flows on a route."""
    for stage in schedule.stages:
        for flow in stage:
            if flow.route is route and isinstance(flow.kernels, TierKernels):
                yield flow.kernels


def _kernel_family(family: str, schedule: Schedule) -> str:
    """Generation of a run's GPUs with the same kernels."""
    vulkan = any(kernels.vulkan for kernels in _kernels(schedule, Route.RESIDENT))
    return str(kernel_family(family, vulkan=vulkan))


def _way_to_drive(schedule: Schedule) -> str:
    """Way in which a run reads experts from the drive; empty for unbuffered reads."""
    ways = (kernels.way for kernels in _kernels(schedule, Route.STAGED))
    return next((way for way in ways if way), "")


@cache
def cases() -> Cases:
    """All of them; constants without a fit are those of the shipped table."""
    return Cases(timed(), Constants.fitted().bound(Scope(runtime=TieredEngine.rows()[0].key)))


def fit_without(weights: Floats) -> Fit:
    """Fit with some runs left out, by weights of shape (runs,)."""
    every = cases()
    shared = counts([f"{run.group} {run.timed}" for run in every.timed], GROUP_POWER)
    return solve(problem(every, SETTINGS, shared * weights))


@cache
def held_out() -> HeldOut:
    """Fit of all runs, each predicted without its publisher."""
    every = cases()
    fit = fit_without(np.ones(len(every.timed)))
    names = [run.publisher for run in every.timed]
    return HeldOut(fit=fit, predicted=left_out_times(fit, names, close=CLOSE))


@cache
def without_engines() -> Floats:
    """Time of each run by a fit without every run of its engine, as of one without a row [s]."""
    every = cases()
    names = np.array([run.scope["engine"] for run in every.timed])
    predicted = np.empty(len(names))
    for name in dict.fromkeys(names):
        inside = names == name
        fit = fit_without(np.where(inside, 0.0, 1.0))
        predicted[inside] = every.predicted(fit.task.values(fit.logs))[inside]
    return predicted


# Ranges.


def misses(predicted: Floats) -> Floats:
    """Logarithm of measured over predicted time, shape (runs,)."""
    return np.asarray(np.log(cases().seconds / predicted))


def of_groups(errors: Floats, chosen: Sequence[bool]) -> Floats:
    """Median size of the error of each group of some runs."""
    by_group: dict[str, list[float]] = {}
    for run, error, inside in zip(cases().timed, errors, chosen, strict=True):
        if inside:
            by_group.setdefault(run.group, []).append(abs(float(error)))
    return np.array([float(np.median(group)) for group in by_group.values()])


def reach(errors: Floats, chosen: Sequence[bool]) -> float:
    """Half width that holds `COVERED` of some runs, each group with the weight of one run."""
    groups = [run.group for run, inside in zip(cases().timed, chosen, strict=True) if inside]
    sizes = np.abs(errors[np.array(chosen, dtype=bool)])
    if not len(sizes):
        return LEAST_WIDTH
    weights = counts(groups, -1.0)
    order = np.argsort(sizes)
    place = np.searchsorted(np.cumsum(weights[order]), COVERED * weights.sum())
    return float(max(sizes[order][min(place, len(order) - 1)], LEAST_WIDTH))


def _on_drive(run: Timed) -> bool:
    """Whether a run reads experts from the drive."""
    return any(flow.route is Route.STAGED for stage in run.parts[0][1].stages for flow in stage)


def _keys(*, seen: bool) -> str:
    """Engines that some runs are of, or those that none is of and which nobody described."""
    known = {run.scope["engine"] for run in cases().timed} - {REGIME}
    names = (REGIME, *(engine.key for engine in TieredEngine.rows()))
    return BETWEEN.join(name for name in names if (name in known) == seen)


def _spreads(done: HeldOut) -> Iterator[ConstantRow]:
    """Half widths by part of the time, one for the drive and one for every other: of engines that
    some runs are of, and of others, as each engine without its runs.
    """
    for seen, predicted in ((True, done.predicted), (False, without_engines())):
        keys = _keys(seen=seen)
        errors = misses(predicted)
        for constant, part in ((Margins.IN_DECODE, GENERATED), (Margins.IN_PROMPT, READ)):
            yield from _widths(constant, part, errors, keys)
            for trait in TRAITS:
                yield _row(BY_TRAIT[constant], 1.0, 0, keys, trait)
        for family in PARTS:
            yield _row("spread_unmeasured", 0.0, 0, keys, family)


def _widths(constant: str, part: str, errors: Floats, keys: str) -> Iterator[ConstantRow]:
    """Half width of each part of a time."""
    drive = [run.timed == part and _on_drive(run) for run in cases().timed]
    memory = [run.timed == part and not _on_drive(run) for run in cases().timed]
    for family in PARTS:
        chosen = drive if family is Route.STAGED else memory
        yield _row(constant, reach(errors, chosen), sum(chosen), keys, family)


def _row(constant: str, value: float, rows: int, runtime: str, family: str = "") -> ConstantRow:
    note = "80 % range of engines with experts in tiers, as the logarithm of a factor"
    return replace(
        fitted_row(SOURCE, constant, value, "share", rows, note, runtime=runtime, family=family),
        source=SOURCE,
    )


# Tables.


def constant_rows(done: HeldOut) -> Iterator[ConstantRow]:
    """Rows of data/generated/tiers.csv."""
    fit = done.fit
    for place, (name, scope) in enumerate(fit.task.terms):
        parameter = fit.task.parameters[name]
        columns = dict(scope)
        if not scope:
            yield fit.row(SOURCE, [place], int(fit.rows[place]))
        elif abs(fit.logs[place]) < SMALLEST or not fit.rows[place]:
            continue
        elif "engine" in columns:
            at = [fit.at[name, ()], place]
            yield fit.row(SOURCE, at, int(fit.rows[place]), runtime=columns["engine"])
        else:
            value = float(np.exp(fit.logs[place]))
            family = next(iter(columns.values()))
            yield fitted_row(
                SOURCE,
                name,
                value,
                FACTOR,
                int(fit.rows[place]),
                parameter.note,
                float(fit.spreads[place]),
                family=family,
            )
    keys = BETWEEN.join((REGIME, *(engine.key for engine in TieredEngine.rows())))
    token = fitted_row(
        SOURCE, FixedTime.TOKEN, 0.0, "s", 0, "no time beside a round's", runtime=keys
    )
    yield replace(token, source="a round has all fixed times")
    yield from _spreads(done)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOutTiers:
    """One row of data/generated/tiers_left_out.csv: a run predicted without its publisher."""

    timed: str  # timed part
    id: str  # id of its row
    engine: str  # key of its engine
    group: str  # publisher and card
    measured: float  # measured time [s]
    seconds: float  # predicted without its publisher [s]
    unseen: float  # predicted without any run of its engine [s]


def reported() -> Iterator[ReportedRow]:
    """Who reported which engine on which card, from all rows that are not doubtful."""
    who: dict[tuple[str, str], tuple[set[str], set[str], list[int]]] = {}
    for row in published():
        case = None if row.doubtful or row.category != CATEGORY else placed_case(row)
        if case is None or case.runtime.engine != REGIME:
            continue
        gpus = case.machine.gpus
        users, makers, runs = who.setdefault(
            (case.runtime.key, gpus[0].name if gpus else ""), (set(), set(), [])
        )
        by_maker = row.cells.get("who_published") == "maker"
        (makers if by_maker else users).add(row.publisher)
        runs.append(1)
    for (engine, gpu), (users, makers, runs) in sorted(who.items()):
        yield ReportedRow(
            engine=engine, gpu=gpu, users=len(users), makers=len(makers), runs=len(runs)
        )


def tables() -> Mapping[Path, str]:
    """Text of each table."""
    done = held_out()
    unseen = without_engines()
    rows = (
        LeftOutTiers(
            timed=run.timed,
            id=run.id,
            engine=run.scope["engine"],
            group=run.group,
            measured=rounded(run.seconds, 4),
            seconds=rounded(seconds, 4),
            unseen=rounded(other, 4),
        )
        for run, seconds, other in zip(cases().timed, done.predicted, unseen, strict=True)
    )
    return {
        TABLE: csv_text(constant_rows(done)),
        LEFT_OUT: csv_text(rows),
        REPORTED: csv_text(reported()),
    }


def summary() -> Iterable[str]:
    """Error and hold of the ranges, by the timed part and by engine."""
    every = cases().timed
    for title, predicted in (
        ("without its publisher", held_out().predicted),
        ("without its engine", without_engines()),
    ):
        errors = misses(predicted)
        for part in (GENERATED, READ):
            mine = [run.timed == part for run in every]
            groups = of_groups(errors, mine)
            half = np.exp(float(np.median(groups))) - 1.0
            yield f"{title}, {part}: {len(groups)} groups, {100 * half:.0f} % off at the median"
            for name in dict.fromkeys(run.scope["engine"] for run in every):
                chosen = [run.timed == part and run.scope["engine"] == name for run in every]
                if any(chosen):
                    own = np.exp(float(np.median(of_groups(errors, chosen)))) - 1.0
                    yield f"  {name}: {sum(chosen)} runs, {100 * own:.0f} %"


# The table of docs/accuracy.md, of what was written last.

HEADS = ("left out", "timed", "runs", "groups", "error by group")
TIMED_WORDS = {GENERATED: "tokens", READ: "prompt"}
LEFT = {"seconds": "its publisher", "unseen": "every run of its engine"}
"""What is left out of a prediction, by its column of `LeftOutTiers`."""


def left_out_table() -> Iterator[str]:
    """Error of the runs of data/generated/tiers_left_out.csv as a Markdown table: the median of the
    groups' medians, with what is left out of a prediction.
    """
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    rows = read(LEFT_OUT, LeftOutTiers)
    for column, left in LEFT.items():
        for part, words in TIMED_WORDS.items():
            mine = [row for row in rows if row.timed == part]
            groups: dict[str, list[float]] = {}
            for row in mine:
                error = abs(float(np.log(row.measured / getattr(row, column))))
                groups.setdefault(row.group, []).append(error)
            middle = float(np.median([np.median(errors) for errors in groups.values()]))
            off = f"{100.0 * (np.exp(middle) - 1.0):.0f} %"
            yield f"| {left} | {words} | {len(mine)} | {len(groups)} | {off} |"


def main() -> int:
    """Print the summary and write the tables, or print the table with `--markdown`; returns the
    exit code.
    """
    if sys.argv[1:] == ["--markdown"]:
        sys.stdout.write("\n".join(left_out_table()) + "\n")
        return 0
    sys.stdout.write("\n".join(summary()) + "\n")
    return write(tables())


if __name__ == "__main__":
    sys.exit(main())
