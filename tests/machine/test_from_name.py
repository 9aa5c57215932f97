"""Machine from its name, with typed values on top."""

import pytest

from advisor.errors import UnknownName
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.units import GIB

MAC = "MacBook Pro M3 Max"
SIZES = "sold with 36, 48, 64, 96 or 128 GB"
"""Apple's technical specifications of the MacBook Pro with M3 Max, 2023-10-30."""


def test_assumed_memory_is_stated_with_the_sizes_that_are_sold() -> None:
    machine = machine_by_name(MAC)
    assert any(note.startswith("Taken with ") and SIZES in note for note in machine.notes)


def test_typed_memory_replaces_the_assumption_and_its_note() -> None:
    machine = machine_by_name(MAC, MachineSpec(ram_gb=64))
    assert float(machine.host.memory.value) == 64 * GIB
    assert not any(SIZES in note for note in machine.notes)
    assert any("GPU cores" in note for note in machine.notes)


def test_a_typed_value_besides_memory_leaves_its_note() -> None:
    machine = machine_by_name(MAC, MachineSpec(ram_gbs=250))
    assert float(machine.host.bandwidth.value) == 250e9
    assert any(SIZES in note for note in machine.notes)


def test_memory_that_a_chips_name_does_not_say_is_said_and_one_number() -> None:
    """Strix Halo is sold with up to 128 GB; it had 64 of RAM beside 96 for its graphics."""
    machine = machine_by_name("strix halo")
    assert machine.host.memory.value == 128 * GIB
    assert float(machine.gpus[0].memory.value) <= 128 * GIB
    stated = [note for note in machine.notes if "128 GB is assumed" in note]
    assert len(stated) == 1
    assert not any("GB is assumed" in note for note in machine_by_name("strix halo 96GB").notes)


def test_memory_that_a_list_of_parts_lacks_is_said() -> None:
    notes = machine_by_name("2x 3090 Threadripper").notes
    assert any("How much memory it has is not said" in note for note in notes)
    notes = machine_by_name("2x 3090 Threadripper 128GB").notes
    assert not any("How much memory" in note for note in notes)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="my toaster"):
        machine_by_name("my toaster")


@pytest.mark.parametrize(
    ("name", "host", "cores"),
    [
        ("gpu-h100x8-640gb", "Server 8-channel DDR4-3200 (typical)", 80),
        ("1x_L4_28V_124G", "Server 8-channel DDR4-3200 (typical)", 14),
        ("8x MI300X server", "Server 8-channel DDR4-3200 (typical)", 32),
        ("gpu_1x_gh200", "NVIDIA Grace", 72),
        ("2x 3090", "Desktop DDR5 dual-channel (typical)", 8),
    ],
)
def test_a_rented_machine_of_unknown_processor_is_no_desktop(
    name: str, host: str, cores: int
) -> None:
    """Virtual processors are half a core; a typed processor replaces the assumption."""
    machine = machine_by_name(name)
    assert (machine.host.name, machine.host.cores) == (host, cores)
    typed = machine_by_name(name, MachineSpec(cpu="EPYC 7763"))
    assert typed.host.name == "EPYC 7763"
    assert not any("not known" in note for note in typed.notes)


def test_a_share_of_a_server_has_a_share_of_its_memory_channels() -> None:
    """14 of 32 cores of a typical server with 8 channels of DDR4-3200 have 4 channels (3.5)."""
    whole = machine_by_name("8x MI300X server").host.bandwidth.value
    part = machine_by_name("1x_L4_28V_124G").host.bandwidth.value
    assert part / whole == pytest.approx(4 / 8, rel=0.01)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("HP Z440 Xeon E5-1650 v4, Quadro K2200 4GB, 64GB DDR4", Form.DESKTOP),
        ("HP Z8 G4 2x Xeon Gold 6130 192GB", Form.DESKTOP),
        ("Dell Precision T5810 Xeon E5-2680 v4 64GB RTX 3060", Form.DESKTOP),
        ("Dell Precision 7920 Tower 2x Xeon Gold 6130 96GB", Form.DESKTOP),
        ("Dell PowerEdge R740 2x Xeon Gold 6130 192GB", Form.SERVER),
    ],
)
def test_towers_of_workstations_are_no_rack_servers(name: str, form: Form) -> None:
    assert machine_by_name(name, MachineSpec()).form is form


@pytest.mark.parametrize(
    ("name", "cards", "idle"),
    [
        ("RTX 4070, Ryzen 5 5600, 32GB DDR4, and an idle RX 6700 XT", "RTX 4070", "RX 6700 XT"),
        ("RTX 3090, 64GB DDR4, a second RTX 3090 in the drawer", "RTX 3090", "RTX 3090"),
        ("RTX 3090 + an unused P40, 64 GB", "RTX 3090", "P40"),
        ("Ryzen 5 5600, 32GB, RTX 3070 not installed", "", "RTX 3070"),
        ("RTX 3090 (idle 30W), 64GB", "RTX 3090", ""),
        ("RTX 3090, spare PCIe slot, 64GB", "RTX 3090", ""),
        ("RTX 3090 and P40, 64GB", "RTX 3090 P40", ""),
    ],
)
def test_cards_that_lie_beside_a_machine_are_owned_and_not_in_it(
    name: str, cards: str, idle: str
) -> None:
    machine = machine_by_name(name)
    assert " ".join(gpu.name for gpu in machine.gpus) == cards
    assert " ".join(gpu.name for gpu in machine.idle) == idle
