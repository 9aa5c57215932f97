"""The Advise page in its main states."""

import json
import re
import shlex
from html import unescape

import pytest
from ui_app import app, chart_words, copied, page_text, run

from advisor.calibration import local_machine, local_store
from advisor.calibration.local_store import Calibration
from advisor.cli.main import main
from advisor.ui.sidebar import taken_as


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_PROBES", raising=False)


def test_first_visit_shows_three_placements_and_a_verdict():
    test = app()
    text = page_text(test)
    for title in ("In the GPU", "Offload to RAM", "Offload to NVMe"):
        assert f"<span class='oa-name'>{title}</span>" in text
    assert "oa-verdict" in text
    assert text.count("class='oa-speed") == 3


def test_first_visit_without_gpu_describes_a_common_machine():
    test = app()
    assert test.radio(key="machine").value == "Another machine"
    assert test.selectbox(key="gpu").value == "RTX 3090"
    assert test.selectbox(key="model").value == "Llama-3.1-70B"


def test_every_chart_is_there_at_once_and_in_words_too():
    test = app()
    assert not test.get("plotly_chart")  # a browser would read 4.7 MB before the first of them
    assert len(chart_words(test)) == 3  # layers, costs, options
    assert all(len(words) > 10 for words in chart_words(test))
    assert page_text(test).count("class='oa-bars") == 4  # memory, time, speed, the verdict's inputs


def test_another_gpu_changes_the_answer_and_states_the_earlier_one():
    test = app()
    before = page_text(test)
    assert "oa-was" not in before
    test.selectbox(key="gpu").select("RTX 5090")
    after = page_text(run(test))
    assert "RTX 5090" in after
    assert "oa-was" in after


def test_a_small_model_needs_no_offloading():
    text = page_text(app(model="Llama-3-8B"))
    assert "Runs well, faster than you read" in text
    assert "Nothing needs offloading; this is what RAM would give." in text


def test_ram_large_enough_for_the_model_is_stated_on_the_drives_card():
    assert "Your RAM holds this; from the drive it would be" in page_text(app())


def test_a_model_that_ram_cannot_hold_says_how_much_is_short():
    text = page_text(app(model="DeepSeek-R1", ram="16"))
    assert re.search(r"oa-none'>[\d.]+ GiB short", text)
    assert "more RAM would hold it" in text


def test_experts_model_runs():
    assert "Qwen3-235B-A22B" in page_text(app(model="Qwen3-235B-A22B", ram="128"))


def test_refused_model_says_why():
    text = page_text(app(model="RadixArk/Kimi-K3-DSpark"))
    assert "drafts tokens for another model" in text
    assert "No answer is shown for another model." in text


def test_the_match_of_each_name_is_reported_under_the_field():
    text = page_text(app(model="unsloth/Qwen3.6-27B-GGUF"))
    assert "Taken as Qwen3.6-27B." in text


def test_a_stand_in_states_its_basis():
    text = page_text(app(model="Foo-35B-A3B", ram="64"))
    assert "Foo-35B-A3B is not known. Its name says 35 B weights, 3 B of them active" in text


def test_the_makers_own_format_is_the_usual_one():
    test = app(model="gpt-oss-120b", gpu="H100 80GB SXM", ram="128")
    assert "gpt-oss-120b, MXFP4" in page_text(test)


def test_refused_format_says_why():
    text = page_text(app(model="Llama-3-8B", format="MXFP4"))
    assert "MXFP4 does not fit" in text
    assert "Choose another model or format" in text


def test_no_gpu():
    test = app(gpu="No GPU")
    text = page_text(test)
    assert "no GPU</div>" in text
    assert len(chart_words(test)) == 2  # no layers to put anywhere


def test_unified_memory_has_one_size_and_no_link():
    test = app(gpu="Apple M3 Ultra 80c", model="gpt-oss-120b", format="MXFP4")
    keys = {text_input.key for text_input in test.text_input}
    assert "pool" in keys
    assert "ram" not in keys
    assert "link" not in {selectbox.key for selectbox in test.selectbox}


def test_nonsense_link_falls_back_and_says_so():
    image = "![x](http://evil.example/x.png)"
    test = app(gpu="RTX 9999", ram="abc", model=image, users="-3", unknown="1")
    text = page_text(test)
    assert text.count("Please note.") == 4
    assert "No GPU is called &#39;RTX 9999&#39;" in text
    assert "No answer is shown for another model." in text
    assert "&#39;abc&#39; cannot be read; give memory, as 24, 24GB or 1.5TB." in text
    assert image not in "".join(markdown.value for markdown in test.markdown)


def test_names_in_a_link_may_be_in_any_case():
    record = {
        "model": "llama-3.1-8b", "format": "q8_0", "context": "16K", "machine": "ANOTHER MACHINE",
        "gpu": "rtx 4090", "runtime": "LLAMA.CPP", "kv": "Q8_0", "cpu": "ryzen 9 7950x",
    }  # fmt: skip
    test = app(**record)
    names = {
        key: test.selectbox(key=key).value for key in record if key not in ("context", "machine")
    }
    assert names == {
        "model": "Llama-3.1-8B", "format": "Q8_0", "gpu": "RTX 4090", "runtime": "llama.cpp",
        "kv": "q8_0", "cpu": "Ryzen 9 7950X",
    }  # fmt: skip
    assert test.selectbox(key="context").value == "16k"
    assert test.radio(key="machine").value == "Another machine"
    assert "Shown instead" not in page_text(test)
    link = next(text for text in copied(test) if text.startswith("http"))
    assert "runtime=llama.cpp" in link


def test_a_link_restores_every_input():
    record = {
        "model": "Qwen3-8B",
        "format": "Q8_0",
        "context": "16k",
        "users": "2",
        "gpu": "RTX 4090",
        "ramspeed": "61.5",
        "kv": "q8_0",
        "hour": "12",
    }
    test = app(machine="Another machine", **record)
    assert "Please note" not in page_text(test)
    assert test.selectbox(key="context").value == "16k"
    assert test.text_input(key="ramspeed").value == "61.5"
    link = next(text for text in copied(test) if text.startswith("http"))
    for key, value in record.items():
        assert f"{key}={value.replace(' ', '+')}" in link
    assert "prompt=" not in link


def test_numbers_open_with_formula_and_origin():
    text = page_text(app())
    assert "Time of a token, by part" in text
    assert "What it rests on" in text
    assert "RAM, sustained read" in text
    assert "assumed" in text


def test_own_rent_is_used():
    test = app(rentgpu="L40S", rentusd="0.11")
    assert "$0.11 an hour each, as you typed" in page_text(test)


def test_who_has_nothing_yet_is_answered():
    text = page_text(app(machine="Another machine", model="Llama-3.3-70B", having="Nothing yet"))
    assert "You have no machine for it yet" in text
    assert "Cost of a month, waiting included" in text


def test_amounts_are_typed_and_repeated_in_the_chosen_currency():
    # 2,000 euros are 2,500 dollars at 1.25
    test = app(
        machine="Another machine", currency="EUR", rate="1.25", buygpu="RTX 5090", buyusd="2000",
        rentgpu="L40S", rentusd="0.1", resale="300",
    )  # fmt: skip
    labels = {key: test.number_input(key=key).label for key in ("resale", "hour", "kwh", "buyusd")}
    assert labels == {
        "resale": "Would sell for (€)", "hour": "Worth of an hour (€)",
        "kwh": "Electricity (€/kWh)", "buyusd": "Price (€ each)",
    }  # fmt: skip
    text = page_text(test)
    assert "€2,000, as you typed" in text
    assert "€0.10 an hour each, as you typed" in text
    assert "$2,500" not in text
    test.number_input(key="rate").set_value(None)
    dollars = run(test)
    assert dollars.number_input(key="resale").label == "Would sell for ($)"
    assert dollars.number_input(key="resale").value == 300


def test_this_machine_shows_detected_parts_and_offers_to_measure():
    test = app(machine="This machine")
    assert "assumed, not measured" in page_text(test)
    # 2.5 s for RAM and 5 s for the drive, as the quick pass plans them.
    assert test.button(key="measure_sidebar").label == "Measure RAM and drive (about 8 s)"


def test_probes_switched_off_says_so(monkeypatch):
    monkeypatch.setenv("ADVISOR_PROBES", "off")
    test = app(machine="This machine")
    assert "Measuring is switched off here" in page_text(test)
    assert "measure_sidebar" not in {button.key for button in test.button}


def test_stale_calibration_is_reported(monkeypatch, tmp_path):
    # A saving that no other test made, so that nothing remembered is used.
    (tmp_path / local_store.FILE_NAME).write_text(json.dumps({}))
    old = Calibration(stale="Measured over 92 days ago: ram_read; probe again.")
    monkeypatch.setattr(local_machine.local_store, "load", lambda: old)
    assert "Measured over 92 days ago" in page_text(app(machine="This machine"))


def test_assumed_ram_speed_is_reported_and_a_typed_one_is_not():
    assert "The RAM speed is assumed" in page_text(app())
    assert "The RAM speed is assumed" not in page_text(app(ramspeed="60"))


def test_a_link_is_not_complained_about_once_something_changed():
    test = app(replies="abc")
    assert "Please note." in page_text(test)
    test.number_input(key="users").set_value(2)
    assert "Please note." not in page_text(run(test))


def test_a_gpu_may_be_typed_by_any_name_and_the_page_states_the_match():
    test = app(gpu="4090 laptop")
    assert test.exception == []
    assert any("Taken as RTX 4090 Laptop" in caption.value for caption in test.caption)


def test_a_machine_may_be_named():
    test = app(machine="By name", owned="Mac Studio M3 Ultra 512GB", model="gpt-oss-120b")
    text = page_text(test)
    assert "M3 Ultra" in text
    assert "oa-verdict" in text
    assert "owned=Mac+Studio+M3+Ultra+512GB" in "".join(copied(test))


@pytest.mark.parametrize(
    "typed",
    [
        {"machine": "By name", "owned": "Toaster 9"},
        {"machine": "Another machine", "gpu": "Toaster 9"},
        {"machine": "Another machine", "gpu": "RTX 3090", "gpu2": "Toaster 9"},
        {"machine": "Another machine", "cpu": "Toaster 9"},
    ],
    ids=lambda typed: next(key for key, value in typed.items() if value == "Toaster 9"),
)
def test_hardware_of_an_unknown_name_gets_a_message_and_no_answer(typed):
    test = app(**typed)
    assert test.exception == []
    assert page_text(test).count("is called &#39;Toaster 9&#39;") == 1  # on the page, for phones
    assert taken_as.NOT_KNOWN in [caption.value for caption in test.sidebar.caption]
    assert "oa-verdict" not in page_text(test)


def test_sizes_are_typed_with_their_units_and_what_is_wrong_stands_under_the_field():
    typed = {"ram": "0.5 TB", "drivespeed": "3500MB/s", "context": "100k", "prompt": "9 parsecs"}
    test = app(machine="Another machine", gpu="RTX 3090", model="Llama-3.1-8B", **typed)
    text = page_text(test)
    link = next(text for text in copied(test) if text.startswith("http"))
    assert "ram=512&" in link
    assert "drivespeed=3.5" in link
    assert "context=100k" in link
    assert "is no number of tokens; give it as 8192 or 128k. Shown instead: 512." in text


def test_drafted_tokens_are_in_the_link_and_who_needs_an_acceptance_is_told():
    record = {"model": "Qwen3-32B", "format": "AWQ", "gpu": "RTX 5090", "runtime": "vLLM"}
    test = app(machine="Another machine", **record, draft="eagle", acceptance="0.7", cached="100")
    code = "".join(copied(test))
    assert test.number_input(key="acceptance").value == 0.7
    assert "cached=100&draft=eagle&acceptance=0.7" in code
    assert '"method": "eagle3"' in code
    assert "Each step checks 3 tokens drafted by eagle, 70 % accepted." in page_text(test)
    test.number_input(key="acceptance").set_value(None)
    assert "Drafting by eagle needs an acceptance" in page_text(run(test))


def test_stated_software_is_told_beside_the_answer():
    arc = {"machine": "Another machine", "model": "Llama-3.1-8B", "gpu": "Arc A770"}
    assumed = page_text(app(**arc))
    assert "llama.cpp with SYCL is assumed" in assumed
    old = page_text(app(**arc, driver="mesa 24.2"))
    assert "With Mesa 24.2, tokens are taken at 0.36" in old
    assert "is assumed; for" not in old
    wrong = page_text(app(**arc, driver="nvidia 575"))
    assert "allowed is mesa or rocm with a version" in wrong


def test_the_command_below_the_answer_gives_the_same_verdict(capsys) -> None:
    test = app(machine="Another machine", gpu="RTX 3090", ram="32", replies="100")
    line = next(text for text in copied(test) if " advise " in text)
    assert "--ram-gb 32" in line
    assert "--replies-per-day 100" in line
    arguments = shlex.split(line)[3:]
    assert main([*arguments, "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    shown = re.search(r"<p class='oa-verdict'>(.*?)</p>", page_text(test), re.DOTALL)
    assert shown is not None
    assert verdict.startswith(unescape(shown[1]))


def test_a_rented_machine_by_name_asks_for_its_rent_alone() -> None:
    """Nobody owns it: no resale value, and the price on record until a rent is typed."""
    test = app(machine="By name", owned="g6e.xlarge", model="Qwen3-32B")
    assert {"having", "resale"}.isdisjoint(widget.key for widget in test.sidebar.selectbox)
    assert "resale" not in {widget.key for widget in test.sidebar.number_input}
    assert "value tied up" not in page_text(test)
    assert "--rented-at" not in "".join(copied(test))
    test.sidebar.number_input(key="namedrent").set_value(3.0).run()
    assert "--rented-at 3" in "".join(copied(test))


def test_a_rented_machine_without_a_price_says_so() -> None:
    test = app(machine="By name", owned="g5.12xlarge", model="Qwen3-32B")
    assert "counts as free until you type its rent" in page_text(test)
