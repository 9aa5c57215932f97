"""Memory of named GPUs: what a name leaves open, and virtual machines' parts of a card."""

from collections import Counter

import pytest

from advisor.errors import InputError
from advisor.machine.catalog import GPUS
from advisor.machine.from_spec import machine
from advisor.machine.identify import machine_by_name
from advisor.machine.names.words import any_of
from advisor.machine.shared_memory import (
    KEPT_BY_WINDOWS_GIB,
    NO_SCREEN,
    ON_WINDOWS_GIB,
    drives_screens,
)
from advisor.machine.spec import MachineSpec
from advisor.units import GIB


def test_a_card_sold_with_less_memory_says_which_size_is_assumed() -> None:
    notes = GPUS.named("RTX 4060 Ti").notes
    assert notes == ("RTX 4060 Ti is sold with 8 or 16 GB: 16 GB is assumed.",)


def test_a_stated_size_or_the_smallest_needs_no_note() -> None:
    assert not GPUS.named("RTX 4060 Ti 8GB").notes
    assert not GPUS.named("RTX 4090").notes  # 48 GB ones exist, changed by others


def test_a_virtual_machines_part_of_a_card_has_its_own_memory() -> None:
    spec = MachineSpec(gpu="NVIDIA A10-8Q", cpu="EPYC 7763", ram_gb=64)
    assert machine(spec).gpus[0].memory.value == 8 * GIB
    assert GPUS.named("A10-8Q").notes == ("A virtual machine's 8 GB of the memory of A10.",)


def test_a_typed_size_comes_before_the_part() -> None:
    spec = MachineSpec(gpu="NVIDIA A10-8Q", vram_gb=6, cpu="EPYC 7763", ram_gb=64)
    assert machine(spec).gpus[0].memory.value == 6 * GIB


@pytest.mark.parametrize("name", ["RTX 4090", "RX 7900 XTX", "Arc B580", "RTX A6000", "GTX 1080"])
def test_a_card_of_a_desktop_says_that_no_screen_is_counted(name: str) -> None:
    assert drives_screens(GPUS.find(name))
    assert machine(MachineSpec(gpu=name)).gpus[0].memory.source.endswith(NO_SCREEN)
    assert NO_SCREEN not in machine(MachineSpec(gpu=name, vram_gb=8)).gpus[0].memory.source


@pytest.mark.parametrize(
    "name",
    ["H100", "T4", "L40S", "RTX 4090 Laptop", "MI300X", "Apple M4 Max", "Radeon 780M", "RX 7900M"],
)
def test_a_card_without_a_screen_says_nothing(name: str) -> None:
    assert not drives_screens(GPUS.find(name))
    assert NO_SCREEN not in machine(MachineSpec(gpu=name)).gpus[0].memory.source


def _free(**typed: object) -> list[float]:
    """Memory of each GPU that is left to programs [GiB]."""
    return [float(gpu.memory.value) / GIB for gpu in machine(MachineSpec(**typed)).gpus]  # type: ignore[arg-type]


def test_windows_takes_a_part_of_the_first_card_of_a_desktop() -> None:
    """Two logs of Windows: 12226 - 11013 = 1213 MiB of an RTX 5070, 11.0 - 9.9 = 1.1 GiB of an RTX
    2080 Ti; 400 MiB of both are the context: 813 and 726 MiB, 0.75 GiB between them.
    """
    both = (12226 - 11013 - 400) / 1024, (11.0 - 9.9) - 400 / 1024
    assert min(both) < ON_WINDOWS_GIB < max(both)
    (linux,) = _free(gpu="RTX 4090")
    (windows,) = _free(gpu="RTX 4090", system="windows")
    assert linux - windows == pytest.approx(ON_WINDOWS_GIB)
    first, second = _free(gpu="RTX 4090", gpu_count=2, system="windows")
    assert (first, second) == (pytest.approx(windows), pytest.approx(linux))


@pytest.mark.parametrize("name", ["RTX 4090 Laptop", "L40S", "Radeon 780M", "Quadro RTX 6000 24GB"])
def test_windows_takes_nothing_of_cards_without_a_screen_and_of_typed_sizes(name: str) -> None:
    if "Quadro" in name:
        size = {"vram_gb": 24}
    else:
        size = {}
    assert _free(gpu=name, system="windows", **size) == _free(gpu=name, **size)


def test_the_memory_of_screens_can_be_stated_on_every_system() -> None:
    (whole,) = _free(gpu="RTX 3090")
    assert _free(gpu="RTX 3090", screen_gb=1.5) == [pytest.approx(whole - 1.5)]
    assert _free(gpu="RTX 3090", screen_gb=0, system="linux") == [whole]
    assert _free(gpu="RTX 3090", vram_gb=24, screen_gb=1) == [23]
    told = machine(MachineSpec(gpu="RTX 3090", screen_gb=1.5)).gpus[0].memory.source
    assert told.endswith("less 1.5 GB of screens, as stated")


def test_windows_keeps_a_part_of_a_card_beside_a_stated_screen() -> None:
    (whole,) = _free(gpu="RTX 3090")
    for screen in (0, 0.05, 1.5):
        left = whole - screen - KEPT_BY_WINDOWS_GIB
        assert _free(gpu="RTX 3090", screen_gb=screen, system="windows") == [pytest.approx(left)]
    told = machine(MachineSpec(gpu="RTX 3090", screen_gb=0.05, system="windows")).gpus[0]
    assert "that Windows keeps" in told.memory.source
    assert KEPT_BY_WINDOWS_GIB < ON_WINDOWS_GIB


def test_screens_that_take_all_of_a_card_are_refused() -> None:
    with pytest.raises(InputError, match=r"--screen-gb.* is 5 GB; GTX 1650 has 3.56 GB"):
        machine(MachineSpec(gpu="GTX 1650", screen_gb=5))


def test_a_typed_size_that_no_card_has_is_refused_or_told() -> None:
    with pytest.raises(InputError, match=r"--vram-gb.* is 5000; allowed is 0.1 to 1,024 GB"):
        machine(MachineSpec(gpu="RTX 4090", vram_gb=5000))
    told = machine(MachineSpec(gpu="RTX 3060", vram_gb=48)).notes
    assert any("typed 48 GB" in note and "8 or 12 GB" in note for note in told)


def test_the_typed_size_of_a_changed_card_counts_without_a_word() -> None:
    changed = machine(MachineSpec(gpu="RTX 3070", vram_gb=16))
    assert changed.gpus[0].memory.value == 16 * GIB
    assert not any("GB of GPU memory" in note for note in changed.notes)


@pytest.mark.parametrize(
    ("card", "size"),
    [("RTX 2080 Ti", 22), ("RTX 3080", 20), ("RTX 4080 Super", 32), ("RTX 4090", 48)],
)
def test_a_changed_card_is_read_wherever_its_size_stands(card, size) -> None:
    for typed in (
        f"{card} {size}GB, 64GB RAM",
        f"{card} modified to {size}GB, 64GB RAM",
        f"{size}GB {card}, 64 GB RAM",
        f"64GB DDR5, {size}GB {card}",
    ):
        taken = machine_by_name(typed)
        assert round(taken.gpus[0].memory.value / GIB + 0.2) == size, (
            typed
        )  # less the driver's part
        assert taken.host.memory.value / GIB == 64, typed


def test_a_size_before_a_card_is_the_machines_where_no_other_is() -> None:
    for typed in ("64GB RTX 3090", "Ryzen 7 7700, 32GB RTX 4080"):
        taken = machine_by_name(typed)
        assert 15 < taken.gpus[0].memory.value / GIB < 25, typed
        assert taken.host.memory.value / GIB in (64, 32), typed


def test_a_size_before_a_card_is_its_own_where_it_is_sold_with_it() -> None:
    bare = any_of("sized").sub
    rows = [row for row in GPUS.rows().values() if not row.unified and "Laptop" not in row.name]
    names = Counter(bare("", row.name) for row in rows)
    sold = [row for row in rows if names[bare("", row.name)] > 1 and "Max-Q" not in row.name]
    assert len(sold) > 80
    for row in sold:
        size = f"{row.memory_gib:g}GB {bare('', row.name)}"
        for text in (
            *(f"{size}, 128GB RAM", f"{size} with 128GB RAM", f"128GB RAM {size}"),
            *(f"{size}, 48GB", f"{size} and 48gb", f"48GB, {size}", f"{size}, i5-12400, 48GB"),
        ):
            (card,) = machine_by_name(text).gpus
            assert card.name == row.name, text


@pytest.mark.parametrize(
    ("text", "card", "ram_gb"),
    [
        ("20GB RTX 3080, 64GB", "RTX 3080 20GB", 64),
        ("Ryzen 5 16GB RTX 4060 8GB 512GB SSD", "RTX 4060", 16),
        ("i7-14700F 32GB RTX 5090 2TB SSD", "RTX 5090", 32),
        ("32GB i7-12700 16GB 4060 Ti", "RTX 4060 Ti 16GB", 32),
    ],
)
def test_of_two_sizes_the_card_has_the_one_that_it_is_sold_with(
    text: str, card: str, ram_gb: float
) -> None:
    taken = machine_by_name(text)
    assert [gpu.name for gpu in taken.gpus] == [card]
    assert taken.host.memory.value == ram_gb * GIB


@pytest.mark.parametrize("rate", [2400, 2666, 3200, 5600, 6000, 6400])
@pytest.mark.parametrize(
    "memory",
    [
        "64GB {}MHz",
        "64GB at {}MHz,",
        "64GB RAM at {} MHz,",
        "64GB DDR5 at {}MHz",
        "2x32GB @ {}MHz",
        "RAM: 64GB ({}MHz)",
        "64GB {} MT/s",
    ],
)
def test_rates_of_memory_are_read_in_mhz_too(memory: str, rate: int) -> None:
    host = machine_by_name(f"9950X {memory.format(rate)} 4090").host
    assert f"{rate} MT/s" in host.bandwidth.source


def test_the_clock_of_a_processor_is_no_rate_of_memory() -> None:
    host = machine_by_name("AMD Ryzen 5 5600G @ 3901 MHz, 32GB, RTX 3060").host
    assert "3901" not in host.bandwidth.source


def test_the_maker_of_a_chip_may_stand_before_a_small_machine() -> None:
    # lmstudio-ai/lmstudio-bug-tracker, issue 1218: "AMD GMKTec EVO-X2 128GB shared RAM"
    machine_named = machine_by_name("AMD GMKTec EVO-X2 128GB shared RAM")
    assert machine_named.gpus[0].name == machine_by_name("GMKtec EVO-X2 128GB").gpus[0].name
