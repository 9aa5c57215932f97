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
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from itertools import islice

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, assignments, literal, read
from advisor.errors import AdvisorError, DataError
from advisor.model.architecture import Architecture, Group
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
        """The repository of exactly that name, compared without case."""
        start = self._folded.find(f"\n{name.strip().lower()},")
        if start < 0:
            return None
        return self[start + 1]

    def has_publisher(self, publisher: str) -> bool:
        """Whether a repository of a publisher is listed, compared without case."""
        return bool(publisher) and f"\n{publisher.lower()}/" in self._folded

    def ending_with(self, end: str) -> Iterator[HubRow]:
        """Repositories whose name ends so, compared without case."""
        return self._with(f"{end},", lambda row: row.name.endswith(end))

    def where(self, column: str, text: str) -> Iterator[HubRow]:
        """Repositories with a text in a column, the most downloaded first."""
        return self._with(f",{text},", lambda row: getattr(row, column) == text)

    def of_sizes(self, row: HubRow) -> Iterator[HubRow]:
        """Repositories of a row's sizes in any architecture, the most downloaded first."""
        sizes = f",{row.layers},{row.hidden},{row.heads},{row.kv_heads},"
        widths = f",{row.vocab or ''},{row.feed_forward or ''},"
        return self._with(sizes, lambda other: other.sizes == row.sizes, widths)

    def published_by(self, publishers: Iterable[str], copier: str) -> dict[str, int]:
        """Places of the first repository of some publishers, by key; of the copier's for others."""
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
        return _row(self._text[place : self._text.index("\n", place)])

    def __iter__(self) -> Iterator[HubRow]:
        return map(_row, filter(None, self._text.split("\n")))

    def _with(self, part: str, meant: Callable[[HubRow], bool], also: str = "") -> Iterator[HubRow]:
        """Repositories whose line has a part and another; only these lines are read further."""
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
    """Repositories of a row's sizes that nothing contradicts, the most downloaded first."""
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
    """A model of the package's table of built ones, as one that was fetched."""
    return RenewedModelRow(**asdict(row), downloads=0, weight_bytes=0, refused="")


# The list, of the package and of what was fetched.


@cache
def hub_list() -> HubList:
    """The list, read once."""
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
    """Models that were fetched, by name in lower case, but for those that a newer list of the
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
    """A row as a line of the list."""
    key = " ".join(take_apart(row.name).shape)
    values = (key if column == "key" else getattr(row, column, None) for column in COLUMNS)
    return ",".join(str(value or "") for value in values)


# Rules of families: keys of a config.json that follow from the family, not from the list.
#
# One row of data/models/hub_rules.csv per family. `config` holds keys of its config.json that the
# list lacks, `key=value; ...`, each where it depends on the sizes with its condition behind a
# question mark: `tie_word_embeddings=true?hidden=1024|2048`. Later ones win. `open` names a key
# that the sizes leave open and its values, `tie_word_embeddings=false|true`: the one whose
# architecture counts nearest to the stated total is taken, and marked as derived.

RULES = "models/hub_rules.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRule:
    """One row of data/models/hub_rules.csv."""

    architectures: str  # architectures in the list, separated by spaces
    model_type: str  # under which data/models/families.csv describes the family
    config: str  # keys that the list lacks, as above
    open: str  # a key that the sizes leave open, and its values, as above
    # parts that files may hold beside the text model and their weights, as `config`:
    # `tower=456010480?hidden:4096` [weights]; `layer` for a drafting layer like the last one and
    # its projection from two streams, `layer+tables` where it brings its own tables, `masks` for
    # causal masks, `scales` for those of experts in 4 bits
    beside: str

    def keys(self, row: HubRow) -> dict[str, object]:
        """The keys of `config` that hold for a repository."""
        return dict(_holding(self.config, row))

    def weights_beside(self, row: HubRow, architecture: Architecture) -> tuple[int, ...]:
        """Weights that a file may hold in addition to the text model: none, or any of its parts."""
        sums = {0}
        for value in dict(_holding(self.beside, row)).values():
            if isinstance(value, str):
                part = _counted(architecture, value)
            else:
                part = int(str(value))
            sums |= {held + part for held in sums}
        return tuple(sorted(sums))

    def tower(self, row: HubRow, architecture: Architecture) -> int:
        """Weights of an encoder of images or sound that the stated total holds; 0 for none."""
        towers = {
            int(str(value))
            for key, value in _holding(self.beside, row)
            if key.endswith(("tower", "sound")) and not isinstance(value, str)
        }
        held = row.parameters - text_parameters(row, architecture)
        return max((size for size in towers if size <= 1.01 * held), default=0)

    @property
    def choices(self) -> tuple[dict[str, object], ...]:
        """The values that the sizes leave open; one empty choice where they leave none."""
        key, _, values = self.open.partition("=")
        return tuple({key: literal(value)} for value in values.split("|") if value) or ({},)


@cache
def hub_rules() -> Mapping[str, HubRule]:
    """Rules by architecture of the list."""
    rows = read(DATA / RULES, HubRule)
    return {name: row for row in rows for name in row.architectures.split()}


def _counted(architecture: Architecture, words: str) -> int:
    """Weights of a part that follows from the architecture.

    `masks`: layers x context^2; `scales`: one for 32 weights of routed experts; `layer`: one like
    the last, 2 hidden x hidden weights before it.
    """
    if words == "scales":
        routed = (tensor for tensor in architecture.tensors if tensor.group is Group.ROUTED_EXPERTS)
        return sum(tensor.params for tensor in routed) // 32
    if words == "masks":
        return architecture.layers * (architecture.max_context or 0) ** 2
    last = architecture.layers - 1
    layer = sum(tensor.params for tensor in architecture.tensors if tensor.layer == last)
    if "tables" in words:
        tables = 2 * architecture.vocab * architecture.hidden
    else:
        tables = 0
    return layer + 2 * architecture.hidden**2 + tables


def _holding(text: str, row: HubRow) -> Iterator[tuple[str, object]]:
    for key, value in assignments(text, RULES):
        word, _, condition = value.partition("?")
        if all(_holds(part, row) for part in condition.split("&") if part):
            yield key, literal(word)


def _holds(condition: str, row: HubRow) -> bool:
    column, colon, values = condition.partition(":")
    if not colon or column not in HubRow.__slots__:
        raise DataError(f"data/{RULES}: {condition!r} must be column:value|value.")
    return str(getattr(row, column)) in values.split("|")


# Architecture of a listed repository: its sizes, and a rule of its family for the rest.

UNNAMED = "unknown"  # architecture of a row whose config.json could not be read for its name
TWINS = 64  # number of repositories of the same sizes that are looked through
NEAR = 0.02  # relative difference to the stated total within which an open value is confirmed


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A repository of the list as an architecture."""

    architecture: Architecture  # architecture
    generic: bool  # whether its family is not known, so that a classic transformer block is assumed
    # keys that the list does not state: chosen to match the stated total, or taken from a
    # repository of the same sizes
    derived: tuple[str, ...]
    alike: str = "those of Llama"  # layers that those of an unknown family are counted as
    configured: tuple[str, ...] = ()  # remarks on its own config.json, where that describes it


@lru_cache(maxsize=256)
def listed(row: HubRow) -> Listed:
    """The architecture of a listed repository, unless its sizes are missing or contradict."""
    fetched = by_config().get(row.name.casefold())
    if fetched is not None and not fetched.refused:
        return configured(fetched)
    row = _with_family(row)
    rule = hub_rules().get(row.architecture)
    same = None if rule else _built_alike(row)
    if same is not None:
        return configured(replace(as_fetched(same), name=row.name))
    named = row.architecture != UNNAMED
    known = named and (rule is not None or is_described(row.architecture))
    row, filled = _with_experts(row)
    alike = None if known else _alike(row)
    if alike is not None:
        row = replace(row, architecture=alike.architecture)
        rule = hub_rules().get(alike.architecture)
    try:
        built = _built(row, rule)
    except AdvisorError:
        # A size of this family that its rule does not cover.
        known = False
        rule = None
        built = _built(replace(row, architecture=UNNAMED), None)
    chosen, choice = _nearest(built, row, rule)
    source = f"list of Hugging Face models of {READ}, {row.name}"
    tower = rule.tower(row, chosen) if rule and counts_weights(row) and is_unpacked(row) else 0
    return Listed(
        architecture=replace(
            chosen,
            source=source,
            shape_uncertainty=0.0 if known else Architecture.GUESSED_SHAPE,
            tower=tower,
        ),
        generic=not known,
        derived=(*filled, *choice),
        alike=_counted_as(row, alike),
    )


def _alike(row: HubRow) -> HubRow | None:
    """Repository of a family with a rule that has all sizes and experts of one of an unknown
    family: the same layers under another name, most often beside an encoder of images.
    """
    return next(
        (
            other
            for other in of_sizes(row)
            if other.architecture in hub_rules()
            and (other.experts, other.experts_used) == (row.experts, row.experts_used)
        ),
        None,
    )


def _counted_as(row: HubRow, alike: HubRow | None) -> str:
    """Layers that those of an unknown family are counted as, in words."""
    if alike is not None:
        return f"those of {alike.name}, which has all of its sizes"
    if _seems_latent(row):
        return LATENT
    return OF_LLAMA


def _built_alike(row: HubRow) -> BuiltModelRow | None:
    """Built model of the family and sizes of a listed one, as its copies have them."""
    alike = (each for each in built_models().values() if each.architecture == row.architecture)
    sizes = (row.layers, row.hidden, row.heads, row.vocab, row.feed_forward, row.experts)
    return next(
        (
            each
            for each in alike
            if (each.layers, each.hidden, each.heads, each.vocab, each.feed_forward, each.experts)
            == sizes
        ),
        None,
    )


BUILT_BY = "https://github.com/huggingface/transformers/"  # source of rows that a library builds


def configured(row: RenewedModelRow) -> Listed:
    """A fetched repository as its own config.json describes it."""
    from advisor.model.config.by_tensors import from_text
    from advisor.model.config.read import describe, describe_by_tensors

    if row.tensors:
        described = describe_by_tensors(row.config, row.name, from_text(row.tensors))
    else:
        described = describe(row.config, row.name)
    architecture = described.architecture
    if row.source.startswith(BUILT_BY):
        about = f"Its layers are those that its family has in transformers, read on {row.date}."
    else:
        about = f"Its sizes are from its config.json, read on {row.date}."
    return Listed(
        architecture=replace(architecture, source=row.source),
        generic=architecture.shape_uncertainty > 0,
        derived=(),
        configured=(about, *described.notes),
    )


OF_LLAMA = "those of Llama"
LATENT = "those of DeepSeek-V3, whose cache is latent"
LATENT_HEADS = 24
LATENT_SINCE = "2024"
"""Heads of keys and values, as many as queries, and year from which a model with experts is taken
to have a latent cache: a config.json of such attention states its query heads for both."""


def _seems_latent(row: HubRow) -> bool:
    """Whether a row of an unknown family shows the signs of latent attention."""
    alike = row.kv_heads == row.heads and row.heads >= LATENT_HEADS
    return alike and row.experts > 1 and row.released >= LATENT_SINCE


def is_described(architecture: str) -> bool:
    """Whether config.json files of an architecture are understood, without a rule for the list."""
    from advisor.model.config.values import families

    family = families().get(architecture)
    return family is not None and not family.refused


def _built(row: HubRow, rule: HubRule | None) -> list[tuple[Architecture, Mapping[str, object]]]:
    """Architectures for all values of an open key."""
    from advisor.model.config.read import describe

    return [
        (describe(_config(row, rule) | choice, row.name).architecture, choice)
        for choice in (rule.choices if rule else ({},))
    ]


def text_parameters(row: HubRow, architecture: Architecture) -> int:
    """Stated total of the text model [weights].

    The list does not tell whether a total includes vision towers and drafting layers, so the sum of
    such parts that brings it nearest to the computed total is subtracted.
    """
    rule = hub_rules().get(_with_family(row).architecture)
    if rule:
        beside = rule.weights_beside(row, architecture)
    else:
        beside = (0,)
    totals = (row.parameters - part for part in beside)
    return min(totals, key=lambda text: abs(text - architecture.params))


def _config(row: HubRow, rule: HubRule | None) -> dict[str, object]:
    if row.experts > 1:
        width = "moe_intermediate_size"
    else:
        width = "intermediate_size"
    stated = {
        "hidden_size": row.hidden,
        "num_hidden_layers": row.layers,
        "num_attention_heads": row.heads,
        "num_key_value_heads": row.kv_heads,
        "head_dim": row.head_dim,
        "vocab_size": row.vocab,
        width: row.feed_forward,
        "shared_expert_intermediate_size": row.shared_feed_forward,
        "num_experts": row.experts,
        "num_experts_per_tok": row.experts_used,
        "max_position_embeddings": row.max_context,
    }
    values: dict[str, object] = {key: value for key, value in stated.items() if value}
    if row.context and not row.max_context:
        values["max_position_embeddings"] = None
    if rule is None and not is_described(row.architecture) and _seems_latent(row):
        own = "deepseek_v3"
    elif is_described(row.architecture):
        own = row.architecture
    else:
        own = "llama"
    values["model_type"] = rule.model_type if rule else own
    return values | (rule.keys(row) if rule else {})


def _with_family(row: HubRow) -> HubRow:
    """Row with the family of a repository of the same sizes, if it states none."""
    if row.architecture != UNNAMED:
        return row
    twins = (twin for twin in of_sizes(row) if twin.architecture in hub_rules())
    named = (twin.architecture for twin in twins if twin.architecture != UNNAMED)
    return replace(row, architecture=next(named, UNNAMED))


def _with_experts(row: HubRow) -> tuple[HubRow, tuple[str, ...]]:
    """Row with the experts of a repository of the same sizes, if a conversion left them out."""
    if row.experts:
        return row, ()
    twin = next((other for other in _twins(row) if other.experts), None)
    if twin is None:
        return row, ()
    return replace(row, experts=twin.experts, experts_used=twin.experts_used), ("experts",)


def _twins(row: HubRow) -> Iterator[HubRow]:
    """The most downloaded repositories of a row's sizes: a base has hundreds of fine-tunes."""
    alike = of_sizes(row)
    return islice((other for other in alike if other.architecture == row.architecture), TWINS)


def _nearest(
    built: list[tuple[Architecture, Mapping[str, object]]], row: HubRow, rule: HubRule | None
) -> tuple[Architecture, Mapping[str, object]]:
    """Architecture nearest to the stated total of the row, or of a row of the same sizes; packed
    ones, which count words and scales, tell nothing.
    """
    if len(built) == 1 or rule is None:
        return built[0]
    unpacked = filter(is_unpacked, (row, *_twins(row)))
    alike = sorted(unpacked, key=lambda other: (other is not row, other.key != row.key))
    for other in filter(counts_weights, alike):
        best = min(built, key=lambda pair: _distance(pair[0], other))
        if _distance(best[0], other) < NEAR:
            return best
    return built[0]


def _distance(architecture: Architecture, row: HubRow) -> float:
    return abs(architecture.params / text_parameters(row, architecture) - 1)


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
    """Whether files hold one number per weight, by the model's name."""
    return names_no_packing(row.name)


def names_no_packing(name: str) -> bool:
    """Whether a name has no packed format and no drafting head."""
    return not PACKED.search(name)


def counts_weights(row: HubRow) -> bool:
    """Whether the stated total was counted from the repository's files."""
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
