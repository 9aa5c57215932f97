"""Page 1 of a report: a decision that somebody can sign."""

from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.words.phrases import plain
from advisor.evidence.accuracy.regimes import certainty
from advisor.formatting import money
from advisor.reports import content
from advisor.reports.document import from_json, to_json
from advisor.reports.files.export import FORMS
from advisor.reports.from_advice import answer_document
from advisor.request.request import Request


@pytest.fixture(scope="module")
def answered():
    return answer(Request(model="Qwen3.6-27B", machine="laptop 4060 16gb").nouns())


@pytest.fixture(scope="module")
def document(answered):
    return answer_document(answered, certainty(answered.advice.best))


def test_every_part_of_a_decision_is_said(document) -> None:
    row = document.decision
    assert row.question == "Should we buy a GPU for Qwen3.6 27B?"
    assert row.recommendation.endswith(".")
    assert row.cost == "none"
    assert row.decided_by in ("40 answers a day", "an hour of waiting at $30")
    assert row.because.startswith("RTX 4060 Laptop 8 GB + 16 GB: It runs, but thinks for")
    assert "4 times in 5" in row.risk
    assert row.next_step


def test_what_is_free_and_as_good_comes_before_a_purchase(answered, document) -> None:
    row = document.decision
    assert answered.advice.another_model is not None
    # A thinking model is judged by its finished answer, so the fastest free change is no thinking.
    free = plain(answered.advice.choice.safe.name)
    assert free.startswith("thinking off")
    assert row.recommendation == f"Buy nothing now: first try {free}, which is free."
    assert row.cost == "none"
    # What is bought where it does not do is a purchase, not what is recommended.
    (buy,) = [way for way in document.ways if way.kind == "Buy"]
    assert f"If {free} is not enough: {buy.name} for {money(buy.upfront_usd)}" in row.changes_if
    assert "hard maths and code get worse" in row.risk
    assert "2026-08-06, older than 90 days: ask again" in row.risk


def test_the_safe_choice_is_recommended_where_nothing_free_does() -> None:
    for model, machine in (("Llama-3.3-70B", "3060 12gb 64gb"), ("Kimi-K2", "4090 64gb")):
        made = answer(Request(model=model, machine=machine).nouns())
        safe = made.advice.choice.safe
        row = answer_document(made).decision
        free = made.advice.another_model or made.advice.choice.free
        if safe is not None and free is None:
            assert safe.name.partition(" (")[0] in row.recommendation
            assert row.cost != "none"
        else:
            assert row.cost == "none"


def test_nothing_is_bought_where_it_is_fast_enough() -> None:
    fast = answer(Request(model="Qwen3-8B", machine="4090 64gb").nouns())
    row = answer_document(fast).decision
    assert (row.recommendation, row.cost) == ("Buy nothing now.", "none")


def test_ways_and_certainty_are_kept(document) -> None:
    kinds = [way.kind for way in document.ways]
    assert kinds == [kind for kind in ("Free", "Buy", "API") if kind in kinds]
    assert "measured runs like this" in document.certainty


def test_a_decision_is_read_back(document) -> None:
    again = from_json(to_json(document))
    assert again == document


def test_a_report_of_before_has_no_page_of_it(document) -> None:
    data = to_json(document)
    for name in ("decision", "ways", "certainty"):
        del data[name]
    assert from_json(data).decision is None


@pytest.mark.parametrize("form", ["html", "md", "pdf"])
def test_the_first_page_is_the_decision(form: str, document, tmp_path) -> None:
    from saved_reports import saved

    report = saved(document, author="Ada")
    made = FORMS[form].make(report)
    if form == "pdf":
        without = FORMS[form].make(replace(report, document=replace(document, decision=None)))
        assert made.count(b"/Type /Page\n") == without.count(b"/Type /Page\n") + 1
        return
    text = made.decode()
    page = content.front_page(report)
    assert text.index(page.decision.recommendation[:20]) < text.index(page.cards[0].name)
    assert "Ada" in text or form == "md"


def test_the_commands_of_a_short_print_are_those_of_the_best_placement(document) -> None:
    """A script of 70 lines for the slowest placement was a page of its own."""
    (commands,) = [each for each in content.sections(document) if each.title == "Commands"]
    (name, line), _ = commands.commands
    assert name == "llama.cpp, Offload to RAM"
    assert line.startswith("llama-server -hf ")
    (whole,) = [each for each in content.sections(document) if each.title == content.RUNTIMES]
    assert whole.appendix
    assert any("DeepSpeed" in text for _, text in whole.commands)
