"""Electricity idle and busy, by hand and for machines that somebody put a meter to."""

import pytest

from advisor.advice.prices.power import draw_of, idle_hours, monthly_energy
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec


def test_idle_and_busy_by_hand() -> None:
    # on 8 h a day: 243.5 h; 43.5 h of them busy leave 200 h idle
    # 200 h x 90 W = 18 kWh and 43.5 h x 760 W = 33.06 kWh, at 0.20 USD: 3.60 + 6.612 USD
    waits = idle_hours(8 * 30.4375, 43.5)
    assert waits == pytest.approx(200)
    assert monthly_energy(90, waits, 0.20) == pytest.approx(3.60)
    assert monthly_energy(760, 43.5, 0.20) == pytest.approx(6.612)


def test_a_machine_busy_longer_than_it_is_on_never_idles() -> None:
    assert idle_hours(100, 300) == 0


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
