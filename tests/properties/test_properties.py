"""Properties of all estimates, for any numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import KTRANSFORMERS, LLAMA_CPP, RUNTIMES
from advisor.runtimes.compare import as_run

MODELS = ("Llama-3.1-8B", "Llama-3.1-70B", "Qwen3-30B-A3B", "DeepSeek-V2-Lite", "Gemma-3-12B")
WITH_EXPERTS = ("Qwen3-30B-A3B", "DeepSeek-V2-Lite")
PAIRS = [
    (runtime, strategy)
    for runtime in RUNTIMES
    for strategy in runtime.strategies
    if runtime is not KTRANSFORMERS
]
CASES = [(name, *pair) for name in MODELS for pair in PAIRS]
CASES += [(name, KTRANSFORMERS, PlacementStrategy.CPU_OFFLOAD) for name in WITH_EXPERTS]
MIXED = dict.fromkeys(WITH_EXPERTS, "Q4_K+FP8")

bandwidths = st.floats(5, 800)
models = st.sampled_from(MODELS)
cases = st.sampled_from(CASES)
few = settings(max_examples=60)


def answer(
    name: str,
    runtime: Runtime,
    strategy: PlacementStrategy,
    inputs: MachineSpec | None = None,
    work: Workload | None = None,
    chosen: Settings | None = None,
) -> Estimate:
    where = machine(inputs or MachineSpec(gpu="RTX 3090", ram_gb=256))
    model = as_run(catalog.model(name, "Q4_K_M"), runtime, where)
    return estimate(model, where, work or Workload(), runtime, strategy, Constants.fitted(), chosen)


def tps(estimate: Estimate) -> float:
    assert estimate.decode is not None
    return float(estimate.decode.value)


@few
@given(cases, st.sampled_from(["ram_gbs", "pcie_gbs", "disk_gbs"]), bandwidths, bandwidths)
def test_more_bandwidth_is_never_slower(
    case: tuple[str, Runtime, PlacementStrategy], which: str, number: float, other: float
) -> None:
    slow, fast = sorted((number, other))
    base = {"gpu": "RTX 3090", "ram_gb": 256.0}
    speeds = [
        tps(answer(*case, MachineSpec(**base, **{which: value})))  # type: ignore[arg-type]
        for value in (slow, fast)
    ]
    assert speeds[1] >= speeds[0] * (1 - 1e-9)


@few
@given(cases, st.integers(512, 100_000), st.integers(512, 100_000))
def test_more_context_never_needs_less_memory(
    case: tuple[str, Runtime, PlacementStrategy], number: int, other: int
) -> None:
    small, large = sorted((number, other))
    whole = case[2] is PlacementStrategy.GPU_RESIDENT
    split = Settings() if whole else Settings(gpu_layers=4.0)
    needed = []
    for context in (small, large):
        work = Workload(context=context, prompt=256, output=128)
        estimate = answer(*case, work=work, chosen=split)
        assert estimate.placement is not None
        needed.append(
            sum(
                float(estimate.placement.needed_bytes(estimate.model, place, work))
                for place in estimate.placement.locations
            )
        )
    assert needed[1] >= needed[0]


@few
@given(
    models,
    st.sampled_from([PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD]),
    st.integers(1, 31),  # from 32 on, llama.cpp copies weights to the GPU for a step
    st.integers(1, 31),
)
def test_more_users_are_slower_each_and_faster_together(
    name: str, strategy: PlacementStrategy, number: int, other: int
) -> None:
    few_users, many = sorted((number, other))
    if strategy is PlacementStrategy.GPU_RESIDENT:
        chosen = None
    else:
        chosen = Settings(gpu_layers=0)
    each = [
        tps(answer(name, LLAMA_CPP, strategy, work=Workload(users=users), chosen=chosen))
        for users in (few_users, many)
    ]
    assert each[1] <= each[0] * (1 + 1e-9)
    # Beyond 8 tokens experts are computed in tiles, mostly empty: together no faster at first.
    assert many * each[1] >= few_users * each[0] * 0.8


@pytest.mark.parametrize(("name", "runtime", "strategy"), CASES)
def test_an_array_equals_single_calls(
    name: str, runtime: Runtime, strategy: PlacementStrategy
) -> None:
    def inputs(ram: object, disk: object) -> MachineSpec:
        return MachineSpec(gpu="RTX 3090", ram_gb=256, ram_gbs=ram, disk_gbs=disk)  # type: ignore[arg-type]

    rams = np.array([20.0, 60.0, 300.0])
    disks = np.array([1.0, 7.0, 14.0])
    contexts = np.array([1024.0, 8192.0, 32768.0])
    swept = answer(name, runtime, strategy, inputs(rams, disks), Workload(context=contexts))
    assert swept.decode is not None
    assert swept.first_token is not None
    for index, (ram, disk, context) in enumerate(zip(rams, disks, contexts, strict=True)):
        estimate = answer(name, runtime, strategy, inputs(ram, disk), Workload(context=context))
        assert estimate.decode is not None
        assert estimate.first_token is not None
        for array, single in (
            (swept.decode.value, estimate.decode.value),
            (swept.decode.low, estimate.decode.low),
            (swept.first_token.value, estimate.first_token.value),
            (swept.missing, estimate.missing),
            (swept.reply, estimate.reply),
        ):
            at = np.broadcast_to(np.asarray(array), rams.shape)[index]
            assert at == pytest.approx(float(single), rel=1e-9)


@few
@given(cases, st.floats(6, 200))
def test_parts_of_a_step_add_up_and_ranges_hold_their_value(
    case: tuple[str, Runtime, PlacementStrategy], vram: float
) -> None:
    estimate = answer(*case, MachineSpec(gpu="RTX 3090", vram_gb=vram, ram_gb=256))
    assert estimate.step is not None
    assert estimate.decode is not None
    parts = [float(seconds) for seconds in estimate.step.parts.values()]
    assert sum(parts) == pytest.approx(float(estimate.step.total))
    assert min(parts) >= 0
    assert (
        0 < float(estimate.decode.low) < float(estimate.decode.value) < float(estimate.decode.high)
    )


@few
@given(models, st.floats(6, 200), st.integers(1024, 65_536))
def test_a_split_that_is_found_fits_its_gpu(name: str, vram: float, context: int) -> None:
    work = Workload(context=context)
    estimate = answer(
        name,
        LLAMA_CPP,
        PlacementStrategy.CPU_OFFLOAD,
        MachineSpec(gpu="RTX 3090", vram_gb=vram, ram_gb=1024),
        work,
    )
    assert estimate.held[Tier.VRAM][0] <= vram * 2**30


@few
@given(models, st.integers(1, 4), st.floats(8, 96))
def test_every_layer_lies_somewhere_exactly_once(name: str, count: int, vram: float) -> None:
    for strategy in PlacementStrategy:
        estimate = answer(
            name,
            LLAMA_CPP,
            strategy,
            MachineSpec(gpu="RTX 3090", gpu_count=count, vram_gb=vram, ram_gb=1024),
        )
        assert estimate.placement is not None
        groups = {group for shares in estimate.placement.weights.values() for group in shares}
        for group in groups:
            total = sum(shares[group] for shares in estimate.placement.weights.values())
            assert np.allclose(np.asarray(total), 1.0)
        assert np.allclose(np.asarray(sum(estimate.placement.kv.values())), 1.0)
        assert float(np.asarray(sum(estimate.placement.output.values()))) == pytest.approx(1.0)


def test_a_second_equal_card_adds_memory_and_not_speed() -> None:
    estimate = answer("Llama-3.1-8B", LLAMA_CPP, PlacementStrategy.GPU_RESIDENT)
    two = answer(
        "Llama-3.1-8B",
        LLAMA_CPP,
        PlacementStrategy.GPU_RESIDENT,
        MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=256),
    )
    assert tps(two) <= tps(estimate)
    assert tps(two) == pytest.approx(tps(estimate), rel=0.05)


def test_few_sources_make_a_range_wider() -> None:
    # many published the speed of GPUs like an RTX 3090, one that of an A100, on the same backend
    def width(gpu: str) -> float:
        estimate = answer(
            "Llama-3.1-8B", LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, MachineSpec(gpu=gpu)
        )
        assert estimate.decode is not None
        return float(estimate.decode.high / estimate.decode.low)

    assert width("A100 SXM 80GB") > 1.2 * width("RTX 3090")
