"""Glossary: technical terms whose meaning appears on hover or keyboard focus."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """Row of data/pages/glossary.csv."""

    term: str  # spelled as on the pages and in the catalogue
    meaning: str  # in a sentence or two
    in_texts: bool = False  # it is explained wherever a text has it


MEANINGS = {row.term: row for row in read(DATA / "pages" / "glossary.csv", Meaning)}
BLOCK_FORMAT = (
    "A block format of llama.cpp, {bits}-bit values with shared scales. Fewer bits take less "
    "memory and are read faster, at some loss of quality."
)

IN_TEXTS = {row.term: row.meaning for row in MEANINGS.values() if row.in_texts}
_BLOCK_FORMAT = r"I?Q(?P<bits>\d)(?:_\w+)?"
_NOT_INSTEAD = r"(?!(?<=in place) of\b)"
_TERM = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, IN_TEXTS))}|{_BLOCK_FORMAT})\b{_NOT_INSTEAD}", re.IGNORECASE
)
_FOLDED = {word.casefold(): meaning for word, meaning in IN_TEXTS.items()}


def term(word: str, meaning: str = "") -> Markup:
    """Term with its meaning as a tooltip, the glossary's unless another is given."""
    html = Markup("<abbr title='{}' tabindex='0'>{}</abbr>")
    return html.format(meaning or MEANINGS[word].meaning, word)


def explained(text: str) -> Markup:
    """Escaped text in which the first mention of each term has a tooltip."""
    return next(explained_in_turn([text]))


def explained_in_turn(texts: Iterable[str]) -> Iterator[Markup]:
    """Escaped texts in which the first mention of a term, or of any block format, has a tooltip."""
    told: set[str] = set()
    for text in texts:
        html = Markup()
        end = 0
        for match in _TERM.finditer(text):
            known = _FOLDED.get(match[0].casefold())
            meaning = known or BLOCK_FORMAT.format(bits=match["bits"])
            key = known or BLOCK_FORMAT
            if key not in told:
                html += escape(text[end : match.start()]) + term(match[0], meaning)
                end = match.end()
                told.add(key)
        yield html + escape(text[end:])
