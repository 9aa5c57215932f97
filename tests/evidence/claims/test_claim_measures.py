"""Figures behind the verdicts on claims, each worked by hand or held to a published one."""

import numpy as np
import pytest

from advisor.advice.prices.power import draw_of
from advisor.advice.prices.price import bought, rented
from advisor.advice.speeds import speed_of
from advisor.advice.table.cost import Use
from advisor.evidence.claims.findings import MEASURES, SETTING
from advisor.evidence.claims.scenarios import Scenario
from advisor.model import catalog
from advisor.request.money import MoneyInputs
from advisor.units import GB, GIB

LLAMA = {"model": "Llama-3.1-70B", "format": "Q4_K_M", "context": 4096, "runtime": "llama.cpp",
         "placement": "cpu-offload", "gpu": "RTX 4090", "ram_gb": 256,
         "cpu": "Server 8-channel DDR4-3200 (typical)"}  # fmt: skip


def scenario(**fields) -> Scenario:
    return Scenario(inputs={**LLAMA, **fields})


def value(name: str, **fields) -> float:
    return float(MEASURES[name](scenario(**fields)).value)


def test_half_a_70b_model_from_a_drive_takes_three_seconds_a_token_at_least() -> None:
    # 42.5 GB in Q4_K_M, half of it 20 GB at least: 20 / 7 = 2.86 s.
    record = {"placement": "nvme-offload", "gpu_layers": 40, "cache_gb": 0, "disk_gbs": 7.0}
    assert value("token_time", **record) > 20 / 7


def test_a_7b_model_in_float16_is_13_gb() -> None:
    # 6.74e9 weights of two bytes.
    assert value("weights", model="Llama-2-7B", format="F16") == pytest.approx(13.48e9, rel=5e-3)
    # and in Q4_K_M about 4.8 bits each: https://huggingface.co/TheBloke/Llama-2-7B-GGUF has 4.08 GB
    assert value("weights", model="Llama-2-7B") == pytest.approx(4.08e9, rel=5e-3)


def test_the_cache_of_a_70b_model_at_128k_is_43_gb() -> None:
    # 80 layers x 8 heads x 128 values x K and V x 2 bytes x 131,072 tokens = 42.9 GB.
    by_hand = 80 * 8 * 128 * 2 * 2 * 131_072
    assert value("cache", context=131_072) == pytest.approx(by_hand)
    weights = value("weights")
    assert value("cache_share", context=131_072) == pytest.approx(by_hand / weights)


@pytest.mark.parametrize(
    ("gpu", "cpu", "times"),
    [
        # 1008 GB/s and 12 x 8 B x 4800 MT/s = 460.8 GB/s
        ("RTX 4090", "Server 12-channel DDR5-4800 (typical)", 1008 / 460.8),
        # 1792 GB/s and 2 x 8 B x 3200 MT/s = 51.2 GB/s
        ("RTX 5090", "Desktop DDR4-3200 dual-channel (typical)", 1792 / 51.2),
    ],
)
def test_vram_beside_ram_by_datasheet(gpu: str, cpu: str, times: float) -> None:
    assert value("bandwidth", gpu=gpu, cpu=cpu) == pytest.approx(times, rel=1e-3)


@pytest.mark.parametrize(
    ("generation", "low", "high"), [(3, 12, 12.5), (4, 23.9, 26.4), (5, 50, 57)]
)
def test_links_reach_the_measured_rates(generation: int, low: float, high: float) -> None:
    # nvbandwidth, BaM and open-gpu-kernel-modules: copies from pinned memory over 16 lanes
    assert low <= value("link_rate", pcie_gen=generation, pcie_lanes=16) / GB <= high


def test_pageable_copies_reach_half_to_three_quarters_of_pinned_ones() -> None:
    desktop = {"cpu": "Ryzen 9 7950X"}
    share = value("pageable_rate", **desktop) / value("link_rate", **desktop)
    assert 0.54 <= share <= 0.77  # cuda-oxide, PR 976


def test_activations_cross_in_a_microsecond() -> None:
    # 8192 values of 4 bytes at 24.5 GB/s: 1.3 microseconds
    assert value("crossing_copy", pcie_gbs=24.5) == pytest.approx(8192 * 4 / 24.5e9)


def test_vllm_pins_the_layers_off_the_gpu() -> None:
    record = {"runtime": "vLLM", "format": "AWQ", "gpu_layers": 40, "ram_gb": 64}
    layers = catalog.model("Llama-3.1-70B", "AWQ").layer_bytes[40:].sum()
    assert value("pinned_used", **record) == pytest.approx(layers / (64 * GIB))
    assert value("pinned_used", gpu_layers=40) == 0


def test_streaming_half_of_it_is_about_one_token_a_second() -> None:
    # 20 GB over 24.5 GB/s are 0.8 s, so 1.2 tokens/s at most
    speed = value("decode", runtime="vLLM", format="AWQ")
    assert 0.8 < speed < 1.2
    assert value("link_share", runtime="vLLM", format="AWQ") > 0.9
    assert value("link_share", gpu_layers=40) == 0


def test_all_of_a_copy_is_hidden_once_there_is_enough_to_compute() -> None:
    prompts = np.array([64.0, 512.0, 4096.0])
    record = {"runtime": "vLLM", "format": "AWQ", "context": 8192}
    shares = MEASURES["hidden_prompt"](scenario(prompt=prompts, **record)).value
    assert list(shares) == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] == 1


def test_users_together_share_a_step() -> None:
    each, together = (value(name, users=4, gpu_layers=20) for name in ("decode", "decode_total"))
    assert together == pytest.approx(4 * each)


def test_used_ram_includes_the_part_of_the_system() -> None:
    held = value("ram_share", gpu_layers=0) * value("weights")
    assert held > value("weights")  # cache and buffers too
    assert value("ram_used", gpu_layers=0) > held / (256 * GIB)


def test_the_longest_context_is_the_last_that_fits() -> None:
    longest = value("longest_context", placement="gpu-resident", model="Llama-3.1-8B")
    fits = [
        value("missing", placement="gpu-resident", model="Llama-3.1-8B", context=longest + more)
        for more in (0, 256)
    ]
    assert fits[0] == 0 < fits[1]


def test_a_model_without_a_fitting_placement_has_no_figure() -> None:
    assert np.isnan(value("decode", placement="gpu-resident"))
    assert value("missing", placement="gpu-resident") > 0
    assert np.isnan(value("longest_context", placement="gpu-resident"))


def test_settings_are_counted_with_their_values() -> None:
    line = "llama-server -m 'a b.gguf' -c 8192 -ngl 40 --no-repack --fit off"
    assert set(SETTING.findall(line)) >= {"-c 8192", "-ngl 40", "--no-repack", "--fit off"}
    call = 'load(\n  "x", device_map="auto", max_memory={0: "22GiB", "cpu": "57GiB"}, a=1)'
    assert SETTING.findall(call) == [
        'device_map="auto"',
        'max_memory={0: "22GiB", "cpu": "57GiB"}',
        "a=1",
    ]


UPGRADE = {"gpu": "RTX 3090", "upgrade": "RTX A6000", "gpu_layers": 40, "usd_per_hour_of_time": 30}


def test_a_gpu_pays_from_the_number_of_replies_whose_saved_time_is_worth_it() -> None:
    slow = scenario(**UPGRADE).estimate
    fast = scenario(gpu="RTX A6000", placement="gpu-resident").estimate
    saved = float(slow.reply - fast.reply)
    enough = value("paying_replies", **UPGRADE)
    # An RTX A6000 in place of the card, bought or rented by use; the machine is there already.
    now = speed_of(slow)
    then = speed_of(fast)
    upgraded = scenario(**UPGRADE)
    use = Use(
        work=upgraded.nouns.work, money=MoneyInputs(), weights=float(upgraded.model.file_bytes)
    )
    kept = use.owned(draw_of(slow.machine), now).total
    price = bought("RTX A6000", 1, use.money.own_price).usd
    rent = rented("RTX A6000", 1, use.money.own_rent)
    costs = (use.owned(draw_of(fast.machine), then, usd=price), use.rented(rent[1], then))
    cost = min(each.total for each in costs) - kept
    # replies x seconds x days in a month / 3600 x dollars for an hour = cost of a month
    assert enough * saved * 365.25 / 12 / 3600 * 30 == pytest.approx(cost, rel=1e-6)


def test_twice_the_worth_of_time_takes_half_the_replies_and_none_takes_no_end() -> None:
    once, twice, never = (
        value("paying_replies", **{**UPGRADE, "usd_per_hour_of_time": usd}) for usd in (30, 60, 0)
    )
    assert twice == pytest.approx(once / 2)
    assert np.isinf(never)


def test_who_reads_along_loses_less() -> None:
    whole, along = (
        value("paying_replies", **UPGRADE, **record) for record in ({}, {"reading_tps": 5})
    )
    assert along > whole
