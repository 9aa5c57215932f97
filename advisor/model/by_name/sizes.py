"""Sizes that the words of a model's name state: `35B-A3B`, `8x7b`, `270m`."""

import re
from dataclasses import dataclass

from advisor.errors import InputError
from advisor.model.by_name.names import ModelName

MIXTRAL_SHARE = 46.7 / 56
"""Weights of Mixtral 8x7B relative to 8 x 7 billion, as attention is not multiplied."""
MIXTRAL_ACTIVE = 12.9 / 46.7
"""Share of its weights that Mixtral 8x7B uses for a token (arXiv:2401.04088, section 2)."""
MOST_MULTIPLIED = 16
"""Largest number of experts that a name multiplies by a size as Mixtral's does. In `256x21B`, which
llama.cpp's converter writes, 21 B are one expert with all that every token uses."""
MOST_TRILLIONS = 3
"""Trillions above which a number is one of tokens of text: `bitnet-2B-4T`; Kimi K3 has 2.8."""
SMALLEST, LARGEST = 1e5, 1e14
"""Numbers of weights that are accepted: from somewhat less than stories260K has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedSize:
    """Sizes in a name.

    Attributes:
        params: number of weights.
        active: number of weights that a token uses; None for a dense model.
        layers: number of repeating layers; None where unknown.
        may_have_experts: whether `active` is None because nothing states it.

    Raises:
        InputError: implausibly few or many weights, or more active than there are.
    """

    params: float
    active: float | None
    layers: int | None = None
    may_have_experts: bool = False

    def __post_init__(self) -> None:
        """Check the sizes."""
        active = self.params if self.active is None else self.active
        if not (0 < active <= self.params and SMALLEST <= self.params < LARGEST):
            raise InputError(f"{self.params:g} weights, {self.active} active, is not a model.")


def stated_size(name: ModelName) -> StatedSize | None:
    """Sizes in a name; None without any."""
    sizes = [value for token in name.shape if (value := weights(token)) is not None]
    active = next((weights(token[1:]) for token in name.shape if is_active(token)), None)
    if not sizes:
        return None
    params = min(sizes) if "cut" in name.kinds else max(sizes)  # a pruned one's own is the lesser
    if active is None and any(re.match(r"\d+x\d", token) for token in name.shape):
        active = params * MIXTRAL_ACTIVE
    used = active if active and active < params else None
    return StatedSize(params=params, active=used, may_have_experts=active is None)


def is_active(token: str) -> bool:
    """Whether a token of a name states active weights: `a3b`."""
    return re.fullmatch(r"a\d+(\.\d+)?[bm]", token) is not None


def weights(token: str) -> float | None:
    """Weights that a token of a name states: `27b`, `1t`, `8x7b`."""
    stated = re.fullmatch(r"(?:(\d+)x|e)?(\d+(?:\.\d+)?)([bmt])", token)
    if stated is None or not float(stated[2]):
        return None
    if stated[1] and int(stated[1]) > MOST_MULTIPLIED:
        return None
    if stated[3] == "t" and float(stated[2]) > MOST_TRILLIONS:
        return None
    each = float(stated[2]) * {"m": 1e6, "b": 1e9, "t": 1e12}[stated[3]]
    return each * int(stated[1]) * MIXTRAL_SHARE if stated[1] else each
