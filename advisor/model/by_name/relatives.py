"""Known model that lends an unknown one its shape: a relative by name, else one of its time."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile

from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.base_models import KnownRow, base_of, catalogue_keys, makers_keys
from advisor.model.by_name.listed.from_row import listed
from advisor.model.by_name.listed.hub_list import HubRow
from advisor.model.by_name.names import ModelName, StatedSize, is_active, take_apart, weights
from advisor.model.spec import ArchitectureSpec

MOST_ROUTED = 0.8
"""Largest share of the active weights in routed experts; 0.18 to 0.68 in the catalogue's models of
2025 and later."""
A_YEAR = 0.35
"""Distance of a year of age, as a logarithm of size: a relative a year older counts like one of 1.4
times the size; assumed."""
NEWEST = 2026
"""Year of a name that states none."""
RECENT_YEARS = 1
"""Years before a name's within which a model without a relative's name can lend its shape."""
NEIGHBOURS = 3
"""Number of families, each with its recent model nearest in size, of which the middle one in cache
lends its shape, as layer patterns of the same year differ by up to ten times; the middle one in
active weights where the name states none; the nearest alone where the layers are stated."""
LONG = 32_768
"""Length at which caches are compared [tokens]."""
EXPERTS_FROM, EXPERTS_SINCE = 100e9, 2025
"""Weights and year from which a name that states no active weights is taken as one with experts.
Of the listed repositories of 2025 and later with 100 billion weights and more that state their
experts or none, 922 of 960 have experts; of those with 60 to 100 billion, 121 of 193."""


def relative_of(
    name: ModelName, size: StatedSize, year: int, without: str = ""
) -> tuple[KnownRow, bool]:
    """Known model that lends its shape, and whether the names agree: the nearest one by name, then
    by size; without a name in common, the middle one of a few recent models of about its size.

    Args:
        name: words of its name.
        size: its weights.
        year: year in which it was in use.
        without: family that is left out, in tests and benchmarks.
    """
    alike = [
        (_in_common(key.split(), name.shape), _distance(row, params, size, year), row)
        for key, row, params in _known_sizes(name.shape[0] if name.shape else "")
        if _of_kind(row, size) and not (without and family_of(row) == without)
    ]
    experts = size.active is not None or _has_experts_by_size(size, year)
    most = max(shared for shared, _, _ in alike)
    if most:
        named = [(distance, row) for shared, distance, row in alike if shared == most]
        of_kind = [entry for entry in named if (entry[1].experts > 0) == experts]
        return min(of_kind or named, key=lambda entry: entry[0])[1], True
    recent = sorted(
        (
            (distance, row)
            for _, distance, row in alike
            if isinstance(row, ArchitectureSpec)
            and (row.experts > 0) == experts
            and _leaves_room(row, size)
        ),
        key=lambda entry: entry[0],
    )
    families: dict[str, KnownRow] = {}
    for _, row in recent:
        if abs(year_of(row) - year) <= RECENT_YEARS:
            families.setdefault(family_of(row), row)
    near = list(families.values())[: 1 if size.layers else NEIGHBOURS]
    middle = _active_share if experts and size.active is None else cached_values
    return _middle(near or [min(alike, key=lambda entry: entry[1])[2]], middle), False


def family_of(row: KnownRow) -> str:
    """First word of a model's name; empty for none."""
    return next(iter(take_apart(row.name).shape), "")


def architecture_of(row: KnownRow) -> Architecture:
    """Architecture of a row of the catalogue or the list.

    Raises:
        Refusal: a family that cannot be described.
    """
    return (
        catalog.architecture(row.name)
        if isinstance(row, ArchitectureSpec)
        else (listed(row).architecture)
    )


def _of_kind(row: KnownRow, size: StatedSize) -> bool:
    """Whether a known model may be of a name's kind: one with experts if active weights are stated,
    a dense one if it has none; else also one with experts whose name states none either.
    """
    if size.active is not None or row.experts == 0:
        return (row.experts > 0) == (size.active is not None)
    return size.may_have_experts and not any(map(is_active, take_apart(row.name).shape))


def _leaves_room(row: ArchitectureSpec, size: StatedSize) -> bool:
    """Whether a model's share of experts leaves room for attention in the active weights."""
    if size.active is None or not row.experts:
        return True
    routed = size.params * row.experts_per_token / row.experts
    return routed <= MOST_ROUTED * size.active


def _has_experts_by_size(size: StatedSize, year: int) -> bool:
    return size.may_have_experts and size.params >= EXPERTS_FROM and year >= EXPERTS_SINCE


def _middle(rows: Sequence[KnownRow], figure: Callable[[Architecture], float]) -> KnownRow:
    """The model with the middle figure of several."""
    ordered = sorted(rows, key=lambda row: figure(architecture_of(row)))
    return ordered[len(ordered) // 2]


def _active_share(architecture: Architecture) -> float:
    return architecture.active_params / architecture.params


def cached_values(architecture: Architecture) -> float:
    """Values that a model keeps of a long text; a state counts twice, as it has 32 bits."""
    return float(
        sum(
            min(layer.window or LONG, LONG) * (layer.key_values + layer.value_values)
            + 2 * layer.state_values
            for layer in architecture.cache
        )
    )


def _distance(row: KnownRow, params: float, size: StatedSize, year: int) -> float:
    """Distance of a known model in size and in years."""
    depth = abs(math.log(row.layers / size.layers)) if size.layers and row.layers else 0.0
    return abs(math.log(params / size.params)) + A_YEAR * abs(year - year_of(row)) + depth


def year_of(row: KnownRow) -> int:
    """Year of publication; that of its source where no page says it."""
    known = row.released or (row.source_date if isinstance(row, ArchitectureSpec) else "")
    return int(known[:4] or 2023)


@cache
def _known_sizes(family: str) -> tuple[tuple[str, KnownRow, float], ...]:
    """Known models that may lend their shape, by what their names say, with their weights: the
    catalogue's, and others whose names begin alike; those that use all experts not.

    Args:
        family: first word of a name.
    """
    alike = (key for key in makers_keys() if key.partition(" ")[0] == family)
    known = ((key, base_of(key)) for key in dict.fromkeys((*catalogue_keys(), *alike)))
    return tuple((key, row, _weights_of(key, row)) for key, row in known if row and _routes(row))


def _routes(row: KnownRow) -> bool:
    used = row.experts_used if isinstance(row, HubRow) else row.experts_per_token
    return not row.experts or used < row.experts


def _weights_of(key: str, row: KnownRow) -> float:
    """Weights in the name, else the published ones."""
    stated = [value for token in key.split() if (value := weights(token)) is not None]
    published = row.parameters if isinstance(row, HubRow) else (row.published_params_b or 0) * 1e9
    return max(stated, default=published or 1e9)


def _in_common(known: Sequence[str], typed: Sequence[str]) -> int:
    """Number of first tokens that both names share."""
    pairs = zip(known, typed, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
