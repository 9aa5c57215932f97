"""Rules of families: keys of a config.json that follow from the family, not from the list.

One row of data/models/hub_rules.csv per family. `config` holds keys of its config.json that the
list lacks, `key=value; ...`, each where it depends on the sizes with its condition behind a
question mark: `tie_word_embeddings=true?hidden=1024|2048`. Later ones win. `open` names a key that
the sizes leave open and its values, `tie_word_embeddings=false|true`: the one whose architecture
counts nearest to the stated total is taken, and marked as derived.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.errors import DataError
from advisor.model.architecture import Architecture, Group
from advisor.model.by_name.listed.hub_list import HubRow

FILE = "models/hub_rules.csv"


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
    source: str  # source of the rule
    source_date: str  # when
    note: str  # remarks, and exceptions

    def keys(self, row: HubRow) -> dict[str, object]:
        """The keys of `config` that hold for a repository."""
        return dict(_holding(self.config, row))

    def weights_beside(self, row: HubRow, architecture: Architecture) -> tuple[int, ...]:
        """Weights that a file may hold beside the text model: none, or any of its parts."""
        sums = {0}
        for value in dict(_holding(self.beside, row)).values():
            part = _counted(architecture, value) if isinstance(value, str) else int(str(value))
            sums |= {held + part for held in sums}
        return tuple(sorted(sums))

    @property
    def choices(self) -> tuple[dict[str, object], ...]:
        """The values that the sizes leave open; one empty choice where they leave none."""
        key, _, values = self.open.partition("=")
        return tuple({key: _literal(value)} for value in values.split("|") if value) or ({},)


@cache
def hub_rules() -> Mapping[str, HubRule]:
    """Rules by architecture of the list."""
    rows = read(DATA / FILE, HubRule)
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
    tables = 2 * architecture.vocab * architecture.hidden if "tables" in words else 0
    return layer + 2 * architecture.hidden**2 + tables


def _holding(text: str, row: HubRow) -> Iterator[tuple[str, object]]:
    for key, value in assignments(text, FILE):
        literal, _, condition = value.partition("?")
        if all(_holds(part, row) for part in condition.split("&") if part):
            yield key, _literal(literal)


def _holds(condition: str, row: HubRow) -> bool:
    column, colon, values = condition.partition(":")
    if not colon or column not in HubRow.__slots__:
        raise DataError(f"data/{FILE}: {condition!r} must be column:value|value.")
    return str(getattr(row, column)) in values.split("|")


def _literal(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
