"""Scores less what a format loses, from published perplexities and divergences."""

import math
from dataclasses import replace

import pytest
from provenance import is_past, is_public

from advisor.advice.finder import runnable
from advisor.advice.finder.combinations import in_formats
from advisor.advice.finder.runnable import (
    LOSS_SPREAD,
    Trials,
    best_by_tests,
    best_rated,
    codes_as_well,
    coding_index,
    joined_scores,
    lost_by,
    perplexity,
    points_lost,
    points_per_nat,
    quality_rows,
    rating,
    reads_images,
)
from advisor.catalog.csv_tables import texts
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.formats import HARDLY_MORE, Format


def test_a_nat_is_worth_what_it_is_between_sizes_of_a_family_by_hand() -> None:
    # Llama 2: 1170 - 1108 points and ln(5.47 / 3.32) = 0.4993 nats; Llama 3: 1276 - 1223 points and
    # ln(6.2316 / 2.8308) = 0.7891 nats: 124.2 and 67.2 points a nat
    assert points_per_nat() == pytest.approx((62 / 0.4993 + 53 / 0.7891) / 2, abs=0.05)


def test_perplexities_follow_from_the_published_ratios_by_hand() -> None:
    # llama.cpp, pull request 6936: 6.234284 in Q8_0 are 1.000425 times those of 16 bits; 4.7763 in
    # Q2_K are 68.73 % more
    assert perplexity("Llama-3-8B") == pytest.approx(6.234284 / 1.000425, abs=1e-4)
    assert perplexity("Llama-3-70B") == pytest.approx(4.7763 / 1.6873, abs=1e-4)


def test_formats_lose_points_by_hand() -> None:
    # 95.7 points a nat: 0.332223 nats are 31.8 points, 0.028152 are 2.7
    assert points_lost("Q2_K") == pytest.approx(31.8, abs=0.1)
    assert points_lost("Q4_K_M") == pytest.approx(2.69, abs=0.02)
    assert points_lost("AWQ") == points_lost("IQ4_XS")
    assert points_lost("FP8") == points_lost("Q6_K")
    assert points_lost("a format without a published loss") is None


def test_a_published_perplexity_lies_within_twice_the_divergence() -> None:
    # Q2_K of Llama 3 8B has 1.564849 times the perplexity of 16 bits, 0.448 nats (the same page)
    nats = (points_lost("Q2_K") or 0.0) / points_per_nat()
    assert 0.5 < nats / math.log(1.564849) < 2


def test_hardly_more_is_a_point_of_a_score() -> None:
    assert pytest.approx(1 / points_per_nat(), rel=0.05) == HARDLY_MORE


def test_a_maker_loses_nothing_in_its_own_format() -> None:
    assert lost_by(catalog.model("gpt-oss-20b", "MXFP4")) == 0
    assert lost_by(catalog.model("Llama-3.1-8B", "Q2_K")) == points_lost("Q2_K")


def test_no_published_model_loses_more_than_the_spread_allows() -> None:
    # ThomasBaruzier, perplexity.md: Qwen2.5 14B has 7.6005 in Q2_K and 6.0366 in Q5_1, 0.2304 nats
    ladder = Format.losses()
    ratios = {
        (row.model, row.format): row.kl_divergence / ladder[row.format].kl_divergence
        for row in Format.all_losses()
        if row.format in ladder
    }
    assert ratios["Qwen2.5-14B", "Q2_K"] == pytest.approx(
        math.log(7.6005 / 6.0366) / 0.332223, abs=0.001
    )
    assert 0.25 < min(ratios.values()) < max(ratios.values()) < LOSS_SPREAD
    assert len({model for model, _ in ratios}) == 6


def test_a_second_board_rates_what_the_first_does_not_by_hand() -> None:
    # the line through the models that both rate goes through their mean; a point of the index is
    # worth 2 to 4 of the leaderboard
    rows = joined_scores()
    assert not set(rows) & set(quality_rows())
    nine = rows["Qwen3.5-9B"]
    four = rows["Qwen3.5-4B"]
    assert 2 < (nine.score - four.score) / (21.8 - 20.4) < 4
    assert 40 < nine.plus_minus < 80
    assert rating("Qwen3.6-27B") == quality_rows()["Qwen3.5-27B"]
    assert rating("Qwen3.5-9B") == nine


def test_models_at_twice_reading_speed_stand_before_a_better_one_that_is_slower() -> None:
    # 31e9 weights of 3.5 bits and more spill over 12 GB: no faithful format writes 2 * 10 tokens/s
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    names = ("Gemma-4-31B", "Qwen3-30B-A3B", "Qwen3.5-27B", "Qwen/Qwen3.8-27B")
    rows = Trials(machine, Workload(), 10.0).runnable(names)
    assert rows[0].model.name == "Qwen3-30B-A3B"
    assert [row.pace for row in rows[:3]] == sorted(row.pace for row in rows[:3])
    # of one shape, the better stands for both
    assert rows[-1].model.name == "Qwen3.5-27B"


def test_a_small_model_stands_before_a_large_one_that_loses_more_by_hand() -> None:
    # in 12 GB and 32 GB of RAM Qwen3-32B is fast enough in Q2_K only: 1347 - 32 = 1315, less than
    # Gemma 3 12B in Q6_K, which the card holds: 1342 less its loss
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    names = ("Qwen3-32B", "Gemma-3-12B")
    first, second = Trials(machine, Workload(), 10.0).runnable(names)
    assert (second.model.name, second.model.format) == ("Qwen3-32B", "Q2_K")
    assert second.score == pytest.approx(1347 - 31.8, abs=0.1)
    assert first.score == pytest.approx(1342 - (points_lost("Q6_K") or 0.0), abs=0.02)


def test_a_format_that_the_gpu_holds_stands_before_one_that_spills_within_the_margin() -> None:
    # 27e9 weights of 8.5 bits are 29 GB, of 6.6 bits 22 GB, on a card of 24 GiB, 25.8 GB
    machine = from_spec.machine(MachineSpec(gpu="RTX 4090", ram_gb=64))
    (row,) = Trials(machine, Workload(), 6.0).runnable(("Qwen3.6-27B",))
    assert (row.model.format, row.speed.strategy) == ("Q6_K", PlacementStrategy.GPU_RESIDENT)
    # of 70e9 weights no format within the margin fits, so that the least loss that keeps up stays
    (row,) = Trials(machine, Workload(), 1.5).runnable(("Llama-3.3-70B",))
    assert row.speed.strategy is PlacementStrategy.CPU_OFFLOAD


def test_gpt_oss_is_tried_in_the_formats_that_exist_alone() -> None:
    """Its other files hold the same experts, so that none is smaller and none more faithful."""
    forms = [model.format for model in in_formats(catalog.model("gpt-oss-20b", "Q4_K_M"))]
    assert forms == ["MXFP4", "MXFP4-hf", "Q4_0"]
    assert "MXFP4" not in [model.format for model in in_formats(catalog.model("Qwen3-8B", "Q8_0"))]
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060", ram_gb=32))
    (row,) = Trials(machine, Workload(), 7.0).runnable(("gpt-oss-20b",))
    assert row.model.format == "MXFP4"


def test_of_models_that_a_leaderboard_cannot_tell_apart_the_fastest_stands_first() -> None:
    # 1452 - 8 = 1444 in Q3_K_M and 1438 in Q8_0, 7 more or less each: 1437 to 1451, 1431 to 1445
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    names = ("Gemma-4-31B", "Gemma-4-26B-A4B", "Gemma-3-27B")
    first, second, third = Trials(machine, Workload(), 6.0).runnable(names)
    assert (first.model.name, second.model.name) == ("Gemma-4-26B-A4B", "Gemma-4-31B")
    assert first.speed.decode > second.speed.decode
    assert third.most_score < second.least_score
    other = catalog.model("Gemma-3-12B", "Q4_K_M")
    better = best_rated(other, machine, Workload(), 6.0, as_well=True)
    assert better is not None
    assert better.model.name == "Gemma-4-26B-A4B"


def test_what_fits_in_memory_in_a_smaller_format_is_not_read_from_the_drive() -> None:
    # Qwen3-Next, 80 billion weights: 49 GB in Q4_K_M, over 12 + 32 GiB (47 GB); 38 in Q3_K_M
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    (row,) = Trials(machine, Workload(), 6.0).runnable(["Qwen3-Next-80B-A3B"])
    assert (row.model.format, row.speed.strategy) == ("Q3_K_M", PlacementStrategy.CPU_OFFLOAD)
    # 671 billion weights lie on the drive in any format
    (large,) = Trials(machine, Workload(), 6.0).runnable(["DeepSeek-V3"])
    assert (large.model.format, large.speed.strategy) == ("Q2_K", PlacementStrategy.NVME_OFFLOAD)
    assert not Trials(machine, Workload(), 6.0).runnable(["DeepSeek-V3"], whole=True)


def test_models_that_read_images_are_of_the_catalogue_and_have_a_page() -> None:
    dates = texts("models/vision.csv", "model", "source_date")
    assert reads_images().keys() <= catalog.model_rows().keys()
    assert all(map(is_public, reads_images().values()))
    assert all(map(is_past, dates.values()))


def test_the_best_by_tests_is_another_than_the_best_by_votes() -> None:
    # Arena's votes rate both at 1438; Artificial Analysis' index has 26.1 and 52.0, of coding 39.3
    # and 68.1 (22 August 2026)
    machine = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64.0))
    names = ("Gemma-4-26B-A4B", "Qwen/Qwen3.8-27B")
    rows = Trials(machine, Workload(context=8192), reading_tps=6.0).runnable(names)
    assert rows[0].model.name == names[0]
    by_tests = best_by_tests(rows)
    assert by_tests is rows[1]
    assert best_by_tests(rows, coding_index) is by_tests
    assert best_by_tests(rows[:1]) is rows[0]
    assert best_by_tests([replace(row, reading_tps=1000.0) for row in rows]) is None
    assert best_by_tests(rows, lambda name: None) is None


def test_for_code_a_model_is_as_good_only_by_coding_tests() -> None:
    """Artificial Analysis' coding index of 22 August 2026: Muse-Glimmer-30B 49.0, Gemma-4-31B 43.4,
    Gemma-4-26B-A4B 39.3; Qwen3.5-27B was not tested.
    """
    assert codes_as_well("meta-models/Muse-Glimmer-30B", "Gemma-4-31B")
    assert not codes_as_well("Gemma-4-26B-A4B", "Gemma-4-31B")
    assert not codes_as_well("Gemma-4-31B", "Qwen3.5-27B")


def test_an_agent_is_offered_no_model_that_coding_tests_did_not_see() -> None:
    machine = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    model = catalog.model("Qwen3.5-27B", "Q4_K_M")
    assert best_rated(model, machine, Workload(), 7.0, as_well=True) is not None
    assert best_rated(model, machine, Workload(), 7.0, as_well=True, for_code=True) is None


def test_no_model_whose_published_size_outgrows_a_machine_has_a_format_that_fits() -> None:
    machine = from_spec.machine(MachineSpec(gpu="RTX 4060 8GB", ram_gb=16))
    names = [name for name, _ in runnable._rated() if runnable._outgrows(name, machine)]
    assert len(names) > 10
    for name in names:
        assert not list(runnable._in_memory(name, machine, runnable.FAITHFUL)), name
