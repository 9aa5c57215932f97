"""data/hardware/gpus.csv: every row sourced, within physics, and as its maker's page has it."""

from statistics import median

import pytest
from provenance import is_past, is_public

from advisor.machine import from_catalog, from_spec
from advisor.machine.catalog import GPUS, published
from advisor.machine.from_catalog import NEED_DOT_PRODUCTS
from advisor.machine.spec import MachineSpec

ROWS = GPUS.rows()
VENDORS = {"NVIDIA", "AMD", "Intel", "Intel Gaudi", "Apple", "Qualcomm"}


def test_there_are_at_least_sixty() -> None:
    assert len(ROWS) >= 60


def test_it_has_a_dated_public_source() -> None:
    for row in ROWS.values():
        assert is_public(row.source)
        assert is_past(row.source_date)
        assert is_past(row.released)


def test_bandwidth_is_width_times_rate() -> None:
    for row in ROWS.values():
        # bits x transfers per second and pin / 8 bits a byte [GB/s]
        assert row.bandwidth_gbs == pytest.approx(row.bus_bits * row.data_rate_gtps / 8, rel=0.01)


def test_values_are_plausible() -> None:
    for row in ROWS.values():
        assert row.vendor in VENDORS
        assert row.family
        assert 2 <= row.memory_gib <= 512
        assert 25 <= row.bandwidth_gbs <= 23300  # 12 stacks of HBM4
        # AMD's page of the MI455X states matrix rates alone.
        assert row.fp32_tflops is not None or row.family == "CDNA 5"
        assert row.fp32_tflops is None or 0.2 <= row.fp32_tflops <= 200
        assert row.board_power_w is None or 6 <= row.board_power_w <= 1500
        assert 0.5 <= row.usable_share <= 1


def test_fewer_bits_are_not_slower() -> None:
    for row in ROWS.values():
        # int8 is left out: Volta runs it on its plain cores, Blackwell Ultra gave most of it away.
        if row.fp8_tflops is not None:
            assert row.fp16_tflops is not None
            assert row.fp8_tflops >= row.fp16_tflops
        if row.fp4_tflops is not None:
            assert row.fp8_tflops is not None
            assert row.fp4_tflops >= row.fp8_tflops


def test_it_is_reached_in_one_way() -> None:
    for row in ROWS.values():
        ways = [row.unified, row.pcie_gen is not None, row.link_gbs is not None]
        assert ways.count(True) == 1
        assert (row.pcie_gen is None) == (row.pcie_lanes is None)
        assert row.pcie_gen in {None, 3, 4, 5, 6}
        assert row.pcie_lanes in {None, 1, 4, 8, 16}


def test_only_shared_memory_is_shared() -> None:
    for row in ROWS.values():
        # A program fills all of a card's own memory; a system keeps a part of what it shares.
        assert (row.usable_share < 1) == row.unified


def test_names_and_aliases_mean_one_card() -> None:
    meant: dict[str, str] = {}
    for row in ROWS.values():
        for spelling in {row.name, *map(str.strip, row.aliases.split(";"))} - {""}:
            assert meant.setdefault(spelling.casefold(), row.name) == row.name


def test_every_family_that_people_have_is_there(subtests: pytest.Subtests) -> None:
    for name in [
        # GeForce 10 to 50
        "GTX 1080 Ti",
        "GTX 1660 Ti",
        "RTX 2080 Ti",
        "RTX 3090",
        "RTX 4090",
        "RTX 5090",
        "RTX 4060 Ti 8GB",
        "RTX 4060 Ti 16GB",
        # workstations: RTX A, Ada, PRO Blackwell
        "RTX A6000",
        "RTX 6000 Ada",
        "RTX PRO 6000 Blackwell",
        # servers: T4 to B200
        "T4",
        "V100 PCIe 16GB",
        "P40",
        "P100 PCIe 16GB",
        "A10",
        "A30",
        "A40",
        "A100 SXM 80GB",
        "A100 PCIe 40GB",
        "L4",
        "L40S",
        "H100 SXM",
        "H100 PCIe",
        "H200 SXM",
        "B200",
        "GH200 96GB",
        # Radeon RX 6000 to 9000, PRO, Instinct
        "RX 6800 XT",
        "RX 7900 XTX",
        "RX 9070 XT",
        "Radeon PRO W7900",
        "Instinct MI210",
        "Instinct MI300X",
        # Intel Arc
        "Arc A770 16GB",
        "Arc B580",
        # unified memory
        "Apple M1 8c",
        "Apple M2 Max 38c",
        "Apple M3 Ultra 80c",
        "Apple M4 Max 40c",
        "Apple M5 10c",
        "Radeon 8060S (Ryzen AI Max+ 395)",
        "GB10",
    ]:
        with subtests.test(str(name)):
            assert name in ROWS


@pytest.mark.parametrize("chip", ["M1", "M2", "M3", "M4", "M5"])
def test_every_size_of_an_apple_chip_is_there(chip: str) -> None:
    sizes = {"", " Pro", " Max"} | ({" Ultra"} if chip in ("M1", "M2", "M3") else set())
    assert all(
        any(row.name.startswith(f"Apple {chip}{size} ") for row in ROWS.values()) for size in sizes
    )


# GB/s, dense FP16 tensor TFLOPS with 32-bit accumulation, W: the makers' own pages and papers.
PUBLISHED = {
    # Ada whitepaper, table 2: https://images.nvidia.com/aem-dam/Solutions/geforce/ada/
    "RTX 4090": (1008, 165.2, 450),
    # GA102 whitepaper, table 9: https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-...
    "RTX 3090": (936, 71, 350),
    # Blackwell whitepaper: https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/
    "RTX 5090": (1792, 209.5, 575),
    "T4": (320, 65, 70),  # https://www.nvidia.com/en-us/data-center/tesla-t4/
    "V100 SXM2 16GB": (900, 125, 300),  # https://www.nvidia.com/en-us/data-center/v100/
    "A100 SXM 80GB": (2039, 312, 400),  # https://www.nvidia.com/en-us/data-center/a100/
    "L4": (300, 121, 72),  # https://www.nvidia.com/en-us/data-center/l4/: 242 with sparsity
    "L40S": (864, 362, 350),  # https://www.nvidia.com/en-us/data-center/l40s/
    # https://www.nvidia.com/en-us/data-center/h100/: 1,979 with sparsity are 989 dense
    "H100 SXM": (3350, 989, 700),
    "H200 SXM": (4800, 989, 700),  # https://www.nvidia.com/en-us/data-center/h200/
    # https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html
    "Instinct MI300X": (5300, 1307.4, 750),
    "RX 7900 XTX": (960, 122.8, 355),  # https://www.amd.com/en/products/graphics/
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_is_as_its_maker_publishes_it(name: str) -> None:
    row = ROWS[name]
    result = (row.bandwidth_gbs, row.fp16_tflops, row.board_power_w)
    assert result == pytest.approx(PUBLISHED[name], rel=0.01)


# Bandwidths that Apple, AMD and NVIDIA round on their pages [GB/s].
ROUNDED = {
    "Apple M1 8c": 68, "Apple M1 Pro 16c": 200, "Apple M1 Max 32c": 400, "Apple M2 Ultra 76c": 800,
    "Apple M3 Max 30c": 300, "Apple M3 Max 40c": 400, "Apple M4 10c": 120, "Apple M4 Pro 20c": 273,
    "Apple M4 Max 40c": 546, "Apple M5 10c": 153, "GB10": 273,
    "Radeon 8060S (Ryzen AI Max+ 395)": 256,
}  # fmt: skip


@pytest.mark.parametrize("name", ROUNDED)
def test_unified_memory_is_as_fast_as_its_maker_says(name: str) -> None:
    assert ROWS[name].bandwidth_gbs == pytest.approx(ROUNDED[name], rel=0.025)


def test_ratios_between_cards() -> None:
    # 21 and 19.5 Gbit/s on the same 384 wires
    assert ROWS["RTX 4090"].bandwidth_gbs / ROWS["RTX 3090"].bandwidth_gbs == pytest.approx(
        1008 / 936
    )
    # twice the memory, the same chip
    small = ROWS["RTX 4060 Ti 8GB"]
    large = ROWS["RTX 4060 Ti 16GB"]
    assert (small.bandwidth_gbs, small.fp16_tflops) == (large.bandwidth_gbs, large.fp16_tflops)
    assert large.memory_gib == 2 * small.memory_gib
    # the same compute, HBM3e in place of HBM3
    assert ROWS["H100 SXM"].fp16_tflops == ROWS["H200 SXM"].fp16_tflops
    # two Max chips make an Ultra
    assert ROWS["Apple M2 Ultra 76c"].bandwidth_gbs == 2 * ROWS["Apple M2 Max 38c"].bandwidth_gbs


def test_links_between_gpus_are_sourced_and_of_known_gpus() -> None:
    for row in (*published("link").values(), *published("bridge").values()):
        assert row.part in ROWS
        assert is_public(row.source)
        assert is_past(row.source_date)
        assert 25 <= row.value <= 1000  # a link of NVLink 2 has 25 GB/s each way


def test_cards_with_an_edge_for_a_bridge_have_its_rate() -> None:
    """As many kinds as their makers list: Puget Systems' charts of 2019 and 2021, PNY's of 2021,
    NVIDIA's pages of A30, A40, A100, H100 and H200.
    """
    bridges = published("bridge")
    turing = "RTX 2070 Super", "RTX 2080", "RTX 2080 Super", "RTX 2080 Ti", "Titan RTX"
    quadro = "Quadro GP100", "Quadro GV100", *(f"Quadro RTX {n}000" for n in (5, 6, 8))
    ampere = "RTX 3090", "RTX 3090 Ti", *(f"RTX A{n}" for n in (4500, 5000, 5500, 6000))
    servers = "A30", "A40", "A100 PCIe 40GB", "A100 PCIe 80GB", "H100 PCIe", "H100 NVL", "H200 NVL"
    for card in (*turing, *quadro, *ampere, *servers):
        assert card in bridges, card
        assert from_catalog.bridged(from_catalog.gpu(card)).peer is not None
    # a card of a chip with another size of memory has its bridge
    assert bridges["RTX 2080 Ti 22GB"].value == bridges["RTX 2080 Ti"].value
    # TU104 has one link, TU102 two (Turing's whitepaper): half the rate
    assert 2 * bridges["RTX 2080"].value == bridges["RTX 2080 Ti"].value
    # no card of Ada or of Blackwell's GeForce has the edge
    for name in bridges:
        assert ROWS[name].family.split()[0] not in ("Ada", "Blackwell")


def test_a_link_between_gpus_reaches_its_share() -> None:
    """H100 SXM: 0.84 of 450 GB/s one way; an RTX 4090 has none of its own."""
    peer = from_catalog.gpu("H100 SXM").peer
    assert peer is not None
    assert peer.value == pytest.approx(0.84 * 450e9)
    assert from_catalog.gpu("RTX 4090").peer is None


def test_what_a_driver_keeps_is_a_small_part_and_the_rules_follow_from_the_cards() -> None:
    shown = published("memory shown")
    rules = published("memory kept")
    families = {row.family for row in ROWS.values()} & rules.keys()
    assert rules.keys() - families <= ROWS.keys()
    kept = {name: ROWS[name].memory_gib * 1024 - row.value for name, row in shown.items()}
    corrected = {"M60", "P4", "T4", "T4G", "Quadro RTX 5000", "A10", "A10G", "L4", "L40S"}
    for name in corrected:  # error correction takes a sixteenth of these
        kept[name] -= ROWS[name].memory_gib * 1024 / 16
    for name, mib in kept.items():
        assert is_public(shown[name].source), name
        assert 0 < mib < 0.05 * ROWS[name].memory_gib * 1024, name
    for family in families:
        cards_of = [name for name in kept if ROWS[name].family == family and name != "B200"]
        plain = [kept[name] for name in cards_of if name not in corrected]
        every = [kept[name] for name in cards_of]
        assert rules[family].value == pytest.approx(median(plain or every), abs=1), family


def test_a_named_card_has_what_its_driver_leaves_and_a_typed_size_stands() -> None:
    card = from_catalog.gpu("RTX 3090").memory
    assert float(card.value) == 24_126 * 2**20  # llama.cpp's "VRAM: 24126 MiB"
    l40 = from_catalog.gpu("L40").memory
    assert float(l40.value) == (48 * 1024 * 15 / 16 - 448) * 2**20
    typed = from_spec.machine(MachineSpec(gpu="RTX 4090", vram_gb=24)).gpus[0]
    assert float(typed.memory.value) == 24 * 2**30


def test_cards_of_one_chip_multiply_integers_alike() -> None:
    """A chip has instructions for products of 8-bit integers, or has none, on every card of it."""
    stated: dict[tuple[str, str, int | None], list[float]] = {}
    for row in ROWS.values():
        if row.vendor not in NEED_DOT_PRODUCTS:
            continue
        # GCN 5 is Vega 10 and 12, of at most 2,048 bits, without them, and Vega 20 with them.
        chip = row.bus_bits if row.family == "GCN 5" else None
        rate = (row.int8_tops or 0.0) / (row.fp16_tflops or row.fp32_tflops or 1.0)
        stated.setdefault((row.vendor, row.family, chip), []).append(rate)
    for chip_of, rates in stated.items():
        assert all(rates) or not any(rates), chip_of
        if chip_of[0] == "AMD" and all(rates):
            assert max(rates) <= 1.1 * min(rates), chip_of
