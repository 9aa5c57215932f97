"""Who owns nothing says so in the place of a machine, at every door, in words of their own."""

from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.brief import brief
from advisor.request import command_line, texts
from advisor.request.request import Request

OWNED = Request(model="Qwen3-8B", cards_owned="nothing", texts="house")
WORDS = (
    "nothing", "Nothing yet.", "none", "no machine yet", "I own nothing", "we have no computer",
    "i have nothing", "Nichts", "rien",
)  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_nothing_in_place_of_a_machine_is_owning_nothing(words) -> None:
    request = Request(model="Qwen3-8B", machine=words)
    assert request.nothing
    assert request.nowhere
    assert replace(request, machine=None, cards_owned=words).nothing


@pytest.mark.parametrize(
    "words", ["no gpu", "nothing phone", "none of this 3090", "RTX 3090", "this"]
)
def test_other_words_are_a_machine(words) -> None:
    assert not Request(model="Qwen3-8B", machine=words).nothing


def test_no_note_tells_of_the_computer_that_answers(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))  # where nothing was measured
    nothing = Request(model="Qwen3-8B", machine="nothing").nouns()
    assert "assumed" in " ".join(nothing.described.notes)
    assert "assumed" not in " ".join(nothing.notes)


def test_it_is_answered_as_the_option_is() -> None:
    named = answer(replace(OWNED, cards_owned=None, machine="nothing").nouns())
    stated = answer(OWNED.nouns())
    assert named.advice.verdict == stated.advice.verdict
    assert named.advice.verdict.startswith("You have no machine for it yet.")


def test_it_passes_every_door() -> None:
    request = Request(model="Qwen3-8B", machine="nothing")
    assert texts.from_address(texts.to_address(request)).request.nothing
    assert "nothing" in command_line.to_argv(request)


def test_the_short_answer_judges_no_machine_that_nobody_has() -> None:
    short = brief(answer(replace(OWNED, cards_owned=None, machine="nothing").nouns()))
    assert short.level == "NO MACHINE YET"
    assert short.decode is None
    assert short.placements == ()
    assert [way.kind for way in short.ways if way.kind == "free"] == []
    assert [way.kind for way in short.ways if way.kind == "buy"]
