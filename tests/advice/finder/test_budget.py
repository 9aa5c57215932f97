"""Budget of a question: on very many GPUs fewer other models are tried, and that is said."""

import pytest

from advisor.advice.advise import answer
from advisor.advice.finder import runnable
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.request.request import Request

SLOW = Request(model="Llama-3.1-70B", format="Q4_K_M", gpu="2x RTX 3060 12GB", ram_gb=64)


def test_the_work_of_a_question_grows_no_further_with_its_gpus() -> None:
    for count in (1, 2, 8, 64):
        gpus = machine(MachineSpec(gpu="RTX 3090", gpu_count=count))
        assert runnable.models_tried(gpus) * count <= runnable.BUDGET
    assert runnable.models_tried(machine(MachineSpec(gpu="none"))) == runnable.BUDGET


def test_what_a_budget_cuts_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answer(SLOW.nouns())
    assert not any("were tried in its place" in caveat for caveat in whole.caveats)
    monkeypatch.setattr(runnable, "BUDGET", 2)
    runnable.best_rated.cache_clear()
    tried: list[str] = []
    best = runnable.Trials.best

    def counted(trials, forms, strategies):
        tried.append("")
        return best(trials, forms, strategies)

    monkeypatch.setattr(runnable.Trials, "best", counted)
    cut = answer(SLOW.nouns())
    assert 1 <= len(tried) <= 2  # one model as good, one as a last resort
    assert any("On 2 GPUs at most 1 of the best rated models" in each for each in cut.caveats)
    runnable.best_rated.cache_clear()
