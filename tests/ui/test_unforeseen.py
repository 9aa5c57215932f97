"""An unforeseen error is named, loses no input, and ends with its cause."""

import re

import pytest
from ui_app import app, copied, page_text, run

import advisor
from advisor.advice import advise
from advisor.cost_model.workload import Workload
from advisor.ui.parts.unforeseen import place, report
from advisor.ui.question import row
from advisor.ui.question.answer import answer


class Fault(Exception):
    """Raised where nobody expects it."""


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """Answers that another test computed would hide a fault."""
    answer.clear()


def failing(*_args, **_options):
    raise Fault("postgresql://name:secret@host")


def test_it_names_itself_and_tells_no_secret(monkeypatch):
    monkeypatch.setattr(advise, "options", failing)
    text = page_text(app(model="Llama-3.1-8B", gpu="RTX 3090"))
    assert re.search(r"Fault in advisor/advice/advise\.py, line \d+, version \d", text)
    assert advisor.__version__ in text
    assert "Something went wrong." in text
    assert "secret" not in text


def test_what_is_to_be_reported_can_be_copied_with_the_question(monkeypatch):
    monkeypatch.setattr(advise, "options", failing)
    test = app(model="Llama-3.1-8B", gpu="RTX 3090", shared="a-link-for-few")
    lines = copied(test)[0].splitlines()
    assert lines[0].startswith("Fault in advisor/advice/advise.py, line ")
    assert "model=Llama-3.1-8B&gpu=RTX+3090" in lines[-1]
    assert "a-link-for-few" not in lines[-1]


def test_every_input_is_kept_and_the_next_change_is_answered(monkeypatch):
    test = app(model="Llama-3.1-8B", gpu="RTX 3090", ram_gb="48")
    test.text_input(key="in_machine").set_value("RTX 3090 with 96 GB RAM")
    with monkeypatch.context() as broken:
        broken.setattr(advise, "options", failing)
        assert "Fault in" in page_text(run(test))
        assert test.text_input(key="in_machine").value == "RTX 3090 with 96 GB RAM"
    test.selectbox(key="in_model").select("Qwen3-8B")
    text = page_text(run(test))
    assert "Fault in" not in text
    assert "96 GB RAM" in text
    assert test.session_state["request"].machine == "RTX 3090 with 96 GB RAM"
    assert test.session_state["request"].model == "Qwen3-8B"


def test_inputs_that_a_failed_run_did_not_draw_are_kept(monkeypatch):
    test = app(model="Llama-3.1-8B", gpu="RTX 3090", ram_gb="48")
    with monkeypatch.context() as broken:
        broken.setattr(row, "question", failing)
        assert "Fault in" in page_text(run(test))
    run(test)
    assert test.session_state["request"].gpu == "RTX 3090"
    assert test.text_input(key="in_machine").value == "RTX 3090, 48 GB RAM"


@pytest.mark.parametrize("attempt", ["first", "second"])
def test_a_page_that_fails_runs_once_for_each_visit(monkeypatch, attempt):
    runs = []

    def counted(*_args, **_options):
        runs.append(attempt)
        raise Fault

    monkeypatch.setattr(advise, "options", counted)
    test = app(model="Llama-3.1-8B", gpu="RTX 3090")
    assert len(runs) == 1
    if attempt == "second":
        run(test)
        assert len(runs) == 2


def test_nothing_seems_to_load_after_it_failed(monkeypatch):
    monkeypatch.setattr(advise, "options", failing)
    test = app(model="Llama-3.1-8B", gpu="RTX 3090")
    assert not test.get("skeleton")


def test_the_last_place_in_the_program_is_named():
    with pytest.raises(AttributeError) as raised:
        advise.advise(None, None, Workload())
    assert place(raised.value).startswith("advisor/runtimes/")
    assert report(raised.value).startswith("AttributeError in advisor/runtimes/")


def test_a_fault_of_the_script_itself_is_the_scripts():
    assert place(Fault()) == "app.py"
