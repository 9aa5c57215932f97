"""Points of frameworks and serving engines, published and simulated, each predicted without its
group.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.advice.arrivals.server import Lengths, at_random, of_users, server, simulate
from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Constants, Scope
from advisor.catalog.csv_tables import read
from advisor.cost_model import uncertainty
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import StepTime
from advisor.cost_model.uncertainty import Circumstances, Margins
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.evidence.accuracy.regimes import BOTH, GENERATION, PROMPT
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import runtime
from advisor.runtimes.compare import as_run
from lab import engines
from lab.engine_tables import LEFT_OUT, EngineLeftOutRow
from lab.frameworks import margins as framework_margins
from lab.frameworks import papers, regime
from lab.held_out import WHOLE, left_out
from lab.points import decode_of, margins_of, point_of
from lab.published import published_rows

WIDER = (uncertainty.SEVERAL, uncertainty.TOGETHER, uncertainty.THIN)
"""Traits whose degree a row of engine_left_out.csv states."""


def of_frameworks() -> Iterable[AccuracyPoint]:
    """Points of data/measurements/offload_papers.csv, with speeds of the whole batch."""
    for run in papers():
        seconds = left_out().get((WHOLE, run.id))
        if seconds is not None:
            if len(run.parts) > 1:
                timed = BOTH
            else:
                timed = GENERATION
            yield point_of(
                run.row,
                {"category": regime(run), "timed": timed, "batch_stated": bool(run.weight)},
                group=run.group,
                measured=run.tokens / run.seconds,
                predicted=run.tokens / seconds,
                margins=framework_margins(run),
            )


def points(evidence: str = engines.PUBLISHED) -> Iterable[AccuracyPoint]:
    """Points of published runs, or of the simulator's answers."""
    published = (row for path in engines.FILES for row in published_rows(path))
    every = published if evidence == engines.PUBLISHED else engines.simulated_rows()
    rows = {row.id: row for row in every}
    for case in read(LEFT_OUT, EngineLeftOutRow):
        if case.evidence == evidence:
            name, _, part = case.id.partition(" ")
            row = rows[name]
            first = part.startswith("ttft")
            yield point_of(
                row,
                {
                    "category": f"serving, {case.evidence}",
                    "timed": PROMPT if first else GENERATION,
                    "experts": bool(case.experts),
                },
                group=case.group,
                measured=case.tokens / case.seconds,
                predicted=case.tokens / case.predicted,
                margins=margins(case, row.runtime, first=first),
            )


def margins(case: EngineLeftOutRow, runtime: str, *, first: bool) -> Margins:
    """Margins of the 80 % range of a token's or a prompt's time in a serving engine."""
    folded = runtime.casefold()
    constant = Margins.IN_PROMPT if first else Margins.IN_DECODE
    key = next((key for key in ("vllm", "sglang") if key in folded), "tensorrt-llm")
    traits = {trait: getattr(case, trait) for trait in WIDER}
    run = Circumstances(on_gpu=True, traits=traits, unmeasured={})
    time = StepTime(total=1.0, parts={Route.RESIDENT: 1.0}, hidden=0.0)
    return uncertainty.margins(time, run, Constants.fitted().bound(Scope(runtime=key)), constant)


# Load curves, simulated request by request; nothing is fitted to them.
#
# Rows with `users` give tokens per second of all users together, rows with a rate of arrivals those
# of one user, as 1 / time per token. A source's own test of long prompts tells how fast its card
# reads them (`use` = card); the prompts of its other rows are slowed down as much.

# uses of a row
SCORED = "score"
CARD = "card"
CHECKPOINTS = {"FP16": "BF16-hf", "BF16": "BF16-hf"}  # formats of checkpoints by the sources' words
KERNEL_STARTS = 0.57e-3
"""Time in which Python starts a layer's kernels where no CUDA graph holds them [s]. GPT-2 (12
layers) on an H200, with 32 tokens in 154.1 ms in vLLM and 156.0 ms in SGLang: 0.40 ms
(github.com/deepspeedai/DeepSpeed/pull/8352, 2026-09-22); Qwen2.5-Omni-7B (28 layers) on an A800, 22
to 23 ms a token: 0.80 ms (github.com/vllm-project/vllm-omni/issues/7960, 2026-09-22); their
geometric mean. Plausible: 0.2 to 1 ms, by the processor."""


@dataclass(frozen=True, kw_only=True)
class UnderLoad:
    """Simulated server of a row."""

    # tokens of all users per second, from the first request to the last reply [tokens/s]
    together_tps: float
    first_p50: float  # median of the time to the first token, behind the start [s]
    token_p50: float  # median of the time per token after the first [s]


def load_points() -> Iterable[AccuracyPoint]:
    """Points of all scored rows."""
    for row in engines.load_curve_rows():
        if row.use == SCORED:
            served = under_load(row)
            if row.rate_per_s is not None:
                by_user = row.tpot_p50_s
            else:
                by_user = None
            yield point_of(
                row,
                {"category": "load", "timed": GENERATION},
                group=f"{row.source_url} {row.gpu}",
                measured=1.0 / by_user if by_user else row.output_tps,
                predicted=1.0 / served.token_p50 if by_user else served.together_tps,
                margins=margins_of(decode_of(row, _estimate(row))),
            )


@cache
def slowdown(source: str, gpu: str) -> float:
    """Time of prompts on a source's card, over the predicted time; 1 where it does not tell."""
    rows = (row for row in engines.load_curve_rows() if (row.source_url, row.gpu) == (source, gpu))
    ratios = [under_load(row, 1.0).together_tps / row.output_tps for row in rows if row.use == CARD]
    if ratios:
        return float(np.median(ratios))
    return 1.0


def under_load(row: engines.LoadCurveRow, slower: float | None = None) -> UnderLoad:
    """Simulation of a row with its flags, with prompts that take so many times the predicted time;
    as many as its card tells where none is given.
    """
    answer = _estimate(row)
    there = server(answer)
    if there is None:
        raise InputError(f"{row.id}: {answer.refusal or 'does not fit'}")
    if slower is None:
        slower = slowdown(row.source_url, row.gpu)
    there = replace(
        there,
        passes=there.passes * slower,
        earlier=there.earlier * slower,
        slots=min(there.slots, row.slots or there.slots),
        least=0.0 if row.cuda_graphs else step_without_graphs(answer.model),
    )
    lengths = Lengths(
        prompt=row.prompt_len, output=row.gen_len, spread=row.spread, cached_share=row.cached_share
    )
    users = row.users or 1
    started = 0
    if row.rate_per_s is not None:
        requests = at_random(row.rate_per_s, row.requests, lengths)
    else:
        requests = of_users(users, row.requests, lengths)
        if row.requests > users:
            started = users
        else:
            started = 0
    served = simulate(there, requests)
    return UnderLoad(
        together_tps=float(np.sum(served.outputs) / np.max(served.ends)),
        first_p50=float(np.median(served.waits[started:])),
        token_p50=float(np.nanmedian(served.per_token[started:])),
    )


def step_without_graphs(model: Model) -> float:
    """Shortest step of an engine that starts every kernel anew [s]."""
    return KERNEL_STARTS * model.layers


@cache
def _estimate(row: engines.LoadCurveRow) -> Estimate:
    """Estimate of a row's model, machine and requests for a single user."""
    where = machine(MachineSpec(gpu=row.gpu, gpu_count=row.gpu_count, ram_gb=128))
    engine = runtime(row.runtime.split()[0])
    model = as_run(catalog.model(row.model, CHECKPOINTS.get(row.quant, row.quant)), engine, where)
    context = row.prompt_len + row.gen_len
    work = Workload(prompt=row.prompt_len, output=row.gen_len, context=context, kv_type=row.kv_type)
    strategy = PlacementStrategy.GPU_RESIDENT
    return estimate(model, where, work, engine, strategy, Constants.fitted())
