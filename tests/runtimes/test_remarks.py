"""Remarks beside a command."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import ACCELERATE, LLAMA_CPP, OLLAMA, RUNTIMES, VLLM
from advisor.runtimes.compare import as_run
from advisor.runtimes.remarks import modes


def run(
    runtime: Runtime,
    name: str = "Llama-3.1-70B",
    strategy: PlacementStrategy = PlacementStrategy.CPU_OFFLOAD,
    settings: Settings | None = None,
    work: Workload | None = None,
    **inputs: Any,
) -> Estimate:
    where = machine(MachineSpec(**{"gpu": "RTX 3090", "ram_gb": 64, **inputs}))
    model = as_run(catalog.model(name, "Q4_K_M"), runtime, where)
    return estimate(
        model, where, work or Workload(), runtime, strategy, Constants.fitted(), settings
    )


def notes_of(estimate: Estimate) -> str:
    return " ".join(modes(estimate))


def test_locked_memory_is_recommended_where_prompts_cross_the_link() -> None:
    assert "-lm none" in notes_of(run(LLAMA_CPP))
    assert "-lm none" not in notes_of(run(LLAMA_CPP, settings=Settings(load_mode="none")))
    assert "-lm none" not in notes_of(run(LLAMA_CPP, gpu="none"))


def test_locked_memory_brings_the_first_token_sooner() -> None:
    """Pageable copies reach 0.65 of pinned ones, and copies are most of a short prompt's time."""
    slow, fast = (
        run(LLAMA_CPP, settings=Settings(gpu_layers=20.0, load_mode=mode))
        for mode in ("auto", "none")
    )
    assert slow.first_token is not None
    assert fast.first_token is not None
    assert 0.6 < float(fast.first_token.value) / float(slow.first_token.value) < 0.95
    assert slow.decode is not None
    assert fast.decode is not None
    assert float(fast.decode.value) == float(slow.decode.value)


def test_the_size_that_the_automatic_fit_needs_is_reported() -> None:
    assert "gives the same layers" in notes_of(run(LLAMA_CPP))
    given = run(LLAMA_CPP, settings=Settings(gpu_layers=10.0))
    estimate = run(LLAMA_CPP)
    assert estimate.placement is not None
    assert f"would put {int(estimate.placement.gpu_layers)} layers on the GPU: " in notes_of(given)
    assert "all of the model in the GPU" in notes_of(run(LLAMA_CPP, "Llama-3.1-8B"))


def test_the_other_way_of_vllm_is_stated_with_its_speed() -> None:
    assert "--cpu-offload-gb, read over the link," in notes_of(run(VLLM))
    small = run(VLLM, "Qwen3-30B-A3B", gpu="RTX 4070")
    assert "--offload-backend prefetch would give" in notes_of(small)


def test_room_for_conversations_is_reported() -> None:
    """24 GiB x 0.92 less 1 GiB and 5.7 GB of weights: 16.9 GB, of 8192 x 131,072 B each."""
    estimate = run(VLLM, "Llama-3.1-8B", PlacementStrategy.GPU_RESIDENT)
    assert "room for the cache of 15 conversations of 8,192 tokens" in notes_of(estimate)


def test_ray_is_named_for_several_machines() -> None:
    estimate = run(VLLM, strategy=PlacementStrategy.GPU_RESIDENT, machines=2)
    assert "--distributed-executor-backend ray" in notes_of(estimate)


def test_a_cache_in_another_type_is_stated() -> None:
    assert "kept as fp8" in notes_of(run(VLLM, work=Workload(kv_type="q8_0")))
    assert "kept as fp8" not in notes_of(run(VLLM))


def test_ollamas_own_context_is_reported() -> None:
    assert "allocates 32,768 tokens" in notes_of(run(OLLAMA))


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.key)
def test_nothing_is_reported_of_options_that_do_not_fit(runtime: Runtime) -> None:
    for strategy in runtime.strategies:
        estimate = run(runtime, "Qwen3-235B-A22B", strategy, ram_gb=8, vram_gb=8)
        if not bool(estimate.fits):
            assert modes(estimate) == ()


def test_accelerates_behaviour_without_limits_is_reported() -> None:
    estimate = run(ACCELERATE, "Llama-3.1-70B", PlacementStrategy.NVME_OFFLOAD)
    # 90 % of 24,123 MiB are 22.8 GB: the table and the head of 2.1 GB each, 10 layers of 1.7 GB.
    assert "10 layers" in notes_of(estimate)
    assert "the output head on the drive" in notes_of(estimate)


def test_two_cards_at_once_are_named_with_their_range() -> None:
    resident = run(LLAMA_CPP, strategy=PlacementStrategy.GPU_RESIDENT, gpu="RTX 3090", gpu_count=2)
    assert "With -sm tensor -fa on in place of -sm layer and -ts they work at once" in notes_of(
        resident
    )
    alone = run(LLAMA_CPP, "Llama-3.1-8B", strategy=PlacementStrategy.GPU_RESIDENT)
    assert "-sm tensor" not in notes_of(alone)


def test_packed_caches_that_cannot_be_divided_are_not_recommended() -> None:
    work = Workload(kv_type="q5_1")
    estimate = run(
        LLAMA_CPP, strategy=PlacementStrategy.GPU_RESIDENT, gpu="RTX 3090", gpu_count=2, work=work
    )
    assert bool(estimate.fits)
    assert "-sm tensor" not in notes_of(estimate)


@pytest.mark.parametrize(
    ("card", "few"), [("RX 7900 XTX", True), ("Arc Pro B60", True), ("H100 SXM", False)]
)
def test_a_card_whose_serving_engines_few_measured_has_a_wide_range(card: str, few: bool) -> None:
    """llama.cpp's many runs on an RX 7900 XTX tell nothing of vLLM on it; what strangers timed of
    serving engines spreads by a factor of two from low to high even on cards that many measured.
    """
    kind = PlacementStrategy.GPU_RESIDENT
    served, beside = (
        run(VLLM, "Llama-3.1-8B", kind, gpu=each, vram_gb=80) for each in (card, "H100 SXM")
    )
    assert ("Few speeds of serving engines" in notes_of(served)) == few
    assert served.decode is not None
    assert beside.decode is not None
    widths = [np.log(float(each.high / each.low)) for each in (served.decode, beside.decode)]
    assert (widths[0] > 1.1 * widths[1]) == few


def test_the_number_of_the_command_is_told_from_the_number_of_layers() -> None:
    # llama.cpp counts the output layer besides the repeating ones, which are shown everywhere else.
    estimate = run(LLAMA_CPP, settings=Settings(gpu_layers=10.0))
    assert "-ngl 11 " in estimate.command
    assert "-ngl 11 is 10 layers and the output layer" in notes_of(estimate)
    alone = run(LLAMA_CPP, settings=Settings(gpu_layers=10.0, head_first=False))
    assert "and the output layer" not in notes_of(alone)
    assert "and the output layer" not in notes_of(run(LLAMA_CPP, "Llama-3.1-8B"))


def test_the_file_for_images_has_its_bytes_and_fits_or_not() -> None:
    resident = PlacementStrategy.GPU_RESIDENT
    # 421 M weights (vision.csv) of two bytes, 842,000,000 / 2^20
    fits = notes_of(run(LLAMA_CPP, "Gemma-3-12B", resident))
    assert "a second file (mmproj), 803 MB in 16 bits: it fits beside, where" in fits
    whole = run(LLAMA_CPP, "Gemma-3-12B", resident)
    larger = replace(whole.model.architecture, tower=10**10)
    tight = notes_of(replace(whole, model=replace(whole.model, architecture=larger)))
    assert "more than is free on the GPU. Keep fewer layers there" in tight
    assert "mmproj" not in notes_of(run(LLAMA_CPP))  # no encoder
