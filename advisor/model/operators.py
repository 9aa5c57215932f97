"""Operators of a model: the kinds of layers whose kernels decide its speed beside its bytes.

A backend may have a fast kernel for one kind and none for another, so each kind has a count of
evidence of its own (constant "publishers" of data/generated/efficiency.csv). Kinds are read from
the tensors: an architecture of tomorrow that is made of known kinds is one of known kinds.
"""

from functools import lru_cache

from advisor.model.architecture import LAYER_TABLES, Architecture, Group, LayerCache

FULL, WINDOWED, LATENT, DELTA, STATE_SPACE = (
    "full attention", "windowed attention", "latent attention", "linear attention", "state space",
)  # fmt: skip
INDEXED, STREAMS, TABLES, EXPERTS, SMALL_EXPERTS = (
    "sparse attention", "residual streams", "tables by layer", "experts", "small experts",
)  # fmt: skip
OPERATORS = (
    FULL, WINDOWED, LATENT, DELTA, STATE_SPACE, INDEXED, STREAMS, TABLES, EXPERTS, SMALL_EXPERTS,
)  # fmt: skip
"""Kinds, each with a count of publishers who timed it."""
SMALL = 768
"""Largest width of an expert that counts as small: its products start more than they read."""
BY_ROLE = (("indexer", INDEXED), ("hc_", STREAMS))
"""Beginnings of the roles of tensors that only one kind has."""


@lru_cache(maxsize=1024)
def operators(architecture: Architecture) -> frozenset[str]:
    """Kinds of layers that a model has, of `OPERATORS`."""
    roles = {tensor.role for tensor in architecture.tensors}
    kinds = {_attention(cache) for cache in architecture.cache} - {""}
    if any(cache.state_values for cache in architecture.cache):
        kinds.add(STATE_SPACE if "ssm_in" in roles else DELTA)
    kinds |= {kind for role in roles for start, kind in BY_ROLE if role.startswith(start)}
    if LAYER_TABLES in roles:
        kinds.add(TABLES)
    if architecture.experts is not None:
        kinds.add(SMALL_EXPERTS if _expert_width(architecture) <= SMALL else EXPERTS)
    return frozenset(kinds)


def _attention(cache: LayerCache) -> str:
    """Kind of a layer's attention by its cache; empty for a layer that does not look back."""
    if not cache.key_values:
        return ""
    if not cache.value_values:
        return LATENT
    return FULL if cache.window is None else WINDOWED


def _expert_width(architecture: Architecture) -> float:
    """Values between the matrices of an expert: the rows of its first matrix over all experts."""
    rows = [
        tensor.rows
        for tensor in architecture.tensors
        if tensor.group is Group.ROUTED_EXPERTS and "down" not in tensor.role
    ]
    total = architecture.experts.total if architecture.experts else 1
    return max(rows, default=0) / total


def together(kinds: frozenset[str]) -> str:
    """Kinds of a model as one name, under which whole architectures are counted."""
    return " + ".join(kind for kind in OPERATORS if kind in kinds)
