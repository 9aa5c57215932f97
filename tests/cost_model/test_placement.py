"""Bytes that each memory must hold, by hand, and their conservation over any division."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Tier,
    all_of,
    capacity,
    missing_bytes,
    whole_bytes,
)
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.units import GIB

LLAMA = catalog.model("Llama-3.1-8B", "BF16-hf")
TIED = catalog.model("Llama-3.2-1B", "BF16-hf")
LAYER = 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096)
"""A layer of Llama 3.1 8B in 16 bits: q and o, k and v of 8 heads of 128, three matrices of the
feed-forward part, two norms; widths from its config.json [B]."""
TABLE = 2 * 128_256 * 4096
CACHE_OF_A_TOKEN = 32 * 2 * 8 * 128 * 2
"""32 layers, keys and values, 8 heads of 128, 2 bytes: 131,072 [B]."""


def placed(on_gpu: float, model: Any = LLAMA, **other: Any) -> Placement:
    """A share of every layer and cache in VRAM, with the head; the rest and the table in RAM."""
    share = np.full(model.layers, on_gpu)
    values: dict[str, Any] = {
        "strategy": PlacementStrategy.CPU_OFFLOAD,
        "gpu_layers": on_gpu * model.layers,
        "cpu_moe": 0.0,
        "weights": {Location.vram(0): all_of(share), Location.RAM: all_of(1.0 - share)},
        "kv": {Location.vram(0): share, Location.RAM: 1.0 - share},
        "embedding": Location.RAM,
        "output": {Location.vram(0): 1.0},
        "buffers": {},
    }
    return Placement(**values | other)


def test_weights_of_each_memory_by_hand() -> None:
    placement = placed(0.25)
    # a quarter of 32 layers and the head, which has the size of the table, and its norm
    assert placement.weight_bytes(LLAMA, Location.vram(0)) == 8 * LAYER + TABLE + 2 * 4096
    assert placement.weight_bytes(LLAMA, Location.RAM) == 24 * LAYER + TABLE
    assert placement.weight_bytes(LLAMA, Location.DISK) == 0


def test_a_tied_head_costs_nothing_beside_its_table_and_a_copy_elsewhere() -> None:
    # Llama 3.2 1B: the table of 128,256 x 2048 in 16 bits is the head as well (525,336,576 B).
    table = 2 * 128_256 * 2048
    beside = placed(1.0, TIED, embedding=Location.vram(0))
    apart = placed(1.0, TIED, embedding=Location.RAM)
    assert beside.weight_bytes(TIED, Location.vram(0)) == TIED.file_bytes
    assert apart.weight_bytes(TIED, Location.vram(0)) == TIED.file_bytes
    assert beside.weight_bytes(TIED, Location.RAM) == 0
    assert apart.weight_bytes(TIED, Location.RAM) == table
    half = placed(1.0, TIED, embedding_shares={Location.vram(0): 0.5, Location.RAM: 0.5})
    assert half.weight_bytes(TIED, Location.vram(0)) == TIED.file_bytes
    assert half.weight_bytes(TIED, Location.RAM) == table / 2


def test_the_cache_of_three_users_by_hand() -> None:
    work = Workload(context=8192, users=3)
    # 131,072 B x 8192 tokens are 1 GiB for each user
    assert placed(0.25).kv_bytes(LLAMA, Location.vram(0), work) == 0.75 * GIB
    assert placed(0.25).kv_bytes(LLAMA, Location.RAM, work) == 2.25 * GIB
    assert placed(0.25).kv_bytes(LLAMA, Location.DISK, work) == 0
    assert 8192 * CACHE_OF_A_TOKEN == GIB


def test_an_allocation_of_the_runtime_takes_the_place_of_the_context() -> None:
    # 100 bytes for each layer and user, whatever the context
    placement = placed(0.5, cache=np.full(32, 100.0))
    assert (
        placement.kv_bytes(LLAMA, Location.RAM, Workload(context=131_072, users=2))
        == 0.5 * 32 * 100 * 2
    )


def test_needs_are_weights_cache_and_buffers() -> None:
    placement = placed(1.0, buffers={Location.vram(0): 3e8, Location.RAM: 1e8})
    work = Workload(context=8192)
    in_vram = 32 * LAYER + TABLE + 2 * 4096 + GIB + 3e8
    assert placement.needed_bytes(LLAMA, Location.vram(0), work) == in_vram
    assert placement.needed_bytes(LLAMA, Location.RAM, work) == TABLE + 1e8
    held = placement.held_bytes(LLAMA, work)
    assert held[Tier.VRAM] == (in_vram,)
    assert held[Tier.RAM] == (TABLE + 1e8,)
    assert held[Tier.DISK] == ()
    assert placement.parts_held(LLAMA, work) == {
        Tier.VRAM: {"weights": in_vram - GIB - 3e8, "KV cache": GIB, "buffers": 3e8},
        Tier.RAM: {"weights": TABLE, "KV cache": 0.0, "buffers": 1e8},
    }


def test_what_is_missing_is_added_over_the_memories() -> None:
    # 14.96 GiB of weights and head and 1 GiB of cache into 8 GiB; a table of 0.98 GiB into 0.5
    small = machine(MachineSpec(gpu="RTX 3090", vram_gb=8, ram_gb=0.5))
    placement = placed(1.0)
    in_vram = 32 * LAYER + TABLE + 2 * 4096 + GIB
    short = (in_vram - 8 * GIB) + (TABLE - 0.5 * GIB)
    assert missing_bytes(LLAMA, placement, small, Workload(context=8192)) == pytest.approx(short)
    # room in one memory is no room in another
    large = machine(MachineSpec(gpu="RTX 3090", vram_gb=8, ram_gb=512))
    missing = missing_bytes(LLAMA, placement, large, Workload(context=8192))
    assert missing == pytest.approx(in_vram - 8 * GIB)


def test_unified_memory_is_a_single_pool() -> None:
    # 9 GiB in the GPU's part and 9 GiB in the rest fit each, and not together into 16 GiB less
    # the 4 that the system keeps.
    mac = machine(MachineSpec(gpu="M4", ram_gb=16))
    assert mac.unified
    gpu, host = (float(memory.value) for memory in (mac.gpus[0].memory, mac.host.memory))
    empty = replace(placed(0.0), weights={}, kv={}, output={}, embedding=Location.DISK)
    nine = replace(empty, buffers={Location.vram(0): 9 * GIB, Location.RAM: 9 * GIB})
    assert gpu > 9 * GIB
    assert missing_bytes(LLAMA, nine, mac, Workload()) == pytest.approx((18 + 4) * GIB - host)
    fits = replace(empty, buffers={Location.vram(0): 9 * GIB, Location.RAM: 1 * GIB})
    assert missing_bytes(LLAMA, fits, mac, Workload()) == 0
    on_drive = replace(fits, buffers={**fits.buffers, Location.DISK: 500 * GIB})
    assert missing_bytes(LLAMA, on_drive, mac, Workload()) == 0


def test_two_machines_of_unified_memory_are_two_pools() -> None:
    # 12 GiB on each GPU fit two machines of 16 GiB, whose systems keep the 2 GiB beside the GPU's
    # part; 5 GiB of RAM more are the first one's, whose 17 GiB are 3 GiB too many, whatever is free
    # in the second.
    macs = machine(MachineSpec(gpu="M4", ram_gb=16, vram_gb=14, machines=2))
    empty = replace(placed(0.0), weights={}, kv={}, output={}, embedding=Location.DISK)
    each = {Location.vram(0): 12 * GIB, Location.vram(1): 12 * GIB}
    assert missing_bytes(LLAMA, replace(empty, buffers=each), macs, Workload()) == 0
    more = replace(empty, buffers={**each, Location.RAM: 5 * GIB})
    assert missing_bytes(LLAMA, more, macs, Workload()) == pytest.approx(3 * GIB)
    alone = replace(macs, gpus=macs.gpus[:1], nodes=1)
    both = replace(empty, buffers={Location.vram(0): 12 * GIB, Location.RAM: 5 * GIB})
    assert missing_bytes(LLAMA, both, alone, Workload()) == pytest.approx(3 * GIB)


def test_a_drive_holds_everything() -> None:
    small = machine(MachineSpec(gpu="RTX 3090", ram_gb=16))
    assert capacity(small, Location.DISK) == np.inf
    assert capacity(small, Location.RAM) == 16 * GIB


def test_memories_are_listed_fastest_first_and_by_device() -> None:
    placement = placed(
        0.5,
        output={Location.vram(1): 1.0},
        buffers={Location.DISK: 1.0, Location.vram(0): 1.0},
        embedding=Location.RAM,
    )
    assert placement.locations == (Location.vram(0), Location.vram(1), Location.RAM, Location.DISK)


def test_a_memory_without_a_part_that_is_read_holds_nothing() -> None:
    placement = placed(1.0, buffers={Location.RAM: 1e9})
    assert placement.holds(Location.vram(0))
    assert not placement.holds(Location.RAM)  # the table is gathered, buffers are not read
    assert replace(placement, kv={Location.RAM: np.ones(32)}).holds(Location.RAM)
    assert replace(placement, output={Location.RAM: 1.0}).holds(Location.RAM)
    assert replace(placement, weights={Location.RAM: {Group.NORMS: np.ones(32)}}).holds(
        Location.RAM
    )


def test_an_impossible_combination_misses_everything() -> None:
    # 16 GB of weights and 2 users of 1 GiB
    whole = whole_bytes(LLAMA, Workload(context=8192, users=2))
    assert whole == 32 * LAYER + 2 * TABLE + 2 * 4096 + 2 * GIB


@settings(max_examples=50)
@given(st.floats(0, 1), st.integers(1, 64), st.integers(1024, 131_072))
def test_no_byte_is_lost_or_held_twice(share: float, users: int, context: int) -> None:
    work = Workload(context=context, users=users, prompt=512, output=256)
    placement = placed(share)
    weights = sum(float(placement.weight_bytes(LLAMA, at)) for at in placement.locations)
    cache = sum(float(placement.kv_bytes(LLAMA, at, work)) for at in placement.locations)
    assert weights == pytest.approx(LLAMA.file_bytes, rel=1e-12)
    assert cache == pytest.approx(context * CACHE_OF_A_TOKEN * users, rel=1e-12)


@settings(max_examples=50)
@given(st.floats(1, 200), st.floats(1, 200), st.floats(0, 1))
def test_more_memory_never_misses_more(number: float, other: float, share: float) -> None:
    small, large = sorted((number, other))
    missing = [
        missing_bytes(
            LLAMA,
            placed(share),
            machine(MachineSpec(gpu="RTX 3090", vram_gb=gib, ram_gb=32)),
            Workload(users=4),
        )
        for gib in (small, large)
    ]
    assert missing[1] <= missing[0]
    # each GiB more removes a GiB of what is missing, until nothing is
    assert missing[0] - missing[1] <= (large - small) * GIB * (1 + 1e-12)
