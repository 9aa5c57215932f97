"""Base model of a fine-tune or conversion, by the words of its name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import spellings
from advisor.errors import AdvisorError
from advisor.model import catalog
from advisor.model.architecture import Architecture, Group
from advisor.model.by_name.hub_list import (
    HubRow,
    counts_weights,
    hub_list,
    hub_rules,
    is_described,
    is_unpacked,
    listed,
)
from advisor.model.by_name.names import ModelName, is_size, take_apart, words
from advisor.model.spec import ArchitectureSpec

# Known models by the parts of their names: rows of the catalogue and of the Hub's list.
#
# The catalogue comes first, then repositories of publishers of their own models.

KnownRow = ArchitectureSpec | HubRow
MIRROR = "unsloth"
"""Publisher of copies of nearly every model, in 16 bits too."""
SHORTEST_LAYERS = 8
"""Number of layers below which a model with a wide residual stream is a drafting model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherNameRow:
    """One row of data/models/other_names.csv: a name that does not say its base, and the base by
    its name in the catalogue or the list, with the page that says so.
    """

    name: str
    model: str
    source: str
    source_date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MakerRow:
    """One row of data/models/makers.csv: who publishes models of their own."""

    publisher: str
    name: str = ""  # name that people know; empty where it is the publisher's


@cache
def catalogue_keys() -> dict[str, ArchitectureSpec]:
    """Rows of the catalogue by the parts of their names and aliases; of "DeepSeek-V3/R1" the part
    behind the slash is no name.
    """
    index: dict[str, ArchitectureSpec] = {}
    for row in catalog.model_rows().values():
        names = (name for name in spellings(row) if "/" not in name or name == row.hf_id.casefold())
        for spelling in names:
            index.setdefault(" ".join(take_apart(spelling).shape), row)
    return index


@cache
def other_names() -> dict[str, str]:
    """Models by the parts of names that do not say their base."""
    rows = read(DATA / "models" / "other_names.csv", OtherNameRow)
    return {" ".join(take_apart(row.name).shape): row.model for row in rows}


def of_other_name(name: ModelName) -> KnownRow | None:
    """Base model of a name that does not say it."""
    return _other_base(" ".join(name.shape))


def _other_base(key: str) -> KnownRow | None:
    base = other_names().get(key)
    if base is None:
        return None
    return catalog.model_rows().get(base) or hub_list().named(base)


@cache
def makers() -> tuple[str, ...]:
    """Publishers of models of their own."""
    return tuple(row.publisher for row in read(DATA / "models" / "makers.csv", MakerRow))


@cache
def maker(repository: str) -> str:
    """Maker of a model by its repository, as people call it."""
    publisher = repository.split("/")[0]
    rows = read(DATA / "models" / "makers.csv", MakerRow)
    return next((row.name for row in rows if row.publisher == publisher), "") or publisher


@cache
def makers_keys() -> dict[str, int]:
    """Indices of the publishers' repositories in the list, by the parts of their names; copies
    stand for models whose own repositories are gated.
    """
    published = hub_list().published_by(makers(), MIRROR)
    return {key: place for key, place in published.items() if not _names_a_draft(key)}


@cache
def keys_by_words() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Keys of the catalogue and of publishers' repositories by their sorted words."""
    index: dict[tuple[str, ...], tuple[str, ...]] = {}
    for key in dict.fromkeys((*catalogue_keys(), *other_names(), *makers_keys())):
        words_of_key = tuple(sorted(key.split()))
        index[words_of_key] = (*index.get(words_of_key, ()), key)
    return index


@cache
def _drafting_words() -> frozenset[str]:
    return frozenset(word for word, kind in words().items() if kind == "draft")


def _names_a_draft(key: str) -> bool:
    """Whether the name of a repository is that of a drafting model."""
    return not _drafting_words().isdisjoint(key.split())


def _made_by_maker(key: str) -> HubRow | None:
    place = makers_keys().get(key)
    row = None if place is None else hub_list()[place]
    return row if row is not None and not is_drafting(row) else None


def base_of(key: str) -> KnownRow | None:
    """Base model with these parts in its name."""
    return catalogue_keys().get(key) or _made_by_maker(key) or _other_base(key)


def is_drafting(row: HubRow) -> bool:
    """Whether a model only drafts: by architecture or name, or with a few very wide layers."""
    drafting = "draft" in take_apart(row.architecture).kinds or _names_a_draft(row.key)
    few = row.layers < SHORTEST_LAYERS and row.hidden >= 2048
    return drafting or row.architecture.endswith(("_assistant", "_mtp")) or few


def of_month(name: ModelName, month: str) -> tuple[KnownRow, ...]:
    """Makers' models of a month, `-2512` at the end of their names, with the words of a name."""
    typed = {token for token in name.shape if token.isalpha() or is_size(token)}
    rows: dict[str, KnownRow] = {
        row.name: row
        for row in hub_list().ending_with(f"-{month}")
        if row.name.split("/")[0] in makers()
    }
    specs = catalog.model_rows().values()
    rows |= {row.hf_id: row for row in specs if row.hf_id.endswith(f"-{month}")}
    return tuple(row for full, row in rows.items() if typed <= set(take_apart(full).shape))


def plainest(key: str, name: ModelName) -> HubRow | None:
    """Publisher's repository with the typed name, else the one with the shortest name."""
    rows = [row for row in hub_list().with_key(key) if row.name.split("/")[0] in makers()]
    row = min(
        (row for row in rows if not is_drafting(row)),
        key=lambda row: (take_apart(row.name).identity != name.identity, len(row.name)),
        default=None,
    )
    return None if row is None else better_described(row)


def better_described(row: HubRow) -> HubRow:
    """Repository with the same words in its name and the same layers, where a packed one, or one
    of a family without a rule, tells less of them.
    """
    alike = [
        other
        for other in hub_list().with_key(row.key)
        if (other.layers, other.hidden) == (row.layers, row.hidden) and not is_drafting(other)
    ]
    return min((row, *alike), key=_tells_less)


def _tells_less(row: HubRow) -> tuple[bool, bool]:
    ruled = row.architecture in hub_rules() or is_described(row.architecture)
    return not ruled, not is_unpacked(row)


def most_downloaded(key: str) -> HubRow | None:
    """Most downloaded repository with these parts in its name, of any publisher."""
    rows = (row for row in hub_list().with_key(key) if not is_drafting(row))
    row = next(rows, None)
    return None if row is None else better_described(row)


# Similar models, for an incomplete or misspelled name.

VERSION_IN_NAME = re.compile(r"\d+(?:\.\d+)*")

OFFERED = 5
"""Number of similar names that are offered."""
LEAST_ALIKE = 60
"""Smallest similarity of an offered name [%]."""
ONE_LETTER = 92
"""Similarity above which numbers may differ, as a digit may be mistyped [%]."""
MISSPELLED = 85
"""Similarity above which a name counts as misspelled, not as a new model [%]."""


def close_models(name: ModelName) -> tuple[str, ...]:
    """Names that may be meant, likeliest first."""
    rows = candidates(name.shape)
    if rows:
        return tuple(dict.fromkeys(row.name for row in rows))[:OFFERED]
    return _spelled_alike(name, MISSPELLED if any(map(is_size, name.shape)) else LEAST_ALIKE)


def _spelled_alike(name: ModelName, least: float) -> tuple[str, ...]:
    """Names with the same numbers whose words are spelled alike, by rapidfuzz."""
    from rapidfuzz import fuzz, process  # 60 ms that only a misspelled name is worth

    known = list(dict.fromkeys((*catalogue_keys(), *makers_keys())))
    numbers = {_number(token) for token in name.shape} - {""}
    spelled = [key for key in known if all(number in key for number in numbers)]
    alike = [key for key in spelled if numbers <= {_number(part) for part in key.split()}]
    typed = " ".join(name.shape)
    scored = process.extract(
        typed, alike, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=least
    ) or process.extract(
        typed, known, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=ONE_LETTER
    )
    rows = (base_of(key) for key, *_ in scored)
    return tuple(dict.fromkeys(row.name for row in rows if row is not None))


def _number(token: str) -> str:
    return token.rstrip("bmtk") if any(map(str.isdigit, token)) else ""


def candidates(tokens: tuple[str, ...]) -> tuple[KnownRow, ...]:
    """Models with all words and numbers of a name; the catalogue's first, then by downloads."""
    if not tokens or all(map(is_size, tokens)):
        return ()
    typed = " ".join(tokens)
    known = (*catalogue_keys(), *makers_keys())
    keys = [key for key in known if _has_all(key, tokens) and _has_versions(key, tokens)]
    exact = [key for key in keys if set(tokens) <= set(key.split())]
    rows = ((key, row) for key in exact or keys if (row := base_of(key)) is not None)
    newest = sorted(rows, key=lambda pair: pair[1].released, reverse=True)
    likeliest = sorted(newest, key=lambda pair: (not pair[0].startswith(typed), pair[0].count(" ")))
    return tuple({row.name: row for _, row in likeliest}.values())


def _has_all(key: str, tokens: tuple[str, ...]) -> bool:
    if not all(token in key for token in tokens):
        return False
    parts = key.split()
    return all(
        any(token == part or (is_size(part) and part[:-1] == token) for part in parts)
        for token in tokens
    )


def _has_versions(key: str, tokens: tuple[str, ...]) -> bool:
    """Whether the versions of a name stand behind the same words in a key, sizes apart:
    "devstral-2" is Devstral-Small-2, "Qwen4" is not Qwen-SEA-LION-v4.
    """
    kinds = words()
    named = [token for token in tokens if not is_size(token)]
    parts = [part for part in key.split() if not is_size(part)]
    kept = [part for part in parts if part in named or kinds.get(part) != "variant"]
    versions = [pair for pair in pairwise(named) if VERSION_IN_NAME.fullmatch(pair[1])]
    return all(pair[1] not in kept or pair in pairwise(kept) for pair in versions)


NOT_THEIR_BASE = frozenset({"cut", "merge", "draft"})
LIKE_A_VARIANT = 75
"""Similarity above which a word may be a misspelled variant of a family [%]."""
VERSION = re.compile(r"\d(?:\.\d+)*")


def base_row(name: ModelName) -> KnownRow | None:
    """Base model with the family, version and sizes of a name; None where none is certain."""
    if name.kinds & NOT_THEIR_BASE:
        return None
    start = " ".join(name.shape)
    for key, left in _parts(name.shape):
        row = base_of(key) if _may_be_left(key, left) else None
        if row is not None and _names_a_variant(left) and candidates(name.shape):
            return None
        if row is not None and left and _is_any_version(key, row):
            return None
        if row is not None and (len(key.split()[0]) > 1 or start.startswith(key)):
            return row
    return _base_around(name.shape)


def _is_any_version(key: str, row: KnownRow) -> bool:
    """Whether a family and size alone may mean another shape: "Impish-Qwen-14B" may be of any Qwen,
    whose versions of that size differ.
    """
    family, _, size = key.partition(" ")
    if not is_size(size):
        return False
    versions = (other.split() for other in (*catalogue_keys(), *makers_keys()))
    rows = (
        base_of(" ".join(words_of_key))
        for words_of_key in versions
        if len(words_of_key) == 3
        and (words_of_key[0], words_of_key[2]) == (family, size)
        and VERSION.fullmatch(words_of_key[1])
    )
    shape = (row.layers, row.hidden, row.kv_heads)
    return any(other and (other.layers, other.hidden, other.kv_heads) != shape for other in rows)


def _names_a_variant(left: tuple[str, ...]) -> bool:
    """Whether words left over name a variant, as "vl": listed ones are offered then."""
    return any(words().get(token) == "variant" for token in left)


def _base_around(tokens: tuple[str, ...]) -> KnownRow | None:
    """Base model whose family, version and size are the only ones of a name, with other words
    between them: "Llama-Doctor-3.2-3B".
    """
    versions = [token for token in tokens if VERSION.fullmatch(token)]
    sizes = [token for token in tokens if is_size(token)]
    family = [token for token in tokens if token in families()]
    if [len(versions), len(sizes), len(family)] != [1, 1, 1] or tokens[0] != family[0]:
        return None
    if _names_a_variant(tokens):
        return None
    return base_of(" ".join((*family, *versions, *sizes)))


@cache
def families() -> frozenset[str]:
    """First words of the catalogue's names."""
    return frozenset(key.split()[0] for key in catalogue_keys() if key)


def _parts(tokens: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Sequences of tokens with all sizes of the name, longest first, each with the other tokens."""
    sizes = tuple(token for token in tokens if is_size(token))
    for length in range(len(tokens), 0, -1):
        for start in range(len(tokens) - length + 1):
            run, end = tokens[start : start + length], start + length
            if _is_version_of(run, tokens[end : end + 1]):
                continue
            absent = tuple(size for size in sizes if size not in run)
            left = (token for token in (*tokens[:start], *tokens[end:]) if token not in absent)
            yield " ".join(run + absent), tuple(left)


def _is_version_of(run: tuple[str, ...], following: tuple[str, ...]) -> bool:
    """The token behind a run is the version of its last word: "llama" of "llama 5 70b" is not."""
    return run[-1].isalpha() and any(VERSION.fullmatch(token) for token in following)


def _may_be_left(key: str, left: tuple[str, ...]) -> bool:
    """Whether further words do not change the shape: the base states its size, or none is a
    variant.
    """
    parts = key.split()
    if len(parts) < 2 or not parts[0].isalpha():
        return False
    if any(map(is_size, parts)):
        return any(not is_size(part) for part in parts)
    return not any(map(_may_be_variant, left))


def _may_be_variant(token: str) -> bool:
    """Whether a token is a number or letter (`3n`, `4.6v`), or similar to a word for a size of a
    family (`air`, `flash`).
    """
    if not token.isalpha() or len(token) == 1:
        return True
    from rapidfuzz import fuzz  # 60 ms that only an unknown word beside a sizeless name is worth

    variants = (word for word, kind in words().items() if kind == "variant")
    return any(fuzz.ratio(token, word) >= LIKE_A_VARIANT for word in variants)


def spellings_of(row: KnownRow) -> list[str]:
    """Name and aliases of a model of the catalogue, name of a listed one."""
    return spellings(row) if isinstance(row, ArchitectureSpec) else [row.name]


# Months that names of models state: "mistral-large-2512" is another model than "-2407".

MONTH = re.compile(r"2[3-6](?:0[1-9]|1[0-2])")
"""Pattern of a year and month, as Mistral dates its models."""
NEAR = 2
"""Months by which a repository may be older or newer than its name says."""


def is_of_another_month(name: ModelName, row: KnownRow) -> bool:
    """Whether a model with these words has other months alone, or appeared at another time."""
    typed = months_of(name)
    if not typed or any(map(is_size, name.shape)):
        return False
    alike = [take_apart(spelling) for spelling in spellings_of(row)]
    known = [months_of(other) for other in alike if other.shape == name.shape]
    if isinstance(row, ArchitectureSpec) and known and all(months - typed for months in known):
        return True
    dated = any(months & typed for months in map(months_of, alike))
    own = take_apart(row.name).shape[:1] == name.shape[:1]
    return own and not dated and all(_months_apart(row.released, month) > NEAR for month in typed)


def _months_apart(released: str, month: str) -> int:
    """Months between the day of a publication and a month as in names; 0 where unknown."""
    if not released[5:7]:
        return 0
    years = int(released[:4]) - 2000 - int(month[:2])
    return abs(12 * years + int(released[5:7]) - int(month[2:]))


def months_of(name: ModelName) -> set[str]:
    """Months in a name."""
    return {token for token in name.tokens if MONTH.fullmatch(token)}


# Models that a name means by its words and a size that is not part of the model's own name.
#
# People and llama.cpp add the size to names that makers leave it out of: "minimax-m2.7:230b",
# "kimi-k2:1t", "phi4-mini:3.8b". llama-bench prints an architecture and a size, `deepseek2
# 30B.A3B`, which only a known model of that architecture and size can be.

NEAR_IN_SIZE = 0.06
"""A stated size may be off by this share: 230B of 228.7, 3.8B of 3.84, 1T of 1.03."""
UNITS = {"m": 1e6, "b": 1e9, "t": 1e12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)([mbt])")
EXPERTS = re.compile(r"\d+x\d+(?:\.\d+)?b")
LABEL_NEAR = 0.1
"""A label of experts may be off by this share: it is rounded to two digits, and conversions for
latent attention hold a part of its tensors twice."""
ACTIVE = re.compile(r"a(\d+(?:\.\d+)?)b")
ACTIVE_NEAR = 0.5
"""Active weights are counted with and without tables, and rounded to billions."""


def of_size_and_words(tokens: tuple[str, ...]) -> KnownRow | None:
    """The model whose name says the words and whose weights are those stated; None without one."""
    words = " ".join(token for token in tokens if not is_size(token))
    stated = [total for token in tokens if (total := _weights(token)) is not None]
    told = any(map(str.isdigit, words)) or " " in words
    if not told or len(stated) != 1:
        return None
    row = base_of(words)
    return row if row is not None and _weighs(row, stated[0], _active(tokens)) else None


def of_experts_label(name: ModelName) -> KnownRow | None:
    """The model of a name with llama.cpp's label of experts, `DeepSeek-R1-256x21B`; None without
    one. The label states the number of experts, and one of them with what every token uses.
    """
    labels = [token for token in name.shape if EXPERTS.fullmatch(token)]
    if len(labels) != 1:
        return None
    words = tuple(token for token in name.shape if token not in labels)
    base = base_of(" ".join(words)) or base_row(replace(name, shape=words))
    rows = candidates(words) if base is None else (base,)
    shapes: dict[tuple[int, ...], KnownRow] = {}
    for row in rows:
        shapes.setdefault((row.layers, row.hidden, row.experts), row)
    fitting = [row for row in shapes.values() if _has_label(row, labels[0])]
    return fitting[0] if len(fitting) == 1 else None


def _has_label(row: KnownRow, label: str) -> bool:
    count, _, each = label.partition("x")
    stated = _weights(each)
    if row.experts != int(count) or stated is None:
        return False
    try:
        tensors = _architecture(row).tensors
    except AdvisorError:
        return False
    routed = sum(tensor.params for tensor in tensors if tensor.group is Group.ROUTED_EXPERTS)
    counted = sum(tensor.params for tensor in tensors) - routed + routed / row.experts
    return abs(counted / stated - 1) < LABEL_NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedRow:
    """One row of data/models/printed_architectures.csv: an architecture as llama.cpp prints it
    (LLM_ARCH_NAMES in its src/llama-arch.cpp), and those of the list that it stands for.
    """

    label: str
    architectures: str


@cache
def printed() -> Mapping[str, tuple[str, ...]]:
    """Architectures of the list by what llama.cpp prints for them."""
    rows = read(DATA / "models" / "printed_architectures.csv", PrintedRow)
    return {row.label: tuple(row.architectures.split()) for row in rows}


def of_printed_size(name: ModelName) -> KnownRow | None:
    """The most used model of the architecture and size that llama-bench prints; None without one.

    Args:
        name: `deepseek2 30B.A3B`, taken apart.
    """
    label, space, _ = name.text.strip().casefold().partition(" ")
    stated = [total for token in name.tokens if (total := _weights(token)) is not None]
    if not space or label not in printed() or len(stated) != 1:
        return None
    active = _active(name.tokens)
    rows = (row for row in _of_makers(printed()[label]) if _weighs(row, stated[0], active))
    row = next(rows, None)
    return row and (catalogue_keys().get(row.key) or row)


def _of_makers(architectures: Iterable[str]) -> Iterator[HubRow]:
    for architecture in architectures:
        for row in hub_list().of_architecture(architecture):
            if row.name.split("/")[0] in makers() and not is_drafting(row):
                yield row


def _weights(token: str) -> float | None:
    match = SIZE.fullmatch(token)
    return float(match[1]) * UNITS[match[2]] or None if match else None


def _active(tokens: Iterable[str]) -> float | None:
    matches = (ACTIVE.fullmatch(token) for token in tokens)
    return next((float(match[1]) * 1e9 or None for match in matches if match), None)


def _weighs(row: KnownRow, total: float, active: float | None) -> bool:
    """A model has the stated weights, and about the stated active ones."""
    try:
        built = _architecture(row)
    except AdvisorError:
        return False
    counted = [row.parameters] if isinstance(row, HubRow) and counts_weights(row) else []
    if all(abs(weights / total - 1) > NEAR_IN_SIZE for weights in (built.params, *counted)):
        return False
    return active is None or abs(built.active_params / active - 1) < ACTIVE_NEAR


def _architecture(row: KnownRow) -> Architecture:
    if isinstance(row, ArchitectureSpec):
        return catalog.architecture(row.name)
    return listed(row).architecture
