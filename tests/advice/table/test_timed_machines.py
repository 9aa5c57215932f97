"""Speeds of many machines at once, held to single estimates, and how few estimates they take."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table import stack
from advisor.advice.table.rules import counts_in
from advisor.advice.table.stack import Stack
from advisor.advice.table.timed_machines import VALUED, TimedCards, TimedStack, card_stack
from advisor.cost_model import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog, from_spec
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Form, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import ASIDE, LLAMA_CPP, RUNTIMES, SGLANG, VLLM
from advisor.runtimes.compare import compare, decode_tps

GPUS = (
    "RTX 3090", "RTX 3060 12GB", "Arc B580", "RX 7900 XTX", "2x RTX 3090", "3x RTX 3060 12GB",
    "RTX 3090 + RTX 5080", "RTX 3060 12GB + RTX 3090", "8x V100 32GB",
)  # fmt: skip
WHOLE = ("Mac Studio M2 Ultra", "DGX Spark", "Framework Desktop 128GB")
"""Machines of three makers whose GPU shares the host's memory."""


def rigs() -> list[Machine]:
    cards = [from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64)) for gpu in GPUS]
    windows = MachineSpec(gpu="RX 7900 XTX", ram_gb=64, system="windows")
    return [*cards, from_spec.machine(windows), *map(machine_by_name, WHOLE)]


def alone(
    model: Model, machine: Machine, work: Workload, runtimes: Sequence[Runtime] = VALUED
) -> Speed | None:
    """Fastest over the runtimes of the first placement that fits, by single estimates; of several
    runtimes, those that count on the machine.
    """
    if len(runtimes) > 1:
        runtimes = [runtime for runtime in runtimes if counts_in(machine, runtime.engine)]
    each = compare(model, machine, work, runtimes=runtimes)
    by_runtime = itertools.groupby(
        (own for own in each if bool(own.fits)), key=lambda own: own.runtime
    )
    first = [next(placements) for _, placements in by_runtime]
    fastest = max(first, key=decode_tps, default=None)
    if fastest is None:
        return None
    return speed_of(fastest)


def numbers(speed: Speed) -> list[float]:
    if speed.load is None:
        load = np.nan
    else:
        load = speed.load
    return [speed.decode, speed.low, speed.high, speed.first_token, load, speed.waiting]


@pytest.mark.parametrize("name", ["Qwen3-14B", "Qwen3-30B-A3B", "Llama-3.1-70B"])
def test_machines_together_give_what_each_gives_alone(name: str) -> None:
    """One fleet answers request after request; what it remembers of one never reaches another."""
    random = Random(name)
    machines = rigs()
    fleet = Stack(machines)
    model = catalog.model(name, "Q4_K_M")
    for _ in range(6):
        work = Workload(
            context=random.choice((2048, 8192, 30000, 120000)),
            prompt=random.choice((200, 1500)),
            users=random.choice((1, 1, 1, 4)),
        )
        timed = TimedStack(fleet, model, work, VALUED)
        for machine, together in zip(machines, timed.fastest(), strict=True):
            same(together, alone(model, machine, work), machine)


def same(together: Speed | None, single: Speed | None, machine: Machine) -> None:
    """Both speeds agree in what they are of, and to 12 digits."""
    assert (together is None) == (single is None), machine.name
    if together is not None and single is not None:
        assert together.strategy is single.strategy
        assert (together.runtime, together.format) == (single.runtime, single.format)
        assert together.arrangement == single.arrangement
        assert numbers(together) == pytest.approx(numbers(single), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("runtime", [*RUNTIMES, *ASIDE], ids=lambda runtime: runtime.name)
@pytest.mark.parametrize("name", ["Llama-3.1-70B", "Qwen3-30B-A3B"])
def test_machines_together_give_what_each_gives_alone_in_every_runtime(
    name: str, runtime: Runtime
) -> None:
    """One to five cards, of one kind and of two: three cards divide no 64 heads, and take turns."""
    gpus = (
        "RTX 3090", "RTX 5090", "L40S", "RTX 3090 + RTX 3060 12GB", "RTX 3090 + RTX 5090",
        "2x RTX 3090 + RTX 3060 12GB", "2x RTX 3090 + RTX 5090", "4x RTX 3090 + RTX 3060 12GB",
    )  # fmt: skip
    machines = [from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64)) for gpu in gpus]
    fleet = Stack(machines)
    model = catalog.model(name, "Q4_K_M")
    for work in (Workload(prompt=900), Workload(context=20000, prompt=2000, users=3)):
        timed = TimedStack(fleet, model, work, (runtime,))
        for machine, together in zip(machines, timed.fastest(), strict=True):
            same(together, alone(model, machine, work, (runtime,)), machine)


def test_joined_machines_keep_their_networks_together() -> None:
    """Whether machines share layers or pass them on turns on the network and on the card: of one
    fleet each divides the model as it does alone.
    """
    joined = (
        {"gpu": "GB10", "machines": 2, "network": "200GbE"},
        {"gpu": "GB10", "machines": 2, "network": "10GbE"},
        {"gpu": "Radeon 8060S", "machines": 2, "network": "200GbE"},
        {"gpu": "RTX 3090", "machines": 2, "network": "100GbE"},
        {"gpu": "RTX 5090", "machines": 2, "network": "100GbE"},
        {"gpu": "RTX 5090", "machines": 2, "network": "1GbE"},
    )
    machines = [from_spec.machine(MachineSpec(**each)) for each in joined]
    fleet = Stack(machines)
    for name in ("Llama-3.1-8B", "Qwen3-30B-A3B"):
        model = catalog.model(name, "Q4_K_M")
        for runtime in (VLLM, SGLANG, LLAMA_CPP):
            timed = TimedStack(fleet, model, Workload(users=3), (runtime,))
            for machine, together in zip(machines, timed.fastest(), strict=True):
                same(together, alone(model, machine, Workload(users=3), (runtime,)), machine)


@pytest.mark.parametrize("runtime", VALUED, ids=lambda runtime: runtime.key)
@pytest.mark.parametrize(
    "name", ["Llama-3.1-70B", "Qwen2.5-7B", "gpt-oss-120b", "DeepSeek-V3", "Nemotron-H-56B"]
)
def test_any_number_of_a_card_is_one_estimate(
    name: str, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to eight of a card are as fast as alone, whatever divides the model: 28 heads over eight
    cards are pairs of four in turn, over six three pairs; experts, latents, states and windows.
    """
    host = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    cards = [from_catalog.gpu(name) for name in ("RTX 3090", "RTX 5090", "H200 SXM", "L4")]
    machines = [
        replace(host, gpus=(card,) * count) for count in (1, 2, 3, 4, 6, 8) for card in cards
    ]
    fleet = Stack(machines)
    model = catalog.model(name, "Q4_K_M")
    for work in (Workload(), Workload(prompt=3000, context=30000, users=5)):
        stacked = Counted(stack.estimate)
        monkeypatch.setattr(stack, "estimate", stacked)
        timed = TimedStack(fleet, model, work, (runtime,))
        together = timed.fastest(strategies=(PlacementStrategy.GPU_RESIDENT,))
        # One for each share of the users that copies side by side can have: 5, 3, 2 and 1; fewer
        # where no card holds a copy.
        assert 1 <= stacked.calls <= (1 if work.users == 1 else 4)
        assert any(together.fits)
        for machine, speed in zip(machines, together, strict=True):
            each = compare(model, machine, work, runtimes=(runtime,))
            resident = next(own for own in each if own.strategy is PlacementStrategy.GPU_RESIDENT)
            same(speed, speed_of(resident), machine)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        return self.function(*arguments, **options)


def test_an_answer_takes_few_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some 400 machines take 24 estimates, unequal cards that divide a large model by their memory
    each their own, and 15 where every card holds the model; another context takes no time anew of
    the seven or more with all in GPUs, whose prompts and tokens each had one: engines that too few
    run on a family of cards are not timed there.
    """
    stacked = Counted(stack.estimate)
    timed = Counted(estimate.schedule_seconds)
    monkeypatch.setattr(stack, "estimate", stacked)
    monkeypatch.setattr(estimate, "schedule_seconds", timed)
    here = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=63))
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    new = Workload(prompt=519)  # no other test's request, which would be remembered
    advise(model, here, new)
    assert 10 < stacked.calls <= 24
    first = timed.calls
    timed.calls = 0
    advise(model, here, replace(new, context=7000))
    assert 0 < timed.calls <= first - 2 * 7
    stacked.calls = 0
    advise(catalog.model("Qwen3-8B", "Q4_K_M"), here, new)
    assert 7 < stacked.calls <= 15


def test_larger_rented_machines_take_no_estimates_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a card is rented by fours only and two hold the model, its four are timed with the four
    that another card takes.
    """
    here = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    machines = card_stack(here, ("RTX 3060 12GB",), ("A10",))
    work = Workload(prompt=523, context=8192)  # no other test's request
    cards = TimedCards(machines, catalog.model("Llama-3.1-70B", "Q4_K_M"), work, VALUED)
    stacked = Counted(stack.estimate)
    monkeypatch.setattr(stack, "estimate", stacked)
    fewest = {card.name: count for card, count, _ in cards.holders}
    assert fewest == {"A10": 2, "RTX 3060 12GB": 4}
    before = stacked.calls
    assert cards.holding("A10", 4) is not None
    assert stacked.calls == before > 0


def test_cards_in_another_host_are_those_made_for_it() -> None:
    """Kinds of machines are found once for hosts with the same cards; speeds are of the host."""
    whole = PlacementStrategy.GPU_RESIDENT
    in_ram = PlacementStrategy.CPU_OFFLOAD
    boxes = MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=48)
    for spec in (replace(boxes, machines=2), boxes, replace(boxes, ram_gb=96, ram_gbs=70)):
        here = from_spec.machine(spec)
        made = card_stack(here, ("RTX 3060 12GB", "RX 7900 XTX"), ("A10",), Form.SERVER)
        alike = Stack(tuple(made.machines))
        assert len({id(machine.host) for machine in made.machines}) == 1
        for runtime, strategy in ((LLAMA_CPP, in_ram), (VLLM, whole), (LLAMA_CPP, whole)):
            model = catalog.model("Llama-3.1-70B", "Q4_K_M")
            there, anew = (
                stack.speeds(model, Workload(), runtime, strategy) for stack in (made, alike)
            )
            assert np.array_equal(there.fits, anew.fits)
            assert np.array_equal(there.decode, anew.decode, equal_nan=True)
            assert np.array_equal(there.first_token, anew.first_token, equal_nan=True)
