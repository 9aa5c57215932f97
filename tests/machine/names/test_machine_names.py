"""Machines by the names of owned and rented products."""

import re

import pytest
from hardware_names import sample

from advisor.catalog.name_matching import spellings
from advisor.errors import AdvisorError, UnknownName
from advisor.machine import from_spec
from advisor.machine.catalog import GPUS, HOSTS, MACHINES
from advisor.machine.identify import Identified, machine_by_name
from advisor.machine.names.words import folded, plain
from advisor.machine.spec import MachineSpec

CASES = sample("machines.csv")


def meaning(typed: str) -> tuple[str, int, str, float | None]:
    """Cards, how many, processor and memory that a name is read as; none where it is refused."""
    try:
        spec = MACHINES.named(typed).spec
    except AdvisorError:
        return "", 0, "", None
    return str(spec.gpu), spec.gpu_count * spec.machines, spec.cpu or "", spec.ram_gb


def meant(case: dict[str, str]) -> tuple[str, int, str, float | None]:
    """What a person means."""
    if case["ram_gib"]:
        ram = float(case["ram_gib"])
    else:
        ram = None
    return case["gpu"], int(case["count"] or 0), case["cpu"], ram


def test_a_name_means_the_parts_that_a_person_means_or_is_refused() -> None:
    assert {c["typed"]: meaning(c["typed"]) for c in CASES} == {c["typed"]: meant(c) for c in CASES}


def test_a_machine_is_identified_as_what_it_is_named() -> None:
    """The door that the page and `advisor machine` take (each third name)."""
    for case in CASES[::3]:
        if case["gpu"] and case["gpu"] != "none":
            kinds = {re.sub(r"^\d+x ", "", kind) for kind in case["gpu"].split(" + ")}
            assert {gpu.name for gpu in Identified.of(case["typed"]).gpus} == kinds, case["typed"]


def test_every_preset_is_found_by_its_names_and_can_be_built() -> None:
    for row in MACHINES.rows().values():
        for spelling in (row.name, *filter(None, row.aliases.split("; "))):
            assert MACHINES.named(spelling).name == row.name
        machine = from_spec.machine(MACHINES.named(row.name).spec)
        assert len(machine.gpus) == row.gpu_count


def test_memory_that_a_machine_is_not_sold_with_is_used_and_reported() -> None:
    machine = MACHINES.named("Mac Studio M3 Ultra 384GB")
    assert machine.spec.ram_gb == 384
    assert "96, 256 or 512" in " ".join(machine.notes)


def test_memory_missing_from_the_page_is_requested() -> None:
    machine = MACHINES.named("RunPod A100 PCIe 80GB")
    assert machine.spec.ram_gb is None
    assert "type it" in machine.notes[-1]


def is_laptop(card: str) -> bool:
    """Whether a card's name is that of a laptop GPU."""
    return "Laptop" in card


def test_rigs_as_their_owners_write_them_have_their_parts() -> None:
    """Strings from public repositories, with the answer written before the first run."""
    for case in sample("rigs.csv"):
        if not case["gpus"]:
            with pytest.raises(AdvisorError):
                Identified.of(case["typed"])
            continue
        taken = Identified.of(case["typed"])
        names = sorted(gpu.name for gpu in taken.gpus)
        if case["gpus"] == "none":
            assert not names, case
        elif case["gpus"] != "any":
            wanted = sorted(case["gpus"].split(" + "))
            assert len(names) == len(wanted), case
            assert all(map(str.startswith, names, wanted)), case
            assert [is_laptop(name) for name in names] == [is_laptop(name) for name in wanted], case
        if case["count"]:
            assert taken.count == int(case["count"]), case
        assert case["cpu"] in (taken.host.name if taken.host else ""), case
        if case["ram_gib"]:
            assert taken.ram_gib == pytest.approx(float(case["ram_gib"]), rel=0.02), case


def test_a_machine_has_the_form_that_its_words_and_parts_say() -> None:
    cases = sample("forms.csv")
    forms = {case["typed"]: machine_by_name(case["typed"]).form for case in cases}
    assert forms == {case["typed"]: case["form"] for case in cases}


@pytest.mark.parametrize(
    "typed", ["3090 + 3090", "3090 + + 3090", "3090, 3090", "RTX 3090 | EVGA 3090", "x2 3090"]
)
def test_cards_of_a_list_are_counted(typed: str) -> None:
    taken = Identified.of(typed)
    assert [gpu.name for gpu in taken.gpus] == ["RTX 3090"]
    assert taken.count == 2


def test_memory_of_cards_and_drives_is_no_main_memory() -> None:
    spec = MACHINES.named("i5-12400, 16GB DDR4, GTX 1660 Super, SSD 512GB").spec
    assert spec.ram_gb == 16
    assert MACHINES.named("Ryzen 7600, 2x RTX 3090 (48GB VRAM total)").spec.ram_gb is None
    assert MACHINES.named("Ryzen 7600, RTX 3090, 2TB Gen4 NVMe").spec.ram_gb is None


@pytest.mark.parametrize(
    ("typed", "ram_gib", "cpu"),
    [
        ("old laptop with 8 GB RAM", 8, "Desktop DDR4-3200 dual-channel (typical)"),
        ("Laptop, 16 GB", 16, "Laptop DDR5-5600 dual-channel (typical)"),
        ("office PC with 32GB of RAM", 32, "Desktop DDR5 dual-channel (typical)"),
        ("desktop, 32 GB DDR4", 32, "Desktop DDR4-3200 dual-channel (typical)"),
        ("16 GB RAM", 16, "Desktop DDR5 dual-channel (typical)"),
    ],
)
def test_a_computer_of_which_the_memory_alone_is_said(typed: str, ram_gib: int, cpu: str) -> None:
    named = MACHINES.named(typed)
    assert (named.spec.ram_gb, named.spec.cpu) == (ram_gib, cpu)
    assert "No graphics card is named: none is counted." in named.notes


@pytest.mark.parametrize(
    ("typed", "generation", "lanes"),
    [
        ("RTX 3090 on PCIe 3.0 x4, 64GB", 3, 4),
        ("eGPU 3090 via oculink on a 7840HS mini 64GB", 4, 4),
        ("RTX 4090 Thunderbolt 4 eGPU + Core Ultra 7 155H 32GB", 3, 4),
        ("2x RTX 3090 x8/x8, 128GB", None, 8),
        ("RTX 3090, PCIe Gen3, E5-2680v4 128GB", 3, None),
        ("RTX 3060 PCIe 5.0 x16", 4, 16),  # the card has PCIe 4.0
        ("RTX 4090, 64GB, 2TB NVMe PCIe 4.0 x4", None, None),  # the drive's
        ("H100 PCIe x4", None, None),  # four cards
        ("Mac Studio M3 Ultra Thunderbolt 5", None, None),
    ],
)
def test_the_link_that_a_name_states(typed: str, generation: int | None, lanes: int | None) -> None:
    spec = MACHINES.named(typed).spec
    assert (spec.pcie_gen, spec.pcie_lanes) == (generation, lanes)


@pytest.mark.parametrize(
    ("typed", "gpu", "count"),
    [
        ("RTX 4090 48GB modded x2", "RTX 4090 48GB", 2),
        ("A6000 Ampere 48GB (nvlinked pair)", "RTX A6000", 2),
        ("RTX 5090D v2", "RTX 5090 D V2", 1),
    ],
)
def test_words_beside_a_card_do_not_hide_its_count(typed: str, gpu: str, count: int) -> None:
    spec = MACHINES.named(typed).spec
    assert (spec.gpu, spec.gpu_count, spec.ram_gb) == (gpu, count, None)


@pytest.mark.parametrize("typed", ["my laptop", "gaming laptop, 16 GB", "16 GB", "office PC"])
def test_a_computer_of_which_nothing_is_said_is_refused(typed: str) -> None:
    with pytest.raises(UnknownName):
        MACHINES.named(typed)


def test_graphics_of_a_laptops_processor_are_said_as_taken() -> None:
    notes = MACHINES.named("MSI Katana GF66 i7-11800H").notes
    assert "No graphics card is named: Iris Xe is taken." in notes


@pytest.mark.parametrize(
    ("typed", "ram_gib"),
    [
        ("Lenovo LOQ 15IRH8 i5-13420H 16GB 512GB RTX3050", 16),
        ("Ryzen 7 5700X, 32GB, 1TB, RTX 3060", 32),
        ("EPYC 7763 512GB, 64GB A100", 512),
        ("i7-8700K 16GB RAM 64GB Optane", 16),
        ("Threadripper PRO 5975WX 8x 64 GB", 512),
    ],
)
def test_a_drives_size_behind_the_memorys_is_no_memory(typed: str, ram_gib: float) -> None:
    assert MACHINES.named(typed).spec.ram_gb == ram_gib


def test_modules_and_sockets_are_told_apart() -> None:
    """64 GB times 8 is memory, a model times 2 are sockets; "x4" of a slot is neither."""
    spec = MACHINES.named("CPU:epyc 7c13*2 GPU:4090 内存\uff1addr4 2933 64g*8").spec
    assert (spec.cpu, spec.ram_gb, spec.gpu) == ("2x EPYC 7C13", 512, "RTX 4090")
    spec = MACHINES.named("Ryzen 5 7600, RTX 3060 12GB, PCIe 4.0 x4, 2 x 16 GB").spec
    assert (spec.cpu, spec.ram_gb) == ("Ryzen 5 7600", 32)


@pytest.mark.parametrize(
    ("name", "channels", "rate"),
    [
        ("RTX 4090 i9-13900K 64GB DDR5-6000", None, 6000),
        ("RTX 3090, Ryzen 7 3700X, 64GB DDR4 3600MHz", None, 3600),
        ("Threadripper PRO 3975WX, 8x 32 GB @ 2933 MT/s, 4x 3090", None, 2933),
        ("EPYC 7302 4-channel 128GB RTX 3060", 4, None),
        ("dual EPYC 7742, 8 channel DDR4-2933, 1TB", 16, 2933),  # 8 of each of two sockets
        ("RTX 4090 at 2520 MHz, Ryzen 5600, quad core", None, None),  # a clock, and cores
        ("Ryzen AI Max+ 395 128GB LPDDR5X-8000", None, None),  # the chip's own memory
    ],
)
def test_a_name_states_the_channels_and_the_rate_of_the_memory(name, channels, rate) -> None:
    spec = MACHINES.named(name).spec
    assert (spec.ram_channels, spec.ram_mts) == (channels, rate)


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("RTX 3090 + Toaster", "toaster"),
        ("Nonsense 9 + RTX 3090", "nonsense 9"),
        ("RTX 3090 + Ryzen 5950X + unicorn", "unicorn"),
    ],
)
def test_an_unknown_item_of_a_list_is_said_to_be_left_out(name, item) -> None:
    assert f"{item!r} in the name is no part that is known and is left out." in (
        MACHINES.named(name).notes
    )


@pytest.mark.parametrize(
    "name", ["RTX 3090 + Ryzen 5950X + 64GB DDR4 + NVMe", "Ryzen AI Max+ 395 128GB", "3090 + 3090"]
)
def test_a_list_of_known_items_is_read_whole(name) -> None:
    assert not [note for note in MACHINES.named(name).notes if "left out" in note]


@pytest.mark.parametrize(
    ("name", "rate", "words"),
    [
        # Intel's specification of the Core i5-12400: DDR5-4800 or DDR4-3200
        ("i5-12400, 32GB DDR4, RTX 3060 12GB", 3200, "DDR4 is taken at 3200 MT/s"),
        ("i5-12400, 32GB DDR4-3600, RTX 3060 12GB", 3600, ""),
        ("i5-12400, 32GB DDR5, RTX 3060 12GB", None, ""),
        ("Ryzen 9 7950X, 64GB DDR4, RTX 4090 24GB", None, "Ryzen 9 7950X takes DDR5: DDR4 in"),
    ],
)
def test_the_type_of_memory_is_taken_or_said_to_be_left_out(name, rate, words) -> None:
    named = MACHINES.named(name)
    assert named.spec.ram_mts == rate
    assert words in " ".join(named.notes)
    assert bool(words) == any("DDR" in note for note in named.notes)


def test_modules_without_a_processor_choose_the_typical_one_of_their_type() -> None:
    older, newer = (MACHINES.named(f"RTX 3060 12GB, 32GB {kind}") for kind in ("DDR4-3200", "DDR5"))
    assert older.spec.cpu == "Desktop DDR4-3200 dual-channel (typical)"
    assert newer.spec.cpu == "Desktop DDR5 dual-channel (typical)"


@pytest.mark.parametrize(
    ("name", "bridge", "words"),
    [
        ("two RTX 3090s and the NVLink bridge", True, "joined by an NVLink bridge"),
        ("4x RTX 3090 NVLink, Threadripper", False, "with 4 none is counted"),
        ("2x 3090 without NVLink, i9-11900KF", False, ""),
        ("2x 3090 no NVLink, i9-11900KF", False, ""),
    ],
)
def test_a_bridge_in_the_name_is_taken_or_said_not_to_count(name, bridge, words) -> None:
    named = MACHINES.named(name)
    assert named.spec.bridge is bridge
    assert words in " ".join(named.notes)
    assert bool(words) == any("NVLink" in note for note in named.notes)


def test_hardware_that_is_no_part_of_the_catalogue_is_refused_with_the_reason() -> None:
    reasons = {
        "is rumoured": ("RTX 5080 SUPER", "RTX 5070 Ti Super 24GB", "Medusa Halo"),
        "announced": ("Mac mini M6 Pro", "MI430X", "8x MI440X", "Rubin CPX", "EPYC Venice"),
        "known and not modelled": (
            *("TPU v5e", "Inferentia2", "Trainium2", "Cerebras CS-3", "Groq LPU", "8x Ascend 910B"),
            *("Tenstorrent Blackhole p150a", "Furiosa RNGD", "Hailo-10H", "Google Coral"),
            *("MTT S80", "Qualcomm Cloud AI 100 Ultra", "Moore Threads MTT S4000"),
        ),
    }
    silent = []
    for words, names in reasons.items():
        for name in names:
            with pytest.raises(UnknownName) as refused:
                MACHINES.named(name)
            silent += [] if words in str(refused.value) else [name]
    assert not silent


def test_a_machine_with_a_small_accelerator_is_read_without_it() -> None:
    assert MACHINES.named("Raspberry Pi 5 8GB + Hailo-8L").spec.cpu == "Raspberry Pi 5"


def test_words_say_at_every_door_that_there_is_no_graphics_card() -> None:
    for words in ("none", "None", "no graphics card", "no GPU", "without a video card", "CPU only"):
        assert from_spec.machine(MachineSpec(gpu=words, cpu="Core i5-12400")).gpus == (), words
        if words.casefold() != "none":
            assert Identified.of(f"{words}, i5-12400, 32 GB").gpus == (), words


def test_a_processor_or_card_that_does_not_exist_is_not_left_out_beside_known_parts() -> None:
    for name, wrong in (
        ("core i9 15900K, RTX 4090, 64GB", "i9 15900k"),
        ("RTX 7090, Ryzen 9 9950X", "rtx 7090"),
        ("4080 Ti Super, 9700X", "4080 ti super"),
    ):
        with pytest.raises(UnknownName, match=wrong):
            Identified.of(name)


def test_cards_behind_a_processor_are_of_one_machine() -> None:
    spec = MACHINES.named("9950X 192GB 2x5090").spec
    assert (spec.gpu, spec.gpu_count, spec.machines) == ("RTX 5090", 2, 1)


def test_a_line_of_processors_without_a_model_is_said() -> None:
    notes = MACHINES.named("Dell XPS 15, Intel Core i7, 32 GB, NVIDIA RTX 4050").notes
    assert "'core i7' says no model: the processor is a typical one." in notes
    notes = MACHINES.named("Core i7-13700H, RTX 4050 laptop").notes
    assert not [note for note in notes if "says no model" in note]


def test_modules_before_a_card_are_memory_unless_the_card_has_their_size() -> None:
    ram = {"threadripper 3960x 8x16gb 3090": 128, "5950x 4x32gb 3090 ti": 128, "4x16gb v100": None}
    for typed, size in ram.items():
        assert MACHINES.named(typed).spec.ram_gb == size, typed
    assert MACHINES.named("4x16gb v100").spec.gpu_count == 4


def test_what_is_called_a_server_and_has_three_cards_has_a_server_s_processor() -> None:
    servers = ("server with 4x RTX 3090", "4x p40 server", "dell r740xd 2x p40")
    desktops = ("4x RTX 3090", "home server with RTX 3060")
    for name in (*servers, *desktops):
        assert machine_by_name(name).host.segment == ("server" if name in servers else "desktop"), (
            name
        )


def test_a_count_before_a_chip_of_which_a_machine_has_one_is_of_machines() -> None:
    for name in ("2x strix halo", "2x ryzen ai max 395 128gb", "2x Strix Halo over USB4"):
        cluster = machine_by_name(name)
        single = machine_by_name(name.removeprefix("2x "))
        assert cluster.nodes == 2, name
        assert cluster.host.bandwidth.value == single.host.bandwidth.value, name


def test_a_second_chip_is_said_to_be_left_out() -> None:
    both = MACHINES.named("Mac Studio M2 Ultra 192GB + Mac mini M4 Pro 64GB")
    assert both.spec.ram_gb == 192
    assert "Several chips are named: the first alone is taken." in both.notes
    assert not any("Several" in note for note in MACHINES.named("2x Mac Studio M2 Ultra").notes)


COUNTS = {
    2: ("2 pcs {}", "{} (2 pcs)", "{} 2шт", "{} - 2 шт.", "{} 2 Stück", "2 szt. {}", "{} x2",
        "{} card x2", "{}显卡\N{MULTIPLICATION SIGN}2", "两张{}", "{} 2枚", "{} 2台", "{} 두 장",
        "zwei {}", "deux {}", "dos {}", "duas {}", "twee {}", "två {}", "dwa {}", "dvě {}",
        "{} two of them", "two of the {}"),
    3: ("三张{}", "3 units of {}", "drei {}", "trois {}", "tres {}", "tre {}", "{} x3"),
    4: ("四张{}", "4张{}", "四卡{}", "vier {}", "quatre {}", "cuatro {}", "quattro {}", "{} x4"),
    8: ("8x {}", "{} x8", "8 units of {}"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("count", "written"), [(count, text) for count, texts in COUNTS.items() for text in texts]
)
@pytest.mark.parametrize("card", ["RTX 3090", "RTX 4060 Ti 16GB"])
def test_cards_are_counted_however_people_count_them(count: int, written: str, card: str) -> None:
    named = MACHINES.named(f"{written.format(card)}, 64GB RAM")
    assert (named.spec.gpu_count, named.spec.ram_gb) == (count, 64.0)


@pytest.mark.parametrize("written", ["{} pamięci", "{} paměti", "{} Arbeitsspeicher"])
def test_memory_is_read_in_other_languages(written: str) -> None:
    named = MACHINES.named(f"RTX 3060 12GB, {written.format('32 GB')}")
    assert (named.spec.ram_gb, named.notes) == (32.0, ())


def test_names_of_the_catalogue_are_written_plainly() -> None:
    """Its own names are only folded, as rewriting thousands of them takes a third of a second."""
    rows = [*GPUS.rows().values(), *HOSTS.rows().values(), *MACHINES.rows().values()]
    spelled = [spelling for row in rows for spelling in spellings(row)]
    assert len(spelled) > 3000
    assert [name for name in spelled if plain(name) != folded(name)] == []


@pytest.mark.parametrize("size", ["128 gigabytes of RAM", "128 gbytes RAM", "128GB RAM"])
def test_sizes_are_read_in_any_spelling(size: str) -> None:
    assert MACHINES.named(f"RTX 3090 and {size}").spec.ram_gb == 128.0


@pytest.mark.parametrize(
    "words", ["@ 80% power limit", "at 80% power", "power limit 80%", "at 80%"]
)
def test_a_share_of_the_power_is_said_in_watts_and_not_counted(words: str) -> None:
    # A board power of 350 W (NVIDIA, GA102 whitepaper, table 9): 80 % are 280 W.
    notes = MACHINES.named(f"RTX 3090 {words}, 64GB RAM").notes
    assert any("280 W of its usual 350 W are not counted" in note for note in notes)


@pytest.mark.parametrize(
    "typed", ["4060ti16gb 64gbram", "3090 24 giga, 64 giga ram",
              "RTX 4070TiS 16GB 64GB RAM", "RAM: 64, GPU: 3090", "my pc: 64gb ram 3070",
              "ram: 64 gpu: 3070"],
)  # fmt: skip
def test_sizes_without_a_unit_or_a_blank_are_read(typed: str) -> None:
    assert MACHINES.named(typed).spec.ram_gb == 64.0


def test_a_ti_s_is_a_super() -> None:
    assert MACHINES.named("RTX 4070TiS 16GB, 64GB RAM").spec.gpu == "RTX 4070 Ti Super"


@pytest.mark.parametrize(
    "typed", ["Threadripper 7970X 1TB DDR5", "4x RTX 6000 Ada, EPYC 9654, 1TB"]
)
def test_what_counts_as_ram_is_not_said_to_be_left_out(typed: str) -> None:
    taken = Identified.of(typed)
    assert taken.ram_gib == 1024
    assert not any("1tb" in note for note in taken.notes)


@pytest.mark.parametrize(
    ("typed", "cards"),
    [
        ("4060 Ti x8 16GB", 1),
        ("2x RTX 4060 Ti x8 16GB, 64 GB RAM", 2),
        ("RTX 3090 x16 24GB", 1),
        ("RTX 3090 x8 24GB", 8),
        ("A100 x16 80GB", 16),
    ],
)
def test_the_lanes_of_a_cards_link_before_its_memory_are_no_cards(typed: str, cards: int) -> None:
    # techpowerup.com/gpu-specs: the RTX 4060 Ti has PCIe 4.0 x8, the RTX 3090 x16; modules of
    # servers are sold by the sixteen.
    machine = machine_by_name(typed)
    assert len(machine.gpus) == cards
    told = [note for note in machine.notes if "is taken as the link" in note]
    assert bool(told) == (cards < 3)


@pytest.mark.parametrize(
    ("typed", "cores"),
    [
        ("RTX 3060 12GB, 32 GB RAM, 4 cores", 4),
        ("laptop 4060 16gb 6 cores", 6),
        ("4 core desktop 16GB no gpu", 4),
        ("epyc server, 32 of 64 cores, 128gb, rtx 3090", 32),
        ("RTX 3090 8 vCPU 64GB", 4),
    ],
)
def test_cores_that_a_name_states_are_those_of_a_processor_that_it_does_not_name(
    typed: str, cores: int
) -> None:
    assert machine_by_name(typed).host.cores == cores


@pytest.mark.parametrize(
    "number", ["FX507ZC", "FA507NV", "G614JV", "15ACH6H", "AN515-58", "Dell G15 5530", "MSI GF66"]
)
def test_the_number_of_a_laptops_model_says_that_it_is_one(number: str) -> None:
    with pytest.raises(UnknownName, match="Laptops are sold with many"):
        machine_by_name(number)
    assert machine_by_name(f"{number}, RTX 3060, 16 GB").gpus[0].name == "RTX 3060 Laptop"


@pytest.mark.parametrize(
    ("typed", "plainly"),
    [
        ("\u0661\u0662x RTX 4090", "12x RTX 4090"),  # Arabic digits
        ("\u06f4x RTX 3090, 64GB", "4x RTX 3090, 64GB"),  # Persian
        ("\u096a\u096cGB RTX 3090", "46GB RTX 3090"),  # Devanagari
        ("\uff32\uff34\uff38 \uff14\uff10\uff19\uff10", "RTX 4090"),  # wide, of Japanese input
    ],
)
def test_digits_and_letters_of_other_keyboards_are_read(typed: str, plainly: str) -> None:
    """A count in Arabic digits was left out: one card was answered for twelve."""
    assert meaning(typed) == meaning(plainly)
    assert meaning(plainly)[1] >= 1
