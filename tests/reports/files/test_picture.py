"""A card as a picture: SVG and PNG of the same marks, inside the frame, in any words."""

from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree as Xml

import pytest
from PIL import Image

from advisor.reports.card import BAD, GOOD, PARTLY, Card
from advisor.reports.files import picture

CARD = Card(
    model="Gemma 4 26B A4B (Q4_K_M)",
    machine="RTX 4060 Laptop 8 GB + 16 GB",
    tone=GOOD,
    gives="Runs well, faster than you read: 36 tokens a second.",
    way="An answer of 180 words takes 8.4 seconds. Keep what you have.",
    runs="llama.cpp, experts in RAM",
    speed=36.0,
    low=23.0,
    high=46.0,
    reading=6.0,
)
LONG = replace(CARD, model="M" * 300, machine="<b>&'\" " * 60, way="word " * 200, runs="R" * 300)
NOTHING = replace(CARD, speed=None, tone=BAD, gives="It does not run here: 9 GB are missing.")


def test_the_text_is_one_line_with_speed_and_range():
    assert CARD.text == (
        "RTX 4060 Laptop 8 GB + 16 GB: Gemma 4 26B A4B (Q4_K_M) 36 tok/s (23-46), llama.cpp, "
        "experts in RAM"
    )
    assert NOTHING.text.count("does not run") == 1


@pytest.mark.parametrize("card", [CARD, LONG, NOTHING], ids=["usual", "long", "nothing"])
def test_both_forms_have_the_size_of_previews(card):
    drawn = Image.open(BytesIO(picture.png(card)))
    assert drawn.size == (1200, 630)
    root = Xml.fromstring(picture.svg(card))
    assert (root.get("width"), root.get("height")) == ("1200", "630")


@pytest.mark.parametrize("card", [CARD, LONG, NOTHING], ids=["usual", "long", "nothing"])
def test_every_mark_lies_in_the_frame(card):
    for mark in picture.marks(card):
        if isinstance(mark, picture.Box):
            assert 0 <= mark.x <= mark.x + mark.width <= picture.WIDTH
            assert 0 <= mark.y <= mark.y + mark.height <= picture.HEIGHT
        else:
            line = picture.fitted(mark)
            wide = picture.CHARACTER * line.size * len(line.text)
            assert line.right or line.x + wide <= picture.WIDTH + line.size
            assert 0 < line.y <= picture.HEIGHT


def test_letters_keep_inside_the_picture():
    """The margin stays white, though a font's letters are wider than counted."""
    drawn = Image.open(BytesIO(picture.png(LONG))).convert("RGB")
    right = drawn.crop((picture.WIDTH - 12, 20, picture.WIDTH, picture.HEIGHT))
    ((_, colour),) = right.getcolors()
    assert min(colour) >= 250


def test_typed_words_are_text():
    assert "<b>" not in picture.svg(LONG)
    assert "<b>" not in picture.badge(LONG)


def test_the_colour_of_the_words_is_that_of_the_tone():
    for tone in (GOOD, PARTLY, BAD):
        assert picture.TONES[tone] in picture.svg(replace(CARD, tone=tone))
        assert picture.TONES[tone] in picture.badge(replace(CARD, tone=tone))


def test_words_are_readable_on_white():
    """Contrast of at least 4.5 (WCAG 2.2, 1.4.3)."""
    for colour in (*picture.TONES.values(), picture.INK, picture.SOFT):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (light + 0.05) >= 4.5, colour


def test_the_same_card_gives_the_same_bytes():
    assert picture.png(CARD) == picture.png(replace(CARD))
