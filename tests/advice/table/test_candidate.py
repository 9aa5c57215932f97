"""A purchase that somebody asks about: "is a 3090 worth it?"."""

import json

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.candidate import MOST
from advisor.advice.table.choice import reads_drive
from advisor.advice.table.option import OptionKind
from advisor.advice.words.phrases import briefly
from advisor.cli.main import main
from advisor.errors import InputError
from advisor.request.request import Request

SLOW = {"model": "Qwen3.5-27B", "machine": "3060 12gb 32gb", "format": "Q4_K_M"}


def of_also(*also: str, **changed):
    return answer(Request(**{**SLOW, **changed}, also=also).nouns()).advice


def test_a_card_stands_in_place_beside_and_rented_in_rows_named_so() -> None:
    advice = of_also("3090")
    (candidate,) = advice.candidates
    kinds = [option.kind for option in candidate.options]
    assert kinds[:2] == [OptionKind.ADD, OptionKind.REPLACE]
    assert OptionKind.RENT in kinds
    assert {card.name for option in candidate.options for card in option.bought} == {"RTX 3090"}
    assert len(advice.summary.candidates) == 1


def test_a_card_is_judged_with_and_without_thinking() -> None:
    candidate = of_also("RTX 3090").candidates[0]
    assert candidate.worth
    assert candidate.worth_without is False
    told = of_also("RTX 3090").summary.candidates[0]
    assert told.startswith("RTX 3090 in place of yours: ")
    assert "without thinking: not worth it; with thinking it is." in told


def test_what_thinks_as_it_is_told_is_judged_once() -> None:
    candidate = of_also("RTX 3090", think="off").candidates[0]
    assert candidate.worth_without is None
    assert candidate.silent is None


def test_what_saves_nothing_is_not_worth_it() -> None:
    (candidate,) = of_also("RTX 3090", machine="4090 64gb", think="off").candidates
    assert not candidate.worth
    assert (
        of_also("RTX 3090", machine="4090 64gb", think="off")
        .summary.candidates[0]
        .endswith("Saves no waiting: not worth it.")
    )


def test_a_machine_that_takes_no_card_gets_a_desktop_for_it() -> None:
    advice = of_also("RTX 3090", machine="n100 16gb")
    assert advice.candidates[0].best.name == "New desktop with RTX 3090"


def test_a_card_that_an_expert_rules_out_says_why() -> None:
    """A processor for which its maker gives no slot, in a case that its owner calls a desktop."""
    advice = of_also("RTX 3090", machine="n100 16gb", form="desktop")
    assert advice.candidates[0].best is None
    assert "no slot for a card" in advice.summary.candidates[0]


def test_where_no_card_goes_in_a_desktop_is_built_for_it() -> None:
    best = of_also("RTX 3090", machine="macbook air m3 16gb").candidates[0].best
    assert best.kind is OptionKind.MACHINE
    assert best.name == "New desktop with RTX 3090"


def test_a_budget_that_it_breaks_is_said() -> None:
    told = of_also("RTX 3090", max_usd=100.0).summary.candidates[0]
    assert told.endswith("Not worth it: dearer than the budget.")


@pytest.mark.parametrize("name", ["RTX 9999", "a pony", "2x", ";", "none", "x" * 300])
def test_an_unknown_name_gets_a_sentence_and_the_answer_stays(name) -> None:
    advice = of_also(name)
    assert advice.summary.gives == of_also().summary.gives
    assert "names are such as RTX 3090" in advice.summary.candidates[0]


@pytest.mark.parametrize("name", ["64 GB of RAM", "+32 GB RAM", "64GB DDR5", "32 GB more RAM"])
def test_ram_is_judged_as_more_of_it_in_the_same_machine(name) -> None:
    """16 GB in the card and 64 GB of RAM hold the 61 GB of gpt-oss-120b; 16 and 32 GB do not."""
    question = {
        "model": "gpt-oss-120b",
        "format": None,
        "machine": "5070 ti 32gb ddr5",
        "max_usd": 1200.0,
    }
    advice = of_also(name, **question)
    best = advice.candidates[0].best
    assert best.name == "64 GB of RAM"
    assert not reads_drive(best)
    assert reads_drive(advice.options[0])
    assert best.price.note.startswith("64 GB DDR5 kit")


def test_what_it_saves_is_beside_the_best_free_setting_as_the_verdict_says() -> None:
    advice = of_also("RTX 3090", think="off")
    (candidate,) = advice.candidates
    step = advice.case.step
    assert step is not None
    assert candidate.saves == pytest.approx(step.hours_lost - candidate.best.hours_lost)
    assert f"a month beside {briefly(step.name)}" in advice.summary.candidates[0]


def test_a_machine_is_found_by_its_chip_in_every_size_on_sale() -> None:
    (candidate,) = of_also("Mac Studio M5 Max", machine="dgx spark").candidates
    assert {option.name.partition(",")[0] for option in candidate.options} == {"Mac Studio M5 Max"}


def test_a_machine_that_nobody_sells_has_its_speed_and_no_price() -> None:
    advice = of_also("MacBook Pro M4 Max 128GB", machine="dgx spark")
    assert "no price on record" in advice.summary.candidates[0]
    assert advice.candidates[0].best.decode > 0


def test_the_verdict_and_the_sentence_beside_it_conclude_the_same() -> None:
    advice = of_also("RTX 4090", "RTX 5090", think="short", replies_per_day=60.0)
    bought = advice.decision.option
    for told in advice.summary.candidates:
        assert "worth it" in told or "is the better buy" in told
        if bought is None or bought.kind is OptionKind.CHANGE:
            assert "better buy" not in told


def test_a_blank_asks_about_nothing() -> None:
    assert of_also("", " ").candidates == ()


def test_more_than_are_judged_are_refused_in_words() -> None:
    with pytest.raises(InputError, match=rf"names {MOST + 1} purchases; at most {MOST} are judged"):
        of_also(*["RTX 3090"] * (MOST + 1))


def test_work_of_a_known_amount_is_judged_by_whether_it_is_done() -> None:
    """1,000 answers of 256 tokens in an hour are 71 tokens a second, more than one RTX 3060 gives
    a model of 27 billion parameters that it holds a part of.
    """
    told = of_also("RTX 3090", replies_per_day=1000.0, answer_hours=1.0, think="off")
    assert "Saves" not in told.summary.candidates[0]


def test_the_command_line_gives_records_of_it(capsys) -> None:
    words = ["advise", "--model", "Qwen3.5-27B", "--machine", "3060 12gb 32gb"]
    assert main([*words, "--also", "RTX 3090", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["candidates"]
    assert record["name"] == "RTX 3090"
    assert record["worth_without_thinking"] is False
    assert {row["kind"] for row in record["options"]} >= {"add", "replace", "rent"}


def test_a_candidate_decides_nothing() -> None:
    plain = of_also()
    also = of_also("RTX 5090", "DGX Spark")
    assert also.decision.rule == plain.decision.rule
    assert [row.name for row in also.options] == [row.name for row in plain.options]
