"""Tokens of the images of a prompt, and patches that an encoder reads.

Each family of models cuts images in a way of its own, a row of data/models/image_tokens.csv: always
into as many tokens, into a grid of squares, or into tiles with the whole image beside them.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError
from advisor.model.model import Model
from advisor.units import memory

SIZE = re.compile(r"\s*(\d{2,5})\s*[x\u00d7*]\s*(\d{2,5})\s*(?:px|pixels?)?\s*", re.IGNORECASE)
USUAL_SIZE = "1024x1024"  # width and height of an image where none is stated [pixels]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageTokenRow:
    """One row of data/models/image_tokens.csv: how a family of models cuts an image."""

    model: str  # pattern of its models' names, in lower case
    edge: int | None  # side of the square that makes a token [pixels]
    tile: int | None  # side of a tile [pixels]
    of_tile: int | None  # tokens of a tile
    whole: int | None  # tokens of any image
    least: int | None  # fewest tokens of an image, to which smaller ones are scaled
    most: int | None  # most tokens of an image, or most tiles
    longest: int | None  # longest side to which larger images are scaled [pixels]
    patches: float  # patches that the encoder reads for each token
    source: str
    source_date: str

    def tokens(self, width: int, height: int) -> int:
        """Tokens of an image of a width and height [pixels]."""
        if self.whole is not None:
            return self.whole
        if self.tile is not None:
            return self._of_tiles(width, height)
        return self._of_grid(width, height)

    def _of_tiles(self, width: int, height: int) -> int:
        """Tokens of the tiles that cover an image, and of the whole image beside several."""
        side = self.tile or 1
        tiles = min(math.ceil(width / side) * math.ceil(height / side), self.most or 1)
        return (self.of_tile or 0) * (tiles + int(tiles > 1))

    def _of_grid(self, width: int, height: int) -> int:
        """Tokens of the squares of an image, scaled to as many as the model takes."""
        side = self.edge or 1
        shrunk = min((self.longest or math.inf) / max(width, height), 1.0)
        squares = width * height * (shrunk / side) ** 2
        taken = min(max(squares, self.least or 1), self.most or squares)
        if taken == squares:
            return max(round(shrunk * width / side), 1) * max(round(shrunk * height / side), 1)
        scale = shrunk * math.sqrt(taken / squares) / side
        return max(int(scale * width), 1) * max(int(scale * height), 1)


@cache
def image_rows() -> tuple[tuple[re.Pattern[str], ImageTokenRow], ...]:
    """Rows of the table with their patterns."""
    rows = read(DATA / "models/image_tokens.csv", ImageTokenRow)
    return tuple((re.compile(row.model), row) for row in rows)


def row_of(model: Model) -> ImageTokenRow | None:
    """Row of a model; None for a model whose way to cut images is not known."""
    names = f"{model.published_as} {model.name}".casefold()
    return next((row for pattern, row in image_rows() if pattern.search(names)), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Images:
    """Images of a prompt, all together."""

    count: int = 0
    each: float = 0.0  # tokens of each [tokens]
    patches: float = 0.0  # patches that the encoder reads, of all
    notes: tuple[str, ...] = ()  # sentences for the user

    @property
    def tokens(self) -> float:
        """Tokens of all images [tokens]."""
        return self.count * self.each


NO_IMAGES = Images()


def images_of(model: Model | None, count: int, size: str | None, tokens: float | None) -> Images:
    """Images of a prompt for a model, all of one size or with a stated number of tokens.

    Raises:
        InputError: a size that is none, or a model that is not known to read images, or none at
            all, where the tokens of an image are not stated.
    """
    size = size or USUAL_SIZE
    width, height = pixels(size)
    row = row_of(model) if model else None
    if row is not None:
        patches = row.patches
        made = float(row.tokens(width, height))
    elif tokens is not None:
        patches = 1.0
        made = tokens
    else:
        raise InputError(_unknown(model))
    if tokens is not None:
        made = tokens
        size = "stated tokens"
    added = f"Images in the prompt: {count:,} of {size}, {count * made:,.0f} tokens in all."
    notes = (added, *_of_encoder(model)) if model else (added,)
    return Images(count=count, each=made, patches=count * made * patches, notes=notes)


def pixels(text: str) -> tuple[int, int]:
    """Width and height of a size as typed ("1280x720") [pixels]."""
    match = SIZE.fullmatch(text)
    if match is None:
        raise InputError(
            f"Size of an image (--image-size) is {text[:40]!r}; it should be its width and height "
            "in pixels, such as 1280x720."
        )
    return int(match[1]), int(match[2])


def _unknown(model: Model | None) -> str:
    if model is None:
        return (
            "How many tokens an image makes depends on the model: name one (--model), or state "
            "them (--image-tokens)."
        )
    return (
        f"{model.published_as} is not known to read images. Leave them out, name a model that "
        "does, such as gemma-4-26b or qwen3.6-27b, or state the tokens of an image "
        "(--image-tokens)."
    )


def _of_encoder(model: Model) -> Iterator[str]:
    """Sentences on a model's encoder of images: whether it counts, and the size of its file."""
    if not model.architecture.tower:
        yield (
            f"The size of the encoder of {model.published_as} is not known: neither its time nor "
            "its memory counts."
        )
    elif model.encoder_file:
        size = memory(model.encoder_file)
        yield f"The file of the encoder (mmproj), {size} in 16 bits, counts in the memory."
