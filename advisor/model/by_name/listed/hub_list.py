"""Offline list of models of the Hugging Face Hub, by name and by the parts of the name.

data/models/hub_models.csv.xz has one line per repository, the most downloaded first; only the
lines that are asked for are read further. The list is that of llmfit (MIT, see
data/models/LICENSE), read on 2026-11-22; `python -m advisor.model.by_name.listed.refresh` makes a
new one. data/models/more_models.csv has those that it lacks, each with its source.
"""

import lzma
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError
from advisor.model.by_name.names import take_apart

FILE = DATA / "models" / "hub_models.csv.xz"
READ = "2026-11-22"
"""Date of the list."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRow:
    """One listed repository."""

    name: str  # `owner/name`
    key: str  # tokens of the name that can tell shapes apart, by `names.take_apart`
    architecture: str  # `model_type` of its config.json
    parameters: int  # weights that its files hold; packed words where it is quantized
    layers: int  # repeating layers
    hidden: int  # width of the residual stream
    heads: int  # query heads
    kv_heads: int  # key and value heads
    head_dim: int  # values per head; hidden / heads where the config has none
    vocab: int  # rows of the embedding
    feed_forward: int  # width of a routed expert, or of the feed-forward of a dense model
    shared_feed_forward: int  # width of the shared experts together, where stated
    experts: int  # routed experts of a layer, where stated
    experts_used: int  # routed experts that a token uses
    context: int  # tokens it was trained for
    released: str  # day of publication; empty where unknown

    @property
    def sizes(self) -> tuple[int, ...]:
        """Key that repositories with equal layers and widths share."""
        attention = (self.layers, self.hidden, self.heads, self.kv_heads)
        return (*attention, self.vocab, self.feed_forward)


@dataclass(frozen=True, kw_only=True, slots=True)
class MoreRow:
    """One row of data/models/more_models.csv: a gated or older repository that the list lacks,
    with the columns of `HubRow` that it has and the page that gives them.
    """

    name: str
    architecture: str
    parameters: int
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    feed_forward: int
    experts: int | None
    experts_used: int | None
    context: int
    released: str
    source: str
    source_date: str


COLUMNS = tuple(field.name for field in fields(HubRow))
TEXTS = ("name", "key", "architecture")


class HubList:
    """The lines, searched as text: an index of all of them would cost more than a few searches."""

    def __init__(self, text: str) -> None:
        head, _, _ = text.partition("\n")
        if tuple(head.split(",")) != COLUMNS:
            raise DataError(f"{FILE.name} must have the columns {', '.join(COLUMNS)}, not {head}.")
        self._text = text
        self._folded = text.lower()

    def named(self, name: str) -> HubRow | None:
        """The repository of exactly that name, compared without case."""
        start = self._folded.find(f"\n{name.strip().lower()},")
        return None if start < 0 else self._at(start + 1)

    def has_publisher(self, publisher: str) -> bool:
        """Whether a repository of a publisher is listed, compared without case."""
        return bool(publisher) and f"\n{publisher.lower()}/" in self._folded

    def ending_with(self, end: str) -> Iterator[HubRow]:
        """Repositories whose name ends so, compared without case."""
        return self._with(f"{end},", lambda row: row.name.endswith(end))

    def with_key(self, key: str) -> Iterator[HubRow]:
        """Repositories whose name says the same, the most downloaded first."""
        return self._with(f",{key},", lambda row: row.key == key)

    def of_architecture(self, architecture: str) -> Iterator[HubRow]:
        """Repositories of an architecture, the most downloaded first."""
        return self._with(f",{architecture},", lambda row: row.architecture == architecture)

    def of_shape(self, row: HubRow) -> Iterator[HubRow]:
        """Repositories of a row's architecture and sizes, the most downloaded first."""
        alike = self._of_sizes(row, f",{row.architecture},")
        return (other for other in alike if other.architecture == row.architecture)

    def of_sizes(self, row: HubRow) -> Iterator[HubRow]:
        """Repositories of a row's sizes in any architecture, the most downloaded first."""
        return self._of_sizes(row, "")

    def _of_sizes(self, row: HubRow, also: str) -> Iterator[HubRow]:
        sizes = f",{row.layers},{row.hidden},{row.heads},{row.kv_heads},"
        widths = f",{row.vocab or ''},{row.feed_forward or ''},"
        return self._with(sizes, lambda other: other.sizes == row.sizes, widths, also)

    def published_by(self, publishers: Iterable[str], copier: str = "") -> dict[str, int]:
        """Places of the first repository of some publishers, by key; of the copier's for others.

        Args:
            publishers: publishers.
            copier: publisher of copies of models that they do not list.
        """
        wanted = frozenset(publishers)
        index: dict[str, int] = {}
        copies: dict[str, int] = {}
        start = 0
        for line in self._text.split("\n"):
            publisher = line.partition("/")[0]
            if publisher in wanted:
                index.setdefault(line.split(",", 2)[1], start)
            elif publisher == copier:
                copies.setdefault(line.split(",", 2)[1], start)
            start += len(line) + 1
        return copies | index

    def __getitem__(self, place: int) -> HubRow:
        """The repository of a place."""
        return self._at(place)

    def __iter__(self) -> Iterator[HubRow]:
        for line in self._text.splitlines()[1:]:
            yield _row(line)

    def _with(self, part: str, meant: Callable[[HubRow], bool], *also: str) -> Iterator[HubRow]:
        """Repositories whose line has a part and others; only these lines are read further."""
        place = self._text.find(part)
        while place >= 0:
            start, end = self._text.rfind("\n", 0, place) + 1, self._text.index("\n", place)
            if all(self._text.find(other, start, end) >= 0 for other in also):
                row = self._at(start)
                if meant(row):
                    yield row
            place = self._text.find(part, place + 1)

    def _at(self, start: int) -> HubRow:
        return _row(self._text[start : self._text.index("\n", start)])


@lru_cache(maxsize=4096)
def _row(line: str) -> HubRow:
    name, key, architecture, *numbers, released = line.split(",")
    sizes = dict(zip(COLUMNS[len(TEXTS) : -1], (int(text or 0) for text in numbers), strict=True))
    return HubRow(name=name, key=key, architecture=architecture, released=released, **sizes)


@cache
def hub_list() -> HubList:
    """The list, read once.

    Raises:
        DataError: the file is missing or broken.
    """
    try:
        text = lzma.decompress(FILE.read_bytes()).decode()
    except (OSError, lzma.LZMAError) as error:
        raise DataError(f"{FILE} cannot be read ({error}); reinstall the package.") from error
    return HubList(text + "".join(f"{_line(row)}\n" for row in more_rows()))


@cache
def more_rows() -> tuple[MoreRow, ...]:
    """Repositories that the list lacks."""
    return read(DATA / "models" / "more_models.csv", MoreRow)


def _line(row: MoreRow) -> str:
    """A row as a line of the list."""
    key = " ".join(take_apart(row.name).shape)
    values = (key if column == "key" else getattr(row, column, None) for column in COLUMNS)
    return ",".join(str(value or "") for value in values)
