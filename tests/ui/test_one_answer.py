"""Sentences, badge and limit of one answer, which never contradict each other."""

import re
from dataclasses import replace
from itertools import product

import pytest

from advisor.advice.advise import Answer, answer
from advisor.advice.judgement import MADE_FOR_DRIVES, Judgement
from advisor.advice.words.ways import YOUNG
from advisor.cost_model.placement import PlacementStrategy
from advisor.request.request import Request
from advisor.runtimes.compare import decode_tps, usable
from advisor.runtimes.tiered import is_reported_on
from advisor.ui.advise.page import certainty
from advisor.ui.advise.placements import BADGES, badge
from advisor.ui.advise.ways import ways
from advisor.units import number

MODELS = ("gpt-oss-120b", "GLM-5.3-Flash", "Qwen3.8-Flash-Next", "Llama-3.1-8B")
MACHINES = (
    {"machine": "MacBook M4 Max 64GB"},
    {"gpu": "2x RTX 3090", "ram_gb": 128},
    {"gpu": "RTX 5070", "ram_gb": 32},
    {"gpu": "none", "ram_gb": 64},
)
GLM_ON_TWO = Request(model="GLM-5.3-Flash", gpu="2x RTX 3090", ram_gb=128)
PAIRS = [(model, place) for model, place in product(MODELS, MACHINES)]


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]} {pair[1]}")
def told(request: pytest.FixtureRequest) -> Answer:
    model, place = request.param
    return answer(Request(model=model, **place).nouns())


def test_the_badge_says_what_the_verdict_says(told: Answer) -> None:
    best = told.advice.best
    if best is None:
        return
    words = told.advice.summary
    text, tone = badge(told, best)
    assert text in (BADGES[words.judgement][0], words.reserve)
    assert (tone == "good") == (words.judgement.enough and not words.reserved)


def test_what_is_read_from_the_drive_is_said_with_what_limits_it(told: Answer) -> None:
    best = told.advice.best
    if best is None:
        return
    words = told.advice.summary
    hoped = (
        best.strategy is PlacementStrategy.NVME_OFFLOAD and best.runtime.name not in MADE_FOR_DRIVES
    )
    assert (words.judgement is Judgement.DRIVE) == hoped
    assert ("unproven" in words.gives) == hoped
    if hoped:
        from_drive = "from the drive about" in words.gives
        assert from_drive == (best.bottleneck == "the drive")
        assert from_drive or re.search(r"by [\d,.]+ [GM]B: about", words.gives)


def test_the_verdict_names_an_engine_that_is_reported_and_notably_faster(told: Answer) -> None:
    advice = told.advice
    fits = [
        each
        for each in usable(advice.estimates)
        if each.runtime.engine == "tiers" and is_reported_on(each.runtime.key, each.machine)
    ]
    if not fits or advice.best is None:
        return
    fastest = max(fits, key=decode_tps)
    decided = advice.decision.option
    now = max(advice.options[0].decode, decided.decode if decided else 0.0)
    if float(decode_tps(fastest)) >= YOUNG * now:
        assert f"the same model in {fastest.runtime.name}" in advice.summary.way


def test_a_small_rest_on_the_drive_is_told_beside_the_memory_that_limits() -> None:
    # gpt-oss-120b is 63.4 GB: 52 of 64 GiB for the GPU and free RAM as cache leave 1 GiB
    told = answer(Request(model="gpt-oss-120b", machine="MacBook M4 Max 64GB").nouns())
    assert told.advice.best.bottleneck == "GPU memory bandwidth"
    assert badge(told, told.advice.best) == ("from the drive", "bad")
    assert "in memory by 1" in told.advice.summary.gives


def test_a_badge_has_the_reserve_of_its_verdict() -> None:
    many = Request(model="Qwen3-32B", gpu="RTX 3090", ram_gb=64, replies_per_day=200_000)
    told = answer(many.nouns())
    assert badge(told, told.advice.best) == ("cannot keep up", "partly")


def test_an_engine_that_the_verdict_names_has_a_card_of_its_own() -> None:
    offered = {way.name: way for way in ways(answer(GLM_ON_TWO.nouns()))}
    engine = offered["Another engine"]
    assert engine.price == "free"
    assert engine.action == f"Try {engine.changes['runtime']}"
    chosen = answer(replace(GLM_ON_TWO, runtime=engine.changes["runtime"]).nouns())
    assert f"{number(chosen.advice.options[0].decode)} tokens/s" == engine.figure
    assert "Another engine" not in [way.name for way in ways(chosen)]


def test_an_answer_about_a_model_that_nobody_knows_has_low_certainty() -> None:
    known = answer(Request(model="Qwen3-32B", gpu="RTX 3090", ram_gb=64).nouns())
    guessed = answer(Request(model="Foobar-42B", gpu="RTX 3090", ram_gb=64).nouns())
    assert "Low certainty." not in certainty(known)
    assert "Low certainty." in certainty(guessed)
    assert "assumed, as nobody has described it" in certainty(guessed)
