"""In place against streamed: where the lines cross, worked by hand and in the model."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from advisor.advice.curves import Crossover, RuntimeCurve, by_prompt, by_users, crossing, sides
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.runtimes.compare import compare
from advisor.units import GB, Quantity

USERS = np.array([1.0, 4.0, 16.0, 64.0])


@cache
def estimates(
    link: float = 25, cores: int = 8, context: int = 512, layers: float | None = None
) -> tuple[Estimate, ...]:
    """Llama 3.1 70B on an RTX 3090 with so fast a link [GB/s] and so many cores."""
    here = machine(
        MachineSpec(
            gpu="RTX 3090",
            ram_gb=128,
            ram_gbs=70,
            cores=cores,
            pcie_gbs=link,
            cpu="Desktop DDR5 dual-channel (typical)",
        )
    )
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    work = Workload(context=context, prompt=128, output=64)
    split = Settings(gpu_layers=layers)
    return compare(model, here, work, settings=split, runtimes=(LLAMA_CPP, VLLM))


def test_lines_of_a_made_up_machine_cross_where_its_arithmetic_says() -> None:
    # 40 GB over a link of 20 GB/s: 2 s a step, n / 2 tokens/s for n users.
    # A processor that computes 4 tokens/s at most, and reads for 1 user at 2 tokens/s:
    streamed = USERS / 2
    in_place = np.minimum(2 * USERS, 4.0)
    assert streamed.tolist() == [0.5, 2, 8, 32]
    assert in_place.tolist() == [2, 4, 4, 4]
    # n / 2 = 4 at 8 users, halfway between 4 and 16 by their logarithms
    assert crossing(USERS, in_place, streamed) == pytest.approx(8)


def test_lines_that_are_no_powers_cross_between_the_right_points() -> None:
    number = crossing(USERS, np.array([3.0, 5, 6, 6]), np.array([1.0, 3, 7, 9]))
    assert number is not None
    assert 4 < number < 16


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ([2.0, 2, 2, 2], 1.0),
        ([0.5, 0.5, 0.5, 0.5], None),
        ([2.0, 2, 0.5, 0.5], None),
        ([0.5, 0.5, 0.5, np.nan], None),
        ([np.nan] * 4, None),
    ],
    ids=["ahead from the start", "behind", "ahead at first only", "ends behind", "never there"],
)
def test_ahead_means_for_good_and_where_both_are(second, expected) -> None:
    assert crossing(USERS, np.ones(4), np.array(second)) == expected


def test_the_last_time_a_line_gets_ahead_counts() -> None:
    second = np.array([2.0, 0.5, 0.5, 2.0])
    assert crossing(USERS, np.ones(4), second) == pytest.approx(32)  # 16 and 64, halfway


def test_runtimes_stand_on_the_side_of_how_they_read_for_one_user() -> None:
    in_place, streamed = sides(estimates())
    assert [estimate.runtime.name for estimate in in_place] == ["llama.cpp"]
    assert [estimate.runtime.name for estimate in streamed] == ["vLLM"]


def speeds(crossover: Crossover | None) -> Crossover:
    assert crossover is not None
    return crossover


def test_a_faster_link_lets_streaming_overtake_sooner() -> None:
    slow, fast = (speeds(by_users(estimates(link=link))).overtakes for link in (12, 50))
    assert fast is not None
    assert slow is None or fast < slow


def test_more_cores_let_the_processor_keep_up_longer() -> None:
    few, many = (speeds(by_users(estimates(cores=cores))).overtakes for cores in (4, 32))
    assert few is not None
    assert many is None or few < many


def test_streamed_weights_serve_more_users_in_the_same_time() -> None:
    crossover = speeds(by_users(estimates()))
    assert crossover.streamed.speed[1] > 1.7 * crossover.streamed.speed[0]


def test_a_longer_prompt_is_streamed_faster_until_the_gpu_has_enough_to_do() -> None:
    crossover = speeds(by_prompt(estimates(context=4096)))
    assert crossover.at.tolist()[-1] == 4096
    assert crossover.streamed.speed[1] == pytest.approx(2 * crossover.streamed.speed[0], rel=0.05)
    assert crossover.streamed.speed[-1] < 2 * crossover.streamed.speed[-2]


def test_a_prompt_point_is_a_single_estimate() -> None:
    crossover = speeds(by_prompt(estimates()))
    here = next(answer for answer in estimates() if answer.machine is not None).machine
    assert here is not None
    estimate = next(
        answer
        for answer in compare(
            catalog.model("Llama-3.1-70B", "Q4_K_M"),
            here,
            Workload(context=512, prompt=64, output=64),
            runtimes=(VLLM,),
        )
        if answer.strategy is PlacementStrategy.CPU_OFFLOAD
    )
    assert estimate.prefill is not None
    assert crossover.streamed.speed[list(crossover.at).index(64)] == pytest.approx(
        float(estimate.prefill.value)
    )


def test_users_beyond_memory_have_no_number() -> None:
    crossover = speeds(by_users(estimates(context=8192)))
    assert np.isnan(crossover.streamed.speed[-1])
    assert crossover.streamed.runtimes[-1] == ""
    assert np.isfinite(crossover.streamed.speed[0])


def test_nothing_to_cross_without_a_gpu() -> None:
    here = machine(MachineSpec(gpu="none", ram_gb=128))
    estimates = compare(catalog.model("Llama-3.1-70B", "Q4_K_M"), here, Workload())
    assert by_users(estimates) is None
    assert by_prompt(estimates) is None


def test_layers_that_a_person_fixed_are_kept() -> None:
    free, fixed = (speeds(by_users(estimates(layers=layers))) for layers in (None, 0.0))
    assert fixed.in_place.speed[0] < free.in_place.speed[0]
    assert fixed.streamed.speed[0] == free.streamed.speed[0]


def test_a_link_as_fast_as_ram_makes_streaming_faster_from_the_first_user() -> None:
    (estimate,) = [
        answer
        for answer in estimates()
        if answer.runtime is VLLM and answer.strategy is PlacementStrategy.CPU_OFFLOAD
    ]
    gpu = estimate.machine.gpus[0]
    link = replace(gpu.link, pinned=Quantity.given(400 * GB), zero_copy=Quantity.given(400 * GB))
    host = replace(estimate.machine.host, bandwidth=Quantity.given(5 * GB))
    quick = replace(estimate.machine, gpus=(replace(gpu, link=link),), host=host)
    answers = compare(catalog.model("Llama-3.1-70B", "Q4_K_M"), quick, estimate.work)
    assert Route.STREAMED in estimate.routes
    assert speeds(by_users(answers)).overtakes == 1.0


def test_in_place_ends_where_llama_cpp_copies_and_that_counts_as_streamed() -> None:
    crossover = speeds(by_users(estimates()))
    at = list(crossover.at)
    assert crossover.in_place.runtimes[at.index(24)] == "llama.cpp"
    assert crossover.in_place.runtimes[at.index(32)] == ""
    assert np.isfinite(crossover.streamed.speed[at.index(32)])


def test_where_only_streaming_is_left_it_has_overtaken() -> None:
    way = RuntimeCurve(runtimes=("a", "a", "", ""), speed=np.array([2.0, 2, np.nan, np.nan]))
    other = RuntimeCurve(runtimes=("b",) * 4, speed=np.array([1.0, 1, 1, 1]))
    assert Crossover(at=USERS, in_place=way, streamed=other).overtakes == 16


def test_copies_hidden_behind_compute_still_count_as_streamed() -> None:
    crossover = speeds(by_prompt(estimates(link=50, context=16_384)))
    assert set(crossover.streamed.runtimes) <= {"vLLM", "llama.cpp"}
    assert "vLLM" in crossover.streamed.runtimes


def test_in_place_a_prompt_costs_the_processor_the_same_for_every_token() -> None:
    crossover = speeds(by_prompt(estimates(context=1024)))
    first, second = crossover.in_place.speed[:2]
    # only attention grows with the prompt
    assert 0.95 * first < second <= first


def test_reading_over_the_link_counts_as_streamed_though_ram_is_read_too() -> None:
    # vLLM's kernels read experts in RAM over the link, which draws on the same RAM.
    here = machine(MachineSpec(gpu="RTX 5090", gpu_count=2, ram_gb=384))
    model = catalog.model("Qwen3-235B-A22B", "Q4_K_M")
    estimates = compare(model, here, Workload(), runtimes=(LLAMA_CPP, VLLM))
    in_place, streamed = sides(estimates)
    assert [estimate.runtime.name for estimate in in_place] == ["llama.cpp"]
    assert [estimate.runtime.name for estimate in streamed] == ["vLLM"]
