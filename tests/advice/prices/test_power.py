"""Electricity idle and busy, by hand and for machines that somebody put a meter to."""

from dataclasses import replace

import pytest

from advisor.advice.prices.power import PowerDraw, draw_of, parts_for, supplies, supply_watts
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import Use
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog, from_spec
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.request.money import MoneyInputs, slots


def test_idle_and_busy_by_hand() -> None:
    # on 8 h a day: 243.5 h; 43.5 h of them busy leave 200 h idle
    # 200 h x 90 W = 18 kWh and 43.5 h x 760 W = 33.06 kWh, at 0.20 USD: 3.60 + 6.612 USD
    assert _power(busy_hours=43.5) == pytest.approx((3.60, 6.612))


def test_a_machine_busy_longer_than_it_is_on_never_idles() -> None:
    assert _power(busy_hours=300)[0] == 0


def _power(busy_hours: float) -> tuple[float, float]:
    """Electricity of a month, idle and busy, at 100 s for each reply [USD]."""
    replies = busy_hours * 3600 / 100 / 30.4375
    money = MoneyInputs(hours_on_per_day=8, usd_per_kwh=0.20, replies_per_day=replies)
    speed = Speed(
        strategy=PlacementStrategy.GPU_RESIDENT,
        format="",
        decode=1,
        low=1,
        high=1,
        first_token=0,
        load=None,
    )
    use = Use(work=Workload(output=100), money=money)
    return use.power(PowerDraw(idle=90, busy=760), speed)


def test_two_rtx_3090_draw_the_metered_power() -> None:
    # 760 W answering and about 90 W idle at the wall, no power limit set:
    # https://ai-radar.it/article/consumo-energetico-di-un-setup-dual-rtx-3090-per-l-inference-llm-un-dato-concreto
    draw = draw_of(from_spec.machine(MachineSpec(gpu="RTX 3090", gpu_count=2)))
    assert draw.busy == pytest.approx(760)
    assert draw.idle == pytest.approx(90)


def test_a_mac_studio_draws_the_power_that_apple_publishes() -> None:
    # M2 Ultra, 76 cores: 10 W idle, 295 W at most; https://support.apple.com/en-nz/102027
    draw = draw_of(from_spec.machine(MachineSpec(gpu="Apple M2 Ultra 76c")))
    assert (draw.idle, draw.busy) == (10, 295)


def test_every_card_adds_to_both() -> None:
    draws = [
        draw_of(from_spec.machine(MachineSpec(gpu="RTX 4090", gpu_count=count)))
        for count in (1, 2, 4)
    ]
    assert sorted(draw.idle for draw in draws) == [draw.idle for draw in draws]
    assert sorted(draw.busy for draw in draws) == [draw.busy for draw in draws]
    assert all(draw.busy >= draw.idle for draw in draws)


def test_a_laptop_idles_at_less_than_a_desktop_by_hand() -> None:
    # (18.3 + 45) / 2 W is about 32 W with its GPU idle; in a game 188.8 W with a GPU of 115 W
    # leave 73.8 W (sources in data/prices/power.csv)
    draw = draw_of(from_spec.machine(MachineSpec(gpu="RTX 2060 Laptop")))
    assert draw.idle == pytest.approx((18.3 + 45) / 2, abs=0.5)
    assert draw.busy == pytest.approx(188.8, abs=0.5)
    # a card of 350 W in a dock idles at 17.5 W beside it
    docked = from_spec.machine(MachineSpec(gpu="RTX 2060 Laptop"))
    docked = replace(docked, gpus=(*docked.gpus, from_catalog.gpu("RTX 3090")))
    assert draw_of(docked).idle == pytest.approx(32 + 17.5)
    assert draw_of(docked).busy == pytest.approx(74 + 115 + 350)


@pytest.mark.parametrize(
    ("chip", "idle", "busy"),
    [
        ("Apple M2 Ultra 76c", 10, 295),  # its own row
        ("Apple M4 10c", 5, 65),  # the chip's, whatever its cores
        ("Apple M1 8c", 6.8, 39),
        ("Apple M3 Max 40c", 9, 145),  # the class of M2 Max
        ("Apple M3 Ultra 80c", 10, 295),
        ("Apple M4 Pro 20c", 7, 100),
        ("GB10", 25, 140),  # idle as measured, busy at the chip's limit
        ("Radeon 8060S (Ryzen AI Max+ 395)", 10.8, 120),
    ],
)
def test_unified_machines_draw_what_is_published_for_their_kind(chip, idle, busy) -> None:
    draw = draw_of(from_spec.machine(MachineSpec(gpu=chip)))
    assert (draw.idle, draw.busy) == (idle, busy)


def test_every_unified_chip_has_a_power(subtests: pytest.Subtests) -> None:
    for name in [row.name for row in GPUS.rows().values() if row.unified]:
        with subtests.test(str(name)):
            draw = draw_of(from_spec.machine(MachineSpec(gpu=name)))
            assert 0 < draw.idle <= draw.busy


@pytest.mark.parametrize(
    ("spec", "idle"),
    [
        # a server's host of 120 W, and a waiting H100: 30 to 60 W bare, 26 to 50 W for a model
        (MachineSpec(gpu="H100 PCIe", cpu="EPYC 9354"), 120 + 45 + 38),
        (MachineSpec(gpu="2x L40S", cpu="EPYC 9354"), 120 + 2 * (17.5 + 66)),
        (MachineSpec(gpu="RTX 4090", cpu="EPYC 9354"), 120 + 17.5),
        (MachineSpec(gpu="none", cpu="Raspberry Pi 4"), 3.0),
    ],
)
def test_what_waits_draws_what_was_measured(spec: MachineSpec, idle: float) -> None:
    draw = draw_of(from_spec.machine(spec))
    assert draw.idle == pytest.approx(idle)
    assert draw.busy > draw.idle


def test_a_card_beside_a_laptop_takes_a_dock_with_its_supply() -> None:
    card = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64)).gpus
    dock, *supply = parts_for(Form.LAPTOP, (), card)
    assert dock.part == "dock"
    assert tuple(supply) == supplies(supply_watts(card))
    assert parts_for(Form.LAPTOP, card, card) == (), "no further card, nothing to buy"
    assert parts_for(Form.MAC, (), card) == ()


def test_a_board_has_as_many_slots_as_its_processor_has_lanes_for() -> None:
    # 24 lanes of a desktop make one full slot, which two cards share; 128 make eight, of which ATX
    # has room for seven
    for cpu, number in (("Ryzen 9 7950X", 2), ("Threadripper PRO 7995WX", 7)):
        machine = from_spec.machine(MachineSpec(gpu="RTX 3090", cpu=cpu, ram_gb=64))
        assert slots(machine) == number, cpu
    unknown = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    assert slots(unknown) == 2
