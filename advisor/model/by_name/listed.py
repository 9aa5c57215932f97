"""Architecture of a model in the offline list: its sizes, and a rule of its family for the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice

from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.errors import AdvisorError, DataError
from advisor.model.architecture import Architecture, Group
from advisor.model.by_name.hub_list import (
    READ,
    HubRow,
    RenewedModelRow,
    as_fetched,
    by_config,
    counts_weights,
    is_unpacked,
    of_sizes,
)
from advisor.model.config.values import BuiltModelRow, built_models, literal

# Rules of families: keys of a config.json that follow from the family, not from the list.
#
# One row of data/models/hub_rules.csv per family. `config` holds keys of its config.json that the
# list lacks, `key=value; ...`, each where it depends on the sizes with its condition behind a
# question mark: `tie_word_embeddings=true?hidden=1024|2048`. Later ones win. `open` names a key
# that the sizes leave open and its values, `tie_word_embeddings=false|true`: the one whose
# architecture counts nearest to the stated total is taken, and marked as derived.

RULES = "models/hub_rules.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRule:
    """One row of data/models/hub_rules.csv."""

    architectures: str  # architectures in the list, separated by spaces
    model_type: str  # under which data/models/families.csv describes the family
    config: str  # keys that the list lacks, as above
    open: str  # a key that the sizes leave open, and its values, as above
    # parts that files may hold beside the text model and their weights, as `config`:
    # `tower=456010480?hidden:4096` [weights]; `layer` for a drafting layer like the last one and
    # its projection from two streams, `layer+tables` where it brings its own tables, `masks` for
    # causal masks, `scales` for those of experts in 4 bits
    beside: str

    def keys(self, row: HubRow) -> dict[str, object]:
        """Keys of a config.json that hold for a repository by this rule."""
        return dict(_holding(self.config, row))

    def weights_beside(self, row: HubRow, architecture: Architecture) -> tuple[int, ...]:
        """Weights that a file may hold in addition to the text model: none, or any of its parts."""
        sums = {0}
        for value in dict(_holding(self.beside, row)).values():
            if isinstance(value, str):
                part = _counted(architecture, value)
            else:
                part = int(str(value))
            sums |= {held + part for held in sums}
        return tuple(sorted(sums))

    def tower(self, row: HubRow, architecture: Architecture) -> int:
        """Weights of an encoder of images or sound that the stated total holds; 0 for none."""
        towers = {
            int(str(value))
            for key, value in _holding(self.beside, row)
            if key.endswith(("tower", "sound")) and not isinstance(value, str)
        }
        held = row.parameters - text_parameters(row, architecture)
        return max((size for size in towers if size <= 1.01 * held), default=0)

    @property
    def choices(self) -> tuple[dict[str, object], ...]:
        """Values of the keys that the sizes do not tell, each set as a mapping; one empty set where
        they tell all.
        """
        key, _, values = self.open.partition("=")
        return tuple({key: literal(value)} for value in values.split("|") if value) or ({},)


@cache
def hub_rules() -> Mapping[str, HubRule]:
    """Rules of families, by the name that the list has for an architecture."""
    rows = read(DATA / RULES, HubRule)
    return {name: row for row in rows for name in row.architectures.split()}


def _counted(architecture: Architecture, words: str) -> int:
    """Weights of a part that follows from the architecture.

    `masks`: layers x context^2; `scales`: one for 32 weights of routed experts; `layer`: one like
    the last, 2 hidden x hidden weights before it.
    """
    if words == "scales":
        routed = (tensor for tensor in architecture.tensors if tensor.group is Group.ROUTED_EXPERTS)
        return sum(tensor.params for tensor in routed) // 32
    if words == "masks":
        return architecture.layers * (architecture.max_context or 0) ** 2
    last = architecture.layers - 1
    layer = sum(tensor.params for tensor in architecture.tensors if tensor.layer == last)
    if "tables" in words:
        tables = 2 * architecture.vocab * architecture.hidden
    else:
        tables = 0
    return layer + 2 * architecture.hidden**2 + tables


def _holding(text: str, row: HubRow) -> Iterator[tuple[str, object]]:
    for key, value in assignments(text, RULES):
        word, _, condition = value.partition("?")
        if all(_holds(part, row) for part in condition.split("&") if part):
            yield key, literal(word)


def _holds(condition: str, row: HubRow) -> bool:
    column, colon, values = condition.partition(":")
    if not colon or column not in HubRow.__slots__:
        raise DataError(f"data/{RULES}: {condition!r} must be column:value|value.")
    return str(getattr(row, column)) in values.split("|")


# Architecture of a listed repository: its sizes, and a rule of its family for the rest.

UNNAMED = "unknown"  # architecture of a row whose config.json could not be read for its name
TWINS = 64  # number of repositories of the same sizes that are looked through
NEAR = 0.02  # relative difference to the stated total within which an open value is confirmed


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Repository of the list as an architecture."""

    architecture: Architecture  # architecture
    generic: bool  # whether its family is not known, so that a classic transformer block is assumed
    # keys that the list does not state: chosen to match the stated total, or taken from a
    # repository of the same sizes
    derived: tuple[str, ...]
    alike: str = "those of Llama"  # layers that those of an unknown family are counted as
    configured: tuple[str, ...] = ()  # remarks on its own config.json, where that describes it


@lru_cache(maxsize=256)
def listed(row: HubRow) -> Listed:
    """Architecture of a listed repository, or the reason why its sizes give none."""
    fetched = by_config().get(row.name.casefold())
    if fetched is not None and not fetched.refused:
        return configured(fetched)
    row = _with_family(row)
    rule = hub_rules().get(row.architecture)
    same = None if rule else _built_alike(row)
    if same is not None:
        return configured(replace(as_fetched(same), name=row.name))
    named = row.architecture != UNNAMED
    known = named and (rule is not None or is_described(row.architecture))
    row, filled = _with_experts(row)
    alike = None if known else _alike(row)
    if alike is not None:
        row = replace(row, architecture=alike.architecture)
        rule = hub_rules().get(alike.architecture)
    try:
        built = _built(row, rule)
    except AdvisorError:
        # A size of this family that its rule does not cover.
        known = False
        rule = None
        built = _built(replace(row, architecture=UNNAMED), None)
    chosen, choice = _nearest(built, row, rule)
    source = f"list of Hugging Face models of {READ}, {row.name}"
    tower = rule.tower(row, chosen) if rule and counts_weights(row) and is_unpacked(row) else 0
    return Listed(
        architecture=replace(
            chosen,
            source=source,
            shape_uncertainty=0.0 if known else Architecture.GUESSED_SHAPE,
            tower=tower,
        ),
        generic=not known,
        derived=(*filled, *choice),
        alike=_counted_as(row, alike),
    )


def _alike(row: HubRow) -> HubRow | None:
    """Repository with the sizes and experts of one of an unknown family, whose own family has a
    rule: its layers have another name, most often beside an encoder of images.
    """
    return next(
        (
            other
            for other in of_sizes(row)
            if other.architecture in hub_rules()
            and (other.experts, other.experts_used) == (row.experts, row.experts_used)
        ),
        None,
    )


def _counted_as(row: HubRow, alike: HubRow | None) -> str:
    """Layers that those of an unknown family are counted as, in words."""
    if alike is not None:
        return f"those of {alike.name}, which has all of its sizes"
    if _seems_latent(row):
        return LATENT
    return OF_LLAMA


def _built_alike(row: HubRow) -> BuiltModelRow | None:
    """Built model of the family and sizes of a listed one, as its copies have them."""
    alike = (each for each in built_models().values() if each.architecture == row.architecture)
    sizes = (row.layers, row.hidden, row.heads, row.vocab, row.feed_forward, row.experts)
    return next(
        (
            each
            for each in alike
            if (each.layers, each.hidden, each.heads, each.vocab, each.feed_forward, each.experts)
            == sizes
        ),
        None,
    )


BUILT_BY = "https://github.com/huggingface/transformers/"  # source of rows that a library builds


def configured(row: RenewedModelRow) -> Listed:
    """Fetched repository as its own config.json describes it."""
    from advisor.model.config.by_tensors import from_text
    from advisor.model.config.read import describe, describe_by_tensors

    if row.tensors:
        described = describe_by_tensors(row.config, row.name, from_text(row.tensors))
    else:
        described = describe(row.config, row.name)
    architecture = described.architecture
    if row.source.startswith(BUILT_BY):
        about = f"Its layers are those that its family has in transformers, read on {row.date}."
    else:
        about = f"Its sizes are from its config.json, read on {row.date}."
    return Listed(
        architecture=replace(architecture, source=row.source),
        generic=architecture.shape_uncertainty > 0,
        derived=(),
        configured=(about, *described.notes),
    )


OF_LLAMA = "those of Llama"
LATENT = "those of DeepSeek-V3, whose cache is latent"
LATENT_HEADS = 24
LATENT_SINCE = "2024"
"""Heads of keys and values, as many as queries, and year from which a model with experts is taken
to have a latent cache: a config.json of such attention states its query heads for both."""


def _seems_latent(row: HubRow) -> bool:
    """Whether a row of an unknown family shows the signs of latent attention."""
    alike = row.kv_heads == row.heads and row.heads >= LATENT_HEADS
    return alike and row.experts > 1 and row.released >= LATENT_SINCE


def is_described(architecture: str) -> bool:
    """Whether the model's config.json suffices, as its family is known and no rule of the list is
    needed.
    """
    from advisor.model.config.values import families

    family = families().get(architecture)
    return family is not None and not family.refused


def _built(row: HubRow, rule: HubRule | None) -> list[tuple[Architecture, Mapping[str, object]]]:
    """Architectures for all values of an open key."""
    from advisor.model.config.read import describe

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
    if rule:
        beside = rule.weights_beside(row, architecture)
    else:
        beside = (0,)
    totals = (row.parameters - part for part in beside)
    return min(totals, key=lambda text: abs(text - architecture.params))


def _config(row: HubRow, rule: HubRule | None) -> dict[str, object]:
    if row.experts > 1:
        width = "moe_intermediate_size"
    else:
        width = "intermediate_size"
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
        "max_position_embeddings": row.max_context,
    }
    values: dict[str, object] = {key: value for key, value in stated.items() if value}
    if row.context and not row.max_context:
        values["max_position_embeddings"] = None
    if rule is None and not is_described(row.architecture) and _seems_latent(row):
        own = "deepseek_v3"
    elif is_described(row.architecture):
        own = row.architecture
    else:
        own = "llama"
    values["model_type"] = rule.model_type if rule else own
    return values | (rule.keys(row) if rule else {})


def _with_family(row: HubRow) -> HubRow:
    """Row with the family of a repository of the same sizes, if it states none."""
    if row.architecture != UNNAMED:
        return row
    twins = (twin for twin in of_sizes(row) if twin.architecture in hub_rules())
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
    """Most downloaded repositories of a row's sizes: a base has hundreds of fine-tunes."""
    alike = of_sizes(row)
    return islice((other for other in alike if other.architecture == row.architecture), TWINS)


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
