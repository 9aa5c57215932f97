"""Methods of drafting as engines spell them, and shares that people write in percent."""

import pytest

from advisor.catalog.csv_tables import texts
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.workload import Draft
from advisor.errors import InputError
from advisor.request.drafting import spelled


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("draft-mtp", "mtp"),  # llama.cpp --spec-type
        ("NEXTN", "mtp"),  # SGLang
        ("deepseek_mtp", "mtp"),  # vLLM
        ("qwen3_next_mtp", "mtp"),
        ("draft-eagle3", "eagle"),
        ("EAGLE3", "eagle"),
        ("ngram-mod", "ngram"),
        ("ngram-map-k4v", "ngram"),
        ("prompt lookup", "ngram"),
        ("draft-dflash", "dflash"),
        ("Qwen3-0.6B", "qwen3-0.6b"),  # a model is none of them
        ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "yuhuili/eagle3-llama3.1-instruct-8b"),
    ],
)
def test_methods_are_read_as_engines_spell_them(text: str, method: str) -> None:
    assert spelled(text) == method


def test_spellings_lead_to_methods_that_people_ask_for() -> None:
    methods = set(texts("request/draft_spellings.csv", "pattern", "method").values())
    assert methods == {*map(str, Draft.by_name())}
    assert all(spelled(method) == method for method in Draft.by_name())


@pytest.mark.parametrize("name", ["acceptance", "cached_share", "variety"])
def test_shares_are_read_in_percent(name: str) -> None:
    assert INPUTS[name].read("62.3%") == pytest.approx(0.623)
    assert INPUTS[name].read("0.623") == 0.623


def test_other_numbers_take_no_percent() -> None:
    with pytest.raises(InputError):
        INPUTS["users"].read("50%")
