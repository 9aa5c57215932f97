"""Whatever is typed as a machine is used, or named as not used; what is none is asked back."""

import csv
import random
import re
from pathlib import Path

import pytest

from advisor.errors import InputError, UnknownName
from advisor.machine import catalog, from_spec
from advisor.machine.catalog import MACHINES
from advisor.machine.identify import Identified, machine_by_name
from advisor.machine.names import words
from advisor.machine.names.words import plain
from advisor.machine.spec import MachineSpec
from advisor.units import GIB

RIGS = Path(__file__).parents[2] / "samples/names/rigs.csv"
NAMES = (
    "RTX 3090, 64GB RAM",
    "2x RTX 3090, Ryzen 9 5950X, 128GB DDR4",
    "MacBook Pro M4 Max 64GB",
    "Framework Desktop 128GB",
    "Legion 5 RTX 4070 32GB",
    "EPYC 7532, 256GB",
    "DGX Spark",
    "Xeon Gold 6248, 192GB, RTX A6000",
)
STRANGE = ("zyxowatt", "quuxcard", "foobarium", "blorb", "wibblechip")


def told(name: str) -> str:
    return " ".join(MACHINES.named(name).notes)


@pytest.mark.parametrize("word", STRANGE)
@pytest.mark.parametrize("name", NAMES)
def test_a_word_that_no_part_explains_is_named(name, word) -> None:
    for typed in (f"{name}, {word}", f"{word} {name}", f"{name} with {word}"):
        assert repr(word) in told(typed), typed


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_known_words_alone_leaves_nothing(name) -> None:
    assert "left out" not in told(name)
    assert "left out" not in told(f"my {name}, black, Ubuntu 24.04")


@pytest.mark.parametrize("name", [name for name in NAMES if "GB" in name])
def test_a_size_of_memory_is_used_or_named(name) -> None:
    for size in (3, 91, 384):
        typed = f"{name}, {size}GB"
        named = MACHINES.named(typed)
        sizes = [named.spec.ram_gb, named.spec.vram_gb]
        assert size in sizes or f"'{size}gb'" in told(typed), typed


def test_every_number_of_published_rigs_is_used_or_named() -> None:
    """Of rigs that people wrote: each word with three digits or more is of a part that is taken, of
    a size, rate or release, or is told to be left out.
    """
    with RIGS.open(encoding="utf-8") as file:
        rigs = [row["typed"] for row in csv.DictReader(file)]
    silent = []
    for name in random.Random(43).sample(rigs, 120):
        try:
            named = MACHINES.named(name)
        except InputError:
            continue
        parts = [named.name, str(named.spec), *map(str, named.notes)]
        for card in str(named.spec.gpu).split(" + "):
            row = catalog.GPUS.rows().get(re.sub(r"^\d+x ", "", card))
            parts += [row.aliases] if row else []
        if named.preset:
            parts += [named.preset.name, named.preset.aliases, named.preset.cpu]
        known = " ".join(parts).casefold()
        bare = words.without("line", plain(name))  # "XPS 16 9640": a series of laptops
        for number in re.findall(r"(?<![\w.,-])\d{4}(?![\w.,-]| ?mib)", bare):
            year_or_rate = 1990 < int(number) < 2100 or int(number) % 100 == 0 or number in RATES
            if number not in known and not year_or_rate:
                silent.append((number, name))
    assert not silent


RATES = ("2133", "2666", "2933", "1866", "1024", "2048", "3072", "4096")


@pytest.mark.parametrize(
    ("name", "ram", "card"),
    [
        ("RTX 4060 8GB RAM 32GB", 32, 8),
        ("RTX 4060 8GB, RAM: 32GB", 32, 8),
        ("ノートPC RTX 4060 8GB メモリ 32GB", 32, 8),  # noqa: RUF001  Japanese
        ("显卡 RTX 4090 48G 内存 128G DDR5", 128, 48),
        ("видеокарта RTX 4060 Ti 16 ГБ, память 32 ГБ", 32, 16),
        ("그래픽카드 RTX 3060 12GB 램 32GB", 32, 12),
        ("RTX 3060 12GB, Arbeitsspeicher 32 GB", 32, 12),
        ("RTX 3060 12 Go, 32 Go de RAM", 32, 12),
        ("RTX 3060 12GB, memoria RAM 32GB", 32, 12),
        ("RTX 3090 24GB RAM 64GB DDR4", 64, 24),
        ("RTX 3090, 16GB RAM 512GB SSD", 16, 24),
        # a changed card beside the machine's memory
        ("RTX 4080 Super 32GB, 64GB RAM", 64, 32),
        ("RTX 3070 16GB, Ryzen 5600, 32GB DDR4", 32, 16),
    ],
)
def test_each_size_is_of_what_it_stands_beside(name, ram, card) -> None:
    taken = Identified.of(name)
    assert (taken.ram_gib, taken.memory_gib) == (ram, card)


@pytest.mark.parametrize(
    ("name", "count", "lanes"),
    [
        ("RTX 4090 x4 slot", 1, 4),
        ("RTX 4090 in an x8 slot, 64GB", 1, 8),
        ("RTX 3090 on x1 riser", 1, 1),
        ("RTX 3090 with a mining riser, 32GB", 1, 1),
        ("RTX 3090 PCIe x4, 32GB", 1, 4),
        ("2x RTX 3090 at x8, Ryzen 5950X", 2, 8),
        ("RTX 4090 x4", 4, None),
        ("H100 PCIe x4", 4, None),  # the card's form, and four of it
    ],
)
def test_lanes_are_no_count_of_cards_and_are_told(name, count, lanes) -> None:
    named = MACHINES.named(name)
    assert (named.spec.gpu_count, named.spec.pcie_lanes) == (count, lanes)
    assert (f"PCIe x{lanes}" in told(name)) is (lanes is not None)
    if lanes and count == 1:  # as at the other door
        rig = from_spec.machine(MachineSpec(gpu=name.partition(",")[0]))
        assert f" x{lanes}" in rig.gpus[0].link.name
        assert any(f"x{lanes}" in note for note in rig.notes)


@pytest.mark.parametrize(
    ("name", "card", "size"),
    [  # docs.nvidia.com/vgpu, Virtual GPU Types for Supported GPUs
        ("A10-12Q vGPU", "A10", 12),
        ("NVIDIA L40S-24Q vGPU", "L40S", 24),
        ("GRID V100D-16Q", "V100 PCIe 32GB", 16),
        ("GRID T4-8C", "T4", 8),
        ("NVIDIA A40-24Q", "A40", 24),
        ("A100D-40C", "A100 PCIe 80GB", 40),
    ],
)
def test_a_part_of_a_card_has_its_memory_at_each_door(name, card, size) -> None:
    taken = Identified.of(name)
    assert taken.gpus[0].name == card
    assert taken.memory_gib == size
    assert float(machine_by_name(name).gpus[0].memory.value) == size * GIB


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Mac Studio M2 Ultra 192GB iogpu.wired_limit_mb=180000", 180_000 / 1024),
        ("M1 Max 32GB wired limit 30000", 30_000 / 1024),
        ("Strix Halo 128GB, 96GB dedicated to GPU", 96),
        ("Framework Desktop 128GB (UMA 96GB)", 96),
        ("Ryzen AI Max+ 395 128GB, 110GB GTT", 110),
    ],
)
def test_the_gpus_part_of_shared_memory_is_taken(name, part) -> None:
    machine = machine_by_name(name)
    assert float(machine.gpus[0].memory.value) == pytest.approx(part * GIB)
    assert f"may use {part:.4g} of" in told(name)


def test_memory_of_a_system_inside_another_and_limits_of_power_are_told() -> None:
    assert MACHINES.named("WSL2 RTX 4070 Ti 16GB of 32GB RAM").spec.ram_gb == 16
    assert "WSL has half" in told("WSL2, RTX 3060 12GB, 32GB RAM")
    assert "250 W of its usual 350 W are not counted" in told("RTX 3090 at 250W")
    assert "are not counted" in told("RTX 3090 (power limit 275W), Ryzen 9 5950X, 64GB")
    assert "not counted" not in told("RTX 3090, Ryzen 9 5950X, 64GB, 850W PSU")
    notes = from_spec.machine(MachineSpec(gpu="RTX 3090 at 250W")).notes
    assert any("250 W" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("16 GB", "a size of memory"),
        ("24GB VRAM", "a size of memory"),
        ("2000 EUR", "an amount of money"),
        ("$1,500", "an amount of money"),
        ("budget of 3000 dollars", "an amount of money"),
        ("is a 3090 worth it", "a question"),
        ("should I buy a 4090", "a question"),
        ("RTX 3090 vs RTX 4090", "a question"),
        ("RTX 3090 or RTX 4090", "a question"),
        ("стоит ли брать 3090", "a question"),
    ],
)
def test_what_is_no_machine_is_asked_back(text, kind) -> None:
    for door in (MACHINES.named, Identified.of, machine_by_name):
        with pytest.raises(UnknownName, match=rf"That is {kind}, and no machine\..*\?"):
            door(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://www.amazon.com/dp/B0BG94PS2F", "That is the address of a page"),
        ("nvidia", "Which card or computer is it?"),
        ("a graphics card", "Which card or computer is it?"),
        ("MacBook Pro M4 or RTX 3060", "Two machines stand here"),
        ("RTX 4090 and also a Mac Studio M2 Ultra", "Two machines stand here"),
        ("-1x RTX 3090", "A machine has one card or more"),
    ],
)
def test_what_is_pasted_or_listed_in_place_of_a_machine_is_told(text: str, words: str) -> None:
    for door in (MACHINES.named, machine_by_name):
        with pytest.raises(UnknownName, match=re.escape(words)):
            door(text)


def test_a_size_that_no_machine_has_is_refused() -> None:
    for text in ("99999999999 GB RAM", "RTX 3090, 99999999999 GB RAM", "RTX 3090, 500000 TB RAM"):
        with pytest.raises(InputError, match="more memory than any machine has"):
            MACHINES.named(text)


@pytest.mark.parametrize(
    ("text", "ram_gb"),
    [
        ("RTX 3060 12GB VRAM 32GB RAM", 32),
        ("RTX 4060 8 GB VRAM 16 GB RAM", 16),
        ("2x RTX 3090 24GB VRAM 128GB DDR4 RAM", 128),
        ("RTX 3060 12GB of VRAM 32GB", 32),
    ],
)
def test_a_size_behind_the_memory_of_the_cards_is_ram(text: str, ram_gb: float) -> None:
    assert MACHINES.named(text).spec.ram_gb == ram_gb
    assert "left out" not in told(text)


@pytest.mark.parametrize(
    "name",
    [
        "RTX 3090, ram 96 / vram 24",
        "RTX 3090, vram 24 / ram 96",
        "RTX 3090, 96gb / vram 24gb",
        "ram 96, vram 24, RTX 3090",
    ],
)
def test_memory_of_the_card_and_of_the_machine_stand_in_any_order(name: str) -> None:
    assert MACHINES.named(name).spec.ram_gb == 96
    assert "left out" not in told(name)


@pytest.mark.parametrize("name", ["24gb vram 96gb ram", "ram 96 / vram 24", "VRAM 24", "16GB vram"])
def test_memory_without_a_card_is_asked_back(name: str) -> None:
    with pytest.raises(UnknownName, match=r"memory without a card|a size of memory"):
        MACHINES.named(name)


def test_terabytes_without_a_word_are_a_drive_and_it_is_said() -> None:
    for name in ("RTX 4090 2TB", "MacBook Pro M4 Max 2TB", "RTX 4090, Ryzen 9 7950X, 2TB"):
        assert "'2tb' in the name is taken as a drive's" in told(name), name
    for name in ("RTX 4090 64GB 2TB", "RTX 4090 2TB SSD", "RTX 4090 2TB RAM"):
        assert "drive's" not in told(name), name
    identified = Identified.of("8x H100 80GB 2TB")
    (note,) = (text for text in identified.notes if "2tb" in text)
    assert "write '2tb ram' for memory" in note


def test_ram_that_no_computer_has_is_refused_with_what_may_be_meant() -> None:
    """HPE Superdome Flex takes 48 TB (QuickSpecs a00026242enw); none that is sold takes more."""
    for name in ("RTX 3090, 65536 GB RAM", "RTX 3090, 64TB RAM"):
        with pytest.raises(InputError, match=r"65,536 MB would be 64 GB"):
            from_spec.machine(MACHINES.named(name).spec)


def test_every_spelling_of_a_card_is_that_card_in_the_name_of_a_machine() -> None:
    """One in eight of all, but one in a hundred: those left name two cards, the rate of a memory or
    a phone's chip.
    """
    cards = catalog.gpu_names()
    spelled = [text for row in cards.rows.values() for text in _spellings(row)][::8]
    wrong = [text for text in spelled if _card_of(text) != cards.match(text).row.name]
    assert len(wrong) <= len(spelled) / 100, wrong


def _card_of(machine: str) -> str:
    """Row of a machine's card; empty for a machine that is refused or has several kinds."""
    try:
        return catalog.gpu_names().match(str(MACHINES.named(machine).spec.gpu)).row.name
    except UnknownName:
        return ""


def _spellings(row) -> list[str]:
    return [row.name, *filter(None, map(str.strip, row.aliases.split(";")))]


@pytest.mark.parametrize(
    ("name", "card", "ram"),
    [
        ("GeForce MX150 2GB, i5-8250U, 16GB RAM", "GeForce MX150", 16),
        ("2x Tesla K40m, Xeon E5-2690 v4, 128GB", "K40", 128),
        ("Ryzen 5 3600, R9 390X, 32GB", "R9 390X", 32),
        ("RX 6800M, Ryzen 9 5900HX, 32 GB", "RX 6800M", 32),
    ],
)
def test_a_card_of_another_spelling_counts_beside_other_parts(name, card, ram) -> None:
    spec = MACHINES.named(name).spec
    assert str(spec.gpu).startswith(card)
    assert spec.ram_gb == ram


def test_a_board_keeps_the_sign_at_the_end_of_its_name() -> None:
    assert MACHINES.named("Raspberry Pi 500+").spec.cpu == "Raspberry Pi 500+"
    assert MACHINES.named("Ryzen 9 5950X + RTX 3090").spec.cpu == "Ryzen 9 5950X"


@pytest.mark.parametrize("name", ["256x RTX 4090", "1000x H100"])
def test_too_many_cards_are_too_many_and_not_unknown(name) -> None:
    for read in (MACHINES.named, catalog.GPUS.named):
        with pytest.raises(UnknownName, match=r"too many: up to 128"):
            read(name)


@pytest.mark.parametrize(
    ("name", "ram"),
    [
        ("WSL2 memory=24GB, RTX 4080 16GB, host 64GB", 24),
        ("RTX 3090 docker --memory=48g host 128GB", 48),
        ("WSL2 RTX 3090, 64GB RAM limited to 32GB in .wslconfig", 32),
        ("RTX 4070, memory=32GB", 32),  # no container: all of it
        ("WSL2, RTX 3090, memory 64GB", 64),  # of the computer
    ],
)
def test_a_container_has_the_memory_that_its_setting_gives(name, ram) -> None:
    named = MACHINES.named(name)
    assert named.spec.ram_gb == ram
    assert "left out" not in told(name)


@pytest.mark.parametrize(
    "written",
    ["nvidia-smi -pl 250", "-pl 250", "@250W", "PL 250W", "power cap 250W", "power target 70%"],
)
def test_a_limit_of_power_is_told_however_it_is_written(written) -> None:
    notes = told(f"RTX 3090 {written}, 64GB RAM")
    assert "left out" not in notes
    assert re.search(r"\b2(50|45) W of its usual 350 W", notes)  # 70 % of 350 W are 245


@pytest.mark.parametrize("memory", ["", ", 64GB RAM"])
def test_a_slice_behind_a_drivers_spelling_of_the_card_is_read(memory) -> None:
    spec = MACHINES.named(f"NVIDIA H100 80GB HBM3 MIG 2g.20gb{memory}").spec
    assert str(spec.gpu) == "H100 SXM MIG 2g.20gb"
