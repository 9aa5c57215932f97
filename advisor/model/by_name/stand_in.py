"""Stand-in for an unknown model, from the words of its name alone.

`35B-A3B` states experts and the weights that a token uses, `8B` a size, the first words a family.
The nearest relative in size gives the shape (layers, cache, windows, share of experts), scaled to
the stated weights. Without a relative, the catalogue's newest model of about that size is used,
with the cache that models of its size and time usually have.
"""

import math
from dataclasses import dataclass, replace

from advisor.model.architecture import Architecture, Group, Tensor
from advisor.model.by_name.base_models import KnownRow
from advisor.model.by_name.names import ModelName, StatedSize, stated_size, take_apart
from advisor.model.by_name.relatives import NEWEST, architecture_of, cached_values, relative_of
from advisor.model.by_name.usual_caches import usual_cache

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
LEAST_DENSE = 0.002
"""Smallest share of weights that every token uses; Kimi K2 has 0.01."""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """Stand-in with its origin."""

    architecture: Architecture  # architecture of the stated size
    note: str  # sentence on what comes from the name and from the relative
    relative: KnownRow  # model whose shape is used


def stand_in(name: ModelName, year: int = NEWEST, without: str = "") -> StandIn | None:
    """Stand-in for an unknown model; None where its name has no size.

    Args:
        name: words of its name.
        year: year in which it was in use.
        without: family that is left out, in tests and benchmarks.
    """
    size = stated_size(name)
    if size is None:
        return None
    row, related = relative_of(name, size, year, without)
    made = resized(architecture_of(row), name.text, size)
    if not related:
        made = _with_usual_cache(made, usual_cache(size, made.experts is not None, year, without))
    active = f", {size.active / 1e9:,.4g} B of them active" if size.active else ""
    layers = (
        f"layers, cache and the share of experts are those of {row.name}, the model nearest by "
        "name and size"
        if related
        else f"layers and the share of experts are those of {row.name}, a recent model of about "
        "its size, and its cache is what models of its size and time usually have, four in five "
        f"within {CACHE_SPREAD:g} times"
    )
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
            f"{active}; {layers}. {assumed}Give its GGUF file or config.json for exact figures."
        ),
    )


def _assumes_experts(made: Architecture, size: StatedSize) -> bool:
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


def of_size(text: str, size: StatedSize, year: int = NEWEST) -> Architecture:
    """Stand-in of a known size, with the shape of the nearest relative by name.

    Args:
        text: name to show.
        size: sizes.
        year: year in which the model was in use.
    """
    row, related = relative_of(take_apart(text), size, year)
    made = resized(architecture_of(row), text, size)
    if related:
        return made
    return _with_usual_cache(made, usual_cache(size, made.experts is not None, year))


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
