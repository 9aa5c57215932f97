"""Layers divided over GPUs: bytes, exchanges, refusals, published runs."""

import shlex

import numpy as np
import pytest
from engine import needs_engine, options
from flags import flags, listed

from advisor.advice.advise import advise
from advisor.advice.diagnosis.diagnose import Measured, diagnose, measurable
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.runtimes import LLAMA_CPP, LLAMA_CPP_TENSOR, runtime

WORK = Workload(context=4096, prompt=128, output=32)
RESIDENT = PlacementStrategy.GPU_RESIDENT


def cards(gpu: str = "RTX 3090", count: int = 2, **inputs: object) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=64, **inputs))  # type: ignore[arg-type]


def place(where: Machine, name: str = "Llama-3.1-70B", work: Workload = WORK) -> Placement:
    model = catalog.model(name, "Q4_K_M")
    return LLAMA_CPP_TENSOR.place(model, where, work, RESIDENT, Settings())


def run(
    where: Machine, how: Runtime, name: str = "Llama-3.1-70B", form: str = "Q4_K_M"
) -> Estimate:
    model = catalog.model(name, form)
    return estimate(model, where, WORK, how, RESIDENT, Constants.fitted())


def speed(estimate: Estimate) -> float:
    assert estimate.decode is not None
    return float(estimate.decode.value)


def test_cards_alike_hold_half_of_every_layer_of_the_head_and_of_the_cache() -> None:
    placement = place(cards())
    for device in (Location.vram(0), Location.vram(1)):
        assert set(placement.weights[device][Group.ATTENTION]) == {0.5}
        assert set(placement.kv[device]) == {0.5}
        assert float(np.asarray(placement.output[device])) == 0.5


def test_cards_of_two_kinds_hold_layers_by_their_memory() -> None:
    """24,126 MiB, as its driver shows it, and 12 GiB less 450 MiB: two thirds and one."""
    placement = place(cards("RTX 3090 + RTX 3060 12GB", 1))
    shares = [
        float(placement.weights[Location.vram(device)][Group.ATTENTION][0]) for device in range(2)
    ]
    assert shares == pytest.approx([24_126 / 35_964, 11_838 / 35_964])


@pytest.mark.parametrize("count", [2, 4])
def test_the_gpus_add_up_twice_in_each_layer(count: int) -> None:
    """80 layers; a ring of t moves 2 (t - 1) / t of 8192 values of 4 bytes."""
    where = cards(count=count)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    phases = LLAMA_CPP_TENSOR.schedule(model, place(where), where, WORK)
    (ring,) = phases.decode.exchanges
    assert float(np.asarray(ring.times)) == 160
    assert float(np.asarray(ring.moved)) == 2 * (count - 1) / count * 8192 * 4
    (prompt,) = phases.prefill.exchanges
    assert float(np.asarray(prompt.moved)) == 128 * float(np.asarray(ring.moved))
    (stage,) = phases.decode.stages
    assert len(stage) == count


def test_two_cards_are_faster_than_in_turn_but_not_twice() -> None:
    for gpu in ("RTX 3090", "RTX 4090", "A100 SXM 80GB"):
        where = cards(gpu)
        turn = speed(run(where, LLAMA_CPP))
        at_once = speed(run(where, LLAMA_CPP_TENSOR))
        assert 1.2 * turn < at_once < 2 * turn


@pytest.mark.parametrize(("how", "measured"), [(LLAMA_CPP, 21.22), (LLAMA_CPP_TENSOR, 30.05)])
def test_a_published_pair_of_runs(how: Runtime, measured: float) -> None:
    """RTX 3060 12GB + RTX 4070 SUPER, Qwen3.5 27B Q4_K_M of 15.65 GiB, tg32 by layers and divided
    (llama.cpp pull request 23225, https://reddit.com/r/LocalLLaMA/comments/1tflngz, 2026-05-17).
    """
    estimate = run(cards("RTX 3060 12GB + RTX 4070 SUPER", 1), how, "Qwen3.5-27B")
    assert estimate.decode is not None
    assert float(estimate.decode.low) < measured < float(estimate.decode.high)
    assert speed(estimate) == pytest.approx(measured, rel=0.15)


def test_its_range_is_wider_than_fitted_ranges() -> None:
    def width(estimate: Estimate) -> float:
        assert estimate.decode is not None
        return float(np.log(estimate.decode.high / estimate.decode.value))

    where = cards()
    assert width(run(where, LLAMA_CPP_TENSOR)) > 0.4 > width(run(where, LLAMA_CPP))


@pytest.mark.parametrize(
    ("where", "name", "kv_type", "why"),
    [
        (cards(count=1), "Llama-3.1-8B", "f16", "several GPUs of one machine"),
        (cards(count=1, machines=2), "Llama-3.1-8B", "f16", "several GPUs of one machine"),
        (cards(), "Llama-3.1-8B", "q5_1", "not in q5_1"),
        (cards(), "DeepSeek-V2-Lite", "f16", "latent attention"),
    ],
)
def test_unsupported_cases_are_refused(where: Machine, name: str, kv_type: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        place(where, name, Workload(kv_type=kv_type))


def test_it_leaves_nothing_outside_the_gpus() -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    with pytest.raises(Refusal, match="with the whole model in the GPUs"):
        LLAMA_CPP_TENSOR.place(model, cards(), WORK, PlacementStrategy.CPU_OFFLOAD, Settings())


def line(where: Machine, kv_type: str = "f16") -> list[str]:
    work = Workload(context=4096, kv_type=kv_type)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    text = LLAMA_CPP_TENSOR.command(model, place(where, work=work), where, work)
    return shlex.split(text)


def test_the_command_divides_and_needs_flash_attention_and_no_fit() -> None:
    words = " ".join(line(cards()))
    assert words.endswith("-c 4096 -ngl all -sm tensor -fa on --fit off")
    uneven = " ".join(line(cards("RTX 3090 + RTX 3060 12GB", 1), "q8_0"))
    assert uneven.endswith("-sm tensor -ts 67,33 -fa on -ctk q8_0 -ctv q8_0 --fit off")


def test_every_option_is_in_the_help_as_it_was_read() -> None:
    assert flags(line(cards(), "q8_0")) <= listed("llama_server")


@needs_engine
def test_every_option_is_in_the_help_of_llama_server() -> None:
    assert flags(line(cards("RTX 3090 + RTX 3060 12GB", 1))) <= options()


def test_it_can_be_asked_for_by_name() -> None:
    assert runtime("llama.cpp -sm tensor") is LLAMA_CPP_TENSOR
    assert runtime("llama.cpp") is LLAMA_CPP


def test_it_can_be_advised_on_and_compared_with_the_usual_split() -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    advice = advise(model, cards(), WORK, chosen=LLAMA_CPP_TENSOR)
    assert advice.best is not None
    assert advice.best.runtime is LLAMA_CPP_TENSOR
    assert advice.verdict.startswith("With llama.cpp -sm tensor, runs well, ")
    assert any(estimate.runtime is LLAMA_CPP for estimate in advice.estimates)
    alone = advise(model, cards(count=1), WORK, chosen=LLAMA_CPP_TENSOR)
    assert "does not run it here. -sm tensor divides layers over several GPUs" in alone.verdict
    able = [option for option in alone.options if option.speed and option.machine]
    assert all(len(option.machine.gpus) > 1 for option in able)


def test_a_measured_speed_of_it_is_explained() -> None:
    estimate = run(cards(), LLAMA_CPP_TENSOR)
    assert measurable([run(cards(), LLAMA_CPP), estimate])[-1] is estimate
    diagnosis = diagnose(estimate, Measured(decode=speed(estimate) / 3))
    assert diagnosis.run.runtime is LLAMA_CPP_TENSOR


def test_a_bridge_speeds_up_all_reduces() -> None:
    """5 in place of 20 us for each of 160 exchanges: 2.4 ms less of a token."""
    plain, joined = (run(cards(bridge=bridge), LLAMA_CPP_TENSOR) for bridge in (False, True))
    assert 1 / speed(plain) - 1 / speed(joined) == pytest.approx(160 * 15e-6, rel=0.1)
    peer = cards(bridge=True).gpus[0].peer
    assert peer is not None
    assert peer.value == pytest.approx(0.84 * 56.25e9)
    turn = [speed(run(cards(bridge=bridge), LLAMA_CPP)) for bridge in (False, True)]
    assert turn[0] == turn[1], "layers in turn hand on one vector, for which any link does"


@pytest.mark.parametrize(
    ("gpu", "count", "why"),
    [
        ("RTX 3090", 1, "joins two cards of a kind"),
        ("RTX 3090", 4, "joins two cards of a kind"),
        ("RTX 3090 + RTX A6000", 1, "joins two cards of a kind"),
        ("RTX 4090", 2, "No NVLink bridge is known for RTX 4090"),
    ],
)
def test_a_bridge_that_cannot_be_is_refused(gpu: str, count: int, why: str) -> None:
    with pytest.raises(InputError, match=why):
        cards(gpu, count, bridge=True)


def test_modules_of_a_board_are_joined_whether_it_is_said_or_not() -> None:
    # nvidia.com/en-us/data-center/nvlink: SXM modules have NVLink on their board
    assert cards("A100 SXM 80GB", 4, bridge=True) == cards("A100 SXM 80GB", 4, bridge=False)
