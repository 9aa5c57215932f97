"""How predictions like one fared: data/generated/coverage.csv, and the regime that an estimate is
of."""

import pytest

from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import read
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.evidence.accuracy.regimes import (
    ALL,
    COVERAGE,
    REGIMES,
    CoverageRow,
    coverage,
    coverage_like,
)
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import DEEPSPEED, LLAMA_CPP, VLLM

RAM = PlacementStrategy.CPU_OFFLOAD
NVME = PlacementStrategy.NVME_OFFLOAD
GPU = PlacementStrategy.GPU_RESIDENT


def regime(
    strategy: PlacementStrategy,
    *,
    model: str = "Llama-3.1-8B",
    form: str = "Q4_K_M",
    runtime: Runtime = LLAMA_CPP,
    gpu: str = "RTX 3090",
    ram_gbs: float | None = None,
    settings: Settings | None = None,
    **work: int,
) -> str | None:
    """Name of the regime whose record stands for an estimate; None where there is none."""
    request = Workload(**{"prompt": 512, "output": 256, **work})
    here = machine(MachineSpec(gpu=gpu, ram_gb=512, ram_gbs=ram_gbs))
    row = coverage_like(
        estimate(
            catalog.model(model, form),
            here,
            request,
            runtime,
            strategy,
            Constants.fitted(),
            settings,
        )
    )
    return row and row.regime


def test_every_line_is_of_a_regime_once_and_adds_up() -> None:
    rows = read(COVERAGE, CoverageRow)
    names = [row.regime for row in rows]
    assert set(names) <= {*(regime.name for regime in REGIMES), ALL}
    assert len(set(names)) == len(names)
    assert all(0 <= row.held <= row.rows and row.groups <= row.rows for row in rows)
    every = coverage()[ALL]
    assert sum(row.rows for row in rows if row.regime != ALL) == every.rows
    assert sum(row.held for row in rows if row.regime != ALL) == every.held


def test_an_estimate_of_llama_cpp_is_judged_by_runs_that_lie_like_it() -> None:
    assert regime(GPU) == "resident, dense"
    assert regime(GPU, prompt=6000, context=8192) == "resident, deep context"
    assert regime(GPU, model="Qwen3-30B-A3B", gpu="RTX 5090") == "resident, experts"
    assert regime(RAM, model="Qwen3-235B-A22B") == "experts in RAM"
    assert regime(RAM, gpu="none") == "CPU alone"
    assert regime(RAM, gpu="none", ram_gbs=60) == "CPU alone, RAM stated"
    half = Settings(gpu_layers=16)
    assert regime(RAM, settings=half) == "dense split"
    assert regime(RAM, settings=half, ram_gbs=60) == "dense split, RAM from its slowest row"


def test_an_estimate_of_a_framework_is_judged_by_runs_that_stream() -> None:
    assert regime(RAM, runtime=DEEPSPEED, form="BF16") == "streamed from RAM"
    assert regime(NVME, runtime=DEEPSPEED, form="BF16") == "read from a drive"
    assert regime(GPU, runtime=VLLM, form="BF16") == "resident, other engines"
    assert regime(GPU, runtime=VLLM, form="BF16", users=4) == "batched"


def test_several_users_are_judged_by_runs_of_several_users() -> None:
    assert regime(GPU, users=8) == "several users, resident"


def test_refused_reports_have_no_record() -> None:
    refused = estimate(
        catalog.model("Llama-3.1-8B", "Q4_K_M"),
        machine(MachineSpec(gpu="none", ram_gb=64)),
        Workload(),
        VLLM,
        GPU,
        Constants.fitted(),
    )
    assert refused.refusal
    assert coverage_like(refused) is None


@pytest.mark.parametrize("name", ["resident, dense", "experts in RAM", "streamed from RAM"])
def test_common_kinds_rest_on_several_groups(name: str) -> None:
    assert coverage()[name].groups >= 8
