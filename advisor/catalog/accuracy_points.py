"""Published figures with their predictions, and with those of public advisors.

They are rows of data/generated/accuracy_points.csv.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.lazy import lazy

POINTS = DATA / "generated/accuracy_points.csv"
"""Written by `python -m lab.ledger`; numbers have six digits."""
ROUNDED = 1e-5
"""Share by which a figure of six digits may be off: ranges end exactly on figures of the fit."""


@dataclass(frozen=True, kw_only=True)
class AccuracyPoint:
    """Published figure with a prediction made without its group."""

    id: str  # id of the row
    scored: bool = True  # false for a doubtful row, which no score counts
    regime: str  # kind of run, a name of `regimes.REGIMES`
    group: str  # source and hardware; figures of a group share their error
    gpu: str  # GPU in the source's words; empty for none
    cpu: str  # processor in the source's words
    model: str  # model in the source's words
    format: str = ""  # format in the source's words
    runtime: str = ""  # runtime in the source's words
    date: str = ""  # date of the measurement or its publication; empty where unknown
    first_seen: str = ""  # month in which the model's architecture appeared; empty where unknown
    measured: float  # measured speed [tokens/s]
    predicted: float  # predicted speed [tokens/s]
    below: float  # distance to the slow end of the 80 % range, as a logarithm
    above: float  # distance to its fast end
    source: str  # address of the source; for our own runs, the program that made them
    # predictions of public advisors, as `name=tokens/s; ...`, without those that have no formula
    peers: str = ""

    @lazy
    def peer_speeds(self) -> Mapping[str, float]:
        """Predictions of public advisors by name [tokens/s]."""
        pairs = assignments(self.peers, f"generated/{POINTS.name}")
        return {name: float(speed) for name, speed in pairs}

    @property
    def publisher(self) -> str:
        """Person, repository or site that published it."""
        return self.group.partition(" on ")[0].removesuffix(" on")  # files hold no space at an end

    @property
    def published(self) -> bool:
        """Whether others published it, at an address that can be opened."""
        return self.source.startswith("https://")

    @property
    def error(self) -> float:
        """Relative error: predicted / measured - 1."""
        return self.predicted / self.measured - 1.0

    @property
    def low(self) -> float:
        """Lower end of the 80 % range [tokens/s]."""
        return self.predicted * math.exp(-self.below)

    @property
    def high(self) -> float:
        """Upper end of the 80 % range [tokens/s]."""
        return self.predicted * math.exp(self.above)

    @property
    def held(self) -> bool:
        """Whether the measured speed lies in the range, within the rounding of a file."""
        return self.low * (1.0 - ROUNDED) <= self.measured <= self.high * (1.0 + ROUNDED)


@cache
def accuracy_points() -> tuple[AccuracyPoint, ...]:
    """All published figures with their predictions."""
    return read(POINTS, AccuracyPoint)


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Public advisor, a row of data/public_formulas.csv; `lab/peers.py` restates its formula."""

    name: str  # its authors' name for it
    version: str  # release or commit that was read
    date: str  # date of that version
    source: str  # address of its formula
    formula: str  # the formula in one line


PEERS = read(DATA / "public_formulas.csv", Peer)  # public advisors, in the order of the tables
