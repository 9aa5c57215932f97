"""Points of published load curves, simulated request by request; nothing is fitted to them.

Rows with `users` give tokens per second of all users together, rows with a rate of arrivals those
of one user, as 1 / time per token. A source's own test of long prompts tells how fast its card
reads them (`use` = card); the prompts of its other rows are slowed down as much.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.advice.arrivals.server import (
    Lengths,
    Server,
    at_random,
    of_users,
    server,
)
from advisor.advice.arrivals.simulation import simulate
from advisor.advice.compare import as_run
from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.evidence.accuracy.regimes import GENERATION, regime_of
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import runtime
from lab.engines import LoadCurveRow, load_curve_rows
from lab.points.point import margins_of, point_of

SCORED, CARD = "score", "card"
"""Uses of a row."""
CHECKPOINTS = {"FP16": "BF16-hf", "BF16": "BF16-hf"}
"""Formats of checkpoints by the sources' words."""
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


def points() -> Iterable[AccuracyPoint]:
    """Points of all scored rows."""
    return (_point(row) for row in load_curve_rows() if row.use == SCORED)


def _point(row: LoadCurveRow) -> AccuracyPoint:
    met = under_load(row)
    by_user = row.rate_per_s is not None and row.tpot_p50_s is not None
    return point_of(
        row,
        regime=regime_of({"category": "load", "timed": GENERATION}),
        group=f"{row.source_url} {row.gpu}",
        measured=1.0 / row.tpot_p50_s if by_user and row.tpot_p50_s else row.output_tps,
        predicted=1.0 / met.token_p50 if by_user else met.together_tps,
        margins=margins_of(_estimate(row).decode),
    )


def under_load(row: LoadCurveRow) -> UnderLoad:
    """Simulation of a row, with its flags and the prompt rate of its card."""
    return _simulated(row, slowdown(row.source_url, row.gpu))


@cache
def slowdown(source: str, gpu: str) -> float:
    """Time of prompts on a source's card, over the predicted time; 1 where it does not tell."""
    rows = (row for row in load_curve_rows() if (row.source_url, row.gpu) == (source, gpu))
    ratios = [_simulated(row, 1.0).together_tps / row.output_tps for row in rows if row.use == CARD]
    return float(np.median(ratios)) if ratios else 1.0


def _simulated(row: LoadCurveRow, slower: float) -> UnderLoad:
    there, lengths = _server(row, slower), _lengths(row)
    if row.rate_per_s is not None:
        requests, started = at_random(row.rate_per_s, row.requests, lengths), 0
    else:
        users = row.users or 1
        requests = of_users(users, row.requests, lengths)
        started = users if row.requests > users else 0
    served = simulate(there, requests)
    return UnderLoad(
        together_tps=float(np.sum(served.outputs) / np.max(served.ends)),
        first_p50=float(np.median(served.waits[started:])),
        token_p50=float(np.nanmedian(served.per_token[started:])),
    )


def _lengths(row: LoadCurveRow) -> Lengths:
    return Lengths(
        prompt=row.prompt_len, output=row.gen_len, spread=row.spread, cached_share=row.cached_share
    )


def _server(row: LoadCurveRow, slower: float) -> Server:
    answer = _estimate(row)
    there = server(answer)
    if there is None:
        raise ValueError(f"{row.id}: {answer.refusal or 'does not fit'}")
    return replace(
        there,
        passes=there.passes * slower,
        earlier=there.earlier * slower,
        slots=min(there.slots, row.slots or there.slots),
        least=0.0 if row.cuda_graphs else step_without_graphs(answer.model),
    )


def step_without_graphs(model: Model) -> float:
    """Shortest step of an engine that starts every kernel anew [s]."""
    return KERNEL_STARTS * model.layers


def _estimate(row: LoadCurveRow) -> Estimate:
    """Estimate of a row's model, machine and requests for a single user."""
    return _estimated(
        row.runtime.split()[0], (row.gpu, row.gpu_count), (row.model, row.quant), row.kv_type,
        (row.prompt_len, row.gen_len),
    )  # fmt: skip


@cache
def _estimated(
    engine: str,
    gpus: tuple[str, int],
    model: tuple[str, str],
    kv_type: str,
    lengths: tuple[float, float],
) -> Estimate:
    where = machine(MachineSpec(gpu=gpus[0], gpu_count=gpus[1], ram_gb=128))
    how, (name, form), (prompt, output) = runtime(engine), model, lengths
    described = as_run(catalog.model(name, CHECKPOINTS.get(form, form)), how, where)
    work = Workload(prompt=prompt, output=output, context=prompt + output, kv_type=kv_type)
    strategy = PlacementStrategy.GPU_RESIDENT
    return estimate(described, where, work, how, strategy, fitted_constants())
