"""Published runs of frameworks: the fit, and its predictions for groups left out."""

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

import numpy as np
import pytest

from advisor.catalog.constants import constant_rows
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Margins
from advisor.cost_model.workload import Workload
from advisor.evidence.published.engines import engine
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import DEEPSPEED
from advisor.runtimes.deepspeed import passing_bytes
from advisor.runtimes.weight_streaming import prompt_workspace
from lab.__main__ import TABLE
from lab.fit import FRAMEWORKS, limited, parameters
from lab.frameworks import (
    BATCHED,
    EXPERTS,
    RESIDENT,
    SOURCE,
    STAGED,
    STREAMED,
    held_out,
    margins,
    papers,
    regime,
)


class Judged(NamedTuple):
    """A run: its kind, source, GPU, predicted over measured without its group, half width."""

    regime: str
    source: str
    gpu: str
    ratio: float
    margins: Margins


@pytest.fixture(scope="module")
def runs() -> tuple[Judged, ...]:
    return tuple(
        Judged(regime(run), run.row.source_url, run.row.gpu, run.seconds / seconds, margins(run))
        for run, seconds in zip(papers(), held_out().predicted.tolist(), strict=True)
    )


def off(runs: Iterable[Judged]) -> float:
    return median(abs(run.ratio - 1) for run in runs)


def covered(runs: Iterable[Judged]) -> float:
    inside = [-each.margins.above <= np.log(each.ratio) <= each.margins.below for each in runs]
    return float(np.mean(inside))


@pytest.mark.parametrize("kind", [STREAMED, STAGED])
def test_papers_are_met_without_their_group(runs: tuple[Judged, ...], kind: str) -> None:
    # The target of the project: 15 % at the median.
    assert off(run for run in runs if run.regime == kind) < 0.15


NEARLY = "15.05 and 15.9 % since fits without a publisher end ten times later; 15 % is not met"


@pytest.mark.parametrize(
    ("source", "gpu"),
    [
        pytest.param("2303.06865", "T4", marks=pytest.mark.xfail(strict=True, reason=NEARLY)),
        pytest.param(
            "zero_inference/README", "A6000", marks=pytest.mark.xfail(strict=True, reason=NEARLY)
        ),
        ("deepnvme", ""),
        ("big_model_inference", "Titan RTX"),
    ],
)
def test_papers_by_name_are_met_from_their_own_rows_or_others(
    runs: tuple[Judged, ...], source: str, gpu: str
) -> None:
    mine = [
        run
        for run in runs
        if source in run.source and gpu in run.gpu and run.regime in (STREAMED, STAGED)
    ]
    assert len(mine) >= 3
    assert off(mine) < 0.15


def test_ranges_hold_four_of_five(runs: tuple[Judged, ...]) -> None:
    assert 0.74 <= covered(runs) <= 0.88
    for kind in (STREAMED, STAGED, BATCHED, RESIDENT, EXPERTS):
        mine = [run for run in runs if run.regime == kind]
        assert 0.65 <= covered(mine) <= 0.95, kind


def test_shares_of_all_there_is_stay_below_it() -> None:
    share = parameters(FRAMEWORKS)["link_share"]
    values = np.array([0.1, 0.5, 0.8, 1.0, 1.5, 10.0])
    floats = limited(values, share)
    assert np.all(np.diff(floats) > 0)
    assert np.all(floats < 1.0)
    assert floats[:2] == pytest.approx(values[:2], rel=1e-3), "far below, it is itself"
    free = parameters(FRAMEWORKS)["gpu_layer"]
    assert limited(values, free) == pytest.approx(values)


def test_no_fitted_share_of_a_link_or_a_drive_exceeds_it() -> None:
    rows = [
        row
        for row in constant_rows(TABLE)
        if row.constant in ("link_share", "disk_share") and row.source == SOURCE
    ]
    assert len(rows) > 5
    assert max(row.value for row in rows) < 1.0


def test_modules_pass_one_by_one_unless_several_gpus_need_their_experts() -> None:
    # Mixtral-8x7B: 32 layers of 2.9 GB. One GPU keeps 1e9 weights and the largest, 0.06e9 x 2 B.
    model = catalog.model("Mixtral-8x7B", "BF16")
    alone, shared = (passing_bytes(model, gpus) for gpus in (1, 2))
    assert 2.0e9 < alone < 2.4e9
    assert shared == pytest.approx(2 * float(np.max(model.layer_bytes)))
    small = catalog.model("Llama-3.1-8B", "BF16")
    assert passing_bytes(small, 2) == pytest.approx(2 * float(np.max(small.layer_bytes)))


def test_scores_of_a_prompt_are_of_the_heads_that_a_model_has() -> None:
    # 16 bits each: 13 values for each of 7,168 hidden units, and 128 heads' scores of every pair
    deepseek = catalog.model("DeepSeek-V3", "BF16")
    needed = 2 * 13 * 7168 * 1000 + 2 * 128 * 1000**2
    assert float(prompt_workspace(deepseek, Workload(prompt=1000))) == needed


def test_zero_pays_for_its_hooks_beside_the_copies() -> None:
    model = catalog.model("Llama-3.1-8B", "BF16")
    where = machine(MachineSpec(gpu="RTX 4090", ram_gb=128))
    work = Workload(users=8)
    placement = DEEPSPEED.place(model, where, work, PlacementStrategy.CPU_OFFLOAD, Settings())
    first, *others = DEEPSPEED.schedule(model, placement, where, work).decode.stages
    beside = next(flow.load for flow in first if flow.route is Route.RESIDENT)
    after = next(flow.load for flow in others[0])
    assert beside is not None
    assert after is not None
    assert (float(beside.layers), float(after.layers)) == (0.0, 32.0)
    assert float(after.weights) == 0.0


def test_vllm_copied_without_overlap_before_it_read_over_the_link() -> None:
    old = engine("vLLM --cpu-offload-gb (v0 functional_call)", "stream_cpu")
    new = engine("vLLM UVA --cpu-offload-gb 47", "stream_cpu")
    assert old is not None
    assert new is not None
    assert old.key == new.key == "vllm"
    model = catalog.model("Llama-3.1-70B", "BF16")
    where = machine(MachineSpec(gpu="H100 SXM", ram_gb=256))
    chosen = Settings(gpu_layers=40.0, zero_copy=False)
    counts = []
    for how in (old, new):
        placement = how.place(model, where, Workload(), PlacementStrategy.CPU_OFFLOAD, chosen)
        stages = how.schedule(model, placement, where, Workload()).decode.stages
        counts.append([len(stage) for stage in stages])
    assert counts == [[1, 1], [2]], "one after the other, then side by side"
