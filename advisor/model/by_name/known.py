"""Known models by the parts of their names: rows of the catalogue and of the Hub's list.

The catalogue comes first, then repositories of publishers of their own models.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import texts
from advisor.model import catalog
from advisor.model.architecture import Architecture, ArchitectureSpec
from advisor.model.by_name.hub_list import HubRow, hub_list, is_unpacked, names_no_packing
from advisor.model.by_name.listed import hub_rules, is_described, listed
from advisor.model.by_name.names import take_apart, words

KnownRow = ArchitectureSpec | HubRow


@dataclass(frozen=True, kw_only=True)
class Named:
    """Model of a name, or a stand-in for it."""

    row: KnownRow  # row of the catalogue or the list; of a stand-in the relative
    made: Architecture | None = None  # architecture of a stand-in; None for that of the row
    taken_as: str = ""  # name of the model if another was typed; else empty
    notes: tuple[str, ...] = ()  # sentences for the user
    format: str = ""  # format in the name, such as `-AWQ` or `:q4_K_M`; empty for none
    native: str = ""  # format in which the publisher offers the weights; empty for 16 bits
    context: int = 0  # longer context of a variant of the model [tokens]; 0 for the model's own
    # name under which its weights are published, where they are not those of the row; else empty
    published_as: str = ""

    @property
    def name(self) -> str:
        """Name in the catalogue or the list."""
        return self.row.name

    @property
    def known(self) -> bool:
        """Whether the model's layers are those of the catalogue or the list."""
        return self.made is None

    @property
    def architecture(self) -> Architecture:
        """Architecture of the model, or of its stand-in."""
        architecture = self.made or architecture_of(self.row)
        if self.published_as:
            architecture = replace(architecture, published_as=self.published_as)
        if not self.context:
            return architecture
        return replace(architecture, max_context=self.context)


MIRROR = "unsloth"  # publisher of copies of nearly every model, in 16 bits too
SHORTEST_LAYERS = 8
"""Number of layers below which a model with a wide residual stream is a drafting model."""


@cache
def catalogue_keys() -> dict[str, ArchitectureSpec]:
    """Rows of the catalogue by the parts of their names and aliases.

    The part behind a slash, as in "DeepSeek-V3/R1", is no name.
    """
    index: dict[str, ArchitectureSpec] = {}
    for row in catalog.model_rows().values():
        for spelling in row.spellings:
            if "/" not in spelling or spelling == row.hf_id.casefold():
                index.setdefault(take_apart(spelling).key, row)
    return index


@cache
def other_names() -> dict[str, str]:
    """Models of names that do not contain the model's own name ("phi3:14b"), by the parts of the
    names.
    """
    bases = texts("models/other_names.csv", "name", "model")
    return {take_apart(name).key: model for name, model in bases.items()}


@cache
def makers() -> Mapping[str, str]:
    """Publishers of models of their own, each as people call it."""
    called = texts("models/makers.csv", "publisher", "name")
    return {publisher: name or publisher for publisher, name in called.items()}


def maker(repository: str) -> str:
    """Maker of a model by its repository, as people call it."""
    publisher = repository.split("/")[0]
    return makers().get(publisher, publisher)


@cache
def makers_keys() -> dict[str, int]:
    """Places in the list of all models of a maker, by the parts of a name.

    A gated model, which the list lacks, has the place of a copy by `MIRROR`.
    """
    published = hub_list().published_by(makers(), MIRROR)
    return {key: place for key, place in published.items() if not _names_a_draft(key)}


@cache
def known_keys() -> tuple[str, ...]:
    """Parts of the names of all known models, the catalogue's first."""
    return (*catalogue_keys(), *makers_keys())


@cache
def families() -> frozenset[str]:
    """First words of the catalogue's names."""
    return frozenset(key.split()[0] for key in catalogue_keys() if key)


def base_of(key: str) -> KnownRow | None:
    """Base model with these parts in its name."""
    if key in catalogue_keys():
        return catalogue_keys()[key]
    place = makers_keys().get(key)
    if place is None:
        row = None
    else:
        row = hub_list()[place]
    if row is not None and not is_drafting(row):
        return row
    return of_other_name(key)


def of_other_name(key: str) -> KnownRow | None:
    """Base model of a name that does not contain the base's own name."""
    base = other_names().get(key)
    if base:
        return catalog.model_rows().get(base) or hub_list().named(base)
    return None


def is_drafting(row: HubRow) -> bool:
    """Whether a model only drafts: by architecture or name, or with a few very wide layers."""
    drafting = "draft" in take_apart(row.architecture).kinds or _names_a_draft(row.key)
    few = row.layers < SHORTEST_LAYERS and row.hidden >= 2048
    return drafting or row.architecture.endswith(("_assistant", "_mtp")) or few


def _names_a_draft(key: str) -> bool:
    return any(words().get(word) == "draft" for word in key.split())


def architecture_of(row: KnownRow) -> Architecture:
    """Architecture of a row of the catalogue or the list."""
    if isinstance(row, ArchitectureSpec):
        return catalog.architecture(row.name)
    return listed(row).architecture


def sizes(row: KnownRow) -> tuple[int, ...]:
    """Layers, widths, heads and experts of a model, which tell its shape from others."""
    return row.layers, row.hidden, row.heads, row.kv_heads, row.experts


def is_of_maker(row: HubRow) -> bool:
    """Whether a model is of a publisher of its own models, and no drafting model."""
    return row.name.split("/")[0] in makers() and not is_drafting(row)


def packed_base(name: str) -> HubRow | None:
    """Maker's repository whose whole name begins that of a packed copy; the longest of several."""
    if names_no_packing(name):
        return None
    words = name.rpartition("/")[2].split("-")
    for count in range(len(words) - 1, 0, -1):
        called = hub_list().ending_with(f"/{'-'.join(words[:count])}")
        of_maker = (row for row in called if is_of_maker(row) and names_no_packing(row.name))
        base = next(of_maker, None)
        if base is not None:
            return base
    return None


def better_described(row: HubRow) -> HubRow:
    """Repository with the same words and layers that the rules describe best; the row itself where
    none is better.
    """
    alike = (
        other
        for other in hub_list().where("key", row.key)
        if (other.layers, other.hidden) == (row.layers, row.hidden) and not is_drafting(other)
    )
    ruled = hub_rules()
    return min(
        (row, *alike),
        key=lambda other: (
            other.architecture not in ruled and not is_described(other.architecture),
            not is_unpacked(other),
        ),
    )


def spellings_of(row: KnownRow) -> list[str]:
    """Name and aliases of a model of the catalogue, name of a listed one."""
    if isinstance(row, ArchitectureSpec):
        return row.spellings
    return [row.name]
