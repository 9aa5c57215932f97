"""Cases of published runs of serving engines.

A row is excluded if it cannot be right: a token or prompt in less time than memory, matrix units or
the link between GPUs need at datasheet rates, or a token in more than fifty times that. The rule
uses the datasheet alone, so none of our predictions decides what counts.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA
from advisor.cost_model.engine_kernels import EngineKernels, peak_flops
from advisor.cost_model.schedule import Phases, Schedule
from advisor.errors import AdvisorError
from advisor.evidence.fitting.engines.cases import (
    PUBLISHED,
    EngineCase,
    computed_only,
    run_traits,
)
from advisor.evidence.fitting.frameworks.runs import SERVING, UNSURE
from advisor.evidence.published.engines import engine
from advisor.evidence.published.load_curves import load_curve_rows
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import PublishedRow, published_rows
from advisor.evidence.published.run_settings import lengths
from advisor.machine.machine import Machine
from advisor.runtimes.parallelism import parallel

FILES = tuple(
    DATA / "measurements" / f"{name}.csv"
    for name in ("offload_papers", "frameworks_more", "frameworks_2026")
)
NOT_THESE = (*UNSURE, "doubtful", "rounded value")
SLOWEST = 50.0
"""Multiple of the shortest possible time above which a run is excluded."""
RELEASES = (("2025", "2024"), ("2026", "2025"))
"""Year before which a run was made, and the release it used; later runs used today's."""


def published() -> Iterator[EngineCase]:
    """Cases of all runs that are complete and possible."""
    for path in FILES:
        for row in published_rows(path):
            yield from cases(row)


def cases(row: PublishedRow) -> Iterable[EngineCase]:
    """Cases of a row: its tokens, and its first token where it ran a single sequence."""
    stated = f"{row.runtime} {row.source_note} {row.quant}"
    named = engine(row.runtime, row.category)
    if named is None or named.key not in SERVING or row.category not in ("resident", "batched"):
        return
    if row.doubtful or any(words in stated for words in NOT_THESE) or "GGUF" in stated:
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
                group=row.publisher or f"{source(row)} {row.gpu}",
                evidence=PUBLISHED,
                engine=case.runtime.key,
                release=release(row.date),
                machine=case.machine,
                phases=computed_only(phases),
                prompts=prompts,
                steps=steps,
                seconds=seconds,
                tokens=_tokens(case, steps),
                publisher=row.publisher or source(row),
                traits=run_traits(case.model, case.machine, case.work, prompt=not steps),
            )


@cache
def points_of_curves() -> frozenset[tuple[str, float]]:
    """Sources and numbers of users of the load curves' points, which are scored and not fitted."""
    rows = load_curve_rows()
    return frozenset((row.source_url, float(row.users)) for row in rows if row.users)


def source(row: PublishedRow) -> str:
    """Publisher of a row: the site, and the repository on a site with many."""
    return "/".join(row.source_url.split("/")[2:5])


def _phases(row: PublishedRow, case: Case) -> Phases | None:
    """Schedules of a run; None for a parallelism or load that is not modelled."""
    how = parallel(case.model, case.machine)
    stated = re.search(r"\btp=(\d+) pp=(\d+)", row.source_note)
    if stated and (how.tensor, how.pipeline) != (int(stated[1]), int(stated[2])):
        return None
    mapping = re.search(r"\bmapping ([A-Z0-9,]+)", row.other_metric)
    if mapping and mapping[1] != f"TP{how.tensor}":  # "DEP8": attention data parallel
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


def _tokens(case: Case, steps: float) -> float:
    """Tokens in the measured time: of the whole batch, of a step, or the first one [tokens]."""
    if not steps:
        return 1.0
    users = float(case.work.users) * case.replicas
    return users * (float(case.work.output) if steps > 1.0 else 1.0)


def release(date: str) -> str:
    """Release of an engine by the date of its run; empty for today's and without a date."""
    return next((name for before, name in RELEASES if date and date < before), "")


MEAN = re.compile(r"\b(?:itl|tpot|mean_tpot)_ms=(\d+(?:\.\d+)?)")
MEDIAN = re.compile(r"\b(?:itl_p50|median_tpot)_ms=(\d+(?:\.\d+)?)")
"""Pattern of a median time between tokens in a note, as load generators print it [ms]."""


def timed(row: PublishedRow, case: Case) -> Iterable[tuple[float, float, float]]:
    """Number of prompts, number of steps, and their time in a row [s].

    Taken from the time between tokens where measured; else from the rate of the whole batch with
    its prompts, where the row states both lengths. A mean time between tokens of several users
    includes the others' prompts: during one reply, the prompt of each other user is read once
    (`Server.time_per_token`). A median does not, as most tokens wait for no prompt.
    """
    metric = row.other_metric
    mean, median = MEAN.search(metric), MEDIAN.search(metric)
    alone = row.seconds_per_token if case.work.users == 1 else None
    users, rate = float(case.work.users), row.tg_tps_total
    if median:
        yield 0.0, 1.0, float(median[1]) / 1e3
    elif mean:
        others = (users - 1.0) / (users * float(case.work.output))
        yield others, 1.0, float(mean[1]) / 1e3
    elif alone:
        yield 0.0, 1.0, alone
    elif rate and all(lengths(row)):
        tokens = users * case.replicas * float(case.work.output)
        yield 1.0, float(case.steps), tokens / rate
    elif row.seconds_per_token:
        yield 0.0, 1.0, row.seconds_per_token
    elif rate and row.batch:
        yield 0.0, 1.0, users * case.replicas / rate
    first = _first_token(row, case)
    if first:
        yield 1.0, 0.0, first


FIRST_TOKEN = re.compile(r"\bttft(?:_p50)?_ms=(\d+(?:\.\d+)?)")
"""Pattern of the time to the first token in a note [ms]."""


def _first_token(row: PublishedRow, case: Case) -> float | None:
    """Time of the prompt of a single sequence; None where it was not measured [s]."""
    stated = FIRST_TOKEN.search(row.other_metric)
    if float(case.work.users) != 1.0:
        return None
    if stated:
        return float(stated[1]) / 1e3
    return float(case.work.fresh) / row.pp_tps if row.pp_tps and row.prompt_len else None


def believed(phases: Phases, case: Case, prompts: float, steps: float, seconds: float) -> bool:
    """Whether a time is possible by the machine's datasheet."""
    if prompts and not steps:
        return least_seconds(phases.prefill, case.machine) <= seconds
    least = steps * least_seconds(phases.decode, case.machine)
    return least <= seconds <= SLOWEST * max(least, 1e-3)


def least_seconds(schedule: Schedule, machine: Machine) -> float:
    """Shortest possible time of a pass over all layers, at datasheet rates [s].

    t = sum max( (W + K) / S , F / C ) + bytes between GPUs / link

    A prompt with a shorter time was cached from an earlier request.
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
