"""Speeds of many machines at once, held to single estimates, and how few estimates they take."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.compare import compare, decode_tps
from advisor.advice.fleet import stacks
from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.timed_fleet import TimedFleet
from advisor.advice.options.timed_cards import TimedCards, card_machines
from advisor.advice.speeds import Speed, speed_of
from advisor.cost_model import estimate
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.from_name import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import VALUED

GPUS = (
    "RTX 3090", "RTX 3060 12GB", "Arc B580", "RX 7900 XTX", "2x RTX 3090", "3x RTX 3060 12GB",
    "RTX 3090 + RTX 5080", "RTX 3060 12GB + RTX 3090", "8x V100 32GB",
)  # fmt: skip
WHOLE = ("Mac Studio M2 Ultra", "DGX Spark")
"""Machines of two makers whose GPU shares the host's memory."""


def rigs() -> list[Machine]:
    cards = [from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64)) for gpu in GPUS]
    return [*cards, *map(machine_by_name, WHOLE)]


def alone(model: Model, machine: Machine, work: Workload) -> Speed | None:
    """Fastest over the runtimes of the first placement that fits, by single estimates."""
    each = compare(model, machine, work, runtimes=VALUED)
    by_runtime = itertools.groupby(
        (own for own in each if bool(own.fits)), key=lambda own: own.runtime
    )
    first = [next(placements) for _, placements in by_runtime]
    fastest = max(first, key=decode_tps, default=None)
    return None if fastest is None else speed_of(fastest)


def numbers(speed: Speed) -> list[float]:
    load = np.nan if speed.load is None else speed.load
    return [speed.decode, speed.low, speed.high, speed.first_token, load, speed.waiting]


@pytest.mark.parametrize("name", ["Qwen3-14B", "Qwen3-30B-A3B", "Llama-3.1-70B"])
def test_machines_together_give_what_each_gives_alone(name: str) -> None:
    """One fleet answers request after request; what it remembers of one never reaches another."""
    random, machines = Random(name), rigs()
    fleet, model = Fleet(machines), catalog.model(name, "Q4_K_M")
    for _ in range(6):
        work = Workload(
            context=random.choice((2048, 8192, 30000, 120000)),
            prompt=random.choice((200, 1500)),
            users=random.choice((1, 1, 1, 4)),
        )
        timed = TimedFleet(fleet, model, work, VALUED)
        for machine, together in zip(machines, timed.fastest(timed.all), strict=True):
            single = alone(model, machine, work)
            assert (together is None) == (single is None), machine.name
            if together is not None and single is not None:
                assert together.strategy is single.strategy
                assert (together.runtime, together.format) == (single.runtime, single.format)
                assert numbers(together) == pytest.approx(numbers(single), rel=1e-12, nan_ok=True)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        return self.function(*arguments, **options)


def test_an_answer_takes_few_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some 600 machines take 31 estimates; another context of a user takes no time of theirs anew.

    The times that it takes are those of the machine's own placements and of those with a part
    outside the GPUs.
    """
    stacked, timed = Counted(stacks.estimate), Counted(estimate.schedule_seconds)
    monkeypatch.setattr(stacks, "estimate", stacked)
    monkeypatch.setattr(estimate, "schedule_seconds", timed)
    here = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=63))
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    new = Workload(prompt=519)  # no other test's request, which would be remembered
    advise(model, here, new)
    assert 10 < stacked.calls <= 36
    first, timed.calls = timed.calls, 0
    advise(model, here, replace(new, context=7000))
    assert 0 < timed.calls < 0.5 * first


def test_larger_rented_machines_take_no_estimates_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a card is rented by fours only and two hold the model, its four are timed with the four
    that another card takes.
    """
    here = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    machines = card_machines(here, ("RTX 3060 12GB",), ("A10",))
    work = Workload(prompt=523, context=8192)  # no other test's request
    cards = TimedCards(machines, catalog.model("Llama-3.1-70B", "Q4_K_M"), work, VALUED)
    stacked = Counted(stacks.estimate)
    monkeypatch.setattr(stacks, "estimate", stacked)
    fewest = {card.name: count for card, count, _ in cards.holders}
    assert fewest == {"A10": 2, "RTX 3060 12GB": 4}
    before = stacked.calls
    assert cards.holding("A10", 4) is not None
    assert stacked.calls == before > 0
