"""Offline list of models of the Hugging Face Hub, by name and by the parts of the name.

data/models/hub_models.csv.xz has one line per repository, the most downloaded first; only the
lines that are asked for are read further. The list is that of llmfit (MIT, see
data/models/LICENSE), read on 2026-11-22; `python -m lab.hub_models` makes a
new one. data/models/more_models.csv has those that it lacks, each with its source. Models that a
person fetched (`RenewedModelRow`) follow them, and are described by their own config.json.
"""

import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError
from advisor.model.by_name.names import take_apart
from advisor.model.config.values import BuiltModelRow, DescribedModelRow, built_models

FILE = DATA / "models" / "hub_models.csv.xz"
READ = "2026-11-22"  # date of the list


FALLBACK_CONTEXT = 4096
FALLBACK_SINCE = "2025"
"""Context that llmfit writes where a config.json states none, and the year from which no model is
made for so few tokens (scripts/scrape_hf_models.py at 3f44fd3)."""
STRETCHED = 131_072
COUNTED_ONCE = {
    "llama": (8, 32),
    "gemma3": (8,),
    "gemma3_text": (8,),
    "qwen3": (4,),
}
"""Tokens that families were made for with their positions stretched, and the factors of that: a
config.json states both, and the list has the product (Llama 3.1 and 3.2, Gemma 3, DeepSeek-R1-0528-
Qwen3-8B). THUDM/slime, scripts/models/llama3.1-8B.sh: 131072 and 8.0."""
LONG = re.compile(r"(?<![a-z0-9.])\d+(?:k|m)(?![a-z0-9])", re.IGNORECASE)
"""A context in a name, which is meant: `Llama-3-8B-Instruct-Gradient-1048k`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRow:
    """Repository in the list."""

    name: str  # `owner/name`
    key: str = ""  # tokens of the name that can tell shapes apart, by `names.take_apart`
    architecture: str  # `model_type` of its config.json
    parameters: int  # weights that its files hold; packed words where it is quantized
    layers: int  # repeating layers
    hidden: int  # width of the residual stream
    heads: int  # query heads
    kv_heads: int  # key and value heads
    head_dim: int  # values per head; hidden / heads where the config has none
    vocab: int  # rows of the embedding
    feed_forward: int  # width of a routed expert, or of the feed-forward of a dense model
    shared_feed_forward: int = 0  # width of the shared experts together, where stated
    experts: int = 0  # routed experts of a layer, where stated
    experts_used: int = 0  # routed experts that a token uses
    context: int  # tokens it was trained for
    released: str  # day of publication; empty where unknown

    @property
    def sizes(self) -> tuple[int, ...]:
        """Key that repositories with equal layers and widths share."""
        attention = (self.layers, self.hidden, self.heads, self.kv_heads)
        return (*attention, self.vocab, self.feed_forward)

    @property
    def max_context(self) -> int:
        """Tokens that it can take; 0 where its config.json states none."""
        if self.context == FALLBACK_CONTEXT and self.released >= FALLBACK_SINCE:
            return 0
        stretched = self.context // STRETCHED
        family = self.architecture in COUNTED_ONCE and stretched in COUNTED_ONCE[self.architecture]
        if family and self.context == stretched * STRETCHED and not LONG.search(self.name):
            return STRETCHED
        return self.context


COLUMNS = tuple(field.name for field in fields(HubRow))
TEXTS = ("name", "key", "architecture")


class HubList:
    """Lines of the list, searched as text; an index of all of them would cost more than a few
    searches.
    """

    def __init__(self, text: str) -> None:
        head, newline, lines = text.partition("\n")
        if tuple(head.split(",")) != COLUMNS:
            raise DataError(f"{FILE.name} must have the columns {', '.join(COLUMNS)}, not {head}.")
        self._text = newline + lines
        self._folded = self._text.lower()

    def named(self, name: str) -> HubRow | None:
        """Repository of exactly that name, compared without case."""
        start = self._folded.find(f"\n{name.strip().lower()},")
        if start < 0:
            return None
        return self[start + 1]

    def has_publisher(self, publisher: str) -> bool:
        """Whether a repository of a publisher is listed, compared without case."""
        return bool(publisher) and f"\n{publisher.lower()}/" in self._folded

    def ending_with(self, end: str) -> Iterator[HubRow]:
        """Repositories whose name has an ending, compared without case."""
        return self._with(f"{end},", lambda row: row.name.endswith(end))

    def where(self, column: str, text: str) -> Iterator[HubRow]:
        """Repositories with a text in a column, the most downloaded first; none without a text,
        for which every line with an empty cell would be read.
        """
        if not text:
            return iter(())
        return self._with(f",{text},", lambda row: getattr(row, column) == text)

    def of_sizes(self, row: HubRow) -> Iterator[HubRow]:
        """Repositories of a row's sizes in any architecture, the most downloaded first."""
        sizes = f",{row.layers},{row.hidden},{row.heads},{row.kv_heads},"
        widths = f",{row.vocab or ''},{row.feed_forward or ''},"
        return self._with(sizes, lambda other: other.sizes == row.sizes, widths)

    def published_by(self, publishers: Iterable[str], copier: str) -> dict[str, int]:
        """Places of repositories by key: the first of the publishers, or that of the copier where
        they have none.
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
        """Repository of a place."""
        return _row(self._text[place : self._text.index("\n", place)])

    def __iter__(self) -> Iterator[HubRow]:
        return map(_row, filter(None, self._text.split("\n")))

    def _with(self, part: str, meant: Callable[[HubRow], bool], also: str = "") -> Iterator[HubRow]:
        """Repositories whose line has a text, and `also` another; other lines are not parsed."""
        place = self._text.find(part)
        while place >= 0:
            start = self._text.rfind("\n", 0, place) + 1
            end = self._text.index("\n", place)
            if self._text.find(also, start, end) >= 0 and meant(row := self[start]):
                yield row
            place = self._text.find(part, place + 1)


@lru_cache(maxsize=4096)
def _row(line: str) -> HubRow:
    name, key, architecture, *numbers, released = line.split(",")
    sizes = dict(zip(COLUMNS[len(TEXTS) : -1], (int(text or 0) for text in numbers), strict=True))
    return HubRow(name=name, key=key, architecture=architecture, released=released, **sizes)


# Rows that cannot be right: no other model takes sizes, experts or totals from them.

DOUBTED = "refresh/doubted_models.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class DoubtedModelRow:
    """One row of data/refresh/doubted_models.csv, which `python -m lab.listed_models` writes."""

    name: str  # repository, `owner/name`
    why: str  # what its sizes contradict: its files, its name or the base that it packs


@cache
def doubted_models() -> Mapping[str, str]:
    """Reasons by name of the listed models whose sizes contradict something."""
    return {row.name: row.why for row in read(DATA / DOUBTED, DoubtedModelRow)}


def of_sizes(row: HubRow) -> Iterator[HubRow]:
    """Repositories with the sizes of a row and without doubts, the most downloaded first."""
    doubted = doubted_models()
    return (other for other in hub_list().of_sizes(row) if other.name not in doubted)


# Models that a person fetched from the Hub, each with its own config.json, and the shapes of its
# tensors where that does not tell them: described as if the Hub were asked now.

TABLE = "models"  # renewed table of models (`refresh`)


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewedModelRow(DescribedModelRow):
    """One row of a renewed table of models, with weights as the Hub counts them."""

    downloads: int  # of the last month
    weight_bytes: int  # bytes of its safetensors files
    refused: str  # why it cannot be described; empty where it can
    config: str  # its config.json
    tensors: str  # shapes of its tensors, where its config.json does not tell them; else empty
    date: str  # day on which it was read
    source: str  # address of its config.json at a commit


@cache
def renewed_models() -> Mapping[str, RenewedModelRow]:
    """Rows by name in lower case, the most downloaded first."""
    rows = renewed.rows(TABLE, RenewedModelRow, beside=True)
    return {row.name.casefold(): row for row in rows}


def as_fetched(row: BuiltModelRow) -> RenewedModelRow:
    """Model of the package's table of built models, in the form of a fetched one."""
    return RenewedModelRow(**asdict(row), downloads=0, weight_bytes=0, refused="")


# The list, of the package and of what was fetched.


@cache
def hub_list() -> HubList:
    """List, read once."""
    text = shipped()
    folded = text.lower()
    fetched = (
        row for name, row in by_config().items() if not row.refused and f"\n{name}," not in folded
    )
    return HubList(text + "".join(f"{_line(row)}\n" for row in fetched))


@cache
def shipped() -> str:
    """Text of the lists in the package."""
    try:
        text = lzma.decompress(FILE.read_bytes()).decode()
    except (OSError, lzma.LZMAError) as error:
        raise DataError(f"{FILE} cannot be read ({error}); reinstall the package.") from error
    return text + "".join(f"{_line(row)}\n" for row in more_rows())


@cache
def by_config() -> Mapping[str, RenewedModelRow]:
    """Models with a config.json of their own, built or fetched, by name in lower case."""
    built = {name: as_fetched(row) for name, row in built_models().items()}
    return {**built, **fetched_models()}


@cache
def fetched_models() -> Mapping[str, RenewedModelRow]:
    """Models that were fetched, by name in lower case, without those that a newer list of the
    package has.
    """
    rows = renewed_models()
    if all(row.date >= READ for row in rows.values()):
        return rows
    folded = shipped().lower()
    return {
        name: row for name, row in rows.items() if row.date >= READ or f"\n{name}," not in folded
    }


@cache
def more_rows() -> tuple[HubRow, ...]:
    """Gated or older repositories that the list lacks, without their keys."""
    return read(DATA / "models" / "more_models.csv", HubRow)


def _line(row: HubRow | RenewedModelRow) -> str:
    """Row as a line of the list."""
    key = " ".join(take_apart(row.name).shape)
    values = (key if column == "key" else getattr(row, column, None) for column in COLUMNS)
    return ",".join(str(value or "") for value in values)


# Totals of the list: counted from files, or estimated by a formula.
#
# If a repository's files do not state their weights, or state less than half of what its sizes
# need, as packed files do, llmfit estimates the total (scripts/scrape_hf_models.py at
# github.com/AlexsJones/llmfit, commit 3f44fd3, read on 2026-11-22). Such a total adds no
# information to the sizes, and its formulas leave out norms, biases and all layers of other kinds.

ROUNDED = 100_000_000  # unit of rounded totals, which come from a name or a model card [weights]
PACKED = re.compile(
    r"awq|gptq|int[48]|[2-8][-_ ]?bit|fp[48]|mlx|w\da\d|gguf|exl|bnb|quant|oq\d|jang|npu|hqq"
    r"|autoround|mxfp|nf[34]|aqlm|q4|qat|onnx|ternary|bitnet|1\.58|draft|dspark|dflash|eagle|optiq",
    re.IGNORECASE,
)


def is_unpacked(row: HubRow) -> bool:
    """Whether the files of a model have a number for every weight, by its name."""
    return names_no_packing(row.name)


def names_no_packing(name: str) -> bool:
    """Whether a name has no packed format and no drafting head."""
    return not PACKED.search(name)


def counts_weights(row: HubRow) -> bool:
    """Whether the stated number of weights was counted from the repository's files."""
    worked_out = (_by_widths(row), _by_tensors(row))
    return row.parameters % ROUNDED != 0 and row.parameters not in worked_out


def _by_widths(row: HubRow) -> int:
    """`layers x hidden^2 x (4 + 2 x width / hidden) + vocab x hidden` [weights].

    llmfit's formula for repositories without metadata (`_estimate_params_from_config`).
    """
    if row.feed_forward and row.hidden:
        ratio = row.feed_forward / row.hidden
    else:
        ratio = 4.0
    layers = row.layers * row.hidden * row.hidden * (4 + 2 * ratio)
    return int(layers + row.vocab * row.hidden)


def _by_tensors(row: HubRow) -> int:
    """Attention, gated feed-forward or experts with their router, and both tables [weights].

    llmfit's formula for packed repositories (`estimate_params_from_arch`).
    """
    attention = 2 * (row.heads + row.kv_heads) * row.head_dim * row.hidden
    width = row.shared_feed_forward + row.experts * row.feed_forward
    experts = 3 * row.hidden * width + row.experts * row.hidden
    dense = 3 * row.hidden * row.feed_forward
    return row.layers * (attention + (experts if row.experts else dense)) + 2 * (
        row.vocab * row.hidden
    )
