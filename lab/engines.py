"""Runs of serving engines, published ones and the answers of a simulator, as cases of their fit.

A published row is excluded if it cannot be right: a token or prompt in less time than memory,
matrix units or the link between GPUs need at datasheet rates, or a token in more than fifty times
that. The rule uses the datasheet alone, so none of our predictions decides what counts. Rows of the
simulator with expert parallelism (`ep`) are not used: no constant is fitted to them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.engine_kernels import EngineKernels, generation, peak_flops
from advisor.cost_model.placement import DEFAULT, PlacementStrategy, Settings
from advisor.cost_model.schedule import Phases, Schedule
from advisor.cost_model.uncertainty import SEVERAL, TOGETHER
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.evidence.published.engines import engine
from advisor.evidence.published.predict import Case
from advisor.evidence.published.row import PublishedRow
from advisor.evidence.published.run_settings import lengths
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import SGLANG, VLLM, Runtime
from advisor.runtimes.parallelism import parallel
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from lab.frameworks import SERVING, UNSURE
from lab.llama_cpp import case_of
from lab.published import published_rows
from lab.stack import Timed

SIMULATED, PUBLISHED = "simulated", "published"
NOISE = 0.1
"""Standard deviation of usual runs around the model, as a logarithm."""
WEIGHTS = {SIMULATED: 1.0, PUBLISHED: 4.0}
"""Weight of a run by its evidence: published ones are twice as near to the model."""


@dataclass(frozen=True, kw_only=True)
class EngineCase(Timed):
    """One timed run of a serving engine."""

    evidence: str  # `SIMULATED` or `PUBLISHED`
    first: bool  # whether it times the first token alone
    experts: bool  # whether the model has routed experts
    # degree of each trait that may widen its range, 0 to 1
    traits: Mapping[str, float]


def computed_only(schedule: Schedule) -> Schedule:
    """Schedule of a resident model without transfers of 0 bytes, so more cases share a shape."""
    flows = (flow for stage in schedule.stages for flow in stage if flow.load is not None)
    return replace(schedule, stages=tuple((replace(flow, alike=1, device=0),) for flow in flows))


def engine_case(
    work: Workload,
    model: Model,
    where: Machine,
    phases: Phases,
    prompts: float,
    steps: float,
    **facts: Any,
) -> EngineCase:
    """Case of a time with a number of prompts and steps in it; `facts` are engine, release and
    evidence, and other fields.

    The number of prompts is 1, 0, or the part of one that others' prompts take from a token of
    several users.
    """
    counted = ((prompts, phases.prefill), (steps, phases.decode))
    names = ("engine", "release", "evidence")
    scope = {name: facts.pop(name) for name in names} | {"family": generation(where.gpus[0])}
    evidence = scope["evidence"]
    return EngineCase(
        scope=scope,
        machine=replace(where, gpus=where.gpus[:1]),
        parts=tuple((count, computed_only(phase)) for count, phase in counted if count > 0),
        noise=NOISE,
        weight=WEIGHTS[evidence],
        evidence=evidence,
        first=not steps,
        experts=model.has_experts,
        traits={
            SEVERAL: float(len(where.gpus) > 1),
            TOGETHER: float(np.asarray(work.users) > 1),
        },
        **facts,
    )


# Answers of the simulator: data/measurements/simulated_engines.csv.

GRID = DATA / "measurements" / "simulated_engines.csv"
FORMATS = {
    "BF16": "BF16-hf", "MXFP4": "MXFP4-hf", "FP8 blocks": "FP8", "INT4 experts": "MXFP4-hf",
}  # fmt: skip
"""Formats of the catalogue by the simulator's names, where they differ. The catalogue has no format
with 4-bit integers in the experts alone; MXFP4 has the same bytes within 2 %."""
INTEGERS = {"INT4 experts": "GPTQ"}
"""Formats with the kernels of a simulated format, where `FORMATS` gives only its bytes."""
ENGINES: Mapping[str, Runtime] = {
    "vLLM": VLLM, "SGLang": SGLANG, "TensorRT-LLM": TENSORRT_LLM,
}  # fmt: skip
RAM_GB = 2048.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedRow:
    """One row of data/measurements/simulated_engines.csv; its README describes the columns."""

    id: str
    runtime: str
    gpu: str
    gpu_count: int
    ep: int
    model: str
    quant: str
    prompt_len: float
    gen_len: float
    batch: float
    ttft_s: float
    seconds_per_token: float
    date: ClassVar = "2026-11"
    source_url: ClassVar = "aiconfigurator 0.12.0, simulated from measured kernels"


@cache
def simulated_rows() -> tuple[SimulatedRow, ...]:
    """All rows, in the order of the file."""
    return read(GRID, SimulatedRow)


def simulated() -> Iterator[EngineCase]:
    """Cases of all rows: one for the prompt, one for a token."""
    for row in simulated_rows():
        if row.ep == 1:
            yield from _cases(row)


def _cases(row: SimulatedRow) -> Iterator[EngineCase]:
    runtime = ENGINES[row.runtime.split()[0]]
    where = _machine(row.gpu, row.gpu_count)
    model = _model(row.model, row.quant)
    context = row.prompt_len + row.gen_len
    work = Workload(prompt=row.prompt_len, output=row.gen_len, context=context, users=row.batch)
    placement = runtime.place(model, where, work, PlacementStrategy.GPU_RESIDENT, Settings())
    phases = runtime.schedule(model, placement, where, work)
    times = ((1.0, "ttft_s", row.ttft_s), (0.0, "seconds_per_token", row.seconds_per_token))
    for part, column, seconds in times:
        yield engine_case(
            work, model, where, phases, part, 1.0 - part,
            id=f"{row.id} {column}",
            group=f"{row.model} {row.gpu}",
            publisher=SIMULATED,
            evidence=SIMULATED,
            engine=runtime.key,
            release="",
            seconds=seconds,
            tokens=1.0 if part else row.batch,
        )  # fmt: skip


@lru_cache(maxsize=256)
def _machine(gpu: str, count: int) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=RAM_GB))


@lru_cache(maxsize=256)
def _model(name: str, form: str) -> Model:
    model = catalog.model(name, FORMATS.get(form, form))
    return replace(model, format=INTEGERS.get(form, model.format))


# Published runs.

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
    case = case_of(row)
    phases = None if case is None else _phases(row, case)
    if case is None or phases is None:
        return
    for prompts, steps, seconds in timed(row, case):
        if believed(phases, case, prompts, steps, seconds):
            yield engine_case(
                case.work, case.model, case.machine, phases, prompts, steps,
                id=row.id if steps else f"{row.id} ttft",
                group=row.publisher or f"{source(row)} {row.gpu}",
                publisher=row.publisher or source(row),
                evidence=PUBLISHED,
                engine=case.runtime.key,
                release=release(row.date),
                seconds=seconds,
                tokens=_tokens(case, steps),
            )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadCurveRow:
    """One row of data/measurements/load_curves.csv; its README describes the columns."""

    id: str
    runtime: str
    gpu: str
    gpu_count: int
    model: str
    quant: str
    kv_type: str
    prompt_len: float
    gen_len: float
    spread: float
    use: str
    users: int | None
    rate_per_s: float | None
    requests: int
    slots: int | None
    cached_share: float
    cuda_graphs: bool
    output_tps: float
    ttft_p50_s: float | None
    tpot_p50_s: float | None
    date: str
    source_url: str
    source_note: str


@cache
def load_curve_rows() -> tuple[LoadCurveRow, ...]:
    """All rows, in the order of the file."""
    return read(DATA / "measurements/load_curves.csv", LoadCurveRow)


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
    run = case.model, case.machine, case.work, DEFAULT
    if at_once and float(at_once(*run)) < float(case.work.users):
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
        for flow in stage:
            if flow.load is not None and isinstance(flow.kernels, EngineKernels):
                gpu, load = machine.gpus[flow.device], flow.load
                reading = (load.weights + load.kv) / gpu.bandwidth.value
                computing = load.flops / peak_flops(gpu, flow.kernels.dense)
                total += float(np.max(np.maximum(reading, computing)))
    for exchange in schedule.exchanges:
        link = machine.gpus[0].peer or machine.gpus[0].link.pinned
        total += float(np.max(exchange.times * exchange.moved / link.value))
    return total
