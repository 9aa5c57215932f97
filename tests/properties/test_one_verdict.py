"""Every door gives the same verdict, on a seeded list; its words and sums keep their properties."""

import json
import random
import re
from contextlib import redirect_stderr, redirect_stdout
from html import unescape
from io import StringIO
from typing import Any

import pytest
from ui_app import app, page_text

from advisor import Request, advise
from advisor.advice.advise import Answer, answer
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import MOST_WORDS
from advisor.cli import mcp
from advisor.cli.main import main
from advisor.machine.machine import Form
from advisor.reports.from_advice import answer_document

SEED = 20261123
GPUS = (
    "RTX 3060 12GB", "RTX 3090", "2x RTX 3090", "RTX 5090", "RX 7900 XTX", "Arc B580", "P40",
    "RTX 4060 Laptop", "Apple M4 Pro 20c", "Apple M2 10c", "GB10", "none",
)  # fmt: skip
MODELS = ("Llama-3.1-8B", "Qwen3-32B", "Llama-3.3-70B", "Qwen3-30B-A3B", "gpt-oss-120b")
NESTED = re.compile(r"\([^)]*\(")


def questions(count: int) -> list[dict[str, Any]]:
    """Questions by the names of the inputs."""
    chance = random.Random(SEED)
    made = []
    for gpu in chance.sample(GPUS, count):
        asks = {"model": chance.choice(MODELS), "gpu": gpu, "ram_gb": chance.choice((16, 32, 64))}
        asks["replies_per_day"] = chance.choice((5, 40, 200))
        made.append(asks | ({"users": 4} if chance.random() < 0.3 else {}))
    return made


def by_command(asks: dict[str, Any]) -> dict[str, Any]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in asks.items()]
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(StringIO()):
        assert main(["advise", *words, "--json"]) == 0
    return json.loads(printed.getvalue())


def on_the_page(asks: dict[str, Any]) -> str:
    text = page_text(app(**{name: str(value) for name, value in asks.items()}))
    lines = re.findall(r"<h1[^>]*>(.*?)</h1>|<p class='oa-way'>(.*?)</p>", text)
    return "\n".join(unescape(re.sub(r"<[^>]+>", "", "".join(line))) for line in lines)


def test_every_door_gives_the_same_verdict() -> None:
    for asks in questions(6):
        record = by_command(asks)
        verdict = record["verdict"]
        assert advise(Request(**asks)).verdict == verdict, asks
        # An assistant's answer is short unless it asks for all.
        _, called = mcp.answer("advise", asks | {"detail": "all"}, allow_files=False)
        assert called["verdict"] == verdict, asks
        assert called["safe_choice"] == record["safe_choice"], asks
        document = answer_document(answer(Request(**asks).nouns()))
        assert document.verdict == verdict, asks
    for asks in questions(3):
        # The page has cards for purchases, and the load of a team beside the costs.
        words = advise(Request(**asks)).summary
        lines = [words.gives, words.way, *words.remarks, *words.candidates]
        assert on_the_page(asks).splitlines() == list(filter(None, lines)), asks


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, Any], Answer]]:
    return [(asks, answer(Request(**asks).nouns())) for asks in questions(len(GPUS))]


def test_words_are_few_and_nothing_stands_in_two_parentheses(answers) -> None:
    for asks, given in answers:
        advice = given.advice
        two = f"{advice.summary.gives} {advice.summary.way}"
        assert len(two.split()) <= MOST_WORDS, (asks, advice.verdict)
        for remark in advice.summary.beside:
            assert len(remark.split()) <= MOST_WORDS, (asks, remark)
        for text in (advice.verdict, advice.choice.reason, advice.summary.assumptions):
            assert not NESTED.search(text), (asks, text)


def test_sums_of_the_verdict_can_be_subtracted(answers) -> None:
    compared = 0
    for asks, given in answers:
        kept = given.advice.options[0]
        for option in given.advice.options:
            cost = option.cost
            if cost is None:
                continue
            # a month is the sum of its parts, and the parts stand in the JSON
            parts = (
                cost.purchase, cost.tied_up, cost.rent, cost.starts, cost.storage,
                cost.idle_power, cost.busy_power, cost.api,
            )  # fmt: skip
            assert option.monthly == pytest.approx(sum(parts)), (asks, option.name)
            if option is kept or option.gain is None or kept.monthly is None:
                continue
            saved = (option.hours_saved or 0.0) * option.worth
            now = kept.monthly + kept.standing
            then = (option.monthly or 0.0) + option.standing
            assert option.gain == pytest.approx(now - then + saved, abs=1e-6), (asks, option.name)
            compared += 1
    assert compared > 200


def test_no_option_exceeds_slots_memory_or_engines_of_its_machine(answers) -> None:
    for asks, given in answers:
        question = given.advice.question
        form = question.ownership.form
        takes = {Form.DESKTOP: 8, Form.SERVER: 8, Form.MAC: 0}.get(form, 1)
        for option in given.advice.options:
            if option.kind in (OptionKind.ADD, OptionKind.REPLACE) and option.machine:
                assert len(option.bought) <= takes, (asks, option.name)
                assert not question.machine.unified or form is Form.MINI, (asks, option.name)
            if option.kind is OptionKind.CHANGE and "second drive" in option.name:
                assert form in (Form.DESKTOP, Form.SERVER), (asks, option.name)
        safe = given.advice.choice.safe
        assert safe is None or not (safe.odd or safe.loses_quality), (asks, safe and safe.name)


def test_what_is_rented_or_called_does_not_depend_on_ones_own_machine(answers) -> None:
    """The same request beside two machines of very different speed."""
    for model in MODELS[:3]:
        speeds = []
        for gpu, ram in (("none", 16), ("RTX 5090", 128)):
            # More answers a day than a machine gives in time are compared several at once.
            asks = {"model": model, "gpu": gpu, "ram_gb": ram, "replies_per_day": 1}
            options = advise(Request(**asks)).options
            assert {float(option.use.work.users) for option in options} == {1.0}
            speeds.append(
                {
                    (option.kind, option.name): (option.speed, option.monthly)
                    for option in options
                    if option.kind in (OptionKind.RENT, OptionKind.API)
                }
            )
        assert speeds[0].keys() == speeds[1].keys()
        for key, (speed, monthly) in speeds[0].items():
            other, cost = speeds[1][key]
            assert speed == other, key
            assert monthly == pytest.approx(cost), key
