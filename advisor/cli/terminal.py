"""Features of a terminal: bold, colour and width; a file or a pipe gets plain text."""

import os
import sys
import textwrap

from advisor.advice.judgement import Judgement

WIDTH = 100  # columns of text that goes elsewhere [characters]
BOLD = "1"
RED = "31"
YELLOW = "33"
GREEN = "32"
COLOURS = {
    Judgement.FASTER: GREEN,
    Judgement.KEEPS_UP: GREEN,
    Judgement.SLOWER: YELLOW,
    Judgement.MINUTES: YELLOW,
    Judgement.THINKS: YELLOW,
    Judgement.DRIVE: RED,
    Judgement.UNUSABLE: RED,
    Judgement.NOTHING: RED,
}
"""Colour of each judgement (ECMA-48, select graphic rendition)."""


def is_one() -> bool:
    """Whether the output is a terminal that may be coloured (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


def bold(text: str) -> str:
    """Text in bold on a terminal."""
    return styled(text, BOLD)


def toned(text: str, level: Judgement) -> str:
    """Text in bold and in the colour of a judgement, on a terminal."""
    return styled(text, f"{BOLD};{COLOURS[level]}")


def styled(text: str, code: str) -> str:
    """Text in a style on a terminal; plain text elsewhere."""
    if not is_one():
        return text
    return f"\033[{code}m{text}\033[0m"


def cut(text: str, width: int = WIDTH) -> str:
    """Line that ends in "..." where it is wider than a terminal."""
    if len(text) <= width:
        return text
    return f"{text[: width - 3].rstrip()}..."


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Lines of a text, the further ones indented."""
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False) or [""]
