"""A known speed on the page: typed, told, forgotten, and dropped with its machine."""

import json

import pytest
from ui_app import app, copied, page_text, press, run, unfolded

HERE = {"model": "Qwen3-14B", "gpu": "RTX 3090", "ram_gb": "64", "runtime": "llama.cpp"}


def test_a_known_speed_is_told_and_forgotten():
    test = app(**HERE, known="Qwen3-8B Q4_K_M 90")
    text = page_text(test)
    assert "By your run (Qwen3-8B, Q4_K_M: 90 tokens a second)" in text
    assert "slower than such machines usually are" in text
    assert "\u25cf\u25cf\u25cf" in text
    after = page_text(press(test, "forget_known_0"))
    assert "By your run" not in after


def test_a_fault_is_told_with_its_cause():
    text = page_text(app(**HERE, known="Qwen3-8B Q4_K_M 12"))
    assert "likelier a fault of that run" in text
    assert "Likeliest cause" in text


def test_a_known_speed_that_cannot_be_is_refused_in_a_sentence():
    text = page_text(app(**HERE, known="Gibberish 90"))
    assert "No model is called" in text


@pytest.mark.parametrize("evil", ["![x](http://example.org/x.png) 41", "<img src=x> 41"])
def test_what_an_address_holds_is_shown_as_text(evil):
    assert "<img" not in page_text(app(**HERE, known=evil))


def test_known_speeds_go_with_their_machine():
    test = app(**HERE, known="Qwen3-8B Q4_K_M 90")
    test.text_input(key="in_machine").set_value("RTX 4090, 64 GB RAM")
    run(test)
    assert "By your run" not in page_text(test)


def test_a_speed_is_typed():
    test = unfolded(app(**HERE), "known_speed")
    assert "takes about two minutes and makes" in page_text(test)
    assert any(text.startswith("llama-bench -hf ") for text in copied(test))
    test.selectbox(key="known_model").set_value("Qwen3-8B")
    test.text_input(key="known_tps").set_value("90")
    test.button(key="use_known").click()
    run(test)
    assert "By your run (Qwen3-8B, Q4_K_M: 90 tokens a second)" in page_text(test)
    assert test.query_params["known"] in ("Qwen3-8B 90", ["Qwen3-8B 90"])


def test_a_file_of_a_tool_is_taken():
    bench = {
        "build_commit": "a", "build_number": 9000, "model_filename": "Qwen3-8B-Q4_K_M.gguf",
        "model_type": "qwen3 8B Q4_K - Medium", "n_gpu_layers": 99, "n_prompt": 0, "n_gen": 128,
        "n_depth": 0, "avg_ts": 90.0, "backends": "CUDA",
    }  # fmt: skip
    test = unfolded(app(**HERE), "known_speed")
    test.file_uploader(key="known_file").upload("bench.json", json.dumps([bench]).encode())
    run(test)
    assert "By your run (Qwen3-8B, Q4_K_M: 90 tokens a second" in page_text(test)


def test_a_file_without_a_speed_is_refused_beside_the_field():
    test = unfolded(app(**HERE), "known_speed")
    test.file_uploader(key="known_file").upload("photo.json", b"\x89PNG")
    run(test)
    assert "photo.json" in page_text(test)
    assert "By your run" not in page_text(test)


@pytest.mark.parametrize("typed", ["fast", "", "-3"])
def test_what_is_no_speed_is_refused_beside_the_field(typed):
    test = unfolded(app(**HERE), "known_speed")
    test.selectbox(key="known_model").set_value("Qwen3-8B")
    test.text_input(key="known_tps").set_value(typed)
    test.button(key="use_known").click()
    run(test)
    assert "no known speed" in page_text(test)
    assert "By your run" not in page_text(test)
