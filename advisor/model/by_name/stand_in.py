"""Stand-in for an unknown model, from the words of its name alone.

`35B-A3B` states experts and the weights that a token uses, `8B` a size, the first words a family.
The nearest relative in size gives the shape (layers, cache, windows, share of experts), scaled to
the stated weights. Without a relative, the catalogue's newest model of about that size is used,
with the cache that models of its size and time usually have. `year` is when a model was in use;
`without` leaves a family out, in tests and benchmarks.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

from advisor.catalog.csv_tables import DATA, read
from advisor.model.architecture import Architecture, ArchitectureSpec, Group, Tensor
from advisor.model.by_name import names
from advisor.model.by_name.hub_list import HubRow
from advisor.model.by_name.known import (
    KnownRow,
    Named,
    architecture_of,
    base_of,
    catalogue_keys,
    makers_keys,
)

# Cache that models of a size, kind and time usually have.
#
# data/generated/usual_caches.csv has up to four models of each family of 2024 and later whose
# layers are known. Caches of families differ by up to thirty times, as layers with windows, latent
# values or a state alternate with others; a model of an unknown family takes the weighted median of
# the families, each weighted by its nearest model in size and time.
#
# `python -m lab.usual_caches` writes the table anew, after a change of the list or of a rule.

FILE = DATA / "generated" / "usual_caches.csv"
GROWTH = 0.4
"""Power of the weights with which caches grow: 0.3 to 0.5 predict left-out families alike."""
WIDTH_OF_SIZES = 1.5
"""Standard deviation of a model's weight by size [logarithm]; 0.7 to 1.5 predict alike."""
WIDTH_OF_YEARS = 1.0
"""Standard deviation of a model's weight by time [years]; 0.7 to 2 predict alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheRow:
    """One row of data/generated/usual_caches.csv."""

    model: str  # name in the catalogue or the list
    family: str  # first word of the name
    params: int  # weights
    experts: int  # routed experts of a layer; 0 for a dense model
    year: int  # year of publication
    values: int  # values that it keeps of a text of `LONG` tokens


@cache
def rows() -> tuple[CacheRow, ...]:
    """All rows of the table."""
    return read(FILE, CacheRow)


def usual_cache(size: names.StatedSize, experts: bool, year: int, without: str = "") -> float:
    """Values that a model of unknown family keeps of a text of `LONG` tokens."""
    families: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows():
        if row.family != without and (row.experts > 0) == experts:
            apart = math.log(row.params / size.params)
            nearness = (apart / WIDTH_OF_SIZES) ** 2 + ((row.year - year) / WIDTH_OF_YEARS) ** 2
            grown = math.log(row.values) - GROWTH * apart
            families[row.family].append((grown, math.exp(-nearness / 2)))
    weighted = sorted(
        (
            sum(value * weight for value, weight in models) / sum(weight for _, weight in models),
            max(weight for _, weight in models),
        )
        for models in families.values()
    )
    half = sum(weight for _, weight in weighted) / 2
    for value, weight in weighted:
        half -= weight
        if half <= 0:
            return math.exp(value)
    return math.exp(weighted[-1][0])


# Known model that lends an unknown one its shape: a relative by name, else one of its time.

MOST_ROUTED = 0.8
"""Largest share of the active weights in routed experts; 0.18 to 0.68 in the catalogue's models of
2025 and later."""
A_YEAR = 0.35
"""Distance of a year of age, as a logarithm of size: a relative a year older counts like one of 1.4
times the size; assumed."""
NEWEST = 2026  # year of a name that states none
RECENT_YEARS = 1
"""Years before a name's within which a model without a relative's name can lend its shape."""
NEIGHBOURS = 3
"""Number of families, each with its recent model nearest in size, of which the middle one in cache
lends its shape, as layer patterns of the same year differ by up to ten times; the middle one in
active weights where the name states none; the nearest alone where the layers are stated."""
LONG = 32_768  # length at which caches are compared [tokens]
EXPERTS_FROM = 100e9
EXPERTS_SINCE = 2025
"""Weights and year from which a name that states no active weights is taken as one with experts.
Of the listed repositories of 2025 and later with 100 billion weights and more that state their
experts or none, 922 of 960 have experts; of those with 60 to 100 billion, 121 of 193."""


def relative_of(
    name: names.ModelName, size: names.StatedSize, year: int, without: str = ""
) -> tuple[KnownRow, bool]:
    """Known model whose shape is used, and whether the names agree.

    It is the nearest one by name, then by size; without a name in common, the middle one of a few
    recent models of about its size.
    """
    alike = [
        (_in_common(key.split(), name.shape), _distance(row, params, size, year), row)
        for key, row, params in _known_sizes(name.shape[0] if name.shape else "")
        if _of_kind(row, size) and not (without and family_of(row) == without)
    ]
    same = [entry for entry in alike if _is_former_version(entry[2], name, size)]
    if same:
        return min(same, key=lambda entry: entry[1])[2], True
    large = size.params >= EXPERTS_FROM and year >= EXPERTS_SINCE
    experts = size.active is not None or (size.may_have_experts and large)
    most = max(shared for shared, _, _ in alike)
    if most:
        named = [(distance, row) for shared, distance, row in alike if shared == most]
        of_kind = [entry for entry in named if (entry[1].experts > 0) == experts]
        return min(of_kind or named, key=lambda entry: entry[0])[1], True
    by_distance = [row for _, _, row in sorted(alike, key=lambda entry: entry[1])]
    around = _of_its_time(by_distance, size, year, experts=experts) or by_distance[:1]
    by_share = experts and size.active is None
    ordered = sorted(around, key=_active_share if by_share else _cached_values)
    return ordered[len(ordered) // 2], False


def _of_its_time(
    by_distance: Iterable[KnownRow], size: names.StatedSize, year: int, *, experts: bool
) -> list[KnownRow]:
    """Nearest recent model of each of a few families, with or without experts."""
    families: dict[str, KnownRow] = {}
    for row in by_distance:
        if not isinstance(row, ArchitectureSpec) or (row.experts > 0) != experts:
            continue
        recent = abs(year_of(row) - year) <= RECENT_YEARS
        if recent and _leaves_room(row, size):
            families.setdefault(family_of(row), row)
    return list(families.values())[: 1 if size.layers else NEIGHBOURS]


def _active_share(row: KnownRow) -> float:
    """Share of a known model's weights that a token uses."""
    built = architecture_of(row)
    return built.active_params / built.params


def _cached_values(row: KnownRow) -> float:
    """Values that a known model keeps of a long text."""
    return cached_values(architecture_of(row))


SAME_SIZE = math.log(1.05)  # how far the weights of two versions of a model may lie apart


def _is_former_version(row: KnownRow, name: names.ModelName, size: names.StatedSize) -> bool:
    """Whether a known model has the words and the size of a name, in another version."""
    known = names.take_apart(row.name)
    own = names.stated_size(known)
    if own is None or abs(math.log(own.params / size.params)) > SAME_SIZE:
        return False
    return _versionless(known) == _versionless(name)


def _versionless(name: names.ModelName) -> tuple[str, ...]:
    return tuple(word for word in _words(name) if word.isalpha())


def family_of(row: KnownRow) -> str:
    """First word of a model's name; empty for none."""
    return next(iter(names.take_apart(row.name).shape), "")


def _of_kind(row: KnownRow, size: names.StatedSize) -> bool:
    """Whether a known model may be of a name's kind.

    It has experts if the name states active weights, and is dense if the name states a model
    without experts. A name that states neither also takes a model with experts whose own name
    states neither.
    """
    if size.active is not None or row.experts == 0:
        return (row.experts > 0) == (size.active is not None)
    return size.may_have_experts and not any(map(names.is_active, names.take_apart(row.name).shape))


def _leaves_room(row: ArchitectureSpec, size: names.StatedSize) -> bool:
    """Whether a model's share of experts leaves room for attention in the active weights."""
    if size.active is None or not row.experts:
        return True
    routed = size.params * row.experts_per_token / row.experts
    return routed <= MOST_ROUTED * size.active


def cached_values(architecture: Architecture) -> float:
    """Values that a model keeps of a long text; a state counts twice, as it has 32 bits."""
    return float(
        sum(
            min(layer.window or LONG, LONG) * (layer.key_values + layer.value_values)
            + 2 * layer.state_values
            for layer in architecture.cache
        )
    )


def _distance(row: KnownRow, params: float, size: names.StatedSize, year: int) -> float:
    if size.layers and row.layers:
        depth = abs(math.log(row.layers / size.layers))
    else:
        depth = 0.0
    return abs(math.log(params / size.params)) + A_YEAR * abs(year - year_of(row)) + depth


def year_of(row: KnownRow) -> int:
    """Year of publication; that of the source where no page says it."""
    known = row.released or (row.source_date if isinstance(row, ArchitectureSpec) else "")
    return int(known[:4] or 2023)


@cache
def _known_sizes(family: str) -> tuple[tuple[str, KnownRow, float], ...]:
    """Known models whose shape a stand-in may take, each with its key and weights: those of the
    catalogue and of the family, without models that use all of their experts.
    """
    alike = (key for key in makers_keys() if key.partition(" ")[0] == family)
    known = ((key, base_of(key)) for key in dict.fromkeys((*catalogue_keys(), *alike)))
    return tuple((key, row, _weights_of(key, row)) for key, row in known if row and _routes(row))


def _routes(row: KnownRow) -> bool:
    if isinstance(row, HubRow):
        used = row.experts_used
    else:
        used = row.experts_per_token
    return not row.experts or used < row.experts


def _weights_of(key: str, row: KnownRow) -> float:
    stated = [value for token in key.split() if (value := names.weights(token)) is not None]
    published = row.parameters if isinstance(row, HubRow) else (row.published_params_b or 0) * 1e9
    return max(stated, default=published or 1e9)


def _in_common(known: Sequence[str], typed: Sequence[str]) -> int:
    pairs = zip(known, typed, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


# Sizes that makers state of models whose names and lists state none.


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedSizeRow:
    """One row of data/models/stated_sizes.csv."""

    name: str
    params_b: float  # weights with those beside the layers [10^9]
    active_b: float | None  # weights that a token uses [10^9]
    layers: int | None
    beside_b: float | None  # weights of tables of which a token reads some rows [10^9]
    source: str
    source_date: str


@cache
def stated_sizes() -> Mapping[tuple[str, ...], StatedSizeRow]:
    """Rows by the words of their names without sizes."""
    rows = read(DATA / "models/stated_sizes.csv", StatedSizeRow)
    return {_words(names.take_apart(row.name)): row for row in rows}


def _words(name: names.ModelName) -> tuple[str, ...]:
    """Words and versions of a name, without its sizes and what does not change its layers."""
    left_out = ("vl", "vision", "preview")
    return tuple(
        token for token in name.shape if not names.is_size(token) and token not in left_out
    )


def told_of(name: names.ModelName) -> StatedSizeRow | None:
    """Row with the size that a maker states of a model; None where the name states another size."""
    row = stated_sizes().get(_words(name))
    size = names.stated_size(name)
    if row is None or size is None:
        return row
    near = abs(math.log(size.params / (1e9 * row.params_b))) < SHAPE_UNCERTAINTY
    if near:
        return row
    return None


GROUPS_OUTSIDE = (Group.EMBEDDING, Group.OUTPUT)
SHAPE_UNCERTAINTY = 0.25
"""Of 56 models of the catalogue, each described without itself, nine in ten stand-ins read within a
factor of e^0.25 of the bytes that the model reads for a token
(tests/model/by_name/test_stand_in.py)."""
ACTIVE_UNCERTAINTY = 1.6
"""The same where the name states no active weights and experts are assumed: of 29 models of the
catalogue with 100 billion weights and more, each described by its total without its family, nine in
ten stand-ins read within a factor of e^1.6 (tests/model/by_name/test_stand_in.py)."""
CACHE_SPREAD = 4.0
"""Of the models of data/generated/usual_caches.csv, each described by its sizes and year without
its family, four in five keep a long text in up to this many times the values, or in up to this many
times fewer (`python -m benchmarks.stand_ins`)."""
LEAST_DENSE = 0.002  # smallest share of weights that every token uses; Kimi K2 has 0.01


def stand_in(name: names.ModelName, year: int = NEWEST, without: str = "") -> Named | None:
    """Stand-in for an unknown model; None where its name has no size."""
    told = told_of(name)
    size = names.stated_size(name) if told is None else _size_told(told)
    if size is None:
        return None
    row, related, made = _scaled(name, size, year, without)
    if told is not None:
        made = _with_tables(_cut_to_layers(made, size.layers, size), told)
    if size.active:
        active = f", {size.active / 1e9:,.4g} B of them active"
    else:
        active = ""
    layers = (
        f"layers, cache and the share of experts are those of {row.name}, the model nearest by "
        "name and size"
        if related
        else f"layers and the share of experts are those of {row.name}, a recent model of about "
        "its size, and its cache is what models of its size and time usually have, four in five "
        f"within {CACHE_SPREAD:g} times"
    )
    if _assumes_experts(made, size):
        assumed = (
            f"It does not say that {made.active_params / 1e9:,.3g} B of them are active, which is "
            f"assumed as in {row.name}. "
        )
    else:
        assumed = ""
    return Named(
        row=row,
        made=made,
        notes=(
            f"{name.text[:80]} is not known. {_who(told)} {size.params / 1e9:,.4g} B weights"
            f"{active}; {layers}. {assumed}Give its GGUF file or config.json for exact figures.",
        ),
    )


def _size_told(told: StatedSizeRow) -> names.StatedSize:
    """Size that a maker states, without the tables beside the layers."""
    return names.StatedSize(
        params=1e9 * (told.params_b - (told.beside_b or 0.0)),
        active=1e9 * told.active_b if told.active_b else None,
        layers=told.layers,
        may_have_experts=True,
    )


def _who(told: StatedSizeRow | None) -> str:
    """Words on the source of a stated size, and on tables beside it."""
    if told is None:
        return "Its name says"
    if told.beside_b:
        return f"Its maker states {told.beside_b:g} B of tables, of which a token reads rows, and"
    return "Its maker states"


def _cut_to_layers(made: Architecture, layers: int | None, size: names.StatedSize) -> Architecture:
    """Architecture cut to a stated number of layers, which are taken at even distances."""
    if layers is None or not 0 < layers < made.layers:
        return made
    kept = [at * made.layers // layers for at in range(layers)]
    place = {before: after for after, before in enumerate(kept)}
    fewer = replace(
        made,
        layers=layers,
        tensors=tuple(
            tensor if tensor.layer is None else replace(tensor, layer=place[tensor.layer])
            for tensor in made.tensors
            if tensor.layer is None or tensor.layer in place
        ),
        cache=tuple(made.cache[at] for at in kept),
        attention_values=tuple(made.attention_values[at] for at in kept),
        visits=tuple(made.visits[at] for at in kept) if made.visits else (),
    )
    return resized(fewer, made.name, size)


TABLE_WIDTH = 256  # values of a row of a table beside the layers; assumed


def _with_tables(made: Architecture, told: StatedSizeRow) -> Architecture:
    """Architecture with the tables that a maker states beside the layers."""
    if not told.beside_b:
        return made
    rows = round(1e9 * told.beside_b / TABLE_WIDTH)
    return replace(
        made,
        tensors=(
            *made.tensors,
            *Tensor.of_shapes(None, {Tensor.LAYER_TABLES: (TABLE_WIDTH, rows)}),
        ),
    )


def _assumes_experts(made: Architecture, size: names.StatedSize) -> bool:
    return made.experts is not None and size.active is None


def _with_usual_cache(architecture: Architecture, values: float) -> Architecture:
    """Architecture whose layers together keep a number of values of a long text."""
    factor = values / cached_values(architecture)
    layers = tuple(
        replace(
            layer,
            key_values=round(layer.key_values * factor),
            value_values=round(layer.value_values * factor),
            state_values=round(layer.state_values * factor),
        )
        for layer in architecture.cache
    )
    return replace(architecture, cache=layers)


def of_size(text: str, size: names.StatedSize, year: int = NEWEST) -> Architecture:
    """Stand-in of a known size, with the shape of the nearest relative by name."""
    return _scaled(names.take_apart(text), size, year, "")[2]


def _scaled(
    name: names.ModelName, size: names.StatedSize, year: int, without: str
) -> tuple[KnownRow, bool, Architecture]:
    """Relative of a name, whether their names agree, and its architecture scaled to a size."""
    row, related = relative_of(name, size, year, without)
    made = resized(architecture_of(row), name.text, size)
    if not related:
        made = _with_usual_cache(made, usual_cache(size, made.experts is not None, year, without))
    return row, related, made


def resized(relative: Architecture, name: str, size: names.StatedSize) -> Architecture:
    """Architecture of a relative, scaled to other sizes.

    With experts, both sizes are met: if a share u of the routed experts is used, they have
    E = (params - active) / (1 - u) weights, and the rest is used by every token.
    """
    outside = _sum(relative, GROUPS_OUTSIDE) * min(math.sqrt(size.params / relative.params), 1)
    routed = _sum(relative, (Group.ROUTED_EXPERTS,))
    dense = relative.params - routed - _sum(relative, GROUPS_OUTSIDE)
    new_routed = 0.0
    if relative.experts and size.active:
        share = relative.experts.used / relative.experts.total
        new_routed = (size.params - size.active) / (1 - share)
    elif relative.experts:
        new_routed = routed * size.params / relative.params
    new_dense = max(size.params - new_routed - outside, LEAST_DENSE * size.params)
    factors = {
        Group.ROUTED_EXPERTS: new_routed / routed if routed else 0.0,
        **dict.fromkeys(GROUPS_OUTSIDE, outside / _sum(relative, GROUPS_OUTSIDE)),
    }
    more = new_dense / dense
    tensors = tuple(
        tensor
        if tensor.rows == 1
        else replace(tensor, rows=max(round(tensor.rows * factors.get(tensor.group, more)), 1))
        for tensor in relative.tensors
    )
    assumed = _assumes_experts(relative, size)
    return replace(
        relative,
        name=name,
        tensors=tensors,
        shape_uncertainty=ACTIVE_UNCERTAINTY if assumed else SHAPE_UNCERTAINTY,
        source=f"its size, and the shape of {relative.name}",
    )


def _sum(architecture: Architecture, groups: tuple[Group, ...]) -> float:
    return float(sum(tensor.params for tensor in architecture.tensors if tensor.group in groups))
