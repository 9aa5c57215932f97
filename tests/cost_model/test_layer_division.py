"""Layers of each memory, counted by hand, and that each lies on one GPU."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cost_model.placement import all_of, gpu_shares, last_layers, layers_that_fit, over_gpus
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import LAYERED

SMALL = catalog.model("Llama-3.2-1B", "BF16-hf")
"""A model of 16 layers."""


def cards(count: int = 1, gpu: str = "RTX 3090", **other: Any) -> Machine:
    return machine(MachineSpec(gpu=gpu, gpu_count=count, ram_gb=64, **other))


def test_the_last_layers_are_counted_from_the_head() -> None:
    assert last_layers(SMALL, 3).tolist() == [0] * 13 + [1] * 3
    assert last_layers(SMALL, 0).sum() == 0
    assert last_layers(SMALL, 16).sum() == 16
    assert last_layers(SMALL, 99).sum() == 16
    swept = last_layers(SMALL, np.array([1.0, 5.0]))
    assert swept.shape == (2, 16)
    assert swept.sum(axis=-1).tolist() == [1, 5]


def test_as_many_last_layers_as_fit() -> None:
    # From the head: 4, then 4 + 3 = 7, then 9, then 10.
    per_layer = np.array([1.0, 2.0, 3.0, 4.0])
    for budget, count in ((0, 0), (3.9, 0), (4, 1), (6.9, 1), (7, 2), (9, 3), (10, 4), (99, 4)):
        assert layers_that_fit(per_layer, float(budget)) == count
    assert layers_that_fit(per_layer, np.array([4.0, 9.5])).tolist() == [1, 3]
    assert layers_that_fit(per_layer, -1.0) == 0


def test_equal_cards_share_evenly() -> None:
    first, second = over_gpus(cards(2), np.ones(16))
    assert first.tolist() == [1] * 8 + [0] * 8
    assert (first + second).tolist() == [1] * 16
    # 16 layers on 3 cards: a layer goes where its middle lies, at (i + 1/2) / 16
    # below 1/3: i + 1/2 <= 5.33, 5 layers; below 2/3: i + 1/2 <= 10.67, 6 more
    assert [part.sum() for part in over_gpus(cards(3), np.ones(16))] == [5, 6, 5]


def test_a_larger_card_takes_more() -> None:
    # 24 GiB beside 12 (what a driver leaves of either is a like share): two thirds
    both = cards(gpu="RTX 3090 + RTX 3060")
    large, small = (float(share) for share in gpu_shares(both))
    sizes = [float(gpu.memory.value) for gpu in both.gpus]
    assert large == pytest.approx(sizes[0] / (sizes[0] + sizes[1]))
    assert large + small == pytest.approx(1)
    # middles below 0.667: i + 1/2 <= 10.67, 11 of 16 layers
    assert 0.656 < large < 0.718
    assert over_gpus(both, np.ones(16))[0].sum() == 11


def test_only_layers_on_a_gpu_are_divided() -> None:
    first, second = over_gpus(cards(2), last_layers(SMALL, 6))
    assert first.tolist() == [0] * 10 + [1] * 3 + [0] * 3
    assert second.tolist() == [0] * 13 + [1] * 3


def test_heavy_layers_and_the_head_count_by_their_bytes() -> None:
    # 10 of 20 bytes are the first layer: middles at 5, 10.5, ..., 19.5 of 20; below 10 only it
    held = np.array([10.0] + [1.0] * 10)
    assert over_gpus(cards(2), np.ones(11), held)[0].tolist() == [1] + [0] * 10
    # 4 layers of 1 byte and a head of 4: middles at 0.5 to 3.5 of 8, all below 4
    first, second = over_gpus(cards(2), np.ones(4), np.ones(4), tail=4.0)
    assert (first.sum(), second.sum()) == (4, 0)
    # with a head of 2: middles at 0.5, 1.5, 2.5 of 6 lie below 3, that at 3.5 does not
    assert over_gpus(cards(2), np.ones(4), np.ones(4), tail=2.0)[0].tolist() == [1, 1, 1, 0]


@given(
    st.integers(1, 8),
    st.lists(st.floats(0.1, 10), min_size=1, max_size=40),
    st.floats(0, 20),
)
def test_every_layer_lies_on_a_single_card_in_order(
    count: int, held: list[float], tail: float
) -> None:
    parts = over_gpus(cards(count), np.ones(len(held)), np.array(held), tail)
    assert sum(parts).tolist() == [1] * len(held)
    device = np.argmax(np.array(parts), axis=0)
    assert np.all(np.diff(device) >= 0)


@given(st.integers(1, 8), st.integers(1, 128))
def test_equal_cards_differ_by_a_layer_at_most(count: int, layers: int) -> None:
    numbers = [part.sum() for part in over_gpus(cards(count), np.ones(layers))]
    assert max(numbers) - min(numbers) <= 1


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=40), st.floats(0, 500))
def test_what_fits_fits_and_another_layer_does_not(held: list[float], budget: float) -> None:
    count = int(layers_that_fit(np.array(held), budget))
    assert sum(held[len(held) - count :]) <= budget * (1 + 1e-12)
    if count < len(held):
        assert sum(held[len(held) - count - 1 :]) > budget * (1 - 1e-12)


def test_a_share_of_all_is_that_of_every_group() -> None:
    share = np.full(16, 0.5)
    assert set(all_of(share)) == set(LAYERED)
    assert Group.EMBEDDING not in all_of(share)
    assert all(part is share for part in all_of(share).values())
