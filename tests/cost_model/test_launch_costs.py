"""Boards whose slow cores start the GPU's kernels late."""

import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.additions import launch_cost
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP


@pytest.mark.parametrize(
    ("spec", "slow"),
    [
        ({"gpu": "Jetson AGX Orin 64GB"}, True),
        ({"gpu": "RX 9070 XT", "cpu": "Raspberry Pi 5", "ram_gb": 16}, True),
        ({"gpu": "RX 9070 XT", "ram_gb": 16}, False),
        ({"gpu": "GB10"}, False),
        ({"cpu": "Raspberry Pi 5", "ram_gb": 16}, False),
    ],
)
def test_machines_with_slow_launches(spec: dict[str, object], slow: bool) -> None:
    assert (launch_cost(machine(MachineSpec(**spec))) > 0) == slow  # type: ignore[arg-type]


def test_each_layer_on_the_gpu_costs_its_launch() -> None:
    model = catalog.model("Llama-3.2-3B", "Q4_K_M")
    totals = []
    for cpu in ("Raspberry Pi 5", ""):
        where = machine(MachineSpec(gpu="RX 9070 XT", cpu=cpu or None, ram_gb=16))
        seen = estimate(
            model, where, Workload(), LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, Constants.fitted()
        )
        assert seen.step is not None
        totals.append((float(seen.step.total), launch_cost(where)))
    assert totals[0][0] - totals[1][0] >= 0.99 * 28 * totals[0][1]
