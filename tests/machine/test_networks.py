"""Networks between machines, by name."""

import pytest

from advisor.errors import InputError
from advisor.machine.catalog import MACHINES
from advisor.machine.from_spec import machine
from advisor.machine.machine import network_named, usual_network

GBIT = 1e9 / 8


@pytest.mark.parametrize(
    ("text", "rate", "reduce"),
    [
        ("10GbE", 0.94 * 10 * GBIT, 100e-6),  # 94 % behind headers of TCP
        ("2.5 Gbit/s", 0.94 * 2.5 * GBIT, 100e-6),
        ("25GbE RoCE", 0.92 * 25 * GBIT, 15e-6),
        ("200GbE", 0.92 * 200 * GBIT, 15e-6),  # cards of that rate read memory themselves
        ("ConnectX-7", 0.92 * 200 * GBIT, 15e-6),
        ("2x 100G RoCE", 0.92 * 200 * GBIT, 15e-6),
        ("InfiniBand 400G", 0.92 * 400 * GBIT, 15e-6),
        ("Thunderbolt 5", 0.75 * 80 * GBIT, 25e-6),
        ("TB4", 0.5 * 40 * GBIT, 300e-6),
    ],
)
def test_a_network_has_a_rate_and_the_time_of_a_sum(text: str, rate: float, reduce: float) -> None:
    network = network_named(text)
    assert float(network.rate.value) == pytest.approx(rate)
    assert float(network.reduce.value) == pytest.approx(reduce)


def test_an_unknown_network_is_refused_with_the_kinds() -> None:
    with pytest.raises(InputError, match="RoCE, Thunderbolt 5, Thunderbolt 4, Ethernet"):
        network_named("carrier pigeon")


def test_machines_are_joined_by_what_they_are_built_with() -> None:
    assert usual_network("GB10").name == "RoCE, 200 Gbit/s"
    assert usual_network("Apple M3 Ultra 80c").name == "Thunderbolt 5, 80 Gbit/s"
    assert usual_network("Apple M1 Max 32c").name == "Thunderbolt 4, 40 Gbit/s"
    assert usual_network("RTX 3090").name == "Ethernet, 10 Gbit/s"


def test_nccl_passes_sums_of_two_gb10_through_the_host() -> None:
    pair = machine(MACHINES.named("2x DGX Spark").spec)
    assert pair.network is not None
    assert pair.network.reduce is not None
    assert pair.network.staged is not None
    rounds = pair.network.reduce.value
    copied = pair.network.staged.value
    # Sums of 8 and 64 kB as measured by others between two: 30 to 41 us, 66 to 127 us.
    small, large = (rounds + size / copied for size in (8e3, 64e3))
    assert 30e-6 < float(small) < 41e-6
    assert 66e-6 < float(large) < 127e-6
    assert usual_network("GB10").name == network_named("200GbE").name
    other = machine(MACHINES.named("2x Framework Desktop 128GB over 200GbE").spec).network
    assert other is not None
    assert other.staged is None


def test_a_second_machine_brings_every_figure_of_its_network() -> None:
    network = network_named("10GbE")
    pair = machine(MACHINES.named("DGX Spark").spec).joined(2, network)
    assert pair.network == network


NAMES = {
    "2x DGX Spark over 200GbE": (2, "200gbe"),
    "2x DGX Spark (ConnectX-7, 200Gbps)": (2, "connectx-7, 200gbps"),
    "cluster of 4 Mac mini M4 Pro 64GB": (4, None),
    "4x Mac Studio M3 Ultra (RDMA over TB5)": (4, "rdma over tb5"),
    "two Strix Halo over 10GbE": (2, "10gbe"),
    "2x Framework Desktop 128GB, 10GbE": (2, "10gbe"),
    "4 x GB10 RoCE 200G": (4, "roce 200g"),
    "RTX 4090 with 10GbE": (1, None),
    "3090x8 server 1.5 TB RAM": (8, None),
}


def test_a_machine_is_named_with_its_network() -> None:
    wrong = {}
    for name, (count, network) in NAMES.items():
        spec = MACHINES.named(name).spec
        gpus = spec.gpu_count * spec.machines * int("2x" in str(spec.gpu) or 1)
        stated = spec.network and spec.network.removeprefix("over ")
        if (gpus, stated) != (count, network):
            wrong[name] = (spec.gpu, gpus, spec.network)
    assert not wrong
