"""Prompts in longer parts: what lies in RAM is copied to the GPU once for each part."""

from advisor.advice.advise import advise
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import OptionKind
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog

PC = machine(MachineSpec(gpu="RTX 4070 Super", cpu="Ryzen 7 7700", ram_gb=64))
EXPERTS_IN_RAM = catalog.model("Qwen3-Next-80B-A3B", "Q4_K_M")
LONG, SHORT = (Workload(context=32768, prompt=tokens, output=800) for tokens in (12000, 400))
FLAG = "-ub 2048"


def test_experts_in_ram_cross_the_link_a_quarter_as_often() -> None:
    answer = advise(EXPERTS_IN_RAM, PC, LONG)
    (edit,) = (each for each in answer.what_ifs if FLAG in each.words)
    now = answer.options[0].speed
    assert now is not None
    assert now.first_token > LATE
    # four parts of 512 tokens are one: at best the copies take a quarter of the time
    assert now.first_token / 4 < edit.speed.first_token < 0.6 * now.first_token
    assert edit.speed.decode > 0.9 * now.decode, "writing hardly changes"
    assert "the first word after" in edit.effect


def test_a_late_first_word_is_mended_for_free_before_a_card_is_bought() -> None:
    answer = advise(EXPERTS_IN_RAM, PC, LONG)
    assert answer.choice.safe is not None
    assert answer.choice.safe.kind is OptionKind.CHANGE
    assert not answer.choice.safe.upfront
    assert FLAG in answer.choice.safe.name
    assert "A free change gives the first word after" in answer.verdict
    assert FLAG not in answer.verdict, "pages name no flags"


def test_short_prompts_and_models_in_the_card_have_nothing_to_gain() -> None:
    inside = catalog.model("Qwen3-8B", "Q4_K_M")
    for model, work in ((EXPERTS_IN_RAM, SHORT), (inside, SHORT)):
        assert not [each for each in advise(model, PC, work).what_ifs if FLAG in each.words]
