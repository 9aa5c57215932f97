"""Architecture of a listed repository: its sizes, and a rule of its family for the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from advisor.errors import AdvisorError
from advisor.model.architecture import Architecture
from advisor.model.by_name.listed.hub_list import READ, HubRow, hub_list
from advisor.model.by_name.listed.hub_rules import HubRule, hub_rules
from advisor.model.by_name.listed.totals import counts_weights, is_unpacked
from advisor.model.config.read import describe
from advisor.model.config.values import families

UNNAMED = "unknown"
"""Architecture of a row whose config.json could not be read for its name."""

TWINS = 64
"""Number of repositories of the same sizes that are looked through."""
NEAR = 0.02
"""Relative difference to the stated total within which an open value is confirmed."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A repository of the list as an architecture."""

    architecture: Architecture  # architecture
    generic: bool  # whether its family is not known, so that a classic transformer block is assumed
    # keys that the list does not state: chosen to match the stated total, or taken from a
    # repository of the same sizes
    derived: tuple[str, ...]


@lru_cache(maxsize=256)
def listed(row: HubRow) -> Listed:
    """The architecture of a listed repository.

    Raises:
        Refusal: sizes that are missing, or a family that cannot be described.
        InputError: sizes that contradict each other.
    """
    row = _with_family(row)
    rule = hub_rules().get(row.architecture)
    known = rule is not None or is_described(row.architecture)
    row, filled = _with_experts(row)
    try:
        built = _built(row, rule)
    except AdvisorError:
        # A size of this family that its rule does not cover.
        known, rule, built = False, None, _built(replace(row, architecture=UNNAMED), None)
    chosen, choice = _nearest(built, row, rule)
    return Listed(
        architecture=replace(chosen, source=f"list of Hugging Face models of {READ}, {row.name}"),
        generic=not known,
        derived=(*filled, *choice),
    )


def is_described(architecture: str) -> bool:
    """Whether config.json files of an architecture are understood, without a rule for the list."""
    family = families().get(architecture)
    return family is not None and not family.refused


def _built(row: HubRow, rule: HubRule | None) -> list[tuple[Architecture, Mapping[str, object]]]:
    """Architectures for all values of an open key."""
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
    beside = rule.weights_beside(row, architecture) if rule else (0,)
    totals = (row.parameters - part for part in beside)
    return min(totals, key=lambda text: abs(text - architecture.params))


def _config(row: HubRow, rule: HubRule | None) -> dict[str, object]:
    """Keys of a config.json from the list and the rule."""
    width = "moe_intermediate_size" if row.experts > 1 else "intermediate_size"
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
        "max_position_embeddings": row.context,
    }
    values: dict[str, object] = {key: value for key, value in stated.items() if value}
    own = row.architecture if is_described(row.architecture) else "llama"
    values["model_type"] = rule.model_type if rule else own
    return values | (rule.keys(row) if rule else {})


def _with_family(row: HubRow) -> HubRow:
    """Row with the family of a repository of the same sizes, if it states none."""
    if row.architecture != UNNAMED:
        return row
    twins = (twin for twin in hub_list().of_sizes(row) if twin.architecture in hub_rules())
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
    return islice(hub_list().of_shape(row), TWINS)


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
