"""Cases of published runs of serving engines, as far as their rows say what is timed.

A row is not used where it cannot be right: a token or a prompt that takes less time than memory,
matrix units or the link between the GPUs need at the datasheet's rates, or a token that takes fifty
times as long. The rule looks at the datasheet alone, so that no prediction of ours decides what
counts.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA
from advisor.cost_model.engine_kernels import EngineKernels, peak_flops
from advisor.cost_model.schedule import Phases, Schedule
from advisor.errors import AdvisorError
from advisor.evidence.fitting.engines.cases import PUBLISHED, EngineCase, computed_only
from advisor.evidence.fitting.frameworks.runs import SERVING, UNSURE
from advisor.evidence.published.engines import engine
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import PublishedRow, published_rows
from advisor.evidence.published.run_settings import lengths
from advisor.machine.machine import Machine
from advisor.runtimes.parallelism import parallel

FILES = tuple(
    DATA / "measurements" / f"{name}.csv" for name in ("offload_papers", "frameworks_more")
)
CURVES = DATA / "measurements" / "load_curves.csv"
NOT_THESE = (*UNSURE, "doubtful", "rounded value")
SLOWEST = 50.0
"""Times the least that memory allows from which a run is not believed."""
RELEASES = (("2025", "2024"), ("2026", "2025"))
"""Dates before a year, and the release they mean; later ones are today's."""


def published() -> Iterator[EngineCase]:
    """Every run that is understood and believed."""
    for path in FILES:
        for row in published_rows(path):
            yield from cases(row)


def cases(row: PublishedRow) -> Iterable[EngineCase]:
    """A row's time for its tokens, and for its first where one sequence was alone."""
    stated = f"{row.runtime} {row.source_note} {row.quant}"
    named = engine(row.runtime, row.category)
    if named is None or named.key not in SERVING or row.category not in ("resident", "batched"):
        return
    if any(words in stated for words in NOT_THESE) or "GGUF" in stated:
        return
    if (row.source_url, row.batch) in points_of_curves():
        return
    try:
        case = understood(row)
    except AdvisorError:
        return
    phases = _phases(row, case)
    if phases is None:
        return
    for prompts, steps, seconds in timed(row, case):
        if believed(phases, case, prompts, steps, seconds):
            yield EngineCase(
                id=row.id if steps else f"{row.id} ttft",
                group=f"{source(row)} {row.gpu}",
                evidence=PUBLISHED,
                engine=case.runtime.key,
                release=release(row.date),
                machine=case.machine,
                phases=computed_only(phases),
                prompts=prompts,
                steps=steps,
                seconds=seconds,
                tokens=_tokens(case, prompts, steps),
            )


@cache
def points_of_curves() -> frozenset[tuple[str, float]]:
    """Source and users of each point of a load curve: what is scored there is not fitted."""
    with CURVES.open(encoding="utf-8", newline="") as file:
        return frozenset(
            (point["source_url"], float(point["users"])) for point in csv.DictReader(file)
        )


def source(row: PublishedRow) -> str:
    """Publisher of a row: the site, and the repository on a site with many."""
    return "/".join(row.source_url.split("/")[2:5])


def _phases(row: PublishedRow, case: Case) -> Phases | None:
    """Schedules of the engine's run; None where it was divided or filled in a way that is not
    modelled.
    """
    how = parallel(case.model, case.machine)
    stated = re.search(r"\btp=(\d+) pp=(\d+)", row.source_note)
    if stated and (how.tensor, how.pipeline) != (int(stated[1]), int(stated[2])):
        return None
    at_once = case.runtime.at_once
    if at_once and float(at_once(case.model, case.machine, case.work)) < float(case.work.users):
        return None
    try:
        placement = case.runtime.place(
            case.model, case.machine, case.work, case.strategy, case.settings
        )
    except AdvisorError:
        return None
    return case.runtime.schedule(case.model, placement, case.machine, case.work)


def _tokens(case: Case, prompts: float, steps: float) -> float:
    """Tokens that came in a time: the whole batch's replies, a step's, or the first one."""
    if not steps:
        return 1.0
    users = float(case.work.users) * case.replicas
    return users * (float(case.work.output) if prompts else 1.0)


def release(date: str) -> str:
    """Release of an engine by the date of its run; empty for today's, or where none is given."""
    return next((name for before, name in RELEASES if date and date < before), "")


def timed(row: PublishedRow, case: Case) -> Iterable[tuple[float, float, float]]:
    """Prompts, steps and the seconds for them, as a row has them.

    The time between tokens where it was measured; else the rate of the whole batch, prompts and
    all, where the row states both lengths.
    """
    metric = row.other_metric
    between = re.search(r"(?:itl|tpot|itl_p50|median_tpot|mean_tpot)_ms=(\d+(?:\.\d+)?)", metric)
    first = re.search(r"\bttft(?:_p50)?_ms=(\d+(?:\.\d+)?)", metric)
    users, rate = float(case.work.users), row.tg_tps_total
    if between:
        yield 0.0, 1.0, float(between[1]) / 1e3
    elif rate and all(lengths(row)):
        tokens = users * case.replicas * float(case.work.output)
        yield 1.0, float(case.steps), tokens / rate
    elif row.seconds_per_token:
        yield 0.0, 1.0, row.seconds_per_token
    elif rate and row.batch:
        yield 0.0, 1.0, users * case.replicas / rate
    if first and users == 1.0:
        yield 1.0, 0.0, float(first[1]) / 1e3


def believed(phases: Phases, case: Case, prompts: float, steps: float, seconds: float) -> bool:
    """The time is one that the machine's datasheet allows."""
    if prompts and not steps:
        return least_seconds(phases.prefill, case.machine) <= seconds
    least = steps * least_seconds(phases.decode, case.machine)
    return least <= seconds <= SLOWEST * max(least, 1e-3)


def least_seconds(schedule: Schedule, machine: Machine) -> float:
    """A run over all layers at the datasheet's rates of memory, matrix units and link [s].

    t = sum max( (W + K) / S , F / C ) + bytes between GPUs / link

    A prompt that is answered sooner was kept from an earlier request of the same text.
    """
    total = 0.0
    for stage in schedule.stages:
        for flow in stage.flows:
            if flow.load is not None and isinstance(flow.kernels, EngineKernels):
                gpu, load = machine.gpus[flow.device], flow.load
                reading = (load.weights + load.kv) / gpu.bandwidth.value
                computing = load.flops / peak_flops(gpu, flow.kernels.dense)
                total += float(np.max(np.maximum(reading, computing)))
    for exchange in schedule.exchanges:
        link = machine.gpus[0].peer or machine.gpus[0].link.pinned
        total += float(np.max(exchange.times * exchange.moved / link.value))
    return total
