"""A card as a picture of 1200x630 pixels, the size that link previews take, as SVG and as PNG.

Both are drawn from the same marks. The SVG keeps its text as text; the PNG is drawn by Pillow with
the font that Matplotlib brings along, or Pillow's own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from markupsafe import Markup

from advisor.reports.card import BAD, GOOD, PARTLY, Card
from advisor.units import number

WIDTH = 1200
HEIGHT = 630
"""Size of the picture, of Open Graph's usual shape (https://ogp.me) [px]."""
LEFT = 72  # margin at both sides [px]
BAR_TOP = 372
BAR_HEIGHT = 26
"""Place of the bar with the range [px]."""
PAPER = "#ffffff"
INK = "#1b1f24"
SOFT = "#57606a"
TRACK = "#e6e9ed"
RANGE = "#6aa5d8"
MARK = "#0b4f86"
TONES = {GOOD: "#00664d", PARTLY: "#8a5200", BAD: "#a8321a"}
"""Colours of the speed words on white, each with a contrast above 4.5."""
BOLD = 700
PLAIN = 400
DIGIT = 0.70
POINT = 0.38
"""Widths of a bold digit, and of a point, as shares of the font's size."""
CHARACTER = 0.54  # width of a character of the font, as a share of its size


@dataclass(frozen=True, kw_only=True)
class Box:
    """Filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, kw_only=True)
class Words:
    """Line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    size: int
    colour: str
    weight: int = PLAIN
    right: bool = False  # ends at x instead of beginning there


Mark = Box | Words


def marks(card: Card) -> Iterator[Mark]:
    """Marks of a card, the lowest first."""
    yield Box(x=0, y=0, width=WIDTH, height=HEIGHT, colour=PAPER)
    yield Box(x=0, y=0, width=WIDTH, height=14, colour=TONES[card.tone])
    yield Words(x=LEFT, y=92, text=card.model, size=38, colour=INK, weight=BOLD)
    yield Words(x=LEFT, y=142, text=f"on {card.machine}", size=30, colour=SOFT)
    yield from _speed(card)
    for place, line in enumerate(wrapped(card.way, 26, 3)):
        yield Words(x=LEFT, y=486 + 35 * place, text=line, size=26, colour=INK)
    yield Words(x=LEFT, y=600, text="Offload Advisor", size=24, colour=SOFT, weight=BOLD)
    yield Words(x=WIDTH - LEFT, y=600, text=card.runs, size=24, colour=SOFT, right=True)


def _speed(card: Card) -> Iterator[Mark]:
    """Speed in large figures, its words, and its range as a bar."""
    colour = TONES[card.tone]
    if card.speed is None:
        for place, line in enumerate(wrapped(card.gives, 44, 3)):
            yield Words(x=LEFT, y=250 + 58 * place, text=line, size=44, colour=colour, weight=BOLD)
        return
    figure = number(card.speed)
    yield Words(x=LEFT, y=284, text=figure, size=110, colour=INK, weight=BOLD)
    points = figure.count(".") + figure.count(",")
    beside = LEFT + 110 * (DIGIT * (len(figure) - points) + POINT * points) + 24
    yield Words(x=beside, y=284, text="tokens a second", size=38, colour=INK)
    words = card.gives.partition(":")[0]
    yield Words(x=LEFT, y=342, text=f"{words}.", size=36, colour=colour, weight=BOLD)
    yield from _bar(card, card.speed)


def _bar(card: Card, speed: float) -> Iterator[Mark]:
    """Range of the speed, with a mark at the speed and one at reading speed."""
    end = max(1.15 * card.high, min(1.6 * card.reading, 6 * card.high))
    wide = WIDTH - 2 * LEFT
    low, high, at, reading = (
        LEFT + wide * min(value / end, 1.0) for value in (card.low, card.high, speed, card.reading)
    )
    yield Box(x=LEFT, y=BAR_TOP, width=wide, height=BAR_HEIGHT, colour=TRACK)
    yield Box(x=low, y=BAR_TOP, width=high - low, height=BAR_HEIGHT, colour=RANGE)
    yield Box(x=at - 4, y=BAR_TOP - 6, width=8, height=BAR_HEIGHT + 12, colour=MARK)
    told = f"4 times in 5 between {number(card.low)} and {number(card.high)}"
    if card.reading < end:
        yield Box(x=reading - 2, y=BAR_TOP - 10, width=4, height=BAR_HEIGHT + 20, colour=INK)
        told = f"{told}; black: reading speed, {number(card.reading)}"
    yield Words(x=LEFT, y=BAR_TOP + 64, text=told, size=24, colour=SOFT)


def wrapped(text: str, size: int, most: int) -> list[str]:
    """Lines of a text within the width of the picture; the last line ends in "..." where text is
    left over.
    """
    longest = int((WIDTH - 2 * LEFT) / (CHARACTER * size))
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > longest:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()[:longest]
    if len(lines) > most:
        kept = lines[most - 1][: longest - 3].rpartition(" ")[0]
        lines[most - 1] = f"{kept.rstrip(' ,.:')} ..."
    return lines[:most]


def fitted(words: Words) -> Words:
    """Line of text that is cut at the edge of the picture."""
    room = words.x - LEFT if words.right else WIDTH - LEFT - words.x
    longest = max(int(room / (CHARACTER * words.size)), 4)
    if len(words.text) <= longest:
        return words
    return Words(**{**vars(words), "text": f"{words.text[: longest - 3].rstrip()}..."})


# SVG.

FRAME = Markup(
    "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
    "role='img' aria-label='{2}' font-family='DejaVu Sans, Verdana, sans-serif'>{3}</svg>\n"
)
RECTANGLE = Markup("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>")
LINE = Markup("<text x='{:.1f}' y='{:.1f}' font-size='{}' font-weight='{}' fill='{}'{}>{}</text>")
AT_END = Markup(" text-anchor='end'")


def svg(card: Card) -> str:
    """Picture as SVG."""
    return str(FRAME.format(WIDTH, HEIGHT, card.text, _elements(marks(card))))


def _elements(drawn: Iterable[Mark]) -> Markup:
    return Markup().join(map(_element, drawn))


def _element(mark: Mark) -> Markup:
    if isinstance(mark, Box):
        return RECTANGLE.format(mark.x, mark.y, mark.width, mark.height, mark.colour)
    line = fitted(mark)
    anchor = AT_END if line.right else ""
    return LINE.format(line.x, line.y, line.size, line.weight, line.colour, anchor, line.text)


# Badge.

BADGE = Markup(
    "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='20' role='img' aria-label='{1}' "
    "font-family='DejaVu Sans, Verdana, sans-serif' font-size='11' fill='#fff'>"
    "<rect width='{2}' height='20' fill='#444d56'/>"
    "<rect x='{2}' width='{3}' height='20' fill='{4}'/>"
    "<text x='6' y='14'>{5}</text><text x='{6}' y='14'>{7}</text></svg>\n"
)
LETTER = 6.6  # width of a character in a badge [px]


def badge(card: Card) -> str:
    """Badge as SVG: model and machine, and the speed in its tone."""
    named = f"{card.model.partition(' (')[0]} on {card.machine}"
    speed = "does not run" if card.speed is None else f"{number(card.speed)} tok/s"
    left, right = (round(LETTER * len(text)) + 12 for text in (named, speed))
    return str(
        BADGE.format(left + right, card.text, left, right, TONES[card.tone], named, left + 6, speed)
    )


# PNG.

FONTS = "mpl-data/fonts/ttf"
FILES = {PLAIN: "DejaVuSans.ttf", BOLD: "DejaVuSans-Bold.ttf"}


def png(card: Card) -> bytes:
    """Picture as PNG."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    for mark in marks(card):
        if isinstance(mark, Box):
            corners = (mark.x, mark.y, mark.x + mark.width - 1, mark.y + mark.height - 1)
            draw.rectangle(corners, fill=mark.colour)
        else:
            line = fitted(mark)
            font = _font(line.weight, line.size)
            anchor = "rs" if line.right else "ls"
            text = _within(line, font)
            draw.text((line.x, line.y), text, fill=line.colour, font=font, anchor=anchor)
    file = BytesIO()
    # Few colours beside shades of letters: a palette is a third of the size.
    image.quantize(64, method=Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()


def _within(line: Words, font: Any) -> str:
    """Text of a line, cut to the letters that the picture has room for."""
    room = line.x - LEFT if line.right else WIDTH - LEFT - line.x
    length = font.getlength(line.text)
    if length <= room:
        return line.text
    return line.text[: int(len(line.text) * room / length)]


@cache
def _font(weight: int, size: int) -> Any:
    """Font of a weight and size, opened once."""
    from PIL import ImageFont

    installed = find_spec("matplotlib")
    if installed is None or installed.origin is None:
        return ImageFont.load_default(size)
    return ImageFont.truetype(Path(installed.origin).parent / FONTS / FILES[weight], size)
