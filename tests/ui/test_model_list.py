"""Order of the list of models, and what typed words mean that several names have."""

import re

import pytest

from advisor.request.lists import listed
from advisor.request.request import Request
from advisor.ui.question import current, inputs, model_list
from advisor.ui.runnable import page

MACHINE = "gaming PC with a 3060 12GB and 32 GB RAM"


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(model_list, "_BEST", {})


def test_the_newest_years_come_first() -> None:
    names = model_list.by_year()
    assert set(names) == set(listed("model"))
    years = [model_list._year(name) for name in names]
    assert years == sorted(years, reverse=True)
    assert "Llama-2-7B" not in names[:60]


def test_the_best_of_a_machine_open_the_list_with_their_speeds() -> None:
    request = Request(machine=MACHINE, model="Qwen3-8B")
    rows = page.answer.__wrapped__(request, 0, rated=True, whole=False)
    best = model_list.best(request)
    assert 1 <= len(best) <= model_list.FIRST
    assert all(re.fullmatch(r"[\d.,]+ tokens/s, \S+", words) for words in best.values())
    assert next(iter(best)) in [row.model.name for row in rows]
    assert model_list.ordered(request)[: len(best)] == list(best)
    assert set(model_list.ordered(request)) == {*best, *listed("model")}
    assert model_list.best(Request(machine="2x 3090")) == {}


def test_a_shown_answers_machine_gets_its_list_when_nobody_is_served(monkeypatch) -> None:
    monkeypatch.setattr(model_list, "WANTED", {})
    request = Request(machine=MACHINE, model="Qwen3-8B")
    model_list.want(request.nouns())
    assert model_list.best(request) == {}
    model_list.compute()
    assert len(model_list.best(request)) == model_list.FIRST
    assert not model_list.WANTED
    model_list.want(request.nouns())
    assert not model_list.WANTED, "known by now"
    model_list.compute()  # nothing waits


def test_another_model_or_use_keeps_the_machines_list() -> None:
    model_list.remember(Request(machine=MACHINE), ())
    assert model_list._key(Request(machine=MACHINE, model="x", users=3)) in model_list._BEST
    assert current.MACHINE


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("gemma 27", "Gemma-3-27B"),
        ("qwen3.6 27", "qwen3.6 27"),  # names one alone, as the reader of names says
        ("nobody knows it", "nobody knows it"),
        ("gemma-3-27b", "gemma-3-27b"),
        ("owner/nobody-knows-it", "owner/nobody-knows-it"),
    ],
)
def test_words_that_several_names_have_take_the_first_of_the_list(
    monkeypatch, typed: str, taken: str
) -> None:
    monkeypatch.setattr(current, "present", lambda: Request(machine=MACHINE))
    assert inputs._of_the_list(typed) == taken
