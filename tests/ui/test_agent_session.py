"""An agent's session on the Advise page: how to ask, the answer, and where it does not fit."""

import re
from html import unescape

import pytest
from ui_app import app, chart_words, page_text, tab, unfolded

QWEN = {"model": "Qwen3.6-35B-A3B", "gpu": "RTX 3090", "session": "swe-bench"}


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))


def _words(test):
    return unescape(re.sub(r"<[^>]+>", " ", page_text(test)))


def test_it_says_how_to_ask():
    page = unfolded(tab(app(), "Where the time goes"), "open_session")
    assert "Choose a session in More settings" in _words(page)


def test_the_answer_has_minutes_what_is_read_again_and_what_saves():
    page = tab(app(**QWEN), "Where the time goes")
    words = _words(page)
    assert re.search(r"A session of 36 turns \(swe-bench\) takes [\d.]+ (s|min),", words)
    assert "reading again what went before" in words
    assert re.search(r"saves\s+[\d.]+ (s|min)", words)
    (chart,) = (text for text in chart_words(page) if "A session of 36 turns" in text)
    assert "ends at" in chart


def test_the_inputs_stand_in_the_drawer():
    test = app(**QWEN)
    test.session_state["more_settings"] = True
    test.session_state["settings_group"] = "Session"
    test.run()
    assert test.selectbox(key="in_session").value == "swe-bench"
    for name in ("turns", "turn_tokens", "slots"):
        assert test.text_input(key=f"in_{name}").value == ""


def test_a_session_in_part_is_a_sentence():
    assert "the tokens that tools and you add in each" in _words(
        app(model="Llama-3.1-8B", gpu="RTX 3090", turns="5")
    )


def test_a_session_that_does_not_fit_says_so():
    page = app(model="Llama-3.1-8B", gpu="RTX 3060", ram_gb="1", turns="500", turn_tokens="2000")
    assert "does not fit" in _words(page)
