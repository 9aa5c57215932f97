"""Verdict: speed words at their levels, two short lines, sums that can be subtracted."""

import re
from dataclasses import replace
from functools import cache

import pytest

from advisor.advice.advise import advise, answer
from advisor.advice.judgement import Judgement, judgement
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import MOST_WORDS, Advice
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs
from advisor.request.request import Request

MACHINES = {
    "gaming PC of 8 GB": MachineSpec(gpu="RTX 3060 Ti", ram_gb=32),
    "gaming PC of 24 GB": MachineSpec(gpu="RTX 3090", ram_gb=64),
    "two cards": MachineSpec(gpu="2x RTX 3090", ram_gb=128),
    "server": MachineSpec(gpu="RTX 4090", cpu="EPYC 9355", ram_gb=384),
    "laptop": MachineSpec(gpu="RTX 4060 Laptop", ram_gb=16),
    "Mac": MachineSpec(gpu="Apple M4 Max 40c", ram_gb=48),
    "mini PC": MachineSpec(gpu="Radeon 8060S (Ryzen AI Max+ 395)", ram_gb=128),
    "no GPU": MachineSpec(gpu="none", ram_gb=16),
}
MODELS = ("Llama-3.1-8B", "Qwen3-30B-A3B", "Llama-3.3-70B", "gpt-oss-120b", "DeepSeek-R1")


@cache
def _machine(name: str) -> Machine:
    return machine(MACHINES[name])


@cache
def _answer(name: str, model: str, **money: float) -> Advice:
    stored = catalog.model(model, "Q4_K_M")
    return advise(stored, _machine(name), Workload(), money=MoneyInputs(**money))


ALL = [(name, model) for name in MACHINES for model in MODELS]


@pytest.mark.parametrize(
    ("decode", "words"),
    [
        # reading at 6 tokens a second: from 24, from 6, from 2, from 0.5, below; 5.96 shows as 6.0
        (24.0, "faster than you read"), (23.4, "keeps up with reading"),
        (5.96, "keeps up with reading"), (5.94, "slower than you read"),
        (2.0, "slower than you read"), (1.9, "minutes per answer"),
        (0.5, "minutes per answer"), (0.49, "not usable for chat"),
        (None, "does not run here"),
    ],
)  # fmt: skip
def test_speed_words_by_hand(decode: float | None, words: str) -> None:
    assert judgement(decode, 6.0) == words


def test_a_slow_reader_is_served_sooner() -> None:
    assert judgement(5.0, 6.0) is Judgement.SLOWER
    assert judgement(5.0, 4.0) is Judgement.KEEPS_UP


def test_twenty_seconds_are_no_minutes_for_who_reads_fast() -> None:
    assert judgement(13.0, 50.0) is Judgement.SLOWER  # 250 tokens in 19 s
    assert judgement(1.9, 50.0) is Judgement.MINUTES  # in 132 s


def test_a_wait_longer_than_the_writing_stands_beside_the_speed() -> None:
    old = replace(MACHINES["no GPU"], cpu="Core i5-8250U", ram_gb=32)
    stored = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    for prompt in (16, 512, 8192):
        answer = advise(stored, machine(old), Workload(prompt=prompt), money=MoneyInputs())
        best = answer.best
        first = answer.verdict.splitlines()[0]
        assert best is not None
        assert best.first_token_seconds is not None
        assert best.decode_tps is not None
        writing = float(best.work.output) / float(best.decode_tps)
        assert ("the first word after" in first) == (float(best.first_token_seconds) > writing)
    assert "the first word after" in first
    patient = advise(stored, machine(old), Workload(prompt=8192), money=MoneyInputs(reading_tps=1))
    assert float(patient.best.first_token_seconds) > 30
    assert patient.verdict.startswith("Slow to begin, then ")
    assert patient.summary.reserved


def test_what_is_read_from_the_drive_does_not_run_well() -> None:
    stored = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    small = MACHINES["no GPU"]
    answer = advise(stored, machine(small), Workload(), money=MoneyInputs(reading_tps=0.5))
    assert answer.best.strategy is PlacementStrategy.NVME_OFFLOAD
    assert answer.best.bottleneck != "the drive"
    assert re.match(
        r"It does not fit in memory by [\d.]+ GB: about [\d.]+ tokens a second with that part ",
        answer.verdict,
    )
    assert "unproven" in answer.verdict
    assert "runs" not in answer.verdict.lower()


def test_two_lines_of_few_words_without_nested_parentheses() -> None:
    for name, model in ALL:
        for money in ({}, {"replies_per_day": 2.0}, {"usd_per_hour_of_time": 200.0}):
            answer = _answer(name, model, **money)
            text = answer.verdict
            lines = text.splitlines()
            assert lines[2:] == list(answer.summary.beside), (name, model, text)
            assert len(lines) <= 5, "a purchase, its place and limits, one with a drawback"
            assert len(" ".join(lines[:2]).split()) <= MOST_WORDS, (name, model, text)
            assert not re.search(r"\([^)]*\(", text), (name, model, text)
            assert "  " not in text, (name, model, text)
            assert all(line.endswith(".") for line in text.splitlines()), (name, model, text)
            assert answer.judgement in text.replace("It does not", "does not"), (name, model, text)


def test_what_is_bought_saves_what_the_verdict_says() -> None:
    for name, model in ALL:
        answer = _answer(name, model)
        option = answer.choice.safe
        kept = answer.options[0]
        if option is None or kept.speed is None or option.hours_saved is None:
            continue
        # hours before less hours after; dollars of a month after less before, over those hours
        assert kept.hours_lost is not None
        assert option.hours_lost is not None
        assert option.hours_saved == pytest.approx(kept.hours_lost - option.hours_lost)
        more = (option.monthly or 0.0) + option.standing - (kept.monthly or 0.0)
        assert option.worth_from == pytest.approx(max(more, 0.0) / option.hours_saved)


def test_what_one_owns_costs_its_power() -> None:
    for name, model in ALL:
        kept = _answer(name, model).options[0]
        assert kept.cost is not None
        assert kept.monthly == pytest.approx(kept.cost.idle_power + kept.cost.busy_power)


def test_a_rent_or_an_api_is_never_the_purchase() -> None:
    for name, model in ALL:
        choice = _answer(name, model).choice
        assert choice.reason
        for option in (choice.safe, choice.cheapest):
            assert option is None or option.kind not in (OptionKind.RENT, OptionKind.API)


def test_another_model_is_rated_as_well_and_faster_and_lies_in_memory() -> None:
    for name, model in ALL:
        answer = _answer(name, model)
        better = answer.another_model
        now = answer.options[0].speed
        if better is None:
            continue
        assert Judgement(answer.judgement) is not Judgement.FASTER
        assert better.keeps_up
        assert better.speed.decode > (now.decode if now else 0.0)
        assert better.quality is not None


def test_a_much_faster_model_that_is_free_is_named_beside_one_that_keeps_up() -> None:
    there = machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=32))
    answer = advise(catalog.model("Gemma-3-27B", "Q4_K_M"), there, Workload())
    assert answer.judgement == Judgement.KEEPS_UP
    assert answer.another_model is not None
    name = answer.another_model.model.name
    assert answer.another_model.speed.decode >= 4 * answer.question.money.reading_tps
    assert name in answer.summary.way
    assert "Keep what you have" not in answer.summary.way


def test_what_is_missing_even_from_the_drive_is_said_as_that() -> None:
    # two prompts of 128k need 64 GiB for the cache of Qwen3-32B alone: 2 x 131072 x 262144 bytes
    there = machine(MachineSpec(gpu="none", ram_gb=16))
    work = Workload(users=2, context=131_072)
    answer = advise(catalog.model("Qwen3-32B", "Q4_K_M"), there, work)
    assert answer.best is None
    assert "even read from the drive" in answer.summary.gives


@pytest.mark.parametrize(
    ("gpus", "model", "form", "users"),
    [
        ("2x L40S", "Llama-3.3-70B", "FP8", 50), ("RTX 4090", "Qwen3-14B", "Q4_K_M", 20),
        ("RTX 3060 12GB", "Qwen3-32B", "Q4_K_M", 8),
    ],
)  # fmt: skip
def test_a_team_is_told_how_many_read_along(gpus, model, form, users) -> None:
    there = machine(MachineSpec(gpu=gpus, ram_gb=256))
    answer = advise(catalog.model(model, form), there, Workload(users=users))
    assert answer.best is not None
    assert answer.served is not None
    reading = answer.question.money.reading_tps
    for number in (answer.served, answer.served + 1):
        work = replace(answer.best.work, users=float(max(number, 1)))
        alike = estimate(
            answer.best.model,
            there,
            work,
            answer.best.runtime,
            answer.best.strategy,
            Constants.fitted(),
        )
        speed = float(alike.decode_tps or 0.0)
        waits = float(alike.waiting)
        along = number > 0 and speed >= reading and not waits
        assert along is (0 < number <= answer.served), number
    two = f"{answer.summary.gives} {answer.summary.way}"
    assert len(two.split()) <= MOST_WORDS
    waits = float(answer.best.waiting)
    assert ("users wait" in answer.verdict) is (waits > 0)
    if waits:
        assert f"{waits:.0f} of {users} users wait" in answer.verdict


def test_every_word_for_a_machine_gives_the_same_verdict() -> None:
    described = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    named = machine_by_name("gaming PC with a 3090 and 64 GB RAM", MachineSpec())
    model = catalog.model("Llama-3.3-70B", "Q4_K_M")
    first = advise(model, described, Workload())
    assert first.verdict == advise(model, named, Workload()).verdict


def test_a_team_that_may_read_faster_is_told_so_and_not_that_all_are_served() -> None:
    request = Request(model="gpt-oss-120b", machine="RTX 3090, 64 GB", users=8, max_usd=300.0)
    advice = answer(request.nouns()).advice
    kept = advice.options[0]
    assert kept.speed is not None
    assert kept.speed.low < 6.0 < kept.speed.decode
    assert "Not enough for 8 users" in advice.verdict
    assert f"It may be only {kept.speed.low:.2g} tokens a second" in advice.verdict
    assert "it serves" not in advice.verdict
