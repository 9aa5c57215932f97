"""Overload at every door: where what one has cannot keep up, that is told first."""

import json

import pytest

from advisor.advice.advise import answer
from advisor.advice.brief import brief
from advisor.catalog.inputs import INPUTS
from advisor.cli import mcp
from advisor.cli.main import main
from advisor.evidence.accuracy.regimes import certainty
from advisor.reports.from_advice import answer_document
from advisor.request.request import Request
from advisor.scripting import advise as python_advise

PC = "3060 12gb 32gb"
CASES = (
    # 50,000 answers of 256 tokens at 50 a second are 71 hours at least, in eight hours
    ({"model": "Qwen3-8B", "machine": PC, "replies_per_day": 50_000.0, "answer_hours": 8.0},
     "Does not finish: "),
    ({"model": "Qwen3-8B", "machine": PC, "replies_per_day": 50_000.0}, "Cannot keep up: "),
    # 5,000 answers an hour are 1.4 a second, of 256 tokens each
    ({"model": "Qwen3-8B", "machine": PC, "requests_per_hour": 5000.0}, "Cannot keep up: "),
    # half a token a second: 300 answers of 256 tokens are 43 hours at least
    ({"model": "Llama-3.3-70B", "machine": PC, "replies_per_day": 300.0}, "hours of work a day."),
)  # fmt: skip
IDS = ("batch", "many", "rate", "slow")


def words(values) -> list[str]:
    options = {"replies_per_day": "--replies-per-day", "answer_hours": "--answer-hours",
               "requests_per_hour": "--requests-per-hour", "model": "--model",
               "machine": "--machine"}  # fmt: skip
    return [word for name, value in values.items() for word in (options[name], str(value))]


@pytest.mark.parametrize(("values", "sentence"), CASES, ids=IDS)
def test_the_first_line_says_it_where_the_record_does(values, sentence) -> None:
    advice = answer(Request(**values).nouns()).advice
    assert not advice.options[0].keeps_up
    assert sentence in advice.summary.gives


@pytest.mark.parametrize(("values", "sentence"), CASES, ids=IDS)
def test_every_door_says_it(values, sentence, capsys) -> None:
    assert main(["advise", *words(values)]) == 0
    printed = " ".join(capsys.readouterr().out.split("\n\n")[1].split())
    assert sentence in printed
    assert main(["advise", *words(values), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["options"][0]["keeps_up"] is False
    assert sentence in record["verdict"].splitlines()[0]
    told = answer(Request(**values).nouns())
    assert sentence in brief(told).verdict.splitlines()[0]
    document = answer_document(told, certainty(told.advice.best))
    assert sentence in document.verdict
    assert sentence in python_advise(Request(**values)).verdict.splitlines()[0]
    called = mcp.TOOLS["advise"]
    assert set(values) <= {
        entry.name for entry in INPUTS.of(called.groups, called.without).values()
    }


def test_a_machine_that_keeps_up_says_no_such_thing() -> None:
    advice = answer(Request(model="Qwen3-8B", machine=PC, replies_per_day=100.0).nouns()).advice
    assert advice.options[0].keeps_up
    assert "hours of work" not in advice.summary.gives
