"""Lines of the charts: every point equals a single estimate."""

from functools import cache

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.curves import cost_by_tokens, page_cache_for, speed_by_layers
from advisor.advice.words.verdict import Advice
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import Ownership
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import compare, decode_tps

WORK = Workload()


@cache
def desktop(gpu: str = "RTX 4090", ram: float = 64) -> Machine:
    return machine(MachineSpec(gpu=gpu, ram_gb=ram))


@cache
def advice(model: str, ram: float = 64) -> Advice:
    return advise(catalog.model(model, "Q4_K_M"), desktop(ram=ram), WORK)


@pytest.mark.parametrize("layers", [0, 1, 40, 80])
def test_a_point_is_the_estimate_with_its_number_of_layers(layers: int) -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    sweep = speed_by_layers(model, desktop(), WORK)
    estimates = compare(
        model,
        desktop(),
        WORK,
        settings=Settings(gpu_layers=float(layers)),
        runtimes=(LLAMA_CPP,),
    )
    (single,) = [
        estimate for estimate in estimates if estimate.strategy is PlacementStrategy.CPU_OFFLOAD
    ]
    assert sweep is not None
    speeds = dict(zip(*sweep, strict=True))
    assert (layers in speeds) == bool(single.fits)
    if layers in speeds:
        assert speeds[layers] == pytest.approx(decode_tps(single))


@pytest.mark.parametrize(("model", "whole"), [("Llama-3.1-70B", False), ("Qwen3-30B-A3B", True)])
def test_every_number_of_layers_that_fits_is_there_and_more_are_never_slower(model, whole) -> None:
    chosen = catalog.model(model, "Q4_K_M")
    sweep = speed_by_layers(chosen, desktop(), WORK)
    assert sweep is not None
    layers, speeds = sweep
    assert layers.tolist() == list(range(len(speeds)))
    assert (len(speeds) == chosen.layers + 1) is whole
    # the first layer brings the hand-overs between processors
    assert np.all(np.diff(speeds[1:]) > 0)


def test_other_formats_are_swept_as_the_nearest_of_llama_cpp() -> None:
    awq, q4 = (
        speed_by_layers(catalog.model("Llama-3.1-8B", form), desktop(), WORK)
        for form in ("AWQ", "Q4_K_M")
    )
    assert awq is not None
    assert q4 is not None
    assert awq[1].tolist() == q4[1].tolist()


def test_no_sweep_without_a_gpu() -> None:
    assert speed_by_layers(catalog.model("Llama-3.1-8B", "Q4_K_M"), desktop("none"), WORK) is None


def test_cost_lines_start_at_the_fixed_cost_and_meet_at_the_break_even() -> None:
    answer = advise(
        catalog.model("Llama-3.1-70B", "Q4_K_M"),
        desktop(ram=64),
        WORK,
        ownership=Ownership(resale=0.0),
    )
    lines = cost_by_tokens(answer, points=3)
    (tokens, here), (_, there) = lines.values()
    kept = answer.options[0]
    option = next(iter(answer.choice.named))
    assert option is not None
    assert option.cost is not None
    assert kept.cost is not None
    assert (here[0], there[0]) == (kept.cost.fixed, option.cost.fixed + option.standing)
    assert list(lines) == ["as it is", option.name]
    # both are lines, so that they cross where their difference of the start is used up
    steps = [usd[1] - usd[0] for usd in (here, there)]
    meet = (there[0] - here[0]) / (steps[0] - steps[1]) * tokens[1]
    # what costs nothing at once and less a month pays from the first token
    assert max(meet, 0.0) == pytest.approx(option.break_even_tokens)


def test_without_a_machine_only_the_option_has_a_line() -> None:
    answer = advise(
        catalog.model("Llama-3.3-70B", "Q4_K_M"),
        desktop("RTX 3090"),
        WORK,
        ownership=Ownership(nothing=True),
    )
    ((name, (_, usd)),) = cost_by_tokens(answer, points=3).items()
    option = next(iter(answer.choice.named), None)
    assert option is not None
    assert name == option.name
    assert np.all(np.isfinite(usd))


def test_a_line_is_use_and_time_in_money() -> None:
    answer = advice("Llama-3.1-70B")
    here = cost_by_tokens(answer, points=5)["as it is"]
    kept = answer.options[0]
    assert kept.with_waiting is not None
    # at the tokens of this use a month costs what the option says, waiting included
    at = np.interp(kept.tokens, *here)
    assert at == pytest.approx(kept.with_waiting)


def test_no_lines_where_nothing_runs() -> None:
    advice = advise(catalog.model("Llama-3.1-70B", "Q4_K_M"), desktop("none", ram=2), WORK)
    assert advice.best is None
    assert cost_by_tokens(advice) == {}


def from_drive(**fields: object) -> Estimate:
    """Llama 3.1 70B, half of it on an RTX 3090, the rest on a drive of 7 GB/s."""
    rig = machine(MachineSpec(gpu="RTX 3090", ram_gb=64, disk_gbs=7, **fields))
    return estimate(
        catalog.model("Llama-3.1-70B", "Q4_K_M"),
        rig,
        Workload(),
        LLAMA_CPP,
        PlacementStrategy.NVME_OFFLOAD,
        Constants.fitted(),
        Settings(gpu_layers=40.0, page_cache=0.0),
    )


def test_half_a_token_from_a_drive_takes_most_of_the_file_in_ram() -> None:
    # 21 GB outside the GPU: 2 s a token leave 1.6 s for faults, 3.8 GB at 7 and 3.5 GB/s in turn,
    # a sixth of the part; a cache that misses a sixth in each pass holds nine tenths of it.
    estimate = from_drive(ram_gbs=60)
    needed = page_cache_for(estimate, 0.5)
    assert needed is not None
    assert 0.8 * 20.7e9 < needed < 21.6e9


def test_no_cache_helps_where_ram_alone_is_too_slow() -> None:
    # 21 GB at 5 GB/s are 4 s, whatever the drive does.
    assert page_cache_for(from_drive(ram_gbs=5), 0.5) is None


def test_the_sweep_ends_at_the_layers_that_the_runtime_places_by_itself() -> None:
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    sweep = speed_by_layers(model, here, Workload())
    automatic = compare(model, here, Workload(), runtimes=(LLAMA_CPP,))[1].placement
    assert sweep is not None
    assert automatic is not None
    assert sweep[0][-1] == automatic.gpu_layers
