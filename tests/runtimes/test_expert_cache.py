"""A cache of experts in the GPU: bytes copied, memory taken, refusals, and whether it pays."""

import numpy as np
import pytest

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.loads import token_step
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.schedule import Flow, Route, Transfer
from advisor.cost_model.timing import flow_seconds
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, RUNTIMES
from advisor.runtimes.compare import compare
from advisor.runtimes.llama_cpp import passes
from advisor.units import GIB
from benchmarks.pairs import expert_cache

RESIDENT, OFFLOAD, PAGED = PlacementStrategy
WORK = Workload(prompt=512, output=1000, context=2048)
MODEL: Model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
WHERE = MachineSpec(gpu="RTX 3090", ram_gb=64.0, ram_gbs=50.0, pcie_gbs=20.0)
ALL = float(MODEL.layers)


def placed(cache: float, **more: float | str) -> Placement:
    options = {"gpu_layers": ALL, "cpu_moe": ALL, "expert_cache": cache, **more}
    return LLAMA_CPP.place(MODEL, machine(WHERE), WORK, OFFLOAD, Settings(**options))


def flows(cache: float, work: Workload = WORK, spec: MachineSpec = WHERE) -> list[Flow]:
    where = machine(spec)
    phases = LLAMA_CPP.schedule(MODEL, placed(cache), where, work)
    return [flow for stage in phases.decode.stages for flow in stage]


def streamed(cache: float, work: Workload = WORK, spec: MachineSpec = WHERE) -> float:
    return sum(
        float(flow.moved) for flow in flows(cache, work, spec) if flow.route is Route.STREAMED
    )


def test_experts_outside_the_cache_are_copied_and_no_other() -> None:
    half = placed(8 * GIB)
    use = MODEL.expert_use(WORK.variety)
    assert use is not None
    slots = 128 * 8 * GIB / float(np.sum(MODEL.bytes_per_layer[passes.Group.ROUTED_EXPERTS]))
    missed = 1.0 - float(use.served(slots, 1000))
    wanted = float(np.sum(MODEL.bytes_per_layer[passes.Group.ROUTED_EXPERTS])) * 8 / 128
    assert streamed(8 * GIB) == pytest.approx(wanted * missed, rel=1e-6)
    assert float(half.expert_cache) == 8 * GIB
    assert streamed(0) == 0


def test_the_processor_computes_no_expert_then() -> None:
    loads = [flow.load for flow in flows(4 * GIB) if flow.route is Route.IN_PLACE]
    assert all(load is None or float(load.experts) == 0 for load in loads)


def test_a_larger_cache_copies_less_and_users_share_it() -> None:
    assert streamed(8 * GIB) < streamed(4 * GIB) < streamed(2 * GIB)
    alone, four = (
        passes.served_by_cache(
            MODEL,
            placed(8 * GIB),
            token_step(Workload(users=users)),
            passes.CopyRules(experts=True, misses=True, length=np.inf),
        )
        for users in (1, 4)
    )
    assert four < alone


def test_large_steps_do_without_it() -> None:
    many = Workload(prompt=512, output=1000, context=2048, users=16, draft="mtp", drafted=3)
    assert streamed(8 * GIB, many) == pytest.approx(streamed(0, many))


def test_it_takes_memory_of_the_gpu() -> None:
    plain = placed(0)
    cached = placed(4 * GIB)
    more = cached.buffers[Location.vram(0)] - plain.buffers[Location.vram(0)]
    assert float(more) == pytest.approx(4 * GIB)
    assert cached.weights[Location.RAM].keys() == plain.weights[Location.RAM].keys()


def test_it_holds_no_more_than_all_experts() -> None:
    experts = float(np.sum(MODEL.bytes_per_layer[passes.Group.ROUTED_EXPERTS]))
    assert float(placed(100 * GIB).expert_cache) == pytest.approx(experts)


def test_left_open_layers_make_room_for_it() -> None:
    def in_ram(cache: float) -> float:
        settings = Settings(expert_cache=cache)
        spec = MachineSpec(gpu="RTX 3060", ram_gb=64.0)
        placement = LLAMA_CPP.place(MODEL, machine(spec), WORK, OFFLOAD, settings)
        return float(placement.cpu_moe)

    assert in_ram(2 * GIB) > in_ram(0)


@pytest.mark.parametrize(("name", "strategy"), [("Qwen3-4B", OFFLOAD), ("Qwen3-30B-A3B", PAGED)])
def test_it_is_refused_where_there_is_nothing_to_keep(
    name: str, strategy: PlacementStrategy
) -> None:
    model = catalog.model(name, "Q4_K_M")
    with pytest.raises(Refusal, match="leave it out"):
        LLAMA_CPP.place(model, machine(WHERE), WORK, strategy, Settings(expert_cache=GIB))


def test_a_model_in_the_gpu_ignores_it() -> None:
    settings = Settings(expert_cache=GIB)
    placement = LLAMA_CPP.place(MODEL, machine(WHERE), WORK, RESIDENT, settings)
    assert not np.any(placement.expert_cache)


def test_other_runtimes_say_that_they_have_none() -> None:
    other = next(each for each in RUNTIMES if each.name == "ik_llama.cpp")
    outcomes = compare(
        MODEL, machine(WHERE), WORK, settings=Settings(expert_cache=GIB), runtimes=(other,)
    )
    assert any("no cache of experts" in outcome.format_note for outcome in outcomes)


def test_vulkan_copies_a_mapped_file_twice() -> None:
    """A core copies at 6.8 GB/s, and the link, at 31.5 GB/s, waits for it."""
    spec = MachineSpec(gpu="Radeon PRO V620", backend="vulkan", ram_gb=64.0)
    (copy,) = [flow for flow in flows(4 * GIB, spec=spec) if flow.route is Route.STREAMED]
    assert copy.transfer is Transfer.PAGEABLE
    where = machine(spec)
    table = Constants.fitted()
    seconds = {
        backend: float(
            flow_seconds(
                copy, where, table.bound(Scope(runtime="llama.cpp", backend=backend))
            ).total
        )
        for backend in ("vulkan", "cuda")
    }
    by_core = float(copy.moved) / 6.8e9
    assert seconds["cuda"] < by_core < seconds["vulkan"] < 2.0 * by_core


def test_whether_it_pays_is_right_for_every_published_pair() -> None:
    wrong = [pair.id for pair in expert_cache() if not pair.right]
    assert not wrong
