"""Order of the probes: the one that narrows a usual answer most comes first."""

from advisor.advice.next_probe import in_order
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec

PROBES = ("ram", "disk", "gpu", "engine")
CORES = MachineSpec(gpu="none", cpu="Ryzen 9 7950X", ram_gb=64)
DRIVE = MachineSpec(gpu="none", cpu="Ryzen 5 5600", ram_gb=8)
LARGE_CARD = MachineSpec(gpu="RTX 3090", ram_gb=64)


def test_what_takes_most_of_the_time_is_measured_first() -> None:
    """Cores take all of a token's time in RAM: a timed llama.cpp says most of them."""
    order = in_order(machine(CORES), PROBES)
    assert order[0] == "engine"
    assert set(order) == set(PROBES)


def test_a_drive_that_weights_come_from_tells_more_than_the_link_to_no_gpu() -> None:
    """19 GB of weights beside 8 GB of RAM."""
    order = in_order(machine(DRIVE), PROBES)
    assert order.index("disk") < order.index("gpu")
    assert order.index("disk") < order.index("ram")


def test_a_model_in_the_card_leaves_the_usual_order() -> None:
    """No probe measures the rate of a card's own memory, so none narrows the answer."""
    assert in_order(machine(LARGE_CARD), PROBES) == list(PROBES)
