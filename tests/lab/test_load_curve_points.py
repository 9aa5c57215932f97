"""Published load curves beside the simulation, as the ledger scores them; nothing is fitted."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.advice.arrivals.server import TAKING_IN
from advisor.evidence.accuracy.regimes import REGIMES
from advisor.model import catalog
from lab.engines import LoadCurveRow, load_curve_rows
from lab.points.engine import (
    KERNEL_STARTS,
    SCORED,
    load_points,
    slowdown,
    step_without_graphs,
    under_load,
)

ALL_AT_ONCE = 1000
"""Users that fill a server; fewer are points of a curve below saturation."""
ROWS = {row.id: row for row in load_curve_rows() if row.use == SCORED}


def curve(row: LoadCurveRow) -> tuple[str, ...]:
    return row.source_url, row.runtime, row.gpu, row.quant


BELOW = [row for row in ROWS.values() if row.users != ALL_AT_ONCE]
CURVES = tuple(dict.fromkeys(map(curve, BELOW)))


@pytest.fixture(scope="module")
def off() -> dict[str, float]:
    """Logarithm of predicted over published, by row."""
    return {point.id: float(np.log1p(point.error)) for point in load_points()}


@pytest.mark.parametrize("name", CURVES, ids=lambda name: " ".join(name[1:]))
def test_a_published_curve_is_met_within_a_quarter(
    name: tuple[str, ...], off: dict[str, float]
) -> None:
    errors = np.abs([off[row.id] for row in BELOW if curve(row) == name])
    assert float(np.median(errors)) <= np.log(1.25), errors


def test_curves_of_each_engine_are_met_at_nine_points_of_ten(off: dict[str, float]) -> None:
    for engine in ("vLLM", "SGLang", "TensorRT-LLM"):
        errors = np.abs([off[row.id] for row in BELOW if row.runtime.startswith(engine)])
        assert float(np.quantile(errors, 0.9)) <= np.log(1.25), engine


def test_servers_are_full_where_published_ones_are(off: dict[str, float]) -> None:
    # A thousand requests at once in three engines; the card's own rate of prompts is known from
    # another test of the source.
    errors = np.abs([off[row.id] for row in ROWS.values() if row.users == ALL_AT_ONCE])
    assert len(errors) == 12
    assert float(np.median(errors)) <= np.log(1.2), errors


def test_the_slow_card_is_told_by_its_long_prompts() -> None:
    # 500 prompts of 3,996 tokens and replies of 200 in 227.57 s; two FLOPs of 14.8e9 weights for
    # each of 2.1 million tokens are 273 TFLOP/s, of 989 that an H100 has.
    source = "https://github.com/gpustack/gpustack"
    assert pytest.approx(273e12, rel=0.01) == 2 * 14.8e9 * 500 * (3996 + 200) / 227.57
    assert slowdown(source, "H100 SXM") > 1.5 * 0.9 > slowdown(source, "A100 SXM 80GB") > 1.0
    assert slowdown("https://ai.wmx.dev/benchmarks", "L4") == 1.0


def test_the_end_of_nvidia_s_own_curve_is_met(off: dict[str, float]) -> None:
    """Two H100 with a 70B: full within a fifth, and the wait within three tenths all the way."""
    rows = [row for row in ROWS.values() if "nvidia.com" in row.source_url]
    wait = [under_load(row).first_p50 / row.ttft_p50_s for row in rows if row.ttft_p50_s]
    assert 0.8 <= np.exp(off[rows[-1].id]) <= 1.2
    assert np.all(np.abs(np.log(wait)) <= np.log(1.45)), wait
    assert float(np.median(np.abs(np.log(wait)))) <= np.log(1.25), wait


def test_first_tokens_of_single_users_are_met() -> None:
    rows = [row for row in ROWS.values() if row.users == 1 and row.ttft_p50_s]
    wait = [under_load(row).first_p50 / row.ttft_p50_s for row in rows if row.ttft_p50_s]
    assert len(wait) == 6
    assert float(np.median(np.abs(np.log(wait)))) <= np.log(1.35), wait


def test_a_step_without_graphs_takes_what_python_needs() -> None:
    # Qwen2.5-7B has 28 layers: 28 x 0.57 ms = 15.96 ms; published are 16.2 ms with one user on an
    # A100, where the GPU would need 12.4 ms.
    assert step_without_graphs(catalog.model("Qwen2.5-7B", "BF16-hf")) == pytest.approx(15.96e-3)
    assert pytest.approx((0.404e-3 * 0.80e-3) ** 0.5, rel=0.01) == KERNEL_STARTS
    alone = ROWS["load-17"]
    assert not alone.cuda_graphs
    assert under_load(alone).token_p50 == pytest.approx(28 * KERNEL_STARTS, rel=1e-6)
    assert under_load(replace(alone, cuda_graphs=True)).token_p50 < 14e-3


def test_taking_in_is_the_mean_of_three_hosts() -> None:
    # (16.46 - 3.78) (11.24 - 3.66) (22.5 - 10.22) = 12.68 x 7.58 x 12.28 = 1180.3; cube root 10.57.
    assert pytest.approx((12.68e-3 * 7.58e-3 * 12.28e-3) ** (1 / 3), rel=0.01) == TAKING_IN


def test_rows_are_of_three_engines_and_have_a_regime() -> None:
    assert {row.runtime.split()[0] for row in ROWS.values()} >= {"vLLM", "SGLang", "TensorRT-LLM"}
    assert all(row.source_url.startswith("https://") for row in load_curve_rows())
    assert {point.regime for point in load_points()} == {"server under load"}
    assert "server under load" in {regime.name for regime in REGIMES}
