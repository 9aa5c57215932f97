"""Users together: every point is a single estimate; ends are where it stops to fit or suffice."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from advisor.advice.curves import Together, together
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, RUNTIMES, VLLM
from advisor.runtimes.compare import compare, decode_tps
from advisor.units import GIB


@cache
def estimates(
    model: str, gpu: str = "RTX 3090", ram: float = 64, context: int = 8192, gpus: int = 1
) -> tuple[Estimate, ...]:
    here = machine(MachineSpec(gpu=gpu, gpu_count=gpus, ram_gb=ram))
    return compare(catalog.model(model, "Q4_K_M"), here, Workload(context=context))


def one_of(name: str, strategy: PlacementStrategy, *args: object, **fields: object) -> Estimate:
    answers = [
        estimate
        for estimate in estimates(*args, **fields)  # type: ignore[arg-type]
        if estimate.runtime.name == name and estimate.strategy is strategy
    ]
    return answers[0]


def grown(estimate: Estimate, target: float = 5.0) -> Together:
    growth = together(estimate, target)
    assert growth is not None
    return growth


RESIDENT = [
    estimate
    for estimate in estimates("Llama-3-8B", "RTX 4090")
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT and bool(estimate.fits)
]


@pytest.mark.parametrize("estimate", RESIDENT, ids=lambda estimate: estimate.runtime.name)
def test_in_the_gpu_more_users_get_more_together_and_less_each(estimate: Estimate) -> None:
    growth = grown(estimate)
    assert np.all(np.diff(growth.total) > 0)
    assert np.all(np.diff(growth.each) < 0)
    assert growth.gain > 1
    assert growth.gain <= growth.users[-1]


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_a_point_is_the_speed_with_its_number_of_users(runtime) -> None:
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    model = catalog.model("Llama-3-8B", "Q4_K_M")
    first = next(
        (
            estimate
            for estimate in estimates("Llama-3-8B")
            if estimate.runtime is runtime and bool(estimate.fits)
        ),
        None,
    )
    if first is None:
        pytest.skip("it does not run this model on this machine")
    growth = grown(first)
    (three,) = [
        estimate
        for estimate in compare(model, here, Workload(users=3), runtimes=(runtime,))
        if estimate.strategy is first.strategy
    ]
    assert growth.each[list(growth.users).index(3)] == pytest.approx(decode_tps(three))


def test_memory_ends_at_the_last_number_that_fits() -> None:
    estimate = one_of("llama.cpp", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B")
    growth = grown(estimate)
    assert growth.memory_ends is not None
    assert bool(estimate.again(work=replace(estimate.work, users=growth.memory_ends)).fits)
    assert not bool(estimate.again(work=replace(estimate.work, users=growth.memory_ends + 1)).fits)


def test_the_cache_of_a_user_by_hand() -> None:
    # Llama 3 8B: 32 layers x 2 x 8 heads x 128 values x 2 bytes = 128 KiB a token; 8192 of them
    growth = grown(one_of("llama.cpp", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B"))
    assert growth.kv_bytes == pytest.approx(1.0 * GIB)


def test_memory_ends_where_caches_fill_the_room_beside_the_weights() -> None:
    # 24 GiB, 4.6 GiB of weights, a GiB of cache each, a GiB or less of buffers: 18 or 19 users
    growth = grown(one_of("llama.cpp", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B"))
    assert growth.memory_ends in (17, 18, 19)


def test_the_last_user_is_the_last_above_the_requested_speed() -> None:
    estimate = one_of("vLLM", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B")
    half = float(grown(estimate).each[0]) * 0.9
    growth = grown(estimate, half)
    assert growth.target_ends is not None
    assert growth.target_ends >= 1
    speeds = [
        decode_tps(estimate.again(work=replace(estimate.work, users=growth.target_ends + extra)))
        for extra in (0, 1)
    ]
    assert speeds[0] >= half > speeds[1]


def test_speed_is_no_limit_where_all_who_fit_have_it() -> None:
    assert (
        grown(one_of("vLLM", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B"), 0.1).target_ends is None
    )


def test_not_even_one_user_has_a_speed_beyond_the_machine() -> None:
    assert (
        grown(one_of("vLLM", PlacementStrategy.GPU_RESIDENT, "Llama-3-8B"), 1000).target_ends == 0
    )


def test_nothing_where_not_one_user_fits() -> None:
    none = one_of("llama.cpp", PlacementStrategy.GPU_RESIDENT, "Llama-3.1-70B")
    assert together(none, 5.0) is None


def test_streaming_gains_nearly_in_proportion_to_users_while_all_weights_cross_the_link() -> None:
    # all of the 8B model in RAM: each step carries the same bytes, whoever they serve
    growth = grown(one_of("vLLM", PlacementStrategy.CPU_OFFLOAD, "Llama-3-8B"))
    four = list(growth.users).index(4)
    assert growth.total[four] / growth.total[0] == pytest.approx(4, rel=0.02)


def test_layers_that_a_person_fixed_stay_fixed() -> None:
    estimate = one_of("llama.cpp", PlacementStrategy.CPU_OFFLOAD, "Llama-3.1-70B")
    answer = estimate.again(settings=Settings(gpu_layers=10))
    assert answer.placement is not None
    assert int(answer.placement.gpu_layers) == 10


def test_tensor_parallel_serves_faster_and_a_layer_split_holds_more() -> None:
    alone = {
        name: grown(one_of(name, PlacementStrategy.GPU_RESIDENT, "Llama-3-8B"))
        for name in (VLLM.name, LLAMA_CPP.name)
    }
    pair = {
        name: grown(one_of(name, PlacementStrategy.GPU_RESIDENT, "Llama-3-8B", gpus=2))
        for name in (VLLM.name, LLAMA_CPP.name)
    }
    for name, growth in pair.items():
        assert growth.memory_ends is not None
        assert alone[name].memory_ends is not None
        assert growth.memory_ends > 2 * alone[name].memory_ends
    assert pair["vLLM"].each[0] > 1.2 * alone["vLLM"].each[0]
    assert pair["llama.cpp"].each[0] <= alone["llama.cpp"].each[0]


def test_cards_of_two_kinds_stand_between_pairs_of_either() -> None:
    pairs = ("2x RTX 3090", "RTX 3090 + RTX 4090", "2x RTX 4090")
    slow, mixed, quick = (
        decode_tps(one_of("llama.cpp", PlacementStrategy.GPU_RESIDENT, "Llama-3.1-70B", pair))
        for pair in pairs
    )
    assert slow < mixed < quick


def test_with_tensor_parallel_the_slower_card_sets_the_pace() -> None:
    slow, mixed = (
        decode_tps(one_of("vLLM", PlacementStrategy.GPU_RESIDENT, "Llama-3.1-70B", pair))
        for pair in ("2x RTX 3090", "RTX 3090 + RTX 4090")
    )
    assert mixed == pytest.approx(slow)


@pytest.mark.parametrize("gpus", range(1, 9))
def test_every_number_of_cards_has_its_commands(gpus: int) -> None:
    for estimate in estimates("Llama-3.1-70B", gpus=gpus):
        assert bool(estimate.command) == (not estimate.refusal)
