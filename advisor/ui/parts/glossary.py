"""Glossary: technical terms whose meaning appears on hover or keyboard focus."""

import re

from markupsafe import Markup, escape

MEANINGS = {
    "in place": "The processor reads the weights in RAM, where they lie, and computes there.",
    "streamed": "The weights are copied over the link, and the GPU computes.",
    "micro-batches": "Groups of prompt tokens that are computed together (llama.cpp's -ub).",
    "hand-overs": "Copies of intermediate results when the next layers are computed elsewhere: "
    "from GPU to processor, back, or from GPU to GPU.",
    "AWQ": "Activation-aware Weight Quantization: 4-bit weights, made for GPU servers like vLLM.",
    "GPTQ": "4-bit weights, rounded so that each layer's output changes least; for GPU servers.",
    "FP8": "8-bit floating point, about half the size of 16-bit weights; for GPU servers.",
}
"""In the words of the pages; formats are spelled as in the catalogue."""

_TERM = re.compile(rf"\b(?:{'|'.join(map(re.escape, MEANINGS))})\b", re.IGNORECASE)
_FOLDED = {word.casefold(): meaning for word, meaning in MEANINGS.items()}


def term(word: str, meaning: str) -> Markup:
    """Term with its meaning as a tooltip."""
    return Markup("<abbr title='{}' tabindex='0'>{}</abbr>").format(meaning, word)


def explained(text: str) -> Markup:
    """Escaped text in which the first mention of each term has a tooltip."""
    html, end, told = Markup(), 0, set()
    for match in _TERM.finditer(text):
        folded = match[0].casefold()
        if folded not in told:
            html += escape(text[end : match.start()]) + term(match[0], _FOLDED[folded])
            end = match.end()
            told.add(folded)
    return html + escape(text[end:])
