"""Published load curves beside the simulation; nothing is fitted to them."""

from functools import cache

import numpy as np
import pytest

from advisor.advice.arrivals.requests import Lengths, of_users
from advisor.advice.arrivals.server import Server, server
from advisor.advice.arrivals.simulation import simulate
from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.evidence.published.load_curves import LoadCurveRow, load_curve_rows
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import runtime

FORMATS = {"FP16": "BF16-hf", "BF16": "BF16-hf"}


@cache
def served_by(
    engine: str, gpus: tuple[str, int], model: str, quant: str, kv: str, lengths: Lengths
) -> Server:
    where = machine(MachineSpec(gpu=gpus[0], gpu_count=gpus[1], ram_gb=128))
    how = runtime(engine)
    described = as_run(catalog.model(model, FORMATS.get(quant, quant)), how, where)
    prompt, output = lengths.prompt, lengths.output
    work = Workload(prompt=prompt, output=output, context=prompt + output, kv_type=kv)
    strategy = PlacementStrategy.GPU_RESIDENT
    there = server(estimate(described, where, work, how, strategy, fitted_constants()))
    assert there is not None
    return there


def simulated(row: LoadCurveRow) -> tuple[float, float]:
    """Tokens a second of all users together, and the median first token behind the start [s]."""
    lengths = Lengths(prompt=row.prompt_len, output=row.gen_len, spread=row.spread)
    engine, users, requests = row.runtime.split()[0], row.users, row.requests
    gpus = row.gpu, row.gpu_count
    there = served_by(engine, gpus, row.model, row.quant, row.kv_type, lengths)
    served = simulate(there, of_users(users, requests, lengths))
    later = served.waits[users:] if requests > users else served.waits
    return float(np.sum(served.outputs) / np.max(served.ends)), float(np.median(later))


def curve(row: LoadCurveRow) -> tuple[str, ...]:
    return row.source_url, row.runtime, row.gpu, row.quant


ALL_AT_ONCE = 1000
"""Users that fill a server; fewer are points of a curve below saturation."""
CURVES = tuple(dict.fromkeys(curve(row) for row in load_curve_rows() if row.users < ALL_AT_ONCE))
WITHOUT_GRAPHS = ("SGLang latest of 2026-05", "A100 SXM 40GB")
"""A curve with `--disable-cuda-graph` on a card that is faster than Python starts kernels (16 ms a
step whatever the users), which is not modelled."""


@pytest.mark.parametrize("name", CURVES, ids=lambda name: " ".join(name[1:]))
def test_a_published_curve_is_met_within_a_quarter(name: tuple[str, ...]) -> None:
    points = [row for row in load_curve_rows() if curve(row) == name]
    off = np.log([simulated(row)[0] / row.output_tps for row in points])
    if name[1:3] == WITHOUT_GRAPHS:
        assert np.all(off > 0), "too fast, since kernels are taken to start from graphs"
    else:
        assert float(np.median(np.abs(off))) <= np.log(1.25), off


@pytest.mark.parametrize(("gpu", "factor"), [("A100 SXM 80GB", 1.2), ("H100 SXM", 1.7)])
def test_a_server_is_full_where_published_ones_are(gpu: str, factor: float) -> None:
    # The H100 of this source reads prompts at half the rate of others, in FP8 as in 16 bits.
    full = [row for row in load_curve_rows() if row.users == ALL_AT_ONCE and row.gpu == gpu]
    off = [simulated(row)[0] / row.output_tps for row in full]
    assert float(np.median(np.abs(np.log(off)))) <= np.log(factor), off


def test_the_end_of_nvidia_s_own_curve_is_met() -> None:
    """Two H100 with a 70B: full within a fifth, and the wait within three tenths all the way."""
    points = [row for row in load_curve_rows() if "nvidia.com" in row.source_url]
    answers = [simulated(row) for row in points]
    full, wait = (
        answers[-1][0] / points[-1].output_tps,
        [answer[1] / row.ttft_p50_s for answer, row in zip(answers, points, strict=True)],
    )
    assert 0.8 <= full <= 1.2
    assert np.all(np.abs(np.log(wait)) <= np.log(1.45)), wait
    assert float(np.median(np.abs(np.log(wait)))) <= np.log(1.25), wait


def test_two_engines_are_among_them() -> None:
    assert {row.runtime.split()[0] for row in load_curve_rows()} >= {"vLLM", "SGLang"}
    assert all(row.source_url.startswith("https://") for row in load_curve_rows())
