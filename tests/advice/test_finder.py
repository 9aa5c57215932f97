"""The finder: numbers of single estimates, targets that are kept, models in their order."""

import random
from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from advisor.advice.compare import as_run
from advisor.advice.finder.candidates import candidates
from advisor.advice.finder.runnable import runnable
from advisor.advice.finder.search import find
from advisor.advice.finder.target import Target
from advisor.advice.fleet import Fleet
from advisor.advice.offers import MoneyInputs
from advisor.advice.options.question import Question
from advisor.advice.ownership import Ownership
from advisor.advice.quality import format_loss_rows, quality_rows
from advisor.advice.speeds import speed_of
from advisor.catalog.constants import fitted_constants
from advisor.catalog.inputs import TARGET, Input
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.machine import from_catalog, from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, RUNTIMES, Runtime

TODAY = date(2026, 11, 22)


@cache
def host() -> Machine:
    return from_spec.machine(MachineSpec())


@cache
def machines() -> tuple[Machine, ...]:
    """Every GPU of the catalogue once, twice and four times, and what is sold whole."""
    return tuple(one.machine for one in candidates(host()) if len(one.machine.gpus) in (1, 2, 4))


@cache
def fleet() -> Fleet:
    return Fleet(machines())


MODELS = (
    ("Llama-3.1-8B", "Q4_K_M"), ("Llama-3.1-70B", "Q4_K_M"), ("Qwen3-30B-A3B", "Q8_0"),
    ("gpt-oss-120b", "MXFP4"), ("Llama-3.1-8B", "BF16-hf"),
)  # fmt: skip
WORKS = (Workload(), Workload(context=32_768, prompt=4096, users=4), Workload(kv_type="q8_0"))


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.name)
def test_many_machines_at_once_are_each_machine_alone(runtime: Runtime) -> None:
    # about 1,000 random combinations over all runtimes, to 12 digits, refusals included
    chance, compared = random.Random(runtime.name), 0
    for model, form in MODELS:
        asked = catalog.model(model, form)
        for strategy in PlacementStrategy:
            work = chance.choice(WORKS)
            together = fleet().speeds(asked, work, runtime, strategy)
            for index in chance.sample(range(len(machines())), 7):
                assert_alike(together.at(index), asked, index, work, runtime, strategy)
                compared += 1
    assert compared == 105


def assert_alike(together, asked, index, work, runtime, strategy) -> None:
    machine = machines()[index]
    try:
        model = as_run(asked, runtime, machine)
    except Refusal:
        assert together is None
        return
    if strategy not in runtime.strategies:
        assert together is None
        return
    alone = speed_of(estimate(model, machine, work, runtime, strategy, fitted_constants()))
    assert (alone is None) == (together is None)
    if alone is not None:
        for name in ("decode", "low", "high", "first_token", "load"):
            assert getattr(together, name) == pytest.approx(getattr(alone, name), rel=1e-12)
        assert (together.format, together.strategy) == (alone.format, alone.strategy)


@cache
def question(model: str = "Llama-3.1-70B") -> Question:
    return Question(
        asked=catalog.model(model, "Q4_K_M"), machine=host(), work=Workload(),
        runtimes=(LLAMA_CPP,), money=MoneyInputs(), ownership=Ownership(), today=TODAY,
    )  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [
        Target(min_tps=15, max_usd_per_month=200, max_usd=3000),
        Target(min_tps=40),
        Target(max_usd_per_month=20),
        Target(max_usd=500),
    ],
)
def test_all_that_is_found_meets_the_target_the_cheapest_first(target: Target) -> None:
    found = find(question(), target, (LLAMA_CPP,), ("Q4_K_M",)).hits
    assert found
    for hit in found:
        assert hit.speed.decode >= target.min_tps
        for value, most in ((hit.monthly, target.max_usd_per_month), (hit.upfront, target.max_usd)):
            assert most is None or (value is not None and value <= most)
    costs = [hit.monthly for hit in found if hit.monthly is not None]
    assert costs == sorted(costs)
    assert all(hit.monthly is None for hit in found[len(costs) :])


def test_a_higher_target_finds_no_more() -> None:
    counts = [
        len(find(question(), Target(min_tps=speed), (LLAMA_CPP,), ("Q4_K_M",)).hits)
        for speed in (1, 10, 20, 60, 10_000)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


def test_a_card_that_is_not_priced_is_found_without_a_budget_alone() -> None:
    found = find(question(), Target(min_tps=1), (LLAMA_CPP,), ("Q4_K_M",)).hits
    unpriced = [hit for hit in found if hit.monthly is None]
    assert unpriced
    budget = find(question(), Target(min_tps=1, max_usd=1e6), (LLAMA_CPP,), ("Q4_K_M",)).hits
    assert all(hit.monthly is not None for hit in budget)


@pytest.mark.parametrize("entry", TARGET, ids=lambda entry: entry.name)
def test_targets_have_limits(entry: Input) -> None:
    name, most = entry.name, entry.limits[1]
    for wrong in (-1, most * 1.01, float("nan")):
        with pytest.raises(InputError, match="allowed is"):
            Target(**{name: wrong})


@cache
def here() -> tuple[object, ...]:
    machine = from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    names = ("Llama-3.1-8B", "Llama-3.1-70B", "Gemma-3-27B", "Qwen3-30B-A3B", "Qwen3.6-27B",
             "DeepSeek-V3")  # fmt: skip
    return tuple(runnable(machine, Workload(), reading_tps=10.0, names=names))


def test_models_that_keep_up_come_first_by_score_and_unscored_ones_apart() -> None:
    found = here()
    scored = [one for one in found if one.quality is not None]
    assert list(found[: len(scored)]) == scored
    fast = [one for one in scored if one.keeps_up]
    assert scored[: len(fast)] == fast
    scores = [one.quality.score for one in fast]
    assert scores == sorted(scores, reverse=True)
    assert all(one.speed.decode >= 10 for one in fast)


def test_what_does_not_fit_is_not_worth_running() -> None:
    # 671 billion parameters in 2.6 bits are 218 GB; card and RAM hold 88
    names = [
        one.model.name for one in here() if one.speed.strategy is not PlacementStrategy.NVME_OFFLOAD
    ]
    assert "DeepSeek-V3" not in names
    assert "Llama-3.1-8B" in names


def test_the_best_format_is_the_largest_that_a_reader_need_not_wait_for() -> None:
    by_name = {one.model.name: one for one in here()}
    assert by_name["Llama-3.1-8B"].model.format == "Q8_0"
    slow = by_name["Llama-3.1-70B"]
    assert slow.keeps_up == (slow.speed.decode >= 10)


def test_scores_are_of_catalogue_models_dated_and_public() -> None:
    for name, row in quality_rows().items():
        assert name in catalog.model_rows()
        assert 900 < row.score < 1600
        assert row.date <= row.retrieved
        assert row.source.startswith("https://")


def test_a_smaller_format_of_a_kind_loses_more() -> None:
    # ggml-org/llama.cpp, tools/perplexity/README.md: LLaMA 3 8B, KLD with a Wikitext matrix
    loss = {form: row.kl_divergence for form, row in format_loss_rows().items()}
    ladder = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "IQ3_XXS", "Q2_K")
    assert [loss[form] for form in ladder] == sorted(loss[form] for form in ladder)
    assert (loss["Q4_K_M"], loss["Q2_K"]) == (0.028152, 0.332223)
    assert set(loss) <= set(catalog.model_formats())


def test_hardware_of_candidates_is_of_the_catalogue() -> None:
    names = {one.name for one in candidates(host())}
    assert names >= {"RTX 3090", "DGX Spark (GB10)", "RX 7900 XTX"}
    assert replace(host(), gpus=(from_catalog.gpu("RTX 3090"),)).gpus
