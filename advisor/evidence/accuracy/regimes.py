"""Regimes: kinds of runs that are scored separately."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from advisor.catalog.csv_tables import DATA, read

STREAMED, STAGED, BATCHED = "streamed", "NVMe", "batched"
RESIDENT, EXPERTS = "resident, other engines", "experts offloaded, other engines"
"""Kinds of runs of frameworks."""
GENERATION, PROMPT, BOTH = "generation", "prompt", "prompt and generation"
"""Timed part of a run."""
STATED, DATASHEET, INFERRED = "stated", "datasheet", "inferred"
"""Origin of a run's RAM rate: its source, the processor's datasheet, or another run."""
ALL = "all"
PAGED = "paged"
"""Category of runs whose mapped file is larger than memory, read page by page by llama.cpp."""
DEEP = 3000
"""Tokens in the cache from which a run counts as deep context [tokens]."""

Traits = Mapping[str, object]
"""Traits of a run by name: `category` (of its file, or a kind of framework run), `timed`, `deep`,
`experts`, `ram`, `batch_stated`, `build`, `together`."""


@dataclass(frozen=True, kw_only=True)
class Regime:
    """One kind of run; a trait that its row leaves empty may have any value."""

    name: str  # name in tables
    text: str  # description in a sentence
    front: int = 0  # place in the table of README; 0 for none
    category: str
    timed: str
    deep: bool | None
    experts: bool | None
    ram: str
    batch_stated: bool | None
    build: str
    together: bool | None

    @cached_property
    def traits(self) -> Traits:
        """Traits that a run must have."""
        stated = vars(self).items()
        return {key: value for key, value in stated if key not in NAMED and value not in ("", None)}


NAMED = ("name", "text", "front")
REGIMES = read(DATA / "regimes.csv", Regime)
"""All regimes, in the order of tables; a run belongs to the first that matches."""


def regime_of(traits: Traits) -> str:
    """Name of a run's regime; its category where none matches."""
    names = (regime.name for regime in REGIMES if regime.traits.items() <= traits.items())
    return next(names, str(traits.get("category", "other")))


def description(name: str) -> str:
    """Description of a regime in a sentence; empty for an unknown name."""
    return next((regime.text for regime in REGIMES if regime.name == name), "")
