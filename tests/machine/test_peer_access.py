"""Which cards read each other's memory, and what it means for what they exchange."""

import pytest

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.schedule import Exchange, ExchangePath
from advisor.cost_model.timing import HOST_MEMORY, NVLINK, exchange_seconds, peer_path
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.machine.stacked import stacked


@pytest.mark.parametrize(
    ("gpu", "path"),
    [
        ("RTX 2080 Ti", HOST_MEMORY),
        ("RTX 3090", HOST_MEMORY),
        ("RTX 4060 Ti 16GB", HOST_MEMORY),
        ("RTX 4090D 48GB", HOST_MEMORY),
        ("RTX 5090", HOST_MEMORY),
        ("RTX 6000 Ada", ""),
        ("RTX 5000 Ada", ""),
        ("RTX PRO 6000 Blackwell", ""),
        ("RTX A6000", ""),
        ("Quadro RTX 6000", ""),
        ("GTX 1080 Ti", ""),
        ("L40S", ""),
        ("Radeon AI PRO R9700", ""),
        ("H100 SXM", NVLINK),
    ],
)
def test_geforce_cards_exchange_through_the_host(gpu: str, path: str) -> None:
    assert peer_path(machine(MachineSpec(gpu=gpu, gpu_count=2, ram_gb=64)).gpus[0]) == path


def test_a_bridge_takes_the_place_of_the_host() -> None:
    bridged = machine(MachineSpec(gpu="RTX 3090", gpu_count=2, bridge=True, ram_gb=64))
    assert peer_path(bridged.gpus[0]) == NVLINK


def test_four_cards_on_one_path_take_longer_than_a_ring_by_hand() -> None:
    """A ring of four moves 1.5 times the bytes of a ring of two; on a shared path more."""
    where = machine(MachineSpec(gpu="RTX 3090", gpu_count=4, ram_gb=64))
    constants = Constants.fitted().bound(Scope(runtime="vllm"))

    def seconds(gpus: int) -> float:
        ring = 2.0 * (gpus - 1) / gpus
        exchange = Exchange(
            way=ExchangePath.PEER, times=1.0, moved=ring * 1e9, reduces=True, gpus=gpus
        )
        return float(exchange_seconds(exchange, where, constants))

    sharing = float(constants.value("peer_sharing", HOST_MEMORY))
    assert seconds(4) / seconds(2) == pytest.approx(1.5 * (1 + 2 * sharing), rel=0.01)


def test_pairs_on_different_paths_exchange_together_as_alone() -> None:
    pairs = [
        machine(MachineSpec(gpu=gpu, gpu_count=2, ram_gb=64, bridge=bridge))
        for gpu, bridge in (
            ("RTX 3090", True),
            ("RTX 3090", False),
            ("RTX A6000", False),
            ("RX 7900 XTX", False),
        )
    ]
    constants = Constants.fitted().bound(Scope(runtime="vllm"))
    for reduces in (True, False):
        exchange = Exchange(way=ExchangePath.PEER, times=3.0, moved=1e6, reduces=reduces, gpus=4)
        together = exchange_seconds(exchange, stacked(pairs), constants)
        alone = [float(exchange_seconds(exchange, pair, constants)) for pair in pairs]
        assert together == pytest.approx(alone, rel=1e-12)
