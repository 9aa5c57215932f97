"""Glossary: technical terms whose meaning appears on hover or keyboard focus."""

import re
from collections.abc import Iterable, Iterator

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
    "MXFP4": "4-bit floating point with one scale for each block of 32 weights.",
    "NVFP4": "4-bit floating point with one scale for each block of 16 weights; for NVIDIA GPUs.",
    "BF16": "16-bit floating point, the format in which most models are published.",
    "F16": "16-bit floating point.",
    "routed experts": "Parts of a mixture-of-experts model, of which each token uses only a few.",
    "KV cache": "Keys and values of the tokens so far, kept for the next token. It grows with the "
    "context and the number of users.",
    "page-locked": "In RAM that the system never moves, so that the GPU copies from it faster.",
    "mmap": "The file is mapped into memory, and its parts are read when they are needed.",
    "SkyPilot": "A program that rents a machine from the cheapest cloud and starts a task on it.",
}
"""Meaning of each term, spelled as on the pages and in the catalogue."""
BLOCK_FORMAT = (
    "A block format of llama.cpp, {bits}-bit values with shared scales. Fewer bits take less "
    "memory and are read faster, at some loss of quality."
)

_BLOCK_FORMAT = r"I?Q(?P<bits>\d)(?:_\w+)?"
_NOT_INSTEAD = r"(?!(?<=in place) of\b)"
_TERM = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, MEANINGS))}|{_BLOCK_FORMAT})\b{_NOT_INSTEAD}", re.IGNORECASE
)
_FOLDED = {word.casefold(): meaning for word, meaning in MEANINGS.items()}


def term(word: str, meaning: str) -> Markup:
    """Term with its meaning as a tooltip."""
    return Markup("<abbr title='{}' tabindex='0'>{}</abbr>").format(meaning, word)


def explained(text: str) -> Markup:
    """Escaped text in which the first mention of each term has a tooltip."""
    return next(explained_in_turn([text]))


def explained_in_turn(texts: Iterable[str]) -> Iterator[Markup]:
    """Escaped texts in which the first mention of each term has a tooltip, as rows of a table.

    All block formats count as one term.
    """
    told: set[str] = set()
    for text in texts:
        html, end = Markup(), 0
        for match in _TERM.finditer(text):
            known = _FOLDED.get(match[0].casefold())
            meaning = known or BLOCK_FORMAT.format(bits=match["bits"])
            key = known or BLOCK_FORMAT
            if key not in told:
                html += escape(text[end : match.start()]) + term(match[0], meaning)
                end = match.end()
                told.add(key)
        yield html + escape(text[end:])
