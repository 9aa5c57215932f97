"""Stand-in for an unknown model, from the words of its name alone.

`35B-A3B` states experts and the weights that a token uses, `8B` a size, the first words a family.
The nearest relative in size gives the shape (layers, cache, windows, share of experts), scaled to
the stated weights. Without a relative, the catalogue's newest model of about that size is used.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

from advisor.errors import InputError
from advisor.model import catalog
from advisor.model.architecture import Architecture, Group, Tensor
from advisor.model.by_name.known_models import KnownRow, base_of, catalogue_keys, makers_keys
from advisor.model.by_name.listed.from_row import listed
from advisor.model.by_name.listed.hub_list import HubRow
from advisor.model.by_name.names import ModelName, take_apart
from advisor.model.spec import ArchitectureSpec

GROUPS_OUTSIDE = (Group.EMBEDDING, Group.OUTPUT)
MIXTRAL_SHARE = 46.7 / 56
"""Weights of Mixtral 8x7B relative to 8 x 7 billion, as attention is not multiplied."""
MIXTRAL_ACTIVE = 12.9 / 46.7
"""Share of its weights that Mixtral 8x7B uses for a token (arXiv:2401.04088, section 2)."""
SHAPE_UNCERTAINTY = 0.25
"""Of 56 models of the catalogue, each described without itself, nine in ten stand-ins read within a
factor of e^0.25 of the bytes that the model reads for a token
(tests/model/by_name/test_stand_in.py)."""
ACTIVE_UNCERTAINTY = 1.6
"""The same where the name states no active weights and experts are assumed: of 29 models of the
catalogue with 100 billion weights and more, each described by its total without its family, nine in
ten stand-ins read within a factor of e^1.6 (tests/model/by_name/test_stand_in.py)."""
LARGEST = 1e14
"""Largest number of weights that is accepted."""
MOST_ROUTED = 0.8
"""Largest share of the active weights in routed experts; 0.55 to 0.65 in DeepSeek-R1, Qwen3-30B-A3B
and gpt-oss-120b, as counted from their configs."""
LEAST_DENSE = 0.002
"""Smallest share of weights that every token uses; Kimi K2 has 0.01."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedSize:
    """Sizes in a name.

    Attributes:
        params: number of weights.
        active: number of weights that a token uses; None for a dense model.
        layers: number of repeating layers; None where unknown.
        may_have_experts: whether `active` is None because nothing states it.

    Raises:
        InputError: no weights, or more active than there are.
    """

    params: float
    active: float | None
    layers: int | None = None
    may_have_experts: bool = False

    def __post_init__(self) -> None:
        """Check the sizes."""
        active = self.params if self.active is None else self.active
        if not 0 < active <= self.params < LARGEST:
            raise InputError(f"{self.params:g} weights, {self.active} active, is not a model.")


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """Stand-in with its origin.

    Attributes:
        architecture: architecture of the stated size.
        note: sentence on what comes from the name and from the relative.
        relative: model whose shape is used.
    """

    architecture: Architecture
    note: str
    relative: KnownRow


def stand_in(name: ModelName, year: int = NEWEST) -> StandIn | None:
    """Stand-in for an unknown model; None where its name has no size.

    Args:
        name: words of its name.
        year: year in which it was in use.
    """
    size = stated_size(name)
    if size is None:
        return None
    row, related = _relative(name, size, year)
    made = resized(architecture_of(row), name.text, size)
    active = f", {size.active / 1e9:,.4g} B of them active" if size.active else ""
    reason = "the model nearest by name and size" if related else "a recent model of about its size"
    assumed = (
        f"It does not say that {made.active_params / 1e9:,.3g} B of them are active, which is "
        f"assumed as in {row.name}. "
        if _assumes_experts(made, size)
        else ""
    )
    return StandIn(
        relative=row,
        architecture=made,
        note=(
            f"{name.text[:80]} is not known. Its name says {size.params / 1e9:,.4g} B weights"
            f"{active}; layers, cache and the share of experts are those of {row.name}, {reason}. "
            f"{assumed}Give its GGUF file or config.json for exact figures."
        ),
    )


def _assumes_experts(made: Architecture, size: StatedSize) -> bool:
    return made.experts is not None and size.active is None


def of_size(text: str, size: StatedSize, year: int = NEWEST) -> Architecture:
    """Stand-in of a known size, with the shape of the nearest relative by name.

    Args:
        text: name to show.
        size: sizes.
        year: year in which the model was in use.
    """
    row, _ = _relative(take_apart(text), size, year)
    return resized(architecture_of(row), text, size)


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


def _relative(name: ModelName, size: StatedSize, year: int) -> tuple[KnownRow, bool]:
    """Known model that lends its shape, and whether the names agree: the nearest one by name, then
    by size; without a name in common, the middle one of a few recent models of about its size.
    """
    alike = [
        (_in_common(key.split(), name.shape), _distance(row, params, size, year), row)
        for key, row, params in _known_sizes(name.shape[0] if name.shape else "")
        if _of_kind(row, size)
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
        if abs(_year(row) - year) <= RECENT_YEARS:
            families.setdefault(take_apart(row.name).shape[0], row)
    near = list(families.values())[: 1 if size.layers else NEIGHBOURS]
    middle = _active_share if experts and size.active is None else _cached_values
    return _middle(near or [min(alike, key=lambda entry: entry[1])[2]], middle), False


def _of_kind(row: KnownRow, size: StatedSize) -> bool:
    """Whether a known model may be of a name's kind: one with experts if active weights are stated,
    a dense one if it has none; else also one with experts whose name states none either.
    """
    if size.active is not None or row.experts == 0:
        return (row.experts > 0) == (size.active is not None)
    return size.may_have_experts and not any(map(_is_active, take_apart(row.name).shape))


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


def _cached_values(architecture: Architecture) -> float:
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
    return abs(math.log(params / size.params)) + A_YEAR * abs(year - _year(row)) + depth


def _year(row: KnownRow) -> int:
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
    stated = [value for token in key.split() if (value := _weights(token)) is not None]
    published = row.parameters if isinstance(row, HubRow) else (row.published_params_b or 0) * 1e9
    return max(stated, default=published or 1e9)


def _in_common(known: Sequence[str], typed: Sequence[str]) -> int:
    """Number of first tokens that both names share."""
    pairs = zip(known, typed, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def stated_size(name: ModelName) -> StatedSize | None:
    """Sizes in a name; None without any."""
    sizes = [value for token in name.shape if (value := _weights(token)) is not None]
    active = next((_weights(token[1:]) for token in name.shape if _is_active(token)), None)
    if not sizes:
        return None
    params = max(sizes)
    if active is None and any(re.match(r"\d+x\d", token) for token in name.shape):
        active = params * MIXTRAL_ACTIVE
    used = active if active and active < params else None
    return StatedSize(params=params, active=used, may_have_experts=active is None)


def _is_active(token: str) -> bool:
    return re.fullmatch(r"a\d+(\.\d+)?[bm]", token) is not None


def _weights(token: str) -> float | None:
    """Weights that a token of a name states: `27b`, `1t`, `8x7b`."""
    stated = re.fullmatch(r"(?:(\d+)x|e)?(\d+(?:\.\d+)?)([bmt])", token)
    if stated is None or not float(stated[2]):
        return None
    each = float(stated[2]) * {"m": 1e6, "b": 1e9, "t": 1e12}[stated[3]]
    return each * int(stated[1]) * MIXTRAL_SHARE if stated[1] else each


def resized(relative: Architecture, name: str, size: StatedSize) -> Architecture:
    """Architecture of a relative, scaled to other sizes.

    With experts, both sizes are met: if a share u of the routed experts is used, they have
    E = (params - active) / (1 - u) weights, and the rest is used by every token.

    Args:
        relative: relative of the same kind, dense or with experts.
        name: name to show.
        size: sizes to reach.
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
    tensors = tuple(
        _stretched(tensor, factors.get(tensor.group, new_dense / dense))
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


def _stretched(tensor: Tensor, factor: float) -> Tensor:
    if tensor.rows == 1:
        return tensor
    return replace(tensor, rows=max(round(tensor.rows * factor), 1))
