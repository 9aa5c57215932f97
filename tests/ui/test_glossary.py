"""Terms on the pages: the meaning stands behind the word, and everything is escaped."""

import pytest

from advisor.ui.parts.glossary import IN_TEXTS, explained, explained_in_turn


@pytest.mark.parametrize("word", IN_TEXTS)
def test_each_term_is_explained(word):
    html = explained(f"Llama-8B, {word}.")
    assert html.startswith("Llama-8B, <abbr ")
    assert f">{word}</abbr>." in html


@pytest.mark.parametrize(
    ("form", "bits"), [("Q4_K_M", 4), ("IQ2_XXS", 2), ("q8_0", 8), ("Q6_K", 6)]
)
def test_a_block_format_is_explained_by_its_bits(form, bits):
    html = explained(f"llama.cpp, {form}")
    assert f"{bits}-bit values" in html
    assert f">{form}</abbr>" in html


def test_a_term_at_the_start_of_a_sentence_is_explained():
    assert ">In place</abbr>, it reads" in explained("In place, it reads")


def test_only_the_first_mention_is_explained():
    assert explained("in place or in place").count("<abbr") == 1


def test_rows_of_a_table_explain_a_term_once():
    first, second = explained_in_turn(["Q2_K instead of Q4_K_M", "KV cache in q8_0"])
    assert first.count("<abbr") == 1
    assert ">KV cache</abbr> in q8_0" in second


@pytest.mark.parametrize("text", ["a main place", "AWQX", "upstreamed", "Qwen3-8B", "EPYC 9Q4_K"])
def test_parts_of_other_words_are_left_alone(text):
    assert explained(text) == text


def test_typed_text_is_escaped():
    assert explained("<b>AWQ</b>").startswith("&lt;b&gt;<abbr ")


def test_in_place_of_another_thing_is_no_term() -> None:
    assert "<abbr" not in explained("-sm tensor in place of -sm layer")
    assert "<abbr" in explained("In place, the processor reads")
