"""GPUs by the names of drivers, shops and people: rightly, or not at all."""

import re

import pytest
from hardware_names import sample

from advisor.errors import UnknownName
from advisor.machine.catalog import GPUS
from advisor.machine.identify import Identified
from advisor.machine.names.gpu_words import taken_apart
from advisor.units import GIB

CASES = sample("gpus.csv")


def meaning(typed: str) -> tuple[str, int]:
    """Row and number of cards that a name is read as; an empty row where it is refused."""
    try:
        gpu = GPUS.named(typed)
    except UnknownName:
        return "", 0
    return gpu.row.name, gpu.count


def test_a_name_means_the_card_and_the_number_that_a_person_means_or_is_refused() -> None:
    read = {case["typed"]: meaning(case["typed"]) for case in CASES}
    assert read == {case["typed"]: (case["name"], int(case["count"])) for case in CASES}


def test_every_card_is_found_by_its_own_name_however_it_is_written() -> None:
    for row in GPUS.rows().values():
        for written in (row.name, row.name.upper(), f"  {row.name} "):
            assert GPUS.named(written).row.name == row.name
        if not row.unified:
            assert meaning(f"2x {row.name}") == (row.name, 2)


def test_no_digit_is_ever_changed() -> None:
    """One digit of a card's number up: another card or none, never the same (each fifth card)."""
    for row in list(GPUS.rows().values())[::5]:
        number = next((word for word in taken_apart(row.name).words if word.isdigit()), None)
        if number is None or len(number) != 4:
            continue
        for place in range(4):
            changed = number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]
            try:
                other = GPUS.find(row.name.replace(number, changed))
            except UnknownName:
                continue
            assert changed in other.name


@pytest.mark.parametrize(
    ("typed", "offer"),
    [
        ("RTX 4091", "RTX 4090"),
        ("RTX 6000", "RTX 6000 Ada"),
        ("RTX 3090 laptop", "RTX 3090"),
        ("RX 7950 XTX", "RX 7900 XTX"),
    ],
)
def test_close_cards_are_offered_and_not_taken(typed: str, offer: str) -> None:
    with pytest.raises(UnknownName) as error:
        GPUS.named(typed)
    assert offer in error.value.close


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("M4 Max 36GB", "Apple M4 Max 32c"),  # 36 GB come with 32 cores alone
        ("M4 Max 64GB", "Apple M4 Max 40c"),
        ("M3 Max 96GB", "Apple M3 Max 30c"),
        ("M4 Max 14-core CPU", "Apple M4 Max 32c"),
        ("Apple M3 Ultra 60 cores 256GB", "Apple M3 Ultra 60c"),
    ],
)
def test_memory_and_cores_decide_which_apple_chip(typed: str, name: str) -> None:
    assert GPUS.named(typed).row.name == name


def test_an_apple_chip_whose_cores_are_open_says_so() -> None:
    gpu = GPUS.named("M2 Ultra 128GB")
    assert "76 GPU cores" in gpu.notes[0]
    assert gpu.alternatives == ("Apple M2 Ultra 60c",)
    assert gpu.memory_gib == 128


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("RTX 3090 12GB", "has 24 GB, not 12"),
        ("RTX 4090 5000GB", "has 24 or 48 GB, not 5000"),  # 48: changed by others
        ("GeForce RTX 3090 Ti 12 GB", "has 24 GB, not 12"),
    ],
)
def test_a_size_that_a_card_is_not_sold_with_is_refused(typed: str, words: str) -> None:
    with pytest.raises(UnknownName, match=words):
        GPUS.named(typed)
    with pytest.raises(UnknownName, match=words):
        Identified.of(typed)


@pytest.mark.parametrize(
    ("typed", "name", "count"),
    [
        ("A10G 22GB", "A10G", 1),  # error correction takes a sixteenth
        ("T4 14GB", "T4", 1),
        ("B300 288GB", "B300", 1),  # sold as 288, the driver shows 269
        ("2x RTX 3090 48GB", "RTX 3090", 2),  # of both together
        ("RTX 4090 48GB", "RTX 4090 48GB", 1),
        ("RTX 2080 Ti 22GB", "RTX 2080 Ti 22GB", 1),
    ],
)
def test_sizes_as_drivers_shops_and_changed_cards_have_them(typed, name, count) -> None:
    assert meaning(typed) == (name, count)


SUFFIXES = ("Ti", "Super", "XT", "XTX", "GRE", "D", "M", "X", "Laptop", "NVL", "SFF", "Duo")


def test_a_suffix_is_never_dropped_silently() -> None:
    """A card's name with a suffix that it does not have: another card that has it, or a refusal."""
    for row in list(GPUS.rows().values())[::3]:
        own = row.name.casefold().replace("-", " ")
        bare = re.sub(r" \d+GB$| GDDR6$", "", row.name)
        for suffix in () if row.unified else SUFFIXES:
            if suffix.casefold() in own.split():
                continue
            name, _ = meaning(f"{bare} {suffix}")
            if name:
                aliases = GPUS.rows()[name].aliases
            else:
                aliases = ""
            spelled = f"{name}; {aliases.replace('Mobile', 'Laptop')}".casefold()
            if suffix == "M":
                meant = "(?:m|laptop)"
            else:
                meant = suffix.casefold()
            assert not name or re.search(rf"{meant}\b", spelled), (bare, suffix)


@pytest.mark.parametrize(
    ("typed", "count"),
    [
        ("Inno3D Twin X2 OC GeForce RTX 4060 8 GB", 1),
        ("Palit Dual GeForce GTX 1080 8 GB", 1),
        ("MSI INSPIRE 3X GeForce RTX 5070 12 GB", 1),
        ("Gigabyte GAMING OC 3X GeForce RTX 2070 SUPER", 1),
        ("Asus GTX980-4GD5 GeForce GTX 980 4 GB", 1),
        ("dual RTX 4090", 2),
        ("Dual ASUS TUF RTX 3090", 2),
        ("ASUS 2x RTX 4090", 2),
        ("ASUS ROG Strix 3090 x2", 2),
        ("4x-RTX_A5000", 4),
    ],
)
def test_fans_of_a_cooler_are_no_number_of_cards(typed: str, count: int) -> None:
    assert meaning(typed)[1] == count
    assert Identified.of(typed).count == count


@pytest.mark.parametrize(
    "typed",
    [
        "Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]",
        "Advanced Micro Devices, Inc. [AMD/ATI] Navi 22 [Radeon RX 6700/6700 XT/6750 XT / 6800M]",
        "NVIDIA Corporation GA107GL [A2 / A16]",
    ],
)
def test_a_chip_of_several_cards_is_none_of_them(typed: str) -> None:
    with pytest.raises(UnknownName):
        Identified.of(typed)


@pytest.mark.parametrize(
    ("typed", "shown_mib", "name"),
    [
        ("NVIDIA GeForce RTX 3060", 12288, "RTX 3060 12GB"),
        ("NVIDIA GeForce RTX 3060", 8192, "RTX 3060 8GB"),
        ("NVIDIA GeForce RTX 3050 Laptop GPU", 6144, "RTX 3050 Laptop 6GB"),
        ("Tesla M40", 22945, "M40 24GB"),  # error correction takes a sixteenth
        ("NVIDIA RTX A2000 Laptop GPU", 8192, "RTX A2000 Laptop 8GB"),
    ],
)
def test_the_memory_that_a_driver_shows_tells_cards_apart(typed, shown_mib, name) -> None:
    assert GPUS.find(typed, memory=shown_mib * 2.0**20).name == name
    assert GIB == 1024 * 2.0**20
