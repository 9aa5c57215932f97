"""Stability of advice over seeded questions: more use never buys less, a better state never buys
more. `ADVISOR_FUZZ=500 pytest tests/properties/test_stability.py` asks as many.
"""

import itertools
import os
import random
from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.decision import OF_PURCHASES
from advisor.advice.table.option import OptionKind
from advisor.request.request import Request

SEED = 20261128
COUNT = int(os.environ.get("ADVISOR_FUZZ", "6"))
MACHINES = (
    "3060 12gb 32gb", "4060 8gb 32gb ddr4", "5070 ti 64gb", "3090 64gb", "4090 64gb",
    "laptop 4070 32gb", "macbook pro m4 pro 24gb", "mac studio m4 max 64gb", "ryzen 5600g 32gb",
    "n100 16gb", "optiplex 7050 16gb", "2x 3090 64gb", "rx 7800 xt 32gb", "um790 pro 64gb",
)  # fmt: skip
MODELS = (
    "Qwen3-8B", "Qwen3.5-27B", "Qwen3.6-27B", "gpt-oss-20b", "gpt-oss-120b", "Llama-3.3-70B",
    "Gemma-3-27B", "Qwen3-Coder-30B-A3B", "GLM-4.5-Air", "Mistral-Small-3.2-24B",
)  # fmt: skip
USES = (3.0, 10.0, 20.0, 40.0, 80.0, 120.0, 250.0, 500.0)
SPENDS = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE, OptionKind.RENT, OptionKind.API)


def question(number: int) -> Request:
    """A seeded question."""
    drawn = random.Random(SEED + number)
    context = drawn.choice((4096, 8192, 16384, 32768))
    return Request(
        model=drawn.choice(MODELS),
        machine=drawn.choice(MACHINES),
        context=context,
        prompt=drawn.choice((200, 512, 2000, min(12000, context - 2000))),
        output=drawn.choice((128, 256, 600)),
        usd_per_hour_of_time=drawn.choice((10.0, 30.0, 60.0)),
        thinking_tokens=drawn.choice((None, 0, 0, 1000)),
        texts=drawn.choice((None, None, "house", "anywhere")),
    )


def spends(request: Request) -> bool:
    """Whether the decision is one that costs something."""
    option = answer(request.nouns()).advice.decision.option
    return option is not None and (option.kind in SPENDS or bool(option.upfront))


@pytest.mark.parametrize("number", range(COUNT))
def test_more_use_never_buys_less(number: int) -> None:
    asked_for = question(number)
    bought = [spends(replace(asked_for, replies_per_day=use)) for use in USES]
    assert bought == sorted(bought), (asked_for.stated(), dict(zip(USES, bought, strict=True)))


@pytest.mark.parametrize("number", range(COUNT))
def test_a_better_state_never_buys_more(number: int) -> None:
    """A prompt of which more is cached already is read sooner."""
    asked_for = question(number)
    shares = (0.9, 0.5, 0.0)  # the best first
    bought = [spends(replace(asked_for, cached_share=share)) for share in shares]
    assert bought == sorted(bought), (asked_for.stated(), dict(zip(shares, bought, strict=True)))


@pytest.mark.parametrize("number", range(COUNT))
def test_a_session_that_keeps_its_cache_never_buys_more(number: int) -> None:
    """Of three agents, with room for all their conversations, and for one alone."""
    session = {"session": "swe-bench", "prompt": 512, "output": 256, "context": 32768, "users": 3}
    asked_for = replace(question(number), **session)
    kept = spends(replace(asked_for, slots=3))
    lost = spends(replace(asked_for, slots=1))
    assert kept <= lost, asked_for.stated()


@pytest.mark.parametrize("number", range(COUNT))
def test_a_choice_that_turns_nearby_is_said_to_be_close(number: int) -> None:
    """Between two uses a tenth apart, of which one buys: one of them says that either would do."""
    asked_for = question(number)
    uses = [10.0 * 1.1**step for step in range(40)]
    decisions = [
        answer(replace(asked_for, replies_per_day=use).nouns()).advice.decision for use in uses
    ]
    for before, after in itertools.pairwise(decisions):
        rules = (before.rule, after.rule)
        bought = [bool(each.option and each.option.upfront) for each in (before, after)]
        if bought == [False, True] and set(rules) <= set(OF_PURCHASES):
            assert before.close or after.close, (asked_for.stated(), rules)
