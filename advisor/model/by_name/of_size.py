"""Models that a name means by its words and a size that is not part of the model's own name.

People and llama.cpp add the size to names that makers leave it out of: "minimax-m2.7:230b",
"kimi-k2:1t", "phi4-mini:3.8b". llama-bench prints an architecture and a size, `deepseek2 30B.A3B`,
which only a known model of that architecture and size can be.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError
from advisor.model import catalog
from advisor.model.architecture import Architecture, Group
from advisor.model.by_name.base_models import base_row
from advisor.model.by_name.close_models import candidates
from advisor.model.by_name.known_models import (
    KnownRow,
    base_of,
    catalogue_keys,
    is_drafting,
    makers,
)
from advisor.model.by_name.listed.from_row import listed
from advisor.model.by_name.listed.hub_list import HubRow, hub_list
from advisor.model.by_name.listed.totals import counts_weights
from advisor.model.by_name.names import ModelName, is_size
from advisor.model.spec import ArchitectureSpec

NEAR = 0.06
"""A stated size may be off by this share: 230B of 228.7, 3.8B of 3.84, 1T of 1.03."""
UNITS = {"m": 1e6, "b": 1e9, "t": 1e12}
SIZE = re.compile(r"(\d+(?:\.\d+)?)([mbt])")
EXPERTS = re.compile(r"\d+x\d+(?:\.\d+)?b")
LABEL_NEAR = 0.1
"""A label of experts may be off by this share: it is rounded to two digits, and conversions for
latent attention hold a part of its tensors twice."""
ACTIVE = re.compile(r"a(\d+(?:\.\d+)?)b")
ACTIVE_NEAR = 0.5
"""Active weights are counted with and without tables, and rounded to billions."""


def of_size_and_words(tokens: tuple[str, ...]) -> KnownRow | None:
    """The model whose name says the words and whose weights are those stated; None without one."""
    words = " ".join(token for token in tokens if not is_size(token))
    stated = [total for token in tokens if (total := _weights(token)) is not None]
    told = any(map(str.isdigit, words)) or " " in words
    if not told or len(stated) != 1:
        return None
    row = base_of(words)
    return row if row is not None and _weighs(row, stated[0], _active(tokens)) else None


def of_experts_label(name: ModelName) -> KnownRow | None:
    """The model of a name with llama.cpp's label of experts, `DeepSeek-R1-256x21B`; None without
    one. The label states the number of experts, and one of them with what every token uses.
    """
    labels = [token for token in name.shape if EXPERTS.fullmatch(token)]
    if len(labels) != 1:
        return None
    words = tuple(token for token in name.shape if token not in labels)
    base = base_of(" ".join(words)) or base_row(replace(name, shape=words))
    rows = candidates(words) if base is None else (base,)
    shapes: dict[tuple[int, ...], KnownRow] = {}
    for row in rows:
        shapes.setdefault((row.layers, row.hidden, row.experts), row)
    fitting = [row for row in shapes.values() if _has_label(row, labels[0])]
    return fitting[0] if len(fitting) == 1 else None


def _has_label(row: KnownRow, label: str) -> bool:
    count, _, each = label.partition("x")
    stated = _weights(each)
    if row.experts != int(count) or stated is None:
        return False
    try:
        tensors = _architecture(row).tensors
    except AdvisorError:
        return False
    routed = sum(tensor.params for tensor in tensors if tensor.group is Group.ROUTED_EXPERTS)
    counted = sum(tensor.params for tensor in tensors) - routed + routed / row.experts
    return abs(counted / stated - 1) < LABEL_NEAR


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedRow:
    """One row of data/models/printed_architectures.csv: an architecture as llama.cpp prints it
    (LLM_ARCH_NAMES in its src/llama-arch.cpp), and those of the list that it stands for.
    """

    label: str
    architectures: str


@cache
def printed() -> Mapping[str, tuple[str, ...]]:
    """Architectures of the list by what llama.cpp prints for them."""
    rows = read(DATA / "models" / "printed_architectures.csv", PrintedRow)
    return {row.label: tuple(row.architectures.split()) for row in rows}


def of_printed_size(name: ModelName) -> KnownRow | None:
    """The most used model of the architecture and size that llama-bench prints; None without one.

    Args:
        name: `deepseek2 30B.A3B`, taken apart.
    """
    label, space, _ = name.text.strip().casefold().partition(" ")
    stated = [total for token in name.tokens if (total := _weights(token)) is not None]
    if not space or label not in printed() or len(stated) != 1:
        return None
    active = _active(name.tokens)
    rows = (row for row in _of_makers(printed()[label]) if _weighs(row, stated[0], active))
    row = next(rows, None)
    return row and (catalogue_keys().get(row.key) or row)


def _of_makers(architectures: Iterable[str]) -> Iterator[HubRow]:
    for architecture in architectures:
        for row in hub_list().of_architecture(architecture):
            if row.name.split("/")[0] in makers() and not is_drafting(row):
                yield row


def _weights(token: str) -> float | None:
    match = SIZE.fullmatch(token)
    return float(match[1]) * UNITS[match[2]] or None if match else None


def _active(tokens: Iterable[str]) -> float | None:
    matches = (ACTIVE.fullmatch(token) for token in tokens)
    return next((float(match[1]) * 1e9 or None for match in matches if match), None)


def _weighs(row: KnownRow, total: float, active: float | None) -> bool:
    """A model has the stated weights, and about the stated active ones."""
    try:
        built = _architecture(row)
    except AdvisorError:
        return False
    counted = [row.parameters] if isinstance(row, HubRow) and counts_weights(row) else []
    if all(abs(weights / total - 1) > NEAR for weights in (built.params, *counted)):
        return False
    return active is None or abs(built.active_params / active - 1) < ACTIVE_NEAR


def _architecture(row: KnownRow) -> Architecture:
    if isinstance(row, ArchitectureSpec):
        return catalog.architecture(row.name)
    return listed(row).architecture
