"""Weights as their maker publishes them, and smaller ones where those do not fit."""

import pytest

from advisor.advice.table.stack import Stack
from advisor.advice.table.timed_machines import TimedStack
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.runtimes import VLLM
from advisor.runtimes.compare import as_chosen, compare

DEEPSEEK = resolve.find("DeepSeek-V3").model
RESIDENT = PlacementStrategy.GPU_RESIDENT


def gpus(name: str, count: int = 8) -> Machine:
    return machine(MachineSpec(gpu=name, gpu_count=count))


@pytest.mark.parametrize(
    # 671 billion weights in FP8 are more than 8 x 80 GB, less than 8 x 141 GB
    ("name", "form", "reason"),
    [("H100", "AWQ", "own weights, FP8, do not fit"), ("H200", "FP8", "own weights, FP8.")],
)
def test_an_engine_takes_four_bits_where_the_makers_eight_do_not_fit(name, form, reason) -> None:
    estimates = compare(DEEPSEEK, gpus(name), Workload(), runtimes=(VLLM,))
    (resident,) = [each for each in estimates if each.strategy is RESIDENT]
    assert bool(resident.fits)
    assert resident.model.format == form
    assert reason in resident.format_note


def test_a_fleet_takes_the_same_weights_as_a_comparison() -> None:
    machines = [gpus("H100"), gpus("H200"), gpus("RTX 4090", 2)]
    timed = TimedStack(Stack(machines), DEEPSEEK, Workload(), (VLLM,))
    for each, speed in zip(machines, timed.fastest(strategies=(RESIDENT,)), strict=True):
        (alone,) = [
            estimate
            for estimate in compare(DEEPSEEK, each, Workload(), runtimes=(VLLM,))
            if estimate.strategy is RESIDENT
        ]
        assert (speed is not None) == bool(alone.fits)
        if speed is not None and alone.decode is not None:
            assert speed.format == alone.model.format
            assert speed.decode == pytest.approx(float(alone.decode.value), rel=1e-12)


def test_a_chosen_format_is_kept_and_the_makers_smaller_one_too() -> None:
    assert as_chosen(resolve.find("DeepSeek-V3", "FP8").model) is None
    # gpt-oss comes in four bits, which are no larger than a file of llama.cpp's
    assert as_chosen(resolve.find("gpt-oss-120b").model) is None
