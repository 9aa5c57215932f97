"""Engines that fetch experts on demand: bytes on each route, by hand."""

from functools import partial

import numpy as np
import pytest

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Flow, Route, Schedule
from advisor.cost_model.timing import schedule_seconds
from advisor.cost_model.workload import Workload
from advisor.evidence.published.engines import engine
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.runtimes import expert_offloading
from advisor.runtimes.expert_offloading import EXPERT_STREAMING
from advisor.units import GB, GIB

WORK = Workload(prompt=64, output=64, context=128)


@pytest.fixture(scope="module")
def model() -> Model:
    return catalog.model("Qwen3-235B-A22B", "Q4_K_M")


def rig(gpu: str = "none", ram_gb: float = 64) -> Machine:
    return machine(MachineSpec(gpu=gpu, cpu="Ryzen 9 9950X", ram_gb=ram_gb, disk_gbs=5.0))


def decode(model: Model, where: Machine, strategy: PlacementStrategy, **ways: bool) -> Schedule:
    placement = EXPERT_STREAMING.place(model, where, WORK, strategy, Settings())
    how = partial(expert_offloading.schedule, **ways)
    return how(model, placement, where, WORK).decode


def flows(schedule: Schedule) -> dict[Route, Flow]:
    return {flow.route: flow for stage in schedule.stages for flow in stage}


def experts(model: Model) -> tuple[float, float]:
    """Routed experts held, and used for a token: 8 of 128 [B]."""
    held = float(np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS]))
    return held, held * 8 / 128


def test_without_a_gpu_the_cores_read_all_and_the_drive_the_rest(model: Model) -> None:
    held, used = experts(model)
    record = flows(decode(model, rig(), PlacementStrategy.NVME_OFFLOAD, by_cores=True))
    assert set(record) == {Route.IN_PLACE, Route.STAGED}
    spare = 60 * GIB - (model.file_bytes - held)
    use = model.expert_use()
    assert use is not None
    missed = used * (1 - float(use.served(128 * spare / held, by_layer=True)))
    assert record[Route.STAGED].moved == pytest.approx(missed, rel=1e-3)
    assert record[Route.STAGED].transfer is None
    load = record[Route.IN_PLACE].load
    assert load is not None
    assert load.experts == pytest.approx(used, rel=1e-3)


def test_cores_compute_experts_outside_the_gpu(model: Model) -> None:
    _, used = experts(model)
    record = flows(decode(model, rig("RTX 5090"), PlacementStrategy.NVME_OFFLOAD, by_cores=True))
    on_gpu = record[Route.RESIDENT].load
    on_cores = record[Route.IN_PLACE].load
    assert on_gpu is not None
    assert on_cores is not None
    assert on_gpu.experts + on_cores.experts == pytest.approx(used, rel=1e-3)
    assert on_cores.weights == pytest.approx(on_cores.experts), "dense parts stay on the GPU"
    assert on_cores.experts < on_gpu.experts < used  # a fifth of the experts serves most lookups
    assert Route.STREAMED not in record


def test_other_engines_copy_experts_in_ram_over_the_link(model: Model) -> None:
    _, used = experts(model)
    record = flows(decode(model, rig("RTX 5090"), PlacementStrategy.NVME_OFFLOAD))
    load = record[Route.RESIDENT].load
    assert load is not None
    assert load.experts == pytest.approx(used, rel=1e-3), "the GPU computes all of them"
    crossing = record[Route.STREAMED].moved + record[Route.STAGED].moved
    assert 0.1 * used < crossing < used
    assert record[Route.STAGED].transfer is not None


def test_ram_that_holds_all_leaves_the_drive_alone(model: Model) -> None:
    record = flows(decode(model, rig("RTX 5090", 1024), PlacementStrategy.NVME_OFFLOAD))
    assert record[Route.STAGED].moved == pytest.approx(0.0, abs=1.0)
    assert record[Route.STREAMED].moved > 0


def test_more_ram_is_never_slower(model: Model) -> None:
    how = engine("colibri", "nvme")
    assert how is not None
    speeds = [
        float(
            np.ravel(
                estimate(
                    model,
                    rig(ram_gb=size),
                    WORK,
                    how,
                    PlacementStrategy.NVME_OFFLOAD,
                    Constants.fitted(),
                    Settings(),
                ).decode.value  # type: ignore[union-attr]
            )[0]
        )
        for size in (32, 64, 128, 256)
    ]
    assert speeds == sorted(speeds)
    assert speeds[-1] > speeds[0]


def test_cores_read_at_their_own_rate_or_at_that_of_ram(model: Model) -> None:
    # 16 cores at the engine's rate each, and never more than the RAM gives.
    constants = Constants.fitted().bound(Scope(runtime="colibri"))
    where = rig(ram_gb=1024)
    time = schedule_seconds(decode(model, where, PlacementStrategy.NVME_OFFLOAD), where, constants)
    load = flows(decode(model, where, PlacementStrategy.NVME_OFFLOAD))[Route.IN_PLACE].load
    assert load is not None
    rate = min(16 * constants.value("engine_core_rate"), float(where.host.bandwidth.value))
    attention = load.kv / (where.host.bandwidth.value * constants.value("host_attention_share"))
    assert time.parts[Route.IN_PLACE] == pytest.approx(load.weights / rate + attention)
    assert 5 * GB < rate < 100 * GB
