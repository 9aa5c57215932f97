"""Prompts in longer parts: what lies in RAM is copied to the GPU once for each part."""

from advisor.advice.advise import advise, answer
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import OptionKind
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.request import Request

PC = machine(MachineSpec(gpu="RTX 4070 Super", cpu="Ryzen 7 7700", ram_gb=64))
EXPERTS_IN_RAM = catalog.model("Qwen3-Next-80B-A3B", "Q4_K_M")
LONG, SHORT = (Workload(context=32768, prompt=tokens, output=800) for tokens in (12000, 400))
FLAG = "-ub 2048"


def test_experts_in_ram_cross_the_link_a_quarter_as_often() -> None:
    advice = advise(EXPERTS_IN_RAM, PC, LONG)
    (edit,) = (each for each in advice.what_ifs if FLAG in each.words)
    now = advice.options[0].speed
    assert now is not None
    assert now.first_token > LATE
    # four parts of 512 tokens are one: at best the copies take a quarter of the time
    assert now.first_token / 4 < edit.speed.first_token < 0.6 * now.first_token
    assert edit.speed.decode > 0.9 * now.decode, "writing hardly changes"
    assert "the first word after" in edit.effect


def test_a_late_first_word_is_mended_for_free_before_a_card_is_bought() -> None:
    advice = advise(EXPERTS_IN_RAM, PC, LONG)
    assert advice.choice.safe is not None
    assert advice.choice.safe.kind is OptionKind.CHANGE
    assert not advice.choice.safe.upfront
    assert FLAG in advice.choice.safe.name
    assert "A free change gives the first word after" in advice.verdict
    assert FLAG not in advice.verdict, "pages name no flags"


def test_a_setting_that_writes_no_faster_is_told_by_its_first_word() -> None:
    """Thinking takes as long as the prompt here, so that the first word is less than half of it."""
    request = Request(
        model="Qwen3-30B-A3B",
        machine="RTX 4070, Ryzen 5 7600, 32 GB DDR5",
        prompt=20000.0,
        context=32768.0,
    )
    decided = answer(request.nouns()).advice
    now = decided.options[0].speed
    assert now is not None
    assert now.first_token < 0.5 * decided.options[0].answer_seconds
    assert "A free change gives the first word after" in decided.verdict


def test_short_prompts_and_models_in_the_card_have_nothing_to_gain() -> None:
    inside = catalog.model("Qwen3-8B", "Q4_K_M")
    for model, work in ((EXPERTS_IN_RAM, SHORT), (inside, SHORT)):
        assert not [each for each in advise(model, PC, work).what_ifs if FLAG in each.words]
