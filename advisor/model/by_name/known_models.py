"""Known models by the parts of their names: rows of the catalogue and of the Hub's list.

The catalogue comes first, then repositories of publishers of their own models.
"""

from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import spellings
from advisor.model import catalog
from advisor.model.by_name.listed.from_row import is_described
from advisor.model.by_name.listed.hub_list import HubRow, hub_list
from advisor.model.by_name.listed.hub_rules import hub_rules
from advisor.model.by_name.listed.totals import is_unpacked
from advisor.model.by_name.names import ModelName, is_size, take_apart, words
from advisor.model.spec import ArchitectureSpec

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
