"""The panel for a measured speed."""

import json

import pytest
from markupsafe import Markup
from ui_app import app, copied, page_text, run, unfolded

from advisor.advice.diagnosis import diagnose
from advisor.advice.diagnosis.diagnose import cause_rows
from advisor.ui.advise import diagnosis

FORMER = {"model": "Llama-3.1-70B", "gpu": "RTX 3090", "ram_gb": "64"}


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))


def diagnosed(measured, prompt=None, what=None, tokens=None, **parameters):
    """The page after a speed was typed."""
    test = unfolded(app(**{**FORMER, **parameters}), "diagnose")
    if what is not None:
        test.selectbox(key="measured_what").select(what)
    test.number_input(key="measured_decode").set_value(measured)
    if prompt is not None:
        test.number_input(key="measured_prompt").set_value(prompt)
    if tokens is not None:
        test.number_input(key="measured_tokens").set_value(tokens)
    return run(test)


def commands(test):
    return copied(test)


def test_nothing_is_worked_out_before_a_speed_is_typed(monkeypatch):
    def refuse(*_):
        raise AssertionError("worked out without need")

    monkeypatch.setattr(diagnosis, "diagnose", refuse)
    assert "Type the speed that your runtime printed" in page_text(unfolded(app(), "diagnose"))


def test_a_file_of_a_tool_takes_the_place_of_typing():
    row = {"n_prompt": 0, "n_gen": 128, "avg_ts": 0.6, "model_type": "llama <b>70B</b>"}
    test = unfolded(app(**FORMER), "diagnose")
    test.file_uploader(key="measured_file").upload("run.json", json.dumps([row]).encode())
    text = page_text(run(test))
    assert "Read from llama-bench, llama &lt;b&gt;70B&lt;/b&gt;." in text
    assert "0.60 tokens/s measured" in text


def test_a_file_of_something_else_is_reported():
    test = unfolded(app(**FORMER), "diagnose")
    test.file_uploader(key="measured_file").upload("photo.json", b"\x89PNG")
    assert "photo.json is no text" in page_text(run(test))


def test_the_fastest_placement_of_llama_cpp_is_meant_unless_another_is_named():
    test = unfolded(app(**FORMER), "diagnose")
    box = test.selectbox(key="measured_what")
    assert box.value == "Offload to RAM, llama.cpp"
    assert "In the GPU, llama.cpp (does not fit)" in box.options


def test_a_slow_run_has_causes_with_test_and_remedy():
    test = diagnosed(1.0)
    text = page_text(test)
    assert "1.0 tokens/s measured" in text
    assert "Slower than predicted. Likeliest:" in text
    assert "1. " in text
    assert "It would give" in text
    assert "<b>Test</b>" in text
    assert "<b>Fix</b>" in text
    assert {row.command for row in cause_rows() if row.command} & set(commands(test))


def test_as_predicted_is_reported():
    text = page_text(diagnosed(2.5))
    assert "As predicted: the measured speed lies within the range" in text
    assert "<b>Test</b>" not in text


def test_a_fast_run_names_the_assumption_that_was_too_low():
    test = diagnosed(6.0)
    text = page_text(test)
    assert "Faster than predicted. The sustained read rate of RAM was taken as" in text
    assert "python -m advisor probe ram" in commands(test)


def test_another_placement_can_be_meant():
    text = page_text(diagnosed(0.01, what="Offload to NVMe, llama.cpp"))
    assert "the sequential read rate of the drive would have to be" in text


def test_the_prompt_separates_causes_that_generation_cannot():
    parameters = {"model": "gpt-oss-120b", "format": "MXFP4", "gpu": "RTX 4090", "ram": "96"}
    usual = diagnosed(25.0, **parameters)
    assert "As predicted" in page_text(usual)
    # Slower than the processor alone would read: then the GPU was used, and the cause is another.
    text = page_text(diagnosed(25.0, prompt=15.0, **parameters))
    assert "Likeliest: the measured prompt was shorter than assumed" in text
    text = page_text(diagnosed(25.0, prompt=15.0, tokens=512.0, **parameters))
    assert "Likeliest: the link runs at fewer lanes or an older generation" in text
    assert ", prompt " in text


def test_a_placement_that_does_not_fit_can_still_have_run():
    # Windows lets a GPU take more than its memory, slowly.
    test = diagnosed(0.6, what="In the GPU, llama.cpp (does not fit)")
    assert "VRAM is full and Windows keeps a part of it in shared memory" in page_text(test)


def test_an_impossible_speed_is_reported_in_a_sentence(monkeypatch):
    def refuse(*_args, **_kwargs):
        return diagnose.Measured(decode=-1.0)

    monkeypatch.setattr(diagnosis, "Measured", refuse)
    assert "measured is -1 tokens/s; allowed is" in page_text(diagnosed(1.0))


def test_a_changed_machine_is_judged_anew():
    test = diagnosed(1.2)
    assert "Slower than predicted" in page_text(test)
    test.query_params["gpu"] = "none"
    assert "As predicted" in page_text(run(test))


def test_text_between_backticks_is_code_and_all_of_it_is_escaped():
    markup = diagnosis.with_code("a `b <i>` & `c`")
    assert markup == Markup("a <code>b &lt;i&gt;</code> &amp; <code>c</code>")


def test_a_run_is_sent_with_the_text_of_the_command():
    row = {"n_prompt": 0, "n_gen": 128, "avg_ts": 0.6, "model_type": "llama 70B Q4_K - Medium"}
    test = unfolded(app(**FORMER), "diagnose")
    test.file_uploader(key="measured_file").upload("run.json", json.dumps([row]).encode())
    test = unfolded(run(test), "share_run")
    assert "Nothing was sent." in page_text(test)
    form = next(text for text in commands(test) if text.startswith("### Output"))
    assert "### Prediction" in form
    assert "- [ ] I measured this myself" in form


def test_a_typed_speed_is_sent_as_a_line_that_counts_for_little():
    test = unfolded(diagnosed(0.6), "share_run")
    assert "A typed speed alone counts for little" in page_text(test)
    form = next(text for text in commands(test) if text.startswith("### Output"))
    assert "0.6 tokens/s" in form
    assert "### Prediction" in form
