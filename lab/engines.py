"""Runs of serving engines, published ones and the answers of a simulator, as cases of their fit.

A published row is excluded if it cannot be right: a token or prompt in less time than memory,
matrix units or the link between GPUs need at datasheet rates, or a token in more than fifty times
that. The rule uses the datasheet alone, so none of our predictions decides what counts. Rows of the
simulator with expert parallelism (`ep`) are not used: no constant is fitted to them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.kernels import EngineKernels, generation, peak_flops
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Schedule
from advisor.cost_model.workload import Workload
from advisor.evidence.published.case import Case
from advisor.evidence.published.engines import engine
from advisor.evidence.published.known import timed_tokens
from advisor.evidence.published.row import PublishedRow, figure, stated
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import SGLANG, VLLM
from advisor.runtimes.parallelism import parallel
from advisor.runtimes.tensorrt_llm import TENSORRT_LLM
from lab.frameworks import SERVING
from lab.held_out import GENERATED, READ
from lab.llama_cpp import placed_case
from lab.published import published_rows, row_files
from lab.stack import Timed

SIMULATED = "simulated"
PUBLISHED = "published"
NOISE = 0.1  # standard deviation of usual runs around the model, as a logarithm
WEIGHTS = {SIMULATED: 1.0, PUBLISHED: 4.0}
"""Weight of a run by its evidence: published ones are twice as near to the model."""


def computed_only(schedule: Schedule) -> Schedule:
    """Schedule of a resident model without transfers of 0 bytes, so more cases share a shape."""
    flows = (flow for stage in schedule.stages for flow in stage if flow.load is not None)
    return replace(schedule, stages=tuple((replace(flow, alike=1, device=0),) for flow in flows))


def engine_run(
    row: PublishedRow, case: Case, evidence: str, prompts: float, steps: float, **facts: Any
) -> Timed:
    """A time with a number of prompts and steps in it; `facts` are fields of the run and `release`.

    The number of prompts is 1, 0, or the part of one that others' prompts take from a token of
    several users.
    """
    gpus = case.machine.gpus
    of_prompt = case if steps else case.of_prompt
    counted = ((prompts, of_prompt.phases.prefill), (steps, case.phases.decode))
    return Timed(
        row=row,
        case=case,
        timed=GENERATED if steps else READ,
        scope={
            "engine": case.runtime.key,
            "release": facts.pop("release", ""),
            "evidence": evidence,
            "family": str(generation(gpus[0])),
        },
        machine=replace(case.machine, gpus=gpus[:1]),  # so that more runs share a shape
        parts=tuple((count, computed_only(phase)) for count, phase in counted if count > 0),
        noise=NOISE,
        weight=WEIGHTS[evidence],
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
    "vLLM": VLLM,
    "SGLang": SGLANG,
    "TensorRT-LLM": TENSORRT_LLM,
}
RAM_GB = 2048.0


SOURCE = {
    "date": "2026-11",
    "source_url": "aiconfigurator 0.12.0, simulated from measured kernels",
}
"""Columns that all of its rows share."""


@cache
def simulated_rows() -> tuple[PublishedRow, ...]:
    """All rows, in the order of the file."""
    return tuple(PublishedRow({**row.cells, **SOURCE}) for row in published_rows(GRID))


def simulated() -> Iterator[Timed]:
    """Two runs of each row: its prompt, and a token."""
    for row in simulated_rows():
        if row.cells["ep"] == "1":
            case = _simulated_case(row)
            for first, column in ((True, "ttft_s"), (False, "seconds_per_token")):
                yield engine_run(
                    row,
                    case,
                    SIMULATED,
                    float(first),
                    float(not first),
                    id=f"{row.id} {column}",
                    group=f"{row.model} {row.gpu}",
                    publisher=SIMULATED,
                    seconds=float(row.cells[column]),
                    tokens=1.0 if first else float(case.work.users),
                )


def _simulated_case(row: PublishedRow) -> Case:
    prompt = row.prompt_len or 0.0
    output = row.gen_len or 0.0
    work = Workload(prompt=prompt, output=output, context=prompt + output, users=row.batch or 1.0)
    return Case(
        model=_model(row.model, row.quant),
        machine=_machine(row.gpu, row.gpu_count or 1),
        prompt=work,
        work=work,
        runtime=ENGINES[row.runtime.split()[0]],
        strategy=PlacementStrategy.GPU_RESIDENT,
        settings=Settings(),
        backend="",
        build="",
    )


@lru_cache(maxsize=256)
def _machine(gpu: str, count: int) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=RAM_GB))


@lru_cache(maxsize=256)
def _model(name: str, form: str) -> Model:
    model = catalog.model(name, FORMATS.get(form, form))
    return replace(model, format=INTEGERS.get(form, model.format))


# Published runs.

FILES = (DATA / "measurements/offload_papers.csv", *row_files("frameworks", since=1))
SLOWEST = 50.0  # multiple of the shortest possible time above which a run is excluded
RELEASES = (("2025", "2024"), ("2026", "2025"))
"""Year before which a run was made, and the release it used; later runs used today's."""


def published() -> Iterator[Timed]:
    """All runs that are complete and possible."""
    for path in FILES:
        for row in published_rows(path):
            yield from cases(row)


def cases(row: PublishedRow) -> Iterator[Timed]:
    """Runs of a row: its tokens, and its first token where it ran a single sequence."""
    case = _served(row)
    for prompts, steps, seconds in timed(row, case) if case else ():
        if case and believed(case, prompts, steps, seconds):
            yield engine_run(
                row,
                case,
                PUBLISHED,
                prompts,
                steps,
                id=row.id if steps else f"{row.id} ttft",
                group=row.publisher or f"{source(row)} {row.gpu}",
                publisher=row.publisher or source(row),
                release=release(row.date),
                seconds=seconds,
                tokens=_tokens(case, steps),
            )


def _served(row: PublishedRow) -> Case | None:
    """Case of a row that is fitted; None for doubtful ones, points of load curves, and a
    parallelism or load that is not modelled.
    """
    told = f"{row.source_words} {row.quant}"
    named = engine(row.runtime, row.category)
    if named is None or named.key not in SERVING or row.category not in ("resident", "batched"):
        return None
    if row.doubtful or any(stated(words, told) for words in ("unsure figure", "not served")):
        return None
    if (row.source_url, row.batch) in points_of_curves():
        case = None
    else:
        case = placed_case(row)
    if case is None:
        return None
    how = parallel(case.model, case.machine)
    degrees = stated("tensor and pipeline parallel", row.source_note)
    if degrees and (how.tensor, how.pipeline) != (int(degrees[1]), int(degrees[2])):
        return None
    mapping = stated("mapping", row.other_metric)
    if mapping and mapping[1] != f"TP{how.tensor}":  # "DEP8": attention data parallel
        return None
    at_once = case.runtime.at_once
    users = float(case.work.users)
    if at_once and float(at_once(case.model, case.machine, case.work, Settings())) < users:
        return None
    return case


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


def _tokens(case: Case, steps: float) -> float:
    """Tokens in the measured time: of the whole batch, of a step, or the first one [tokens]."""
    if not steps:
        return 1.0
    users = float(case.work.users) * case.replicas
    return users * (float(case.work.output) if steps > 1.0 else 1.0)


def release(date: str) -> str:
    """Release of an engine by the date of its run; empty for today's and without a date."""
    return next((name for before, name in RELEASES if date and date < before), "")


def timed(row: PublishedRow, case: Case) -> Iterator[tuple[float, float, float]]:
    """Number of prompts, number of steps, and their time in a row [s]: of tokens, and of the first
    one where a single sequence ran.
    """
    tokens = timed_tokens(row, case)
    alone = float(case.work.users) == 1.0
    if tokens is not None:
        yield tokens.prompts, tokens.steps, tokens.seconds
    first = figure("ms to the first token", row.other_metric)
    if alone and first is not None:
        yield 1.0, 0.0, first / 1e3
    elif alone and row.pp_tps and row.prompt_len:
        yield 1.0, 0.0, float(case.prompt.fresh) / row.pp_tps


def believed(case: Case, prompts: float, steps: float, seconds: float) -> bool:
    """Whether a time is possible by the machine's datasheet."""
    if prompts and not steps:
        return least_seconds(case.of_prompt.phases.prefill, case.machine) <= seconds
    least = steps * least_seconds(case.phases.decode, case.machine)
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
                gpu = machine.gpus[flow.device]
                load = flow.load
                reading = (load.weights + load.kv) / gpu.bandwidth.value
                computing = load.flops / peak_flops(gpu, flow.kernels.dense)
                total += float(np.max(np.maximum(reading, computing)))
    for exchange in schedule.exchanges:
        link = machine.gpus[0].peer or machine.gpus[0].link.pinned
        total += float(np.max(exchange.times * exchange.moved / link.value))
    return total
